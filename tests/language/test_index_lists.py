"""Lists of indices and masks as subscripts of matrix text: values against NumPy's own indexing, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import matcalc as mc

DECLARED = "x: vector(n); X: matrix(m, n); z: vector(3); Z: matrix(3, 4); T: tensor(3, 4, 5); i: index"
RNG = np.random.default_rng(0)
DATA = {
    "x": RNG.normal(size=6), "X": RNG.normal(size=(5, 6)), "z": RNG.normal(size=3), "Z": RNG.normal(size=(3, 4)),
    "T": RNG.normal(size=(3, 4, 5)), "i": 2, "n": 6,
}  # fmt: skip

# As NumPy writes them too.
PARTS = [
    "x[[0, 2]]", "x[[2, 0]]", "x[[0, 0, 1]]", "x[[-1, 0]]", "x[[0, n - 1]]", "x[[1, 2, 3]]", "x[[3]]", "x[[-2]]",
    "X[[0, 2]]", "X[[0, 2], :]", "X[:, [1, 0]]", "X[[-1, 1], :]", "X[:, [-1, n - 2]]", "X[[1], :]", "X[:, [1]]",
    "X[[-1], :]", "X[:, [-1]]", "X[[0, 2], 1]", "X[1, [0, 2]]", "X[[0, 2], 1:3]", "X[1:, [0, 2]]", "X[[0, 2], i]",
    "X[i, [4, 0]]", "X[[0, 2], :][:, [1, 3]]", "z[[True, False, True]]", "z[[False, False, True]]",
    "z[[False, False, False]]", "Z[[True, False, True], :]", "Z[:, [True, False, False, True]]",
    "Z[[True, False, True], 1]", "Z[:, [False, True, False, False]]", "Z[:, [False, False, False, False]]",
    "T[[0, 1], 1, 2]", "T[1, [0, 3], :]", "T[:, 1, [0, 4]]", "T[:, [0, 3], 2]", "T[[2, 0], :, 1]",
]  # fmt: skip


def names_in(text: str) -> dict:
    return {name: DATA[name] for name in DATA if name in re.findall(r"[a-zA-Z]+", text) and name != "n"}


def expected(text: str) -> np.ndarray:
    return np.asarray(eval(text, {"__builtins__": {}}, {**DATA, "True": True, "False": False}))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", PARTS)
def test_a_part_is_that_of_numpy(text):
    part = mc.expression(text, DECLARED)
    value = part(**names_in(text))
    assert np.shape(value) == expected(text).shape
    np.testing.assert_array_equal(value, expected(text))
    data = {name: value for name, value in names_in(text).items() if name in names_in(str(part))}
    if data:
        again = mc.expression(str(part), DECLARED)
        np.testing.assert_array_equal(again(**data), expected(text))


@pytest.mark.sampled(12)
@pytest.mark.parametrize("text", [text for text in PARTS if "i" not in text])
def test_compiled_and_the_gradient(text):
    name = text[0]
    value = DATA[name]
    function = mc.compile(f"sum(exp({text}))", declarations=DECLARED)
    assert function(**{name: value}) == pytest.approx(np.sum(np.exp(expected(text))), rel=1e-12)
    places = eval(text, {}, {**DATA, name: np.arange(value.size).reshape(value.shape)})
    slope = np.zeros(value.size)
    np.add.at(slope, np.ravel(places), np.exp(np.ravel(expected(text))))
    gradient = mc.gradient(f"sum(exp({text}))", name, DECLARED)
    if gradient.symbols:
        np.testing.assert_allclose(gradient(**{name: value}), slope.reshape(value.shape), rtol=1e-12)
    else:
        assert not slope.any()


def test_indices_outside_are_refused_when_the_size_is_known():
    part = mc.expression("x[[0, 4]]", DECLARED)
    with pytest.raises(mc.MatcalcError, match="outside"):
        part(x=np.ones(3))


REFUSED = [
    ("X[[0, 1], [1, 2]]", "two readings: all pairs"),
    ("X[[True, False], [1, 2]]", "two readings: all pairs"),
    ("X[[0, 1], y]", "two readings: all pairs"),
    ("z[[0, 3]]", "outside axis 0 of z"),
    ("z[[0, 0.5]]", "an integer or a size, not 0.5"),
    ("z[[True, False]]", "a mask of 2 entries on axis 0 of z"),
    ("x[[True, False]]", "a mask of 2 entries on axis 0 of x"),
    ("z[[True, 0, 1]]", "True and False only"),
    ("x[[0, 1; 1, 2]]", "a table of indices"),
    ("x[y[[0, 1]]]", "a list of entries of an index"),
    ("{j: x[[j, 0]]}", "integers and sizes, not j"),
    ("x[[i, 0]]", "i is an index, not a number"),
    ("T[1, :, [0, 1]]", "a range between indices"),
    ("T[[0, 1], :, :]", "a part with 3 axes"),
    ("x[[0, 1], 2]", "has 1 axes, not 2"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_refused(text, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(text, DECLARED + "; y: index(k)")


def test_pairs_are_numpys_in_numpys_text():
    part = mc.expression("X[[0, 1], [1, 2]]", DECLARED, dialect="numpy")
    np.testing.assert_array_equal(part(X=DATA["X"]), DATA["X"][[0, 1], [1, 2]])


def test_subscripts_in_python_may_be_text_with_a_list():
    X = mc.expression("X", "X: matrix(3, 4)")
    np.testing.assert_array_equal(X["[0, 2], :"](X=DATA["Z"]), DATA["Z"][[0, 2], :])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", ["x[[0, 2]]", "x[[True, False, True, False, False, False]]"])
def test_the_check_compares_with_numpys_indexing(text):
    assert mc.check(f"sum(exp({text})*2)", "x", "x: vector(6)")
