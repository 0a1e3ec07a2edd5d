"""The package of generated modules, which are created from text in memory; nothing on disk is imported.

In addition to the definitions in their text, modules have the following names.
"""

PACKAGE = "matcalc.compiler.machine.generated_modules"
TEXT_DIGEST = "__digest__"
"""The name of the text's digest in a module; modules of kernels, which are cached elsewhere, have none."""
COMPILED = "__compiled__"
"""The name of the list of compiled functions in a module."""
ENTERED = "__entered__"
"""The name of a flag in a module: Python calls its function only through a call slot (`call_slot.py`), or never, as for
kernels. Then Numba's wrapper for Python is left out, which would take a third of the compilation."""
