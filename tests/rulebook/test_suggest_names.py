"""Suggestions for unknown names: slips of the pen, and the names of other systems."""

import re

import numpy as np
import pytest

import matcalc as mc
from matcalc.rulebook.load import shipped_rulebook
from matcalc.rulebook.suggest_names import elsewhere

BOOK = shipped_rulebook()
PUBLIC = [
    name for name, ones in BOOK.spellings.items() if not all(c.rule.internal for c in ones) and name.isidentifier()
]
LETTERS = "aeqx_2"


def slips(name):
    """Return all slips of a name: a letter more, less or other, two in the wrong order."""
    for i in range(len(name) + 1):
        head, tail = name[:i], name[i:]
        yield from (head + letter + tail for letter in LETTERS)
        yield head + tail[1:]
        yield from (head + letter + tail[1:] for letter in LETTERS if tail)
        yield head + tail[1:2] + tail[:1] + tail[2:]


def proposed(word):
    with pytest.raises(mc.UnknownName) as caught:
        BOOK.candidates(word)
    return caught.value.hint


@pytest.mark.thinned(2)
@pytest.mark.sampled(144)
@pytest.mark.parametrize("name", PUBLIC)
def test_a_slip_is_understood(name):
    """The suggestion for a slip is the name itself, perhaps beside others as near, or nothing."""
    unread = {word for word in slips(name) if word and word not in BOOK.spellings and word not in BOOK.rules}
    hints = {word: proposed(word) for word in unread}
    for word, hint in hints.items():
        if hint.startswith("did you mean"):
            near = hint.removeprefix("did you mean ").removesuffix("?").split(" or ")
            assert name in near or any(near_case.lower() == word.lower() for near_case in near), word
            assert len(near) <= 3
    assert sum(not hint for hint in hints.values()) <= len(hints) / 4 or len(name) < 4


@pytest.mark.parametrize("word", ["matrix_rank", "nullspace", "fft", "argmax", "dropout", "phi", "xyzzy"])
def test_nothing_is_proposed(word):
    assert proposed(word) == ""


def test_the_table():
    """Each spelling suggested is read, and no name in the table is."""
    read = {name.lower().replace("_", "") for name in BOOK.spellings}
    assert not read & {*elsewhere(), *elsewhere("said")}
    assert not elsewhere().keys() & elsewhere("said").keys()
    for text in dict.fromkeys(elsewhere().values()):
        if text and text not in BOOK.spellings:
            mc.expression(text, "S: matrix(n, n) symmetric" if re.search(r"\bS\b", text) else "")
    for sentence in elsewhere("said").values():
        _, found, formula = sentence.partition(":  " if ":  " in sentence else " is  ")
        if found and "data" not in sentence:
            mc.expression(formula)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("argmin", "mc.minimize(f, "),
        ("fsolve", "root(y - cos(y) - b, y, start=b)"),
        ("recurrence", "x[t+1] = A*x[t], t < T"),
        ("odeint", "there is no integrator"),
        ("integrate", "there are no integrals"),
        ("randn", "declare them as data"),
        ("grad", "mc.gradient(f, wrt)"),
    ],
)
def test_what_a_formula_does_not_contain(word, said):
    assert said in proposed(word)


RNG = np.random.default_rng(2)
x, y, A, X = RNG.uniform(0.2, 0.8, 5), RNG.uniform(0.2, 0.8, 5), RNG.normal(size=(4, 4)), RNG.normal(size=(6, 3))
MEANT = [
    ("transpose", {"X": X}, X.T),
    ("mean_squared", {"x": x, "y": y}, np.mean((x - y) ** 2)),
    ("Hadamard", {"X": X, "Y": X}, X * X),
    ("cov", {"X": X}, np.cov(X, rowvar=False)),
    ("sec", {"x": x}, 1 / np.cos(x)),
    ("kl_div", {"p": x, "q": y}, np.sum(x * np.log(x / y))),
    ("diff", {"x": x}, np.diff(x)),
    ("exp2", {"x": x}, np.exp2(x)),
    ("cross_entropy", {"p": x, "q": y}, -np.sum(x * np.log(y))),
    ("fliplr", {"X": X}, np.fliplr(X)),
    ("mldivide", {"A": A, "b": A[0]}, np.linalg.solve(A, A[0])),
    ("mrdivide", {"B": A, "A": A + 5 * np.eye(4)}, A @ np.linalg.inv(A + 5 * np.eye(4))),
    ("ConjugateTranspose", {"X": X}, X.T),
    ("sum_squares", {"x": x}, np.sum(x**2)),
    ("leaky_relu", {"x": x - 0.5}, np.where(x > 0.5, x - 0.5, 0.01 * (x - 0.5))),
    ("geo_mean", {"x": x}, np.prod(x) ** 0.2),
    ("hmean", {"x": x}, 1 / np.mean(1 / x)),
    ("rms", {"x": x}, np.sqrt(np.mean(x**2))),
]


@pytest.mark.parametrize(("word", "data", "truth"), MEANT, ids=[word for word, *_ in MEANT])
def test_what_is_written_here(word, data, truth):
    """A formula suggested for a name has the meaning of the name in NumPy."""
    text = proposed(word).removeprefix("write  ")
    e = mc.expression(text, "X: matrix(m, n)" if "X" in text else "")
    np.testing.assert_allclose(e(**data), truth, rtol=1e-12)
