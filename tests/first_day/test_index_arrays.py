"""Matrices of indices as data, `X[J]`, `X[J[i, k], :]`, `x[E[e, 0]] - x[E[e, 1]]`: values and derivatives.

The truth are NumPy loops; derivatives are complex steps of these, second ones differences of complex steps. Sizes are
enumerated: usual, single, equal and empty ones.
"""

import functools
import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from c_files import CCall, why_not
from first_day.index_cases import gradient

import matcalc as mc
from matcalc.errors import NotSupported, ShapeError


def over(J):
    return np.ndindex(*J.shape)


def spread(X, J, W):
    """Return the weighted squared distances of points to their neighbours."""
    return sum(W[i, k] * np.sum((X[i] - X[J[i, k]]) ** 2) for i, k in over(J))


def documents(X, J, w):
    """Return a loss of the sums over words of documents."""
    found = 0.0
    for row in J:
        score = sum((X[k] @ w for k in row), 0.0)
        found = found + np.log1p(np.exp(-score))
    return found


def areas(X, J):
    """Return the squared doubled areas of triangles in the plane."""
    found = 0.0
    for a, b, c in J:
        u, v = X[b] - X[a], X[c] - X[a]
        found = found + (u[0] * v[1] - u[1] * v[0]) ** 2
    return found


def totals(x, J):
    return sum(np.exp(sum((x[k] for k in row), 0.0)) for row in J)


CASES = {
    "entries": ("sum(x[J].^3)", "x", "x: vector(m); J: index(p, q)", lambda x, J: sum(x[J[at]] ** 3 for at in over(J))),
    "weighted": (
        "sum{i,j: W[i,j]*sin(x[J[i,j]])}", "x", "x: vector(m); W: matrix(p, q); J: index(p, q)",
        lambda x, W, J: sum(W[at] * np.sin(x[J[at]]) for at in over(J)),
    ),
    "neighbours": (
        "sum{i,j: W[i,j]*norm2(X[i,:] - X[J[i,j],:])^2}", "X",
        "X: matrix(m, n); J: index(m, q); W: matrix(m, q)", spread,
    ),
    "edges": (
        "sum{e: (x[E[e,0]] - x[E[e,1]])^4}", "x", "x: vector(m); E: index(p, 2)",
        lambda x, E: sum((x[a] - x[b]) ** 4 for a, b in E),
    ),
    "edges of points": (
        "norm2(X[E[:,0],:] - X[E[:,1],:])^2", "X", "X: matrix(m, n); E: index(p, 2)",
        lambda X, E: sum(np.sum((X[a] - X[b]) ** 2) for a, b in E),
    ),
    "triangles": (
        "sum{t: ((X[J[t,1],0] - X[J[t,0],0])*(X[J[t,2],1] - X[J[t,0],1])"
        " - (X[J[t,1],1] - X[J[t,0],1])*(X[J[t,2],0] - X[J[t,0],0]))^2}",
        "X", "X: matrix(m, 2); J: index(p, 3)", areas,
    ),
    "documents": (
        "sum{d: softplus(-sum{t,k: X[J[d,t],k]*w[k]})}", "X",
        "X: matrix(m, n); J: index(p, q); w: vector(n)", documents,
    ),
    "rows of data": ("sum(exp(sum(x[J], axis=1)))", "x", "x: vector(m); J: index(p, q)", totals),
    "pairs": (
        "sum(exp(X[J, K]))", "X", "X: matrix(m, n); J: index(p, q); K: index(p, q)",
        lambda X, J, K: sum(np.exp(X[J[at], K[at]]) for at in over(J)),
    ),
    "other order": (
        "sum{i,j: W[i,j]*x[J[j,i]]^2}", "x", "x: vector(m); W: matrix(p, q); J: index(q, p)",
        lambda x, W, J: sum(W[i, j] * x[J[j, i]] ** 2 for i, j in over(W)),
    ),
    "without the first": (
        "sum(x[J[1:, :]].^2) + x[J[0, 0]]", "x", "x: vector(m); J: index(p + 1, q + 1)",
        lambda x, J: sum(x[J[at]] ** 2 for at in over(J) if at[0]) + x[J[0, 0]],
    ),
    "nested": (
        "sum(x[g[J]].^2)", "x", "x: vector(m); g: index(n); J: index(p, q)",
        lambda x, g, J: sum(x[g[J[at]]] ** 2 for at in over(J)),
    ),
    "three axes": (
        "sum{i,j,k: T[i,j,k]*x[J[i,j,k]]^2}", "x", "x: vector(m); T: tensor(p, q, 2); J: index(p, q, 2)",
        lambda x, T, J: sum(T[at] * x[J[at]] ** 2 for at in over(J)),
    ),
    "columns": (
        "sum((X[:, J[:,0]].*X[:, J[:,1]])*r)", "X", "X: matrix(m, n); J: index(p, 2); r: vector(p)",
        lambda X, J, r: sum(r[e] * (X[:, J[e, 0]] @ X[:, J[e, 1]]) for e in range(len(J))),
    ),
    "link": (
        "sum{i,j: softplus((U*V')[i, J[i,j]])}", "U", "U: matrix(p, n); V: matrix(m, n); J: index(p, q)",
        lambda U, V, J: sum(np.log1p(np.exp(U[i] @ V[J[i, j]])) for i, j in over(J)),
    ),
}  # fmt: skip
SIZES = {
    "usual": {"m": 4, "n": 3, "p": 5, "q": 2},
    "equal": dict.fromkeys("mnpq", 3),
    "single": dict.fromkeys("mnpq", 1),
    "no rows": {"m": 2, "n": 2, "p": 0, "q": 2},
    "no columns": {"m": 2, "n": 2, "p": 3, "q": 0},
}
AXES = {"pairs": {"J": "m", "K": "n"}, "nested": {"g": "m", "J": "n"}, "columns": {"J": "n"}}
"""The lengths of the axes that indices refer to, if it is not m."""


