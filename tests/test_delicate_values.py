"""Values, gradients and Hessians of ordinary formulas at zeros, ties and far ends, on every path."""

import importlib.util
from functools import cache

import numpy as np
import pytest
from delicate_values import ROWS

import matcalc as mc

IDS = [row.name for row in ROWS]


@cache
def formulas(number):
    """Return the compared orders of a row, with their expressions."""
    row = ROWS[number]
    wrt = next(iter(row.data))
    orders = [mc.expression, mc.gradient, mc.hessian]
    wanted = [row.value, row.gradient, row.hessian]
    made = [orders[k](row.text, *[wrt][:k], row.declarations) for k in range(3) if wanted[k] is not None]
    return made, [want for want in wanted if want is not None]


def compare(row, found, wanted):
    for got, want in zip(found, wanted, strict=True):
        scale = max(1.0, np.max(np.abs(want), where=np.isfinite(want), initial=0.0))
        np.testing.assert_allclose(got, want, rtol=row.close, atol=min(row.close, 1e-12) * min(scale, 1e3),
                                   err_msg=row.name)  # fmt: skip


@pytest.mark.parametrize("number", range(len(ROWS)), ids=IDS)
@pytest.mark.sampled(96)
def test_plain(number):
    made, wanted = formulas(number)
    compare(ROWS[number], [f(**ROWS[number].data) for f in made], wanted)


@pytest.mark.parametrize("number", range(len(ROWS)), ids=IDS)
@pytest.mark.sampled(80)
def test_numpy(number):
    made, wanted = formulas(number)
    compare(ROWS[number], mc.compile(made, target="numpy")(**ROWS[number].data), wanted)


@pytest.mark.parametrize("number", range(len(ROWS)), ids=IDS)
@pytest.mark.whole
@pytest.mark.thinned(16)
def test_numba(number):
    made, wanted = formulas(number)
    compare(ROWS[number], mc.compile(made)(**ROWS[number].data), wanted)


@pytest.mark.long
@pytest.mark.parametrize("number", range(0, len(ROWS), 6), ids=IDS[::6])
def test_saved(number, tmp_path):
    made, wanted = formulas(number)
    mc.compile(made, name="found").save(tmp_path / "saved.py")
    spec = importlib.util.spec_from_file_location("saved", tmp_path / "saved.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compare(ROWS[number], module.found(**ROWS[number].data), wanted)
