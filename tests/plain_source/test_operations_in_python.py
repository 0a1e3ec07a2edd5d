"""Every operation and the textbook's formulas in plain Python, against the oracle and SciPy's differences."""

import json
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.api.export import plain_functions
from matcalc.api.plain_tests import plain_test
from matcalc.errors import NotSupported
from matcalc.expressions.as_source import plain_module
from oracle.cases import operations
from oracle.judging import arguments

CASES = operations()
ADJOINTS = [(case, name) for case in CASES for name in case.vjp]
REFUSED = {"pfaffian", "pfaffian-A", "cumprod-x", "polar_P-X"}
"""Operations and adjoints whose text would need more code than a person reads."""
TEXTBOOK = json.loads((Path(__file__).parents[1] / "cases" / "textbook.json").read_text())


def values(e, data):
    scope = {}
    exec(compile(mc.plain(e), "plain", "exec"), scope)
    return np.asarray(scope["f"](*arguments(e.symbols, data).values()))


def judged(name, e, data, expected):
    if name in REFUSED:
        with pytest.raises(NotSupported):
            mc.plain(e)
        return
    with np.errstate(all="ignore"):
        found = values(e, data)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-8)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.op)
def test_value(case):
    data = case.sample()
    judged(case.op, mc.expression(case.text, case.let), data, case.value(data))


@pytest.mark.whole
@pytest.mark.parametrize(("case", "wrt"), ADJOINTS, ids=[f"{case.op}-{name}" for case, name in ADJOINTS])
def test_adjoint(case, wrt):
    pulled_back = mc.vjp(case.text, wrt, declarations=case.let)
    data, G = case.sample(), case.cotangent()
    judged(f"{case.op}-{wrt}", pulled_back, {**data, "G": G}, case.adjoint(wrt, data, G))


def gradients():
    return [case for case in TEXTBOOK if case.get("kind", "gradient") == "gradient"]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", gradients(), ids=lambda case: str(case["id"]))
def test_textbook(case, tmp_path, monkeypatch):
    """The exported file passes its own tests, which compare derivatives with SciPy's differences."""
    functions = plain_functions(case["text"], case["wrt"], ["value", "gradient"], case["let"], "matrix", "f")
    path = tmp_path / f"plain_{case['id']}.py"
    path.write_text(plain_module(functions, "python"))
    monkeypatch.syspath_prepend(tmp_path)
    scope = {}
    exec(compile(plain_test(functions, str(path)), "tests", "exec"), scope)
    tests = [test for name, test in scope.items() if name.startswith("test_")]
    assert len(tests) == 3 * isinstance(case["wrt"], str) + (1 + 2 * len(case["wrt"])) * isinstance(case["wrt"], list)
    for test in tests:
        test()
