"""Formulas over indices that are data, each with its NumPy function, and derivatives by complex steps."""

import functools

import numpy as np

import matcalc as mc

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


@functools.cache
def derived(case):
    formula, wrt, declarations, _ = CASES[case]
    f = mc.expression(formula, declarations)
    return f, f.gradient(wrt), f.hvp(wrt)


@functools.cache
def compiled(case, target):
    return mc.compile(derived(case), target=target)


@functools.cache
def path_of(path):
    """Return a function of U, V, r, i, j that computes a value on one path."""
    if path == "plain":
        return derived("factors")[0]
    f = mc.value_and_gradient(derived("factors")[0], ["U", "V"], target="numba" if path == "numba" else "numpy")
    return f
