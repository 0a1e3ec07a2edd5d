"""Indices as data, `x[k]`, `X[i, :]`, `{t: U[i[t], a]*V[j[t], a]}`: values and derivatives against NumPy by hand.

Data are enumerated: repeated indices, all equal, each once, a single one, none. The reference derivatives are complex
steps of the value written by hand; the second ones are differences of these.
"""

import functools
import importlib.util
import pickle
import subprocess
import sys

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import NotSupported, ShapeError

FACTORS = "U: matrix(m, p); V: matrix(n, p); r: vector(N); i: index(N); j: index(N)"


def log_softmax(Z):
    return Z - np.log(np.sum(np.exp(Z), axis=-1, keepdims=True))


CASES = {
    "entry": ("x[k]^2", "x", "x: vector(n); k: index", lambda x, k: x[k] ** 2),
    "label": ("log_softmax(z)[k]", "z", "z: vector(n); k: index", lambda z, k: log_softmax(z)[k]),
    "row": ("norm2(X[k, :])^2", "X", "X: matrix(m, n); k: index", lambda X, k: np.sum(X[k] ** 2)),
    "rows": (
        "sum(exp(X[i, :])*w)", "X", "X: matrix(m, n); w: vector(n); i: index(N)",
        lambda X, w, i: np.sum(np.exp(X[i]) @ w),
    ),
    "columns": (
        "norm2(X[:, i]*r)^2", "X", "X: matrix(m, n); r: vector(N); i: index(N)",
        lambda X, r, i: np.sum((X[:, i] @ r) ** 2),
    ),
    "pairs": (
        "sum(sin(X[i, j]))", "X", "X: matrix(m, n); i: index(N); j: index(N)",
        lambda X, i, j: np.sum(np.sin(X[i, j])),
    ),
    "factors": (
        "sum{t: (r[t] - U[i[t], a]*V[j[t], a])^2}", "U", FACTORS,
        lambda U, V, r, i, j: np.sum((r - np.sum(U[i] * V[j], axis=1)) ** 2),
    ),
    "link": (
        "sum{t: softplus(U*V')[i[t], j[t]]*r[t]}", "V", FACTORS,
        lambda U, V, r, i, j: np.sum(np.log1p(np.exp((U @ V.T)[i, j])) * r),
    ),
    "labels": (
        "-sum{t: log_softmax(X*W, axis=1)[t, y[t]]}", "W", "X: matrix(N, n); W: matrix(n, c); y: index(N)",
        lambda X, W, y: -np.sum(log_softmax(X @ W)[np.arange(len(y)), y]),
    ),
    "steps": (
        "log(q[s[0]]) + sum{t: log(A[s[:-1], s[1:]])[t]}", "A",
        "q: vector(n) positive; A: matrix(n, n) positive; s: index(N + 1)",
        lambda q, A, s: np.log(q[s[0]]) + np.sum(np.log(A[s[:-1], s[1:]])),
    ),
    "nested": (
        "sum(x[j[i]].^3)", "x", "x: vector(n); j: index(m); i: index(N)",
        lambda x, j, i: np.sum(x[j[i]] ** 3),
    ),
    "blocks": (
        "norm2([x; y][i])^2", "x", "x: vector(n); y: vector(m); i: index(N)",
        lambda x, y, i: np.sum(np.concatenate([x, y])[i] ** 2),
    ),
    "counts": (
        "norm2({a: x[a]*sum{t: [a == i[t]]*r[t]}})^2", "x", "x: vector(n); r: vector(N); i: index(N)",
        lambda x, r, i: np.sum((x * np.bincount(i, r, len(x))) ** 2),
    ),
    "edges": (
        "norm2((eye(n)[i, :] - eye(n)[j, :])*x)^2", "x", "x: vector(n); i: index(N); j: index(N)",
        lambda x, i, j: np.sum((x[i] - x[j]) ** 2),
    ),
    "chain": (
        "sum(sin((x.*x[g])[i]))", "x", "x: vector(n); g: index(n); i: index(N)",
        lambda x, g, i: np.sum(np.sin((x * x[g])[i])),
    ),
    "running": (
        "norm2(x[i] - cumsum(x)[j])^2", "x", "x: vector(n); i: index(N); j: index(N)",
        lambda x, i, j: np.sum((x[i] - np.cumsum(x)[j]) ** 2),
    ),
    "inverse": (
        "(inv(A)[k, :])'*x", "A", "A: matrix(n, n); x: vector(n); k: index",
        lambda A, x, k: np.linalg.inv(A)[k] @ x,
    ),
    "stacked": (
        "norm2(vec(X)[i])^2", "X", "X: matrix(m, n); i: index(N)",
        lambda X, i: np.sum(X.ravel(order="F")[i] ** 2),
    ),
}  # fmt: skip
SIZES = {"m": 4, "n": 3, "p": 2, "c": 3}
PATTERNS = {"repeated": 7, "equal": 5, "each once": 3, "single": 1, "none": 0}


