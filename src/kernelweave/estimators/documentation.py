"""Addresses of the documentation."""

from __future__ import annotations

SITE = "https://kernelweave.readthedocs.io"
REFERENCE = f"{SITE}/en/stable/api/generated"


class Documented:
    """Mixin: the HTML diagram of an estimator in notebooks links to its reference page.

    scikit-learn draws the diagram and reads the two attributes.
    """

    _doc_link_module = "kernelweave"
    _doc_link_template = f"{REFERENCE}/kernelweave.{{estimator_name}}.html"
