"""The reference identities: 140 derivatives from books and papers, against matcalc by NumPy and compiled.

A case is right, refused with a named error, or wrong; none may be wrong, and `RIGHT` at least must be right.
"""

import statistics

import numpy as np
import pytest

import matcalc as mc
from oracle import judging
from oracle.cases import identities
from oracle.reading import tokens
from oracle.values import evaluate

CASES = identities()
RIGHT = 131


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_by_numpy(case):
    settle(judging.evaluated(case))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_compiled(case):
    settle(judging.compiled()[case.id])


@pytest.mark.parametrize("way", ["numpy", "compiled"])
def test_most_are_right(way):
    verdicts = judging.compiled() if way == "compiled" else {c.id: judging.evaluated(c) for c in CASES}
    states = [verdict.state for verdict in verdicts.values()]
    assert len(states) == len(CASES)
    assert states.count("right") >= RIGHT


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_printed_form_means_the_same(case):
    """The printed derivative, read by the independent evaluator, has the reference's value."""
    derivative = derived(case)
    data = case.sample(0)
    settle(judging.compared(evaluate(str(derivative), data, case.sizes), case.expected(data)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_printed_form_reads_back(case):
    derivative = derived(case)
    assert mc.expression(str(derivative), derivative.declarations).node is derivative.node


def test_printed_gradients_are_short():
    """Tokens against the book's form: median at most 1.2, nine in ten at most 2."""
    ratios = []
    for case in CASES:
        if case.kind == "gradient" and judging.evaluated(case).state == "right":
            ratios.append(len(tokens(str(judging.derive(case)))) / len(tokens(case.derivative)))
    assert statistics.median(ratios) <= 1.2
    assert np.quantile(ratios, 0.9) <= 2.0


def derived(case):
    try:
        return judging.derive(case)
    except mc.MatcalcError as error:
        pytest.skip(f"{type(error).__name__}: {error}")


def settle(verdict):
    if verdict.state == "error":
        pytest.skip(verdict.detail)
    assert verdict.state == "right", verdict.detail
