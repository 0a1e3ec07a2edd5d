"""Equal expressions are one node: identities by construction, random products, selectors, facts."""

import random
from fractions import Fraction

import numpy as np
import pytest

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import (
    add,
    apply,
    diag_matrix,
    eye,
    hadamard,
    matmul,
    number,
    ones,
    outer,
    power,
    product,
    scale,
    selector,
    size_number,
    symbol,
    trace,
    transpose,
    zeros,
)
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.sizes.selectors import Selector, merge
from matcalc.tensor.sizes.size import Size

n, m, k = Size.of("n"), Size.of("m"), Size.of("k")
A, B, C = (symbol(name, (n, n)) for name in "ABC")
S = symbol("S", (n, n), ("spd",))
R = symbol("R", (m, n))
x, y = symbol("x", (n,)), symbol("y", (n,))
K = symbol("K", (n, n), ("skew",))
lam = symbol("lam", (), ("positive",))
LET = "A: matrix(n, n); B: matrix(n, n); S: matrix(n, n) spd; K: matrix(n, n) skew; x: vector(n); y: vector(n)"
NAMES = set("ABSKxyn")


def exp(a):
    return apply(default_rulebook().get("exp"), [a])


def vec(a):
    rows, columns = a.shape
    return product(1, [(a, (0, 1)), (selector(merge(columns, rows)), (2, 1, 0))], (2,))


def kron(a, b):
    (p, q), (r, s) = a.shape, b.shape
    pairs = [(selector(merge(p, r)), (4, 0, 2)), (selector(merge(q, s)), (5, 1, 3))]
    return product(1, [(a, (0, 1)), (b, (2, 3)), *pairs], (4, 5))


def placed(a, axis, offset, length):
    at, new = list(range(a.rank)), a.rank
    part = selector(Selector("slice", (length, a.shape[axis]), offset))
    out = [new if i == axis else i for i in at]
    return product(1, [(a, tuple(at)), (part, (new, axis))], tuple(out))


def test_transposes_vanish():
    assert transpose(transpose(A)) is A
    assert transpose(matmul(A, B)) is matmul(transpose(B), transpose(A))
    assert transpose(add([(1, A), (1, B)])) is add([(1, transpose(A)), (1, transpose(B))])
    assert transpose(hadamard(A, B)) is hadamard(transpose(A), transpose(B))


def test_traces_are_cyclic_and_forms_symmetric():
    assert trace(matmul(A, B, C)) is trace(matmul(C, A, B))
    assert matmul(x, A, y) is matmul(y, transpose(A), x)
    assert trace(eye(n)) is size_number(n)
    assert matmul(diag_matrix(x), A) is hadamard(outer(x, ones((n,))), A)


def test_kronecker_products_vanish():
    assert vec(matmul(A, C, B)) is matmul(kron(transpose(B), A), vec(C))
    assert trace(kron(A, B)) is product(1, [(trace(A), ()), (trace(B), ())], ())
    assert matmul(kron(A, B), kron(C, S)) is kron(matmul(A, C), matmul(B, S))
    assert matmul(vec(A), vec(B)) is trace(matmul(transpose(A), B))


def test_blocks_multiply():
    left, right = symbol("X", (m, n)), symbol("E", (m, k))
    u, v = symbol("u", (n,)), symbol("v", (k,))
    row = add([(1, placed(left, 1, Size.of(0), n + k)), (1, placed(right, 1, n, n + k))])
    column = add([(1, placed(u, 0, Size.of(0), n + k)), (1, placed(v, 0, n, n + k))])
    assert matmul(row, column) is add([(1, matmul(left, u)), (1, matmul(right, v))])


def test_sums_are_primitive():
    assert add([(1, x), (-1, y)]) is scale(-1, add([(1, y), (-1, x)]))
    assert add([(2, x), (2, y)]) is scale(2, add([(1, y), (1, x)]))
    assert add([(1, x), (-1, x)]) is zeros((n,))
    assert add([(1, diag_matrix(x)), (1, diag_matrix(y))]) is diag_matrix(add([(1, x), (1, y)]))
    assert add([(1, size_number(n)), (1, number(1))]) is size_number(n + 1)