def data_of(case, sizes):
    """Return the arguments of a case, by name, of the declared shapes."""
    sizes, found = SIZES[sizes], {}
    for seed, declared in enumerate(CASES[case][2].split(";")):
        name, kind = (part.strip() for part in declared.split(":"))
        shape = tuple(eval(size, {}, sizes) for size in kind.partition("(")[2].partition(")")[0].split(","))
        rng = np.random.default_rng([seed, *case.encode()])
        length = sizes[AXES.get(case, {}).get(name, "m")]
        found[name] = rng.integers(0, length, shape) if kind.startswith("index") else rng.standard_normal(shape)
    return found


def judge(case, sizes, run):
    _, wrt, _, value = CASES[case]
    data = data_of(case, sizes)
    v = np.random.default_rng(9).standard_normal(data[wrt].shape)
    ends = [gradient(value, {**data, wrt: data[wrt] + h * v}, wrt) for h in (1e-5, -1e-5)]
    wanted = value(**data), gradient(value, data, wrt), (ends[0] - ends[1]) / 2e-5
    found = run(data, v)
    for what, got, want, bound in zip(("value", "gradient", "hvp"), found, wanted, (1e-12, 1e-11, 1e-6), strict=True):
        np.testing.assert_allclose(got, want, rtol=bound, atol=bound * 10, err_msg=f"{case}, {sizes}: {what}")


@functools.cache
def derived(case):
    formula, wrt, declarations, _ = CASES[case]
    f = mc.expression(formula, declarations)
    return f, f.gradient(wrt), f.hvp(wrt)


@functools.cache
def compiled(case, target):
    return mc.compile(derived(case), target=target)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_plain(case):
    def run(data, v):
        f, g, h = derived(case)
        return f(data), g(data), h({**data, "v": v})

    for sizes in SIZES:
        judge(case, sizes, run)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_compiled(case, target):
    function = compiled(case, target)
    for sizes in SIZES:
        judge(case, sizes, lambda data, v: function({**data, "v": v}))


@pytest.mark.whole
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "runs")
@pytest.mark.parametrize("case", CASES)
def test_c(case):
    function = CCall(mc.compile(derived(case), target="c"))
    for sizes in SIZES:
        judge(case, sizes, lambda data, v: function(**data, v=v))


@pytest.mark.whole
@pytest.mark.parametrize("case", CASES)
def test_hessian(case):
    """The Hessian of rank two or four times a direction is the product of the Hessian and it."""
    formula, wrt, declarations, value = CASES[case]
    data = data_of(case, "usual")
    found = mc.expression(formula, declarations).hessian(wrt)(data)
    units = np.eye(data[wrt].size).reshape(-1, *data[wrt].shape)
    ends = [[gradient(value, {**data, wrt: data[wrt] + h * v}, wrt) for v in units] for h in (1e-5, -1e-5)]
    wanted = (np.array(ends[0]) - np.array(ends[1])) / 2e-5
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-6, atol=1e-5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES)
def test_printed_reads_back(case):
    for e in derived(case):
        assert mc.expression(str(e), e.declarations).node is e.node, str(e)
    e = derived(case)[0]
    assert mc.expression(e.latex(), e.declarations, dialect="latex").node is e.node, e.latex()


