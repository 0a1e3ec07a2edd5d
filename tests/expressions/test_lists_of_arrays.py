"""Lists of symbols as arguments of NumPy's functions, tables of functions, diagonals at sizes."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import matcalc as mc

X = np.random.default_rng(11).standard_normal(3) + 0.3
KERNELS = {"linear": lambda x, z: x * z, "rbf": lambda x, z: np.exp(-((x - z) ** 2)), "sizes": len}


def losses_in_a_list(x):
    losses = [(x[k] - k) ** 2 for k in range(3)]
    return np.mean(losses) + np.max(losses) + max(losses) + np.std(losses) + np.prod((x[0], x[1]))


def norms_of_lists(x):
    return np.linalg.norm([x[0], x[2]]) + np.linalg.det([[x[0], 1.0], [x[1], x[2]]]) + np.dot([x[0], x[1]], [2.0, 3.0])


def lists_of_arrays(x):
    return np.sum([x, x**2, 2 * x], axis=0) @ x + np.average([x[0], x[1]], weights=[0.2, 0.8])


def scipy_of_lists(x):
    return logsumexp([x[0], x[1]]) + logsumexp([x, 2 * x], axis=0).sum() + softmax([x[0], x[1]])[0]


def chosen_from_a_table(x):
    return sum(KERNELS[name](x, x[::-1]).sum() for name in ("linear", "rbf")) * KERNELS["sizes"](x)


def diagonals_at_sizes(x):
    n = len(x)
    K = np.vstack([np.outer(x, x), np.outer(x, x**2)])
    return np.sum(np.diag(K, -n) * np.arange(n)) + np.trace(K, offset=-n) + np.diag(x, n)[0, n]


LOSSES = [
    losses_in_a_list,
    norms_of_lists,
    lists_of_arrays,
    scipy_of_lists,
    chosen_from_a_table,
    diagonals_at_sizes,
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_value_and_gradient_are_those_of_the_function(loss):
    value, gradient = mc.value_and_gradient(loss, "x", "x: vector(3)", target="numpy")(X)
    assert value == pytest.approx(loss(X), rel=1e-12)
    slopes = [(loss(X + step) - loss(X - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7)


def tables_that_read_themselves():
    table, pieces = {"sum": np.sum}, []

    def square(x):
        return table["sum"](x * x)

    def cube(x):
        return np.sum(x**3) if len(pieces) else x

    table["square"] = square
    pieces.append(cube)
    return lambda x: table["square"](x) + pieces[0](x)


def test_functions_in_containers_may_read_their_container():
    gradient = mc.gradient(tables_that_read_themselves(), "x", declarations="x: vector(n)")
    assert str(gradient) == "3*x.^2 + 2*x"
