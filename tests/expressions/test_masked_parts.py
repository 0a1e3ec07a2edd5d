"""Entries that a mask on data selects, and labels in comparisons: NumPy's numbers, or an error.

Each use is NumPy text that runs on arrays and as a traced function. NumPy is the only reference.
"""

from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

import matcalc as mc

LET = "x: vector(n); z: vector(n); X: matrix(n, 3); w: vector(3); y: index(n); k: index; s: scalar"
KINDS = dict(one.split(": ") for one in LET.split("; "))
RNG = np.random.default_rng(6)


def data(n):
    return {
        "x": RNG.uniform(0.2, 2.0, n), "z": RNG.standard_normal(n), "X": RNG.standard_normal((n, 3)) + 0.3,
        "w": RNG.standard_normal(3), "y": RNG.integers(0, 3, n), "k": 1, "s": 0.4,
    }  # fmt: skip


POINTS = [data(6), data(5), data(9)]
POINTS[0]["z"][:] = -1.0  # an empty mask
MASKS = ["z > 0", "z <= s", "y == 1", "y != k", "(z > 0) & (y < 2)", "~(z > 0)", "x[::-1] >= x", "X[:, 0] > s"]
USES = [
    "x[{m}].sum()",
    "np.sum(np.log(x[{m}]))",
    "np.prod(x[{m}])",
    "np.sum(x[{m}] ** 2 * z[{m}])",
    "x[{m}] @ z[{m}]",
    "np.dot(x[{m}], x[{m}])",
    "np.linalg.norm(x[{m}])",
    "len(x[{m}]) * s",
    "x[{m}].size * s",
    "np.exp(X[{m}] @ w).sum()",
    "np.sum(X[{m}].sum(axis=0) * w)",
    "np.sum(X[{m}, 1] * x[{m}])",
    "np.sum(X[{m}, :2])",
    "X[:, 2][{m}].sum()",
    "logsumexp(np.append(x[{m}].sum(), s))",
    "written(x, z, {m})",
]
NOT_EMPTY = [
    "x[{m}].mean()",
    "np.var(x[{m}])",
    "x[{m}].std()",
    "logsumexp(x[{m}])",
    "np.mean(np.abs(X[{m}] @ w - x[{m}]))",
    "np.average(x[{m}].mean() * s)",
]
LABELS = [
    "np.sum(np.where(y == 1, x, z))",
    "(y == 2).sum() * s",
    "np.sum((y > 0) * x)",
    "np.sum((y + 1 >= 2) * x)",
    "np.sum((y[:, None] == np.arange(3)) * X)",
    "np.sum((y == y[0]) * x)",
    "np.sum((y[:, None] == y[None, :]) * np.outer(x, z))",
    "np.where(k == 1, s, -s)",
    "s if k == 0 else x.sum()",
    "np.sum(np.equal(y, 1) * x)",
    "sum((y == c).sum() * w[c] for c in range(3))",
    "np.mean((y == 1) & (z > 0)) * s",
    "np.sum(x[y >= 1]) / np.sum(y >= 0)",
    "np.sum(np.where(1 < y, x, -z))",
    "np.any(y == 0) * s + np.all(y < 3)",
]
REFUSED = [
    ("x[z > 0].max()", "of which there may be none"),
    ("x[z > 0]", "which is no formula"),
    ("x[z > 0] + z[z < 0]", "beside one with other bounds"),
    ("x[z > 0] + z", "beside an array of another number of entries"),
    ("sum(v for v in x[z > 0])", "in a loop"),
    ("x[z > 0][0]", "with further subscripts"),
    ("X[0, :, z > 0]", "is not supported"),
    ("np.sum(y * x)", "is an index, not a number"),
    ("x[X[0] > 0].sum()", "shapes do not broadcast: (3,), (3,), (n,)"),
]


def written(x, z, m):
    out = np.zeros_like(x)
    out[m] = np.log(x[m]) * z[m]
    out[~m] = x[~m] ** 2
    copied = x.copy()
    copied[m] *= 2
    return np.sum(out) + np.sum(copied**2)


def function_of(text):
    names = [name for name in KINDS if name in _names(text)]
    scope = {"np": np, "logsumexp": logsumexp, "written": written}
    exec(f"def f({', '.join(names)}):\n    return {text}\n", scope)
    return scope["f"], names


def _names(text):
    import ast

    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def slope_of(function, point, name):
    own = np.array(point[name], dtype=float)
    found = np.zeros(own.shape)
    for at in np.ndindex(*own.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = own.copy()
            moved[at] += step
            ends.append(function(**point | {name: moved if moved.shape else float(moved)}))
        found[at] = (ends[0] - ends[1]) / 2e-6
    return found


def check(text, points):
    function, names = function_of(text)
    e = mc.expression(function, "; ".join(f"{name}: {KINDS[name]}" for name in names))
    wrt = next(name for name in ("x", "X", "w", "s") if name in names)
    gradient = mc.gradient(e, wrt) if wrt in e.symbols else None
    for one in points:
        point = {name: one[name] for name in names}
        np.testing.assert_allclose(e(**{name: point[name] for name in e.symbols}), function(**point), rtol=1e-12)
        if gradient is not None:
            found = gradient(**{name: point[name] for name in gradient.symbols})
            np.testing.assert_allclose(found, slope_of(function, point, wrt), rtol=1e-6, atol=1e-7)


EVERY = [use.format(m=mask) for use, mask in product(USES, MASKS)]


@pytest.mark.sampled(64)
@pytest.mark.parametrize("text", EVERY)
def test_what_a_mask_selects(text):
    check(text, POINTS)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("text", [use.format(m=mask) for use, mask in product(NOT_EMPTY, MASKS[1:4])])
def test_means_of_what_a_mask_selects(text):
    check(text, POINTS[1:])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", LABELS)
def test_labels_in_comparisons(text):
    check(text, POINTS)


@pytest.mark.whole
@pytest.mark.parametrize("text", [*LABELS, *(use.format(m=mask) for use, mask in zip(USES, MASKS * 2, strict=True))])
def test_compiled(text):
    function, names = function_of(text)
    wrt = next(name for name in ("x", "X", "w", "s") if name in names)
    fn = mc.value_and_gradient(function, wrt, "; ".join(f"{name}: {KINDS[name]}" for name in names))
    for one in POINTS:
        point = {name: one[name] for name in names}
        value, slope = fn(**{name: point[name] for name in fn.args})
        np.testing.assert_allclose(value, function(**point), rtol=1e-11)
        np.testing.assert_allclose(slope, slope_of(function, point, wrt), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_other_uses_are_refused(text, message):
    function, names = function_of(text)
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(function, "; ".join(f"{name}: {KINDS[name]}" for name in names))
    assert message in str(caught.value)
    assert caught.value.hint


def test_labels_in_comparisons_read_back_from_text():
    e = mc.expression(function_of("np.sum(np.where(y == 1, x, z)) + np.where(k == 1, s, 0)")[0], LET)
    assert mc.expression(str(e), e.declarations).node is e.node
    with pytest.raises(mc.ParseError, match="can count from 1, or from 0"):  # in LaTeX, entries count from 1
        mc.expression(e.latex(), e.declarations, dialect="latex")
