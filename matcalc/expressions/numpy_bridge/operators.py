"""Defines Python's operators on formulas, with NumPy's meaning, on nodes with a row mark.

`*` is elementwise, `@` the matrix product, and shapes are broadcast. A vector has a mark that distinguishes rows from
columns. `.T` toggles it; scaling, maps and `r @ A` preserve it; a sum of vectors needs equal marks. `x @ y.T` is the
outer product; every other product with a vector is NumPy's. `Arithmetic` passes the operands of each operator on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isinf
from typing import Any, NamedTuple, Protocol

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge import products
from matcalc.expressions.numpy_bridge.elementwise import plus, raised, reciprocal
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.identifiers import shown
from matcalc.language.write import ends
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor import constructors
from matcalc.tensor.broadcasting import broadcast_nodes, on_long_axes
from matcalc.tensor.nodes.node import Node, toposort

PRODUCT, OUTER = "matmul", "outer"
"""NumPy's names of the matrix product, and of the product of a column and a row here."""
SHOWN = 48  # characters of an operand in a message


class Marked(NamedTuple):
    """A node, and whether it is a vector read as a row."""

    node: Node
    row: bool = False


def add(a: Marked, b: Marked, sign: int) -> Marked:
    """Return a + sign*b."""
    left, right, row = _alike(a, b, "add" if sign > 0 else "subtract")
    return Marked(plus(sign, left, right), row)


def multiply(a: Marked, b: Marked) -> Marked:
    """Return the elementwise product, or a scaling."""
    if not a.node.shape or not b.node.shape:
        return _scaled(a, b) if not a.node.shape else _scaled(b, a)
    left, right, row = _alike(a, b, "multiply elementwise")
    return Marked(constructors.hadamard(left, right), row)


def as_numpy(operation: Operation, a: Marked, b: Marked) -> Callable[..., Any]:
    """Return NumPy's function for arrays that corresponds to an operation with two operands."""
    import numpy as np

    is_outer = operation.numpy == PRODUCT and a.node.rank == b.node.rank == 1 and b.row and not a.row
    function: Callable[..., Any] = getattr(np, OUTER if is_outer else operation.numpy)
    return function


def divide(a: Marked, b: Marked) -> Marked:
    """Return the elementwise quotient."""
    return multiply(a, Marked(reciprocal(b.node), b.row))


def matmul(a: Marked, b: Marked) -> Marked:
    """Return the matrix product; axes in front of matrices broadcast."""
    ranks = (len(a.node.shape), len(b.node.shape))
    if 0 in ranks:
        raise ShapeError(f"@ needs vectors or matrices, not {_shown(a)} and {_shown(b)}")
    if ranks == (1, 1) and b.row and not a.row:
        return Marked(constructors.outer(a.node, b.node))
    inner = a.node.shape[-1], b.node.shape[-2 if ranks[1] > 1 else 0]
    if inner[0] != inner[1]:
        raise ShapeError(f"cannot multiply {_shown(a)} by {_shown(b)}: {inner[0]} and {inner[1]} differ")
    made = constructors.matmul(a.node, b.node) if max(ranks) < 3 else products.matmul(a.node, b.node)
    return Marked(made, ranks == (1, 2))


def power(a: Marked, b: Marked) -> Marked:
    """Return a**b elementwise."""
    if b.node.kind == "number":
        return Marked(raised(a.node, b.node), a.row)
    left, right, row = _alike(a, b, "raise")
    return Marked(raised(left, right), row)


def called(a: Marked, b: Marked, role: str) -> Marked:
    """Return the elementwise operation with a role."""
    left, right, row = _alike(a, b, "divide")
    rule = default_rulebook().playing(role)
    return Marked(on_long_axes(lambda nodes: constructors.apply(rule, nodes), [left, right]), row)


def transpose(a: Marked) -> Marked:
    """Return the transpose; a vector's mark is toggled."""
    if len(a.node.shape) > 2:
        raise ShapeError("a tensor has no transpose: write an index form")
    return Marked(constructors.transpose(a.node), len(a.node.shape) == 1 and not a.row)


def _scaled(scalar: Marked, other: Marked) -> Marked:
    axes = tuple(range(len(other.node.shape)))
    return Marked(constructors.product(1, [(scalar.node, ()), (other.node, axes)], axes), other.row)


