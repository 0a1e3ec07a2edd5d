"""Rewrites sums over a triangle as running totals: `{i: x[j]*[i >= j]}` is one pass over x, not one for each entry.

The operations have no entry in the rulebook, where a running total is that sum: derivatives have been taken before.
`codegen/kernels.toml` has their kernels. Entries outside the triangle are not multiplied by 0.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from matcalc.rulebook.entry import rule_from_table
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Indices, Node, toposort
from matcalc.tensor.raw_nodes import op_node, selector
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.substitute import rebuild, remake

Term = tuple[Node, Indices]
UP_TO, FROM = "running_total", "running_total_from"


def running_totals(roots: Sequence[Node]) -> list[Node]:
    """Return the roots with sums over a triangle between two groups of operands as running totals."""
    return rebuild(roots, _with_totals)


def total_of(terms: Node, name: str) -> Node:
    """Return the running totals along the last axis of a node, up to each entry or from it."""
    rule, batch = _rule(name), tuple(range(terms.rank - 1))
    return op_node(rule, (), (terms,), (batch,), rule.outputs[0], terms.shape, len(batch))


class Total(NamedTuple):
    """A sum over an index of a triangle: of the operands `own`, which share the indices `rest` with others."""

    name: str
    own: list[Term]
    others: list[Term]
    rest: Indices
    summed: int
    kept: int

    @property
    def rank(self) -> tuple[int, int]:
        """The sort key of sums: those with few selectors in `own`, which would be formed, are replaced first."""
        return sum(arg.kind == "selector" for arg, _ in self.own), len(self.rest)


def _with_totals(node: Node) -> Node:
    if node.kind != "product":
        return node
    found = min(_totals(node), key=lambda total: total.rank, default=None)
    if found is None:
        return node
    terms = _with_totals(product(1, found.own, (*found.rest, found.summed), node.sizes))
    total = total_of(terms, found.name)
    return _with_totals(product(node.coef, [*found.others, (total, (*found.rest, found.kept))], node.out, node.sizes))


def _totals(node: Node) -> Iterator[Total]:
    """Yield the sums over a triangle that running totals can replace."""
    for position, (arg, at) in enumerate(node.operands):
        if not _is_square_triangle(arg):
            continue
        terms = [term for k, term in enumerate(node.operands) if k != position]
        for summed, kept, name in ((at[1], at[0], UP_TO), (at[0], at[1], FROM)):
            own, others = _parted(terms, summed, {*node.out, kept})
            inside = dict.fromkeys(i for _, indices in own for i in indices)
            if summed in node.out or kept in inside or all(term.kind == "selector" for term, _ in own):
                continue
            outside = {*node.out, *(i for _, indices in others for i in indices)}
            rest = tuple(i for i in inside if i != summed and i in outside)
            if _is_there_already(node, {*rest, summed}, {*rest, kept}):
                yield Total(name, own, others, rest, summed, kept)


def _is_there_already(node: Node, terms: set[int], totals: set[int]) -> bool:
    """Whether some operand or the result has all indices of the terms or totals, so that no array gains an axis.

    `A*tril(B*C)` is two products of matrices; as totals of `B[j,l]*C[l,k]` it would be one of three axes.
    """
    return totals <= set(node.out) or any(terms <= set(indices) for _, indices in node.operands)


def _parted(terms: Sequence[Term], summed: int, free: Container[int]) -> tuple[list[Term], list[Term]]:
    """Return the operands with an index, including those that only re-index others (`flip(x)`), and the rest."""
    at = {summed}
    while True:
        own = [term for term in terms if not at.isdisjoint(term[1])]
        more = {i for term, indices in own if term.kind == "selector" for i in indices if i not in free}
        if more <= at:
            return own, [term for term in terms if at.isdisjoint(term[1])]
        at |= more


def _is_square_triangle(node: Node) -> bool:
    """Whether a node is `[i >= j]` of two axes of one length, so that no row or column of it is empty."""
    if node.kind != "selector" or node.selector.kind != "mask":
        return False
    return node.selector.offset == 0 and node.shape[0] == node.shape[1]


class AsSums:
    """Rewrites running totals back to sums, which the language can write."""

    def __init__(self) -> None:
        self.made: dict[Node, Node] = {}

    def __call__(self, node: Node) -> Node:
        """Return a node with its running totals as sums over a triangle."""
        for each in toposort([node], self.made):
            new = remake(each, self.made)
            self.made[each] = _as_sum(new) if new.kind == "op" and new.rule.name in (UP_TO, FROM) else new
        return self.made[node]


def _as_sum(node: Node) -> Node:
    (terms,) = node.args
    batch, last = tuple(range(node.rank - 1)), node.rank - 1
    length = node.shape[-1]
    at = (last, node.rank) if node.rule.name == UP_TO else (node.rank, last)
    triangle = selector(Selector("mask", (length, length)))
    sizes = {**dict(enumerate(node.shape)), node.rank: length}
    return product(1, [(triangle, at), (terms, (*batch, node.rank))], (*batch, last), sizes)


@cache
def _rule(name: str) -> Rule:
    table = {"signature": f"{name}(x: vector(n)) -> vector(n)", "value": "None", "differential": "0", "internal": True}
    return rule_from_table(name, table, f"codegen/kernels.toml [{name}]")
