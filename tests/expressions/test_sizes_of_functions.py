"""Sizes in Python functions compute; a comparison is decided for all data or raises an error with its line.

The reference is Python with integers: where a comparison is decided, the result must hold at every pair of sizes.
"""

import operator
import pickle
from itertools import product

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(m, n); Z: matrix(n + 1, 2*n); x: vector(3)"
SIZES = [dict(m=m, n=n) for m, n in product((0, 1, 2, 3, 5), repeat=2)]
RELATIONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
OPERANDS = {
    "m": lambda m, n: m,
    "n": lambda m, n: n,
    "n + 1": lambda m, n: n + 1,
    "2*n": lambda m, n: 2 * n,
    "m*n": lambda m, n: m * n,
    "0": lambda m, n: 0,
    "1": lambda m, n: 1,
    "-1": lambda m, n: -1,
    "2.5": lambda m, n: 2.5,
    "inf": lambda m, n: np.inf,
    "m//2": lambda m, n: m // 2,
    "n%3": lambda m, n: n % 3,
    "m - n": lambda m, n: m - n,
    "max(m, n)": lambda m, n: np.maximum(m, n),
    "min(m, n)": lambda m, n: np.minimum(m, n),
    "n**2": lambda m, n: n**2,
    "1 - n": lambda m, n: 1 - n,
}


def traced(use):
    """Return the value of `use` at the two symbolic sizes of a traced function's argument."""
    seen = []

    def function(X):
        seen.append(use(*X.shape))
        return X

    mc.expression(function, LET)
    return seen[0]


@pytest.mark.whole
@pytest.mark.parametrize("left", OPERANDS)
@pytest.mark.parametrize("relation", RELATIONS, ids=[r.__name__ for r in RELATIONS])
@pytest.mark.thinned(11)
def test_a_comparison_is_that_of_all_sizes_or_a_choice(relation, left):
    for right in OPERANDS.values():
        truth = lambda m, n, a=OPERANDS[left], b=right: bool(relation(a(m, n), b(m, n)))  # noqa: E731
        e = mc.expression(lambda X, t=truth: np.sum(X) if t(*X.shape) else -1.0, LET)
        for at in SIZES:
            X = np.full((at["m"], at["n"]), 0.25)
            given = {"X": X} | {name: at[name] for name in e.symbols if name != "X"}
            assert e(**given) == (X.sum() if truth(**at) else -1.0)


def primal_or_dual(X):
    m, n = X.shape
    if m < n:
        return np.sum(np.linalg.slogdet(0.5 * np.eye(m) + X @ X.T))
    gram = X.T @ X
    return np.sum(np.linalg.slogdet(0.5 * np.eye(n) + gram)) + np.log(2) * (n - m)


def turned(X):
    if X.shape[0] > X.shape[1]:
        X = 2 * X
    elif X.shape[0] == 2:
        X = X**2
    return X


def first_rows(X):
    return np.mean((X[:2] if len(X) >= 2 else X) ** 2)


def guarded_mean(X):
    return np.sum(X) / max(len(X) - 1, 1) + (0.0 if X.shape[1] < 2 or len(X) == 3 else np.log(len(X) + 1))


def in_a_loop(X):
    total = 0.0
    for row in X:
        total = total + np.sum(row) if X.shape[0] > X.shape[1] else np.tanh(total) + row[0]
    return total


@pytest.mark.parametrize("function", [primal_or_dual, turned, first_rows, guarded_mean, in_a_loop])
@pytest.mark.whole
def test_branches_on_sizes(function):
    both = mc.value_and_gradient(lambda X: np.sum(function(X)), "X", "X: matrix(m, n)")
    compared = 0
    for m, n in product((1, 2, 3, 4), repeat=2):
        X = np.random.default_rng(m + 7 * n).standard_normal((m, n))
        try:
            value, gradient = both(X)
        except mc.ShapeError as fault:
            assert function is first_rows and m < 2, fault
            continue
        compared += 1
        np.testing.assert_allclose(value, np.sum(function(X)), rtol=1e-12)
        for at in np.ndindex(m, n):
            step = np.zeros((m, n))
            step[at] = 1e-6
            slope = (np.sum(function(X + step)) - np.sum(function(X - step))) / 2e-6
            np.testing.assert_allclose(gradient[at], slope, atol=1e-7)
    assert compared >= 12


