"""First-day tasks: each formula as typed, its printed derivative, and both on each path."""

import re
from functools import cache

import numpy as np
import pytest
from first_day import learning, matrices, statistics
from first_day.tasks import TASKS, differences, drawn

import matcalc as mc

LINE = 100
"""Characters from which a derivative is printed with named parts."""
CASES = pytest.mark.parametrize("task", TASKS, ids=[task.name for task in TASKS])


def shown(derivative):
    return str(derivative) if len(str(derivative)) <= LINE else derivative.named()


@cache
def derived(task, traced=False):
    """Return a task's formula as an expression, and its derivatives, from the text or the traced function."""
    formula, declarations = task.text if isinstance(task.text, str) else task.text(), task.declarations
    if traced:
        formula, declarations = task.function, derived(task)[0].declarations
    derive = getattr(mc, task.derivative)
    return mc.expression(formula, declarations), [derive(formula, name, declarations) for name in task.printed]


@cache
def data_and_truth(task):
    """Return data for a task, NumPy's value by the task's function, and the derivatives by differences."""
    e = derived(task)[0]
    data = drawn(e)
    return data, *expected(task, e, data)


def expected(task, e, data):
    facts = dict(zip(e.symbols, (symbol.facts for symbol in mc.symbols(e.declarations)), strict=True))
    found = []
    for name in task.printed:
        if task.derivative == "hessian":
            first = lambda of=name, **given: differences(task.function, given, of, facts[of], 1e-3)  # noqa: E731
            found.append(differences(first, data, name, facts[name], 1e-3))
        else:
            found.append(differences(task.function, data, name, facts[name]))
    return task.function(**data), found


def evaluated(task, e, derivatives):
    """Compare plain evaluation with the true value."""
    data, *truth = data_and_truth(task)
    close([e(**data), *(d(**{name: data[name] for name in d.symbols}) for d in derivatives)], *truth)


def close(found, value, derivatives):
    """Compare a value and derivatives with the true ones."""
    np.testing.assert_allclose(found[0], value, rtol=1e-9, atol=1e-12)
    for got, true in zip(found[1:], derivatives, strict=True):
        np.testing.assert_allclose(got, true, rtol=1e-6, atol=2e-6)


def test_the_table():
    assert len({task.name for task in TASKS}) == len(TASKS) >= 60
    assert {task.function.__module__ for task in TASKS} == {m.__name__ for m in (learning, matrices, statistics)}


@pytest.mark.sampled(12)
@CASES
def test_value_and_derivative(task):
    e, found = derived(task)
    evaluated(task, e, found)


@pytest.mark.sampled(7)
@CASES
def test_printed(task):
    e, found = derived(task)
    formulas = [re.sub(r' where \w+\([^)]*\) = ".*"$', "", shown(d)) for d in found]  # without remarks
    assert dict(zip(task.printed, formulas, strict=True)) == task.printed
    for d in found:
        assert mc.expression(shown(d), d.declarations).node is d.node


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "target", [pytest.param("numpy", marks=pytest.mark.sampled(15)), pytest.param("numba", marks=pytest.mark.whole)]
)
@CASES
def test_compiled(task, target):
    e, found = derived(task)
    data, *truth = data_and_truth(task)
    fn = mc.compile([e, *found], target=target)
    close(fn(**{name: data[name] for name in fn.args}), *truth)


@pytest.mark.sampled(72)
@pytest.mark.parametrize("task", [t for t in TASKS if t.traced], ids=[t.name for t in TASKS if t.traced])
def test_numpy_code(task):
    """The function of arrays is itself a formula: its value on symbols equals its value on arrays."""
    e, found = derived(task, traced=True)
    evaluated(task, e, found)
    assert [d.node for d in found] == [d.node for d in derived(task)[1]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("task", [t for t in TASKS if t.latex], ids=[t.name for t in TASKS if t.latex])
def test_latex(task):
    text = derived(task)[0]
    assert mc.expression(task.latex, text.declarations, dialect="latex").node is text.node
