"""Contractions with annihilating operands, against a sum over all points that leaves out NaN and infinity."""

import itertools
import re

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.evaluate.einsum import Factor, contract

AXES = range(4)


def network(rng):
    """Return random factors, of which every other one annihilates at its zeros, and the lengths of their axes."""
    lengths = {i: int(rng.integers(1, 4)) for i in AXES}
    factors = []
    for _ in range(rng.integers(2, 5)):
        axes = [int(i) for i in rng.choice(4, size=rng.integers(0, 4), replace=rng.random() < 0.1)]
        array = rng.integers(-2, 3, size=[lengths[i] for i in axes]).astype(float)
        annihilates = bool(rng.random() < 0.5)
        if not annihilates:
            array = np.where(rng.random(array.shape) < 0.25, rng.choice([np.nan, np.inf]), array)
        factors.append(Factor(np.asarray(array), axes, annihilates))
    return factors, lengths


def by_points(factors, out, lengths):
    """Return the sum over the points at which no factor annihilates."""
    measured = sorted({i for factor in factors for i in factor.axes})
    total = np.zeros([lengths[i] for i in out])
    for point in itertools.product(*(range(lengths[i]) for i in measured)):
        at = dict(zip(measured, point, strict=True))
        entries = [factor.array[tuple(at[i] for i in factor.axes)] for factor in factors]
        if not any(factor.annihilates and entry == 0 for factor, entry in zip(factors, entries, strict=True)):
            total[tuple(at[i] for i in out)] += np.prod(entries)
    return total


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_out_counts_for_nothing(seed):
    rng = np.random.default_rng(seed)
    for _ in range(150):
        factors, lengths = network(rng)
        measured = sorted({i for factor in factors for i in factor.axes})
        out = [int(i) for i in rng.permutation(measured)[: rng.integers(0, 3)]]
        with np.errstate(all="ignore"):
            found, wanted = contract(2.0, factors, out, lengths), 2 * by_points(factors, out, lengths)
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
        np.testing.assert_array_equal(found[np.isfinite(found)], wanted[np.isfinite(wanted)])


@pytest.mark.whole
def test_programs_sum_index_by_index_as_well():
    """No program forms an array over all thirteen indices of the product where NaN may come out."""
    e = mc.expression("lu_L(tile(A, 2, 3))", "A: matrix(n, m)")
    pullback = e.vjp(["A"], cotangent="G_")
    source = mc.compile(list(pullback), target="numpy").source
    assert "mended" in source
    assert max(call.count(",") for call in re.findall(r"np\.empty\(\((.*)\)\)", source)) < 8
