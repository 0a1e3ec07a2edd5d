"""Sums over a triangle are running totals: correct in all entries, unaffected by excluded ones, with no n x n array."""

import numpy as np
import pytest

import matcalc as mc

DECLARED = "x: vector(n); y: vector(n); A: matrix(p, n); B: matrix(n, q); S: matrix(n, n)"
L, U = (lambda n: np.tril(np.ones((n, n)))), (lambda n: np.triu(np.ones((n, n))))
CASES = {
    "cumsum(x)": lambda x, **_: np.cumsum(x),
    "flip(cumsum(flip(x)))": lambda x, **_: np.cumsum(x[::-1])[::-1],
    "sum(cumsum(x))": lambda x, **_: np.sum(np.cumsum(x)),
    "y'*cumsum(x)": lambda x, y, **_: y @ np.cumsum(x),
    "cumsum(cumsum(x))": lambda x, **_: np.cumsum(np.cumsum(x)),
    "tril(ones(n, n))*B": lambda x, B, **_: L(len(x)) @ B,
    "triu(ones(n, n))*B": lambda x, B, **_: U(len(x)) @ B,
    "A*tril(ones(n, n))": lambda x, A, **_: A @ L(len(x)),
    "A*triu(ones(n, n))": lambda x, A, **_: A @ U(len(x)),
    "A*tril(ones(n, n))*B": lambda x, A, B, **_: A @ L(len(x)) @ B,
    "A*diag(x)*triu(ones(n, n))*diag(y)*B": lambda x, y, A, B, **_: A @ (x[:, None] * U(len(x)) * y) @ B,
    "A*tril(ones(n, n))*diag(x)*triu(ones(n, n))*B": lambda x, A, B, **_: A @ L(len(x)) @ (x[:, None] * U(len(x))) @ B,
    "tril(ones(n, n))*diag(x)*triu(ones(n, n))": lambda x, **_: L(len(x)) @ (x[:, None] * U(len(x))),
    "tril(S)*x": lambda x, S, **_: np.tril(S) @ x,
    "tril(ones(n, n), -1)*x": lambda x, **_: np.tril(np.ones((len(x), len(x))), -1) @ x,
    "{k,i,j: S[k,l]*A[i,l]*ones(n)[j]*[j >= l]}": lambda S, A, x, **_: np.einsum("kl,il,lj->kij", S, A, U(len(x))),
}  # fmt: skip


def data(n, seed=0):
    rng = np.random.default_rng(seed + n)
    shapes = {"x": n, "y": n, "A": (3, n), "B": (n, 2), "S": (n, n)}
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


@pytest.mark.sampled(36)
@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_values(text, target):
    fn = mc.compile(mc.expression(text, DECLARED), target=target)
    for n in (0, 1, 2, 3, 7):
        given = data(n)
        found = fn(**{name: given[name] for name in fn.args})
        np.testing.assert_allclose(found, CASES[text](**given), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_left_out_is_not_multiplied_by_zero(target, bad):
    x = np.arange(1.0, 6.0)
    x[2] = bad
    found = mc.compile("cumsum(x)", target=target)(x)
    np.testing.assert_array_equal(found, [1, 3, bad, bad, bad])
    back = mc.compile("flip(cumsum(flip(x)))", target=target)(x)
    np.testing.assert_array_equal(back, [bad, bad, bad, 9, 5])


COX = "sum(d.*(X*b - log(cumsum(exp(X*b)))))"


def partial_likelihood(X, b, d):
    """Return gradient and Hessian of Cox's partial likelihood, by sums over the risk sets."""
    gradient, hessian = np.zeros(len(b)), np.zeros((len(b), len(b)))
    for k in range(len(d)):
        share = np.exp(X[: k + 1] @ b)
        share /= share.sum()
        mean = share @ X[: k + 1]
        gradient += d[k] * (X[k] - mean)
        hessian -= d[k] * (X[: k + 1].T @ (share[:, None] * X[: k + 1]) - np.outer(mean, mean))
    return gradient, hessian


@pytest.mark.whole
def test_derivatives_of_the_partial_likelihood_need_no_array_of_rows_by_rows():
    rng = np.random.default_rng(3)
    X, b, d = rng.standard_normal((9, 3)), 0.3 * rng.standard_normal(3), rng.integers(0, 2, 9) * 1.0
    e = mc.expression(COX)
    for derivative, wanted in zip((e.gradient("b"), e.hessian("b")), partial_likelihood(X, b, d), strict=True):
        fn = mc.compile(derivative)
        assert "(m, m)" not in "".join(line.partition("#")[0] for line in fn.source.splitlines() if "np.empty" in line)
        np.testing.assert_allclose(fn(X=X, b=b, d=d), wanted, rtol=1e-12, atol=1e-12)


def test_comments_write_the_sum():
    source = mc.compile("norm2(cumsum(x) - y)^2", target="numpy").source
    assert "np.cumsum(x)" in source
    assert "tril(ones(m, m))*x" in source
