"""Reads SymPy's array expressions, by their entries: each is an index form over its axes.

Axes of length 1 are dropped, as those of matrices are: an array of shape (n, 1) is a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sympy import Basic
from sympy.tensor.array.expressions.array_expressions import get_shape

from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge.indexed import spread
from matcalc.expressions.sympy_bridge.matrices import grid, table
from matcalc.expressions.sympy_bridge.values import ONE, Make, Reader, Shape, Value, size_from
from matcalc.language import syntax
from matcalc.language.syntax import Ast, call, number
from matcalc.rulebook.notations import spelled
from matcalc.tensor.sizes.size import Size

FIRST = ("ArrayContraction", "ArrayDiagonal", "PermuteDims", "Reshape")  # operands after the first are axes


def _axes(node: Basic) -> Shape:
    """Return the lengths of all axes of a SymPy object, those of length 1 included; none for a scalar."""
    return tuple(map(size_from, get_shape(node)))


def _squeezed(axes: Sequence[Size]) -> Shape | None:
    remaining = tuple(length for length in axes if length is not ONE)
    return (*remaining, ONE) if len(remaining) == 1 else remaining or None


def _entry(value: Value, axes: Sequence[Size], at: Sequence[Ast]) -> Ast:
    """Return the entry of an operand at index names, one for each axis."""
    remaining = [name for name, length in zip(at, axes, strict=True) if length is not ONE]
    if value.shape is None or not remaining:
        return value.ast
    return syntax.part(syntax.transposed(value.ast) if value.is_row else value.ast, *remaining)


def _made(reader: Reader, axes: Sequence[Size], body: Callable[[list[Ast]], Ast]) -> Value:
    """Return the array whose entry at index names is `body`."""
    names = [reader.fresh() for _ in axes]
    listed = [(name, length) for name, length in zip(names, axes, strict=True) if length is not ONE]
    ast = body([syntax.name(name) for name in names])
    return Value(spread(ast, listed) if listed else ast, _squeezed(axes))


def _symbol(reader: Reader, node: Basic, args: list[Value]) -> Value:
    axes = _axes(node)
    reader.declare(node, str(node.name), tuple(length for length in axes if length is not ONE), ())
    return Value(syntax.name(str(node.name)), _squeezed(axes))


def _constant(value: int) -> Make:
    return lambda reader, node, args: _made(reader, _axes(node), lambda at: number(value))


def _tensor_product(reader: Reader, node: Basic, args: list[Value]) -> Value:
    shapes = [_axes(arg) for arg in node.args]

    def body(at: list[Ast]) -> Ast:
        factors, start = [], 0
        for value, axes in zip(args, shapes, strict=True):
            factors.append(_entry(value, axes, at[start : start + len(axes)]))
            start += len(axes)
        return syntax.times(factors)

    return _made(reader, [length for axes in shapes for length in axes], body)


def _contraction(reader: Reader, node: Basic, args: list[Value]) -> Value:
    axes = _axes(node.expr)
    groups = [tuple(map(int, group)) for group in node.contraction_indices]
    free = [k for k in range(len(axes)) if not any(k in group for group in groups)]

    def body(at: list[Ast]) -> Ast:
        name_at: dict[int, Ast] = dict(zip(free, at, strict=True))
        summed = [(reader.fresh(), group) for group in groups if axes[group[0]] is not ONE]
        for name, group in summed:
            name_at |= dict.fromkeys(group, syntax.name(name))
        ast = _entry(args[0], axes, [name_at.get(k, number(0)) for k in range(len(axes))])
        return (
            call(spelled("total"), spread(ast, [(name, axes[group[0]]) for name, group in summed])) if summed else ast
        )

    return _made(reader, [axes[k] for k in free], body)


def _diagonal(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return an array with groups of axes replaced by their diagonals, which come last."""
    axes = _axes(node.expr)
    groups = [tuple(map(int, group)) for group in node.diagonal_indices]
    free = [(k,) for k in range(len(axes)) if not any(k in group for group in groups)]

    def body(at: list[Ast]) -> Ast:
        name_at = {k: name for group, name in zip([*free, *groups], at, strict=True) for k in group}
        return _entry(args[0], axes, [name_at[k] for k in range(len(axes))])

    return _made(reader, [axes[group[0]] for group in (*free, *groups)], body)


def _permuted(reader: Reader, node: Basic, args: list[Value]) -> Value:
    axes = _axes(node.expr)
    order = [int(node.permutation(k)) for k in range(len(axes))]

    def body(at: list[Ast]) -> Ast:
        name_at = dict(zip(order, at, strict=True))
        return _entry(args[0], axes, [name_at[k] for k in range(len(axes))])

    return _made(reader, [axes[k] for k in order], body)


def _sum(reader: Reader, node: Basic, args: list[Value]) -> Value:
    axes = _axes(node)

    def body(at: list[Ast]) -> Ast:
        return syntax.add([_entry(value, axes, at) for value in args], [1] * len(args))

    return _made(reader, axes, body)


def _reshaped(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return the rows of a matrix one after the other."""
    axes, shape = _squeezed(_axes(node.expr)), _squeezed(_axes(node))
    if axes == shape:
        return args[0]
    if axes is not None and len(axes) == 2 and shape is not None and shape[1:] == (ONE,):
        return Value(call(spelled("stacked_columns"), syntax.transpose(args[0].ast)), shape)
    raise NotSupported(f"Reshape of SymPy, {node}: only the rows of a matrix one after the other are supported")


def _explicit(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return an explicit array of order 1 or 2."""
    axes = tuple(map(size_from, node.shape))
    remaining = _squeezed(axes)
    if remaining is None:
        return args[0]
    if len(remaining) > 2:
        raise NotSupported(f"an explicit array of SymPy of order {len(remaining)} is not supported")
    return Value(grid(table(args, int(remaining[1])), remaining), remaining)


READ: dict[str, Make] = {
    "ArraySymbol": _symbol,
    "ZeroArray": _constant(0),
    "OneArray": _constant(1),
    "ArrayTensorProduct": _tensor_product,
    "ArrayContraction": _contraction,
    "ArrayDiagonal": _diagonal,
    "PermuteDims": _permuted,
    "ArrayAdd": _sum,
    "Reshape": _reshaped,
    "NDimArray": _explicit,
}