PRINTED = {
    "X[J]": "{i,j,k: X[J[i,j], k]}", "x[J]": "{i,j: x[J[i,j]]}", "x[E[:, 0]]": "x[E[:, 0]]",
    "{i,j: W[i,j]*x[J[i,j]]}": "{i,j: W[i,j]*x[J[i,j]]}", "sum(x[J])": "{: sum{i,j: x[J[i,j]]}}",
    "X[J, J]": "{i,j: X[J[i,j], J[i,j]]}",
}  # fmt: skip
LET = "X: matrix(m, n); x: vector(m); J: index(p, q); E: index(N, 2); W: matrix(p, q)"


@pytest.mark.parametrize("formula", PRINTED)
def test_printed(formula):
    assert str(mc.expression(formula, LET)) == PRINTED[formula]


# ---- traced functions, LaTeX


def neighbours(X, J, W):
    return np.sum(W * np.sum((X[:, None, :] - X[J]) ** 2, axis=2))


def in_a_loop(X, J, W):
    found = 0.0
    for i in range(J.shape[0]):
        for k in range(J.shape[1]):
            found = found + W[i, k] * np.sum((X[i] - X[J[i, k]]) ** 2)
    return found


def by_columns(X, J, W):
    found = 0.0
    for k in range(J.shape[1]):
        found = found + W[:, k] @ np.sum((X - X[J[:, k]]) ** 2, axis=1)
    return found


@pytest.mark.parametrize("function", [neighbours, in_a_loop, by_columns])
def test_traced(function):
    declarations = CASES["neighbours"][2]
    f = mc.value_and_gradient(function, "X", declarations=declarations, target="numpy")
    for sizes in SIZES:
        data = data_of("neighbours", sizes)
        got = f(**data)
        np.testing.assert_allclose(got[0], spread(**data), atol=1e-12)
        np.testing.assert_allclose(got[1], gradient(spread, data, "X"), atol=1e-11)


def ends(X, E):
    a, b = E.T
    return np.sum((X[a] - X[b]) ** 2)


def pairs_in_a_loop(X, E):
    found = 0.0
    for a, b in zip(E[:, 0], E[:, 1], strict=True):
        found = found + np.sum((X[a] - X[b]) ** 2)
    return found


@pytest.mark.parametrize("function", [ends, pairs_in_a_loop])
def test_traced_edges(function):
    f = mc.value_and_gradient(function, "X", declarations="X: matrix(m, n); E: index(p, 2)", target="numpy")
    for sizes in SIZES:
        data = data_of("edges of points", sizes)
        got = f(**data)
        np.testing.assert_allclose(got[0], CASES["edges of points"][3](**data), atol=1e-12)
        np.testing.assert_allclose(got[1], gradient(CASES["edges of points"][3], data, "X"), atol=1e-11)


def mean_of_neighbours(x, j):
    return sum(np.sum((x[i] - x[j[i, k]]) ** 2) for i, k in over(j))


LATEX = [
    (
        r"\sum_{i=1}^{m} \sum_{k=1}^{q} \|x_i - x_{j_{ik}}\|^2", "x: matrix(m, n); j: index(m, q)",
        {"x": (4, 3), "j": (4, 2)}, mean_of_neighbours,
    ),
    (
        r"\sum_{i=1}^{m} \sum_{k=1}^{q} \|x_i - x_{j_{i,k}}\|^2", "X: matrix(m, n); j: index(m, q)",
        {"X": (4, 3), "j": (4, 2)}, lambda X, j: mean_of_neighbours(X, j),
    ),
    (
        r"\sum_{d=1}^{p} \sum_{t=1}^{q} (u_{w_{dt}} - y_{dt})^2", "u: vector(m); y: matrix(p, q); w: index(p, q)",
        {"u": (4,), "y": (3, 2), "w": (3, 2)}, lambda u, y, w: sum((u[w[at]] - y[at]) ** 2 for at in over(w)),
    ),
    (
        r"\sum_{e=1}^{p} (x_{E_{e1}} - x_{E_{e2}})^2", "x: vector(m); E: index(p, 2)",
        {"x": (4,), "E": (5, 2)}, lambda x, E: sum((x[a] - x[b]) ** 2 for a, b in E),
    ),
    (
        r"\|x_{\mathbf{E}_{:,1}} - x_{\mathbf{E}_{:,2}}\|_2^2", "x: vector(m); E: index(p, 2)",
        {"x": (4,), "E": (5, 2)}, lambda x, E: sum((x[a] - x[b]) ** 2 for a, b in E),
    ),
    (
        r"\sum_{k=1}^{q} x_{E_{2k}}", "x: vector(m); E: index(p, q)",
        {"x": (4,), "E": (5, 3)}, lambda x, E: sum(x[k] for k in E[1]),
    ),
]  # fmt: skip


