r"""Finds the axes of a tensor that fewer subscripts belong to: x_{ij} of X: tensor(n, J, p) is a vector.

The ranges of the indices decide, i to n and j to J, if they fit one choice of axes in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from matcalc.language.latex.latex_axes import is_data, letters_in
from matcalc.language.latex.latex_bounds import range_of
from matcalc.language.latex.latex_scope import Reading, Scope, fault
from matcalc.language.syntax import Ast

LEAST = 3
"""The least number of axes of a tensor."""


def axes_by_ranges(
    reading: Reading, name: str, axes: Sequence[Ast], scope: Scope, layout: Ast
) -> tuple[Ast | None, ...]:
    """Return the subscript of each axis, None for a whole one.

    Raises: ParseError if the ranges of the indices do not decide.
    """
    shape = reading.known.shapes[name]
    lengths = [_range(reading, axis, scope) for axis in axes]
    fits = [
        places
        for places in combinations(range(len(shape)), len(axes))
        if all(length in ("", shape[k]) for length, k in zip(lengths, places, strict=True))
    ]
    if len(fits) != 1:
        shown = [*("".join(letters_in(x)) or "i" for x in axes), *[":"] * (len(shape) - len(axes))]
        count = "one subscript" if len(axes) == 1 else f"{len(axes)} subscripts"
        hint = f"write {len(shape)}, with a colon for each whole axis: {name}_{{{','.join(shown)}}}"
        raise fault(f"{count} for {len(shape)} axes", layout, hint)
    given = dict(zip(fits[0], axes, strict=True))
    return tuple(given.get(k) for k in range(len(shape)))


def _range(reading: Reading, axis: Ast, scope: Scope) -> str:
    """Return the last value of an index, "" if it is not known."""
    found = scope.indices.get(str(axis.value[0])) if axis.head == "letter" else None  # type: ignore[index]
    return range_of(found) if found is not None and not is_data(reading, axis) else ""
