"""Infers sums: the meaning of `+ - .+ .-` by the shapes of their operands."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from matcalc.formula.inference.expansion import equal_shapes, expanded, no_expansion, no_fit
from matcalc.formula.inference.inference import Inference, as_scalar, common_axes, is_one_by_one
from matcalc.formula.inference.typed import Typed, typed_exact
from matcalc.formula.inference.unify import bounded
from matcalc.language.syntax import Ast
from matcalc.tensor.sizes.size import Size


def infer_sum(inference: Inference, ast: Ast, values: list[Typed]) -> Typed:
    """Return the value of a sum of equal shapes and scalars; with dotted signs and in NumPy all terms expand."""
    signs = cast("tuple[int, ...]", ast.value)
    if all(value.exact is not None for value in values):
        return typed_exact(_exact_sum(values, signs), ast)
    operators = tuple("+" if sign > 0 else "-" for sign in signs)
    if ast.head == "sum" and not inference.broadcasts:
        values = _alike(inference, ast, values, operators)
    axes = common_axes(values)
    found = expanded(inference, values, axes)
    if found is None:
        raise no_expansion(inference, ast, values, operators[1:])
    kind_, terms = found
    return Typed("sum", ast, kind_.shape, terms, tuple(map(Fraction, signs)), axes, kind_.row)


def _alike(inference: Inference, ast: Ast, values: Sequence[Typed], operators: Sequence[str]) -> list[Typed]:
    """Return the terms of a plain sum: scalars, and values of one shape; a 1 x 1 matrix among others is a scalar.

    Raises: ShapeError.
    """
    ranked = [value for value in values if value.rank]
    leader = next((value for value in ranked if not is_one_by_one(inference, value)), ranked[0] if ranked else None)
    fitted: list[Typed] = []
    for k, value in enumerate(values):
        if leader is None or not value.rank or value is leader or equal_shapes(inference, leader, value):
            fitted.append(value)
        elif is_one_by_one(inference, value):
            fitted.append(as_scalar(inference, value))
        else:
            raise no_fit(inference, ast, k - 1, leader, operators[k], value)
    return fitted


def _exact_sum(values: list[Typed], signs: tuple[int, ...]) -> Size:
    total = Size.of(0)
    for sign, value in zip(signs, values, strict=True):
        assert value.exact is not None
        total = bounded(total + value.exact * sign)
    return total
