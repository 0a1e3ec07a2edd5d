"""solvers.statsmodels in statsmodels itself, against its own logit and published values, with robust errors."""

import numpy as np
import pytest

pytest.importorskip("statsmodels", reason="the extra [solvers] is not installed")

import statsmodels.api as sm  # noqa: E402
from statsmodels.base.model import GenericLikelihoodModel  # noqa: E402

import matcalc as mc  # noqa: E402
from matcalc import solvers  # noqa: E402

LET = "X: matrix(m, n); y: vector(m); w: vector(n)"
EACH = "y.*(X*w) - softplus(X*w)"


@pytest.fixture(scope="module")
def spector():
    data = sm.datasets.spector.load_pandas()
    return np.asarray(sm.add_constant(data.exog)), np.asarray(data.endog)


def model(spector, formula=EACH, target="numpy", **more):
    X, y = spector
    return solvers.statsmodels(
        formula, "w", {"X": X, "y": y}, {"w": np.zeros(4)}, declarations=LET, target=target, **more
    )


@pytest.mark.whole
def test_published_estimates(spector):
    """Greene, Econometric Analysis, 5th edition, table 21.1: the logit of Spector and Mazzeo's data."""
    found = model(spector, target="numba", names=["const", "GPA", "TUCE", "PSI"]).fit(method="newton", disp=0)
    assert np.allclose(found.params, [-13.021, 2.826, 0.095, 2.379], atol=5e-4)
    assert np.allclose(found.bse, [4.931, 1.263, 0.142, 1.065], atol=5e-4)
    assert np.isclose(found.llf, -12.890, atol=5e-4)
    assert "TUCE" in str(found.summary())
    assert found.model.unpack(found.params)["w"].shape == (4,)


@pytest.mark.parametrize("errors", ["nonrobust", "HC0", "HC1"])
@pytest.mark.whole
def test_errors_of_its_own_logit(spector, errors):
    X, y = spector
    found = model(spector).fit(method="newton", disp=0, cov_type=errors)
    known = sm.Logit(y, X).fit(disp=0, tol=1e-12, cov_type=errors)
    assert np.allclose(found.params, known.params, rtol=1e-9)
    assert np.allclose(found.bse, known.bse, rtol=1e-8)
    assert np.allclose([found.aic, found.bic, found.llf], [known.aic, known.bic, known.llf], rtol=1e-10)
    assert np.allclose(found.model.score_obs(known.params), known.model.score_obs(known.params), atol=1e-12)


def test_a_sum_is_taken_apart_where_it_is_one(spector):
    made, own = model(spector, "y'*X*w - sum(softplus(X*w))", endog="y"), sm.Logit(*spector[::-1])
    found = made.fit(method="newton", disp=0, cov_type="HC0")
    assert np.allclose(found.bse, own.fit(disp=0, tol=1e-12, cov_type="HC0").bse, rtol=1e-8)
    made = model(spector, f"sum({EACH}) - norm2(w)^2")
    assert np.allclose(made.score(found.params), own.score(found.params) - 2 * found.params, atol=1e-9)
    with pytest.raises(mc.NotSupported, match="no sum over observations"):
        made.score_obs(found.params)


@pytest.mark.whole
def test_fewer_evaluations_than_with_differences(spector):
    X, y = spector
    calls = {"exact": 0, "differences": 0}

    def by_hand(self, params):
        calls["differences"] += 1
        return y * (X @ params) - np.logaddexp(0, X @ params)

    numeric = type("Numeric", (GenericLikelihoodModel,), {"loglikeobs": by_hand})(y, X)
    exact = model(spector)

    def counted(own):
        def call(params):
            calls["exact"] += 1
            return own(params)

        return call

    for name in ("loglike", "score", "hessian"):
        setattr(exact, name, counted(getattr(exact, name)))
    one = exact.fit(method="newton", disp=0)
    other = numeric.fit(np.zeros(4), method="newton", disp=0)
    assert np.allclose(one.params, other.params, rtol=1e-5)
    assert 5 * calls["exact"] < calls["differences"], calls


@pytest.mark.whole
def test_a_scale_beside_coefficients():
    """Normal errors: least squares, and the root mean square of the residual."""
    rng = np.random.default_rng(2)
    X = np.column_stack([np.ones(50), rng.standard_normal((50, 2))])
    y = X @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_normal(50)
    made = solvers.statsmodels("-0.5*((y - X*b)/exp(t)).^2 - t - log(2*pi)/2", ["b", "t"], {"X": X, "y": y},
                               {"b": np.zeros(3), "t": 0.0}, target="numpy",
                               declarations="X: matrix(m, n); y: vector(m); b: vector(n); t: scalar")  # fmt: skip
    found = made.fit(method="bfgs", disp=0, gtol=1e-9)
    b = np.linalg.lstsq(X, y)[0]
    rest = y - X @ b
    assert np.allclose(found.params, [*b, 0.5 * np.log(np.mean(rest**2))], atol=1e-6)
    assert np.allclose(found.bse[:3], np.sqrt(np.diag(np.linalg.inv(X.T @ X)) * np.mean(rest**2)), rtol=1e-5)
    assert made.data.xnames == ["b[0]", "b[1]", "b[2]", "t"]