def _alike(a: Marked, b: Marked, verb: str) -> tuple[Node, Node, bool]:
    """Return two operands broadcast to one shape, and the row mark."""
    rows = {operand.row for operand in (a, b) if len(operand.node.shape) == 1}
    is_vector = max(len(a.node.shape), len(b.node.shape)) == 1
    if is_vector and len(rows) > 1:
        raise ShapeError(f"cannot {verb} {_shown(a)} and {_shown(b)}: one is a row, the other a column")
    found = broadcast_nodes((a.node, b.node))
    if found is None:
        rank = min(len(a.node.shape), len(b.node.shape))
        pairs = zip(a.node.shape[-rank:], b.node.shape[-rank:], strict=True)
        m, n = next((m, n) for m, n in pairs if m != n and 1 not in (m, n))
        raise ShapeError(f"cannot {verb} {_shown(a)} and {_shown(b)}: {m} and {n} differ")
    return found[0], found[1], is_vector and True in rows


def _shown(operand: Marked) -> str:
    """Return an operand with its shape: `X (m x n)`, `x' (row of n)`."""
    shape = " x ".join(map(str, operand.node.shape))
    has_data = any(node.kind == "constant" and node.array.size > SHOWN for node in toposort(operand.node))
    formula = "an array" if has_data else ends(formula_of(operand.node), SHOWN, SHOWN // 4)
    words = {0: "scalar", 1: f"{'row' if operand.row else 'vector'} of {shape}"}
    return f"{formula} ({words.get(len(operand.node.shape), shape)})"


class Operation(NamedTuple):
    """An operator: its function of nodes, and the name of NumPy's function for arrays."""

    nodes: Callable[[Marked, Marked], Marked]
    numpy: str

    def of(self, a: Marked, b: Marked) -> Marked:
        """Return the result for operands that are no infinities, whose arithmetic has no normal form."""
        if any(x.node.kind == "constant" and not x.node.shape and isinf(x.node.array) for x in (a, b)):
            raise ShapeError("inf is no number to calculate with")
        return self.nodes(a, b)


class Operand(Protocol):
    """An operand of an operation; with `swap` it is the right one. The result is an expression."""

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> Any: ...


Method = Callable[[Operand, object], Any]


def _methods(operation: Operation) -> tuple[Method, Method]:
    """Return an operator's method, and the one for an operand on the right of another object."""
    return (
        lambda self, other: self._with_other(operation, other),
        lambda self, other: self._with_other(operation, other, True),
    )


class Arithmetic:
    """A base class for operands of `+ - * / // % @ **`."""

    __slots__ = ()

    __add__, __radd__ = _methods(Operation(partial(add, sign=1), "add"))
    __sub__, __rsub__ = _methods(Operation(partial(add, sign=-1), "subtract"))
    __mul__, __rmul__ = _methods(Operation(multiply, "multiply"))
    __truediv__, __rtruediv__ = _methods(Operation(divide, "divide"))
    __floordiv__, __rfloordiv__ = _methods(Operation(partial(called, role="whole_quotient"), "floor_divide"))
    __mod__, __rmod__ = _methods(Operation(partial(called, role="remainder"), "remainder"))
    __matmul__, __rmatmul__ = _methods(Operation(matmul, PRODUCT))
    __pow__, __rpow__ = _methods(Operation(power, "power"))


OPERATORS = {
    "add": "__add__", "subtract": "__sub__", "multiply": "__mul__", "divide": "__truediv__",
    "true_divide": "__truediv__", "floor_divide": "__floordiv__", "remainder": "__mod__", PRODUCT: "__matmul__",
    "power": "__pow__",
}  # fmt: skip
"""The methods of Python's operators, by the names of NumPy's functions."""


def operated(name: str, left: object, right: object) -> object:
    """Return the result of NumPy's function of an operator, if one of the operands is an expression.

    Raises: NotSupported, ShapeError.
    """
    is_column = getattr(left, "ndim", 0) == 1 and not getattr(left, "row", False)
    if name == PRODUCT and is_column and getattr(right, "row", False):
        hint = "write np.outer(x, y) for the outer product, or y without .T for the inner one"
        raise ShapeError(f"np.{name} of a vector and a transposed one", hint=hint)
    method, ours = OPERATORS[name], isinstance(left, Arithmetic)
    made = getattr(left, method)(right) if ours else getattr(right, f"__r{method[2:]}")(left)
    if made is NotImplemented:
        raise NotSupported(f"{shown(right if ours else left)} is no array, number or symbol")
    return made