def test_powers_merge_only_where_it_is_safe():
    assert hadamard(power(x, Fraction(-1)), power(x, Fraction(-1))) is power(x, Fraction(-2))
    assert hadamard(x, power(x, Fraction(-1))) is not ones((n,))
    assert product(1, [(power(lam, Fraction(-2)), ()), (lam, ())], ()) is power(lam, Fraction(-1))
    assert power(scale(2, matmul(x, x)), Fraction(-1)) is scale(Fraction(1, 2), power(matmul(x, x), Fraction(-1)))


@pytest.mark.parametrize(
    ("node", "fact"),
    [
        (matmul(transpose(R), R), "psd"),
        (matmul(transpose(A), S, A), "psd"),
        (outer(x, x), "psd"),
        (hadamard(S, S), "psd"),
        (add([(1, matmul(transpose(R), R)), (1, product(1, [(lam, ()), (eye(n), (0, 1))], (0, 1)))]), "spd"),
        (add([(1, A), (1, transpose(A))]), "symmetric"),
        (matmul(x, S, x), "nonnegative"),
        (matmul(x, transpose(A), A, x), "nonnegative"),
        (product(1, [(lam, ()), (S, (0, 1))], (0, 1)), "spd"),
    ],
)
def test_facts_are_inferred(node, fact):
    assert fact in node.facts


@pytest.mark.parametrize("node", [matmul(R, x), matmul(A, A), add([(1, S), (-1, S), (-1, matmul(A, transpose(A)))])])
def test_facts_are_not_guessed(node):
    assert not node.facts & {"psd", "spd", "nonnegative"}


@pytest.mark.whole
def test_random_products_are_one_node_each():
    rng = random.Random(1)
    for _ in range(1000):
        count, pool = rng.randint(2, 12), rng.randint(2, 8)
        operands = [_operand(rng, pool) for _ in range(count)]
        used = sorted({i for _, at in operands for i in at})
        out = tuple(rng.sample(used, min(rng.randint(0, 2), len(used))))
        ways = {_rewritten(rng, operands, out, pool) for _ in range(5)}
        assert len(ways) == 1


def _operand(rng, pool):
    if rng.random() < 0.6:
        return rng.choice([A, B, S]), (rng.randrange(pool), rng.randrange(pool))
    return rng.choice([x, y]), (rng.randrange(pool),)


def _rewritten(rng, operands, out, pool):
    """Relabel, reorder and reassociate a product at random."""
    names = list(range(pool))
    rng.shuffle(names)
    terms = [(node, tuple(names[i] for i in at)) for node, at in operands]
    terms = [(node, at[::-1] if node is S and rng.random() < 0.5 else at) for node, at in terms]
    shown = tuple(names[i] for i in out)
    rng.shuffle(terms)
    while len(terms) > 2 and rng.random() < 0.7:
        cut = rng.randint(1, len(terms) - 1)
        run, rest = terms[:cut], terms[cut:]
        outside = {i for _, at in rest for i in at} | set(shown)
        kept = sorted({i for _, at in run for i in at} & outside)
        rng.shuffle(kept)
        terms = [*rest, (product(1, run, tuple(kept)), tuple(kept))]
        rng.shuffle(terms)
    return product(1, terms, shown)


@pytest.mark.whole
def test_random_sums_of_tensors_are_one_node_each():
    rng = random.Random(1)
    for trial in range(60):
        rank = 3 + trial % 2
        terms = [(rng.choice([1, -1, 2]), _tensor(rng, rank)) for _ in range(rng.randint(2, 4))]
        ways = {_added(rng, terms) for _ in range(4)}
        assert len(ways) == 1, terms
        assert elaborate([text(formula_of(*ways, NAMES))], LET).nodes[0] in ways
        seed = rng.random()
        assert len({_held(rng, terms, random.Random(seed)) for _ in range(4)}) == 1, terms


@pytest.mark.whole
def test_sums_that_hold_symmetric_sums_are_one_node_each():
    rng, swaps = random.Random(3), [(1, 0, 2, 3), (0, 1, 3, 2), (2, 1, 0, 3), (2, 3, 0, 1), (3, 2, 1, 0)]
    for _ in range(40):
        terms = [(1, _tensor(rng, 4)) for _ in range(rng.randint(1, 2))]
        order = rng.choice(swaps)
        whole = add([*terms, *((c, turned(term, order)) for c, term in terms)])
        held = [(whole, (0, 1, 2, 4)), (rng.choice([A, S]), rng.choice([(4, 3), (3, 4)]))]
        one = product(1, held, (0, 1, 2, 3))
        sums = [(1, one), (rng.choice([1, 2]), turned(one, rng.choice(swaps))), (1, _tensor(rng, 4))]
        assert len({_added(rng, sums) for _ in range(6)}) == 1, sums


