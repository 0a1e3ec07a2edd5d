"""Every operation in Octave and R, with its pullbacks, beside the independent values of the reference cases."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from plain_source.interpreters import LANGUAGES, Call, needs, run

import matcalc as mc
from matcalc.expressions.as_source import function_of
from oracle.cases import operations
from oracle.data import SIZES

FEWEST = {"octave": 210, "r": 205}
"""At least so many values and pullbacks have plain source in a language."""


@cache
def results():
    """Return a name, an expression, its data and the expected result for each value and pullback."""
    found = []
    for number, case in enumerate(operations()):
        data, G = case.sample(), case.cotangent()
        name = f"op_{number}"
        found.append((f"{name}_value", case.text, mc.expression(case.text, case.let), data, case.value(data)))
        for symbol in case.vjp:
            expected = case.adjoint(symbol, data, G)
            pulled = mc.vjp(case.text, symbol, declarations=case.let)
            found.append((f"{name}_{symbol}", case.text, pulled, {**data, "G": G}, expected))
    return found


def argument(name, data):
    """Return an argument: data, or a size."""
    return data.get(name, SIZES.get(name))


@pytest.mark.whole
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_operations_equal_their_reference(language):
    needs(language)
    calls, expected, refused = [], {}, Counter()
    for name, text, e, data, value in results():
        try:
            source = mc.plain(e, language=language, name=name, check=False)
        except mc.NotSupported as error:
            refused[str(error)] += 1
            continue
        arguments = [argument(symbol, data) for symbol in function_of(name, [e]).arguments]
        calls.append(Call(name, name, source, arguments, (np.shape(value),)))
        expected[name] = text, np.asarray(value)
    found = run(language, calls)
    wrong = {
        name: (text, found[name])
        for name, (text, value) in expected.items()
        if isinstance(found[name], str) or not np.allclose(found[name][0], value, rtol=1e-8, atol=1e-8)
    }
    assert wrong == {}
    assert len(calls) >= FEWEST[language], refused
