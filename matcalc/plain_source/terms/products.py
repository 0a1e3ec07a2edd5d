"""Associates a product of matrices and vectors, and chooses the operation of each pair.

Vectors come first: the cheapest order is found by counting multiplications, with the same length for all sizes that
have no number. An inverse is a solution of equations, a diagonal matrix a scaling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from matcalc.errors import NotSupported
from matcalc.plain_source.terms.structured import is_stacked, structured
from matcalc.plain_source.terms.term import Call, Pool, Term, transposed
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.sizes.size import Size

NOMINAL = 100
"""The length that stands for a size without a number."""
GRAM = 1.01
"""The cost of a Gram matrix relative to other products: what multiplies it mostly has few columns."""
MOST = 12
"""The most factors of which all orders are tried; a longer product is multiplied from its vector end."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of a product: a term, and whether it is a row."""

    term: Term
    row: bool = False

    @property
    def is_matrix(self) -> bool:
        return self.term.rank == 2


def chained(pool: Pool, factors: Sequence[Factor]) -> Factor:
    """Return the product of factors, none of which is a scalar."""
    if len(factors) == 1:
        return factors[0]
    if any(factor.term.rank > 2 for factor in factors):
        raise NotSupported("a product of a tensor of order 3 or more with an array has no plain source")
    if len(factors) > MOST:
        return _from_the_end(pool, factors)
    spread = _spread(pool, factors) or _gram(pool, factors)
    if spread is not None:
        return spread
    best: dict[tuple[int, int], tuple[float, Factor]] = {(k, k + 1): (0.0, f) for k, f in enumerate(factors)}
    for width in range(2, len(factors) + 1):
        for start in range(len(factors) - width + 1):
            stop = start + width
            found: tuple[float, Factor] | None = None
            for middle in range(start + 1, stop):
                (left_cost, left), (right_cost, right) = best[start, middle], best[middle, stop]
                pair = combined(pool, left, right)
                if pair is None:
                    continue
                made, work = pair
                total = left_cost + right_cost + work
                if made.term in pool.used:
                    total = 0.0
                if found is None or total < found[0] or (total == found[0] and made.term.rank == 2):
                    found = total, made
            assert found is not None
            best[start, stop] = found
    return best[0, len(factors)][1]


def _spread(pool: Pool, factors: Sequence[Factor]) -> Factor | None:
    """Return a product around a sum of diagonal matrices and outer products as a sum of products; else None."""
    inner = factors[1:-1]
    k = next((k for k, factor in enumerate(inner, 1) if _is_thin(factor.term)), 0)
    if not k or any(not factor.is_matrix for factor in factors):
        return None
    terms = [chained(pool, [*factors[:k], *_thin(term), *factors[k + 1 :]]).term for term in factors[k].term.args]
    facts = frozenset({"symmetric"}) if all("symmetric" in term.facts for term in terms) else frozenset[str]()
    return Factor(pool.term("add", terms, factors[k].term.data, terms[0].shape, facts))


def _is_thin(term: Term) -> bool:
    """Whether a term is a sum of diagonal matrices and outer products."""
    return term.form == "add" and all(arg.form in ("diagonal", "outer_product") for arg in term.args)


def _thin(term: Term) -> list[Factor]:
    if term.form == "diagonal":
        return [Factor(term)]
    return [Factor(term.args[0]), Factor(term.args[1], True)]


def _gram(pool: Pool, factors: Sequence[Factor]) -> Factor | None:
    """Return `C'*B'*B*C` as the product of `B*C` with its transpose; None for other products."""
    half, rest = divmod(len(factors), 2)
    if rest or half < 2 or any(not factor.is_matrix for factor in factors):
        return None
    pairs = zip(factors[:half], reversed(factors[half:]), strict=True)
    if any(transposed(pool, a.term) is not b.term for a, b in pairs):
        return None
    right = chained(pool, factors[half:])
    made = combined(pool, Factor(transposed(pool, right.term)), right)
    return made[0] if made is not None else None


