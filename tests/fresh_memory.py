"""Fills fresh memory: compiled code that reads an array before it writes it is then wrong each time, not by chance."""

import ctypes

M_PERTURB = -6
"""The option of glibc's `mallopt` that fills fresh memory with the complement of a byte."""

FILL = 0x80
"""Fresh bytes are 0x7f, so that fresh numbers are 1.4e306."""


def fill():
    """Fill all memory that this process receives from now on; return whether the C library can."""
    try:
        return bool(ctypes.CDLL(None).mallopt(M_PERTURB, FILL))
    except (OSError, AttributeError, TypeError):
        return False