@pytest.mark.parametrize("formula, declarations, shapes, truth", LATEX)
def test_latex(formula, declarations, shapes, truth):
    rng = np.random.default_rng(3)
    data = {n: rng.integers(0, 4, s) if n in "jwE" else rng.standard_normal(s) for n, s in shapes.items()}
    e = mc.expression(formula, declarations, dialect="latex")
    np.testing.assert_allclose(e(data), truth(**data), rtol=1e-12)


# ---- saved files


def test_saved_file(tmp_path):
    formula, wrt, declarations, value = CASES["weighted"]
    path = tmp_path / "weighted.py"
    mc.value_and_gradient(formula, wrt, declarations, target="numpy").save(path)
    run = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "all right\n"), run.stderr
    spec = importlib.util.spec_from_file_location("weighted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = data_of("weighted", "usual")
    np.testing.assert_allclose(module.f(**data)[0], value(**data))
    data["J"][4, 1] = 4
    with pytest.raises(ValueError, match=r"J\[4, 1\] is 4, outside an axis of length m = 4"):
        module.f(**data)
    with pytest.raises(TypeError, match="takes integers, not entries of type float64"):
        module.f(**{**data, "J": np.zeros((5, 2))})


# ---- what is refused


WRONG = [
    ([[0, 4], [1, 2]], ShapeError, "J[0, 1] is 4, outside an axis of length m = 4: indices are 0 to 3"),
    ([[0, 3], [-1, 2]], ShapeError, "J[1, 0] is -1, outside an axis of length m = 4: indices are 0 to 3"),
    ([[0.0, 1.0], [0.0, 1.0]], TypeError, "J: index(p, q) takes integers, not entries of type float64"),
    ([[True, False], [True, False]], TypeError, "J: index(p, q) takes integers, not entries of type bool"),
    ([0, 1], ShapeError, "J: index(p, q) takes an array of 2 axes, not one of shape (2,)"),
    ([[0, 1, 2], [0, 1, 2]], ShapeError, "J: matrix(p, q) must have shape (2, 2), not (2, 3)"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("J, error, message", WRONG)
@pytest.mark.parametrize("path", ["plain", "numpy", "numba"])
def test_refused_at_the_call(path, J, error, message):
    f = derived("weighted")[0] if path == "plain" else compiled("weighted", path)
    data = {"x": np.arange(4.0), "W": np.ones((2, 2)), "J": np.array(J), "v": np.ones(4)}
    with pytest.raises(error) as caught:
        f({name: value for name, value in data.items() if path != "plain" or name != "v"})
    assert str(caught.value).splitlines()[0].startswith(message)


@pytest.mark.whole
@pytest.mark.skipif(bool(why_not()), reason=why_not() or "runs")
@pytest.mark.parametrize("J", [[[0, 4], [1, 2]], [[0, 3], [-1, 2]], [[0, 3], [0, 2**40]]])
def test_refused_by_c(J):
    function = CCall(mc.compile(derived("weighted"), target="c"))
    with pytest.raises(np.linalg.LinAlgError, match="J holds an index outside an axis of length m"):
        function(x=np.arange(4.0), W=np.ones((2, 2)), J=np.array(J), v=np.ones(4))


REFUSED = [
    ("x[J] + J", ShapeError, "J is an index, not a number"),
    ("x[J']", ShapeError, "J is an index, not a number"),
    ("x[2*J]", ShapeError, "J is an index, not a number"),
    ("X[J, i]", ShapeError, "X[J,i] has p x q and N indices"),
    ("X[J, E]", ShapeError, "X[J,E] has p x q and N x 2 indices"),
    ("x[J[::-1, :]]", NotSupported, "J[::-1, :]: a range of indices in reverse order is not supported"),
    ("{i: x[J[i]]}", ShapeError, "the body of an index form is a number, not x[J[i]] (vector of q)"),
    ("T[J, :, J]", ShapeError, "T[J, :, J] has a range between indices: the order of its axes is ambiguous"),
]


@pytest.mark.parametrize("formula, error, message", REFUSED)
def test_formula_is_refused(formula, error, message):
    with pytest.raises(error) as caught:
        mc.expression(formula, f"{LET}; i: index(N); T: tensor(m, n, m)")
    assert caught.value.message.startswith(message)
    assert caught.value.at >= 0
