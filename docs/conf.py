"""Sphinx: `sphinx-build -W --keep-going -b html docs site`, offline. Pages that come from the code are made first."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import make_fragments  # noqa: E402, the modules beside this file
import make_reference  # noqa: E402

import gpsimd_core  # noqa: E402

make_reference.write(HERE / "reference")
make_fragments.write(HERE / "_generated")

project = "gpsimd"
author = "the gpsimd authors"
copyright = author  # Sphinx asks for this name
release = version = gpsimd_core.__version__
extensions = ["myst_parser"]
exclude_patterns = ["_generated"]
myst_enable_extensions = ["attrs_block", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"gpsimd {version}"
html_static_path = ["_static"]
html_css_files = ["gpsimd.css"]
html_show_sphinx = False
html_copy_source = False
pygments_style = "friendly"
highlight_language = "text"
smartquotes = False  # names and code stand between plain quotes
