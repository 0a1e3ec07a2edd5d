"""The reference identities: 140 derivatives from books and papers, against matcalc by NumPy and compiled.

Every one must be right on both.
"""

import pytest

import matcalc as mc
from oracle import judging
from oracle.cases import identities
from oracle.values import evaluate

CASES = identities()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.sampled(48)
def test_by_numpy(case):
    settle(judging.evaluated(case))


@pytest.mark.sampled(judging.PROGRAMS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
@pytest.mark.whole
@pytest.mark.thinned(24)
def test_compiled(case):
    """Several of them share one program; those of the first tier come first."""
    settle(judging.compiled(CASES.index(case) % judging.PROGRAMS)[case.id])


def test_there_are_163():
    assert len({case.id for case in CASES}) == 163


@pytest.mark.sampled(12)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_printed_form_means_the_same(case):
    """The printed derivative, read by the independent evaluator, has the reference's value."""
    derivative = judging.derive(case)
    data = case.sample(0)
    settle(judging.compared(evaluate(str(derivative), data, case.sizes), case.expected(data)))


@pytest.mark.sampled(15)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_printed_form_reads_back(case):
    derivative = judging.derive(case)
    assert mc.expression(str(derivative), derivative.declarations).node is derivative.node


def settle(verdict):
    assert verdict.state == "right", verdict.detail
