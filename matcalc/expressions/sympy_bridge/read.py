"""Reads SymPy expressions as syntax trees: every node is read once, operands first.

The tables of `scalars`, `matrices` and `indexed` define the meaning of each class. This module walks the expression and
classifies names. Names in the shape of a matrix, in bounds of an index or in integer exponents of matrices are sizes.
Every other name is a symbol, declared with SymPy's assumptions. A 1 x 1 matrix is a scalar everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

import sympy
from sympy import Basic

from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge import arrays, indexed, matrices, scalars
from matcalc.expressions.sympy_bridge.by_rule import reader
from matcalc.expressions.sympy_bridge.sympy_objects import is_explicit, name_of, plain, plain_name
from matcalc.expressions.sympy_bridge.values import Index, Make, Value, number_of, size_from
from matcalc.language.identifiers import supply
from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.sizes.size import Size

READ: Mapping[str, Make] = scalars.READ | matrices.READ | indexed.READ | arrays.READ
LEAVES = ("MatrixSymbol", "Identity", "ZeroMatrix", "OneMatrix", "ArraySymbol", "ZeroArray", "OneArray")
SHAPED = (*LEAVES, "FunctionMatrix", "Operation")
NO_OPERANDS = (
    *LEAVES,
    *indexed.BINDS,
    "Indexed",
    "ArrayElement",
    "KroneckerDelta",
    "FunctionMatrix",
    *matrices.EXPLICIT,
)
FIRST = (
    "MatrixElement",
    "MatrixSlice",
    "MatrixPermute",
    *arrays.FIRST,
)  # operands after the first are positions
INDEX_NAMES = "ijkpqrst"


def from_sympy(expr: Basic, sizes: Iterable[str] = (), numbers: Collection[str] = ()) -> tuple[Ast, dict[str, Node]]:
    """Return the formula of a SymPy scalar, matrix or array, and its symbols.

    `sizes` are names known as sizes, `numbers` names that are none, also as exponents of matrices.

    Free indices (Idx) are axes of the result, in the order of their names, as in numpy.einsum.

    Raises: NotSupported, which names the class, for an object without a meaning here; ShapeError.
    """
    expr = plain(expr, _everything(expr))
    reading = Reading(expr, sizes, numbers)
    value = indexed.with_free_indices(reading, expr)
    return value.ast, reading.symbols


def sizes_in(expr: Basic, numbers: Collection[str] = ()) -> frozenset[str]:
    """Return the names that are sizes in a SymPy expression; `numbers` are names that are none."""
    return frozenset(Reading(plain(expr, _everything(expr)), (), numbers).sizes)


def symbols_in(expr: Basic) -> dict[str, Basic]:
    """Return the SymPy symbols of an expression by name, those of sizes included, without bound ones."""
    found: dict[str, Basic] = {}
    bound: set[Basic] = set()
    for node in _everything(expr):
        bound.update(indexed.indices_of(node))
        bound.update(getattr(node, "variables", ()))
        name = plain_name(node)
        if name is not None:
            found.setdefault(name, node)
    return {name: node for name, node in found.items() if node not in bound}


class Reading:
    """The state of one reading: symbols by name, the names of sizes, bound indices and variables."""

    def __init__(self, expr: Basic, sizes: Iterable[str] = (), numbers: Collection[str] = ()) -> None:
        self.symbols: dict[str, Node] = {}
        self.sizes: set[str] = set(sizes)
        self.bound: dict[Basic, Index] = {}
        self._objects: dict[str, Basic] = {}
        self._bindings: dict[Basic, Value] = {}
        self._operands: dict[int, tuple[Basic, tuple[Basic, ...]]] = {}  # by id, the node kept alive
        names = {"e"}
        for node in _everything(expr):
            kind = type(node).__name__
            if kind in SHAPED or (kind == "IndexedBase" and node.shape):
                for length in node.shape:
                    self.sizes.update(size_from(length).names)
            self.sizes |= matrices.whole_exponents(node).difference(numbers) | scalars.integer_operands(node)
            for bound in indexed.bounds_of(node):
                self.sizes.update(str(name) for name in getattr(bound, "free_symbols", ()))
            if hasattr(node, "name"):
                names.add(str(node.name))
        self.sizes -= {str(index) for node in _everything(expr) for index in indexed.indices_of(node)}
        self._names = supply(INDEX_NAMES, names)

    def fresh(self) -> str:
        """Return a name for an index that nothing in the expression has."""
        return next(self._names)

    def operands(self, node: Basic) -> tuple[Basic, ...]:
        """Return the operands of a node that are formulas; the same objects at every call."""
        found = self._operands.get(id(node))
        if found is None:
            found = self._operands[id(node)] = node, _operands(node)
        return found[1]

    def read(self, expr: Basic, bindings: Mapping[Basic, Value] | None = None) -> Value:
        """Return a SymPy expression as a value; `bindings` are the values of bound variables."""
        before = self._bindings
        self._bindings = {**before, **(bindings or {})}
        done: dict[int, Value] = {}
        stack = [(expr, False)]
        while stack:
            node, entered = stack.pop()
            if id(node) in done:
                continue
            if self._bindings and node in self._bindings:
                done[id(node)] = self._bindings[node]
            elif entered:
                done[id(node)] = self._one(node, [done[id(operand)] for operand in self.operands(node)])
            else:
                _meaning(node)
                stack.append((node, True))
                stack.extend((operand, False) for operand in reversed(self.operands(node)))
        self._bindings = before
        return done[id(expr)]

    def _one(self, node: Basic, args: list[Value]) -> Value:
        make = _meaning(node)
        return Value(number_of(node)) if make is None else make(self, node, args)

    def declare(self, node: Basic, name: str, shape: tuple[Size, ...], facts: Sequence[str]) -> None:
        """Enter a symbol.

        Raises: NotSupported for a name that the language cannot write, or one of two objects.
        """
        self.reserve(node, name_of(name))
        self.symbols.setdefault(name, symbol(name, shape, facts))

    def reserve(self, node: Basic, name: str) -> None:
        """Reserve a name for an object of SymPy.

        Raises: NotSupported if another object or a size has it.
        """
        if self._objects.setdefault(name, node) != node or name in self.sizes:
            raise NotSupported(f"two SymPy symbols named {name}: rename one")


def _everything(expr: Basic) -> Iterator[Basic]:
    """Yield every object in an expression once, shapes and bounds included."""
    seen: dict[int, Basic] = {}  # by id; keeps each alive, since an explicit matrix creates its entries at each access
    stack = [expr]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        yield node
        stack.extend(node.flat() if is_explicit(node) else getattr(node, "args", ()))


def _meaning(node: Basic) -> Make | None:
    """Return the function that reads a class, None for a number.

    Raises: NotSupported for a class that is in no table.
    """
    if getattr(node, "is_Number", False):
        return None
    for kind in type(node).__mro__:
        make = READ.get(kind.__name__) or reader(kind.__name__)
        if make is not None:
            return make
    name = type(node).__name__
    raise NotSupported(f"{name} of SymPy {REASONS.get(name, 'has no form in the matrix language')}")


REASONS = {
    "ImaginaryUnit": "is not supported: all numbers and symbols are real here",
    "Derivative": "is not read: pass the function itself to gradient, jacobian or hessian",
    "Integral": "has no form in the matrix language: evaluate it first",
    "LofLU": "has no form in the matrix language: its factorisation does not pivot",
    "UofLU": "has no form in the matrix language: its factorisation does not pivot",
}


def _operands(node: Basic) -> tuple[Basic, ...]:
    """Return the operands of a node that are formulas."""
    own = next((OPERANDS[kind.__name__] for kind in type(node).__mro__ if kind.__name__ in OPERANDS), None)
    if own is not None:
        return tuple(own(node))
    return tuple(node.flat() if is_explicit(node) else node.args)


def _array_entries(node: Basic) -> Iterable[Basic]:
    return sympy.flatten(node.tolist()) if node.rank() else [node[()]]


def _branches(node: Basic) -> Iterator[Basic]:
    for value, test in node.args:
        yield value
        for relation in scalars.relations(test):
            yield from relation.args


OPERANDS: Mapping[str, Callable[[Basic], Iterable[Basic]]] = {
    **dict.fromkeys(NO_OPERANDS, lambda node: ()),
    **dict.fromkeys(FIRST, lambda node: node.args[:1]),
    **dict.fromkeys(("ElementwiseApplyFunction", "ArrayElementwiseApplyFunc"), lambda node: (node.expr,)),
    "BlockMatrix": lambda node: node.blocks,
    "BlockDiagMatrix": lambda node: node.args,
    "NDimArray": _array_entries,
    "_Named": lambda node: (arg for arg in node.operands if type(arg).__name__ not in ("Str", "Lambda")),
    "Piecewise": _branches,
}
"""The operands of classes that are not their `args`."""
