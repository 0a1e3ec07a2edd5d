"""Locates the stored choice of another BLAS; a cached function needs only to know whether there is one."""

from __future__ import annotations

import llvmlite.binding as llvm

from matcalc.store import cache_entries

STEM = "blas"
DEFAULT = "OpenBLAS of SciPy"


def choice_key() -> str:
    """Return the key of the choice for this processor."""
    return f"BLAS by measurement 1\n{llvm.get_host_cpu_name()}"


def has_choice() -> bool:
    """Whether a choice is stored, which may be the default library."""
    return cache_entries.has(STEM, choice_key())
