"""A simple matrix plus one of low rank: values and derivatives against NumPy's on the whole matrix."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.plan import either
from matcalc.compiler.plan.low_rank import rewrite
from matcalc.compiler.plan.low_rank.forms import forms
from matcalc.errors import InternalError
from matcalc.store.data_folders import data_folder

SIZES = ((9, 2), (13, 2), (10, 3), (6, 1), (4, 0), (5, 1), (1, 0), (0, 0), (1, 1), (4, 4), (3, 5), (5, 4))
TARGETS = ("numba", "numpy")


def slopes(function, data, name, step=1e-6):
    """Return central differences of a scalar function in one argument."""
    base = np.asarray(data[name], dtype=float)
    found = np.zeros(base.shape)
    for at in np.ndindex(base.shape):
        moved = []
        for sign in (1, -1):
            changed = base.copy()
            changed[at] += sign * step
            moved.append(function({**data, name: changed}))
        found[at] = (moved[0] - moved[1]) / (2 * step)
    return found


def quadratic(matrix, left, right):
    return left @ np.linalg.solve(matrix, right)


def logdet(matrix):
    return np.linalg.slogdet(matrix)[1]


def scalar(d):
    return np.eye(len(d["y"])) * d["c"]


FORMULAS = {
    "number": (
        "logdet(K) + y'*inv(K)*y where K = A*A' + c*eye(n)",
        "A: matrix(n, k); c: scalar; y: vector(n)",
        lambda d: scalar(d) + d["A"] @ d["A"].T,
        lambda K, d: logdet(K) + quadratic(K, d["y"], d["y"]),
    ),
    "diagonal": (
        "logdet(K) + y'*inv(K)*y where K = A*A' + diag(d)",
        "A: matrix(n, k); d: vector(n); y: vector(n)",
        lambda d: np.diag(d["d"]) + d["A"] @ d["A"].T,
        lambda K, d: logdet(K) + quadratic(K, d["y"], d["y"]),
    ),
    "middle": (
        "logdet(K) + y'*inv(K)*y where K = A*W*A' + c*eye(n)",
        "A: matrix(n, k); W: matrix(k, k) spd; c: scalar; y: vector(n)",
        lambda d: scalar(d) + d["A"] @ d["W"] @ d["A"].T,
        lambda K, d: logdet(K) + quadratic(K, d["y"], d["y"]),
    ),
    "weights": (
        "logdet(K) + y'*inv(K)*y where K = A*diag(w)*A' + diag(d)",
        "A: matrix(n, k); w: vector(k); d: vector(n); y: vector(n)",
        lambda d: np.diag(d["d"]) + d["A"] * d["w"] @ d["A"].T,
        lambda K, d: logdet(K) + quadratic(K, d["y"], d["y"]),
    ),
    "not symmetric": (
        "logdet(K) + x'*inv(K)*y where K = A*B' + c*eye(n)",
        "A: matrix(n, k); B: matrix(n, k); c: scalar; x: vector(n); y: vector(n)",
        lambda d: scalar(d) + d["A"] @ d["B"].T,
        lambda K, d: logdet(K) + quadratic(K, d["x"], d["y"]),
    ),
    "rank one": (
        "logdet(K) + x'*inv(K)*y where K = s*x*y' + c*eye(n)",
        "x: vector(n); y: vector(n); c: scalar; s: scalar",
        lambda d: scalar(d) + d["s"] * np.outer(d["x"], d["y"]),
        lambda K, d: logdet(K) + quadratic(K, d["x"], d["y"]),
    ),
    "two terms": (
        "logdet(K) + x'*inv(K)*y where K = s*A*A' + A*B' + diag(d)",
        "A: matrix(n, k); B: matrix(n, k); d: vector(n); s: scalar; x: vector(n); y: vector(n)",
        lambda d: np.diag(d["d"]) + d["s"] * d["A"] @ d["A"].T + d["A"] @ d["B"].T,
        lambda K, d: logdet(K) + quadratic(K, d["x"], d["y"]),
    ),
    "components": (
        "logdet(K) + y'*inv(K)*y where K = s*A*A' + x*x' + c*eye(n)",
        "A: matrix(n, k); x: vector(n); c: scalar; s: scalar; y: vector(n)",
        lambda d: scalar(d) + d["s"] * d["A"] @ d["A"].T + np.outer(d["x"], d["x"]),
        lambda K, d: logdet(K) + quadratic(K, d["y"], d["y"]),
    ),
    "trace": (
        "tr(inv(K)*S) + sum(inv(K)*Z) where K = A*A' + c*eye(n)",
        "A: matrix(n, k); c: scalar; S: matrix(n, n); Z: matrix(n, k); y: vector(n)",
        lambda d: scalar(d) + d["A"] @ d["A"].T,
        lambda K, d: np.trace(np.linalg.solve(K, d["S"])) + np.sum(np.linalg.solve(K, d["Z"])),
    ),
    "twice": (
        "y'*inv(K)*A*B'*inv(K)*y + tr(A'*inv(K)*A) where K = A*A' + diag(d)",
        "A: matrix(n, k); B: matrix(n, k); d: vector(n); y: vector(n)",
        lambda d: np.diag(d["d"]) + d["A"] @ d["A"].T,
        lambda K, d: (
            quadratic(K, d["y"], d["A"]) @ quadratic(K, d["B"].T, d["y"]) + np.trace(quadratic(K, d["A"].T, d["A"]))
        ),
    ),
    "triangular": (
        "logdet(K) + x'*inv(K)*y where K = L + A*B'",
        "A: matrix(n, k); B: matrix(n, k); L: matrix(n, n) lower; x: vector(n); y: vector(n)",
        lambda d: d["L"] + d["A"] @ d["B"].T,
        lambda K, d: logdet(K) + quadratic(K, d["x"], d["y"]),
    ),
}


def drawn(declarations, n, k, seed=0):
    """Return data for declarations with the sizes n and k."""
    rng = np.random.default_rng([seed, n, k])
    data = {}
    for declaration in declarations.split("; "):
        name, kind = declaration.split(": ")
        if kind == "scalar":
            data[name] = rng.uniform(0.5, 1.5)
        elif kind.startswith("vector"):
            length = n if "(n)" in kind else k
            data[name] = rng.uniform(0.5, 1.5, length) if name in "dw" else rng.standard_normal(length)
        else:
            rows, columns = (n if size == "n" else k for size in kind[7 : kind.index(")")].split(", "))
            data[name] = rng.standard_normal((rows, columns))
            if "spd" in kind:
                data[name] = data[name] @ data[name].T + np.eye(rows)
            if "lower" in kind:
                data[name] = np.tril(data[name], -1) / 3 + np.diag(rng.uniform(1, 2, rows))
    return data


def compare(name, target, sizes, seed=0):
    formula, declarations, matrix, value = FORMULAS[name]
    names = [declaration.split(":")[0] for declaration in declarations.split("; ")]
    names = [n for n in names if n in formula.replace("where", "")]
    declared = "; ".join(d for d in declarations.split("; ") if d.split(":")[0] in names)
    function = mc.value_and_gradient(formula, names, declared, target=target)
    assert "low_rank" in function.source
    for n, k in sizes:
        data = drawn(declarations, n, k, seed)
        found, gradients = function(**{m: data[m] for m in names})
        expected = value(matrix(data), data)
        assert abs(found - expected) <= 1e-10 * max(1, abs(expected)), (name, n, k)
        for m, gradient in zip(names, gradients, strict=True):
            if m in ("W", "L"):
                continue  # a structured variable has a projected gradient, which the library's own check compares
            difference = slopes(lambda d: value(matrix(d), d), data, m)
            scale = max(1, np.max(np.abs(difference), initial=0))
            assert np.max(np.abs(gradient - difference), initial=0) <= 1e-6 * scale, (name, n, k, m)


@pytest.mark.parametrize("name", ["number", "middle"])
@pytest.mark.whole
def test_values_and_gradients_are_those_of_the_whole_matrix(name):
    compare(name, "numba", SIZES)


@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.thinned(3)
def test_values_and_gradients_on_each_target(name, target):
    compare(name, target, SIZES, seed=1)


LOOK_ALIKES = {
    "a Hadamard product": ("logdet(A.*B + c*eye(n))", "A: matrix(n, n); B: matrix(n, n); c: scalar"),
    "a square factor": ("logdet(A*B' + c*eye(n))", "A: matrix(n, n); B: matrix(n, n); c: scalar"),
    "entries with both axes": (
        "logdet(A*B' .* S + c*eye(n))",
        "A: matrix(n, k); B: matrix(n, k); S: matrix(n, n); c: scalar",
    ),
    "a dense base": ("logdet(A*B' + S)", "A: matrix(n, k); B: matrix(n, k); S: matrix(n, n)"),
    "low rank alone": ("logdet(A*B')", "A: matrix(n, k); B: matrix(n, k)"),
    "many columns": ("logdet(A*A' + c*eye(3))", "A: matrix(3, 5); c: scalar"),
    "many columns for the rank": ("logdet(A*A' + c*eye(11))", "A: matrix(11, 4); c: scalar"),
    "rows of their own": ("{i: logdet({j,l: A[i,j]*A[i,l] + c*[j == l]})}", "A: matrix(n, k); c: scalar"),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
@pytest.mark.sampled(8)
def test_other_sums_are_computed_directly(name):
    formula, declarations = LOOK_ALIKES[name]
    assert "low_rank" not in mc.compile(formula, declarations=declarations, check=False).source


@cache
def likelihood(target="numba"):
    return mc.value_and_gradient(
        "logdet(K) + y'*inv(K)*y where K = A*A' + diag(d)",
        ["A", "y"],
        "A: matrix(n, k); d: vector(n); y: vector(n)",
        target=target,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.whole
def test_a_diagonal_with_negative_entries_is_computed_directly(target):
    data = drawn("A: matrix(n, k); d: vector(n); y: vector(n)", 8, 2)
    data["d"][[1, 4]] *= -1
    matrix = np.diag(data["d"]) + data["A"] @ data["A"].T
    value, (slope, _) = likelihood(target)(**data)
    solved = np.linalg.solve(matrix, data["y"])
    assert abs(value - logdet(matrix) - data["y"] @ solved) <= 1e-11 * abs(value)
    expected = 2 * (np.linalg.inv(matrix) - np.outer(solved, solved)) @ data["A"]
    assert np.allclose(slope, expected, rtol=1e-10, atol=1e-11)


@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
def test_a_tiny_entry_that_the_low_rank_covers_costs_no_digits(target):
    """K is well conditioned, but the matrices of the size of the rank would lose ten digits."""
    data = drawn("A: matrix(n, k); d: vector(n); y: vector(n)", 20, 2)
    data["d"][0] = 1e-11
    matrix = np.diag(data["d"]) + data["A"] @ data["A"].T
    value, (_, slope) = likelihood(target)(**data)
    solved = np.linalg.solve(matrix, data["y"])
    assert abs(value - logdet(matrix) - data["y"] @ solved) <= 1e-13 * abs(value)
    assert np.allclose(slope, 2 * solved, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("target", TARGETS)
def test_zeros_and_infinities_are_as_they_were(target):
    function = mc.compile(
        "logdet(A*B' + c*eye(n))", declarations="A: matrix(n, k); B: matrix(n, k); c: scalar", target=target
    )
    A = np.array([[1.0], [0.0], [2.0], [1.0], [0.0], [0.0]])
    assert np.isnan(function(A=A * np.nan, B=A, c=1.0))
    assert function(A=A, B=-A / 6, c=1.0) < -30  # singular, but for rounding
    assert abs(function(A=0 * A, B=A, c=2.0) - 6 * np.log(2)) <= 1e-14
    assert abs(function(A=A, B=A, c=-2.0) - logdet(A @ A.T - 2 * np.eye(6))) <= 1e-14
    assert function(A=A, B=A, c=0.0) == -np.inf or function(A=A, B=A, c=0.0) < -60


@pytest.mark.parametrize("target", TARGETS)
def test_a_matrix_that_is_not_definite_fails_as_it_did(target):
    function = mc.compile(
        "y'*inv(A*A' + c*eye(n))*y", declarations="A: matrix(n, k); c: scalar positive; y: vector(n)", target=target
    )
    A, y = np.array([[1.0], [0.0], [2.0], [1.0], [0.0], [0.0]]), np.ones(6)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        function(A=A, c=-1.0, y=y)


@pytest.mark.whole
def test_the_plan_states_the_choice():
    text = str(likelihood().plan)
    assert "by matrices of low rank if n - 2*k - 4 >= 0 and" in text
    assert "<= 1e+06, else directly" in text


def test_declared_sizes_leave_no_choice_by_sizes():
    function = mc.compile("logdet(A*A' + c*eye(50))", declarations="A: matrix(50, 3); c: scalar positive")
    assert "room" not in function.source
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 3))
    assert abs(function(A=A, c=0.3) - logdet(A @ A.T + 0.3 * np.eye(50))) <= 1e-12 * 60


def test_nothing_of_the_size_of_the_matrix_is_made():
    """The short program has no array with two axes of the length n."""
    text = str(likelihood().plan)
    short = text[text.index("_short(") : text.index("_direct(")]
    assert "(n, n)" not in short


FAULTS = {
    "solved": ("(X - U*C*W)/b", "(X + U*C*W)/b"),
    "both": ("Q'*R/b + Z'*C*W", "Q'*R/b - Z'*C*W"),
    "right": ("U*inv(M)", "2*U*inv(M)"),
    "logdet": ("(n - l)*log(b) + logdet(N)", "n*log(b) + logdet(N)"),
}


@pytest.mark.parametrize("field", FAULTS)
@pytest.mark.whole
def test_the_check_of_a_result_reaches_the_low_rank_form(field, monkeypatch):
    """A wrong formula of low_rank.toml is found before a function is returned."""
    right, wrong = FAULTS[field]
    entries = forms(data_folder("codegen"))
    first, *others = entries.bases
    tables = {name: {**table} for name, table in (("formulas", first.formulas), ("operations", first.operations))}
    table = next(table for table in tables.values() if field in table)
    assert table[field] == right
    table[field] = wrong
    monkeypatch.setattr(either, "forms", lambda folder: replace(entries, bases=(replace(first, **tables), *others)))
    with pytest.raises(InternalError):
        formula = "logdet(K) + y'*inv(K)*y where K = A*A' + c*eye(n)"
        mc.value_and_gradient(formula, "A", "A: matrix(n, k); c: scalar; y: vector(n)", name=f"wrong_{field}")


SECOND = "logdet(K) + y'*inv(K)*y where K = A*A' + c*eye(n)"
LET = "A: matrix(n, k); c: scalar; y: vector(n)"


def slope_in_A(A, c, y):
    inverse = np.linalg.inv(A @ A.T + c * np.eye(len(y)))
    solved = inverse @ y
    return 2 * (inverse - np.outer(solved, solved)) @ A


@pytest.mark.whole
def test_products_with_the_hessian_make_nothing_of_the_size_of_the_matrix():
    function = mc.compile(mc.hvp(SECOND, "A", declarations=LET))
    data = drawn(LET, 14, 2)
    direction = drawn(LET, 14, 2, seed=5)["A"]
    along = [slope_in_A(data["A"] + step * direction, data["c"], data["y"]) for step in (1e-6, -1e-6)]
    expected = (along[0] - along[1]) / 2e-6
    assert np.allclose(function(**data, v=direction), expected, rtol=1e-6, atol=1e-6)
    text = str(function.plan)
    assert "(n, n)" not in text[text.index("_short(") : text.index("_direct(")]


@pytest.mark.whole
@pytest.mark.parametrize("name", ["A", "y"])
def test_hessians(name):
    function = mc.compile(mc.hessian(SECOND, name, declarations=LET))
    data = drawn(LET, 12, 2)
    found = np.asarray(function(**data))
    for at in np.ndindex(data[name].shape):
        moved = []
        for step in (1e-6, -1e-6):
            changed = {**data, name: data[name].copy()}
            changed[name][at] += step
            matrix = changed["A"] @ changed["A"].T + scalar(changed)
            moved.append(slope_in_A(**changed) if name == "A" else 2 * np.linalg.solve(matrix, changed["y"]))
        assert np.allclose(found[at], (moved[0] - moved[1]) / 2e-6, rtol=1e-5, atol=1e-5)


def packed(size):
    """Return the log-determinant of L*L' with log diagonal, as a function of the entries of L, and its gradient."""
    rows, columns = np.tril_indices(size)

    def function(entries):
        L = np.zeros((size, size))
        L[rows, columns] = entries
        L[np.diag_indices(size)] = np.exp(np.diag(L))
        return np.log(np.linalg.det(L @ L.T))

    return function, np.where(rows == columns, 2.0, 0.0)


@pytest.mark.parametrize("size", [2, 3, 6, 8])
@pytest.mark.whole
def test_matrices_of_written_entries_are_planned(size):
    """They are sums of many terms of rank 1: no low-rank form is taken, and none is searched for long."""
    function, slope = packed(size)
    made = mc.value_and_gradient(function, "entries", declarations=f"entries: vector({slope.size})")
    entries = np.linspace(-1, 1, slope.size)
    value, gradient = made(entries)
    np.testing.assert_allclose(value, slope @ entries, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradient, slope, rtol=1e-9, atol=1e-9)


def test_a_formula_that_would_grow_too_long_is_planned_as_written(monkeypatch):
    monkeypatch.setattr(rewrite, "MOST_CHANGES", 0)
    made = mc.compile("y'*inv(A*A' + a*a' + eye(n))*y", declarations="A: matrix(n, k); a: vector(n); y: vector(n)")
    A, a, y = np.arange(40.0).reshape(20, 2) / 20, np.linspace(0, 1, 20), np.ones(20)
    matrix = A @ A.T + np.outer(a, a) + np.eye(20)
    np.testing.assert_allclose(made(A=A, a=a, y=y), quadratic(matrix, y, y), rtol=1e-12)
    assert "low_rank" not in made.source
