"""Random formulas over rows: those that must separate do, and equal NumPy's values on all rows at once."""

import random
import re

import numpy as np
import pytest
from row_formulas import LET, cut, data, formula

import matcalc as mc

ROWS = 11
UNEVEN = (0, 3, 3, 4, ROWS)
UNDEFINED = "normalize"
"""Formulas that are 0/0 in plain NumPy where a vector is 0, such as differences of equal parts."""


def close(found, want, tolerance):
    want = np.asarray(want)
    scale = 1e-3 + np.max(np.abs(want), initial=0)
    return np.shape(found) == want.shape and np.allclose(found, want, 0, tolerance * scale, equal_nan=True)


@pytest.mark.thinned(4)
@pytest.mark.sampled(180)
@pytest.mark.parametrize("seed", range(120))
def test_value_gradient_and_what_suffices(seed):
    rng = random.Random(seed)
    f, rows = formula(seed, rng.choice([2, 3, 4])), rng.choice([1, 2, 3, 4, 7])
    given = data(rows, seed)
    ends = [0, *sorted(rng.choices(range(rows + 1), k=rng.choice([0, 1, 3, rows]))), rows]
    value = mc.split(f.text, "m", declarations=LET)
    if not value:
        assert not f.separates, value.reason
        return
    with np.errstate(all="ignore"):
        want = np.real(f.value(given))
    if UNDEFINED in f.text and not np.isfinite(want):
        return
    found = value.over(cut(given, value.split, ends), {name: given[name] for name in value.shared})
    assert close(found, want, 1e-8), f.text
    wrt = [name for name in ("c", "w", "u", "W", "M") if re.search(rf"\b{name}\b", f.text)]
    made = mc.split(f.text, "m", wrt=wrt, declarations=LET) if wrt else None
    if not made:
        assert not wrt or not f.separates or not f.gradient_separates
        return
    shared = {name: given[name] for name in made.shared}
    blocks = cut(given, made.split, ends)
    results = [made.over(blocks, shared), made.over(blocks, shared, threads=2)]
    try:
        enough = made.precompute()
    except mc.NotSupported:
        pass
    else:
        results.append(enough.over(blocks, **{name: {"n": 3, "p": 2}[name] for name in enough.sizes})(shared))
    for value, gradients in results:
        assert close(value, want, 1e-7), f.text
        for name, gradient in zip(wrt, gradients, strict=True):
            assert close(gradient, f.gradient(given, name), 1e-6), (f.text, name)


@pytest.mark.parametrize("text", ["n*sum(X*w)", "logdet(X'*X + eye(n))", "tr(eye(n))*mean(X)", "sum(X*ones(n))/n"])
def test_sizes_that_rows_alone_tell_are_known_in_the_end(text):
    given = data(ROWS, 0)
    found = mc.split(text, over="m", declarations=LET)
    X, n = given["X"], given["X"].shape[1]
    wanted = {
        "n*sum(X*w)": n * np.sum(X @ given["w"]),
        "logdet(X'*X + eye(n))": np.linalg.slogdet(X.T @ X + np.eye(n))[1],
        "tr(eye(n))*mean(X)": n * np.mean(X),
        "sum(X*ones(n))/n": np.sum(X) / n,
    }[text]
    shared = {name: given[name] for name in found.shared}
    np.testing.assert_allclose(found.over(cut(given, found.split, UNEVEN), shared), wanted, rtol=1e-12)
    with pytest.raises(mc.ShapeError, match="n is 3 in one and 2 in another" if not shared else "w"):
        blocks = cut(given, found.split, UNEVEN)
        found.over([blocks[0], {**blocks[2], "X": blocks[2]["X"][:, :2]}], shared)
