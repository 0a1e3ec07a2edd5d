"""Names the states and step indices of the recurrences in one formula."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from matcalc.formula.notation.node_reading import Reading
from matcalc.language.identifiers import supply
from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.lags import Lagged, lags_of, whole_of
from matcalc.tensor.steps.one_step import Step
from matcalc.tensor.steps.recurrence import BOUND, level_of, sibling

INDICES = "tskjirqp"
FORWARD, BACKWARD = ("xyzshvwu", "XYZSVWMK"), ("lpqrvwuy", "LPQRVWMK")
"""Letters for states by direction: of scalars and vectors, then of tensors with more axes."""
QUANTITIES = ("gdhcvwu", "GDHCVWK")
"""Letters for quantities of the step."""
ReadBodies = Callable[[Sequence[Node], Mapping[Node, Reading], Sequence[str]], list[Reading]]
"""Reads nodes over symbols that have readings; the names are taken inside."""


class Quantities(Protocol):
    """Named quantities of the step: their symbols with their values at a step, and a value over the symbols."""

    def symbols(self, step: Step, length: Size) -> dict[Node, Node]: ...

    def over(self, body: Node, symbols: Mapping[Node, Node]) -> Node: ...

    def __hash__(self) -> int: ...


class Systems:
    """The systems of one formula, with the names of states, quantities and step indices.

    Nodes `inside` a recurrence are read at its steps, so they have no sums over steps. A quantity is in the system of
    the first recurrence that reads it, or in one of its own: `owners` has the systems. `places` are trajectories as
    parts of sequences with lags, `wholes` such sequences with the trajectory that the step computes.
    """

    def __init__(
        self,
        taken: frozenset[str],
        preferred: Mapping[Node, str],
        read: ReadBodies,
        quantities: Quantities | None = None,
    ) -> None:
        self.taken, self.preferred, self.read = set(taken), preferred, read
        self.quantities = quantities
        self.owners: dict[str, Ast] = {}
        self.inside: set[Node] = set()
        self.names: dict[Node, str] = {}
        self.places: dict[Node, Lagged] = {}
        self.wholes: dict[Node, Node] = {}
        self.indices: dict[tuple[Size, int], str] = {}
        self.made: dict[Node, Ast] = {}
        self.below: dict[Node, frozenset[Node]] = {}

    def enter(self, nodes: Iterable[Node]) -> frozenset[str]:
        """Name all states and indices of recurrences; return all names in use."""
        found = list(nodes)
        for node in found:
            if node.kind == "recurrence":
                self.index_of(node)
                self.inside.update(toposort(node.args))
                if node not in self.places:
                    self._place(node, set(found))
                for position in range(len(node.states)):
                    self.name(sibling(node, position))
        return frozenset(self.taken)

    def _place(self, node: Node, found: Collection[Node]) -> None:
        """Record the states of a recurrence as parts of sequences with lags; one whose parts are read alone is none."""
        lags = lags_of(node)
        states = [sibling(node, k) for k in range(len(lags))]
        apart = {place.head for own, place in zip(states, lags, strict=True) if own is not place.head and own in found}
        for own, place in zip(states, lags, strict=True):
            self.places[own] = Lagged(own, 0, 1) if place.head in apart else place
            if place.lag > 1 and own is place.head and place.head not in apart:
                self.wholes[whole_of(own)] = own

    def place(self, node: Node) -> Lagged:
        """Return a trajectory as a part of a sequence with lags."""
        return self.places.get(node) or Lagged(node, 0, 1)

    def trajectories(self, root: Node) -> frozenset[Node]:
        """Return the trajectories that a node contains; none of a node of a plan with last states."""
        for node in toposort(root, self.below):
            own = [node] if node.kind == "recurrence" else []
            self.below[node] = frozenset(own).union(*(self.below[arg] for arg in node.args))
        found = self.below[root]
        return found if all(all(node.kept) for node in found) else frozenset()

    def name(self, node: Node) -> str:
        """Return the name of a trajectory, or of the sequence with lags: the user's, or a new letter."""
        node = self.place(node).head
        if node not in self.names:
            letters = (BACKWARD if node.backward else FORWARD)[node.rank > 2]
            wanted = self.preferred.get(node)
            own = wanted if wanted and wanted not in self.taken else next(supply(letters, self.taken))
            self.taken.add(own)
            self.names[node] = own
        return self.names[node]

    def quantity(self, rank: int) -> str:
        """Return a new name for a quantity of the step, whose values at all steps have this many axes."""
        name = next(supply(QUANTITIES[rank > 2], self.taken))
        self.taken.add(name)
        return name

    def shared(self) -> str:
        """Return a new name for a shared part of a step: a capital, which no index of a formula is."""
        name = next(supply(QUANTITIES[True], self.taken))
        self.taken.add(name)
        return name

    def index_of(self, node: Node) -> str:
        """Return the step index of a recurrence; one in the step of another has an index of its own."""
        return self.index(node.steps, level_of(node) if is_inner(node) else 0)

    def index(self, steps: Size, level: int = 0) -> str:
        """Return the step index of recurrences with this number of steps, inside others with a level of nesting."""
        if (steps, level) not in self.indices:
            self.indices[steps, level] = next(supply(INDICES, self.taken))
            self.taken.add(self.indices[steps, level])
        return self.indices[steps, level]


def is_inner(node: Node) -> bool:
    """Whether a recurrence reads the step of another."""
    return any(one.kind == "symbol" and one.name.startswith(BOUND) for one in toposort(node.args))


def is_of_step(node: Node) -> bool:
    """Whether a node is a symbol of a step, or a recurrence that reads one: only the readings of this step have it."""
    return node.name.startswith(BOUND) if node.kind == "symbol" else node.kind == "recurrence" and is_inner(node)
