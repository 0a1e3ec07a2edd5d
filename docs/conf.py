"""Sphinx: `sphinx-build -W docs docs/_build/html`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import api_pages
import function_pages
import katex_math
import tutorial_pages

import matcalc

project = "matcalc"
author = "The matcalc developers"
copyright = "The matcalc developers"
version = release = matcalc.__version__
extensions = ["myst_parser", "katex_math"]
html_math_renderer = "katex"
html_static_path = [str(katex_math.KATEX)]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "matcalc"
html_copy_source = False
html_show_search_summary = False  # it is fetched, which browsers refuse for files
exclude_patterns = ["_build"]

api_pages.write()
function_pages.write()
tutorial_pages.write()
api_pages.write_copies()
