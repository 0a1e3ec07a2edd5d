"""SymPy -> syntax tree: every node of the expression is read once, operands first.

What a class means is in the tables of `scalars` and `matrices`; here is the walk, and what becomes of names:
those that stand in the shape of a matrix are sizes, every other one is a symbol, declared by what SymPy knows
of it. A 1 x 1 matrix is a scalar wherever it stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.errors import NotSupported
from matcalc.language.syntax import Ast
from matcalc.normal_form.make import symbol
from matcalc.normal_form.node import Node
from matcalc.sizes import Size
from matcalc.sympy_bridge import matrices, scalars
from matcalc.sympy_bridge.sizes import size_from
from matcalc.sympy_bridge.values import Make, Value, number_of

READ: Mapping[str, Make] = scalars.READ | matrices.READ
LEAVES = ("MatrixSymbol", "Identity", "ZeroMatrix", "OneMatrix")
FIRST = ("MatrixElement", "MatrixSlice")  # what follows their first operand are positions


def from_sympy(expr: Any) -> tuple[Ast, dict[str, Node]]:
    """Return the formula of a SymPy scalar or matrix, and its symbols.

    Raises: NotSupported, which names the class, for what has no meaning here.
    """
    reading = Reading(expr)
    value = reading.read(expr)
    return value.ast, reading.symbols


class Reading:
    """The state of one reading: symbols by name, and the names of sizes."""

    def __init__(self, expr: Any) -> None:
        self.symbols: dict[str, Node] = {}
        self.sizes: set[str] = set()
        self._operands: dict[int, tuple[Any, tuple[Any, ...]]] = {}  # by id, the node kept alive
        stack = [expr]
        while stack:
            node = stack.pop()
            if id(node) in self._operands:
                continue
            if type(node).__name__ in LEAVES:
                for length in node.shape:
                    self.sizes.update(size_from(length).names)
            stack.extend(self.operands(node))

    def operands(self, node: Any) -> tuple[Any, ...]:
        """Return the operands of a node that are formulas; the same objects at every call."""
        found = self._operands.get(id(node))
        if found is None:
            found = self._operands[id(node)] = node, _operands(node)
        return found[1]

    def read(self, expr: Any, given: Mapping[Any, Value] | None = None) -> Value:
        """Return a SymPy expression as a value; `given` are the values of bound variables."""
        done: dict[int, Value] = {}
        stack = [(expr, False)]
        while stack:
            node, entered = stack.pop()
            if id(node) in done:
                continue
            if given and node in given:
                done[id(node)] = given[node]
            elif entered:
                done[id(node)] = self._one(node, [done[id(operand)] for operand in self.operands(node)])
            else:
                _meaning(node)
                stack.append((node, True))
                stack.extend((operand, False) for operand in reversed(self.operands(node)))
        return done[id(expr)]

    def _one(self, node: Any, args: list[Value]) -> Value:
        make = _meaning(node)
        return Value(number_of(node)) if make is None else make(self, node, args)

    def declare(self, name: str, shape: tuple[Size, ...], facts: Sequence[str]) -> None:
        """Enter a symbol.

        Raises: NotSupported for a name that the language cannot write, or one for two things.
        """
        if not name.isidentifier():
            raise NotSupported(f"the SymPy symbol {name!r}: rename it, its name is no identifier")
        node = symbol(name, shape, facts)
        if self.symbols.setdefault(name, node) is not node:
            raise NotSupported(f"two SymPy symbols named {name}: rename one")


def _meaning(node: Any) -> Make | None:
    """Return what a class means, None for a number.

    Raises: NotSupported for a class that is in no table.
    """
    if getattr(node, "is_Number", False):
        return None
    for kind in type(node).__mro__:
        if kind.__name__ in READ:
            return READ[kind.__name__]
    raise NotSupported(f"{type(node).__name__} of SymPy has no form in the matrix language")


def _operands(node: Any) -> tuple[Any, ...]:
    kind = type(node).__name__
    if kind in LEAVES:
        return ()
    if kind in FIRST:
        return (node.args[0],)
    if kind == "ElementwiseApplyFunction":
        return (node.expr,)
    if kind in ("BlockMatrix", "BlockDiagMatrix"):
        return tuple(node.blocks) if kind == "BlockMatrix" else tuple(node.args)
    if getattr(node, "is_Matrix", False) and not getattr(node, "is_MatrixExpr", False):
        return tuple(node.flat())
    if kind == "Piecewise":
        return tuple(part for value, test in node.args for part in (value, *test.args))
    return tuple(node.args)
