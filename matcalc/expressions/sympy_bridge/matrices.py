"""Reads SymPy's matrix expressions: one table entry for each class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from sympy import Basic

from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge.facts import facts_of
from matcalc.expressions.sympy_bridge.values import (
    ONE,
    Make,
    Reader,
    Shape,
    Value,
    equal_shapes,
    full,
    matrix_shape,
    shape_of,
    size_from,
)
from matcalc.language import syntax
from matcalc.language.syntax import Ast, call, number
from matcalc.rulebook.notations import spelled
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_tree import tree_of


def _matrix_symbol(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a matrix; a matrix of one column is a vector, one of one row the transpose of a vector."""
    rows, columns = (size_from(length) for length in node.shape)
    shape = tuple(size for size in (rows, columns) if size is not ONE)
    reader.declare(node, node.name, shape, facts_of(node))
    ast = syntax.name(node.name)
    if rows is ONE and columns is not ONE:
        ast = syntax.transpose(ast)
    return Value(ast, shape_of(node))


def _constant(role: str) -> Make:
    return lambda reader, node, args: Value(_filled(role, shape_of(node)), shape_of(node))


def _filled(role: str, shape: Shape | None) -> Ast:
    """Return the ones, zeros or identity of a shape; a row is the transpose of a column."""
    if shape is None:
        return number(int(role != "all_zeros"))
    lengths = [tree_of(size) for size in shape if size is not ONE]
    ast = call(spelled(role), *(lengths[:1] if role == "identity" else lengths))
    return syntax.transpose(ast) if shape[0] is ONE else ast


def _mat_add(reader: Reader, node: Basic, args: list[Value]) -> Value:
    return Value(added(args), equal_shapes(node, args))


def added(args: Sequence[Value]) -> Ast:
    """Return a sum with negative terms subtracted; a negative first term is negated."""
    split = [_split_sign(value.ast) for value in args]
    terms = [syntax.negate(term) if negative and not k else term for k, (negative, term) in enumerate(split)]
    return syntax.add(terms, [-1 if negative and k else 1 for k, (negative, _) in enumerate(split)])


def _split_sign(ast: Ast) -> tuple[bool, Ast]:
    """Return whether a term is negative, and the term without its sign."""
    if ast.head == "negative":
        return True, ast.args[0]
    if ast.head == "product" and ast.args[0].head == "negative":
        first = ast.args[0].args[0]
        if first.head == "number" and first.value == 1 and len(ast.args) > 2 and ast.value[0] == "*":  # type: ignore[index]
            return True, syntax.product(ast.args[1:], ast.value[1:])  # type: ignore[index]
        if first.head == "number" and first.value == 1 and ast.value == ("*",):
            return True, ast.args[1]
        return True, syntax.product((first, *ast.args[1:]), ast.value)  # type: ignore[arg-type]
    return False, ast


def _mat_mul(reader: Reader, node: Basic, args: list[Value]) -> Value:
    return multiplied(args)


def multiplied(args: Sequence[Value]) -> Value:
    """Return a matrix product.

    SymPy flattens products, also those of 1 x 1 matrices with their factors: `A*(x.T*y)` is A, x.T, y in sequence. A
    factor that does not fit its neighbour starts a chain of its own; a chain that is 1 x 1 is a scalar.
    """
    chains: list[list[Value]] = []
    for value in args:
        fits = chains and (value.shape is None or _fits(chains[-1], value))
        if fits:
            chains[-1].append(value)
        else:
            chains.append([value])
    factors = [_chained(chain) for chain in chains]
    return _chained([f for f in factors if f.shape is None] + [f for f in factors if f.shape is not None])


def _fits(chain: Sequence[Value], value: Value) -> bool:
    last = next((v.shape for v in reversed(chain) if v.shape is not None), None)
    return last is None or value.shape is None or last[1] is value.shape[0]


def _chained(args: Sequence[Value]) -> Value:
    """Return a matrix product of factors that fit together; scalars do not affect its shape."""
    shapes = [a.shape for a in args if a.shape is not None]
    shape = matrix_shape(shapes[0][0], shapes[-1][1]) if shapes else None
    if len(args) == 1:
        return args[0]
    return Value(syntax.times([a.ast for a in args]), shape)


def _hadamard(reader: Reader, node: Basic, args: list[Value]) -> Value:
    shape = equal_shapes(node, args)
    return Value(syntax.times([a.ast for a in args], "*" if shape is None else ".*"), shape)


