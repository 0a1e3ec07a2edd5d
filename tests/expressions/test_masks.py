"""Comparisons and symbols in operators and functions of code written for NumPy: NumPy's result, or an error.

Each use runs on data by NumPy and as a function of symbols. NumPy is the only reference.
"""

import random
import time

import numpy as np
import pytest

import matcalc as mc

LET = "X: matrix(2, 3); x: vector(3); y: vector(3); s: scalar"
DATA = {
    "X": np.arange(6.0).reshape(2, 3) - 2,
    "x": np.array([-0.5, 0.5, 2.0]),
    "y": np.array([0.3, 0.5, np.nan]),
    "s": np.float64(0.7),
}
SIGNS = [
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&",
    "|",
    "^",
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "@",
    "and",
    "or",
    "in",
]
SYMBOLS = ["(x > 0)", "(x < 1)", "x", "s"]
NUMBERS = ["1", "True", "False", "np.array([True, False, True])", "[1.0, 0.5, 2.0]", "None"]
BINARY = [
    f"{a} {sign} {b}"
    for sign in SIGNS
    for a, b in (
        *((a, b) for a in SYMBOLS for b in (*SYMBOLS, *NUMBERS)),
        *((b, a) for a in SYMBOLS for b in NUMBERS),
    )
    if not (sign in ("*", "/", "@") and "False" in (a, b))  # 0 times any symbol is 0 here
]
UNARY = [
    f"{f.format(a)}"
    for a in ("(x > 0)", "x", "(X > 0)", "X", "(s > 0)", "s", "y")
    for f in (
        "-{}",
        "+{}",
        "~{}",
        "not {}",
        "abs({})",
        "round({})",
        "bool({})",
        "int({})",
        "float({})",
        "complex({})",
        "range({})",
        "len({})",
        "sum({})",
        "min({})",
        "max({})",
        "any({})",
        "all({})",
        "sorted({})",
        "list({})[0]",
        "{}[0]",
        "{}[1:]",
        "{}[...]",
        "{}.any()",
        "{}.all()",
        "{}.sum()",
        "{}.mean()",
        "{}.max()",
        "{}.any(axis=0)",
        "{}.all(axis=0, keepdims=True)",
        "{}.astype(float)",
        "{}.astype(int)",
        "np.any({})",
        "np.all({})",
        "np.count_nonzero({})",
        "np.count_nonzero({}, axis=0)",
        "np.logical_not({})",
        "np.isnan({})",
        "np.invert({})",
        "np.abs({})",
        "np.sign({})",
        "np.where({}, 1.0, 2.0)",
        "np.where({})",
        "divmod({}, 2)",
        "{}.T",
        "x[{}]",
        "[1, 2][{}]",
        "(1 if {} else 2)",
        "np.cumsum({})",
        "f'{{{}:.2f}}'",
    )
]
FUNCTIONS = [
    f"np.{name}({a}, {b})"
    for name in (
        "logical_and",
        "logical_or",
        "logical_xor",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "equal",
        "not_equal",
        "less",
        "greater_equal",
        "fmax",
        "fmin",
        "maximum",
        "minimum",
        "add",
        "multiply",
    )
    for a in ("(x > 0)", "x", "y")
    for b in ("(x < 1)", "y", "np.array([True, False, True])")
]


def value_of(use):
    """Return NumPy's value at the data, or the error that NumPy raises."""
    try:
        return np.asarray(use(**DATA), dtype=float)
    except Exception as fault:
        return fault


def outcome(text):
    """Return the difference from NumPy's value, or an empty text where there is none or the use is rejected."""
    use = eval(f"lambda X, x, y, s: {text}")
    try:
        e = mc.expression(use, LET)
    except mc.MatcalcError:
        return ""
    except Exception as fault:
        return "" if isinstance(value_of(use), type(fault)) else f"{type(fault).__name__}: {fault}"
    with np.errstate(all="ignore"):
        theirs = value_of(use)
        if isinstance(theirs, Exception):
            return ""
        ours = e(**{name: DATA[name] for name in e.symbols})
    is_same = np.shape(ours) == theirs.shape and np.allclose(ours, theirs, equal_nan=True)
    return "" if is_same else f"{ours} for {theirs}"


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.thinned(2)
def test_operators_are_numpys_or_refused(sign):
    wrong = {text: found for text in BINARY if f" {sign} " in text and (found := outcome(text))}
    assert not wrong, dict(list(wrong.items())[:5])


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")
def test_functions_and_methods_are_numpys_or_refused():
    wrong = {text: found for text in (*UNARY, *FUNCTIONS) if (found := outcome(text))}
    assert not wrong, dict(list(wrong.items())[:8])


LEAST = [
    "(x > 0) == (x < 1)",
    "(x > 0) != (x < 1)",
    "(x > 0) ^ (x < 1)",
    "~(x > 0) & np.array([True, False, True])",
    "(x > 0).any()",
    "np.all(X > 0, axis=1)",
    "x == x",
    "y == y",
    "(x > 0)[1]",
    "np.fmax(x, y)",
    "np.fmin(y, x)",
]


@pytest.mark.whole
def test_comparisons_of_comparisons():
    for text in LEAST:
        assert not outcome(text), text
        mc.expression(eval(f"lambda X, x, y, s: {text}"), LET)  # must not be rejected


def test_an_object_from_outside_is_compared_too():
    (c,) = mc.symbols("c: vector(3)")
    e = mc.expression(lambda x: np.sum((c == x) * x), "x: vector(3)")
    assert e(x=[1.0, 2.0, 3.0], c=[1.0, 5.0, 3.0]) == 4.0


GENERATOR, STATE, OWN = np.random.default_rng(1), np.random.RandomState(1), random.Random(1)
DRAWS = [
    lambda x: np.random.rand() * x,
    lambda x: x + np.random.normal(size=3),
    lambda x: x * GENERATOR.normal(),
    lambda x: x * STATE.rand(),
    lambda x: x * OWN.random(),
    lambda x: x * random.random(),
    lambda x: x[: np.random.randint(1, 3)],
    lambda x: x * np.random.default_rng().normal(),
    lambda x: x * time.perf_counter(),
    lambda x: x if np.random.rand() < 2 else -x,
]


@pytest.mark.parametrize("function", DRAWS)
def test_random_numbers_drawn_inside_are_refused(function):
    with pytest.raises(mc.NotSupported, match="random numbers") as fault:
        mc.gradient(lambda x: np.sum(function(x)), "x", "x: vector(3)")
    assert "pass the numbers as an argument" in str(fault.value)


def test_the_line_that_draws_is_shown():
    def loss(x):
        scale = 2.0
        noise = np.random.normal(size=3)
        return np.sum(scale * x + noise)

    with pytest.raises(mc.NotSupported) as fault:
        mc.expression(loss, "x: vector(3)")
    assert fault.value.text.strip() == "noise = np.random.normal(size=3)"


def test_numbers_that_are_the_same_each_time_are_constants():
    e = mc.expression(lambda x: x * np.random.default_rng(0).normal(), "x: scalar")
    assert e(x=1.0) == np.random.default_rng(0).normal()