def _from_the_end(pool: Pool, factors: Sequence[Factor]) -> Factor:
    made = factors[-1]
    for factor in reversed(factors[:-1]):
        pair = combined(pool, factor, made)
        assert pair is not None
        made = pair[0]
    return made


def length(size: Size) -> float:
    """Return a number for a size, to compare costs."""
    found = size.substitute({name: Size.of(NOMINAL) for name in size.names})
    return max(float(found.constant), 1.0)


def entries(term: Term) -> float:
    return prod(map(length, term.shape))


def inverse_of(term: Term) -> tuple[Term, bool] | None:
    """Return the matrix that a term inverts, and whether the inverse is transposed."""
    if term.form == "inverse":
        return term.args[0], False
    if term.form == "transpose" and term.args[0].form == "inverse":
        return term.args[0].args[0], True
    return None


def combined(pool: Pool, left: Factor, right: Factor) -> tuple[Factor, float] | None:
    """Return the product of two factors and the number of multiplications."""
    a, b = left.term, right.term
    if left.is_matrix and _is_solved(pool, a, right):
        return _solved(pool, left, right)
    if right.is_matrix and _is_solved(pool, b, left):
        return _solved_from_the_right(pool, left, right)
    if left.is_matrix and a.form == "diagonal":
        return _scaled(pool, a.args[0], right, True)
    if right.is_matrix and b.form == "diagonal":
        return _scaled(pool, b.args[0], left, False)
    if left.is_matrix and right.is_matrix and (scattered := scatter(pool, a, b)) is not None:
        return Factor(scattered), entries(b)
    if left.is_matrix and right.is_matrix:
        flipped = pool.terms.get(("matrix_product", (transposed(pool, b), transposed(pool, a)), None))
        if flipped is not None and flipped in pool.used:
            return Factor(transposed(pool, flipped)), entries(a) * length(b.shape[1])
        facts = _facts(a, b)
        made = pool.term("matrix_product", (a, b), None, (a.shape[0], b.shape[1]), facts)
        return Factor(made), entries(a) * length(b.shape[1]) * (GRAM if facts else 1)
    if left.is_matrix and not right.is_matrix and (scattered := scatter(pool, a, b)) is not None:
        return Factor(scattered), entries(b)
    if left.is_matrix and not right.row and (found := structured(pool, a, b)) is not None:
        return Factor(found), entries(b)
    if right.is_matrix and left.row and (found := structured(pool, b, a, is_transposed=True)) is not None:
        return Factor(found, True), entries(a)
    if left.is_matrix and is_ones(b):
        return Factor(summed(pool, a, 1)), entries(a)
    if right.is_matrix and left.row and is_ones(a):
        return Factor(summed(pool, b, 0), True), entries(b)
    if left.is_matrix:
        return Factor(applied(pool, a, b)), entries(a)
    if right.is_matrix and left.row:
        return Factor(applied(pool, transposed(pool, b), a), True), entries(b)
    if left.row and not right.row:
        return Factor(inner_product(pool, a, b)), entries(a)
    if right.row and not left.row and not right.is_matrix:
        return Factor(pool.term("outer_product", (a, b), None, (*a.shape, *b.shape))), entries(a) * entries(b)
    return None


def _is_solved(pool: Pool, matrix: Term, other: Factor) -> bool:
    """Whether a product with an inverse solves equations: not with a matrix if the inverse is known anyway."""
    found = inverse_of(matrix)
    return found is not None and not (other.is_matrix and found[0] in pool.inverted)


def inner_product(pool: Pool, a: Term, b: Term) -> Term:
    """Return the inner product of two vectors, or of the matrices whose columns they stack."""
    if is_stacked(a) and is_stacked(b) and a.args[0].shape == b.args[0].shape:
        return trace_of_product(pool, a.args[0], b.args[0])
    return pool.term("inner_product", (a, b))


def applied(pool: Pool, matrix: Term, vector: Term) -> Term:
    """Return a matrix times a vector; a sum of matrices that are known is a sum of products."""
    made = structured(pool, matrix, vector)
    if made is not None:
        return made
    if matrix.form == "add" and all(_is_known(term) for term in matrix.args):
        terms = [_applied_term(pool, term, vector) for term in matrix.args]
        return pool.term("add", terms, matrix.data, matrix.shape[:1])
    return pool.term("matrix_vector", (matrix, vector), None, matrix.shape[:1])