def places(pattern, count, length, seed):
    """Return `count` indices of an axis in a pattern."""
    if pattern == "equal":
        return np.full(count, length - 1)
    if pattern == "each once":
        return np.resize(np.random.default_rng(seed).permutation(length), count)
    return np.random.default_rng(seed).integers(0, length, count)


AXES = {
    "entry": {"k": "n"}, "label": {"k": "n"}, "row": {"k": "m"}, "rows": {"i": "m"}, "columns": {"i": "n"},
    "pairs": {"i": "m", "j": "n"}, "factors": {"i": "m", "j": "n"}, "link": {"i": "m", "j": "n"}, "labels": {"y": "c"},
    "steps": {"s": "n"}, "nested": {"j": "n", "i": "m"}, "blocks": {"i": "n + m"}, "counts": {"i": "n"},
    "edges": {"i": "n", "j": "n"}, "chain": {"g": "n", "i": "n"}, "running": {"i": "n", "j": "n"},
    "inverse": {"k": "n"}, "stacked": {"i": "m*n"},
}  # fmt: skip
"""The lengths of the axes that the indices of a case refer to."""


def data_of(case, pattern):
    """Return the arguments of a case, by name, of the declared shapes."""
    sizes = {**SIZES, "N": PATTERNS[pattern]}
    found = {}
    for seed, declared in enumerate(CASES[case][2].split(";")):
        name, kind = (part.strip() for part in declared.split(":"))
        shape = tuple(eval(size, {}, sizes) for size in kind.partition("(")[2].partition(")")[0].split(",") if size)
        rng = np.random.default_rng([seed, *case.encode()])
        if kind.startswith("index"):
            drawn = places(pattern, *(shape or (1,)), eval(AXES[case][name], {}, sizes), seed)
            found[name] = drawn if shape else int(drawn[0])
        else:
            drawn = rng.standard_normal(shape)
            found[name] = np.abs(drawn) + 0.5 if "positive" in kind else drawn + 3 * np.eye(3) if name == "A" else drawn
    return found


def slope(value, data, name, direction):
    """Return the derivative of a hand-written value along a direction, by a complex step."""
    moved = {**data, name: data[name] + 1e-30j * direction}
    return value(**moved).imag / 1e-30


def gradient(value, data, name):
    x = data[name]
    found = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        unit = np.zeros(x.shape)
        unit[at] = 1.0
        found[at] = slope(value, data, name, unit)
    return found


def product(value, data, name, v):
    """Return the Hessian times a vector by differences of the gradient."""
    ends = [gradient(value, {**data, name: data[name] + h * v}, name) for h in (1e-5, -1e-5)]
    return (ends[0] - ends[1]) / 2e-5


@functools.cache
def derived(case):
    formula, wrt, declarations, _ = CASES[case]
    f = mc.expression(formula, declarations)
    return f, f.gradient(wrt), f.hvp(wrt)


@functools.cache
def compiled(case, target):
    return mc.compile(derived(case), target=target)


def judge(case, pattern, run):
    _, wrt, _, value = CASES[case]
    data = data_of(case, pattern)
    v = np.random.default_rng(9).standard_normal(data[wrt].shape)
    found = run(data, v)
    wanted = value(**data), gradient(value, data, wrt), product(value, data, wrt, v)
    for what, got, want, bound in zip(("value", "gradient", "hvp"), found, wanted, (1e-12, 1e-11, 1e-6), strict=True):
        np.testing.assert_allclose(got, want, rtol=bound, atol=bound * 10, err_msg=f"{case}, {pattern}: {what}")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_plain(case, pattern):
    def run(data, v):
        f, g, h = derived(case)
        return f(data), g(data), h({**data, "v": v})

    judge(case, pattern, run)


