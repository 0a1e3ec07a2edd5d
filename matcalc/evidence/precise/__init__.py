"""The oracle at many digits: the text of a rule's `value`, evaluated over mpmath's numbers.

Here `np`, `sl` and `sp` of a value are twins: the functions of NumPy and SciPy that values call, over arrays of numbers
with any requested precision. The same text is thus the plain oracle and, at a hundred digits, the truth against which
accuracy is measured: a difference quotient with a step of 1e-30 is a derivative to sixty digits. If the text of a value
depends on double precision, its entry has another text in the field `precise`; those for the Python files of the rules
are in `rules/many_digits.py`.

A function without a twin raises NotSupported; it never falls back to floats. mpmath comes with SymPy; only this package
imports it.
"""

from matcalc.evidence.precise.arithmetic import Numbers, digits, doubles, numbers
from matcalc.evidence.precise.values import function_of, precise_oracle

__all__ = [
    "Numbers",
    "digits",
    "doubles",
    "function_of",
    "numbers",
    "precise_oracle",
]
