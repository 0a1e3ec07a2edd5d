"""Implements `matcalc docs`: opens the documentation, and builds it first if it is missing."""

from __future__ import annotations

import subprocess
import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path

from matcalc.errors import NotSupported

PACKAGE = Path(__file__).resolve().parents[1]
SOURCES = PACKAGE.parent / "docs"
BUILT = (PACKAGE / "documentation" / "index.html", SOURCES / "_build" / "html" / "index.html")
NEEDED = ("sphinx", "myst_parser", "furo", "matplotlib")


def run(opened: bool = True) -> Path:
    """Open the documentation in a browser and return its first page; a checkout builds missing pages.

    Raises: NotSupported if it is missing and cannot be built.
    """
    page = next((path for path in BUILT if path.exists()), None) or built()
    if opened:
        webbrowser.open(page.as_uri())
    return page


def built() -> Path:
    """Build the pages of a checkout. Raises: NotSupported for missing packages, or with Sphinx's error message."""
    if not (SOURCES / "conf.py").exists():
        raise NotSupported("this installation has no documentation", hint="it is in docs/ of a checkout")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise NotSupported(f"building it needs {', '.join(missing)}", hint="pip install matcalc-compiler[docs]")
    target = BUILT[1].parent
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(SOURCES), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotSupported("the documentation could not be built", hint=done.stderr.strip()[-500:])
    return BUILT[1]
