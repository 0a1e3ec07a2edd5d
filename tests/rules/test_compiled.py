"""Compiled rules against plain evaluation, with NaN or inf too; all by `python tests/rules/compiled.py TARGET`."""

import numpy as np
import pytest
from rules.compiled import faults, made, rules

SOME = {
    "numpy": ("inv", "solve", "det", "chol", "lu", "lstsq", "matfun", "softmax", "norm2", "sqrtm", "sort"),
    "numba": ("inv", "logdet", "qr"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("target", SOME)
def test_compiled_rules(target):
    with np.errstate(all="ignore"):
        found = [
            f"{name}: {fault}"
            for name, fault, is_refused in faults(made(rules(SOME[target])), target)
            if not is_refused
        ]
    assert not found
