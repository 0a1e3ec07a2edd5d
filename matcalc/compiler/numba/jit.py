"""Provides the decorators of generated code: by private members of Numba or, if any is gone, of plain Numba.

This is the only place that chooses; generated modules import the decorators from here.
"""

from __future__ import annotations

from matcalc.compiler.numba.private_members import available

if available():
    from matcalc.compiler.kernels.kernels import kernel
    from matcalc.compiler.machine.linker_symbols import by_address, linked
    from matcalc.compiler.numba.cached_jit import cfunc, njit
else:
    from matcalc.compiler.numba.plain_jit import by_address, cfunc, kernel, linked, njit

__all__ = ["by_address", "cfunc", "kernel", "linked", "njit"]
