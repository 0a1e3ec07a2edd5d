"""What an expression holds: a node, the names in scope, a row mark, and how it came to be.

`Array`, `Derivatives` and `Forms`, the manners of an expression, stand on it, and make another of their own class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from matcalc.evidence.explain.derivation import Derivation
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

    __slots__ = ("_shown", "_trace", "names", "node", "row", "unfactored")

    def __init__(
        self,
        node: Node,
        names: Names,
        row: bool = False,
        trace: Derivation | None = None,
        unfactored: Node | None = None,
        shown: Ast | None = None,
    ) -> None:
        self.node = node
        self.names = names
        self.row = row
        self._trace = trace
        self.unfactored = unfactored  # of a derivative, simplified: factoring is for reading, compiled is the cheaper
        self._shown = shown  # a reading of the node other than the one that notation prefers
