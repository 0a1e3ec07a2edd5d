"""scipy.stats on symbols: values and derivatives against SciPy's own values and differences of them."""

import numpy as np
import pytest
from scipy import stats

import matcalc as mc

AT = np.array([-1.2, -0.3, 0.2, 0.7, 1.33, 3.1])
"""Values inside, below and above each support; none is at an end of one."""
LINE = {
    "norm": {}, "t": {"df": 3.3}, "cauchy": {}, "laplace": {}, "logistic": {}, "skewnorm": {"a": 1.3}, "gumbel_r": {},
    "expon": {}, "uniform": {}, "gamma": {"a": 2.3}, "chi2": {"df": 3.0}, "invgamma": {"a": 2.2}, "lognorm": {"s": 0.8},
    "weibull_min": {"c": 1.7}, "beta": {"a": 2.1, "b": 1.4}, "pareto": {"b": 2.5}, "halfnorm": {}, "halfcauchy": {},
}  # fmt: skip
METHODS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
DENSITY_ALONE = ("t", "skewnorm", "invgamma")
COUNTS = {
    "poisson": {"mu": 2.2}, "bernoulli": {"p": 0.3}, "binom": {"n": 4.0, "p": 0.3}, "nbinom": {"n": 2.5, "p": 0.4},
    "geom": {"p": 0.3},
}  # fmt: skip


def called(name, method, parameters):
    """Return a function with these parameters that calls a method of a distribution."""
    listed = ", ".join(f"{one}={one}" for one in parameters)
    scope = {"stats": stats}
    exec(f"def f(x, {', '.join(parameters)}):\n    return stats.{name}.{method}(x, {listed})", scope)
    return scope["f"]


def check(function, at, parameters, smooth):
    declared = "x: vector(m); " + "; ".join(f"{one}: scalar" for one in parameters)
    e = mc.expression(function, declared)
    data = {"x": at, **parameters}
    np.testing.assert_allclose(e(**data), function(**data), rtol=1e-9, atol=1e-12)
    for one in smooth:
        derivative = e.jacobian(one)(**data)
        h = 1e-6 * max(1, abs(data[one]))
        with np.errstate(invalid="ignore"):
            expected = (function(**data | {one: data[one] + h}) - function(**data | {one: data[one] - h})) / (2 * h)
        known = np.isfinite(expected)
        np.testing.assert_allclose(derivative[known], expected[known], rtol=1e-4, atol=1e-6, err_msg=one)
        assert np.isfinite(derivative).all()  # 0 outside the support


@pytest.mark.sampled(27)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LINE)
def test_distributions_on_the_line(name, method):
    parameters = {**LINE[name], "loc": 0.1, "scale": 1.3}
    if name in DENSITY_ALONE and method not in ("pdf", "logpdf"):
        with pytest.raises(mc.NotSupported, match=f"scipy.stats.{name}.{method} is not supported"):
            mc.expression(
                called(name, method, parameters),
                "x: vector(n); loc: scalar; scale: scalar; " + "; ".join(f"{one}: scalar" for one in LINE[name]),
            )
        return
    check(called(name, method, parameters), AT, parameters, parameters)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("method", ["pmf", "logpmf"])
@pytest.mark.parametrize("name", COUNTS)
def test_distributions_of_counts(name, method):
    parameters = COUNTS[name]
    counts = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 7.0])
    check(
        called(name, method, parameters),
        counts,
        parameters,
        [one for one in parameters if one != "n" or name != "binom"],
    )


def test_distributions_of_vectors():
    x, alpha = np.array([0.2, 0.5, 0.3]), np.array([1.2, 2.0, 0.7])
    e = mc.expression(lambda x, alpha: stats.dirichlet.logpdf(x, alpha), "x: vector(n); alpha: vector(n)")
    np.testing.assert_allclose(e(x=x, alpha=alpha), stats.dirichlet.logpdf(x, alpha), rtol=1e-12)
    assert mc.check(e, "alpha", compiled=False)
    k, p = np.array([1.0, 0.0, 3.0]), np.array([0.2, 0.3, 0.5])
    e = mc.expression(lambda k, p: stats.multinomial.logpmf(k, 4, p), "k: vector(n); p: vector(n)")
    np.testing.assert_allclose(e(k=k, p=p), stats.multinomial.logpmf(k, 4, p), rtol=1e-12)
