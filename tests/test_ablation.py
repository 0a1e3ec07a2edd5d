"""Leaving out a rewrite, pass of the planner or kernel changes no value or gradient (`ablation_runs.py`)."""

import warnings

import ablation as off
import ablation_runs as runs
import numpy as np
import pytest

PARTS = 20


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def stays(tally: runs.Tally, least: int) -> None:
    assert not tally.wrong, str(tally)
    assert tally.compared >= least, str(tally)


@pytest.mark.whole
def test_rewrites_left_out() -> None:
    stays(runs.rewrites(3, 24), 10)


@pytest.mark.thinned(6)
@pytest.mark.whole
@pytest.mark.parametrize("name", off.PASSES)
def test_a_pass_left_out(name: str) -> None:
    stays(runs.passes("numpy", runs.originals(140), [name]), 7)


@pytest.mark.whole
def test_kernels_left_out() -> None:
    stays(runs.kernels("numpy", runs.originals(38), 1), 10)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_each_rewrite_left_out(part: int) -> None:
    stays(runs.rewrites(part, PARTS), 15)


@pytest.mark.long
def test_each_rewrite_left_out_where_it_fires() -> None:
    stays(runs.rewrites(where=runs.by_rewrite()), 400)


@pytest.mark.long
@pytest.mark.parametrize("name", off.PASSES)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_each_pass_left_out(name: str, target: str) -> None:
    stays(runs.passes(target, runs.originals(3), [name]), 300)


@pytest.mark.long
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_each_kernel_left_out(target: str) -> None:
    stays(runs.kernels(target, runs.originals()), 200)
