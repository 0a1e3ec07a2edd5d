"""Evaluates lookups by plain NumPy: integer data gather entries, or scatter-add if their axis is one of the result.

A lookup inside a product is never formed: operands are read, and results added, at its indices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matcalc.calculus.evaluate.einsum import Factor, contract
from matcalc.errors import ShapeError
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.sizes_from_shapes import outside

if TYPE_CHECKING:
    import numpy as np

Lookup = tuple["np.ndarray", tuple[int, ...]]
"""The integers of a lookup, and its indices in a product: the looked-up axis first, then the axes of the integers."""


def checked_indices(node: Node, values: np.ndarray, length: int) -> np.ndarray:
    """Return the integers of a lookup.

    Raises: ShapeError for one outside the axis, with the name of the data, the entry and the length.
    """
    import numpy as np

    integers: np.ndarray = np.asarray(values).astype(np.int64)
    check_inside(text(formula_of(node.args[0])), integers, length, str(node.shape[0]))
    return integers


def check_inside(name: str, integers: np.ndarray, length: int, size: str) -> None:
    """Raise ShapeError unless 0 <= integers < length."""
    import numpy as np

    if not integers.size or (integers.min() >= 0 and integers.max() < length):
        return
    at = tuple(int(k) for k in np.argwhere((integers < 0) | (integers >= length))[0])
    raise ShapeError(outside(name, at, int(integers[at]), length, size))


def is_gathered(lookup: Lookup, out: Sequence[int], held: set[int]) -> bool:
    """Whether a lookup need not be formed: a reshape holds none of its indices, and the result does not repeat them."""
    source, *at = lookup[1]
    formed = source in out and (not set(at).isdisjoint(out) or list(out).count(source) > 1)
    return not formed and len(set(lookup[1])) == len(lookup[1]) and held.isdisjoint(lookup[1])


def contract_through(
    coef: float, terms: Sequence[Factor], lookups: Sequence[Lookup], out: list[int], lengths: Mapping[int, int]
) -> np.ndarray:
    """Contract with each looked-up axis replaced by the indices of its lookup."""
    import numpy as np

    left = list(lookups)
    scattered: dict[int, Lookup] = {}
    while left:
        lookup = left.pop()
        source = lookup[1][0]
        terms = [gathered(term, lookup, lengths) if source in term.axes else term for term in terms]
        same = [(integers, at) for integers, at in left if at[0] == source]
        left = [_through(other, lookup, lengths) for other in left if other[1][0] != source]
        scattered = {index: _through(other, lookup, lengths) for index, other in scattered.items()}
        terms += [_meeting(lookup, other, lengths) for other in same]
        if source in out:
            scattered[source] = lookup
    if not scattered:
        return contract(coef, terms, out, lengths)
    inner = list(dict.fromkeys(j for i in out for j in (scattered[i][1][1:] if i in scattered else (i,))))
    core = contract(coef, terms, inner, lengths)
    result = np.zeros([lengths[i] for i in out], dtype=core.dtype)
    where = [_along(*scattered[i], inner) if i in scattered else _range(i, inner, lengths) for i in out]
    np.add.at(result, tuple(where), core)
    return result


def gathered(term: Factor, lookup: Lookup, lengths: Mapping[int, int]) -> Factor:
    """Return an operand read at the indices of a lookup."""
    integers, (source, *at) = lookup
    axes = list(dict.fromkeys(j for i in term.axes for j in (at if i == source else (i,))))
    where = [_along(integers, lookup[1], axes) if i == source else _range(i, axes, lengths) for i in term.axes]
    return Factor(term.array[tuple(where)], axes, term.annihilates)


def _through(other: Lookup, lookup: Lookup, lengths: Mapping[int, int]) -> Lookup:
    """Return a lookup whose own integers are looked up, `k[j]` in `x[k[j]]`."""
    integers, (source, *at) = other
    if lookup[1][0] not in at:
        return other
    found = gathered(Factor(integers, at), lookup, lengths)
    return found.array, (source, *found.axes)


def _meeting(one: Lookup, other: Lookup, lengths: Mapping[int, int]) -> Factor:
    """Return the array that is 1 where two lookups of one axis are equal, else 0."""
    axes = list(dict.fromkeys((*one[1][1:], *other[1][1:])))
    met = _along(*one, axes) == _along(*other, axes)
    return Factor(met.astype(float), axes, True)


def _along(integers: np.ndarray, at: Sequence[int], axes: Sequence[int]) -> np.ndarray:
    """Return the integers of a lookup with the axes of a result, those that they lack with length 1."""
    import numpy as np

    own = sorted(at[1:], key=list(axes).index)
    ordered = np.transpose(integers, [list(at[1:]).index(i) for i in own])
    shape = dict(zip(own, ordered.shape, strict=True))
    return ordered.reshape([shape.get(i, 1) for i in axes])


def _range(index: int, axes: Sequence[int], lengths: Mapping[int, int]) -> np.ndarray:
    import numpy as np

    return np.arange(lengths[index]).reshape([-1 if i == index else 1 for i in axes])
