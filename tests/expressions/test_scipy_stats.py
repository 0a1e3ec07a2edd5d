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
    "vonmises": {"kappa": 1.7}, "truncnorm": {"a": -0.7, "b": 1.9}, "loggamma": {"c": 1.6},
    "f": {"dfn": 3.2, "dfd": 5.1}, "fisk": {"c": 1.8}, "rayleigh": {}, "gumbel_l": {}, "invgauss": {"mu": 1.4},
    "genextreme": {"c": 0.2}, "genpareto": {"c": 0.3}, "gengamma": {"a": 1.7, "c": 1.4}, "invweibull": {"c": 2.1},
    "powerlaw": {"a": 1.8}, "gompertz": {"c": 0.9}, "exponnorm": {"K": 1.2}, "genlogistic": {"c": 1.6},
    "nakagami": {"nu": 1.3},
}  # fmt: skip
METHODS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")
DENSITY_ALONE = ("vonmises", "invgauss", "gengamma", "exponnorm")
COUNTS = {
    "poisson": {"mu": 2.2}, "bernoulli": {"p": 0.3}, "binom": {"n": 4.0, "p": 0.3}, "nbinom": {"n": 2.5, "p": 0.4},
    "geom": {"p": 0.3}, "betabinom": {"n": 4.0, "a": 1.7, "b": 2.3},
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


@pytest.mark.sampled(243)
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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ends", [(-2, 1), (0.1, 2.0), (1, np.inf), (-np.inf, 0.4), (np.array(-0.2), 1)], ids=str)
def test_a_truncated_normal_distribution_between_numbers(ends, method):
    scope = {"stats": stats, "a": ends[0], "b": ends[1]}
    exec(f"def f(x, loc, scale):\n    return stats.truncnorm.{method}(x, a, b, loc, scale)", scope)
    parameters = {"loc": 0.1, "scale": 1.3}
    check(scope["f"], AT, parameters, parameters)


@pytest.mark.parametrize("method", ["ppf", "isf"])
@pytest.mark.parametrize("name", ["norm", "logistic", "gumbel_r", "lognorm", "weibull_min", "gamma"])
@pytest.mark.sampled(4)
def test_quantiles(name, method):
    parameters = {**LINE[name], "loc": 0.1, "scale": 1.3}
    function = called(name, method, parameters)
    declared = "x: vector(m); " + "; ".join(f"{one}: scalar" for one in parameters)
    if name == "gamma" or method == "isf" and name not in ("norm", "logistic"):
        with pytest.raises(mc.NotSupported, match=f"scipy.stats.{name}.{method} is not supported"):
            mc.expression(function, declared)
        return
    check(function, np.array([1e-9, 0.2, 0.5, 0.97]), parameters, parameters)
    at = np.array([-0.1, 0.0, 1.0, 1.1])
    with np.errstate(all="ignore"):
        found, expected = mc.expression(function, declared)(x=at, **parameters), function(at, **parameters)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.sampled(15)
@pytest.mark.parametrize(
    ("name", "method"),
    [
        *((name, method) for name in COUNTS for method in ("pmf", "logpmf")),
        *((name, method) for name in ("poisson", "nbinom", "geom") for method in ("cdf", "sf", "logcdf", "logsf")),
    ],
)
def test_distributions_of_counts(name, method):
    parameters = COUNTS[name]
    counts = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 4.0, 7.0])
    check(
        called(name, method, parameters),
        counts,
        parameters,
        [one for one in parameters if one != "n" or name == "nbinom"],
    )


@pytest.mark.whole
def test_distributions_of_vectors():
    x, alpha = np.array([0.2, 0.5, 0.3]), np.array([1.2, 2.0, 0.7])
    e = mc.expression(lambda x, alpha: stats.dirichlet.logpdf(x, alpha), "x: vector(n); alpha: vector(n)")
    np.testing.assert_allclose(e(x=x, alpha=alpha), stats.dirichlet.logpdf(x, alpha), rtol=1e-12)
    assert mc.check(e, "alpha", compiled=False)
    k, p = np.array([1.0, 0.0, 3.0]), np.array([0.2, 0.3, 0.5])
    e = mc.expression(lambda k, p: stats.multinomial.logpmf(k, 4, p), "k: vector(n); p: vector(n)")
    np.testing.assert_allclose(e(k=k, p=p), stats.multinomial.logpmf(k, 4, p), rtol=1e-12)


def _spd(rng, p):
    A = rng.standard_normal((p, p + 2))
    return A @ A.T / p + 0.3 * np.eye(p)


