"""Sizes where formulas meet data: what arguments determine, and what must fit."""

import numpy as np
import pytest

import matcalc as mc

OUTSIDE = [
    ("A[:, :k]*x", "A: matrix(m, n); x: vector(k)", {"A": (3, 2), "x": (5,)}, "A[:, :k] is outside axis 1 of A"),
    ("A[4, 0]", "A: matrix(m, n)", {"A": (3, 2)}, "A[4, 0] is outside axis 0 of A where m = 3"),
    ("x[-2]", "x: vector(n)", {"x": (1,)}, "x[-2] is outside axis 0 of x where n = 1"),
    ("sum(x[2:])", "x: vector(n)", {"x": (1,)}, "x[2:] is outside axis 0 of x where n = 1"),
    ("exp(x[5])", "x: vector(n)", {"x": (1,)}, "x[5] is outside axis 0 of x where n = 1"),
    ("sum(x[1:-1])", "x: vector(n)", {"x": (1,)}, "x[1:-1] ends before it starts on an axis of x where n = 1"),
]  # fmt: skip
IDS = [text for text, *_ in OUTSIDE]


@pytest.mark.parametrize(("text", "declarations", "shapes", "message"), OUTSIDE, ids=IDS)
def test_parts_are_inside_when_the_sizes_are_known(text, declarations, shapes, message):
    """They are never clipped: what is not there is no zero."""
    data = {name: np.ones(shape) for name, shape in shapes.items()}
    e = mc.expression(text, declarations)
    compiled = mc.compile(e, target="numpy")
    for function in (e, compiled, lambda **data: compiled(*data.values())):
        with pytest.raises(mc.ShapeError) as caught:
            function(**data)
        assert message in str(caught.value)


def test_derivatives_keep_the_conditions():
    g = mc.gradient("x[5]^2*sum(x)", "x", "x: vector(n)")
    assert g(x=np.ones(6)).shape == (6,)
    with pytest.raises(mc.ShapeError, match="is outside axis 0 of x where n = 5"):
        g(x=np.ones(5))


def test_parts_of_objects():
    (X,) = mc.symbols("X: matrix(m, n)")
    e = mc.exp(X @ X.T)[4, 0]
    assert e(X=np.zeros((5, 1))) == 1
    with pytest.raises(mc.ShapeError, match=r"\(exp\(X\*X'\)\)\[4, 0\] is outside axis 0 of .* where m = 3"):
        e(X=np.zeros((3, 1)))


def test_formulas_of_one_call_have_their_own_conditions():
    a, b = mc.reading.expressions(["x[5]", "sum(x)"], "x: vector(n)")
    assert b(x=np.ones(2)) == 2
    with pytest.raises(mc.ShapeError):
        a(x=np.ones(2))
    with pytest.raises(mc.ShapeError):
        mc.compile([a, b], target="numpy")(np.ones(2))


def test_equivalence_is_decided_where_both_have_a_value():
    assert mc.equivalent("x[0] + x[1] + x[2]", "sum(x[:3])", "x: vector(n)")
    assert not mc.equivalent("x[2]", "x[1]", "x: vector(n)")


def test_a_saved_file_tests_itself_at_sizes_that_fit(tmp_path):
    import subprocess
    import sys

    path = tmp_path / "far.py"
    mc.compile("x[20]*sum(x)", declarations="x: vector(n)", target="numpy").save(path)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.stdout.strip() == "all right"
