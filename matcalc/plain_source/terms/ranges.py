"""Finds the ranges that subscripts select."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matcalc.errors import NotSupported
from matcalc.plain_source.terms.term import Term
from matcalc.tensor.sizes.size import Size


@dataclass(frozen=True, slots=True)
class Range:
    """A range of an axis: its first index from 0, the number of its indices, and whether it descends."""

    first: Size
    count: Size
    descends: bool = False


def range_of(bounds: Sequence[Term | None], size: Size) -> Range:
    """Return the range of `start:stop:step` on an axis of a size; bounds that are missing are None.

    Raises: NotSupported for bounds that are no sizes, and other steps than 1 and -1.
    """
    start, stop, step = (bound if bound is None else length_of(bound) for bound in bounds)
    if step is not None and step not in (Size.of(1), Size.of(-1)):
        raise NotSupported(f"a part with the step {step} has no plain source")
    if step == Size.of(-1):
        first = size - 1 if start is None else _from_start(start, size)
        last = Size.of(0) if stop is None else _from_start(stop, size) + 1
        return Range(first, first - last + 1, True)
    first = Size.of(0) if start is None else _from_start(start, size)
    end = size if stop is None else _from_start(stop, size)
    return Range(first, end - first)


def _from_start(bound: Size, size: Size) -> Size:
    return size + bound if bound.is_integer and bound.constant < 0 else bound


def length_of(term: Term) -> Size:
    """Return a scalar term as a size.

    Raises: NotSupported for a term that is none.
    """
    if term.form == "number":
        return Size.of(term.data)
    if term.form in ("size", "length"):
        return Size.of(term.data)
    operands = [length_of(arg) for arg in term.args]
    if term.form == "add":
        return sum((a * sign for a, sign in zip(operands, term.data, strict=True)), Size.of(0))
    if term.form == "neg":
        return -operands[0]
    if term.form == "mul":
        return operands[0] * operands[1]
    if term.form == "floordiv":
        return operands[0] // operands[1]
    raise NotSupported("a subscript that is no size has no plain source")
