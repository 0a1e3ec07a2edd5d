"""solvers.casadi in CasADi itself: its derivatives, and Ipopt with the exact Hessian on known answers."""

import numpy as np
import pytest

casadi = pytest.importorskip("casadi", reason="the extra [solvers] is not installed")

from solvers import logistic  # noqa: E402

from matcalc import solvers  # noqa: E402

QUIET = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-10}


def objective(target="numpy"):
    start = {"w": np.zeros(4)}
    return solvers.casadi(
        logistic.FORMULA, "w", logistic.DATA, start, declarations=logistic.DECLARATIONS, target=target
    )


def test_two_derivatives_of_a_scalar():
    f, x, at = objective(), casadi.MX.sym("x", 4), np.array([0.1, 0.2, -0.3, 0.4])
    assert isinstance(f, casadi.Function)
    H, g = casadi.hessian(f(x), x)
    both = casadi.Function("both", [x], [f(x), g, H])
    value, slope, curvature = (part.full() for part in both(at))
    assert np.isclose(value.item(), logistic.value(at), rtol=1e-13)
    assert np.allclose(slope.ravel(), logistic.gradient(at), rtol=1e-12)
    assert np.allclose(curvature, logistic.hessian(at), rtol=1e-12)


@pytest.mark.whole
def test_two_derivatives_of_several_values():
    """Columns of CasADi, rows of NumPy: a matrix of values in a matrix of variables, against differences."""
    A = np.array([[1.0, 2.0], [0.5, -1.0], [0.3, 0.7]])
    f = solvers.casadi("tanh(A*X).^2", "X", {"A": A}, sizes={"k": 2}, target="numpy", declarations="X: matrix(n, k)")
    x, lam = casadi.MX.sym("x", 4), np.array([0.3, -1.0, 2.0, 0.5, 0.25, -0.75])
    at = np.array([0.2, -0.4, 0.6, 0.1])

    def by_hand(x):
        return (np.tanh(A @ x.reshape(2, 2)) ** 2).ravel()

    J = casadi.jacobian(f(x), x)
    total = casadi.hessian(casadi.dot(lam, f(x)), x)[0]
    call = casadi.Function("call", [x], [f(x), J, total])
    value, jacobian, curvature = (part.full() for part in call(at))
    step = 1e-5 * np.eye(4)
    slopes = np.array([(by_hand(at + e) - by_hand(at - e)) / 2e-5 for e in step])
    assert np.allclose(value.ravel(), by_hand(at), rtol=1e-13)
    assert np.allclose(jacobian, slopes.T, atol=1e-8)
    slope = casadi.Function("slope", [x], [J])
    bends = np.array([((slope(at + e) - slope(at - e)) / 2e-5).full().T @ lam for e in step])
    assert np.allclose(curvature, bends, atol=1e-8)


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.whole
def test_ipopt_needs_fewer_steps_with_the_exact_hessian(target):
    f, x, steps = objective(target), casadi.MX.sym("x", 4), []
    for options in (QUIET, {**QUIET, "ipopt.hessian_approximation": "limited-memory"}):
        solver = casadi.nlpsol("solver", "ipopt", {"x": x, "f": f(x)}, options)
        found = solver(x0=f.x0)
        assert np.allclose(found["x"].full().ravel(), logistic.solution(), atol=1e-7)
        steps.append(solver.stats()["iter_count"])
    assert 2 * steps[0] < steps[1], steps


@pytest.mark.whole
def test_ipopt_with_constraints_of_formulas():
    """Problem 71 of Hock and Schittkowski (1981): the minimum is 17.0140173."""
    let, x = "x: vector(4)", casadi.MX.sym("x", 4)
    f = solvers.casadi("x[0]*x[3]*(x[0] + x[1] + x[2]) + x[2]", "x", declarations=let, target="numpy")
    g = solvers.casadi("[prod(x); norm2(x)^2]", "x", declarations=let, target="numpy", name="g")
    solver = casadi.nlpsol("solver", "ipopt", {"x": x, "f": f(x), "g": g(x)}, QUIET)
    found = solver(x0=[1, 5, 5, 1], lbx=1, ubx=5, lbg=[25, 40], ubg=[np.inf, 40])
    assert np.isclose(found["f"].full().item(), 17.0140173, rtol=1e-7)
    assert solver.stats()["iter_count"] < 15
