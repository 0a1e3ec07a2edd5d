"""solvers.nlopt: the function itself, and NLopt's algorithms on a known answer, with the gradient and without."""

import numpy as np
import pytest
from solvers import logistic

from matcalc import solvers


def made(target="numpy"):
    start = {"w": np.zeros(4)}
    return solvers.nlopt(logistic.FORMULA, "w", logistic.DATA, start, declarations=logistic.DECLARATIONS, target=target)


def test_the_gradient_is_written_where_there_is_room():
    g, x = made(), np.array([0.3, -0.2, 0.5, 1.0])
    x.flags.writeable = False  # as NLopt calls it
    grad = np.full(4, np.nan)
    assert np.isclose(g(x, grad), logistic.value(x), rtol=1e-13)
    assert np.allclose(grad, logistic.gradient(x), rtol=1e-12)
    assert np.isclose(g(x, np.zeros(0)), logistic.value(x), rtol=1e-13)
    assert type(g(x, grad)) is float
    assert (g.dim, g.x0.tolist(), g.unpack(x)["w"].tolist()) == (4, [0.0] * 4, x.tolist())


@pytest.mark.whole
def test_the_known_answer_in_fewer_evaluations():
    nlopt, g, counts = pytest.importorskip("nlopt", reason="the extra [solvers] is not installed"), made("numba"), {}
    for algorithm in ("LD_LBFGS", "LD_TNEWTON", "LD_SLSQP", "LN_SBPLX"):
        opt = nlopt.opt(getattr(nlopt, algorithm), g.dim)
        opt.set_min_objective(g)
        opt.set_xtol_rel(1e-10)
        found = opt.optimize(g.x0)
        assert np.allclose(found, logistic.solution(), atol=1e-5), algorithm
        counts[algorithm] = opt.get_numevals()
    assert 10 * max(counts["LD_LBFGS"], counts["LD_SLSQP"]) < counts["LN_SBPLX"], counts


@pytest.mark.whole
def test_constraints_are_formulas_too():
    """The point of an ellipsoid that is extreme in a plane's normal direction: x = -inv(A)*c / sqrt(c'*inv(A)*c)."""
    nlopt = pytest.importorskip("nlopt", reason="the extra [solvers] is not installed")
    A, c = np.diag([1.0, 4.0, 9.0]) + 0.5, np.array([1.0, -2.0, 0.5])
    objective = solvers.nlopt("c'*x", "x", {"c": c}, target="numpy")
    inside = solvers.nlopt("x'*A*x - 1", "x", {"A": A}, target="numpy")
    opt = nlopt.opt(nlopt.LD_SLSQP, 3)
    opt.set_min_objective(objective)
    opt.add_inequality_constraint(inside, 1e-10)
    opt.set_xtol_rel(1e-12)
    z = np.linalg.solve(A, c)
    assert np.allclose(opt.optimize(np.full(3, 0.1)), -z / np.sqrt(c @ z), atol=1e-6)
