"""Reads SymPy's indexed objects: entries, sums and products over an index, Indexed and IndexedBase.

A bound index runs from zero in the formula, `sum({i: x[i]*ones(n)[i]})`, whatever its range in SymPy. An entry whose
index does not run over the whole axis is an entry of a part. Every index form here lists its indices, so no sum is
implicit. Positions count from zero, as SymPy's do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import sympy
from sympy import Basic

from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge.values import ONE, Index, Make, Reader, Shape, Value, size_from
from matcalc.language import syntax
from matcalc.language.syntax import Ast, call, number
from matcalc.rulebook.notations import spelled
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_tree import tree_of

BINDS = ("Sum", "Product", "ArrayComprehension")
MOST_TERMS = 1000  # of a sum that is written out


def bounds_of(node: Basic) -> Iterator[Basic]:
    """Yield the bounds of the indices that a node of SymPy binds or holds; the symbols in them are sizes."""
    if type(node).__name__ in BINDS:
        for limit in node.limits:
            yield from limit[1:]
    elif type(node).__name__ == "Idx" and node.lower is not None:
        yield from (bound for bound in (node.lower, node.upper) if bound is not None)


def indices_of(node: Basic) -> Iterator[Basic]:
    """Yield the indices that a node of SymPy binds."""
    if type(node).__name__ in BINDS:
        for limit in node.limits:
            yield limit[0]


# ---- entries


def entry(reader: Reader, value: Value, axes: Sequence[Size], positions: Sequence[Basic], node: Basic) -> Value:
    """Return one entry of a matrix or array by its positions along all of SymPy's axes."""
    if value.shape is None:
        return value
    ast = syntax.transposed(value.ast) if value.is_row else value.ast
    remaining = [(p, length) for p, length in zip(positions, axes, strict=True) if length is not ONE]
    positions_ = [_position(reader, position, node) for position, _ in remaining]
    ranges = [_range(position_, length) for position_, (_, length) in zip(positions_, remaining, strict=True)]
    if any(cut for cut, _ in ranges):
        ast = syntax.part(ast, *(cut or syntax.slice_of() for cut, _ in ranges))
    if any(is_reversed for _, is_reversed in ranges):
        back = syntax.slice_of(None, None, syntax.negative(number(1)))
        ast = syntax.part(ast, *(back if is_reversed else syntax.slice_of() for _, is_reversed in ranges))
    at = [syntax.name(p.index.name) if isinstance(p, _Running) else tree_of(p) for p in positions_]
    return Value(syntax.part(ast, *at))


class _Running:
    """A position that runs with an index, up or down: `first` is its value at the start of the index."""

    def __init__(self, index: Index, up: bool, first: Size) -> None:
        self.index = index
        self.up = up
        self.first = first


def _position(reader: Reader, position: Basic, node: Basic) -> Size | _Running:
    """Return a fixed position, or one that runs with a bound index."""
    position = sympy.sympify(position)
    for symbol in sorted((s for s in position.free_symbols if s in reader.bound), key=str):
        rest, slope = sympy.expand(position).as_independent(symbol, as_Add=True)
        index = reader.bound[symbol]
        if slope not in (symbol, -symbol) or rest.free_symbols & set(reader.bound):
            raise NotSupported(f"the position {position} in {node} of SymPy: an index may be shifted or negated")
        start = size_from(rest)
        return _Running(index, slope == symbol, start + index.start if slope == symbol else start - index.start)
    if any(str(s) not in reader.sizes for s in position.free_symbols):
        what = "a number, an expression of sizes, the index of a Sum or an Idx with a range"
        raise NotSupported(f"the position {position} in {node} of SymPy: it may be {what}")
    return size_from(position)


def _range(position_: Size | _Running, length: Size) -> tuple[Ast | None, bool]:
    """Return the part of an axis that a position runs over, None for all of it, and whether it runs backwards."""
    if not isinstance(position_, _Running):
        return None, False
    count = position_.index.length
    first = position_.first if position_.up else position_.first - count + 1
    if first == 0 and count is length:
        return None, not position_.up
    last = first + count
    start = None if first == 0 else tree_of(first)
    return syntax.slice_of(start, None if last is length else tree_of(last)), not position_.up


def _element(reader: Reader, node: Basic, args: list[Value]) -> Value:
    shape = args[0].shape
    return entry(reader, args[0], shape or (), node.args[1:] if shape else (), node)


def _array_element(reader: Reader, node: Basic, args: list[Value]) -> Value:
    return entry(reader, reader.read(node.name), tuple(map(size_from, node.name.shape)), node.indices, node)


