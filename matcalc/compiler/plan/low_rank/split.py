"""Splits a matrix into a simple matrix and one of low rank, `K = B + U*C*V'`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, diag_matrix, number, over_terms, product, zeros
from matcalc.tensor.nodes.node import Node, Operand
from matcalc.tensor.sizes.size import Size

ONE_AXIS = Size.of(1)
EASY = frozenset(["lower", "upper", "diagonal", "orthogonal"])
"""Facts of matrices whose inverse is cheap."""


@dataclass(frozen=True, eq=False)
class Split:
    """`base + left*middle*right'`; a base of rank 0 is a multiple of the identity, one of rank 1 a diagonal.

    The middle is a matrix or a number. `terms` is the number of products whose factors stand side by side.
    """

    base: Node
    left: Node
    middle: Node
    right: Node
    terms: int = 1

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is symmetric by its form."""
        middle = self.middle.rank == 0 or "symmetric" in self.middle.facts
        return self.left is self.right and middle and (self.base.rank < 2 or "symmetric" in self.base.facts)


def split(matrix: Node) -> Split | None:
    """Return the split of a matrix; None if it is no such sum."""
    if matrix.rank != 2 or matrix.shape[0] is not matrix.shape[1]:
        return None
    diagonals: list[Node] = []
    factors: list[tuple[Node, Node, Node]] = []
    others: list[Node] = []
    for coef, term in _terms(matrix):
        entries, parts = _diagonal(term), factors_of(term)
        if entries is not None:
            diagonals.append(add([(coef, entries)]))
        elif parts is not None:
            left, middle, right = parts
            factors.append((left, add([(coef, middle)]), right))
        else:
            others.append(add([(coef, term)]))
    if not factors or not (diagonals or others):
        return None
    base = _base(matrix.shape[0], diagonals)
    if others:
        base = add([*((1, other) for other in others), *([(1, _as_matrix(base, matrix.shape[0]))] if base else [])])
        if not base.facts & EASY:
            return None
    return None if base is None else Split(base, *_beside(factors), len(factors))


def _terms(matrix: Node) -> list[tuple[Fraction, Node]]:
    """Return the terms of a sum, also if it is transposed or multiplied by numbers; none of another matrix."""
    if matrix.kind == "sum":
        return list(matrix.terms)
    wide = [k for k, at in enumerate(matrix.indices) if at] if matrix.kind == "product" else []
    return over_terms(matrix, wide[0]) if len(wide) == 1 and matrix.args[wide[0]].kind == "sum" else []


def _beside(parts: Sequence[tuple[Node, Node, Node]]) -> tuple[Node, Node, Node]:
    """Return the factors of a sum of products of low rank: their columns side by side, and C in blocks."""
    if len(parts) == 1:
        return parts[0]
    lefts, middles, rights = zip(*parts, strict=True)
    left, right = _row(lefts), _row(rights)
    if all(middle is middles[0] and not middle.rank for middle in middles):
        return left, middles[0], right
    blocks = [
        m if m.rank else product(1, [(m, ())], (0, 0), {0: u.shape[1]}) for m, u in zip(middles, lefts, strict=True)
    ]
    middle = blocks[0]
    for block in blocks[1:]:
        corners = {"R": zeros((middle.shape[0], block.shape[1])), "S": zeros((block.shape[0], middle.shape[1]))}
        given = {"P": middle, "Q": block, **corners}
        middle = build_formula("[P, R; S, Q]", (), default_rulebook(), given)
    return left, middle, right


def _row(parts: Sequence[Node]) -> Node:
    made = parts[0]
    for part in parts[1:]:
        made = build_formula("[P, Q]", (), default_rulebook(), {"P": made, "Q": part})
    return made


def _base(size: Size, diagonals: Sequence[Node]) -> Node | None:
    """Return the sum of diagonals, as a number if all are multiples of the identity; None without any."""
    if not diagonals:
        return None
    if any(entries.rank for entries in diagonals):
        diagonals = [e if e.rank else product(1, [(e, ())], (0,), {0: size}) for e in diagonals]
    return add([(1, entries) for entries in diagonals])


def _as_matrix(base: Node, size: Size) -> Node:
    return diag_matrix(base) if base.rank else product(1, [(base, ())], (0, 0), {0: size})


def _diagonal(term: Node) -> Node | None:
    """Return the entries of a diagonal matrix, a number if all are equal; None for another matrix."""
    if term.kind != "product" or term.out[0] != term.out[1]:
        return None
    index = term.out[0]
    is_equal = all(index not in at for at in term.indices)
    return product(term.coef, term.operands, () if is_equal else (index,), term.sizes)


def factors_of(term: Node) -> tuple[Node, Node, Node] | None:
    """Return U, C and V of a product U*C*V'; None if the term is no such product, or not of low rank."""
    if term.kind != "product" or len(set(term.out)) < 2:
        return None
    row, column = term.out
    left = [operand for operand in term.operands if row in operand[1]]
    right = [operand for operand in term.operands if column in operand[1]]
    if not left or not right or any(column in at for _, at in left):
        return None
    middle = [operand for operand in term.operands if row not in operand[1] and column not in operand[1]]
    ends = [_inner(part, edge) for part, edge in ((left, row), (right, column))]
    if any(len(inner) > 1 for inner in ends):
        return None
    first, last = (inner[0] if inner else -1 for inner in ends)
    sizes = dict(term.sizes)
    if first < 0 or last < 0:
        return _outer(term, (left, row, first), middle, (right, column, last))
    if sizes[first] is sizes[row] or sizes[last] is sizes[row]:
        return None
    u = product(1, left, (row, first), sizes)
    v = product(1, right, (column, last), sizes)
    touched = {i for _, at in middle for i in at}
    if first == last and first not in touched:
        return u, product(term.coef, middle, (), sizes), v
    if first == last:
        c = product(term.coef, middle, (first, first), sizes)
    elif {first, last} <= touched:
        c = product(term.coef, middle, (first, last), sizes)
    else:
        return None
    return u, c, v


def _outer(
    term: Node,
    left: tuple[Sequence[Operand], int, int],
    middle: Sequence[Operand],
    right: tuple[Sequence[Operand], int, int],
) -> tuple[Node, Node, Node] | None:
    """Return the factors of x*y', each a matrix of one column."""
    if left[2] >= 0 or right[2] >= 0:
        return None
    free = max((*term.sizes, -1)) + 1
    u, v = (product(1, part, (edge, free), {**term.sizes, free: ONE_AXIS}) for part, edge, _ in (left, right))
    return u, product(term.coef, middle, (), term.sizes) if middle else number(term.coef), v


def _inner(part: Sequence[Operand], edge: int) -> list[int]:
    """Return the indices that connect a part with the others, or are summed in it."""
    return list(dict.fromkeys(i for _, at in part for i in at if i != edge))
