"""Contracts a product of arrays by plain NumPy, with operands whose zeros annihilate.

A scalar multiplies the sum, not its summands. So `sum(A, axis=0)/m` and `sum(A/m, axis=0)` are one product, which is
NaN without rows, as the mean of nothing is.

Entries excluded by selectors and switches do not count, whatever the other operands are there. `einsum` multiplies
everything, and 0 times NaN or infinity is NaN. So if NaN results, the sum is computed again, index by index. If not,
everything multiplied by such a zero was finite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

LARGE = 1 << 22
"""The most points in memory at once."""

SMALL = 1 << 10
"""The most points of a contraction in one loop; a search for an order of pairs takes 50 us."""


class Factor(NamedTuple):
    """An operand with the index of each axis, and whether its zeros annihilate."""

    array: np.ndarray
    axes: Sequence[int]
    annihilates: bool = False


def contract(coef: float, terms: Sequence[Factor], out: list[int], lengths: Mapping[int, int]) -> np.ndarray:
    """Contract over the indices that are not in `out`, then broadcast and expand repeated indices to diagonals."""
    import numpy as np

    measured = {i for term in terms for i in term.axes}
    distinct = list(dict.fromkeys(out))
    remaining = [i for i in distinct if i in measured]
    after = _multiplying_after(terms, measured - set(out), lengths)
    inner, own = terms, remaining
    if after:
        inner = [term for k, term in enumerate(terms) if k not in after]
        own = [i for i in remaining if any(i in term.axes for term in inner)]
    core = _einsum(inner, own)
    if any(term.annihilates for term in inner) and np.any(core != core):
        core = _index_by_index(inner, own, lengths)
    if after:
        core = _einsum([Factor(core, own), *(terms[k] for k in after)], remaining)
    full = np.asarray(coef * core)
    if not measured.issuperset(distinct):
        full = np.reshape(full, [lengths[i] if i in measured else 1 for i in distinct])
        full = np.array(np.broadcast_to(full, [lengths[i] for i in distinct]))
    if len(distinct) == len(out):
        return full
    result = np.zeros([lengths[i] for i in out], dtype=full.dtype)
    where = np.meshgrid(*(np.arange(lengths[i]) for i in distinct), indexing="ij")
    at = dict(zip(distinct, where, strict=True))
    result[tuple(at[i] for i in out)] = full
    return result


def _multiplying_after(terms: Sequence[Factor], summed: set[int], lengths: Mapping[int, int]) -> list[int]:
    """Return the positions of operands that multiply the sum: scalars, and if the sum is empty all without its indices.

    Return no positions if an operand annihilates and the sum is not empty: NaN in a scalar may be excluded too.
    """
    of_nothing = any(lengths[i] == 0 for i in summed)
    if not of_nothing and any(term.annihilates for term in terms):
        return []
    return [
        k for k, t in enumerate(terms)
        if not t.annihilates and (not summed.intersection(t.axes) if of_nothing else not t.axes)
    ]  # fmt: skip


def _einsum(terms: Sequence[Factor], remaining: Sequence[int]) -> Any:
    import numpy as np

    if not terms:
        return np.float64(1.0)
    name_of = {i: k for k, i in enumerate(dict.fromkeys(i for term in terms for i in term.axes))}
    flat: list[Any] = []
    for term in terms:
        flat += [term.array, [name_of[i] for i in term.axes]]
    if len(terms) > 2 and any(term.array.dtype == object for term in terms):
        return _pair_by_pair(terms, remaining)
    return np.einsum(*flat, [name_of[i] for i in remaining], optimize=len(terms) > 2 and _is_large(terms))


def _is_large(terms: Sequence[Factor]) -> bool:
    """Whether a contraction has so many points that NumPy's search for an order of pairs pays."""
    lengths: dict[int, int] = {}
    for term in terms:
        lengths.update(zip(term.axes, term.array.shape, strict=True))
    return prod(lengths.values()) > SMALL


def _pair_by_pair(terms: Sequence[Factor], remaining: Sequence[int]) -> Any:
    """Contract arrays of objects pair by pair, since NumPy's own path creates numbers that are no arrays."""
    import numpy as np

    made, *left = terms
    while left:
        position = next((k for k, term in enumerate(left) if set(term.axes) & set(made.axes)), 0)
        pair = [made, left.pop(position)]
        needed = {*remaining, *(i for term in left for i in term.axes)}
        axes = [i for i in dict.fromkeys(i for term in pair for i in term.axes) if i in needed]
        axes = axes if left else list(remaining)
        made = Factor(np.asarray(_einsum(pair, axes)), axes)
    return made.array


def _index_by_index(terms: Sequence[Factor], remaining: Sequence[int], lengths: Mapping[int, int]) -> Any:
    """Return the sum over all points at which no operand annihilates, index by index for annihilating operands.

    If all entries along an index are excluded, factors of their sum are excluded as well.
    """
    left = {i for term in terms if term.annihilates for i in term.axes}.difference(remaining)
    while left:
        index = min(left, key=lambda i: (len({j for term in terms if i in term.axes for j in term.axes}), i))
        left.remove(index)
        here = [term for term in terms if index in term.axes]
        terms = [term for term in terms if index not in term.axes]
        axes = sorted({i for term in here for i in term.axes} - {index})
        if terms:
            switches = [Factor((t.array != 0) * 1.0, t.axes) for t in here if t.annihilates]
            on = sorted({i for term in switches for i in term.axes} - {index})
            terms = [*terms, Factor((_einsum(switches, on) != 0) * 1.0, on, True)] if switches else terms
        terms = [*terms, Factor(_point_by_point(here, axes, lengths), axes)]
    values = [term for term in terms if not term.annihilates]
    own = [i for i in remaining if any(i in term.axes for term in values)]
    return _point_by_point(
        [Factor(_einsum(values, own), own), *(t for t in terms if t.annihilates)], remaining, lengths
    )


def _point_by_point(terms: Sequence[Factor], remaining: Sequence[int], lengths: Mapping[int, int]) -> Any:
    """Return the sum over all points at which no operand annihilates; large ones in slices of the longest index."""
    import numpy as np

    order = [*remaining, *sorted({i for term in terms for i in term.axes} - set(remaining))]
    longest = max(order, key=lambda i: lengths[i], default=None)
    if longest is None or prod(lengths[i] for i in order) <= LARGE:
        value, holds = np.ones(()), np.ones((), dtype=bool)
        for term in terms:
            array = _spread(term, order)
            value = value * array
            holds = holds & (array != 0) if term.annihilates else holds
        return np.sum(np.where(holds, value, 0.0), axis=tuple(range(len(remaining), len(order))))
    rest = {i: n for i, n in lengths.items() if i != longest}
    slices = [_point_by_point([_at(t, longest, k) for t in terms], [i for i in remaining if i != longest], rest)
              for k in range(lengths[longest])]  # fmt: skip
    return np.stack(slices, axis=remaining.index(longest)) if longest in remaining else sum(slices)


def _spread(term: Factor, order: Sequence[int]) -> np.ndarray:
    """Return an operand with an axis for each index, and its diagonal for a repeated one."""
    import numpy as np

    own = sorted(set(term.axes), key=order.index)
    array = np.einsum(term.array, [own.index(i) for i in term.axes], range(len(own)))
    return np.reshape(array, [array.shape[own.index(i)] if i in own else 1 for i in order])


def _at(term: Factor, index: int, value: int) -> Factor:
    """Return an operand with an index fixed."""
    at = tuple(value if i == index else slice(None) for i in term.axes)
    return Factor(term.array[at], [i for i in term.axes if i != index], term.annihilates)
