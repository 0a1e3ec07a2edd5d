"""Reads selectors in a network as the functions that construct them: `kron`, `vec`, `tril`, `conv`, parts.

A selector is folded if the pieces around it fit one of these functions. The result is a column or matrix like any
other, so that contraction continues. A selector that fits none stays, for index form. `slices` handles parts of arrays,
`merged_axes` merges of axes; this module handles the others, and the order in which all are tried.
"""

from __future__ import annotations

from collections.abc import Callable

from matcalc.formula.forms import factor_reading, form
from matcalc.formula.forms.contraction import Edge, Net, Other, column, reduce_net, vector_at
from matcalc.formula.forms.factor_reading import read
from matcalc.formula.forms.lookups import fold_lookup, lookup_as_matrix
from matcalc.formula.forms.merged_axes import fold_merge, fold_merges
from matcalc.formula.forms.slices import fold_slice, slice_as_matrix
from matcalc.tensor.sizes.size import Size

Fold = Callable[[Net, Other], bool]


def fold_selectors(net: Net) -> None:
    """Fold all selectors for which matrix notation has a function."""
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


def _positions(net: Net, other: Other) -> bool:
    """Read `i >= j + 1`, summed over one index that nothing else has, as the numbers 0, 1, ... or these reversed."""
    if other.selector.offset != 1 or other.selector.shape[0] != other.selector.shape[1]:
        return False
    for index, target in (other.at[::-1], other.at):
        around = net.around(index, other)
        if around is not None and not around.edges and not around.weights and index != target:
            numbers = form.played("positions", net.size(target))
            net.remove(other)
            net.put(
                factor_reading.leaf(numbers if target == other.at[0] else form.played("reversal", numbers), 1), target
            )
            return True
    return False


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
    net.edges = [e for e in net.edges if e not in beside]
    net.remove(other)
    if form.transposed(upper).cost < lower.cost:
        net.put(factor_reading.leaf(upper, 2, transposed=lower), last, row)
    else:
        net.put(factor_reading.leaf(lower, 2, transposed=upper), row, last)
    return True


def _triangle(net: Net, role: str, matrix: form.Form, offset: Size) -> form.Form:
    return form.played(role, matrix, *([] if offset == 0 else [net.size_of(offset)]))


def _flip(net: Net, other: Other) -> bool:
    return any(_move(net, other, index, lambda x: form.played("reversal", x)) for index in other.at)


def _shift(net: Net, other: Other) -> bool:
    """Read `i == (j + c) % n` as a cyclic shift of the vector on the summed side."""
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
    net.remove(other, around)
    net.put(factor_reading.leaf(make(read(column(around.weights))), 1), target)
    return True


def _conv(net: Net, other: Other) -> bool:
    target, *sources = other.at
    arounds = [a for i in sources if (a := net.around(i, other)) is not None and a.weights and not a.edges]
    whole, first, last = other.selector.shape
    if other.selector.offset != 0 or whole is not first + last - 1 or len(arounds) < len(sources):
        return False
    vectors = sorted((read(column(around.weights)) for around in arounds), key=lambda x: x.names)
    net.remove(other, *arounds)
    net.put(factor_reading.leaf(form.played("convolved", *vectors), 1), target)
    return True


def _vech(net: Net, other: Other) -> bool:
    target, row, last = other.at
    if row == last:
        return _vech_of_diagonal(net, other)
    around, beside = net.around(row, other), net.around(last, other)
    if around is None or beside is None or around.edges != beside.edges or len(around.edges) != 1:
        return False
    matrix = factor_reading.chain([*around.diagonal(), around.edges[0].leaving(row), *beside.diagonal()])
    net.remove(other, around, beside)
    net.put(factor_reading.leaf(form.played("stacked_triangle", read(matrix)), 1), target)
    return True


def _vech_of_diagonal(net: Net, other: Other) -> bool:
    target, index, _ = other.at
    is_held = index in net.fixed or any(index in o.at for o in net.others if o is not other)
    if is_held or any(index in edge[:2] for edge in net.edges):
        return False
    call = form.played("stacked_triangle", read(factor_reading.diagonal(vector_at(net, index))))
    net.weights.pop(index, None)
    net.remove(other)
    net.put(factor_reading.leaf(call, 1), target)
    return True


def triangle_as_tensor(net: Net, other: Other) -> bool:
    """Read the indices of a stacked triangle as a tensor."""
    indices = form.played("triangle_places", net.size(other.at[1]))
    net.others[net.others.index(other)] = Other(None, indices, other.at)
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
    ("mask", _positions),
    ("mask", _mask),
]
LAST: dict[str, Fold] = {
    "mask": _mask_as_matrix,
    "slice": slice_as_matrix,
    "lookup": lookup_as_matrix,
    "triangle": triangle_as_tensor,
}