@pytest.mark.sampled(31)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_compiled(case, target):
    function = compiled(case, target)
    for pattern in PATTERNS:
        judge(case, pattern, lambda data, v: function({**data, "v": v}))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES)
def test_printed_reads_back(case):
    for e in derived(case):
        assert mc.expression(str(e), e.declarations).node is e.node, str(e)
        assert pickle.loads(pickle.dumps(e)).node is e.node


PRINTED = {
    "entry": ("x[k]^2", "2*x[k]*eye(n)[:, k]"),
    "label": ("(z - logsumexp(z))[k]", "eye(n)[:, k] - softmax(z)"),
    "factors": ("norm2((U*V')[i,j] - r)^2", "2*eye(m)[:, i]*diag((U*V')[i,j] - r)*V[j, :]"),
    "nested": ("sum((x.^3)[j[i]])", "3*x.^2.*(eye(n)[:, j[i]]*ones(N))"),
}


@pytest.mark.parametrize("case", PRINTED)
def test_printed(case):
    assert tuple(map(str, derived(case)[:2])) == PRINTED[case]


def test_second_derivatives_are_tensors_too():
    e = mc.expression("sum{t: (r[t] - U[i[t], a]*V[j[t], a])^2}", FACTORS).hessian("U")
    data = data_of("factors", "repeated")
    wanted = np.zeros((4, 2, 4, 2))
    for row, column in zip(data["i"], data["j"], strict=True):
        wanted[row, :, row, :] += 2 * np.outer(data["V"][column], data["V"][column])
    np.testing.assert_allclose(e(data), wanted, atol=1e-12)


# ---- arrays that are not formed, entries that are not touched


@pytest.mark.parametrize("case", ["factors", "link", "labels", "pairs", "steps"])
def test_no_selector_is_formed(case):
    plan = compiled(case, "numpy").plan
    assert not any(f"({a})" in plan for a in ("N, m", "m, N", "N, N", "c, N", "n, N", "N, n, n")), plan


def test_a_million_entries_take_no_more_memory_than_they_have():
    rng = np.random.default_rng(0)
    U, V, count = rng.standard_normal((3000, 2)), rng.standard_normal((2000, 2)), 1_000_000
    i, j, r = rng.integers(0, 3000, count), rng.integers(0, 2000, count), rng.standard_normal(count)
    e = r - np.sum(U[i] * V[j], axis=1)
    f = derived("factors")[0]
    np.testing.assert_allclose(f(U=U, V=V, r=r, i=i, j=j), e @ e, rtol=1e-10)


@pytest.mark.parametrize("target", ["plain", "numpy"])
def test_what_is_not_looked_up_may_be_anything(target):
    e = mc.expression("3*x[k]", "x: vector(n); k: index")
    both = [e, e.gradient("x")]
    functions = both if target == "plain" else [mc.compile(one, target=target) for one in both]
    x = np.array([np.nan, 2.0, np.inf])
    assert [np.asarray(f(x, 1)).tolist() for f in functions] == [6.0, [0.0, 3.0, 0.0]]


# ---- rejected data


def outside(*paths):
    return [pytest.param(path, id=path) for path in paths]


@functools.cache
def path_of(path):
    """Return a function of U, V, r, i, j that computes a value on one path."""
    if path == "plain":
        return derived("factors")[0]
    f = mc.value_and_gradient(derived("factors")[0], ["U", "V"], target="numba" if path == "numba" else "numpy")
    return f


