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


SPARSE = {
    "chain": (
        "sum((1 - x[:-1]).^2 + 100*(x[1:] - x[:-1].^2).^2)",
        "x[:-2].*x[1:-1] + sin(x[2:])",
        lambda x: casadi.sum1((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2),
        lambda x: x[:-2] * x[1:-1] + casadi.sin(x[2:]),
    ),
    "entries alone": (
        "sum(exp(x) - x.^3)",
        "x.^2",
        lambda x: casadi.sum1(casadi.exp(x) - x**3),
        lambda x: x**2,
    ),
    "linear": ("sum(x)", "x[1:] - x[:-1]", casadi.sum1, lambda x: x[1:] - x[:-1]),
    "dense": ("norm2(x)^4", "[sum(x)^3; prod(x)]", lambda x: casadi.sumsqr(x) ** 2, None),
}


@pytest.mark.parametrize("name", ["chain", *(pytest.param(n, marks=pytest.mark.whole) for n in SPARSE if n != "chain")])
def test_sparse_derivatives_have_the_patterns_of_casadi(name):
    """Those of CasADi's own expressions: the Jacobian, the Hessian of the Lagrangian, and their values."""
    n, (objective, constraints, own, ours) = 7, SPARSE[name]
    given = {"declarations": "x: vector(n)", "sizes": {"n": n}, "sparse": True, "target": "numpy"}
    f, g = (solvers.casadi(text, "x", **given, name=letter) for text, letter in ((objective, "f"), (constraints, "g")))
    x, sx = casadi.MX.sym("x", n), casadi.SX.sym("x", n)
    values = ours(sx) if ours else casadi.vertcat(casadi.sum1(sx) ** 3, casadi.det(casadi.diag(sx)))
    weights = np.linspace(-1, 2, values.shape[0])
    found = casadi.hessian(f(x) + casadi.dot(weights, g(x)), x)[0], casadi.jacobian(g(x), x)
    truth = casadi.hessian(own(sx) + casadi.dot(weights, values), sx)[0], casadi.jacobian(values, sx)
    at = np.random.default_rng(3).uniform(-1, 1, n)
    for mine, his in zip(casadi.Function("m", [x], found)(at), casadi.Function("h", [sx], truth)(at), strict=True):
        assert mine.sparsity() == his.sparsity()
        assert np.allclose(mine.full(), his.full(), rtol=1e-11, atol=1e-12)


@pytest.mark.whole
def test_sparse_second_derivatives_in_several_variables():
    """A matrix, a number and a symmetric matrix: the same as without `sparse`."""
    text = "[vec(X[1:, :].*X[:-1, :].^2); c^2*X[0, 0]; c*logdet(S); S[0, 1]*X[1, 1]]"
    declarations = "X: matrix(m, n); c: scalar; S: matrix(p, p) symmetric"
    sizes, lam = {"m": 3, "n": 2, "p": 2}, np.linspace(-1, 1, 7)
    made = []
    for sparse in (True, False):
        f = solvers.casadi(text, ["X", "c", "S"], sizes=sizes, declarations=declarations, target="numpy", sparse=sparse)
        x = casadi.MX.sym("x", 11)
        H = casadi.hessian(casadi.dot(lam, f(x)), x)[0]
        at = f.pack({"X": np.arange(6.0).reshape(3, 2) / 5, "c": 1.5, "S": [[2, 0.3], [0.3, 1]]})
        made.append(casadi.Function("H", [x], [H, casadi.jacobian(f(x), x)])(at))
    (sparse, slopes), (dense, others) = made
    assert sparse.sparsity().nnz() < dense.sparsity().nnz()
    assert np.allclose(sparse.full(), dense.full(), rtol=1e-12)
    assert np.allclose(slopes.full(), others.full(), rtol=1e-12)


@pytest.mark.whole
def test_ipopt_on_a_long_chain():
    """At 2,000 variables, which would take seconds for each dense factorisation; CasADi's own problem agrees."""
    n, (objective, constraints, own, ours) = 2_000, SPARSE["chain"]
    given = {"declarations": "x: vector(n)", "sizes": {"n": n}, "sparse": True}
    f, g = (solvers.casadi(text, "x", **given, name=letter) for text, letter in ((objective, "f"), (constraints, "g")))
    x, sx, ends = casadi.MX.sym("x", n), casadi.SX.sym("x", n), []
    for problem in ({"x": x, "f": f(x), "g": g(x)}, {"x": sx, "f": own(sx), "g": ours(sx)}):
        solver = casadi.nlpsol("solver", "ipopt", problem, QUIET)
        found = solver(x0=np.full(n, -1.0), lbg=-10, ubg=0.5)
        ends.append((float(found["f"]), solver.stats()["iter_count"]))
    assert np.isclose(ends[0][0], ends[1][0], rtol=1e-8)
    assert ends[0][1] == ends[1][1]
