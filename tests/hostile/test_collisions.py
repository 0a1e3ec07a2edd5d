"""Names that generated code uses, as the names of symbols, of sizes, of functions: compiled, saved and tested.

The whole suite tries those that users' names can meet. The long runs try every one, on the target numba too.
"""

import pytest

import matcalc as mc
from hostile.colliding import check_function, check_sizes, check_symbols, try_names
from hostile.names import risky_names

COMPILED = ["lambda", "range", "gemv", "empty", "status", "out", "v3_sum", "types", "ν", "result", "f"]
SHARES = 24


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.whole
def test_symbols(share):
    check_symbols(risky_names()[share::SHARES], "numpy")


@pytest.mark.whole
@pytest.mark.parametrize("share", range(SHARES))
def test_sizes(share):
    check_sizes(risky_names()[share::SHARES], "numpy")


@pytest.mark.whole
def test_functions():
    for name in risky_names():
        check_function(name, "numpy")


@pytest.mark.whole
def test_compiled():
    check_symbols(COMPILED, "numba")
    check_sizes(COMPILED[::2], "numba")


@pytest.mark.long
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_every_name(target):
    assert not try_names([target])


def test_a_solver_takes_any_name():
    found = mc.minimize("sum((out - self).^2)", "out", {"out": [1.0, 2.0]}, {"self": [3.0, 4.0]}, target="numpy")
    assert abs(found.x["out"] - [3.0, 4.0]).max() < 1e-5
