"""How the site looks: for Sphinx, which build.py calls."""

import re

project = "bochner"
author = "the authors of bochner"
html_title = "bochner"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# Red names stand out from this, where a link leads to one of them.
html_theme_options = {"top_of_page_buttons": [], "dark_css_variables": {"color-highlight-on-target": "#1c1c00"}}
# Both have 4.5 to 1 on their grounds, which contrast.py looks at.
pygments_style = "a11y-light"
pygments_dark_style = "monokai"
myst_enable_extensions = ["colon_fence", "attrs_block"]
# As hosts of sources name them, which pages link by.
myst_heading_anchors = 4
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_numpy_docstring = True
# An attribute that is a property, too, is named once.
napoleon_use_ivar = True
# Pages of docs/ begin where their author had them begin.
suppress_warnings = ["myst.header", "misc.highlighting_failure", "toc.not_included"]
nitpicky = False


def of_others(app, what, name, obj, skip, options):
    """Whether a member comes from another package, whose pages have it."""
    module = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None)
    return True if module and not module.startswith("bochner") else None


# What stands between backquotes, and names that end in an underscore, as scikit-learn has them.
LITERAL = re.compile(r"(`+.*?`+)")
ENDING = re.compile(r"(?<![\\\w])(\w+)_(?!\w)")


def plain_words(app, what, name, obj, options, lines):
    """Docstrings are read as people read them: no name is a link by its last sign."""
    for i, line in enumerate(lines):
        line = lines[i] = re.sub(r"^(\s*)\.\. \[(\d+)\]", r"\1[\2]", line)
        if line.lstrip().startswith((">>>", "...", "..")):
            continue
        parts = LITERAL.split(line)
        for k in range(0, len(parts), 2):
            parts[k] = ENDING.sub(r"\1\\_", parts[k])
            parts[k] = parts[k].replace("|", "\\|").replace("]_", "]")
        lines[i] = "".join(parts)


def setup(app):
    app.connect("autodoc-skip-member", of_others)
    # After the sections have become fields.
    app.connect("autodoc-process-docstring", plain_words, priority=900)
