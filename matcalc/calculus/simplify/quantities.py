"""Finds quantities of the step that the user named, `S[t] = H*P[t]*H' + R`, in the steps of recurrences.

A quantity is a tensor with a value at each step. In a step its occurrences become a symbol with its name: as a node, as
some factors of a product, or as some terms of a sum. So a step is shortened and printed over the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from matcalc.calculus.simplify.users_names import everywhere
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import scale, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step
from matcalc.tensor.substitute import substitute
from matcalc.tensor.sums import split_coef


class Quantities(NamedTuple):
    """Named tensors with a leading axis of steps, each after those that its equation may read.

    A name may have several forms; the first that fits a step counts.
    """

    parts: tuple[tuple[str, Node], ...] = ()

    def symbols(self, step: Step, length: Size) -> dict[Node, Node]:
        """Return the symbols of quantities that follow from the sequences of a step, with their values at the step."""
        found: dict[Node, Node] = {}
        for name, part in self.parts:
            if part.shape[0] != length or any(own.name == name for own in found):
                continue
            trial = Step(dict(step.sequences))
            body = trial.of(part, 0)
            if len(trial.sequences) == len(step.sequences) and body.args:
                found[symbol(name, body.shape, default_rulebook().strongest(sorted(body.facts)))] = body
        return found

    def names_in(self, node: Node) -> set[str]:
        """Return the names of quantities over as many steps as recurrences in a node have."""
        lengths = {one.steps for one in toposort(node) if one.kind == "recurrence"}
        return {name for name, part in self.parts if part.shape[0] in lengths}

    def over(self, body: Node, symbols: Mapping[Node, Node]) -> Node:
        """Return a value of a step over the symbols of quantities; the value itself if they do not yield it again."""
        made = body
        for own, part in reversed(list(symbols.items())):
            coef, core = split_coef(part)
            made = everywhere(toposort([made]), core, scale(1 / coef, own)) if core.args else made
        return made if substitute(made, symbols) is body else body


NO_QUANTITIES = Quantities()


def quantities_of(named: Mapping[Node, str]) -> Quantities:
    """Return the named tensors that may be quantities of a step; shorter ones may stand in the equations of longer."""
    parts = [(name, node) for node, name in named.items() if node.rank and node.kind != "recurrence"]
    return Quantities(tuple(sorted(parts, key=lambda part: len(toposort(part[1])))))
