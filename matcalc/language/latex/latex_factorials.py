r"""Reads factorials in LaTeX: `x!` is the gamma function at x + 1, and `\log x!` or `\log(x!)` its logarithm."""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from matcalc.language.latex.latex_calls import call
from matcalc.language.latex.latex_scope import Reading, Scope, Value, fault, needed
from matcalc.language.latex.layout.latex_rows import FACTORIAL
from matcalc.language.syntax import Ast


def factorial(reading: Reading, node: Ast, scope: Scope) -> Value:
    """Return the value of a factorial, or of the logarithm of one."""
    operand = needed(reading, node.args[0])
    if operand.kind not in ("scalar", ""):
        raise fault(f"the factorial of a {operand.kind}", node, "a factorial takes a number")
    one = Ast("number", (), Fraction(1), node.span)
    more = Ast("sum", (cast(Ast, operand.tree), one), (1, 1), node.span)
    role = "factorial" if node.head == FACTORIAL else "log_factorial"
    return call(reading, [reading.names.roles[role]], [Value(more, operand.kind)], node)
