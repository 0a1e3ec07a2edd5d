"""Norms of all pairs of rows: no array of pairs and entries, right digits from subnormal to huge distances."""

import re
import runpy

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(m, n); Y: matrix(p, n); D: matrix(m, m)"
FORMULAS = {
    "sum{i,j: norm2({k: X[i,k] - Y[j,k]})}": lambda X, Y, D: distances(X, Y).sum(),
    "sum{i,j: exp(-norm2({k: X[i,k] - Y[j,k]}))}": lambda X, Y, D: np.exp(-distances(X, Y)).sum(),
    "sum{i,j: (norm2({k: X[i,k] - X[j,k]}) - D[i,j])^2}": lambda X, Y, D: ((distances(X, X) - D) ** 2).sum(),
}
FIXED_STEP = 1e-6


def distances(X, Y):
    """Return the distances of rows in extended precision, scaled by their largest difference."""
    gap = X[:, None, :].astype(np.longdouble) - Y[None, :, :]
    top = np.maximum(np.abs(gap).max(axis=2, initial=0), np.finfo(np.longdouble).tiny)
    return top * np.sqrt(((gap / top[..., None]) ** 2).sum(axis=2))


def data(scale=1.0, sizes=(5, 4, 3)):
    rng = np.random.default_rng(3)
    m, p, n = sizes
    X, Y = rng.normal(size=(m, n)) * scale, rng.normal(size=(p, n)) * scale
    X[1:2] = X[:1]
    Y[: min(m, 1)] = X[:1]
    return {"X": X, "Y": Y, "D": rng.uniform(1, 2, (m, m)) * scale}


def called(fn, given):
    return fn(*[given[name] for name in fn.args])


def value_and_gradient(formula, way, folder):
    """Return a function of data by name: by plain evaluation, compiled for a target, or from a saved file."""
    if way == "plain":
        both = mc.expression(formula, LET), mc.gradient(formula, "X", LET)
        return lambda given: [e(**{name: given[name] for name in e.symbols}) for e in both]
    fn = mc.value_and_gradient(formula, "X", LET, target="numba" if way == "saved" else way, name="pairs")
    if way == "saved":
        fn.save(folder / "pairs.py")
        saved = runpy.run_path(str(folder / "pairs.py"))["pairs"]
        return lambda given: saved(*[given[name] for name in fn.args], jit=True)
    return lambda given: called(fn, given)


@pytest.mark.whole
@pytest.mark.parametrize("way", ["numba", "numpy", "plain", "saved"])
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.thinned(2)
def test_values_and_gradients(formula, way, tmp_path):
    """Gradients by central differences along a direction that leaves equal rows equal, where norms have slopes."""
    run = value_and_gradient(formula, way, tmp_path)
    truth = FORMULAS[formula]
    for sizes in ((5, 4, 3), (1, 1, 1), (2, 3, 1), (3, 3, 3), (4, 1, 0), (0, 2, 2)):
        given = data(sizes=sizes)
        value, gradient = run(given)
        np.testing.assert_allclose(value, float(truth(**given)), rtol=1e-13)
        if sizes[0] < 2 or not sizes[2]:
            continue
        given["Y"] = given["Y"] + 0.25  # no row of Y on one of X
        value, gradient = run(given)
        along = np.random.default_rng(4).normal(size=gradient.shape)
        along[1] = along[0]
        ends = [float(truth(**{**given, "X": given["X"] + s * FIXED_STEP * along})) for s in (1, -1)]
        np.testing.assert_allclose((gradient * along).sum(), (ends[0] - ends[1]) / 2 / FIXED_STEP, rtol=1e-7, atol=1e-8)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("scale", [1e-310, 1e-180, 1e-150, 1e-140, 1e140, 1e150, 1e180, 1e305])
def test_wide_range(scale, target):
    """The gradient of the sum of distances does not depend on the scale; its value is in proportion."""
    fn = mc.value_and_gradient("sum{i,j: norm2({k: X[i,k] - Y[j,k]})}", "X", LET, target=target)
    plain, given = data(), data(scale)
    value, gradient = called(fn, given)
    digits = 1e-13 if scale > 1e-300 else 1e-10
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(value / scale, float(distances(plain["X"], plain["Y"]).sum()), rtol=digits)
    np.testing.assert_allclose(gradient, called(fn, plain)[1], rtol=0, atol=10 * digits)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_rows_that_are_not_finite(bad):
    """A distance from a row with NaN is NaN, from one with infinity infinite; other distances stay."""
    fn = mc.compile("{i,j: norm2({k: X[i,k] - Y[j,k]})}", declarations="X: matrix(m, n); Y: matrix(p, n)")
    given = data()
    given["X"][2, 1] = bad
    found = called(fn, given)
    assert np.isnan(found[2]).all() if np.isnan(bad) else np.isposinf(found[2]).all()
    rest = np.arange(5) != 2
    np.testing.assert_allclose(found[rest], distances(given["X"][rest], given["Y"]).astype(float), rtol=1e-14)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "formula",
    [
        *FORMULAS,
        "sum{i,j: log(1 + norm2({k: (X[i,k] - X[j,k])/w[k]}))}",
        "sum{i,j: exp(-sum{k: (X[i,k] - X[j,k])^2})*D[i,j]}",
        "2*sum((1 - eye(m)).*(r.^-6 - r.^-3)) where r = {i,j: sum{k: (X[i,k] - X[j,k])^2}} + eye(m)",
    ],
)
def test_no_array_holds_entries_of_pairs(formula):
    """Neither the value nor the gradient forms an array with an entry for each pair and each column."""
    fn = mc.value_and_gradient(formula, "X", f"{LET}; w: vector(n) positive")
    arrays = re.findall(r"np\.empty\((.*)\)", fn.source)
    assert any(text.count(",") == 1 for text in arrays)
    assert all(text.count(",") < 2 for text in arrays)
