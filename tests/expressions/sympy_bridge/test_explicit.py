"""Numeric arrays without a SymPy name, against NumPy arrays written by hand."""

import numpy as np
import pytest

import matcalc as mc


def places(n):
    """Return the entries of the lower triangle, column by column."""
    return [(i, j) for j in range(n) for i in range(j, n)]


def eliminating(n):
    found = np.zeros((n * (n + 1) // 2, n, n))
    for p, (i, j) in enumerate(places(n)):
        found[p, i, j] = 1
    return found


def duplicating(n):
    found = np.zeros((n, n, n * (n + 1) // 2))
    for p, (i, j) in enumerate(places(n)):
        found[i, j, p] = found[j, i, p] = 1
    return found.transpose(1, 0, 2).reshape(n * n, -1)


def stacked(tensor):
    return tensor.transpose(0, 2, 1).reshape(len(tensor), -1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("n", [2, 3])
def test_arrays_of_numbers(n):
    matrix, symmetric = f"X: matrix({n}, {n})", f"X: matrix({n}, {n}) symmetric"
    tensor = eliminating(n)
    both = (tensor + tensor.transpose(0, 2, 1)) / 2
    for e, expected in (
        (mc.expression(f"duplication({n})"), duplicating(n)),
        (mc.jacobian("vech(X)", "X", matrix, layout="vec"), stacked(tensor)),
        (mc.jacobian("vech(X)", "X", symmetric, layout="vec"), stacked(both)),
        (mc.jacobian("vech(X)", "X", matrix), tensor),
        (mc.jacobian("vech(X)", "X", symmetric), both),
    ):
        found = e.sympy()
        np.testing.assert_array_equal(np.array(found.doit().tolist(), float).reshape(expected.shape), expected)


@pytest.mark.parametrize("formula", ["elimination(n)", "duplication(n)", "iota(n)"])
def test_arrays_of_open_sizes_are_calls(formula):
    found = mc.expression(formula).sympy()
    assert str(found) == formula
    assert mc.from_sympy(found).node is mc.expression(formula).node


def test_arrays_of_open_sizes_without_a_name_are_refused():
    with pytest.raises(mc.NotSupported, match="has no SymPy form where .* is no number"):
        mc.jacobian("vech(X)", "X", "X: matrix(n, n)").sympy()