def other_shape(X):
    return X if X.shape[0] > X.shape[1] else X.T


def singular(X):
    return np.linalg.inv(X @ X.T)[0, 0] if X.shape[0] < X.shape[1] else np.linalg.inv(X.T @ X)[0, 0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (other_shape, "a value has another shape where m > n holds"),
        (singular, "X*X' is singular at some sizes, in a branch on m < n"),
    ],
)
def test_branches_on_sizes_that_are_refused(function, message):
    with pytest.raises(mc.NotSupported) as fault:
        mc.expression(function, "X: matrix(m, n)")
    assert message in str(fault.value) and "declare m and n as numbers, as in X: matrix(4, 3)" in str(fault.value)


ARITHMETIC = [
    lambda m, n: m + n,
    lambda m, n: m - n,
    lambda m, n: 3 - m,
    lambda m, n: m * n,
    lambda m, n: m // 2,
    lambda m, n: m % 3,
    lambda m, n: 7 // (n + 1),
    lambda m, n: 7 % (n + 1),
    lambda m, n: divmod(m, 2)[0],
    lambda m, n: divmod(m, 2)[1],
    lambda m, n: -m,
    lambda m, n: +m,
    lambda m, n: abs(m),
    lambda m, n: round(m),
    lambda m, n: m**3,
    lambda m, n: np.prod((m, n)),
    lambda m, n: np.maximum(m, n),
    lambda m, n: np.minimum(m, 2),
    lambda m, n: np.add(m, 1),
    lambda m, n: m / (n + 1),
    lambda m, n: m**0.5,
    lambda m, n: 0.5 * m + 1.5,
    lambda m, n: np.sqrt(m),
    lambda m, n: np.int64(2) * m,
    lambda m, n: (m - 7) // 2,
]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("use", ARITHMETIC)
def test_sizes_compute_as_integers_do(use):
    e = mc.expression(lambda X: np.sum(X) + use(*X.shape), LET)
    fn = mc.compile(e, target="numpy")
    for at in SIZES:
        X = np.full((at["m"], at["n"]), 0.25)
        expected = np.sum(X) + use(**at)
        np.testing.assert_allclose([e(X=X), fn(X)], expected)


def test_what_computes_is_a_size_again():
    for use in ARITHMETIC[:19]:
        assert not isinstance(traced(use), mc.Expression)
    assert str(mc.expression(lambda X, x: X[: X.shape[0] - 1] * np.sum(x), LET)) == "sum(x)*X[:-1, :]"


