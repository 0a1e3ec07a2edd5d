"""Reads closed networks as scalars: `x'*A*y`, `tr(A*B)` or `sum(A.*B)`, whichever is shortest.

Any index may be summed last. That choice matters if several vectors or matrices meet at an index, so each such index is
tried; along a plain path it does not matter. A chain may be read from either end, and a trace may begin anywhere. The
choice is by fewest transposes, then fewest tokens, then a palindrome (`tr(X'*A*X)`), then names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache

from matcalc.formula.forms import factor_reading
from matcalc.formula.forms import form as forms
from matcalc.formula.forms.contraction import Net, reduce_net
from matcalc.formula.forms.factor_reading import Item, Piece, chain, diagonal, directed, elementwise, read
from matcalc.formula.forms.form import Form
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import sum_of_squares

MOST_ROOTS = 6


def scalar_form(net: Net) -> Form | None:
    """Return the formula of a closed network, None if it has no matrix form."""
    best: Form | None = None
    for root in _roots(net):
        trial = net.copy([root])
        reduce_net(trial)
        if trial.edges or trial.others or set(trial.weights) != {root}:
            continue
        for form in _closings(trial.weights[root]):
            if best is None or (form.cost[::-1], form.names) < (best.cost[::-1], best.names):
                best = form
    return best


def _roots(net: Net) -> list[int]:
    """Return the indices to sum last: those where three or more factors meet, and one other."""
    meeting: dict[int, int] = {i: len(w) for i, w in net.weights.items()}
    for edge in net.edges:
        for index in edge[:2]:
            meeting[index] = meeting.get(index, 0) + 1
    plain = [i for i in sorted(meeting) if meeting[i] < 3]
    return [i for i in sorted(meeting) if meeting[i] >= 3][:MOST_ROOTS] + plain[:1]


def _closings(weights: list[Piece]) -> list[Form]:
    """Return the readings of the sum over one index of a product of columns."""
    if len(weights) == 1:
        return [trace(weights[0].cycle) if weights[0].cycle else total(weights[0])]
    readings = [] if any(w.ones for w in weights) else [total(elementwise((w, False) for w in weights))]
    products = _inner_products(weights)
    cycles = [w for w in weights if w.cycle]
    if cycles and cycles[0].cycle:
        rest = elementwise((w, False) for w in weights if w is not cycles[0])
        readings.append(trace(chain([(diagonal(rest), False), (cycles[0].cycle, False)])))
    return readings + [form for p in products for form in (factor_reading.best(p), *_halved(p.items))]


def _halved(items: Sequence[Item]) -> list[Form]:
    """Return `norm2(A*x)^2` for the factors of `x'*A'*A*x`."""
    half = len(items) // 2
    if len(items) % 2 or tuple(items) != directed(items, True):
        return []
    return _squared_norm(chain(items[half:]))


def _squared_norm(piece: Piece) -> list[Form]:
    """Return `norm2(x)^2`, if the rulebook has such an operation."""
    norm = _norm()
    if norm is None:
        return []
    inner = read(piece, piece.rank == 2 and piece.costs[1] < piece.costs[0])
    return [forms.raised(forms.call(norm, inner), forms.number(2), False)]


@cache
def _norm() -> str | None:
    """Return the name of the operation whose square is the sum of squares, by the rulebook."""
    rules = default_rulebook().rules.values()
    return next((rule.name for rule in rules if rule.square == sum_of_squares()), None)


def _inner_products(weights: list[Piece]) -> list[Piece]:
    """Return the splits of columns into a row and a column."""
    found: list[Piece] = []
    distinct = list(dict.fromkeys(weights))
    chains = [w for w in distinct if w.kind == "chain"]
    for left in distinct:
        same = [w for w in weights if w is left]
        rest = [w for w in weights if w is not left]
        if not rest:
            half = len(same) // 2
            if len(same) % 2 == 0:
                found.append(_inner(elementwise((w, False) for w in same[:half]), same[half:], []))
            continue
        row = elementwise((w, False) for w in same)
        found.append(_inner(row, rest, []))
        if left in chains:
            others = [w for w in chains if w is not left and len(same) == 1]
            found += [_inner(left, [c], [w for w in rest if w is not c]) for c in others]
        if len(distinct) == 2:
            break
    return found


def _inner(row: Piece, rest: list[Piece], between: list[Piece]) -> Piece:
    middle = [(diagonal(elementwise((w, False) for w in between)), False)] if between else []
    right = elementwise((w, False) for w in rest)
    return chain([(row, True), *middle, (right, False)])


def total(piece: Piece) -> Form:
    """Return `sum(x)` of a column; of the matrix itself if the column is its row sums."""
    if piece.summed:
        piece = piece.summed
    elif piece.kind == "chain" and piece.items[-1][0].ones and len(piece.items) > 1:
        piece = chain(piece.items[:-1])
    plain = forms.played("total", read(piece, piece.rank == 2 and piece.costs[1] < piece.costs[0]))
    return min([plain, *_root(piece)], key=lambda f: f.tokens)


def _root(piece: Piece) -> list[Form]:
    """Return `norm2(A)^2` for the sum of `A.^2`."""
    counts = Counter(piece.items)
    if piece.kind != "elementwise" or piece.under or any(count % 2 for count in counts.values()):
        return []
    return _squared_norm(elementwise(item for item, count in counts.items() for _ in range(count // 2)))


def trace(matrix: Piece) -> Form:
    """Return `tr(...)`, begun at the best factor."""
    items = matrix.items if matrix.kind == "chain" else ((matrix, False),)
    readings: list[tuple[forms.Cost, bool, tuple[str, ...], Piece]] = []
    norms: list[Form] = []
    for flip in (False, True):
        around: tuple[Item, ...] = directed(items, flip)
        for start in range(len(around)):
            piece = chain(around[start:] + around[:start])
            ends = around[start], around[start - 1]
            mirrored = ends[0][0] is ends[1][0] and ends[0][1] and not ends[1][1] and len(around) > 1
            readings.append((piece.costs[0], not mirrored, piece.names, piece))
            norms += _halved(piece.items) if mirrored else []
    found = [forms.played("diagonal_trace", read(min(readings, key=lambda r: r[:3])[3])), *norms]
    if len(items) == 2:
        found.append(total(elementwise([items[0], (items[1][0], not items[1][1])])))
    return min(found, key=lambda f: f.tokens)