rng = np.random.default_rng(5)
MATRICES = {
    "multivariate_normal": (
        lambda x, mean, cov: stats.multivariate_normal.logpdf(x, mean, cov),
        "x: vector(n); mean: vector(n); cov: matrix(n, n) spd",
        {"x": rng.standard_normal(3), "mean": rng.standard_normal(3), "cov": _spd(rng, 3)},
    ),
    "multivariate_t": (
        lambda x, loc, S, df: stats.multivariate_t.logpdf(x, loc, S, df=df),
        "x: matrix(m, n); loc: vector(n); S: matrix(n, n) spd; df: scalar positive",
        {"x": rng.standard_normal((4, 3)), "loc": rng.standard_normal(3), "S": _spd(rng, 3), "df": 3.4},
    ),
    "matrix_normal": (
        lambda x, M, U, V: stats.matrix_normal.logpdf(x, mean=M, rowcov=U, colcov=V),
        "x: matrix(m, n); M: matrix(m, n); U: matrix(m, m) spd; V: matrix(n, n) spd",
        {"x": rng.standard_normal((2, 3)), "M": rng.standard_normal((2, 3)), "U": _spd(rng, 2), "V": _spd(rng, 3)},
    ),
    "wishart": (
        lambda x, df, S: stats.wishart.logpdf(x, df, S),
        "x: matrix(n, n) spd; df: scalar positive; S: matrix(n, n) spd",
        {"x": _spd(rng, 3), "df": 4.6, "S": _spd(rng, 3)},
    ),
    "invwishart": (
        lambda x, df, S: stats.invwishart(df, S).logpdf(x),
        "x: matrix(n, n) spd; df: scalar positive; S: matrix(n, n) spd",
        {"x": _spd(rng, 3), "df": 4.6, "S": _spd(rng, 3)},
    ),
}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", MATRICES)
def test_distributions_of_matrices(name):
    function, declared, data = MATRICES[name]
    np.testing.assert_allclose(mc.expression(function, declared)(**data), function(**data), rtol=1e-11)
    gradients = mc.jacobian(function, list(data), declared)
    for one, gradient in zip(data, gradients, strict=True):
        step = rng.standard_normal(np.shape(data[one])) * 1e-5
        step = (step + step.T) / 2 if "spd" in declared.partition(f"{one}: ")[2].partition(";")[0] else step
        slope = (function(**data | {one: data[one] + step}) - function(**data | {one: data[one] - step})) / 2
        axes = list(range(np.ndim(step)))
        np.testing.assert_allclose(
            np.tensordot(gradient(**data), step, [[k - len(axes) for k in axes], axes]), slope, rtol=1e-5, atol=1e-13
        )


@pytest.mark.whole
def test_arguments_far_out_and_at_the_centre():
    kappa = np.array([1e-3, 30.0, 499.0, 501.0, 5e3])
    e = mc.expression(lambda x, kappa: stats.vonmises.logpdf(x, kappa), "x: vector(m); kappa: vector(m)")
    x = np.array([0.1, -0.2, 0.03, 0.03, 0.001])
    np.testing.assert_allclose(e(x=x, kappa=kappa), stats.vonmises.logpdf(x, kappa), rtol=1e-11)
    e = mc.expression(lambda x, df: stats.t.cdf(x, df), "x: vector(m); df: scalar positive")
    x = np.array([-1e4, -3.0, 0.0, 1e-9, 50.0])
    np.testing.assert_allclose(e(x=x, df=2.3), stats.t.cdf(x, 2.3), rtol=1e-11)
    np.testing.assert_allclose(np.diagonal(e.jacobian("x")(x=x, df=2.3)), stats.t.pdf(x, 2.3), rtol=1e-9)


@pytest.mark.parametrize("name", ["kappa3.logpdf", "skellam.logpmf", "vonmises_fisher.logpdf", "levy_stable.pdf"])
def test_other_distributions_are_refused_by_name(name):
    distribution, method = name.split(".")
    with pytest.raises(mc.NotSupported, match=f"scipy.stats.{name} is not supported on symbols") as caught:
        mc.expression(lambda x, a: getattr(getattr(stats, distribution), method)(x, a), "x: vector(m); a: vector(m)")
    assert "write its formula with NumPy" in caught.value.hint


@pytest.mark.whole
@pytest.mark.parametrize(
    ("name", "c"), [("genextreme", -0.4), ("genextreme", 0.0), ("genpareto", -0.3), ("genpareto", 0.0)]
)
def test_a_shape_decides_the_end_of_a_support(name, c):
    parameters = {"c": c, "loc": 0.1, "scale": 1.3}
    for method in METHODS:
        check(called(name, method, parameters), AT, parameters, parameters)
