"""Defines pieces: factors of a product during its reduction to matrix form, readable in two directions.

A piece is a leaf (a formula), a chain (matrix product) or an elementwise product, of rank 2 (a matrix), 1 (a column) or
0; tensors of higher rank have elementwise products alone. A matrix read in the other direction is its transpose; a
chain read backwards is the same product with every factor transposed. So the direction is chosen last, when both costs
are known, and a product is never transposed as a whole. Pieces consist of the at most twelve operands of one product.
Their nesting is therefore bounded, and functions here may call each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import POWER, PRODUCT, SIGN, Cost, Form

Item = tuple["Piece", bool]  # a piece, and whether it is transposed

ONE = forms.number(1)


class Cut(NamedTuple):
    """A subscript. A range and a vector of indices keep the axis; two vectors in one part are paired entry by entry."""

    form: Form
    keeps: bool
    is_vector: bool = False


@dataclass(slots=True, eq=False)
class Piece:
    """A factor with the costs of both directions. Pieces are compared by identity.

    `items` are the factors of a chain or the groups of an elementwise product, `under` the divisors of the latter.
    `ones` is the size of a vector of ones, `weight` the vector of a `diag(w)`, `inverse` the divisor of `1./x`. A
    vector may be the diagonal of the matrix `cycle`, or the row sums of the matrix `summed`. `average` is a length,
    with the piece for the row sums divided by it.
    """

    kind: str
    rank: int
    costs: tuple[Cost, Cost]
    levels: tuple[int, int]
    names: tuple[str, ...]
    form: Form | None = None
    transposed: Form | None = None
    items: tuple[Item, ...] = ()
    under: tuple[Item, ...] = ()
    symmetric: bool = False
    ones: Form | None = None
    weight: Piece | None = None
    cycle: Piece | None = None
    summed: Piece | None = None
    inverse: Piece | None = None
    part: tuple[Piece, dict[int, Cut]] | None = None
    average: tuple[Form, Piece] | None = None


def leaf(form: Form, rank: int, symmetric: bool = False, transposed: Form | None = None) -> Piece:
    """Return a formula as a factor; a symmetric matrix is its own transpose, `transposed` may be a written one."""
    symmetric = symmetric or rank == 0
    if symmetric:
        return Piece("leaf", rank, (form.cost,) * 2, (form.level,) * 2, form.names, form, symmetric=True)
    other = forms.transposed(form)
    if transposed is not None and transposed.cost <= other.cost:
        other = transposed
    return Piece("leaf", rank, (form.cost, other.cost), (form.level, other.level), form.names, form, other)


def ones(size: Form) -> Piece:
    """Return the column `ones(n)`."""
    piece = leaf(forms.played("all_ones", size), 1)
    piece.ones = size
    return piece


def diagonal(weight: Piece) -> Piece:
    """Return `diag(w)` of a column w."""
    piece = leaf(forms.played("diagonals", read(weight)), 2, symmetric=True)
    piece.weight = weight
    return piece


def diagonal_of(matrix: Piece) -> Piece:
    """Return the column `diag(A)` of a square matrix."""
    direction = (matrix.costs[1], transposed_names(matrix)) < (matrix.costs[0], matrix.names)
    piece = leaf(forms.played("diagonals", read(matrix, direction)), 1)
    piece.cycle = matrix
    return piece


def transposed_names(piece: Piece) -> tuple[str, ...]:
    """Return the leaf names of a piece read in the other direction."""
    return _names(p for p, _ in reversed(piece.items)) if piece.kind == "chain" else piece.names


def chain(items: Iterable[Item]) -> Piece:
    """Return the matrix product of items, with chains among them flattened."""
    flat: list[Item] = []
    for piece, flip in items:
        inner = directed(piece.items, flip) if piece.kind == "chain" else [(piece, flip and not piece.symmetric)]
        for item in inner:
            last = flat[-1] if flat else None
            if last and last[0].ones and item[0].ones and not last[1] and item[1]:
                flat[-1] = (ones_matrix(last[0].ones, item[0].ones), False)
            else:
                flat.append(item)
    if len(flat) == 1 and not flat[0][1]:
        return flat[0][0]
    straight = tuple(flat)
    starts_row = flat[0][0].rank == 1 and flat[0][1]
    ends_column = flat[-1][0].rank == 1 and not flat[-1][1]
    rank = 2 - starts_row - ends_column
    costs = (_chain_cost(straight), _chain_cost(directed(straight, True)))
    level = PRODUCT if len(runs(straight)) > 1 else POWER
    names = _names(p for p, _ in straight)
    return Piece("chain", rank, costs, (level, level), names, items=straight)


def ones_matrix(rows: Form, columns: Form) -> Piece:
    """Return `ones(m, n)`."""
    return leaf(forms.played("all_ones", rows, columns), 2, transposed=forms.played("all_ones", columns, rows))


def directed(items: Sequence[Item], flip: bool) -> tuple[Item, ...]:
    """Return the factors of a chain unchanged, or backwards with each one transposed."""
    if not flip:
        return tuple(items)
    return tuple((p, not f and not p.symmetric) for p, f in reversed(items))


def runs(items: Sequence[Item]) -> list[tuple[Piece, bool, int]]:
    """Return the factors with equal neighbours gathered as powers."""
    found: list[tuple[Piece, bool, int]] = []
    for piece, flip in items:
        if found and found[-1][0] is piece and found[-1][1] == flip and piece.rank == 2:
            found[-1] = (piece, flip, found[-1][2] + 1)
        else:
            found.append((piece, flip, 1))
    return found


def _chain_cost(items: Sequence[Item]) -> Cost:
    transposes, tokens = _joined_cost(runs(items))
    return transposes, tokens - 1


def _joined_cost(gathered: Sequence[tuple[Piece, bool, int]]) -> Cost:
    """Return the cost of factors with an operator behind each, powers and parentheses included."""
    transposes = tokens = 0
    for piece, flip, count in gathered:
        cost = piece.costs[flip]
        transposes += cost[0]
        needed = SIGN if count == 1 else POWER
        tokens += cost[1] + 1 + (2 if piece.levels[flip] < needed else 0) + (2 if count > 1 else 0)
    return transposes, tokens


def elementwise(items: Iterable[Item], under: Iterable[Item] = ()) -> Piece:
    """Return the elementwise product of items over the product of `under`; nested ones are flattened."""
    above: list[Item] = []
    below: list[Item] = list(under)
    for piece, flip in items:
        if piece.kind == "elementwise":
            above += [(p, f != flip and not p.symmetric) for p, f in piece.items]
            below += [(p, f != flip and not p.symmetric) for p, f in piece.under]
        else:
            above.append((piece, flip and not piece.symmetric))
    if len(above) == 1 and not below and not above[0][1]:
        return above[0][0]
    below += [(p.inverse, f) for p, f in above if p.inverse]
    above = [(p, f) for p, f in above if not p.inverse]
    rank = (above or below)[0][0].rank
    top, bottom = tuple(sorted(above, key=_sort_key)), tuple(sorted(below, key=_sort_key))
    both = (False, True) if rank == 2 else (False,)
    costs = [_elementwise_cost(top, bottom, flip) for flip in both]
    if rank != 2:
        transposes, tokens = costs[0]
        costs.append((transposes + 1, tokens + 3))
    level = PRODUCT if bottom or len(groups(top, False)) > 1 else POWER
    names = _names(p for p, _ in top + bottom)
    levels = (level, level if rank == 2 else POWER)
    return Piece("elementwise", rank, (costs[0], costs[1]), levels, names, items=top, under=bottom)


def _sort_key(item: Item) -> tuple[bool, tuple[str, ...], bool]:
    piece, flip = item
    return piece.levels[flip] < POWER, piece.names, flip


def groups(items: Sequence[Item], flip: bool) -> list[tuple[Piece, bool, int]]:
    """Return the factors of an elementwise product, equal ones gathered as powers."""
    found: dict[tuple[object, bool], tuple[Piece, int]] = {}
    for piece, own in items:
        key = (_built_of(piece), own != flip and not piece.symmetric)
        first, count = found.get(key, (piece, 0))
        found[key] = first, count + 1
    return [(piece, own, count) for (_, own), (piece, count) in found.items()]


def _built_of(piece: Piece) -> object:
    """Return a key that is equal for pieces with the same leaves in the same order."""
    if piece.kind == "leaf":
        return piece if piece.weight is None else ("weight", _built_of(piece.weight))
    items = tuple((_built_of(p), f) for p, f in piece.items)
    return piece.kind, items, tuple((_built_of(p), f) for p, f in piece.under)


def _elementwise_cost(top: Sequence[Item], bottom: Sequence[Item], flip: bool) -> Cost:
    above, below = groups(top, flip), groups(bottom, flip)
    costs = _joined_cost(above), _joined_cost(below)
    transposes, tokens = (sum(cost[k] for cost in costs) for k in (0, 1))
    return transposes, tokens + 2 * (len(below) > 1) + (-1 if top else 1)


def _names(pieces: Iterable[Piece]) -> tuple[str, ...]:
    names: tuple[str, ...] = ()
    for piece in pieces:
        names += piece.names
    return names[: forms.MOST_NAMES]


def read(piece: Piece, flip: bool = False) -> Form:
    """Return the formula of a piece, or of its transpose."""
    if piece.kind == "leaf":
        form = piece.transposed if flip and not piece.symmetric else piece.form
        assert form is not None
        return form
    if piece.kind == "elementwise":
        if flip and piece.rank < 2:
            return forms.transposed(read(piece))
        return _read_elementwise(piece, flip)
    factors = [_power(read(p, f), n, "^") for p, f, n in runs(directed(piece.items, flip))]
    return forms.product(factors, ["*"] * (len(factors) - 1))


def _read_elementwise(piece: Piece, flip: bool) -> Form:
    sides = (groups(side, flip) for side in (piece.items, piece.under))
    top, bottom = ([_power(read(p, f), n, ".^") for p, f, n in side] for side in sides)
    if not bottom:
        return forms.product(top, [".*"] * (len(top) - 1))
    divisor = forms.product(bottom, [".*"] * (len(bottom) - 1))
    return forms.product([*(top or [ONE]), divisor], [".*"] * (len(top) - 1) + ["./"])


def _power(base: Form, exponent: int, operator: str) -> Form:
    return base if exponent == 1 else forms.raised(base, forms.number(exponent), operator == ".^")


def best(piece: Piece) -> Form:
    """Return the better direction of a scalar: fewer transposes, then fewer tokens, then by name."""
    one, other = piece.costs
    if one != other:
        return read(piece, other < one)
    forward, backward = read(piece), read(piece, True)
    return backward if backward.names < forward.names else forward
