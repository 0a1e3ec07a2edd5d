"""Loops that read one large array along rows and another along columns go over square tiles."""

import numpy as np
import pytest
from c_files import CCall, why_not

import matcalc as mc

LET = "A: matrix(m, n); B: matrix(n, m); S: matrix(n, n); v: vector(n)"
FORMULAS = {
    "both ways": ("S + S'", lambda A, B, S, v: S + S.T),
    "entries": ("exp(A).*B' - 2*A", lambda A, B, S, v: np.exp(A) * B.T - 2 * A),
    "a total": ("sum(sin(A).*B')", lambda A, B, S, v: np.sum(np.sin(A) * B.T)),
    "columns scaled": ("A.*(v.*B)'", lambda A, B, S, v: A * (v[:, None] * B).T),
    "several results": (("A + B'", "sum(A.*B')"), lambda A, B, S, v: (A + B.T, np.sum(A * B.T))),
}
SMALL = [(0, 3), (3, 0), (1, 1), (1, 7), (5, 4), (33, 32), (70, 31)]
LARGE = [(1009, 1003), (1024, 1024), (32, 40000), (40001, 31)]


def arrays(m, n):
    rng = np.random.default_rng(m + n)
    shapes = {"A": (m, n), "B": (n, m), "S": (min(n, 1500),) * 2, "v": (n,)}
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def compiled(name, target="numba"):
    text, _ = FORMULAS[name]
    texts = [text] if isinstance(text, str) else text
    return mc.compile([mc.expression(t, LET) for t in texts], target=target)


def check(name, m, n, call):
    """Compare the result of a call for arguments by name with NumPy."""
    given = arrays(m, n)
    want = FORMULAS[name][1](**given)
    want = want if isinstance(want, tuple) else (want,)
    for got, true in zip(call(given), want, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-12, atol=1e-11)


@pytest.mark.sampled(64)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("size", SMALL + LARGE)
def test_tiles_give_each_entry_once(name, size):
    fn = compiled(name)
    assert "tile" in fn.source
    check(name, *size, lambda given: fn(**{k: given[k] for k in fn.args}))


@pytest.mark.parametrize("name", FORMULAS)
def test_rows_alone_are_no_tiles(name):
    text, _ = FORMULAS[name]
    texts = [text] if isinstance(text, str) else text
    alike = "A: matrix(m, n); B: matrix(m, n); S: matrix(n, n) symmetric; v: vector(m)"
    fn = mc.compile([mc.expression(t.replace("B'", "B").replace("(v.*B)'", "(v.*B)"), alike) for t in texts])
    assert "tile" not in fn.source


@pytest.mark.whole
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("size", [(33, 32), (1009, 1003)])
def test_the_text_is_right_for_numba_too(name, size):
    fn = compiled(name)
    check(name, *size, lambda given: fn.numba(*(given[k] for k in fn.args)))


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "nothing is missing")
@pytest.mark.whole
@pytest.mark.parametrize("name", FORMULAS)
def test_and_in_c(name):
    call = CCall(compiled(name, "c"))
    for size in ((0, 3), (33, 32), (1009, 1003)):
        check(name, *size, lambda given: call(**{k: given[k] for k in call.spec.names}))