def _is_known(term: Term) -> bool:
    """Whether a term is a symbol or the identity, transposed or scaled."""
    if term.form in ("mul", "div") and term.rank == 2:
        return sum(arg.rank == 2 for arg in term.args) == 1 and all(_is_known(a) for a in term.args if a.rank)
    if term.form in ("transpose", "neg"):
        return _is_known(term.args[0])
    return term.rank == 2 and (term.form in ("name", "diagonal") or is_identity(term))


def _applied_term(pool: Pool, term: Term, vector: Term) -> Term:
    if is_identity(term):
        return vector
    if term.form == "diagonal":
        return pool.term("mul", (term.args[0], vector), None, vector.shape)
    if term.form in ("mul", "div", "neg"):
        args = [_applied_term(pool, arg, vector) if arg.rank else arg for arg in term.args]
        return pool.term(term.form, args, None, term.shape[:1])
    return pool.term("matrix_vector", (term, vector), None, term.shape[:1])


def scatter(pool: Pool, matrix: Term, values: Term) -> Term | None:
    """Return the sums of values by an index: the product of columns of an identity with them; None for another matrix.

    A sum of such matrices is a sum of such products.
    """
    if matrix.form == "add":
        found = [scatter(pool, term, values) for term in matrix.args]
        known = [term for term in found if term is not None]
        return pool.term("add", known, matrix.data, known[0].shape) if len(known) == len(found) else None
    if matrix.form == "transpose":
        return None
    is_part = matrix.form == "part" and [spec[0] for spec in matrix.data] == ["all", "gather"]
    if not is_part or not is_identity(matrix.args[0]):
        return None
    index = matrix.args[matrix.data[1][1]]
    size = pool.term("length", (), matrix.args[0].shape[0])
    form = "scatter" if values.rank == 1 else "scatter_rows"
    return pool.term(form, (index, values, size), None, matrix.shape[:1] + values.shape[1:])


def is_identity(term: Term) -> bool:
    return term.form == "call" and term.data.rule.role == "identity"


def is_ones(term: Term) -> bool:
    """Whether a term is a vector of ones."""
    return term.form == "call" and term.data.rule.role == "all_ones" and term.rank == 1


def summed(pool: Pool, term: Term, axis: int | None) -> Term:
    """Return the sums of an array along an axis, or of all its entries."""
    if axis is None or term.rank == 1:
        if term.form == "call" and term.data.rule.role == "total" and term.data.axis is not None:
            return summed(pool, term.args[0], None)
        return pool.term("call", (term,), Call(default_rulebook().playing("total"), term.rank))
    if term.form == "transpose":
        term, axis = term.args[0], 1 - axis
    shape = term.shape[:axis] + term.shape[axis + 1 :]
    return pool.term("call", (term,), Call(default_rulebook().playing("total"), 0, axis), shape)


def trace_of_product(pool: Pool, a: Term, b: Term) -> Term:
    """Return the sum of the elementwise product of two matrices."""
    if a.form == b.form == "transpose":
        a, b = a.args[0], b.args[0]
    if a is b:
        return pool.term("sum_of_squares", (a,), 2)
    known = pool.terms.get(("mul", (a, b), None))
    return summed(pool, known, None) if known is not None else pool.term("trace_of_product", (a, b))


def diagonal_of_product(pool: Pool, a: Term, b: Term) -> Term:
    """Return the sums over each row of the elementwise product of two matrices."""
    known = pool.terms.get(("mul", (a, b), None))
    if known is not None:
        return summed(pool, known, 1)
    for one, other in ((a, b), (b, a)):
        made = _with_outer(pool, one, other)
        if made is not None:
            return made
    return pool.term("diagonal_of_product", (a, b), None, a.shape[:1])


