"""Random formulas over data by rows: what blocks add up to against NumPy on all rows at once."""

import re

import numpy as np
import pytest
from row_formulas import BY_ROWS, LET, cut, data, formula

import matcalc as mc

ROWS = 11
CUTS = ((0, ROWS), (0, 3, 3, 4, ROWS))


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(100))
def test_blocks_add_up_to_all_rows(seed):
    made, given = formula(seed), data(ROWS, seed)
    found = mc.split(made.text, over="m", declarations=LET)
    if not found:
        has_rows = any(re.search(rf"\b{name}\b", made.text) for name in BY_ROWS)
        assert not made.separates or not has_rows, str(found)
        return
    with np.errstate(all="ignore"):
        wanted = np.real(made.value(given))
        shared = {name: given[name] for name in found.shared}
        for ends in CUTS:
            np.testing.assert_allclose(found.over(cut(given, found.split, ends), shared), wanted, rtol=1e-8, atol=1e-10)


@pytest.mark.whole
@pytest.mark.parametrize("seed", range(60))
def test_gradients_of_blocks_add_up(seed):
    made, given = formula(seed), data(ROWS, seed)
    if not re.search(r"\bw\b", made.text):
        return
    found = mc.split(made.text, over="m", wrt="w", declarations=LET)
    if not found:
        assert not (made.separates and made.gradient_separates), str(found)
        return
    with np.errstate(all="ignore"):
        wanted = made.gradient(given, "w")
        shared = {name: given[name] for name in found.shared}
        _, gradient = found.over(cut(given, found.split, CUTS[1]), shared)
    scale = 1 + np.max(np.abs(wanted))
    np.testing.assert_allclose(gradient, wanted, rtol=1e-7, atol=1e-9 * scale)


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
    np.testing.assert_allclose(found.over(cut(given, found.split, CUTS[1]), shared), wanted, rtol=1e-12)
    with pytest.raises(mc.ShapeError, match="n is 3 in one and 2 in another" if not shared else "w"):
        blocks = cut(given, found.split, CUTS[1])
        found.over([blocks[0], {**blocks[2], "X": blocks[2]["X"][:, :2]}], shared)
