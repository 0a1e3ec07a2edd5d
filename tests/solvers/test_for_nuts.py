"""solvers.nuts: the log density by hand, and nutpie's draws against a posterior in closed form."""

import numpy as np
import pytest
from solvers import logistic

from matcalc import solvers

DENSITY = "-norm2(X*w - y)^2/2 - c/2*norm2(w)^2"
LET = "X: matrix(m, n); y: vector(m); w: vector(n); c: scalar"


def made(target="numpy"):
    return solvers.nuts(DENSITY, "w", logistic.DATA, declarations=LET, target=target)


def test_value_and_gradient():
    X, y, c = logistic.X, logistic.Y, logistic.RIDGE
    density, x = made(), np.array([0.2, -1.0, 0.4, 0.7])
    value, slope = density.logp_and_gradient(x)
    assert np.isclose(value, -np.sum((X @ x - y) ** 2) / 2 - c / 2 * x @ x, rtol=1e-13)
    assert np.allclose(slope, -X.T @ (X @ x - y) - c * x, rtol=1e-12)
    assert (density.dim, density.unpack(x)["w"].shape) == (4, (4,))


def test_outside_the_domain_there_is_no_density():
    density = solvers.nuts("logdet(S) - tr(S)", "S", sizes={"n": 2}, declarations="S: matrix(n, n) spd", target="numpy")
    value, slope = density.logp_and_gradient([1.0, 2.0, 2.0, 1.0])
    assert value == -np.inf
    assert slope.tolist() == [0.0] * 4
    assert np.isfinite(density.logp_and_gradient([1.0, 0.2, 0.2, 1.0])[0])


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")  # nutpie's own imports warn
def test_draws_of_nutpie_have_the_known_mean_and_covariance():
    nutpie = pytest.importorskip("nutpie", reason="nutpie is not installed")
    trace = nutpie.sample(made("numba").nutpie(), draws=2000, tune=500, chains=2, cores=1, seed=4, progress_bar=False)
    draws = trace.posterior["w"].to_numpy().reshape(-1, 4)
    precision = logistic.X.T @ logistic.X + logistic.RIDGE * np.eye(4)
    mean, covariance = np.linalg.solve(precision, logistic.X.T @ logistic.Y), np.linalg.inv(precision)
    deviation = np.sqrt(np.diag(covariance))
    assert np.all(np.abs(draws.mean(axis=0) - mean) < 0.1 * deviation)
    assert np.allclose(
        np.cov(draws.T) / np.outer(deviation, deviation), covariance / np.outer(deviation, deviation), atol=0.12
    )
