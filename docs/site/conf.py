"""The site that `make docs` makes of the pages: Sphinx reads a copy of them that _build/site_of_docs.py puts together.

Nothing is fetched, neither when it is made nor when it is read: fonts are those of the system, the search has an index
of its own.
"""

from __future__ import annotations

project = "torch-tb-profiler"
extensions = ["myst_parser"]
root_doc = "docs/site/index"
html_theme = "furo"
html_title = "torch-tb-profiler"
html_show_sphinx = False
html_copy_source = False
# Anchors as GitHub makes them, so that a link is right in both.
myst_heading_anchors = 5
# Answers are quoted with "…" where they go on.
suppress_warnings = ["misc.highlighting_failure"]
