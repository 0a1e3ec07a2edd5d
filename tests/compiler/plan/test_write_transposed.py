"""A value with one reader, which reads it transposed, is computed in the reader's order."""

import numpy as np
import pytest

import matcalc as mc

NETWORK = "X: matrix(m, n); A: matrix(n, p); b: vector(p); y: vector(m)"


def hessian(X, A, b, y):
    """Return the Hessian of sum((tanh(X*A)*b - y)^2) in A, by its definition."""
    T = np.tanh(X @ A)
    r, S = T @ b - y, (1 - T * T) * b
    J = np.einsum("qi,qj->qij", X, S)
    H = 2 * np.einsum("qij,qkl->ijkl", J, J)
    blocks = np.einsum("q,qj,qi,qk->ijk", r, -2 * S * T, X, X)
    for j in range(len(b)):
        H[:, j, :, j] += 2 * blocks[:, j]
    return H


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sizes", [(5, 3, 2), (4, 1, 3), (3, 2, 1), (0, 2, 2), (2, 0, 3), (1, 1, 1)])
def test_hessian_of_a_network_is_put_together_in_the_order_of_its_axes(sizes):
    m, n, p = sizes
    rng = np.random.default_rng(m + n + p)
    data = {
        "X": rng.standard_normal((m, n)),
        "A": rng.standard_normal((n, p)),
        "b": rng.standard_normal(p),
        "y": rng.standard_normal(m),
    }
    fn = mc.compile(mc.expression("sum((tanh(X*A)*b - y).^2)", NETWORK).hessian("A"))
    assert "np.empty((p, p, n, n))" not in fn.source
    wanted = hessian(**data)
    np.testing.assert_allclose(fn(**data), wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fn(**data, out=np.full(wanted.shape, np.nan)), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.whole
def test_what_others_read_too_stays_an_array():
    rng = np.random.default_rng(1)
    data = {"X": rng.standard_normal((3, 2)), "A": rng.standard_normal((2, 2)), "b": np.ones(2), "y": np.ones(3)}
    f = mc.expression("sum((tanh(X*A)*b - y).^2)", NETWORK)
    both = mc.compile([f.hessian("A"), 3 * f.hessian("A"), f])
    found = both(**data)
    np.testing.assert_allclose(found[0], hessian(**data), rtol=1e-12)
    np.testing.assert_allclose(found[1], 3 * hessian(**data), rtol=1e-12)


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_parts_that_read_a_part_of_what_others_add_to(target):
    """A system of three neighbours (Broyden 1965): its gradient adds shifted residuals."""
    fn = mc.value_and_gradient("norm2((3 - 2*x).*x - [0; x[:-1]] - 2*[x[1:]; 0] + 1)^2", "x", target=target)
    for n in (1, 2, 3, 10):
        x = np.random.default_rng(n).standard_normal(n)
        residual = (3 - 2 * x) * x - np.append(0, x[:-1]) - 2 * np.append(x[1:], 0) + 1
        jacobian = np.diag(3 - 4 * x) - np.diag(np.ones(n - 1), -1) - 2 * np.diag(np.ones(n - 1), 1)
        value, gradient = fn(x)
        np.testing.assert_allclose(value, residual @ residual, rtol=1e-13)
        np.testing.assert_allclose(gradient, 2 * jacobian.T @ residual, rtol=1e-13, atol=1e-13)
