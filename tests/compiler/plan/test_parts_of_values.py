"""Parts of an entrywise value are computed where they are read, if that is less work; bounds are still checked."""

import numpy as np
import pytest

import matcalc as mc

LET = "A, B: matrix(n, n); a: vector(n)"
PARTS = {
    "tr(A - a*a')": lambda A, a, **_: np.trace(A - np.outer(a, a)),
    "diag(A - a*a')": lambda A, a, **_: np.diag(A - np.outer(a, a)),
    "sum(diag(A.*B + A))": lambda A, B, **_: np.trace(A * B + A),
    "(A - a*a')[0, :]": lambda A, a, **_: (A - np.outer(a, a))[0],
    "(A - a*a')[:, -1]": lambda A, a, **_: (A - np.outer(a, a))[:, -1],
    "sum((A.*A + exp(A))[1:3, :2])": lambda A, **_: np.sum((A * A + np.exp(A))[1:3, :2]),
    "tr(where(A > 0, A, exp(A)))": lambda A, **_: np.trace(np.where(A > 0, A, np.exp(A))),
}
RNG = np.random.default_rng(1)


@pytest.mark.parametrize("text", PARTS)
@pytest.mark.parametrize("target", ["numpy", pytest.param("numba", marks=pytest.mark.whole)])
def test_no_whole_value_is_written(text, target):
    fn = mc.compile(text, declarations=LET, target=target)
    assert "temporar" not in fn.plan
    for n in (3, 4):
        data = {"A": RNG.standard_normal((n, n)), "B": RNG.standard_normal((n, n)), "a": RNG.standard_normal(n)}
        np.testing.assert_allclose(fn({name: data[name] for name in fn.args}), PARTS[text](**data), rtol=1e-13)


@pytest.mark.parametrize("text", [text for text in PARTS if "0" in text and "[" in text or "1:3" in text])
def test_parts_outside_are_still_named(text):
    fn = mc.compile(text, declarations=LET, target="numpy")
    none = {"A": np.zeros((0, 0)), "B": np.zeros((0, 0)), "a": np.zeros(0)}
    with pytest.raises(mc.ShapeError, match="outside axis 0"):
        fn({name: none[name] for name in fn.args})