def _with_outer(pool: Pool, outer: Term, matrix: Term) -> Term | None:
    """Return the row sums of `(x*y').*A`, which are `x.*(A*y)`, and those of a sum of outer products."""
    if outer.form == "transpose" and outer.args[0].form in ("add", "outer_product"):
        return _outer_rows(pool, outer.args[0], matrix, True)
    return _outer_rows(pool, outer, matrix, False)


def _outer_rows(pool: Pool, outer: Term, matrix: Term, turned: bool) -> Term | None:
    if outer.form == "outer_product":
        x, y = outer.args[::-1] if turned else outer.args
        return pool.term("mul", (x, applied(pool, matrix, y)), None, x.shape)
    if outer.form != "add":
        return None
    found = [_outer_rows(pool, term, matrix, turned) for term in outer.args]
    known = [term for term in found if term is not None]
    return pool.term("add", known, outer.data, known[0].shape) if len(known) == len(found) else None


def _facts(a: Term, b: Term) -> frozenset[str]:
    is_gram = a.form == "transpose" and a.args[0] is b or b.form == "transpose" and b.args[0] is a
    return frozenset({"symmetric"}) if is_gram else frozenset()


def solution(pool: Pool, matrix: Term, right: Term, facts: frozenset[str] = frozenset()) -> Term:
    """Return the term of the solution of `matrix*Y = right`."""
    return pool.term("solution", (matrix, right), None, right.shape, facts)


def _solved(pool: Pool, left: Factor, right: Factor) -> tuple[Factor, float] | None:
    found = inverse_of(left.term)
    assert found is not None
    matrix, is_transposed = found
    if right.row or (not right.is_matrix and not right.term.rank):
        return None
    matrix = transposed(pool, matrix) if is_transposed else matrix
    cost = entries(matrix) * (length(right.term.shape[1]) if right.is_matrix else 1)
    return Factor(solution(pool, matrix, right.term), right.row), 1.5 * cost


def _solved_from_the_right(pool: Pool, left: Factor, right: Factor) -> tuple[Factor, float] | None:
    found = inverse_of(right.term)
    assert found is not None
    matrix, is_transposed = found
    turned = matrix if is_transposed else transposed(pool, matrix)
    if not left.is_matrix:
        return (Factor(solution(pool, turned, left.term), True), 1.5 * entries(matrix)) if left.row else None
    made = transposed(pool, solution(pool, turned, transposed(pool, left.term)))
    return Factor(made), 1.6 * entries(matrix) * length(left.term.shape[0])


def _scaled(pool: Pool, weights: Term, other: Factor, from_left: bool) -> tuple[Factor, float] | None:
    """Return diag(weights)*other or other*diag(weights)."""
    term = other.term
    if not other.is_matrix:
        if other.row == from_left:
            return None
        return Factor(pool.term("mul", (weights, term), None, term.shape), other.row), entries(term)
    if term.form == "diagonal":
        pair = (weights, term.args[0]) if from_left else (term.args[0], weights)
        inner = pool.term("mul", pair, None, weights.shape)
        return Factor(pool.term("diagonal", (inner,), None, term.shape, frozenset({"symmetric", "diagonal"}))), 1.0
    if from_left:
        made = pool.term("mul", (pool.term("column", (weights,), None, weights.shape), term), None, term.shape)
    else:
        made = pool.term("mul", (term, pool.term("row", (weights,), None, weights.shape)), None, term.shape)
    return Factor(made), entries(term)


def times(pool: Pool, a: Term, b: Term) -> Term:
    """Return the product of two terms of which the first is a scalar."""
    if a.form == "number" and b.form == "number":
        return pool.number(a.data * b.data)
    if a.form == "number" and abs(a.data) == 1:
        return b if a.data == 1 else pool.term("neg", (b,), None, b.shape)
    return pool.term("mul", (a, b), None, b.shape)


def power_of(pool: Pool, matrix: Term, exponent: int) -> Term:
    """Return a positive power of a square matrix."""
    if exponent == 1:
        return matrix
    if exponent == 2:
        made = pool.term("matrix_product", (matrix, matrix), None, matrix.shape)
        pool.used.add(made)
        return made
    return pool.term("matrix_power", (matrix, pool.number(exponent)), None, matrix.shape)
