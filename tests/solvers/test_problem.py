"""solvers.problem: values, derivatives by differences, packing, constraints, and bad input."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint, approx_fprime
from scipy.sparse.linalg import cg

import matcalc as mc
from matcalc import solvers

LET = "U: matrix(m, k); V: matrix(n, k); M: matrix(m, n); lam: scalar"
LOSS = "norm2(M - U*V')^2 + lam*norm2(U)^2 + sum(U)^3"
RNG = np.random.default_rng(3)
DATA = {"M": RNG.standard_normal((3, 4)), "lam": 0.3}
START = {"U": RNG.standard_normal((3, 2)), "V": RNG.standard_normal((4, 2))}


def by_hand(x):
    U, V = x[:6].reshape(3, 2), x[6:].reshape(4, 2)
    return np.sum((DATA["M"] - U @ V.T) ** 2) + 0.3 * np.sum(U**2) + np.sum(U) ** 3


def gradient_by_hand(f, x):
    return np.array([(f(x + e) - f(x - e)) / 2e-5 for e in 1e-5 * np.eye(len(x))])


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_derivatives_are_those_of_differences(target):
    made = solvers.problem(LOSS, ["U", "V"], DATA, start=START, declarations=LET, target=target)
    x = made.x0
    assert np.isclose(made.fun(x), by_hand(x), rtol=1e-13)
    assert np.allclose(made.jac(x), gradient_by_hand(by_hand, x), rtol=1e-6, atol=1e-6)
    H = np.array([(made.jac(x + e) - made.jac(x - e)) / 2e-5 for e in 1e-5 * np.eye(14)])
    assert np.allclose(made.hess(x), H, atol=1e-6)
    v = np.arange(14) % 3
    assert np.allclose(made.hessp(x, v.astype(np.int8)), H @ v, atol=1e-6)
    operator = made.operator(x)
    assert np.allclose(operator @ v, H @ v, atol=1e-6)
    assert np.allclose(operator.T @ v, H @ v, atol=1e-6)
    assert np.allclose(operator.diagonal(), np.diag(H), atol=1e-6)


def test_a_gradient_kept_by_the_solver_does_not_change():
    made = solvers.problem("norm2(x)^4", "x", sizes={"m": 2}, declarations="x: vector(m)", target="numpy")
    first = made.jac([1.0, 2.0])
    kept = first.copy()
    first[:] = 7.0
    assert np.array_equal(made.jac([1.0, 2.0]), kept)
    assert not np.array_equal(made.jac([1.0, 3.0]), kept)


def test_the_diagonal_is_a_preconditioner():
    scales = np.logspace(0, 5, 30)
    made = solvers.problem("sum(c.*x.^2)/2 + sum(x)^2/2", "x", {"c": scales}, declarations="x: vector(n); c: vector(n)",
                           target="numpy")  # fmt: skip
    operator, b = made.operator(np.zeros(30)), np.ones(30)
    found, status = cg(operator, b, M=np.diag(1 / operator.diagonal()), rtol=1e-10, maxiter=40)
    assert status == 0
    assert np.allclose((np.diag(scales) + 1) @ found, b, atol=1e-6)


def test_packing_is_row_major_and_in_order():
    packing = solvers.Packing.of({"b": 7.0, "A": [[1, 2], [3, 4]]}, ["A", "b"])
    x = packing.pack({"b": 7.0, "A": [[1, 2], [3, 4]]})
    assert x.tolist() == [1.0, 2.0, 3.0, 4.0, 7.0]
    assert packing.unpack(x)["A"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="does not hold 5"):
        packing.unpack(np.zeros(4))


CONSTRAINED = "sum(w) == 1; w >= 0; -1 <= 2*w[0] <= 1\nW*w < c; norm2(w)^2 + exp(w[1]) <= 4; w.*w == w[0]"


@pytest.mark.whole
def test_constraints_are_told_apart():
    W, c = RNG.standard_normal((2, 3)), np.array([1.0, 2.0])
    made = solvers.problem("norm2(w)^2", "w", {"W": W, "c": c}, CONSTRAINED, {"w": (None, [9.0, 0.5, np.inf])},
                           target="numpy")  # fmt: skip
    assert made.bounds.lb.tolist() == [0, 0, 0]
    assert made.bounds.ub.tolist() == [0.5, 0.5, np.inf]
    total, rows, norm, entries = made.constraints
    assert isinstance(total, LinearConstraint)
    assert (total.A.tolist(), total.lb.tolist(), total.ub.tolist()) == ([[1, 1, 1]], [1], [1])
    assert isinstance(rows, LinearConstraint)
    assert np.allclose(rows.A, W)
    assert np.allclose(rows.ub, c)
    assert np.all(np.isneginf(rows.lb))
    x, v = np.array([0.3, -0.7, 1.1]), np.array([0.5, -2.0, 3.0])
    assert isinstance(norm, NonlinearConstraint)
    assert np.isclose(norm.fun(x)[0] - norm.ub, x @ x + np.exp(x[1]) - 4)
    assert np.allclose(norm.jac(x), 2 * x + [0, np.exp(x[1]), 0])
    assert np.allclose(norm.hess(x, [2.0]), 2 * np.diag([2, 2 + np.exp(x[1]), 2]))
    assert np.allclose(entries.fun(x), x * x - x[0])
    assert np.allclose(entries.jac(x), np.diag(2 * x) - np.outer(np.ones(3), [1, 0, 0]))
    assert np.allclose(entries.hess(x, v), np.diag(2 * v))
    assert np.allclose(approx_fprime(x, lambda x: entries.jac(x).T @ v), np.diag(2 * v), atol=1e-5)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"wrt": "z"}, mc.UnknownName, "z"),
        ({"data": {"X": np.eye(2)}}, ValueError, "data gives no value for y"),
        ({"data": {"X": np.eye(2), "y": np.ones(2), "q": 1}}, mc.UnknownName, "gives a value for q"),
        ({"data": {"X": np.eye(2), "y": np.ones(3)}}, mc.ShapeError, "must have shape"),
        ({"start": {"w": np.ones(3)}}, mc.ShapeError, "must have shape"),
        ({"start": {"w": [1.0, np.nan]}}, ValueError, "start of w is not finite"),
        ({"f": "X*w - y"}, mc.ShapeError, "objective has shape"),
        ({"constraints": "sum(w)"}, mc.ParseError, "no comparison"),
        ({"constraints": "w >= 0; sum(w) =="}, mc.ParseError, "no comparison"),
        ({"constraints": "w != 0"}, mc.ParseError, "not !="),
        ({"constraints": "sum(y) <= 3"}, ValueError, "contains no variable"),
        ({"constraints": "w >= v3"}, ValueError, "no value for v3"),
        ({"constraints": "w >= 1; w <= 0"}, ValueError, "leave no value"),
        ({"bounds": {"X": (0, 1)}}, ValueError, "X, which is not in wrt"),
        ({"bounds": {"w": 3}}, ValueError, "pair"),
        ({"bounds": [(0, 1)]}, ValueError, "1 pairs for 2"),
        ({"sizes": {"q": 2}}, mc.UnknownName, "q is not a size"),
        ({"f": "norm2(w)^2", "data": {}}, ValueError, "size m of w is not known"),
    ],
)
def test_bad_input_is_one_sentence(change, kind, message):
    asked = {"f": "norm2(X*w - y)^2", "wrt": "w", "data": {"X": np.eye(2), "y": np.ones(2)}, **change}
    with pytest.raises(kind, match=message):
        solvers.problem(**asked, target="numpy")


# Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981): the numbers, starts and optimal values.
SCHITTKOWSKI = [
    ("6", "(1 - x[0])^2", "10*(x[1] - x[0]^2) == 0", [-1.2, 1.0], 0.0),
    ("7", "log(1 + x[0]^2) - x[1]", "(1 + x[0]^2)^2 + x[1]^2 == 4", [2.0, 2.0], -np.sqrt(3)),
    ("21", "0.01*x[0]^2 + x[1]^2 - 100", "10*x[0] - x[1] >= 10; 2 <= x[0] <= 50; -50 <= x <= 50", [2.0, -1.0], -99.96),
    ("28", "(x[0] + x[1])^2 + (x[1] + x[2])^2", "x[0] + 2*x[1] + 3*x[2] == 1", [-4.0, 1.0, 1.0], 0.0),
    ("35", "9 - 8*x[0] - 6*x[1] - 4*x[2] + 2*x[0]^2 + 2*x[1]^2 + x[2]^2 + 2*x[0]*x[1] + 2*x[0]*x[2]",
     "x[0] + x[1] + 2*x[2] <= 3; x >= 0", [0.5, 0.5, 0.5], 1 / 9),
    ("39", "-x[0]", "x[1] - x[0]^3 - x[2]^2 == 0; x[0]^2 - x[1] - x[3]^2 == 0", [2.0, 2.0, 2.0, 2.0], -1.0),
    ("48", "(x[0] - 1)^2 + (x[1] - x[2])^2 + (x[3] - x[4])^2", "sum(x) == 5; x[2] - 2*(x[3] + x[4]) == -3",
     [3.0, 5.0, -3.0, 2.0, -2.0], 0.0),
    ("71", "x[0]*x[3]*(x[0] + x[1] + x[2]) + x[2]", "prod(x) >= 25; norm2(x)^2 == 40; 1 <= x <= 5",
     [1.0, 5.0, 5.0, 1.0], 17.0140173),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")
@pytest.mark.sampled(16)
@pytest.mark.parametrize("method", ["SLSQP", pytest.param("trust-constr", marks=pytest.mark.whole)])
@pytest.mark.parametrize(("number", "f", "constraints", "start", "least"), SCHITTKOWSKI, ids=lambda v: str(v)[:3])
def test_hock_schittkowski(number, f, constraints, start, least, method):
    options = {"ftol": 1e-12, "maxiter": 500} if method == "SLSQP" else {"gtol": 1e-9, "xtol": 1e-10, "maxiter": 2000}
    found = mc.minimize(f, "x", {"x": start}, {}, method, constraints=constraints, options=options, target="numpy",
                        declarations=f"x: vector({len(start)})")  # fmt: skip
    close = 1e-6 if method == "SLSQP" else 1e-5  # trust-constr stops 6.4e-6 above in 35, by any derivatives
    assert abs(found.fun - least) <= close * max(1, abs(least)), found.message
