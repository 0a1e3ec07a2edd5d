"""Compiled rules against plain evaluation, with NaN or inf too: some in the whole suite, all in the long runs."""

import warnings

import numpy as np
import pytest
from rules.compiled import faults, made, rules

SOME = {
    "numpy": ("inv", "solve", "det", "chol", "lu", "lstsq", "matfun", "softmax", "norm2", "sqrtm", "sort"),
    "numba": ("inv", "logdet", "qr"),
}
SHARES = 20


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("target", SOME)
def test_compiled_rules(target):
    assert not wrong(SOME[target], target)


@pytest.mark.long
@pytest.mark.parametrize("target", SOME)
@pytest.mark.parametrize("share", range(SHARES))
def test_all_compiled_rules(share, target):
    assert not wrong([rule.name for rule in rules()][share::SHARES], target)


def wrong(names, target):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = faults(made(rules(names)), target)
        return [f"{name}: {fault}" for name, fault, is_refused in found if not is_refused]
