"""least_squares, root and ode in SciPy itself, against closed forms and published values."""

import numpy as np
import pytest
from scipy import optimize
from scipy.integrate import solve_ivp

import matcalc as mc
from matcalc import solvers


def test_least_squares_of_two_variables():
    t = np.linspace(0, 3, 20)
    data = {"t": t, "y": 2.5 * np.exp(-1.3 * t)}
    made = solvers.least_squares("a*exp(-b*t) - y", ["a", "b"], data, start={"a": 1, "b": 1}, target="numpy",
                                 declarations="a: scalar; b: scalar; t: vector(n); y: vector(n)")  # fmt: skip
    found = optimize.least_squares(made.fun, made.x0, jac=made.jac, method="lm")
    assert np.allclose([made.unpack(found.x)[name] for name in ("a", "b")], [2.5, 1.3])


def test_root_of_a_matrix_equation():
    C = np.array([[4.0, 1.0], [2.0, 3.0]])
    made = solvers.root("X*X - C", "X", {"C": C}, start={"X": np.eye(2)}, target="numpy",
                        declarations="X: matrix(n, n); C: matrix(n, n)")  # fmt: skip
    found = optimize.root(made.fun, made.x0, jac=made.jac)
    X = made.unpack(found.x)["X"]
    assert found.success
    assert np.allclose(X @ X, C)


# Robertson's reaction at t = 40: Hairer & Wanner, Solving Ordinary Differential Equations II, section IV.10, and the
# documentation of LSODE (Hindmarsh 1983), which prints these values.
ROBERTSON = "[-0.04*c[0] + 1e4*c[1]*c[2]; 0.04*c[0] - 1e4*c[1]*c[2] - 3e7*c[1]^2; 3e7*c[1]^2]"


@pytest.mark.whole
@pytest.mark.parametrize("method", ["BDF", pytest.param("Radau", marks=pytest.mark.whole)])
def test_robertson(method):
    made = solvers.ode(ROBERTSON, "c", start={"c": [1, 0, 0]}, declarations="c: vector(3)", target="numpy")
    found = solve_ivp(made.fun, (0, 40), made.y0, method, jac=made.jac, rtol=1e-8, atol=1e-12)
    assert np.allclose(found.y[:, -1], [7.158e-1, 9.185e-6, 2.842e-1], rtol=2e-4)


@pytest.mark.whole
def test_stiff_van_der_pol():
    made = solvers.ode("[z[1]; mu*(1 - z[0]^2)*z[1] - z[0]]", "z", {"mu": 1000}, start={"z": [2, 0]},
                       declarations="z: vector(2); mu: scalar", target="numpy")  # fmt: skip
    assert np.allclose(made.jac(0.0, [2.0, 0.5]), [[0, 1], [-2 * 1000 * 2 * 0.5 - 1, 1000 * (1 - 4)]])
    found = solve_ivp(made.fun, (0, 2000), made.y0, "Radau", jac=made.jac, rtol=1e-8, atol=1e-8)
    assert abs(found.y[0, -1] - 1.706167732170469) < 1e-4  # Mazzia & Magherini, Test Set for IVP Solvers, II-11


def test_time_is_an_argument_where_the_formula_has_it():
    made = solvers.ode("-y + t*b", "y", {"b": [1.0, 2.0]}, start={"y": [0, 0]}, target="numpy",
                       declarations="y: vector(2); b: vector(2); t: scalar")  # fmt: skip
    found = solve_ivp(made.fun, (0, 2), made.y0, "BDF", jac=made.jac, rtol=1e-10, atol=1e-12)
    assert np.allclose(found.y[:, -1], (2 - 1 + np.exp(-2)) * np.array([1, 2]), atol=1e-7)


def test_counts_that_differ_are_refused():
    with pytest.raises(mc.ShapeError, match="1 equations for 2 unknowns"):
        solvers.root("sum(x)", "x", start={"x": [1, 2]}, target="numpy")
    with pytest.raises(mc.ShapeError, match="1 derivatives for 2 entries"):
        solvers.ode("sum(x)", "x", start={"x": [1, 2]}, target="numpy")
