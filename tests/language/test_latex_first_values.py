"""Sums in LaTeX from any first value: each is read as the loop that it means, or refused; subscripts count from 1."""

import itertools
import operator

import numpy as np
import pytest

import matcalc as mc

SIGNS = {"": None, "=": operator.eq, "<": operator.lt, r"\le": operator.le, ">": operator.gt, r"\ge": operator.ge}
SWAPPED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le"}
"""The sign of `j ... i` that means the same as `i ... j`."""
N = 4
A = np.random.default_rng(3).standard_normal((N, N))
X = A[0].copy()


def read(latex):
    """Return the value of a formula; None if it is refused."""
    try:
        e = mc.expression(latex, "x: vector(n); A: matrix(n, n); n: size", dialect="latex")
    except mc.MatcalcError:
        return None
    return float(e(**{name: {"x": X, "A": A, "n": N}[name] for name in e.symbols}))


def entry(array, *subscripts):
    """Return an entry, counted from 1.

    Raises: IndexError for a subscript outside 1, 2, ..., N.
    """
    if not all(1 <= one <= N for one in subscripts):
        raise IndexError(subscripts)
    return array[tuple(one - 1 for one in subscripts)]


def total(terms):
    """Return a sum of terms that are computed late; None if one has a subscript outside its axis."""
    try:
        return float(sum(term() for term in terms))
    except IndexError:
        return None


@pytest.mark.parametrize("end", [-1, 0, 1])
@pytest.mark.parametrize("first", range(4))
def test_one_index(first, end):
    last = {-1: "n-1", 0: "n", 1: "n+1"}[end]
    for shift in (-1, 0, 1):
        places = range(first + shift, N + end + shift + 1)
        subscript = "i" if not shift else f"i{shift:+d}"
        expected = total(lambda k=k: entry(X, k) ** 2 for k in places)
        if not first and not shift and end == -1:
            expected = X @ X  # x_0, ..., x_{n-1} are all entries
        found = read(rf"\sum_{{i={first}}}^{{{last}}} x_{{{subscript}}}^2")
        if expected is None:
            assert found is None or not np.isfinite(found)
        else:
            assert found is None or found == pytest.approx(expected, rel=1e-13)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("where", ["beside the entry", "below the sum"])
def test_two_indices_with_a_condition(sign, where):
    holds = SIGNS[sign] or (lambda i, j: True)
    values = []
    for low_i, low_j in itertools.product((1, 2, 3), (1, 2, 3)):
        if where == "below the sum" and sign not in SWAPPED:
            continue
        if where == "below the sum":  # without bounds: j runs over the whole axis
            low_j, inner, condition = 1, rf"\sum_{{j {SWAPPED[sign]} i}}", ""
        else:
            inner, condition = rf"\sum_{{j={low_j}}}^n", f"[i {sign} j]" if sign else ""
        latex = rf"\sum_{{i={low_i}}}^n {inner} A_{{ij}}{condition}"
        pairs = itertools.product(range(low_i, N + 1), range(low_j, N + 1))
        expected = total(lambda i=i, j=j: entry(A, i, j) for i, j in pairs if holds(i, j))
        values.append(read(latex))
        assert values[-1] is None or values[-1] == pytest.approx(expected, rel=1e-13), latex
    assert not values or any(value is not None for value in values)


@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_condition_with_a_number(first):
    for number in (1, 2, 3):
        expected = total(lambda k=k: entry(X, k) for k in range(first, N + 1) if k == number)
        found = read(rf"\sum_{{i={first}}}^n x_i[i={number}]")
        assert found is None or found == pytest.approx(expected, rel=1e-13)
