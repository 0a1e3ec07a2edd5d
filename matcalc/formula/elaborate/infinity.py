"""Reads `inf` and `-inf`: values of choices and bounds, `where(M > 0, S, -inf)`, not operands of arithmetic.

Arithmetic on infinities has no normal form (`inf - inf` is no number), so formulas hold them only where a rule declares
that an argument may be infinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matcalc.errors import MatcalcError
from matcalc.formula.elaborate.callee import Callee
from matcalc.formula.inference.inference import Inference
from matcalc.formula.inference.typed import Typed
from matcalc.language.syntax import Ast

INFINITE = ("inf", "-inf")
_PASSING = ("compare", "shared")


def is_infinite(value: Typed) -> bool:
    return value.form == "constant" and value.data in INFINITE


def of_opposite(ast: Ast, operands: Sequence[Typed]) -> Typed | None:
    """Return -inf for the negative of inf; None for any other formula."""
    if ast.head != "negative" or not is_infinite(operands[0]):
        return None
    return replace(operands[0], ast=ast, data=INFINITE[1 - INFINITE.index(operands[0].data)])


def check(inference: Inference, ast: Ast, operands: Sequence[Typed], note: object) -> None:
    """Raise for an infinity that is not an argument which may be infinite.

    Raises: ShapeError.
    """
    infinite = [k for k, value in enumerate(operands) if is_infinite(value)]
    if not infinite or ast.head in _PASSING:
        return
    if isinstance(note, Callee):
        for candidate in note.candidates:
            takes = candidate.rule.infinite
            names = [p.name for p in candidate.signature.parameters]
            if all(k < len(names) and names[k] in takes for k in infinite):
                return
    raise _fault(inference, operands[infinite[0]].ast)


def check_whole(inference: Inference, root: Ast, value: Typed) -> None:
    """Raise for a formula that is an infinity.

    Raises: ShapeError.
    """
    if is_infinite(value):
        raise _fault(inference, root)


def _fault(inference: Inference, ast: Ast) -> MatcalcError:
    hint = "inf is a value of choices and bounds: where(M > 0, S, -inf), clip(x, 0, inf), max(x, -inf)"
    return inference.fault("inf is no number to calculate with", ast, hint=hint)
