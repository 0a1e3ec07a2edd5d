"""Python functions written for NumPy as formulas, and the errors for operations that symbols lack."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(m, n); y: vector(m); w: vector(n); x: vector(3); s: scalar"


def ridge(X, y, w, s):
    r = X @ w - y
    return r @ r.T / X.shape[0] + s * np.sum(w**2)


def softmax_loss(X, w, shift=1.0):
    z = X @ w
    z = z - np.max(z)
    return np.log(np.sum(np.exp(z))) + shift


def total(x):
    found = 0.0
    for entry in x:
        found += entry**2
    return found


def assembled(x):
    return np.array([x[0] * x[1], np.sin(x[2])]) @ np.array([[1.0, 2.0], [3.0, 4.0]])


def clipped(x):
    return np.sum(np.where((x > 0) & (x < 1) | ~(x > -1), x**2, 0.0))


def scaled(w):
    return w / np.sqrt(w.shape[0]) + len(w.shape)


SAME = [
    (ridge, "norm2(X*w - y)^2/m + s*norm2(w)^2"),
    (softmax_loss, "log(sum(exp(X*w - max(X*w)))) + 1"),
    (total, "x[0]^2 + x[1]^2 + x[2]^2"),
    (assembled, "[1, 2; 3, 4]'*[x[0]*x[1]; sin(x[2])]"),
    (clipped, "sum(where(x > 0, where(x < 1, x.^2, where(x > -1, 0, x.^2)), where(x > -1, 0, x.^2)))"),
    (scaled, "w/sqrt(n) + 1"),
    (partial(ridge, s=0.5), "norm2(X*w - y)^2/m + norm2(w)^2/2"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("function", "text"), SAME, ids=[text for _, text in SAME])
def test_a_function_is_the_formula_that_it_computes(function, text):
    assert mc.expression(function, LET).simplify().node is mc.expression(text, LET).simplify().node


def test_functions_stand_wherever_text_does():
    expected = mc.gradient("norm2(X*w - y)^2/m + s*norm2(w)^2", "w", LET)
    assert mc.gradient(ridge, "w", LET) == expected
    assert mc.expression(ridge, LET).gradient("w") == expected
    assert mc.hessian(ridge, "w", LET).node is mc.hessian(str(mc.expression(ridge, LET)), "w", LET).node
    assert mc.equivalent(ridge, "norm2(X*w - y)^2/m + s*norm2(w)^2", LET)
    assert mc.check(ridge, "w", LET)


@pytest.mark.whole
def test_arguments_are_the_parameters_in_the_order_of_the_declarations():
    fn = mc.value_and_gradient(ridge, "w", LET, target="numpy")
    assert fn.args == ("X", "y", "w", "s")
    unused = mc.compile(lambda s, w, x: w * 2, declarations=LET, target="numpy")
    assert unused.args == ("w", "x", "s")


def test_several_results_are_several_outputs():
    fn = mc.compile(lambda w, s: (w * s, [s, np.sum(w)]), declarations=LET, target="numpy")
    first, (second, third) = fn(np.array([1.0, 2.0]), 3.0)
    assert (first.tolist(), second, third) == ([3.0, 6.0], 3.0, 3.0)


def test_the_decorator_makes_an_expression():
    @mc.function(LET)
    def loss(X, y, w):
        return np.mean((X @ w - y) ** 2)

    assert loss == mc.expression("mean((X*w - y).^2)", LET)
    assert loss.T is not None and (loss.gradient("w").T @ loss.gradient("w")).shape == ()


def test_a_vector_has_no_row_mark_inside_and_has_one_outside():
    assert mc.expression(lambda x: x @ x.T, LET).shape == ()
    outside = mc.expression(lambda x: 2 * x, LET)
    assert (outside @ outside.T).shape == (3, 3)


def prints(x):
    print(f"{x[0]:.3f}")
    return x


def mutates(x):
    x[0] = 1
    return x


def mutates_another_name(x):
    z = x
    z += 1
    return x


def counts(w):
    return sum(w[k] for k in range(w.shape[0]) if w is not None)


def misfit(X):
    return X @ X


def unknown_function(x):
    return np.fft.fft(x)


FAULTS = [
    (prints, mc.NotSupported, "x[0] is a formula, which has no value to print as '.3f': line {} of prints", 1),
    (mutates, mc.NotSupported, "the argument x is not changed in place: line {} of mutates", 1),
    (mutates_another_name, mc.NotSupported, "the argument x is not changed in place: line {} of", 2),
    (counts, mc.NotSupported, "a loop over n steps cannot be a recurrence; line {}: the comprehension", 1),
    (misfit, mc.ShapeError, "cannot multiply X (m x n) by X (m x n): n and m differ: line {} of misfit", 1),
    (
        unknown_function,
        mc.NotSupported,
        "np.fft.fft: this function is not supported on symbols: line {} of unknown_function",
        1,
    ),
]


@pytest.mark.parametrize(("function", "error", "message", "line"), FAULTS, ids=[f.__name__ for f, *_ in FAULTS])
def test_faults_show_the_line_of_the_function(function, error, message, line):
    with pytest.raises(error) as fault:
        mc.expression(function, LET)
    at = function.__code__.co_firstlineno + line
    assert str(fault.value).startswith(message.format(at))
    source = Path(__file__).read_text(encoding="utf-8").split("\n")[at - 1]
    assert fault.value.text == source
    assert "^" in str(fault.value)


def test_what_is_no_function_of_declared_symbols():
    with pytest.raises(mc.UnknownName, match="the parameter y of ridge is not declared"):
        mc.expression(ridge, "X: matrix(m, n); w: vector(n); s: scalar")
    with pytest.raises(mc.NotSupported, match=r"the parameter \*x"):
        mc.expression(lambda *x: x[0], LET)
    with pytest.raises(mc.NotSupported, match="returns None, which is no formula"):
        mc.expression(lambda x: None, LET)
    with pytest.raises(mc.ShapeError, match="returns 2 values"):
        mc.expression(lambda x: (x, x), LET)
