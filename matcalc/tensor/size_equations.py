"""Gauss-Jordan elimination of linear equations between unknown sizes, exactly.

The coefficients are numbers; the right sides are sizes, polynomials in names that are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

from matcalc.tensor.size import Size

Note = TypeVar("Note")
Row = tuple[dict[str, Fraction], Size]
"""The equation sum of coefficient*unknown = size."""


def eliminate(rows: Sequence[tuple[dict[str, Fraction], Size, Note]]) -> list[tuple[dict[str, Fraction], Size, Note]]:
    """Return equivalent equations, each solved for an unknown that stands in no other; `Note` goes along.

    Example:
        >>> n = Size.of("n")
        >>> rows = [({"a": Fraction(1), "b": Fraction(1)}, n, ""), ({"a": Fraction(1), "b": Fraction(-1)}, n, "")]
        >>> [(list(left), str(right)) for left, right, _ in eliminate(rows)]
        [(['a'], 'n'), (['b'], '0')]
    """
    left = list(rows)
    for k in range(len(left)):
        coefficients, value, note = left[k]
        if not coefficients:
            continue
        pivot = min(coefficients, key=lambda name: (len(name), name))
        scale = 1 / coefficients[pivot]
        coefficients, value = {name: c * scale for name, c in coefficients.items()}, value * scale
        left[k] = coefficients, value, note
        for other, (theirs, right, mark) in enumerate(left):
            factor = theirs.get(pivot)
            if other == k or not factor:
                continue
            merged = {
                n: theirs.get(n, Fraction(0)) - factor * coefficients.get(n, 0) for n in {**theirs, **coefficients}
            }
            left[other] = {n: c for n, c in merged.items() if c}, right - value * factor, mark
    return left
