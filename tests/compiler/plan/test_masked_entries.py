"""Entries that a mask or a shift leaves out do not affect the result, whatever their values; compared with NumPy."""

import numpy as np
import pytest

import matcalc as mc

LET = "A: matrix(n, n); B: matrix(n, n); x: vector(p); z: vector(k); X: matrix(m, q)"
SHAPES = {"A": (3, 3), "B": (3, 3), "x": (4,), "z": (3,), "X": (3, 2)}
CASES = {
    "tril(A.*B)": lambda A, B: np.tril(A * B),
    "sum(tril(A.*B))": lambda A, B: np.sum(np.tril(A * B)),
    "sum(tril(A.*B), axis=0)": lambda A, B: np.sum(np.tril(A * B), axis=0),
    "sum(triu(A.*B, 1).*A, axis=1)": lambda A, B: np.sum(np.triu(A * B * A, 1), axis=1),
    "sum(tril(A.*B.*A'))": lambda A, B: np.sum(np.tril(A * B * A.T)),
    "diag(tril(A)*B)": lambda A, B: np.sum(np.tril(A * B.T), axis=1),
    "conv(x, z)": np.convolve,
    "conv(x, z)[:p]": lambda x, z: np.convolve(x, z)[:4],
    "flip(conv(x, z))": lambda x, z: np.convolve(x, z)[::-1],
    "circshift(conv(x, z), 1)": lambda x, z: np.roll(np.convolve(x, z), 1),
    "roll(X, 1)": lambda X: np.roll(X, 1),
    "cumsum(x)": np.cumsum,
}


def poisoned(names):
    """Yield data with NaN and infinity at every index of every argument."""
    rng = np.random.default_rng(3)
    plain = {name: rng.standard_normal(SHAPES[name]) for name in names}
    yield plain
    for name in names:
        for at in np.ndindex(SHAPES[name]):
            for bad in (np.nan, np.inf):
                changed = plain[name].copy()
                changed[at] = bad
                yield plain | {name: changed}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("text", CASES)
def test_what_is_left_out_counts_for_nothing(text):
    e = mc.expression(text, LET)
    compiled = mc.compile(e, target="numpy")
    for data in poisoned([s for s in e.symbols if s in SHAPES]):
        with np.errstate(all="ignore"):
            expected = CASES[text](*data.values())
            for fn in (e, compiled):
                np.testing.assert_allclose(fn(**data), expected, rtol=1e-12, atol=1e-14, err_msg=str(data))


@pytest.mark.whole
def test_compiled_by_numba():
    together = mc.compile([mc.expression(text, LET) for text in CASES])
    for data in poisoned(together.args):
        with np.errstate(all="ignore"):
            for text, value in zip(CASES, together(**data), strict=True):
                given = [data[s] for s in mc.expression(text, LET).symbols]
                np.testing.assert_allclose(value, CASES[text](*given), rtol=1e-12, atol=1e-14, err_msg=text)