def _indexed(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return an entry of an IndexedBase, with its declared shape or that of the ranges of its indices."""
    base = node.base
    lengths = tuple(map(size_from, base.shape)) if base.shape else _lengths(reader, node)
    if len(lengths) != len(node.indices):
        raise NotSupported(f"{node} of SymPy: {base.label} has {len(lengths)} axes")
    if not getattr(base.label, "is_Symbol", False):
        raise NotSupported(f"the IndexedBase {base.label} of SymPy: its label is not a symbol")
    shape = tuple(length for length in lengths if length is not ONE)
    reader.declare(base, base.label.name, shape, ())
    known = shape if len(shape) > 1 else (*shape, ONE) if shape else None
    return entry(reader, Value(syntax.name(base.label.name), known), lengths, node.indices, node)


def _lengths(reader: Reader, node: Basic) -> Shape:
    """Return the shape of an IndexedBase without one: each index must run over its whole axis."""
    lengths = []
    for position in node.indices:
        index = reader.bound.get(position)
        if index is None or index.start != 0:
            hint = f"write IndexedBase('{node.base.label}', shape=...); positions count from zero"
            raise NotSupported(f"{node} of SymPy, an IndexedBase without a shape: {hint}")
        lengths.append(index.stop)
    return tuple(lengths)


def _delta(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return KroneckerDelta(i, j) as a condition on indices."""
    return index_condition(reader, node.args[0], "==", node.args[1], node)


def index_condition(reader: Reader, left: Basic, relation: str, right: Basic, node: Basic) -> Value:
    """Return a comparison of indices, 1 where it holds and else 0."""
    values = {}
    for variable, index in reader.bound.items():
        name = syntax.name(index.name)
        start = tree_of(index.start)
        values[variable] = Value(name if index.start == 0 else syntax.add((name, start), (1, 1)))
    sides = [reader.read(side, values).ast for side in (left, right)]
    if not any(s in reader.bound for side in (left, right) for s in side.free_symbols):
        raise NotSupported(f"{node} of SymPy: its positions have to be indices of sums")
    return Value(syntax.condition(sides[0], relation, sides[1]))


# ---- sums and products


def _bound(reader: Reader, node: Basic, limit: Basic) -> tuple[Index, list[Ast]]:
    """Return an index and its range; if a bound runs with an outer index, also the conditions from it.

    Such an index runs over all values that it ever takes.
    """
    variable, *bounds = limit
    if not bounds and type(variable).__name__ == "Idx" and variable.upper is not None:
        bounds = [variable.lower, variable.upper]
    if len(bounds) != 2:
        raise NotSupported(f"{node} of SymPy: the index {variable} has no bounds")
    first, last = (_position(reader, bound, node) for bound in bounds)
    if any(isinstance(position_, _Running) and not position_.up for position_ in (first, last)):
        raise NotSupported(f"{node} of SymPy: the bounds of {variable} run against another index")
    start = first.first if isinstance(first, _Running) else first
    stop = last.first + last.index.length if isinstance(last, _Running) else last + 1
    index = Index(reader.fresh(), start, stop)
    conditions = []
    if isinstance(first, _Running):
        conditions.append(_at_least(index.name, first.index.name, Size.of(0)))
    if isinstance(last, _Running):
        conditions.append(_at_least(last.index.name, index.name, start - last.first))
    return index, conditions


def _at_least(left: str, right: str, shift: Size) -> Ast:
    side = syntax.add((syntax.name(right), tree_of(shift)), (1, 1))
    return syntax.condition(syntax.name(left), ">=", syntax.name(right) if shift == 0 else side)


def _over_index(role: str) -> Make:
    """Return the function that reads an operation of `{i: body*ones(n)[i]}` for each limit, the first one innermost."""

    def make(reader: Reader, node: Basic, args: list[Value]) -> Value:
        before = dict(reader.bound)
        indices: list[Index] = []
        conditions: list[Ast] = []
        for limit in reversed(node.limits):
            index, further = _bound(reader, node, limit)
            indices.insert(0, index)
            conditions += further
            reader.bound[limit[0]] = index
        pairs = zip(node.limits, indices, strict=True)
        if any(_is_counted(node.function, limit[0]) and _is_short(index) for limit, index in pairs) and not conditions:
            _restore(reader, before)
            return _written_out(reader, node, role)
        if conditions and role != "total":
            raise NotSupported(f"{node} of SymPy: the bounds of an index depend on another index")
        value = reader.read(node.function)
        _restore(reader, before)
        axes = () if value.shape is None else tuple(s for s in value.shape if s is not ONE)
        ast, outer = value.ast, [reader.fresh() for _ in axes]
        if axes:
            ast = syntax.part(syntax.transposed(ast) if value.is_row else ast, *map(syntax.name, outer))
        if conditions:
            whole = spread(syntax.times([ast, *conditions]), [(index.name, index.length) for index in indices])
            ast = call(spelled(role), whole)
        else:
            for index in indices:
                ast = call(spelled(role), spread(ast, [(index.name, index.length)]))
        if axes:
            ast = spread(ast, list(zip(outer, axes, strict=True)))
        return Value(syntax.transpose(ast) if value.is_row else ast, value.shape)

    return make


def _restore(reader: Reader, bound: Mapping[Basic, Index]) -> None:
    reader.bound.clear()
    reader.bound.update(bound)


def spread(ast: Ast, indices: Sequence[tuple[str, Size]]) -> Ast:
    """Return the index form of an entry over indices, each with its length."""
    ones = [syntax.part(call(spelled("all_ones"), tree_of(count)), syntax.name(name)) for name, count in indices]
    return syntax.index_form([name for name, _ in indices], syntax.times([ast, *ones]))


def _is_short(index: Index) -> bool:
    return index.start.is_integer and index.stop.is_integer and int(index.length) <= MOST_TERMS


def _is_counted(body: Basic, variable: Basic) -> bool:
    """Whether an index occurs outside positions: as a number."""
    stack = [body]
    while stack:
        node = stack.pop()
        if node == variable:
            return True
        kind = type(node).__name__
        if kind in ("Indexed", "ArrayElement", "KroneckerDelta"):
            continue
        stack.extend(node.args[:1] if kind == "MatrixElement" else node.args)
    return False


def _written_out(reader: Reader, node: Basic, role: str) -> Value:
    """Return a sum or product over integers with its terms written out, the outermost index first."""
    *inner, (variable, start, last) = node.limits
    rest = node.func(node.function, *inner) if inner else node.function
    values = [reader.read(rest.subs(variable, k)) for k in range(int(start), int(last) + 1)]
    if not values:
        return Value(number(int(role == "entries_product")))
    asts = [v.ast for v in values]
    if role == "total" and len(asts) > 1:
        return Value(syntax.add(asts, [1] * len(asts)), values[0].shape)
    return Value(syntax.times(asts), values[0].shape)


# ---- free indices


def with_free_indices(reader: Reader, expr: Basic) -> Value:
    """Return an expression; its free indices (Idx) are axes, in the order of their names.

    Raises: NotSupported for a free index that a product repeats, since SymPy leaves open whether it is summed.
    """
    free = sorted(_free_indices(expr), key=str)
    if not free:
        return reader.read(expr)
    for variable in free:
        if variable.upper is None:
            raise NotSupported(f"the index {variable} of SymPy has no range: Idx('{variable}', n)")
        _check_once(expr, variable)
        reader.bound[variable] = _bound(reader, expr, (variable,))[0]
    value = reader.read(expr)
    if value.shape is not None:
        raise NotSupported(f"free indices of SymPy in a matrix are not supported: {expr}")
    lengths = tuple(reader.bound[variable].length for variable in free)
    ast = spread(value.ast, [(reader.bound[v].name, reader.bound[v].length) for v in free])
    return Value(ast, (*lengths, ONE) if len(lengths) == 1 else lengths)


def _free_indices(expr: Basic) -> set[Basic]:
    """Return the indices that no enclosing sum binds."""
    found: set[Basic] = set()
    stack: list[tuple[Basic, frozenset[Basic]]] = [(expr, frozenset())]
    while stack:
        node, bound = stack.pop()
        if type(node).__name__ == "Idx":
            found |= {node} - bound
            continue
        bound |= frozenset(indices_of(node))
        stack.extend((arg, bound) for arg in getattr(node, "args", ()))
    return found


def _check_once(expr: Basic, variable: Basic) -> None:
    stack = [expr]
    while stack:
        node = stack.pop()
        kind = type(node).__name__
        held = [arg for arg in node.args if variable in getattr(arg, "free_symbols", ())]
        if (kind == "Mul" and len(held) > 1) or (kind == "Pow" and held and node.exp.is_Integer and node.exp > 1):
            raise NotSupported(f"{node} of SymPy: the free index {variable} is repeated; write Sum for a sum over it")
        stack.extend(held)


def _function_matrix(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return the matrix of a function of row and column."""
    ranges = [(Size.of(0), size_from(length)) for length in node.shape]
    return _comprehended(reader, node.lamda.variables, ranges, node.lamda.expr)


def _array_comprehension(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return the array of a function of its indices."""
    ranges = [(size_from(first), size_from(last) + 1) for _, first, last in node.limits]
    return _comprehended(reader, [limit[0] for limit in node.limits], ranges, node.function)


def _comprehended(
    reader: Reader, variables: Sequence[Basic], ranges: Sequence[tuple[Size, Size]], entry: Basic
) -> Value:
    indices = [Index(reader.fresh(), start, stop) for start, stop in ranges]
    before = dict(reader.bound)
    reader.bound.update(zip(variables, indices, strict=True))
    value = reader.read(entry)
    _restore(reader, before)
    lengths = tuple(index.length for index in indices)
    remaining = [(index.name, index.length) for index in indices if index.length is not ONE]
    if not remaining:
        return value
    ast = spread(value.ast, remaining)
    is_row = len(lengths) == 2 and lengths[0] is ONE
    return Value(syntax.transpose(ast) if is_row else ast, lengths if len(lengths) > 1 else (*lengths, ONE))


READ: dict[str, Make] = {
    "MatrixElement": _element,
    "ArrayElement": _array_element,
    "Indexed": _indexed,
    "KroneckerDelta": _delta,
    "Sum": _over_index("total"),
    "Product": _over_index("entries_product"),
    "FunctionMatrix": _function_matrix,
    "ArrayComprehension": _array_comprehension,
}