REFUSED = [
    ("i", [0, 4, 1], ShapeError, "i[1] is 4, outside an axis of length m = 4: indices are 0 to 3"),
    ("j", [0, 1, -1], ShapeError, "j[2] is -1, outside an axis of length n = 3: indices are 0 to 2"),
    ("i", [0.0, 1.0, 2.0], TypeError, "i: index(N) takes integers, not entries of type float64: give i.astype(int)"),
    ("i", [True, False, True], TypeError, "i: index(N) takes integers, not entries of type bool"),
    ("i", [[0, 1, 2]], ShapeError, "i: index(N) takes an array of 1 axes, not one of shape (1, 3)"),
    ("j", [0, 1], ShapeError, "j: vector(N) must have shape (3,), not (2,) where N = 3 (from r and i)"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, value, error, message", REFUSED)
@pytest.mark.parametrize("path", outside("plain", "numpy", "numba"))
def test_refused_at_the_call(path, name, value, error, message):
    data = {**data_of("factors", "repeated"), "r": np.zeros(3), "i": np.arange(3), "j": np.arange(3)}
    data[name] = np.array(value)
    with pytest.raises(error) as caught:
        path_of(path)(*data.values())
    assert str(caught.value).splitlines()[0] == message


@pytest.mark.parametrize("given", [2, np.int64(2), np.int32(2), np.array(2), np.uint8(2)])
def test_integers_of_any_kind_are_taken(given):
    x = np.arange(4.0)
    assert derived("entry")[0](x, given) == 4.0
    assert compiled("entry", "numpy")(x, given, x)[0] == 4.0


def test_float_array_is_never_read_as_integers():
    f = path_of("numba")
    data = data_of("factors", "repeated")
    with pytest.raises(TypeError, match="takes integers"):
        f(data["U"], data["V"], data["r"], data["i"].astype(np.int64).view(np.float64), data["j"])


def test_parts_of_an_index_have_bounds_of_their_own():
    f = mc.compile("A[p[0], p[1]]", declarations="A: matrix(2, 5); p: index(2)", target="numpy")
    A = np.arange(10.0).reshape(2, 5)
    assert f(A, [1, 4]) == 9.0
    with pytest.raises(ShapeError) as caught:
        f(A, [2, 4])
    assert str(caught.value) == "p[0] is 2, outside an axis of length 2: indices are 0 to 1"


# ---- other dialects and outputs


def test_objects():
    x, X, k, i, j = mc.symbols("x: vector(n); X: matrix(m, n); k: index; i: index(N); j: index(N)")
    declared = "x: vector(n); X: matrix(m, n); k: index; i: index(N); j: index(N)"
    for made, formula in [
        (x[k], "x[k]"),
        (X[i, :], "X[i, :]"),
        (X[i], "X[i, :]"),
        (X[k, :], "X[k, :]"),
        (X[i, j], "X[i, j]"),
    ]:
        assert made.node is mc.expression(formula, declared).node
        assert made.declarations == "; ".join(d for d in declared.split("; ") if d[0] in formula)
    for wrong in (lambda: k + 1, lambda: 2 * k, lambda: -k, lambda: k**2, lambda: mc.exp(k), lambda: i @ x):
        with pytest.raises(ShapeError, match="is an index, not a number"):
            wrong()


def test_numpy_on_objects_and_traced():
    U, V, r, i, j = mc.symbols(FACTORS)
    wanted = derived("factors")[0].node
    assert np.sum((r - np.sum(U[i] * V[j], axis=1)) ** 2).node is wanted

    def loss(U, V, r, i, j):
        e = r - (U[i] * V[j]).sum(axis=1)
        return e @ e

    data = data_of("factors", "repeated")
    got = mc.value_and_gradient(loss, ["U", "V"], declarations=FACTORS, target="numpy")(**data)
    np.testing.assert_allclose(got[0], loss(**data))
    np.testing.assert_allclose(got[1][0], gradient(CASES["factors"][3], data, "U"), atol=1e-11)
    for wrong in (lambda: np.exp(i), lambda: np.sum(i), lambda: np.where(i > 0, 1, 0)):
        with pytest.raises((ShapeError, TypeError)):
            wrong()


def test_substitution():
    e = mc.expression("x[i]", "x: vector(n); i: index(N)")
    (j,) = mc.symbols("j: index(M)")
    assert e.substitute(i=j).node is mc.expression("x[j]", "x: vector(n); j: index(M)").node
    assert str(e.substitute(n=5).node.shape) == str(e.node.shape)
    for wrong in (2, mc.symbols("s: scalar")[0]):
        with pytest.raises(ShapeError, match="only an index can replace an index"):
            mc.expression("x[k]", "x: vector(n); k: index").substitute(k=wrong)


def test_latex_and_sympy():
    e = mc.expression("x[k]", "x: vector(n); k: index")
    assert e.latex() == "x_{k + 1}"  # subscripts of LaTeX count from 1, the data from 0
    assert str(e.sympy()) == "x[k, 0]"
    with pytest.raises(NotSupported, match="a part by a vector of indices has no SymPy form"):
        mc.expression("X[i, :]", "X: matrix(m, n); i: index(N)").sympy()


def test_check_draws_places():
    for case in ("label", "factors"):
        formula, wrt, declarations, _ = CASES[case]
        assert mc.check(formula, wrt, declarations)
    assert not mc.check("x[k]^2", "x", "x: vector(n); k: index", against="2*x[k]*eye(n)[:, 0]")


def test_equivalence():
    declared = "x: vector(n); i: index(N)"
    assert mc.equivalent("sum(x[i])", "{: x[a]*eye(n)[a, i[t]]*ones(N)[t]}", declared)
    report = mc.equivalent("norm2(x[i])^2", "norm2(x)^2", declared)
    assert not report and np.array_equal(report.at["i"], np.rint(report.at["i"]))


def test_saved_file(tmp_path):
    formula, wrt, declarations, value = CASES["steps"]
    path = tmp_path / "steps.py"
    mc.value_and_gradient(formula, wrt, declarations, target="numpy").save(path)
    run = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "all right\n"), run.stderr
    spec = importlib.util.spec_from_file_location("steps", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = data_of("steps", "repeated")
    got = module.f(**data)
    np.testing.assert_allclose(got[0], value(**data))
    np.testing.assert_allclose(got[1], gradient(value, data, wrt))
    with pytest.raises(ValueError, match=r"s\[1:\]\[2\] is 3, outside an axis of length n = 3"):
        module.f(data["q"], data["A"], [0, 1, 2, 3])
    with pytest.raises(TypeError, match="takes integers, not entries of type float64"):
        module.f(data["q"], data["A"], [0.0, 1.0])


@pytest.mark.whole
def test_own_njit_code():
    import numba

    f = path_of("numba")
    data = data_of("factors", "repeated")
    args = list(data.values())
    wanted = f(*args)[0]
    inner = f.numba

    @numba.njit
    def twice(U, V, r, i, j):
        return 2 * inner(U, V, r, i, j)[0]

    assert twice(*args) == pytest.approx(2 * wanted)
    assert inner(*args[:3], args[3].astype(np.int32), args[4])[0] == pytest.approx(wanted)
    bad = data["i"].copy()
    bad[3] = 4
    with pytest.raises(ShapeError, match="i holds an index outside an axis of length m"):
        inner(*args[:3], bad, args[4])
    out = [np.empty(1), np.empty((4, 2)), np.empty((3, 2))]
    assert f.numba_into(*args, *out) == 0 and out[0][0] == pytest.approx(wanted)
    status = f.numba_into(*args[:3], bad, args[4], *out)
    assert f.faults[status - 1] == "i holds an index outside an axis of length m"


@pytest.mark.whole
def test_c_entry():
    import ctypes

    from matcalc.compiler.spec.spec import size_names

    f = path_of("numba")
    data = data_of("factors", "repeated")
    out = [np.empty(1), np.empty((4, 2)), np.empty((3, 2))]
    given = (ctypes.c_void_p * 5)(*(a.ctypes.data for a in data.values()))
    results = (ctypes.c_void_p * 3)(*(a.ctypes.data for a in out))
    lengths = np.array([{**SIZES, "N": 7}[name] for name in size_names(f.spec)], np.int64)
    entry = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 3)(f.cfunc().address)
    assert entry(ctypes.addressof(given), lengths.ctypes.data, ctypes.addressof(results)) == 0
    assert out[0][0] == pytest.approx(f(*data.values())[0])


def test_command_line(capsys):
    from matcalc.commands.cli import main

    assert main(["gradient", "log_softmax(z)[k]", "--wrt", "z", "--let", "z: vector(n); k: index"]) == 0
    assert capsys.readouterr().out.strip() == "eye(n)[:, k] - softmax(z)"
    assert main(["gradient", "x[k]", "--wrt", "k", "--let", "k: index"]) == 2
    assert "k is an index" in capsys.readouterr().err


def test_numpy_spelling():
    text = "np.sum((r - np.sum(U[i] * V[j], axis=1))**2)"
    assert mc.expression(text, FACTORS, dialect="numpy").node is derived("factors")[0].node
