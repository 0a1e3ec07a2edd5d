"""Selectors in a network, read as the functions that make them: `kron`, `vec`, `tril`, `conv`, parts.

A selector is folded where the pieces around it fit one of these functions; what it leaves is a column or a
matrix like any other, so that contraction goes on. One that fits none stays, for index form. Parts of arrays
are in `slices`, merges of axes in `merged_axes`; here are the others, and the order in which all are tried.
"""

from __future__ import annotations

from collections.abc import Callable

from matcalc.formula.notation import factor_reading, form
from matcalc.formula.notation.contraction import Edge, Net, Other, column, reduce_net
from matcalc.formula.notation.factor_reading import read
from matcalc.formula.notation.lookups import fold_lookup, lookup_as_matrix
from matcalc.formula.notation.merged_axes import fold_merge, fold_merges
from matcalc.formula.notation.slices import fold_slice, slice_as_matrix
from matcalc.tensor.size import Size

Fold = Callable[[Net, Other], bool]


def fold_selectors(net: Net) -> None:
    """Fold all selectors that matrix notation has a function for."""
    if not net.others:
        return
    reduce_net(net)
    while any(_fold_one(net, fold) for fold in FOLDS):
        reduce_net(net)
    if all(other.kind in LAST for other in net.others):
        while any(_fold_one(net, fold) for fold in LAST.items()):
            reduce_net(net)


def _fold_one(net: Net, fold: tuple[str, Fold]) -> bool:
    kind, attempt = fold
    return any(attempt(net, other) for other in list(net.others) if other.kind == kind)


def _mask(net: Net, other: Other) -> bool:
    """Read `i - j >= c` beside a matrix as its lower triangle."""
    beside = [e for e in net.edges if set(e[:2]) == set(other.at)]
    return bool(beside) and _triangular(net, other, beside)


def _mask_as_matrix(net: Net, other: Other) -> bool:
    return _triangular(net, other, [])


def _triangular(net: Net, other: Other, beside: list[Edge]) -> bool:
    row, last = other.at
    ones = factor_reading.ones_matrix(net.size(row), net.size(last))
    matrix, flip = beside[0].leaving(row) if beside else (ones, False)
    offset = other.selector.offset
    lower = _triangle(net, "lower_triangle", read(matrix, flip), -offset)
    upper = _triangle(net, "upper_triangle", read(matrix, not flip), offset)
    if form.transposed(upper).cost < lower.cost:
        piece, ends = factor_reading.leaf(upper, 2, turned=lower), (last, row)
    else:
        piece, ends = factor_reading.leaf(lower, 2, turned=upper), (row, last)
    net.edges = [e for e in net.edges if e not in beside]
    net.edges.append(Edge(*ends, piece))
    net.others.remove(other)
    return True


def _triangle(net: Net, role: str, matrix: form.Form, offset: Size) -> form.Form:
    return form.played(role, matrix, *([] if offset == 0 else [net.size_of(offset)]))


def _flip(net: Net, other: Other) -> bool:
    return any(_move(net, other, index, lambda x: form.played("reversal", x)) for index in other.at)


def _shift(net: Net, other: Other) -> bool:
    """Read `i == (j + c) % n` as a cyclic shift of the vector on the side that is summed."""
    offset = other.selector.offset
    target, source = other.at
    return _move(net, other, source, lambda x: form.played("rotation", x, net.size_of(offset))) or _move(
        net, other, target, lambda x: form.played("rotation", x, net.size_of(-offset))
    )


def _move(net: Net, other: Other, index: int, make: Callable[[form.Form], form.Form]) -> bool:
    """Replace the vector on a summed index of a two-index selector by a vector on the other index."""
    around = net.around(index, other)
    if around is None or around.edges or not around.weights:
        return False
    (target,) = (i for i in other.at if i != index)
    net.take(around)
    net.others.remove(other)
    net.weights.setdefault(target, []).append(factor_reading.leaf(make(read(column(around.weights))), 1))
    return True


def _conv(net: Net, other: Other) -> bool:
    target, *sources = other.at
    arounds = [net.around(i, other) for i in sources]
    whole, first, last = other.selector.shape
    if (
        other.selector.offset != 0
        or whole is not first + last - 1
        or any(a is None or a.edges or not a.weights for a in arounds)
    ):
        return False
    vectors = []
    for around in arounds:
        assert around is not None
        net.take(around)
        vectors.append(read(column(around.weights)))
    vectors.sort(key=lambda x: x.names)
    net.others.remove(other)
    net.weights.setdefault(target, []).append(factor_reading.leaf(form.played("convolved", *vectors), 1))
    return True


def _vech(net: Net, other: Other) -> bool:
    target, row, last = other.at
    if row == last:
        return _vech_of_diagonal(net, other)
    around, beside = net.around(row, other), net.around(last, other)
    if around is None or beside is None or around.edges != beside.edges or len(around.edges) != 1:
        return False
    matrix = factor_reading.chain([*around.diagonal(), around.edges[0].leaving(row), *beside.diagonal()])
    net.take(around)
    net.take(beside)
    net.others.remove(other)
    net.weights.setdefault(target, []).append(factor_reading.leaf(form.played("stacked_triangle", read(matrix)), 1))
    return True


def _vech_of_diagonal(net: Net, other: Other) -> bool:
    target, index, _ = other.at
    is_held = index in net.kept or any(index in o.at for o in net.others if o is not other)
    if is_held or any(index in edge[:2] for edge in net.edges):
        return False
    weights = net.weights.pop(index, []) or [factor_reading.ones(net.size(index))]
    net.others.remove(other)
    call = form.played("stacked_triangle", read(factor_reading.diagonal(column(weights))))
    net.weights.setdefault(target, []).append(factor_reading.leaf(call, 1))
    return True


def triangle_as_tensor(net: Net, other: Other) -> bool:
    """Read the places of a stacked triangle as the tensor that they are."""
    places = form.played("triangle_places", net.size(other.at[1]))
    net.others[net.others.index(other)] = Other(None, places, other.at)
    return True


FOLDS: list[tuple[str, Fold]] = [
    ("slice", fold_slice),
    ("lookup", fold_lookup),
    ("flip", _flip),
    ("shift", _shift),
    ("conv", _conv),
    ("triangle", _vech),
    ("merge", fold_merge),
    ("merge", fold_merges),
    ("mask", _mask),
]
LAST: dict[str, Fold] = {
    "mask": _mask_as_matrix,
    "slice": slice_as_matrix,
    "lookup": lookup_as_matrix,
    "triangle": triangle_as_tensor,
}
