"""What an expression holds: a node, the names in scope, a row mark, and how it came to be.

`Array`, `Derivatives` and `Forms`, the manners of an expression, stand on it, and make another of their own class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.reference import Reference, of_node
from matcalc.evidence.written.verify import verify
from matcalc.language.syntax import Ast
from matcalc.tensor.node import Node
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    from sympy import Basic

Symbol: TypeAlias = "str | Handle | Basic"
"""A name, or an object that stands for a symbol."""
Wrt: TypeAlias = "Symbol | Sequence[Symbol]"
Key: TypeAlias = Any
"""A symbol as the key of a mapping, which takes keys of one type alone."""
Derived: TypeAlias = Any
"""An expression, in a tuple where the derivative is asked for in a list: only the caller knows which."""


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
        self.unfactored = unfactored  # of a derivative, simplified: factoring is for reading, compiled is the cheaper
        self._shown = shown  # a reading of the node other than the one that notation prefers
        self._reference = reference  # where the value comes from that results are compared with
        self._checked = checked
        self._computed = computed  # of a derivative that holds marks: the node with them

    @property
    def computed(self) -> Node:
        """The node that numbers come from: that which is read, with marks for what is singular."""
        return self._computed or self.node

    @property
    def reference(self) -> Reference:
        """Where the value comes from that results are compared with: the formula as written, else the node."""
        return self._reference or of_node(self.computed)

    @property
    def checked(self) -> str:
        """At which random data the result was compared with the formula as written, and how far apart they were.

        Or why it was not compared.
        """
        if not self._checked:
            claim = Claim(self.computed, Derivation("value", self.node), "the value")
            self._checked = verify([claim], self.reference, self.names)
        return self._checked
