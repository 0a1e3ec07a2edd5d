"""The targets that code is emitted for; the first is the default. Nothing is imported: the command line lists them."""

from __future__ import annotations

TARGETS = ("numba", "numpy")
