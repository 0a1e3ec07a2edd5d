"""Hides packages from Python, to test code that runs in browsers, and imports the script that builds their page."""

import importlib.util
from pathlib import Path

HIDING = """
import sys

GONE = {gone!r}

def without(finder):
    class Without:
        @staticmethod
        def find_spec(name, path=None, target=None):
            return None if name.partition(".")[0] in GONE else finder.find_spec(name, path, target)
    return Without

assert not set(GONE) & set(sys.modules)
sys.meta_path[:] = [without(finder) for finder in sys.meta_path]
"""
COMPILED = ["numba", "llvmlite", "islpy", "psutil", "rich", "IPython", "matplotlib", "multiprocessing"]


def hiding(gone):
    """Return the first lines of a program that make these packages unavailable."""
    return HIDING.format(gone=gone)


def page_builder():
    """Return the script that builds the page without a server, as a module."""
    script = Path(__file__).resolve().parent.parent / "docs" / "static_page.py"
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