CHOICES = [
    lambda m, n: max(m, n),
    lambda m, n: min(m, n),
    lambda m, n: max([2, m, n]),
    lambda m, n: sorted((m, n))[0],
    lambda m, n: bool(m),
    lambda m, n: m in (1, 2),
    lambda m, n: (m, n) == (2, 3),
    lambda m, n: (m, n) != (2, 3),
    lambda m, n: 1 if m > n else 2,
    lambda m, n: m and n,
    lambda m, n: not m,
    lambda m, n: np.max((m, n)),
    lambda m, n: np.where(m > n, m, 2.5),
    lambda m, n: 3.0 * (m > n),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("use", CHOICES)
def test_choices_by_sizes(use):
    fn = mc.compile(lambda X: np.sum(X) + use(*X.shape), declarations=LET, target="numpy")
    for at in SIZES:
        X = np.full((at["m"], at["n"]), 0.25)
        np.testing.assert_allclose(fn(X), np.sum(X) + use(**at))


REFUSED = [
    lambda m, n: complex(m),
    lambda m, n: list(range(m)),
    lambda m, n: [0, 1][m],
    lambda m, n: f"{m:d}",
    lambda m, n: m & 1,
    lambda m, n: ~m,
    lambda m, n: m << 1,
    lambda m, n: "m" + m,
    lambda m, n: len(m),
    lambda m, n: list(m),
    lambda m, n: m[0],
    lambda m, n: m < "n",
    lambda m, n: m @ n,
    lambda m, n: 5 // (m - n),
    lambda m, n: m.upper(),
]


@pytest.mark.parametrize("use", REFUSED)
@pytest.mark.sampled(8)
def test_what_has_no_answer_is_refused_with_the_line(use):
    with pytest.raises((mc.NotSupported, mc.ShapeError, AttributeError), match="line|has no attribute"):
        traced(use)


def test_sizes_that_are_declared_as_numbers_decide():
    larger = lambda X: np.sum(X) * max(X.shape) if X.shape == (4, 3) else X  # noqa: E731
    assert str(mc.expression(larger, "X: matrix(4, 3)")) == "4*sum(X)"
    with pytest.raises(mc.NotSupported, match="where n == 3 holds"):
        mc.expression(larger, LET)


def test_a_size_equals_its_text():
    X, Z, _ = mc.symbols(LET)
    assert X.shape == ("m", "n") and Z.shape == ("n + 1", "2*n") and X.shape != ("m", "k")
    assert X.shape != (4, 3) and {X.shape[0]: 1}["m"] == 1 and hash(X.shape) == hash(("m", "n"))
    assert (repr(X.shape), f"{X.shape[0]}", str(X.size)) == ("('m', 'n')", "m", "m*n")
    assert pickle.loads(pickle.dumps(Z.shape)) == Z.shape
    assert X.shape[1] == traced(lambda m, n: n) and X.shape[0] != X.shape[1]


def test_python_s_number_types_accept_sizes_and_scalars():
    def mean(X, w):
        assert (
            isinstance(2.5, float)
            and isinstance(3, int)
            and float(2) == 2.0
            and np.zeros(2, dtype=float).dtype == float
        )
        return float(w @ w) + np.sum(X @ w) / float(len(X)) + int(len(w))

    X, w = np.arange(6.0).reshape(2, 3), np.ones(3)
    e = mc.expression(mean, "X: matrix(m, n); w: vector(n)")
    assert e(X=X, w=w) == pytest.approx(mean(X, w), rel=1e-14)
    with pytest.raises(mc.NotSupported, match="has no value as a number"):
        mc.expression(lambda w: int(w[0]), "w: vector(n)")


def test_tables_and_ranges_written_in_a_function():
    def f(x):
        table = np.array([0.1, 0.5, 0.9])
        place = np.searchsorted(table, np.array([0.2, 0.95, 0.05]))
        return (
            x[place] @ x[range(3)]
            + np.sum(np.insert(x, 0, 2.0) ** 2)
            + np.sum(np.tile(table, (len(x), 1)) * x[:, None])
        )

    x = np.array([1.0, -2.0, 0.5, 3.0])
    e = mc.expression(f, "x: vector(4)")
    assert e(x=x) == pytest.approx(f(x), rel=1e-14)
    expected = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(e.gradient("x")(x=x), expected, rtol=1e-7)


ENDS = (None, -5, -3, -1, 0, 2, 3, 4)


@pytest.mark.whole
@pytest.mark.parametrize("step", [None, -1])
def test_slices_of_an_axis_of_numeric_length_end_inside_it(step):
    X, x = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    traced = mc.function("X: matrix(2, 3); x: vector(3)")
    for start, stop in product(ENDS, repeat=2):
        at = slice(start, stop, step)

        def parts(X, x, at=at):
            return x[at], X[..., at], X[None, at, 0]

        for one, expected in zip(traced(parts), parts(X, x), strict=True):
            np.testing.assert_array_equal(one(X=X, x=x), expected)
    with pytest.raises(mc.ShapeError, match="outside axis 0"):  # outside of functions it is a slip
        mc.symbols("x: vector(3)")[0][:7]
