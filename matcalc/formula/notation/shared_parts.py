"""Names shared parts: a part that occurs several times in a long formula is written once.

A DAG of a hundred nodes may be a tree of millions of leaves: an unrolled recurrence holds each step in several parts of
the next. So if a formula would pass a few thousand characters, each node with several users and a long text becomes a
named part; the formula is then as long as the DAG. A short formula gets no names, which would make it harder to read. A
part that already has a name keeps it. So does an operation that is written as an index form in several places of a
short formula, if that makes the text shorter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import count

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.formula.notation.node_reading import Reading
from matcalc.language import syntax
from matcalc.tensor.nodes.node import Node

LEAST = 12
"""Fewest tokens of a part with a name."""


class Shared:
    """The named parts of one formula, in the order found, operands first."""

    def __init__(
        self,
        root: Node,
        nodes: Sequence[Node],
        taken: Collection[str],
        part_names: Mapping[Node, str],
        named: Collection[Node] = (),
        is_long: bool = False,
    ) -> None:
        self.root = root
        self.part_names = part_names
        self.named = named
        self.uses = Counter(arg for node in nodes for arg in node.args)
        self.is_long = is_long
        self.repeated: set[Node] = set()
        self.names = (name for name in map(str, count(1)) if f"T{name}" not in taken and f"t{name}" not in taken)
        self.tokens = 0

    def reading(self, node: Node, reading: Reading) -> Reading:
        """Return the reading of a node for its users: its name if it is shared."""
        form = reading.form
        is_repeated = self.uses[node] > 1 and form.tokens >= LEAST and form.scalar is None
        if is_repeated and form.body is not None and node.kind == "op":
            self.repeated.add(node)
        is_part = (is_repeated and self.is_long) or node in self.named or node in self.part_names
        if node is self.root or not is_part or node.kind == "recurrence":
            return reading
        self.tokens += form.tokens + 3
        name = self.part_names.get(node) or ("T" if node.rank > 1 else "t") + next(self.names)
        part = Form(syntax.shared(name, form.ast), forms.ATOM, 1, 0, (name,), form.degree)
        return Reading(part)

    def whole(self, form: Form) -> Form:
        """Return the formula with the cost of its parts."""
        return replace(form, tokens=form.tokens + self.tokens) if self.tokens else form
