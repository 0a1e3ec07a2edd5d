"""Equations between up to three indices, with identities: cancelled indices are counted, remaining ones are summed.

Enumerated: coefficients in {-1, 0, 1}, an offset, pairs of identified indices, lengths equal or not, operands with all
or some of the indices. The value and the gradient in x on NumPy (and in the supervisor's interpreter) are compared with
the sum over all points.
"""

import itertools

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import MatcalcError

EQUATIONS = [(1, *rest) for rest in itertools.product((1, 0, -1), repeat=2) if any(rest)] + [(0, 1, 1), (0, 1, -1)]
OFFSETS = {"0": lambda n: 0, "1": lambda n: 1, "n - 1": lambda n: n - 1}
ONE = {"": (), "[i == j]": ("ij",), "[j == k]": ("jk",), "[i == k]": ("ik",), "[i == j]*[j == k]": ("ij", "jk")}
LENGTHS = (("n", "n"), ("m", "n"), ("n", "m"))
MEASURED = ("x", "xy", "xw", "xyw")
SIZES = ((1, 1), (3, 2), (2, 3))


def equation(coefficients, offset):
    left = [index for index, c in zip("ijk", coefficients, strict=True) if c > 0]
    right = [index for index, c in zip("ijk", coefficients, strict=True) if c < 0]
    right += [offset] if offset != "0" or not right else []
    return f"[{' + '.join(left)} == {' + '.join(right)}]"


def read(text, lengths):
    try:
        return mc.expression(text, "x: vector(n); y: vector({}); w: vector({})".format(*lengths))
    except MatcalcError:
        return None


def cases(coefficients):
    """Yield texts of the language with their parts; offsets and lengths alternate."""
    turn = itertools.islice(itertools.cycle(itertools.product(LENGTHS, OFFSETS)), EQUATIONS.index(coefficients), None)
    for (one, measured), (lengths, offset) in zip(itertools.product(ONE, MEASURED), turn, strict=False):
        sizes = zip("xyw", "ijk", ("n", *lengths), strict=True)
        operands = [f"{x}[{i}]" if x in measured else f"ones({size})[{i}]" for x, i, size in sizes]
        factors = [*operands, equation(coefficients, offset), *([one] if one else [])]
        found = read(f"sum{{i,j,k: {'*'.join(factors)}}}", lengths)
        if found is not None:
            yield found, offset, one, lengths, measured


def summed(coefficients, offset, one, measured, data):
    """Return the value and the gradient in x, summed over all points."""
    value, gradient = 0.0, np.zeros(len(data["x"]))
    for point in itertools.product(*(range(len(data[x])) for x in "xyw")):
        at = dict(zip("ijk", point, strict=True))
        if np.dot(coefficients, point) == offset and all(at[a] == at[b] for a, b in ONE[one]):
            rest = np.prod([data[x][at[i]] for x, i in zip("yw", "jk", strict=True) if x in measured])
            value += data["x"][at["i"]] * rest
            gradient[at["i"]] += rest
    return value, gradient


@pytest.mark.thinned(4)
@pytest.mark.whole
@pytest.mark.parametrize("coefficients", EQUATIONS, ids=str)
def test_sums_under_equations(coefficients):
    for f, offset, one, lengths, measured in cases(coefficients):
        fn = mc.compile([f, f.gradient("x")], target="numpy")
        names = [a.name for a in fn.spec.arguments] + list(fn.spec.sizes)
        for n, m in SIZES:
            of = {"n": n, "m": m}
            data = {x: np.arange(2.0, 2 + of[size]) ** 2 for x, size in zip("xyw", ("n", *lengths), strict=True)}
            value, gradient = fn(**{name: {**data, **of}[name] for name in names})
            wanted = summed(coefficients, OFFSETS[offset](n), one, measured, data)
            np.testing.assert_allclose(value, wanted[0], err_msg=f"{f}")
            np.testing.assert_allclose(gradient, wanted[1], err_msg=f"{f}")


def test_every_equation_is_a_condition_of_the_language():
    assert [c for c in EQUATIONS if not any(True for _ in cases(c))] == []
