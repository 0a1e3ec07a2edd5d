"""Reads merged axes as `vec`, `reshape`, `kron`, `khatri_rao` and `commutation`.

A merge defines an index p as the row-major rank of several others. One merge around columns or one matrix is `kron(x,
y)` or `vec(A)`; two whose parts are linked in pairs are `kron(A, B)`. Any number of parts is possible: `kron(A, B, C)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.formula.forms import factor_reading, form
from matcalc.formula.forms.contraction import Around, Net, Other, column, vector_at
from matcalc.formula.forms.factor_reading import Item, Piece, chain, diagonal, read


def fold_merge(net: Net, other: Other) -> bool:
    """Fold a single merge: `reshape`, `vec`, or `kron` of columns and at most one matrix."""
    total, *parts = other.at
    if _reshape(net, other, total, parts):
        return True
    arounds = [net.around(i, other) for i in parts]
    first, last = arounds[0], arounds[-1]
    if first and last and len(parts) == 2 and len(first.edges) == 1 and first.edges == last.edges:
        return _vec(net, other, [first, last])
    factors = [_factor(net, part, around) for part, around in zip(parts, arounds, strict=True)]
    found = [factor for factor in factors if factor is not None]
    ends = [end for _, end in found if end is not None]
    if len(found) < len(parts) or any(end in parts and net.around(end, other) for end in ends):
        return False
    if len(ends) == len(parts) == 2 and ends[0] == ends[1] != total:
        call = form.played("columnwise_product", *(read(piece) for piece, _ in found))
        net.remove(other, *arounds)
        net.put(factor_reading.leaf(call, 2), total, ends[0])
        return True
    if len(ends) > 1 or total in ends:
        return False
    net.remove(other, *arounds)
    net.put(_kron_piece([piece for piece, _ in found], 2 if ends else 1), total, *ends)
    return True


def _factor(net: Net, part: int, around: Around | None) -> tuple[Piece, int | None] | None:
    """Return the column on a part, or the matrix on it with its other index; the identity if the part stays."""
    if around is None:
        return factor_reading.leaf(form.played("identity", net.size(part)), 2, symmetric=True), part
    if len(around.edges) > 1:
        return None
    if around.edges:
        matrix = chain([*around.diagonal(), around.edges[0].leaving(part)])
        return matrix, around.edges[0].beyond(part)
    return vector_at(net, part), None


def _reshape(net: Net, other: Other, total: int, parts: Sequence[int]) -> bool:
    around = net.around(total, other)
    if around is None or around.edges or not around.weights or len(parts) != 2:
        return False
    last, row = parts
    call = form.played("unstacked_columns", read(column(around.weights)), net.size(row), net.size(last))
    net.remove(other, around)
    net.put(factor_reading.leaf(call, 2), row, last)
    return True


def _vec(net: Net, other: Other, arounds: Sequence[Around]) -> bool:
    first, second = arounds
    edge = first.edges[0]
    matrix = chain([*second.diagonal(), edge.leaving(second.index), *first.diagonal()])
    net.remove(other, *arounds)
    net.put(factor_reading.leaf(form.played("stacked_columns", read(matrix)), 1), other.at[0])
    return True


def fold_merges(net: Net, one: Other) -> bool:
    """Fold two merges whose parts are linked in pairs, in order or (two parts) crosswise."""
    for two in net.others:
        if two is one or two.kind != "merge":
            continue
        if len(two.at) != len(one.at) or one.at[0] == two.at[0]:
            continue
        left, right = one.at[1:], two.at[1:]
        if _kron(net, one, two, left, right, False):
            return True
        if len(left) == 2 and _kron(net, one, two, left, right[::-1], True):
            return True
    return False


def _kron(net: Net, one: Other, two: Other, left: Sequence[int], right: Sequence[int], crossed: bool) -> bool:
    arounds: list[Around] = []
    factors: list[Piece] = []
    for a, b in zip(left, right, strict=True):
        found = _link(net, one, two, a, b)
        if found is None:
            return False
        arounds += found[0]
        factors.append(found[1])
    items: list[Item] = []
    identity = all(a == b for a, b in zip(left, right, strict=True)) and not any(a.weights for a in arounds)
    if not (crossed and identity):
        items.append((_kron_piece(factors, 2), False))
    if crossed:
        exchange = form.played("exchange", net.size(right[0]), net.size(right[1]))
        items.append((factor_reading.leaf(exchange, 2), False))
    net.remove(one, two, *arounds)
    net.put(chain(items), one.at[0], two.at[0])
    return True


def _kron_piece(factors: Sequence[Piece], rank: int) -> Piece:
    """Return `kron(A, B)`; its transpose is that of the factors."""
    straight = form.played("tensor_product", *(read(f) for f in factors))
    transposed = form.played("tensor_product", *(read(f, True) for f in factors))
    return factor_reading.leaf(straight, rank, transposed=transposed if rank == 2 else None)


def _link(net: Net, one: Other, two: Other, a: int, b: int) -> tuple[list[Around], Piece] | None:
    """Return the matrix between parts a and b of two merges, None if other pieces are on them."""
    if a == b:
        around = net.around(a, one, two)
        if around is None or around.edges:
            return None
        if around.weights:
            return [around], diagonal(column(around.weights))
        return [around], factor_reading.leaf(form.played("identity", net.size(a)), 2, symmetric=True)
    first, second = net.around(a, one), net.around(b, two)
    if first is None or second is None or first.edges != second.edges or len(first.edges) > 1:
        return None
    if first.edges:
        matrix = chain([*first.diagonal(), first.edges[0].leaving(a), *second.diagonal()])
        return [first, second], matrix
    return [first, second], chain([(vector_at(net, a), False), (vector_at(net, b), True)])
