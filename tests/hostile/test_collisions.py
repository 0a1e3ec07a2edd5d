"""Names that generated code uses, as the names of symbols, of sizes, of functions: compiled, saved and tested.

Those that users' names can meet are tried here; `python tests/hostile names` tries every one, on the target numba too.
"""

import pytest

import matcalc as mc
from hostile.colliding import check_function, check_sizes, check_symbols, groups
from hostile.names import risky_names

COMPILED = ["lambda", "range", "gemv", "empty", "status", "out", "v3_sum", "types", "ν", "result", "f"]
GROUPS = groups(risky_names(), 16)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0][:20])
def test_symbols(group):
    check_symbols(group, "numpy")


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0][:20])
def test_sizes(group):
    check_sizes(group, "numpy")


def test_functions():
    for name in risky_names():
        check_function(name, "numpy")


def test_compiled():
    check_symbols(COMPILED, "numba")
    check_sizes(COMPILED[::2], "numba")


def test_a_solver_takes_any_name():
    found = mc.minimize("sum((out - self).^2)", "out", {"out": [1.0, 2.0]}, {"self": [3.0, 4.0]}, target="numpy")
    assert abs(found.x["out"] - [3.0, 4.0]).max() < 1e-5
