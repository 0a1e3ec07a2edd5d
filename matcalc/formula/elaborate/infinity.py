"""Reads `inf` and `-inf`: entries of blocks, values of choices and bounds, arguments of functions that have a limit.

Arithmetic on infinities has no normal form (`inf - inf` is no number), so formulas hold them only where a rule declares
that an argument may be infinite. A block with infinite entries is a choice between them and a finite block. A function
of infinity, such as `exp(-inf)`, is its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import isinf, isnan

from matcalc.errors import MatcalcError
from matcalc.formula.elaborate import blocks, calls
from matcalc.formula.elaborate.callee import Callee
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import ONE, ZERO, Typed, typed_exact
from matcalc.language.syntax import Ast
from matcalc.rulebook.notations import spelled
from matcalc.rulebook.oracle import reference
from matcalc.rulebook.rule import Rule
from matcalc.tensor.sizes.size import Size

INFINITE = {"inf": 1, "-inf": -1}
_PASSING = ("compare", "shared")


def _sign(value: Typed) -> int:
    """Return 1 for inf, -1 for -inf, 0 for any other value."""
    if value.form == "leaf" and value.data.kind == "constant" and not value.shape:
        return INFINITE.get(str(float(value.data.array)), 0)
    return INFINITE.get(str(value.data), 0) if value.form == "constant" else 0


def _infinity(sign: int, ast: Ast) -> Typed:
    return Typed("constant", ast, data="inf" if sign > 0 else "-inf")


def evaluated(inference: Inference, ast: Ast, operands: Sequence[Typed], note: object) -> Typed | None:
    """Return the value of a formula with infinite operands that has one by itself: -inf, a block, exp(-inf).

    Raises: ShapeError for a function that has no value at infinity, and where infinities may not occur.
    """
    signs = [_sign(value) for value in operands]
    if not any(signs) or ast.head in _PASSING:
        return None
    if ast.head == "negative":
        return _infinity(-signs[0], ast)
    if ast.head == "block":
        return _block(inference, ast, operands, signs)
    if isinstance(note, Callee):
        names = [[p.name for p in candidate.signature.parameters] for candidate in note.candidates]
        for candidate, own in zip(note.candidates, names, strict=True):
            if all(not sign or own[k : k + 1] and own[k] in candidate.rule.infinite for k, sign in enumerate(signs)):
                return None
        if len(operands) == 1 and [rule := c.rule for c in note.candidates if len(c.rule.operands) == 1]:
            return _function(inference, ast, rule, signs[0])
    raise _fault(inference, next(value.ast for value, sign in zip(operands, signs, strict=True) if sign))


def _function(inference: Inference, ast: Ast, rule: Rule, sign: int) -> Typed:
    """Return the value of an elementwise function at infinity."""
    import numpy as np

    function = reference(inference.rulebook, rule)
    with np.errstate(all="ignore"):
        value = float("nan") if function is None else float(function(sign * np.inf))
    if not isinf(value) and not (4 * value).is_integer():
        hint = "" if isnan(value) else f"write the number {value!r}"
        raise inference.fault(f"{shown(ast)} is {'no number' if isnan(value) else 'no short number'}", ast, hint=hint)
    return _infinity(1 if value > 0 else -1, ast) if isinf(value) else typed_exact(Size.of(Fraction(value)), ast)


def _block(inference: Inference, ast: Ast, entries: Sequence[Typed], signs: Sequence[int]) -> Typed:
    """Return a block with infinite entries: inf or -inf where another block is 1, else the finite entries."""
    nothing = [typed_exact(ZERO, value.ast) if not value.rank else _zeros(value) for value in entries]

    def block(of: Sequence[Typed], taken: Sequence[int]) -> Typed:
        return _rows(inference, ast, [of[k] if k in taken else none for k, none in enumerate(nothing)])

    value = block(entries, [k for k, sign in enumerate(signs) if not sign])
    ones = [typed_exact(ONE, one.ast) for one in entries]
    for wanted in sorted({*signs} - {0}):
        places = block(ones, [k for k, sign in enumerate(signs) if sign == wanted])
        choice = [places, typed_exact(ZERO, ast), _infinity(wanted, ast), value]
        value = calls.call_rule(inference, ast, spelled("choice") + ">", choice)
    return value


def _zeros(value: Typed) -> Typed:
    return replace(value, form="sum", args=(value,), data=(Fraction(0),), exact=None)


def _rows(inference: Inference, ast: Ast, entries: Sequence[Typed]) -> Typed:
    rest = iter(entries)
    return blocks.infer_block(inference, ast, [[next(rest) for _ in row.args] for row in ast.args])


def _fault(inference: Inference, ast: Ast) -> MatcalcError:
    hint = "inf is an entry, or a value of choices and bounds: [x; inf], where(M > 0, S, -inf), max(x, -inf)"
    return inference.fault("inf is no number to calculate with", ast, hint=hint)
