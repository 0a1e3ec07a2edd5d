"""Sharing: what a long formula holds in several places is written once, under a name.

A DAG of a hundred nodes may be a tree of millions of leaves: an unrolled recurrence holds each step in several
places of the next. So where a formula would pass a few thousand characters, each node that several others hold is a
part of its own, unless it is short; the text is then as long as the DAG. A short formula is left whole: a name for a
part that can be taken in at a glance is one more thing to look up. What has a name already is called by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count

from matcalc.formula.notation import form as forms
from matcalc.formula.notation.form import Form
from matcalc.formula.notation.node_reading import Reading
from matcalc.language import syntax
from matcalc.tensor.node import LONG, Node

LEAST = 12
"""Tokens of a part that is worth a name."""


class Shared:
    """The parts of one formula that have names, as they are found, operands first."""

    def __init__(self, root: Node, nodes: Sequence[Node], taken: Collection[str], given: Mapping[Node, str]) -> None:
        self.root = root
        self.given = given
        self.places = Counter(arg for node in nodes for arg in node.args) if root.length > LONG else Counter[Node]()
        self.names = (name for name in map(str, count(1)) if f"T{name}" not in taken and f"t{name}" not in taken)
        self.tokens = 0

    def reading(self, node: Node, reading: Reading) -> Reading:
        """Return how a node is read by those that hold it: its name where it is shared."""
        form = reading.form
        is_long = self.places[node] > 1 and form.tokens >= LEAST and form.scalar is None
        if node is self.root or not (is_long or node in self.given):
            return reading
        self.tokens += form.tokens + 3
        name = self.given.get(node) or ("T" if node.rank > 1 else "t") + next(self.names)
        part = Form(syntax.shared(name, form.ast), forms.ATOM, 1, 0, (name,), form.degree)
        return Reading(part)

    def whole(self, form: Form) -> Form:
        """Return the formula with the price of its parts."""
        return replace(form, tokens=form.tokens + self.tokens) if self.tokens else form
