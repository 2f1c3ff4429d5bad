"""Where the pages about this library are."""

from __future__ import annotations

SITE = "https://kernelweave.readthedocs.io"
REFERENCE = f"{SITE}/en/stable/api/generated"


class Documented:
    """An estimator whose HTML picture, as notebooks show it, links to its page in the reference.

    scikit-learn draws the picture; it reads the two attributes.
    """

    _doc_link_module = "kernelweave"
    _doc_link_template = f"{REFERENCE}/kernelweave.{{estimator_name}}.html"
