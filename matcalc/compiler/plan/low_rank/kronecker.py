"""Splits a matrix into a multiple of the identity and a Kronecker product of symmetric matrices.

Eigenvalues and eigenvectors of the factors give those of the matrix: its inverse is a product of matrices of the size
of the factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, product, symbol, transpose
from matcalc.tensor.nodes.node import Node, Operand, terms_of
from matcalc.tensor.substitute import Batched, instantiate, substitute


@dataclass(frozen=True, eq=False)
class Kronecker:
    """`shift*eye(n) + kron(*factors)`, with symmetric factors."""

    shift: Node
    factors: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class KroneckerForm:
    """The entry: formulas over `b`, `w`, `V`, `g` and n, of operations, of the inverse, and of tests with their limits.

    `of_factor` has `w`, `V` and `g` of one factor S, `joined` those of two. `solved` is the inverse times a vector X.
    """

    of_factor: Mapping[str, str]
    joined: str
    operations: Mapping[str, str]
    solved: str
    alone: str
    tests: Sequence[tuple[str, float]]

    def built(self, formula: str, found: Kronecker, **others: Node) -> Node:
        """Return a formula of the entry over the parts of a matrix, and over `others`."""
        parts = {
            name: reduce(lambda x, y: _formula(self.joined, X=x, Y=y), [_formula(of, S=s) for s in found.factors])
            for name, of in self.of_factor.items()
        }
        sizes = {"n": parts["w"].shape[0]}
        return build_formula(formula, (), default_rulebook(), {"b": found.shift, **parts, **others}, sizes=sizes)

    def solution(self, found: Kronecker, x: Node) -> Node:
        """Return the inverse times a vector, or times each column of a matrix."""
        vector = symbol("X", x.shape[:1])
        template = self.built(self.solved, found, X=vector)
        if x.rank == 1:
            return substitute(template, {vector: x})
        return transpose(instantiate(template, {vector: Batched(transpose(x), (0,))}, {}, x.shape[1:]).node)


def _formula(formula: str, **symbols: Node) -> Node:
    return build_formula(formula, (), default_rulebook(), symbols)


def kronecker(matrix: Node) -> Kronecker | None:
    """Return the split of a matrix; None if it is no such sum."""
    if matrix.rank != 2 or matrix.kind != "sum":
        return None
    shifts, products = [], []
    for coef, term in terms_of(matrix):
        shift = _shift(term)
        if shift is None:
            products.append((coef, term))
        else:
            shifts.append((coef, shift))
    if not shifts or len(products) != 1:
        return None
    ((coef, term),) = products
    factors = _factors(term)
    if factors is None:
        return None
    first, *others = factors
    return Kronecker(add(shifts), (add([(coef, first)]), *others))


def _shift(term: Node) -> Node | None:
    """Return the number of a multiple of the identity; None for another matrix."""
    if term.kind != "product" or term.out[0] != term.out[1] or any(term.out[0] in at for at in term.indices):
        return None
    return product(term.coef, term.operands, (), term.sizes)


def _factors(term: Node) -> tuple[Node, ...] | None:
    """Return the factors of a Kronecker product of symmetric matrices; None for another matrix."""
    if term.kind != "product" or len(set(term.out)) < 2:
        return None
    merges = [_merge(term, index) for index in term.out]
    if merges[0] is None or merges[1] is None or len(merges[0]) != len(merges[1]):
        return None
    rest = [o for o in term.operands if not set(o[1]) & set(term.out)]
    if len(rest) + 2 != len(term.operands):
        return None
    scale = [o for o in rest if not o[1]]
    used, found = len(scale), list[Node]()
    for row, column in zip(*merges, strict=True):
        part = _connected(rest, row)
        if row == column or not _is_between(part, row, column, merges):
            return None
        used += len(part)
        factor = product(1 if found else term.coef, part if found else [*scale, *part], (row, column), term.sizes)
        if "symmetric" not in factor.facts:
            return None
        found.append(factor)
    return tuple(found) if used == len(rest) else None


def _merge(term: Node, index: int) -> Sequence[int] | None:
    """Return the indices that a merge combines to an index; None if it is not alone there."""
    near = [(arg, at) for arg, at in term.operands if index in at]
    if len(near) != 1 or near[0][0].kind != "selector" or near[0][0].selector.kind != "merge":
        return None
    (_, at), *_ = near
    return at[1:] if at[0] == index else None


def _connected(operands: Sequence[Operand], index: int) -> list[Operand]:
    """Return the operands that an index reaches."""
    seen, found = {index}, list[Operand]()
    while True:
        more = [o for o in operands if o not in found and seen & set(o[1])]
        if not more:
            return found
        found += more
        seen |= {i for _, at in more for i in at}


def _is_between(part: Sequence[Operand], row: int, column: int, merges: Sequence[Sequence[int] | None]) -> bool:
    """Whether operands connect a row with its column, and no other part of the merges."""
    seen = {i for _, at in part for i in at}
    return seen & {i for merge in merges for i in merge or ()} == {row, column}
