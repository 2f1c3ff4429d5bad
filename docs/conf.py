"""The documentation site: `make docs` builds it, without a network, into build/docs."""

import logging
import os

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import kernelweave

project = "Kernelweave"
author = "the Kernelweave developers"
copyright = author
version = release = kernelweave.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "generated/*"]  # parts of other pages
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 3
smartquotes = False  # texts are full of "names"
toc_object_entries_show_parents = "hide"
default_role = "py:obj"  # `names` in docstrings

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False  # the templates list them

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": os.environ.get("KERNELWEAVE_GALLERY", "/plot_"),  # scripts that are run
    "backreferences_dir": "api/backreferences",
    "doc_module": ("kernelweave",),
    "reference_url": {"kernelweave": None},
    "show_memory": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "parallel": True,  # as many examples at a time as `sphinx-build -j` says
}

html_theme = "pydata_sphinx_theme"
html_title = "Kernelweave"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "getting_started": [], "migration": [], "choose": []}


def write_formula(writer, node):
    """Write a formula as MathML, which browsers display without a script."""
    block = isinstance(node, nodes.math_block)
    writer.body.append(tex2mathml(node.astext(), as_block=block))
    raise nodes.SkipNode


def setup(app):
    """Typeset formulas, and let a section stand before its first page is there."""
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
    logger = logging.getLogger("sphinx.sphinx.directives.other")
    logger.addFilter(lambda record: "toctree glob pattern" not in record.getMessage())
