"""Derivatives of operations that jump, at their jumps: in the arguments that the jump does not depend on.

Random data never lie on a jump, so the tests of rules cannot see a wrong derivative there.
"""

import itertools

import numpy as np
import pytest

import matcalc as mc
from matcalc.rulebook.load import shipped_rulebook

STEP = 1e-6
OTHERS = (1.7, 0.6, 2.3, 0.9)


def call(rule):
    """Return a call of an operation of entries on scalars."""
    names = [d.name for d in rule.parameters]
    return mc.expression(f"{rule.name}({', '.join(names)})", "; ".join(f"{n}: scalar" for n in names))


def found_cases():
    """Yield operations with two arguments that make them jump where they are equal, and the data there."""
    for rule in shipped_rulebook().rules.values():
        if rule.kind != "map" or len(rule.parameters) < 3 or any(d.kind != "entry" for d in rule.parameters):
            continue
        e, names = call(rule), [d.name for d in rule.parameters]
        for one, other in itertools.combinations(names, 2):
            at = {**dict(zip(names, OTHERS, strict=False)), one: 1.0, other: 1.0}
            with np.errstate(all="ignore"):
                beside = [float(e(**{**at, one: 1.0 + sign * STEP})) for sign in (1, 0, -1)]
            if np.all(np.isfinite(beside)) and np.ptp(beside) > 1e-3:
                yield pytest.param(rule, at, {one, other}, id=f"{rule.name}, {one} = {other}")


CASES = list(found_cases())


@pytest.mark.parametrize(("rule", "at", "equal"), CASES)
def test_derivatives_at_jumps(rule, at, equal):
    e = call(rule)
    for name in at.keys() - equal:
        up, down = (float(e(**{**at, name: at[name] + sign * STEP})) for sign in (1, -1))
        slope = e.gradient(name, check=False)
        found = float(slope(**{n: at[n] for n in slope.symbols}))
        assert found == pytest.approx((up - down) / (2 * STEP), rel=1e-7, abs=1e-9), name


def test_operations_that_choose_are_among_the_cases():
    assert {"leads_of", "tied", "where_gt", "where_ge", "where_eq"} <= {
        rule.name for rule, *_ in (c.values for c in CASES)
    }
