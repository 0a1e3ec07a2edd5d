"""Where the choice of another BLAS is kept, and whether there is one: all that a function of the disk has to know."""

from __future__ import annotations

import llvmlite.binding as llvm

from matcalc.store import cache_entries

STEM = "blas"
DEFAULT = "OpenBLAS of SciPy"


def kept_under() -> str:
    """Return the key of the choice for this processor."""
    return f"BLAS by measurement 1\n{llvm.get_host_cpu_name()}"


def is_kept() -> bool:
    """Whether a choice was kept, which may be to take none."""
    return cache_entries.has(STEM, kept_under())
