"""Plain source in Octave and R, run by their interpreters, beside the hand-written NumPy code."""

from functools import cache

import numpy as np
import pytest
from plain_source.data import drawn
from plain_source.formulas import FORMULAS, SECOND, SIZES
from plain_source.interpreters import LANGUAGES, Call, needs, run
from plain_source.sources import as_tuple, assert_close, outputs, source

import matcalc as mc
from matcalc.commands.cli import main
from matcalc.expressions.as_source import function_of

ALL = FORMULAS + SECOND
ONES = {"m": 3, "n": 1, "k": 1, "p": 1, "q": 1, "N": 1}
"""Sizes of 1, at which languages drop axes, and take a matrix of one column for a vector."""
NEEDS_TWO = ("layer_norm", "rosenbrock")
"""Formulas without a value at these sizes: a division by zero; an empty part of a number, which is a row in Octave."""


def calls_of(formula, language, sizes, seed):
    """Return a call of a formula's plain source, and the results of the hand-written function."""
    data = drawn(formula, sizes, seed)
    expected = as_tuple(formula.function(**data))
    arguments = [from_one(data[name]) if name in data else (sizes | formula.sizes)[name] for name in names(formula)]
    shapes = tuple(e.shape for e in expected)
    return Call(f"{formula.name}_{seed}", formula.name, source(formula, language), arguments, shapes), expected


@cache
def names(formula):
    """Return the arguments of the plain function, in order."""
    return function_of(formula.name, list(outputs(formula))).arguments


def from_one(value):
    """Return data that are indices counted from 1."""
    array = np.asarray(value)
    return array + 1 if array.dtype.kind == "i" and array.ndim else value


def assert_equal_to_hand_code(language, formulas, cases, least=0.0):
    """Assert that plain source gives the results of the hand-written code at all sizes.

    Results below `least` may differ by its rounding.
    """
    calls = [calls_of(formula, language, sizes, seed) for formula in formulas for seed, sizes in cases]
    found = run(language, [call for call, _ in calls])
    errors = {label: message for label, message in found.items() if isinstance(message, str)}
    assert errors == {}
    for call, expected in calls:
        assert_close(found[call.label], expected, least=least)


@pytest.mark.whole
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_equal_to_hand_code(language):
    needs(language)
    assert_equal_to_hand_code(language, ALL, enumerate(SIZES))


@pytest.mark.whole
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_equal_at_sizes_of_one(language):
    needs(language)
    formulas = [formula for formula in ALL if not formula.name.startswith(NEEDS_TWO)]
    assert_equal_to_hand_code(language, formulas, [(2, ONES)], least=1.0)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_data_that_are_indices_count_from_one(language):
    text = mc.plain("x[k[0]] + sum(x[k])", "x: vector(n); k: index(N)", language=language, check=False)
    assert {"octave": "x(k(1))", "r": "x[k[1]]"}[language] in text


HIDING = "K = x*x'; norm = norm2(K); sum = exp(norm); sum(x)*sum + pi*mean"
"""A formula whose names are those of functions and constants."""


@pytest.mark.whole
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_names_of_functions_may_be_names_of_variables(language):
    needs(language)
    text = mc.plain(HIDING, "x: vector(n); pi: scalar; mean: scalar", language=language, check=False)
    x = np.array([0.3, -0.2, 0.4])
    found = run(language, [Call("f", "f", text, (x, 2.0, 5.0), ((),))])["f"]
    assert_close(found, np.sum(x) * np.exp(x @ x) + 10)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_name_that_the_source_calls_is_refused(language):
    with pytest.raises(mc.NotSupported, match="calls another function with the name exp"):
        mc.plain("sum(exp(x))", language=language, name="exp")


@pytest.mark.parametrize(("form", "line"), [("octave", "gradient_w = 2 * (X' * (X * w - y));"), ("r", "crossprod(X, ")])
def test_the_command_line_writes_it(form, line, capsys, tmp_path):
    assert main(["gradient", "norm2(X*w - y)^2", "--wrt", "w", "--as", form, "--quiet"]) == 0
    assert line in capsys.readouterr().out
    path = tmp_path / "loss.txt"
    command = ["export", "norm2(X*w - y)^2", "--wrt", "w", "--target", form, "-o", str(path), "--quiet"]
    assert main(command) == 0
    assert "gradient_w" in path.read_text(encoding="utf-8")
