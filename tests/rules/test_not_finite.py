"""NaN in the data of an evaluated operation gives NaN or a LinAlgError, never a number."""

import warnings

import numpy as np
import pytest
from rules.compiled import NOT_FINITE, has_arrays, made, rules, with_entry

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.rulelab.finding import REFUSED
from matcalc.tensor.nodes.signature import PLAIN

RULES = {rule.name: rule for rule in rules() if any(p.kind not in PLAIN for p in rule.parameters)}
del RULES["settled"]  # it ignores entries that are not finite, by definition


def evaluated(case, data):
    """Return the value of each output, None where there is none."""
    values = [node for what, node in case.outputs if "value" in what]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return evaluate(values, data, case.lengths(case.at))
    except REFUSED:
        return None


@pytest.mark.parametrize("name", RULES)
@pytest.mark.sampled(40)
def test_not_finite(name):
    """If an entry on which a value depends is NaN or infinite, some of the value is too."""
    cases = {case.at.form: case for case, _, _ in made([RULES[name]])}
    assert cases
    for case in cases.values():
        data = case.data(case.at)
        clean = evaluated(case, data)
        for argument, node in case.at.symbols.items():
            array = data[node.name]
            if clean is None or not array.size:
                continue
            at = tuple(n // 2 for n in array.shape)
            moved = evaluated(case, {**data, node.name: with_entry(case, argument, array, at, array[at] * 1.5 + 0.1)})
            for bad in NOT_FINITE[:2]:
                found = evaluated(case, {**data, node.name: with_entry(case, argument, array, at, bad)})
                for one, other, before in zip(found or (), moved or (), clean, strict=False):
                    depends = np.max(np.abs(other - before), initial=0.0) > 1e-6 * np.max(np.abs(before), initial=0.0)
                    is_kept = np.isinf(bad) and (array.ndim != 2 or case.at.rule.kind == "map" or has_arrays(case.at))
                    assert not depends or is_kept or not np.all(np.isfinite(one)), (argument, at, bad)