def _kronecker(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return `kron(A, B)`; a 1 x 1 factor scales."""
    scalars = [a.ast for a in args if a.shape is None]
    tensors = [a.ast for a in args if a.shape is not None]
    if len(tensors) > 1:
        rows_alone = all(a.is_row for a in args if a.shape is not None)
        whole = call(spelled("tensor_product"), *(map(syntax.transposed, tensors) if rows_alone else tensors))
        tensors = [syntax.transpose(whole) if rows_alone else whole]
    rows = columns = ONE
    for value in args:
        rows, columns = rows * full(value)[0], columns * full(value)[1]
    return Value(syntax.times(scalars + tensors), matrix_shape(rows, columns))


def _hadamard_power(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return entries raised to a power; the base or the exponent may be a scalar."""
    base, exponent = args
    shape = base.shape or exponent.shape
    return Value(syntax.power(base.ast, exponent.ast, shape is not None), shape)


def _mat_pow(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a power of a matrix: by a number, by a size (an integer), or by a real symbol (the principal one)."""
    base, exponent = args
    vector = squared(base.ast) if base.shape is None and node.exp * 2 == 1 else None
    if vector is not None:
        return Value(call(spelled("euclidean_length"), vector))
    if base.shape is None or node.exp.is_number:
        return Value(syntax.power(base.ast, exponent.ast), base.shape)
    if any(s in reader.bound for s in node.exp.free_symbols):
        raise NotSupported(f"{node} of SymPy: the exponent of a matrix runs with an index whose bounds are no numbers")
    if all(s.name in reader.sizes for s in node.exp.free_symbols):
        return Value(call(spelled("matrix_power"), base.ast, tree_of(size_from(node.exp))), base.shape)
    power = syntax.product((exponent.ast, call(spelled("matrix_logarithm"), base.ast)), ("*",))
    return Value(call(spelled("matrix_exponential"), power), base.shape)


def squared(ast: Ast) -> Ast | None:
    """Return x of `x'*x` or `tr(X'*X)`, a sum of squares; None for anything else."""
    if ast.head == "call" and syntax.call_name(ast) == spelled("diagonal_trace"):
        (ast,) = ast.args
    if ast.head != "product" or ast.value != ("*",):
        return None
    left, right = ast.args
    if left.head == "transpose" and syntax.same(left.args[0], right):
        return right
    return left if right.head == "transpose" and syntax.same(right.args[0], left) else None


def whole_exponents(node: Basic) -> set[str]:
    """Return the symbols in the exponent of a matrix that are integers: those that SymPy does not know as real."""
    if type(node).__name__ != "MatPow" or node.base.shape == (1, 1):
        return set()
    symbols = node.exp.free_symbols
    return {s.name for s in symbols} if all(s.is_integer or s.is_extended_real is None for s in symbols) else set()


def _inverse(reader: Reader, node: Basic, args: list[Value]) -> Value:
    if args[0].shape is None:
        return Value(syntax.power(args[0].ast, syntax.negative(number(1))))
    return Value(call(spelled("inverse"), args[0].ast), args[0].shape)


def _transpose(reader: Reader, node: Basic, args: list[Value]) -> Value:
    (value,) = args
    if value.shape is None:
        return value
    return Value(syntax.transposed(value.ast), value.shape[::-1])


def _diag(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return `diag` of a vector or of a matrix."""
    (value,) = args
    if value.shape is None:
        return value
    inner = value.ast.args[0] if value.is_row and value.ast.head == "transpose" else value.ast
    size = max(value.shape, key=lambda s: s is not ONE)
    return Value(call(spelled("diagonals"), inner), (size, size if ONE in value.shape else ONE))


def _diagonal_matrix(reader: Reader, node: Basic, args: list[Value]) -> Value:
    (value,) = args
    if value.shape is None:
        return value
    if ONE in value.shape:
        raise NotSupported(f"DiagonalMatrix of SymPy of a vector, {node}: DiagMatrix makes it a diagonal matrix")
    if value.shape[0] is not value.shape[1]:
        return Value(call(spelled("lower_triangle"), call(spelled("upper_triangle"), value.ast)), value.shape)
    identity = call(spelled("identity"), tree_of(value.shape[0]))
    return Value(syntax.product((value.ast, identity), (".*",)), value.shape)


def _dot(reader: Reader, node: Basic, args: list[Value]) -> Value:
    left, right = args
    row = left.ast if left.is_row else syntax.transpose(left.ast)
    column = syntax.transpose(right.ast) if right.is_row else right.ast
    return Value(syntax.product((row, column), ("*",)))


def _apply(reader: Reader, node: Basic, args: list[Value]) -> Value:
    """Return a function applied to each entry: its body, with the matrix for its variable."""
    (variable,) = node.function.variables
    value = reader.read(node.function.expr, {variable: args[0]})
    shape = args[0].shape
    if shape is None or value.shape is not None:
        return value
    return Value(syntax.times([value.ast, _filled("all_ones", shape)]), shape)  # for a constant function


def _block(reader: Reader, node: Basic, args: list[Value]) -> Value:
    rows, columns = node.blockshape
    height = _sum(full(args[i * columns])[0] for i in range(rows))
    shape = matrix_shape(height, _sum(full(args[j])[1] for j in range(columns)))
    return Value(grid(table(args, columns), shape), shape)


def _block_diagonal(reader: Reader, node: Basic, args: list[Value]) -> Value:
    shape = _sum(full(a)[0] for a in args), _sum(full(a)[1] for a in args)
    if any(a.shape is None for a in args):
        entries = [[a.ast if a is b else _zeros(full(a)[0], full(b)[1]) for b in args] for a in args]
        return Value(grid(entries, matrix_shape(*shape)), matrix_shape(*shape))
    return Value(call(spelled("diagonal_blocks"), *(a.ast for a in args)), matrix_shape(*shape))


def _zeros(rows: Size, columns: Size) -> Ast:
    return _filled("all_zeros", matrix_shape(rows, columns))


def _sum(sizes: Iterable[Size]) -> Size:
    return reduce(lambda a, b: a + b, sizes)


def _explicit(reader: Reader, node: Basic, args: list[Value]) -> Value:
    shape = shape_of(node)
    return Value(grid(table(args, node.shape[1]), shape) if args else _filled("all_zeros", shape), shape)


def table(args: Sequence[Value], columns: int) -> list[list[Ast]]:
    """Return the values, read row after row, as rows."""
    return [[a.ast for a in args[k : k + columns]] for k in range(0, len(args), columns)]


def grid(rows: Sequence[Sequence[Ast]], shape: Shape | None) -> Ast:
    """Return an array of blocks; one row of scalars is the transpose of a column."""
    if shape is None:
        return rows[0][0]
    if shape[0] is ONE:
        return syntax.transpose(syntax.block([[_column(entry)] for entry in rows[0]]))
    return syntax.block(rows)


def _column(entry: Ast) -> Ast:
    return entry.args[0] if entry.head == "transpose" else entry


def _slice(reader: Reader, node: Basic, args: list[Value]) -> Value:
    (value,) = args
    if value.shape is None:
        return value
    lengths = [_length(bounds) for bounds in node.args[1:]]
    shape = matrix_shape(*lengths)
    subscripts = [_range(bounds, size) for bounds, size in zip(node.args[1:], value.shape, strict=True)]
    if value.is_column:
        return Value(syntax.part(value.ast, subscripts[0]), shape)
    if value.is_row:
        return Value(syntax.transpose(syntax.part(syntax.transposed(value.ast), subscripts[1])), shape)
    positions = [
        tree_of(size_from(bounds[0])) if length is ONE else subscript
        for bounds, length, subscript in zip(node.args[1:], lengths, subscripts, strict=True)
    ]
    part = syntax.part(value.ast, *positions)
    return Value(syntax.transpose(part) if shape and shape[0] is ONE else part, shape)


def _length(bounds: Basic) -> Size:
    start, stop, step = (size_from(bound) for bound in bounds)
    if step is not ONE:
        raise NotSupported(f"a slice of SymPy with step {step} is not supported")
    return stop - start


def _range(bounds: Basic, size: Size) -> Ast:
    start, stop = (size_from(bound) for bound in bounds[:2])
    first = None if start == 0 else tree_of(start)
    last = None if stop is size else tree_of(stop)
    return syntax.slice_of(first, last)


def _made_explicit(reader: Reader, node: Basic, args: list[Value]) -> Value:
    return reader.read(node.as_explicit())


EXPLICIT = ("PermutationMatrix", "CompanionMatrix")  # classes that SymPy writes entry by entry

READ: dict[str, Make] = {
    "MatrixSymbol": _matrix_symbol,
    "Identity": _constant("identity"),
    "ZeroMatrix": _constant("all_zeros"),
    "OneMatrix": _constant("all_ones"),
    "MatAdd": _mat_add,
    "MatMul": _mat_mul,
    "HadamardProduct": _hadamard,
    "HadamardPower": _hadamard_power,
    "MatPow": _mat_pow,
    "Inverse": _inverse,
    "Transpose": _transpose,
    "Adjoint": _transpose,
    "KroneckerProduct": _kronecker,
    "DiagMatrix": _diag,
    "DiagonalOf": _diag,
    "DiagonalMatrix": _diagonal_matrix,
    "DotProduct": _dot,
    "ElementwiseApplyFunction": _apply,
    "ArrayElementwiseApplyFunc": _apply,
    **dict.fromkeys(EXPLICIT, _made_explicit),
    "BlockMatrix": _block,
    "BlockDiagMatrix": _block_diagonal,
    "MatrixBase": _explicit,
    "MatrixSlice": _slice,
}
