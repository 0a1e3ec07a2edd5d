"""Elementwise rules far from 1: plain evaluation, by a rule's value, and compiled code, by its lowering, agree.

The value of a rule and its kernel are written independently: a difference means that one is wrong or inaccurate.
"""

import numpy as np
import pytest

import matcalc as mc
from matcalc.rulebook import default_rulebook

BOOK = default_rulebook()
RULES = [
    rule.name
    for rule in BOOK.rules.values()
    if rule.kind == "map"
    and rule.values
    and all(p.kind in ("entry", "integer") and not p.repeated for p in rule.parameters)
]
WIDE = np.outer([1.0, -1.0], [1e-8, 1e-3, 0.3, 0.9, 1.5, 4.0, 9.7, 33.3, 101.25, 1234.5, 1e5, 1e8]).ravel()


def calls(name):
    """Yield calls of a rule, at each order if it has one, with the data of its arguments: all combinations."""
    parameters = BOOK.get(name).parameters
    given = [p for p in parameters if p.kind == "entry"]
    points = WIDE if len(given) == 1 else WIDE[[1, 3, 5, 8, 14, 17, 20]]
    grids = np.meshgrid(*[points if k < 2 else WIDE[[5]] for k in range(len(given))], indexing="ij")
    data = {f"x{k}": grid.ravel() for k, grid in enumerate(grids)}
    for order in ("1", "2") if len(given) < len(parameters) else ("",):
        yield f"{name}({', '.join(f'x{given.index(p)}' if p in given else order for p in parameters)})", data


@pytest.mark.parametrize("name", RULES)
@pytest.mark.sampled(18)
def test_plain_and_compiled_agree(name):
    for text, data in calls(name):
        e = mc.expression(text, "; ".join(f"{x}: vector(n)" for x in data))
        with np.errstate(all="ignore"):
            plain, compiled = e(**data), mc.compile(e, target="numpy")(**data)
        np.testing.assert_array_equal(np.isnan(compiled), np.isnan(plain), err_msg=text)
        both = np.isfinite(plain) & np.isfinite(compiled)
        np.testing.assert_allclose(compiled[both], plain[both], rtol=1e-9, atol=4e-16, err_msg=text)
