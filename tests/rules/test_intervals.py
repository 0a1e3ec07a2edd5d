"""Tests the declared intervals of maps outside their domains too: a value is in the interval, or NaN.

Simplification uses an interval wherever the map is used. `abs(f(x))` becomes `f(x)` if f is not negative, so a negative
value outside the domain would be another result.
"""

import itertools

import numpy as np
import pytest

from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.oracle import oracle

BOOK = default_rulebook()
NUMBERS = (-np.inf, -40.0, -3.0, -1.5, -1.0, -0.5, -1e-9, 0.0, 1e-9, 0.3, 1.0, 1.5, 3.0, 40.0, np.inf)
POSITIVE = tuple(x for x in NUMBERS if x > 0)
FEW = 5
"""Numbers of each operand of a map with more than three."""
COUNTS = {"leads_of": ("m", "n"), "tied": ("m", "n")}
"""Operands that are numbers of tied values, hence positive."""
NAMES = [
    rule.name
    for rule in BOOK.rules.values()
    if rule.kind == "map" and rule.interval and all(p.kind == "entry" for p in rule.signatures[0].parameters)
]


def numbers_of(rule, parameter, count):
    """Return the numbers at which an operand is tried."""
    if parameter.name in COUNTS.get(rule.name, ()):
        return POSITIVE
    return NUMBERS if count <= 3 else NUMBERS[:: len(NUMBERS) // FEW]


@pytest.mark.parametrize("name", NAMES)
def test_values_are_in_the_interval_or_nan(name):
    rule = BOOK.rules[name]
    low, high, *_ = rule.interval
    parameters = rule.signatures[0].parameters
    points = list(itertools.product(*(numbers_of(rule, p, len(parameters)) for p in parameters)))
    columns = [np.array(column) for column in zip(*points, strict=True)]
    with np.errstate(all="ignore"):
        values = np.asarray(oracle(BOOK, rule)(*columns), float)
    assert np.isfinite(values).any()
    assert not (values < low).any(), [points[k] for k in np.flatnonzero(values < low)[:3]]
    assert not (values > high).any(), [points[k] for k in np.flatnonzero(values > high)[:3]]
