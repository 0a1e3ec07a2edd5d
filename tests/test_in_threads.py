"""Calls by shares of the rows: plain NumPy's numbers, the same digits each time, and rejected formulas."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest

import matcalc as mc
from matcalc.rows import in_threads

RNG = np.random.default_rng(5)
ROWS = (0, 1, 2, 3, 7, 1000)


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Split from two entries on, so that small data test it."""
    monkeypatch.setattr(in_threads, "LEAST", 2)


def logistic(X, w, y):
    z = y * (X @ w)
    return np.sum(np.logaddexp(0, -z)), X.T @ (-y / (1 + np.exp(z)))


@pytest.mark.whole
@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_totals(threads, target):
    fn = mc.value_and_gradient("sum(log(1 + exp(-y.*(X*w))))", "w", threads=threads, target=target)
    assert fn.stats["threads"] == f"{threads} shares of the rows m"
    for m in ROWS:
        given = {"X": RNG.standard_normal((m, 3)), "w": RNG.standard_normal(3), "y": np.sign(RNG.standard_normal(m))}
        value, gradient = fn(**given)
        wanted = logistic(**given)
        np.testing.assert_allclose(value, wanted[0], rtol=1e-12)
        np.testing.assert_allclose(gradient, wanted[1], rtol=1e-11, atol=1e-12)
        assert np.array_equal(fn(**given)[1], gradient)


