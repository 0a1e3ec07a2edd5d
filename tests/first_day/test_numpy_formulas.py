"""Formulas as NumPy users type them: as text and traced, they have NumPy's value or are rejected.

The reference is NumPy itself, running the line.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc

LET = {
    "X": "matrix(5, 4)", "I": "matrix(5, 4)", "A": "matrix(4, 4)", "B": "matrix(4, 4)", "S": "matrix(4, 4) symmetric",
    "P": "matrix(4, 4) spd", "x": "vector(4)", "y": "vector(4)", "z": "vector(5)", "c": "scalar",
    "T": "tensor(2, 3, 4)", "k": "index", "i": "index(6)",
}  # fmt: skip
ROWS = Path(__file__).with_name("numpy_formulas.txt").read_text(encoding="utf-8").splitlines()
UNTRACED = ("np.array([x, y])", "np.asarray(x)")  # NumPy converts the object to numbers

REFUSED = [
    "np.linalg.norm(X, -2)", "np.linalg.norm(x, -np.inf)", "np.linalg.svd(X)[1]", "np.linalg.qr(X, mode='complete')[1]",
    "np.linalg.eigh(A, UPLO='U')[0]", "np.linalg.cond(A, 1)", "np.linalg.matrix_rank(A)",
    "np.max(x, initial=0)", "np.sum(x, where=x > 0)", "np.sum(x, initial=2.0)", "np.argmax(x)",
    "x[x > 0]",
    "np.convolve(x, y, mode='same')", "np.interp(c, x, y)", "x + np.inf",
]  # fmt: skip
"""Lines that NumPy runs and matcalc rejects, as text and traced."""

HOSTILE = [
    "np.load('x')", "np.random.randn(4)", "x[:, None].__class__", "().__class__.__bases__[0]",
    "x.gradient('x')[:, None]",
    "np.linalg.norm.__globals__", "[1]*10**9", "f'{x}'", "lambda x: x", "(x := 1)", "[x for x in y]",
    "np.sum(*x[:, None])",
    "x[:, None] if x else y", "x[:, None] and y", "np.sum(X, keepdims=1 == 2)", "1j*x[:, None]", "2[:, None]", "'abc'",
    "np.newaxis", "x[..., ...]", "x[:, None]" + "+x[:, None]" * 5000, "(" * 300 + "x[:, None]" + ")" * 300,
]  # fmt: skip
"""Python that is no formula."""


def drawn():
    rng = np.random.default_rng(5)
    data = {}
    for name, kind in LET.items():
        data[name] = rng.normal(size=[int(n) for n in re.findall(r"\d+", kind)])
    data["S"] = data["S"] + data["S"].T
    data["P"] = data["P"] @ data["P"].T + np.eye(4)
    return {**data, "c": 0.7, "k": 2, "i": np.array([0, 1, 3, 2, 2, 1])}


DATA = drawn()


def names_in(row):
    return [n for n in LET if re.search(rf"(?<![.\w]){n}(?!\w)(?!\s*=[^=])", row)]


def declared(row):
    return "; ".join(f"{n}: {LET[n]}" for n in names_in(row))


def on_arrays(row, data=None):
    with np.errstate(all="ignore"):
        return eval(row, {"np": np}, dict(DATA if data is None else data))


def traced(row):
    return eval(f"lambda {', '.join(names_in(row))}: {row}", {"np": np})


def value(e):
    return e(**{name: DATA[name] for name in map(str, e.symbols)})


@pytest.mark.sampled(24)
@pytest.mark.parametrize("row", ROWS)
def test_value(row):
    expected = on_arrays(row)
    read = [mc.expression(row, declared(row), dialect="numpy")]
    if row not in UNTRACED:
        read.append(mc.expression(traced(row), declared(row)))
    for e in read:
        found = value(e)
        assert np.shape(found) == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.whole
@pytest.mark.parametrize("row", [row for row in ROWS if "x" in names_in(row)])
def test_gradient(row):
    """The gradient of a sum of squares, evaluated and compiled, against central differences of the line itself."""
    square = f"np.sum(({row})**2)"
    fn = mc.value_and_gradient(square, "x", declared(row), dialect="numpy", target="numpy")
    found, slope = fn(**{name: DATA[name] for name in fn.args})
    assert found == pytest.approx(on_arrays(square), rel=1e-10)
    for at in range(4):
        step = 1e-6 * np.eye(4)[at]
        ends = [on_arrays(square, {**DATA, "x": DATA["x"] + sign * step}) for sign in (1, -1)]
        assert slope[at] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("row", ["np.linalg.lstsq(X, z)[0]", "x[[0, 2]]", "x[::2]", "np.take(x, [0, 1])"])
def test_value_of_a_function_alone(row):
    np.testing.assert_allclose(value(mc.expression(traced(row), declared(row))), on_arrays(row), rtol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("row", REFUSED)
def test_refused(row):
    for formula, dialect in ((row, "numpy"), (traced(row), "matrix")):
        with pytest.raises(mc.MatcalcError) as caught:
            mc.expression(formula, declared(row), dialect=dialect)
        assert len(str(caught.value)) < 500


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", HOSTILE, ids=lambda row: row[:30])
def test_hostile(row):
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(row, "x: vector(4); y: vector(4); X: matrix(5, 4)", dialect="numpy")
    assert caught.value.text == row


def test_place():
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression("ä + \n  x[:, None] @ y[:3, None]", "x: vector(4); y: vector(4); ä: scalar", dialect="numpy")
    assert caught.value.text[caught.value.at :].startswith("x[:, None] @ y")


def test_undeclared_names():
    """Names have the kinds that their spelling implies, and their own sizes; each is marked."""
    e = mc.expression("np.sum((x[:, None] - z[None, :])**2)", dialect="numpy")
    assert e.declarations == "x: vector(m), undeclared; z: vector(n), undeclared"
    x, z = np.arange(3.0), np.arange(4.0) ** 2
    assert e(x=x, z=z) == np.sum((x[:, None] - z[None, :]) ** 2)
    np.testing.assert_allclose(e.gradient("x")(x=x, z=z), 2 * np.sum(x[:, None] - z[None, :], axis=1))


def test_huge_powers_of_numbers_stay_powers():
    assert str(mc.expression("9^(9^9)*x")) == "9^387420489*x"
    assert str(mc.expression("9**9**9*x[:, None]", dialect="numpy")).startswith("9^387420489*x")
