"""Frees variables of thin facts: a formula is differentiated as a function of unrestricted entries.

The derivative in an orthogonal Q concerns all matrices near Q, orthogonal or not. Two formulas that are equal on
orthogonal matrices alone have different derivatives. So the variables lose their thin facts (`thin` in
rules/facts.toml: sets without interior in their linear hull) before anything is simplified, and the derivative gets
them back. The other facts remain: equality on an open subset of a linear space holds for derivatives too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.substitute import substitute


class Unrestricted(NamedTuple):
    """A formula in variables without thin facts. `back` maps new variables to the symbols of the user."""

    root: Node
    variables: list[Node]
    back: Mapping[Node, Node]

    def restored(self, node: Node) -> Node:
        """Return a node in the symbols of the user."""
        return substitute(node, self.back) if self.back else node

    def keyed(self, by_symbol: Mapping[Node, Node]) -> dict[Node, Node]:
        """Return a mapping with the user's symbols, its keys, replaced by the variables."""
        forth = {old: new for new, old in self.back.items()}
        return {forth.get(x, x): value for x, value in by_symbol.items()}


def unrestricted(root: Node, xs: Sequence[Node]) -> Unrestricted:
    """Return a formula with the symbols `xs` freed of their thin facts."""
    book = default_rulebook()
    loose = {}
    for x in xs:
        declared = x.data[1]
        kept = book.solid(declared)
        if kept != declared:
            loose[x] = symbol(x.name, x.shape, sorted(kept))
    if not loose:
        return Unrestricted(root, list(xs), {})
    back = {new: old for old, new in loose.items()}
    return Unrestricted(substitute(root, loose), [loose.get(x, x) for x in xs], back)