@pytest.mark.whole
def test_matrices_of_symmetric_sums_are_symmetric_where_they_are_said_to_be():
    rng, lengths = random.Random(5), {"n": 3}
    given = np.random.default_rng(1).standard_normal((6, 3, 3))
    data = dict(A=given[0], B=given[1], S=given[2] @ given[2].T, K=given[3] - given[3].T, x=given[4][0], y=given[5][0])
    found = set()
    for _ in range(60):
        terms = [(rng.choice([1, -1, 2]), _tensor(rng, 4)) for _ in range(rng.randint(1, 3))]
        order, sign = rng.sample(range(4), 4), rng.choice([1, -1])
        whole = add([*terms, *((sign * c, turned(term, order)) for c, term in terms)])
        pairs = [(selector(merge(n, n)), (0, 2, 3)), (selector(merge(n, n)), (1, 4, 5))]
        others = rng.choice([pairs, [(x, (2,)), (x, (4,)), (A, (0, 3)), (A, (1, 5))], [(B, (0, 2)), (K, (1, 4))]])
        matrix = product(1, [(whole, tuple(rng.sample(range(2, 6), 4))), *others], (0, 1))
        (value,) = np.asarray(evaluate([matrix], data, lengths))
        for fact, sign in (("symmetric", 1), ("skew", -1)):
            if fact in matrix.facts and not matrix.is_zero:
                found.add(fact)
                np.testing.assert_allclose(
                    value, sign * value.T, atol=1e-12 * np.abs(value).max(), err_msg=repr(matrix)
                )
    assert found == {"symmetric", "skew"}


def _tensor(rng, rank):
    """Return a random product of order 3 or more, with broadcast axes and repeated ones among them."""
    pool = rank + rng.randint(0, 1)
    choices = [A, B, S, K, exp(A), selector(Selector("mask", (n, n), Size.of(0)))]
    operands = [
        (rng.choice(choices), (rng.randrange(pool), rng.randrange(pool)))
        if rng.random() < 0.65
        else (rng.choice([x, y]), (rng.randrange(pool),))
        for _ in range(rng.randint(2, 4))
    ]
    out = [1, *range(1, rank)] if rng.random() < 0.2 else list(range(rank))
    return product(1, operands, tuple(rng.sample(out, rank)), dict.fromkeys(range(pool), n))


def turned(node, order):
    return product(1, [(node, tuple(range(node.rank)))], tuple(order))


def _added(rng, terms):
    """Add terms with their axes exchanged, in some order and brackets, and restore the axes."""
    axes = range(terms[0][1].rank)
    order = rng.sample(axes, len(axes))
    moved = [(c, turned(term, order)) for c, term in terms]
    rng.shuffle(moved)
    while len(moved) > 2 and rng.random() < 0.6:
        cut = rng.randint(1, len(moved) - 1)
        moved = [(1, _added(rng, moved[:cut])), *moved[cut:]]
        rng.shuffle(moved)
    return turned(add(moved), sorted(axes, key=order.__getitem__))


def _held(rng, terms, fixed):
    """Multiply a sum, or a function of it, with matrices that `fixed` chooses: the sum with its axes in any order."""
    rank = terms[0][1].rank
    function = fixed.choice([exp, lambda a: power(a, Fraction(-1, 2)), lambda a: a])
    at = [fixed.randrange(rank + 1) for _ in range(rank)]
    others = [(fixed.choice([A, S, K]), tuple(fixed.choices(range(rank + 1), k=2))) for _ in range(2)]
    used = sorted({*at, *(i for _, pair in others for i in pair)})
    order = rng.sample(range(rank), rank)
    operands = [(function(turned(_added(rng, terms), order)), tuple(at[axis] for axis in order)), *others]
    rng.shuffle(operands)
    return product(1, operands, tuple(fixed.sample(used, min(2, len(used)))))


@pytest.mark.whole
def test_no_node_grows_beyond_the_bound():
    squared = A
    for _ in range(10):
        squared = matmul(squared, squared)
    assert max(len(node.args) for node in toposort(squared)) <= 12
    total = add([(1, symbol(f"a{j}", (n,))) for j in range(200)])
    assert max(len(node.args) for node in toposort(total)) <= 12
