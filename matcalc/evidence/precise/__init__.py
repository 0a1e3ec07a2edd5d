"""The oracle at many digits: a rule's `value`, the same text, over numbers of mpmath.

`np`, `sl` and `sp` of a value are twins here: the functions of NumPy and SciPy that values call, over arrays of
numbers with as many digits as asked for. So one text is both the plain oracle and, at a hundred digits, the truth
that accuracy is measured against: a difference quotient with a step of 1e-30 is a derivative to sixty digits.
Where the text of a value depends on double precision, its entry says it again in the field `precise`; what the
Python files of the rules say again stands in `rules/many_digits.py`.

What has no twin is NotSupported, never a float in disguise. mpmath comes with SymPy; only this package imports it.
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
