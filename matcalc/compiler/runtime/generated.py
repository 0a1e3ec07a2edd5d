"""The package of generated modules: they come from text in memory alone, so that nothing on a disk is imported.

Beside what their texts define, modules have names for those who run them.
"""

PACKAGE = "matcalc.compiler.runtime.generated"
TEXT_DIGEST = "__digest__"
"""The name that a module has the digest of its text under; a kernel's, whose code is kept elsewhere, has none."""
COMPILED = "__compiled__"
"""The name that a module has its compiled functions under."""
ENTERED = "__entered__"
"""The name that says of a module that Python calls its function by machine code of matcalc (`call_slot.py`) alone, or
not at all, as kernels: Numba's way in from Python would be a third of their compilation."""
