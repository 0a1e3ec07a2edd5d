r"""Finds the axes of a tensor that fewer subscripts belong to: x_{ij} of X: tensor(n, J, p) is a vector.

The ranges of the indices decide, i to n and j to J, if they fit one choice of axes in this order. Data have no range:
the axes of x_{i y_i} are those of x_{ij} elsewhere in the formula. A tensor(K, d, d) is a list of K square matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from matcalc.language.latex.latex_axes import axes_in, is_data, letters_in
from matcalc.language.latex.latex_bounds import range_of
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Reading, Scope, fault, key_of, subscript_of
from matcalc.language.syntax import Ast, walk
from matcalc.language.write import text as written

LEAST = 3
"""The least number of axes of a tensor."""


def axes_by_ranges(
    reading: Reading, name: str, axes: Sequence[Ast], scope: Scope, layout: Ast
) -> tuple[Ast | None, ...]:
    """Return the subscript of each axis, None for a whole one.

    Raises: ParseError if the ranges of the indices do not decide.
    """
    shape = reading.known.shapes[name]
    fits = _fitting(shape, [_range(reading, axis, scope, shape) for axis in axes])
    if len(fits) > 1:
        fits = [places for places in fits if places in _elsewhere(reading, name, len(axes))] or fits
    if len(fits) > 1 and len(axes) == 1 and len(shape) == LEAST and shape[0] != shape[1] == shape[2]:
        fits = [places for places in fits if places == (0,)] or fits  # a list of square matrices
    if len(fits) != 1:
        shown = [*("".join(letters_in(x)) or "i" for x in axes), *[":"] * (len(shape) - len(axes))]
        count = "one subscript" if len(axes) == 1 else f"{len(axes)} subscripts"
        hint = f"write {len(shape)}, with a colon for each whole axis: {name}_{{{','.join(shown)}}}"
        raise fault(f"{count} for {len(shape)} axes", layout, hint)
    given = dict(zip(fits[0], axes, strict=True))
    return tuple(given.get(k) for k in range(len(shape)))


def given_axes(reading: Reading, below: Ast, scope: Scope) -> tuple[Ast, ...]:
    """Return the subscripts that are written, indices and data side by side."""
    found = axes_in(below, None, scope)
    items = found[0].args if len(found) == 1 and found[0].head == "row" else ()
    is_list = all(x.head == "letter" and x.value[0] in scope.indices or is_data(reading, x) for x in items)  # type: ignore[index]
    return items if items and is_list else found


def _fitting(shape: Sequence[str], lengths: Sequence[str]) -> list[tuple[int, ...]]:
    """Return the choices of axes in order that have these lengths, "" for any."""
    return [
        places
        for places in combinations(range(len(shape)), len(lengths))
        if all(length in ("", shape[k]) for length, k in zip(lengths, places, strict=True))
    ]


def _elsewhere(reading: Reading, name: str, count: int) -> list[tuple[int, ...]]:
    """Return the axes of an array that its other subscripts show, if the ranges of all of them are known."""
    found: list[tuple[int, ...]] = []
    for script in (x for x in walk(reading.root) if x.head == "script" and (key := key_of(x.args[0])) is not None):
        below, key = subscript_of(script), key_of(script.args[0])
        if below is None or key is None or name not in (*reading.keys.get(key, ()), large_of(reading, key)):
            continue
        axes = axes_in(below, count, Scope())
        lengths = [reading.ranges.get(str(x.value[0]), "") if x.head == "letter" else "" for x in axes]  # type: ignore[index]
        fits = _fitting(reading.known.shapes[name], lengths) if len(axes) == count and all(lengths) else []
        found += fits if len(fits) == 1 else []
    return found


def _range(reading: Reading, axis: Ast, scope: Scope, shape: Sequence[str]) -> str:
    """Return the length of the axis that the last value of an index tells, J and J - 1 of J; "" if it is not known."""
    found = scope.indices.get(str(axis.value[0])) if axis.head == "letter" else None  # type: ignore[index]
    if found is None or is_data(reading, axis):
        return ""
    length, high = range_of(found) or reading.ranges.get(found.name, ""), found.high
    if length in shape or high is None:
        return length
    is_less = high.head == "sum" and len(high.args) == 2 and high.value == (1, -1) and high.args[1].head == "number"
    size = written(high.args[0] if is_less else high)
    return size if size in shape else length
