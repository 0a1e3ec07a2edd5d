"""Literal matrices of functions of one number: their derivatives are right, and are literal matrices too."""

import mpmath
import numpy as np
import pytest
from mpmath import cos, cosh, sin, sinh

import matcalc as mc

MATRICES = {
    "rotation": ("[cos(t), -sin(t); sin(t), cos(t)]", lambda t: [[cos(t), -sin(t)], [sin(t), cos(t)]]),
    "about z": (
        "[cos(t), -sin(t), 0; sin(t), cos(t), 0; 0, 0, 1]",
        lambda t: [[cos(t), -sin(t), 0], [sin(t), cos(t), 0], [0, 0, 1]],
    ),
    "about x": (
        "[1, 0, 0; 0, cos(t), -sin(t); 0, sin(t), cos(t)]",
        lambda t: [[1, 0, 0], [0, cos(t), -sin(t)], [0, sin(t), cos(t)]],
    ),
    "boost": ("[cosh(t), sinh(t); sinh(t), cosh(t)]", lambda t: [[cosh(t), sinh(t)], [sinh(t), cosh(t)]]),
    "powers": ("[1, t; t^2, t^3]", lambda t: [[1, t], [t**2, t**3]]),
    "mixed": ("[exp(t), 0; log(t), 1/t]", lambda t: [[mpmath.exp(t), 0], [mpmath.log(t), 1 / t]]),
    "absolute": ("[abs(t), t; -t, 2]", lambda t: [[abs(t), t], [-t, 2]]),
}  # fmt: skip
LOSSES = {
    "norm2({}*x - y)^2": lambda R, x, y: mpmath.norm(R * x - y) ** 2,
    "y'*{}*x": lambda R, x, y: (y.T * R * x)[0],
    "sum(exp({}*x).*y)": lambda R, x, y: sum(mpmath.exp(a) * b for a, b in zip(R * x, y, strict=True)),
    "tr({0}*x*y'*{0})": lambda R, x, y: sum((R * x * y.T * R)[k, k] for k in range(R.rows)),
}
T = 0.7


def of(matrix, loss, x, y):
    def function(t):
        return loss(mpmath.matrix(MATRICES[matrix][1](t)), mpmath.matrix(list(x)), mpmath.matrix(list(y)))

    return function


@pytest.mark.sampled(32)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("matrix", MATRICES)
def test_first_and_second_derivatives(matrix, loss):
    rng = np.random.default_rng(3)
    size = len(MATRICES[matrix][1](T))
    x, y = rng.normal(size=size), rng.normal(size=size)
    text = loss.format(MATRICES[matrix][0])
    f = mc.expression(text, f"t: scalar positive; x, y: vector({size})")
    function = of(matrix, LOSSES[loss], x, y)
    for order, derived in enumerate((f.gradient("t"), f.hessian("t")), 1):
        want = float(mpmath.diff(function, T, order))
        values = {str(s): {"t": T, "x": x, "y": y}[str(s)] for s in derived.symbols}
        assert float(derived(**values)) == pytest.approx(want, rel=1e-12, abs=1e-12)
        compiled = mc.compile(derived, target="numpy")
        assert float(compiled(**values)) == pytest.approx(want, rel=1e-12, abs=1e-12)
        assert mc.expression(str(derived), f"t: scalar positive; x, y: vector({size})").node is derived.node


@pytest.mark.sampled(3)
@pytest.mark.parametrize("matrix", ["rotation", "about z", "about x"])
def test_they_stay_matrices(matrix):
    size = len(MATRICES[matrix][1](T))
    f = mc.expression(f"norm2({MATRICES[matrix][0]}*x - y)^2", f"t: scalar; x, y: vector({size})")
    assert "x[" not in str(f.gradient("t"))


def test_the_printed_gradient_of_a_rotation():
    f = mc.expression("norm2([cos(t), -sin(t); sin(t), cos(t)]*x - y)^2", "t: scalar; x, y: vector(2)")
    assert str(f.gradient("t")) == "2*x'*[sin(t), -cos(t); cos(t), sin(t)]*(y - [cos(t), -sin(t); sin(t), cos(t)]*x)"


@pytest.mark.whole
@pytest.mark.parametrize("matrix", MATRICES)
def test_compiled(matrix):
    rng = np.random.default_rng(4)
    size = len(MATRICES[matrix][1](T))
    x, y = rng.normal(size=size), rng.normal(size=size)
    loss = "norm2({}*x - y)^2"
    f = mc.expression(loss.format(MATRICES[matrix][0]), f"t: scalar positive; x, y: vector({size})")
    fn = mc.value_and_gradient(f, "t")
    got = fn(**{name: {"t": T, "x": x, "y": y}[name] for name in fn.args})[1]
    assert float(got) == pytest.approx(float(mpmath.diff(of(matrix, LOSSES[loss], x, y), T)), rel=1e-12)


KINKED = [
    "abs(t)",
    "sqrt(t)",
    "max(t, 0)",
    "min(t, 1)",
    "t^1.5",
    "t^(1/3)",
    "1/t",
    "t*log(t)",
    "where(t > 0, t, 2*t)",
    "clip(t, -1, 1)",
]
STEEP = [
    "norm2({}*x)",
    "sum(abs({}*x))",
    "max({}*x)",
    "sum(sqrt(abs({})))",
    "sum(max({}, 0))",
    "x'*{}*x",
    "logdet({0}*{0}' + eye(2))",
]
POINTS = [(t, x) for t in (-0.3, 0.0, 0.5, 1.0) for x in ([1.0, 2.0], [0.0, 1.0], [0.0, 0.0])]


def at(text, more, t, x):
    """Return the gradient in t at a point, NaN and infinities included; a refusal by its name."""
    f = mc.expression(text, "t, u: scalar; x: vector(2)" if more else "t: scalar; x: vector(2)")
    derived = f.gradient("t")
    values = {"t": t, "u": 0.5, "x": np.array(x)}
    try:
        return float(derived(**{str(s): values[str(s)] for s in derived.symbols}))
    except mc.MatcalcError as fault:
        return type(fault).__name__


@pytest.mark.sampled(72)
@pytest.mark.parametrize("loss", STEEP)
@pytest.mark.parametrize("entry", KINKED)
def test_what_is_not_smooth_is_taken_entry_by_entry(entry, loss):
    """An array with another symbol in its entries is taken entry by entry: a number in its place changes nothing."""
    with np.errstate(all="ignore"):
        for t, x in POINTS:
            own = at(loss.format(f"[{entry}, 0.5; -0.5, {entry}]"), False, t, x)
            entries = at(loss.format(f"[{entry}, u; -u, {entry}]"), True, t, x)
            assert own == pytest.approx(entries, rel=1e-9, abs=1e-12, nan_ok=True), (t, x)
