"""Defines the data of an expression: a node, the names in scope, a row mark, and its origin.

`Array`, `Derivatives` and `Forms` extend it with methods. They construct objects of their own class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from matcalc.calculus.derive.marks import unmarked
from matcalc.calculus.simplify.quantities import NO_QUANTITIES, Quantities, quantities_of
from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.reference import Reference, of_node
from matcalc.evidence.written.verify import verify
from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    from sympy import Basic

Symbol: TypeAlias = "str | Handle | Basic"
"""A name, or an object that is a symbol."""
Wrt: TypeAlias = "Symbol | Sequence[Symbol]"
Key: TypeAlias = Any
"""A symbol as the key of a mapping, whose keys need one type."""
Derived: TypeAlias = Any
"""An expression, or a tuple of them if `wrt` is a list; the type depends on the arguments."""


class Handle:
    """A node with the names in scope; immutable."""

    __slots__ = ("_checked", "_computed", "_reference", "_shown", "_trace", "names", "node", "row", "unfactored")

    def __init__(
        self,
        node: Node,
        names: Names,
        row: bool = False,
        trace: Derivation | None = None,
        unfactored: Node | None = None,
        shown: Ast | None = None,
        reference: Reference | None = None,
        checked: str = "",
        computed: Node | None = None,
    ) -> None:
        self.node = node
        self.names = names
        self.row = row
        self._trace = trace
        self.unfactored = unfactored  # of a derivative; the cheaper of this and the factored form is compiled
        self._shown = shown  # a formula of the node other than the preferred one
        self._reference = reference  # evaluates the formula as written, for comparison with results
        self._checked = checked
        self._computed = computed  # of a derivative with marks: the node with them

    @property
    def computed(self) -> Node:
        """The node that is evaluated: the shown one, with marks for singular parts."""
        return self._computed or self.node

    @property
    def quantities(self) -> Quantities:
        """The quantities of steps that the formula named, simplified and as written."""
        named = self.names.named_parts
        if not any(node.kind == "recurrence" for node in named):
            return NO_QUANTITIES
        return quantities_of({form: name for node, name in named.items() for form in (simplify(node), node)})

    @property
    def data(self) -> Mapping[str, object]:
        """The arrays that a Python function read from its closure, by the names of their symbols."""
        return self.names.bound

    @property
    def has_marks(self) -> bool:
        """Whether the node that is evaluated has marks that the shown node lacks."""
        return self._computed is not None

    @property
    def reference(self) -> Reference:
        """The evaluator that results are compared with: of the formula as written, else of the node."""
        return self._reference or of_node(self.computed)

    @property
    def checked(self) -> str:
        """The random data at which the result was compared with the formula as written, and the largest difference.

        Or the reason why it was not compared.
        """
        if not self._checked:
            claim = Claim(self.computed, Derivation("value", self.node), "the value")
            self._checked = verify([claim], self.reference, self.names)
        return self._checked


def shown_and_computed(node: Node, has_marks: bool) -> tuple[Node, Node | None]:
    """Return the shown node, which has no marks, and the computed node if it differs."""
    return (unmarked(node), node) if has_marks else (node, None)
