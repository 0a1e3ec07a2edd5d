"""Objectives from totals of the rows: NumPy's fits, reported in the plan, and used only where that is cheaper."""

import numpy as np
import pytest

import matcalc as mc
from matcalc import solvers
from matcalc.solvers import objective_from_statistics

pytestmark = pytest.mark.whole

LET = "X: matrix(m, n); y: vector(m); w: vector(n); c: scalar"
RNG = np.random.default_rng(4)
X = RNG.standard_normal((3000, 5))
Y = X @ np.arange(5.0) + RNG.standard_normal(3000)
START = {"w": np.zeros(5)}
RIDGE = "norm2(X*w - y)^2 + c*w'*w"


@pytest.fixture(autouse=True)
def every_call_is_long(monkeypatch):
    monkeypatch.setattr(objective_from_statistics, "LONG", 0)


def plan(f, data, start=START, let=LET):
    return solvers.problem(f, list(start), data, start=start, declarations=let).plan.splitlines()[0]


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "trust-ncg", "lm"])
def test_a_fit_from_totals(method):
    data = {"X": X, "y": Y, "c": 2.0}
    found = mc.minimize(RIDGE, "w", START, data, method, declarations=LET, tol=1e-12)
    truth = np.linalg.solve(X.T @ X + 2 * np.eye(5), X.T @ Y)
    assert np.allclose(found.x["w"], truth, rtol=1e-6)
    assert found.fun == pytest.approx(np.sum((X @ truth - Y) ** 2) + 2 * truth @ truth, rel=1e-12)
    assert plan(RIDGE, data) == "computed once from X, y, in 1 pass:"


def test_a_fit_without_residuals_ends_at_zero():
    """The value is the rest of totals that cancel, so it is computed from the rows."""
    truth = np.arange(5.0)
    found = mc.minimize("norm2(X*w - y)^2", "w", START, {"X": X, "y": X @ truth}, declarations=LET, tol=1e-14)
    assert found.fun == pytest.approx(np.sum((X @ (found.x["w"] - truth)) ** 2), rel=1e-6)
    assert np.allclose(found.x["w"], truth, atol=1e-7)


def test_where_rows_stay():
    assert plan("sum(exp(X*w) - y.*(X*w))", {"X": X, "y": Y}).startswith("inputs:")
    wide = {"X": RNG.standard_normal((6, 5)), "y": np.ones(6), "c": 1.0}
    assert not plan(RIDGE, wide).startswith("computed once from X, y, in")
    sparse = pytest.importorskip("scipy.sparse")
    let = LET.replace("matrix(m, n)", "matrix(m, n) sparse")
    assert plan("norm2(X*w - y)^2", {"X": sparse.csr_array(X), "y": Y}, let=let).startswith("inputs:")


def test_several_variables_and_a_size_of_both():
    """A size that a variable has is not the size of rows of data."""
    start = {"w": np.zeros(5), "c": 0.5}
    found = mc.minimize(
        "norm2(X*w - y)^2 + (c - 1)^2", ["w", "c"], start, {"X": X, "y": Y}, declarations=LET, tol=1e-14
    )
    assert found.x["c"] == pytest.approx(1)
    assert np.allclose(found.x["w"], np.linalg.lstsq(X, Y)[0], rtol=1e-5)
    data = {"X": X, "w": np.zeros(5)}
    assert not plan("norm2(X*w - y)^2", data, {"y": Y}).startswith("computed once from X, y, in")