@pytest.mark.parametrize("threads", [2, 5])
@pytest.mark.whole
def test_results_with_rows_beside_totals(threads):
    e = mc.expression("sum(sum(exp(A).*tanh(B)))")
    fn = mc.compile([e, e.gradient("A"), e.gradient("B")], threads=threads)
    for m in ROWS:
        A, B = RNG.standard_normal((m, 4)), RNG.standard_normal((m, 4))
        value, by_a, by_b = fn(A, B)
        np.testing.assert_allclose(value, np.sum(np.exp(A) * np.tanh(B)), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(by_a, np.exp(A) * np.tanh(B), rtol=1e-13)
        np.testing.assert_allclose(by_b, np.exp(A) / np.cosh(B) ** 2, rtol=1e-13)
        out = (None, np.full((m, 4), np.nan), np.full((m, 4), np.nan))
        assert fn(A, B, out=out)[1] is out[1]
        assert np.array_equal(out[2], by_b)


@pytest.mark.whole
@pytest.mark.parametrize("threads", [2, 3])
def test_matrices_with_rows_beside_matrices_of_totals(threads):
    fn = mc.value_and_gradient("norm2(M.*(T - U*V'))^2", ["U", "V"], threads=threads)
    for m in ROWS:
        M, T, U = (RNG.standard_normal((m, k)) for k in (5, 5, 2))
        V = RNG.standard_normal((5, 2))
        value, (by_u, by_v) = fn(M=M, T=T, U=U, V=V)
        R = -2 * M * M * (T - U @ V.T)
        np.testing.assert_allclose(value, np.sum((M * (T - U @ V.T)) ** 2), rtol=1e-12)
        np.testing.assert_allclose(by_u, R @ V, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(by_v, R.T @ U, rtol=1e-11, atol=1e-11)


def test_one_size_as_argument_and_results_in_arrays_of_the_caller():
    fn = mc.compile("2*ones(n)", declarations="n: size", threads=2)
    out = np.empty(3)
    assert fn(3, out=out) is out and out.tolist() == [2.0, 2.0, 2.0] and fn(3).tolist() == out.tolist()
    for size in (-1, True, 2.5, None):
        with pytest.raises((mc.ShapeError, TypeError)):
            fn(size)
        with pytest.raises((mc.ShapeError, TypeError)):
            fn(size, out=out)


@pytest.mark.whole
def test_results_with_rows_that_wait_for_totals():
    fn = mc.compile("x - mean(x)", threads=3)
    for m in ROWS[1:]:
        x = RNG.standard_normal(m)
        np.testing.assert_allclose(fn(x), x - x.mean(), rtol=1e-12, atol=1e-14)
    two = mc.compile(["var(x)", "(x - mean(x))/std(x)"], threads=2)
    x = RNG.standard_normal(9)
    np.testing.assert_allclose(two(x)[0], x.var(), rtol=1e-12)
    np.testing.assert_allclose(two(x)[1], (x - x.mean()) / x.std(), rtol=1e-12)


@pytest.mark.whole
def test_what_does_not_separate_says_why_and_is_right():
    fn = mc.compile("inv(A)*B", threads=2)
    A, B = RNG.standard_normal((4, 4)) + 4 * np.eye(4), RNG.standard_normal((4, 2))
    np.testing.assert_allclose(fn(A, B), np.linalg.solve(A, B), rtol=1e-11)
    assert "leading axis" in fn.stats["threads"]
    assert "all m rows at once" in mc.compile("sum(sort(x))", threads=2).stats["threads"]


def test_every_way_in_gives_blas_its_threads(monkeypatch):
    fn, asked = mc.compile("inv(A)*B", threads=2), []
    count_of_threads = in_threads.count_of_threads
    monkeypatch.setattr(in_threads, "count_of_threads", lambda n: asked.append(n) or count_of_threads(n))
    A, B = RNG.standard_normal((4, 4)) + 4 * np.eye(4), RNG.standard_normal((4, 2))
    out = np.empty((4, 2))
    for call in (lambda: fn(A, B), lambda: fn(A, B, out=out), lambda: fn(A.T, B), lambda: fn(A.T, B, out=out)):
        asked.clear()
        call()
        assert 2 in asked


def test_turned_read_only_and_converted_arguments():
    fn = mc.compile("sum(X.^2, axis=1)", threads=2)
    X = RNG.standard_normal((3, 8))
    np.testing.assert_allclose(fn(X.T), np.sum(X.T**2, axis=1), rtol=1e-13)
    np.testing.assert_allclose(fn([[1, 2], [3, 4]]), [5, 25])
    X.flags.writeable = False
    np.testing.assert_allclose(fn(X), np.sum(X**2, axis=1), rtol=1e-13)


@pytest.mark.whole
def test_many_calls_at_once_and_copies():
    fn = mc.value_and_gradient("norm2(X*w - y)^2", "w", threads=2)
    data = [{"X": RNG.standard_normal((50, 3)), "w": RNG.standard_normal(3), "y": RNG.standard_normal(50)}] * 20
    wanted = fn(**data[0])
    again = pickle.loads(pickle.dumps(fn))
    with ThreadPoolExecutor(4) as pool:
        for one in pool.map(lambda given: (again if given is data[0] else fn)(**given), data):
            assert one[0] == wanted[0]
            assert np.array_equal(one[1], wanted[1])


def test_faults_reach_the_caller():
    fn = mc.compile("sum(solve(A, X')', axis=0)", threads=2)
    with pytest.raises(np.linalg.LinAlgError):
        fn(A=np.zeros((2, 2)), X=RNG.standard_normal((5, 2)))


def test_small_calls_take_no_threads(monkeypatch):
    monkeypatch.setattr(in_threads, "LEAST", sys.maxsize)
    fn = mc.compile("sum(exp(x))", threads=2)
    fn._each = None
    np.testing.assert_allclose(fn(np.ones(5)), 5 * np.e)


@pytest.mark.parametrize(("bad", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError), ("2", TypeError)])
def test_what_is_no_number_of_threads(bad, error):
    with pytest.raises(error, match="threads"):
        mc.compile("sum(x)", threads=bad)


def test_other_targets_are_refused():
    with pytest.raises(mc.NotSupported, match="torch"):
        mc.compile("sum(x)", threads=2, target="torch")


TEXTS = ["norm2(X*w - y)^2 + lam*w'*w", "logdet(X'*X + lam*eye(n)) + y'*y", "sum(exp(X*w - lam*y))"]


@pytest.mark.whole
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.thinned(3)
def test_any_arguments_are_bound(text):
    """Each set of fixed arguments, with and without `out=`, batched and pickled: the values of plain NumPy."""
    declared = "X: matrix(m, n); y: vector(m); w: vector(n); lam: scalar"
    data = {"X": RNG.standard_normal((4, 3)), "y": RNG.standard_normal(4), "w": RNG.standard_normal(3), "lam": 1.5}
    wrt = "w" if "w" in text else "X"
    fn = mc.value_and_gradient(text, wrt, declared, threads=2)
    given = {name: data[name] for name in fn.args}
    value, gradient = mc.expression(text, declared)(**given), mc.gradient(text, wrt, declared)
    slope = gradient(**{name: data[name] for name in gradient.symbols})
    for count in range(len(given) + 1):
        for fixed in combinations(given, count):
            bound = fn.bind({name: given[name] for name in fixed})
            rest = {name: v for name, v in given.items() if name not in fixed}
            for found in (bound(**rest), bound(**rest, out=(None, np.empty_like(slope))), again(bound)(**rest)):
                np.testing.assert_allclose(found[0], value)
                np.testing.assert_allclose(found[1], slope)
    for name in given:
        stacked = mc.batch(fn, over=[name])(**{**given, name: np.stack([given[name]] * 2)})
        np.testing.assert_allclose(stacked[0], [value] * 2)


def again(bound):
    return pickle.loads(pickle.dumps(bound))
