"""Applies matrices of known structure to a vector without forming them.

Rows and columns of the identity are paddings and slices, triangles of ones are running totals, a Kronecker product is a
product of three matrices. Sums, multiples and transposes of such matrices are applied term by term.
"""

from __future__ import annotations

from math import prod

from matcalc.errors import NotSupported
from matcalc.plain_source.terms.indicators import affine
from matcalc.plain_source.terms.ranges import range_of
from matcalc.plain_source.terms.term import Call, Pool, Term, length_term, transposed
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.sizes.size import Size

TRIANGLES = ("lower_triangle", "upper_triangle")
"""The operations that keep a triangle of a matrix, by role."""


def structured(pool: Pool, matrix: Term, vector: Term, is_transposed: bool = False) -> Term | None:
    """Return a matrix (its transpose, if `turned`) times a vector; None for a matrix that has to be formed."""
    form = matrix.form
    if matrix.rank != 2 or vector.rank != 1:
        return None
    if form == "transpose":
        return structured(pool, matrix.args[0], vector, not is_transposed)
    if form == "neg":
        made = structured(pool, matrix.args[0], vector, is_transposed)
        return made and pool.term("neg", (made,), None, made.shape)
    if form == "add":
        return _sum(pool, matrix, vector, is_transposed)
    if form in ("mul", "div"):
        return _scaled(pool, matrix, vector, is_transposed)
    if form == "part":
        return _part_of_identity(pool, matrix, vector, is_transposed)
    if form == "indicator":
        return _indicator(pool, matrix, vector, is_transposed)
    return _called(pool, matrix, vector, is_transposed) if form == "call" else None


def _sum(pool: Pool, matrix: Term, vector: Term, is_transposed: bool) -> Term | None:
    found = [structured(pool, term, vector, is_transposed) for term in matrix.args]
    known = [term for term in found if term is not None]
    return pool.term("add", known, matrix.data, known[0].shape) if len(known) == len(found) else None


def _scaled(pool: Pool, matrix: Term, vector: Term, is_transposed: bool) -> Term | None:
    """Return a multiple: of the matrix by a scalar, or of its rows or columns by a vector."""
    inner = [arg for arg in matrix.args if arg.rank == 2]
    if len(inner) != 1 or (matrix.form == "div" and matrix.args[0] is not inner[0]):
        return None
    weight = next(arg for arg in matrix.args if arg is not inner[0])
    scales_rows = weight.form == "column"
    first = matrix.args[0] is weight
    if weight.rank and scales_rows == is_transposed:
        return structured(pool, inner[0], _multiple(pool, matrix.form, weight.args[0], vector, first), is_transposed)
    made = structured(pool, inner[0], vector, is_transposed)
    return made and _multiple(pool, matrix.form, weight.args[0] if weight.rank else weight, made, first)


def _multiple(pool: Pool, form: str, weight: Term, vector: Term, first: bool) -> Term:
    return pool.term(form, (weight, vector) if first else (vector, weight), None, vector.shape)


def _called(pool: Pool, matrix: Term, vector: Term, is_transposed: bool) -> Term | None:
    role = matrix.data.rule.role
    if role == "identity":
        return vector
    if role in TRIANGLES and len(matrix.args) == 1 and _is_square_of_ones(matrix.args[0]):
        return running_total(pool, vector, (role == "upper_triangle") != is_transposed)
    if role == "tensor_product" and len(matrix.args) == 2:
        return _kronecker(pool, *_as_columns(pool, *matrix.args, is_transposed), vector)
    return None


def _is_square_of_ones(term: Term) -> bool:
    is_ones = term.form == "call" and term.data.rule.role == "all_ones"
    return is_ones and term.rank == 2 and term.shape[0] == term.shape[1]


def running_total(pool: Pool, vector: Term, from_end: bool) -> Term:
    """Return the sums of the entries up to each one, or from each one to the end."""
    made = reversed_vector(pool, vector) if from_end else vector
    made = called(pool, "running_total", made, shape=vector.shape)
    return reversed_vector(pool, made) if from_end else made


def reversed_vector(pool: Pool, vector: Term) -> Term:
    if vector.form == "call" and vector.data.rule.role == "reversal" and vector.data.axis is None:
        return vector.args[0]
    return called(pool, "reversal", vector, shape=vector.shape)


def called(pool: Pool, role: str, *args: Term, shape: tuple[Size, ...], index: int = 0) -> Term:
    """Return a call of the operation with a role."""
    return pool.term("call", args, Call(default_rulebook().playing(role), index), shape)


def _as_columns(pool: Pool, a: Term, b: Term, is_transposed: bool) -> tuple[Term, Term, bool]:
    """Return the operands of a Kronecker product, and whether it is transposed; of a row the transposed product."""
    if "as_row" not in (a.form, b.form):
        return a, b, is_transposed
    a, b = (arg.args[0] if arg.form == "as_row" else transposed(pool, arg) for arg in (a, b))
    return a, b, not is_transposed


def _kronecker(pool: Pool, a: Term, b: Term, is_transposed: bool, vector: Term) -> Term | None:
    """Return `kron(A, B)*vec(X)`, which is `vec(B*X*A')`; a vector `A` or `B` is a column."""
    if a.rank == b.rank == 1:
        return None
    if a.rank == 1 or b.rank == 1:
        return _with_column(pool, a, b, is_transposed, vector)
    if is_transposed:
        a, b = transposed(pool, a), transposed(pool, b)
    shape = (b.shape[1], a.shape[1])
    left = _product(pool, b, unstacked(pool, vector, shape))
    return called(pool, "stacked_columns", _product(pool, left, transposed(pool, a)), shape=(_count(b, a),))


def _with_column(pool: Pool, a: Term, b: Term, is_transposed: bool, vector: Term) -> Term:
    """Return the product with `kron(A, b)` or `kron(a, B)`, or with its transpose."""
    if not is_transposed:
        pair = [arg if arg.rank == 1 else _times(pool, arg, vector) for arg in (a, b)]
        return called(pool, "tensor_product", *pair, shape=(pair[0].shape[0] * pair[1].shape[0],), index=1)
    inner = unstacked(pool, vector, (b.shape[0], a.shape[0]))
    matrix, inner, column = (a, transposed(pool, inner), b) if b.rank == 1 else (b, inner, a)
    return _times(pool, transposed(pool, matrix), _times(pool, inner, column))


def _times(pool: Pool, matrix: Term, vector: Term) -> Term:
    made = structured(pool, matrix, vector)
    return made if made is not None else pool.term("matrix_vector", (matrix, vector), None, matrix.shape[:1])


def unstacked(pool: Pool, vector: Term, shape: tuple[Size, Size]) -> Term:
    """Return the matrix of a shape whose columns a vector stacks."""
    if is_stacked(vector) and vector.args[0].shape == shape:
        return vector.args[0]
    sizes = [length_term(pool, size) for size in shape]
    return called(pool, "unstacked_columns", vector, *sizes, shape=shape, index=1)


def _product(pool: Pool, a: Term, b: Term) -> Term:
    for one, other in ((a, b), (b, a)):
        if one.form == "call" and one.data.rule.role == "identity":
            return other
    return pool.term("matrix_product", (a, b), None, (a.shape[0], b.shape[1]))


def _count(b: Term, a: Term) -> Size:
    return prod((b.shape[0], a.shape[0]), start=Size.of(1))


def is_stacked(term: Term) -> bool:
    """Whether a term is the vector of a matrix's columns."""
    return term.form == "call" and term.data.rule.role == "stacked_columns" and term.args[0].rank == 2


def _part_of_identity(pool: Pool, matrix: Term, vector: Term, is_transposed: bool) -> Term | None:
    """Return a selection of rows of the identity times a vector, which is a slice, or of columns, a padding."""
    base = matrix.args[0]
    if base.form != "call" or base.data.rule.role != "identity":
        return None
    kinds = [spec[0] for spec in matrix.data]
    if sorted(kinds) == ["all", "gather"]:
        return _gathered(pool, matrix, vector, kinds.index("gather"), is_transposed)
    if sorted(kinds) != ["all", "range"]:
        return None
    axis = kinds.index("range")
    spec = matrix.data[axis]
    try:
        found = range_of([matrix.args[k] if k else None for k in spec[1:]], base.shape[0])
    except NotSupported:
        return None
    if found.descends:
        return None
    if (axis == 0) != is_transposed:
        bounds = [matrix.args[k] for k in spec[1:] if k]
        places = iter(range(1, 4))
        own = ("range", *(next(places) if k else 0 for k in spec[1:]))
        return pool.term("part", (vector, *bounds), (own,), (found.count,))
    return padded(pool, vector, found.first, base.shape[0] - found.first - found.count)


def _gathered(pool: Pool, matrix: Term, vector: Term, axis: int, is_transposed: bool) -> Term | None:
    index = matrix.args[matrix.data[axis][1]]
    if (axis == 0) == is_transposed or index.rank != 1:
        return None
    return pool.term("part", (vector, index), (("gather", 1, matrix.data[axis][2]),), index.shape)


def padded(pool: Pool, vector: Term, before: Size, after: Size) -> Term:
    """Return a vector with zeros before and after it."""
    parts = [*_zeros(pool, before), vector, *_zeros(pool, after)]
    if len(parts) == 1:
        return vector
    return pool.term("concatenate", parts, None, (vector.shape[0] + before + after,))


def _zeros(pool: Pool, count: Size) -> list[Term]:
    if count == Size.of(0):
        return []
    if count == Size.of(1):
        return [pool.term("entry", (pool.number(0),), None, (Size.of(1),))]
    return [called(pool, "all_zeros", length_term(pool, count), shape=(count,))]


def _indicator(pool: Pool, matrix: Term, vector: Term, is_transposed: bool) -> Term | None:
    """Return a matrix of a comparison of its two indices times a vector."""
    found = affine(pool, matrix)
    if found is None:
        return None
    relation, (row, column), constant = found
    size, other = (pool.known(length) for length in matrix.shape)
    if size != other:
        return None
    if relation == "==" and row == column and constant == (1 - size) * row:
        return reversed_vector(pool, vector)
    if constant != Size.of(0) or row != -column:
        return None
    if relation == "==":
        return vector
    return running_total(pool, vector, (row < 0) != is_transposed) if relation == ">=" else None
