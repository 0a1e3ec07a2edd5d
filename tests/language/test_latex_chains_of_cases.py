r"""Cases whose conditions are a chain over one quantity need no `otherwise` if exactly one holds for each number."""

from itertools import product

import numpy as np
import pytest

import matcalc as mc

pytestmark = pytest.mark.sampled(9)
LET = "t: vector(n); a, b, c: scalar"
BOUNDS = {"a": -1.0, "b": 0.5, "c": 2.0}
TIMES = np.array([-3.0, -1.0, -0.25, 0.5, 1.0, 2.0, 7.5])
SIGNS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\geq"}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
VALUES = ["t^2", "2 t + 1", "-t", "3"]
FUNCTIONS = [lambda t: t**2, lambda t: 2 * t + 1, lambda t: -t, lambda t: 3.0]


def relation(left, sign, right, is_turned):
    return f"{right} {SIGNS[TURNED[sign]]} {left}" if is_turned else f"{left} {SIGNS[sign]} {right}"


def conditions(names, is_closed, is_turned):
    """Return the conditions of the ranges between bounds, from the lowest on; `is_closed` below each bound."""
    below, above = ("<=", ">") if is_closed else ("<", ">=")
    found = [relation("t", below, names[0], is_turned)]
    for low, high in zip(names, names[1:], strict=False):
        shown = [low, SIGNS[TURNED[above]], "t", SIGNS[below], high]
        if is_turned:
            shown = [high, SIGNS[TURNED[below]], "t", SIGNS[above], low]
        found.append(" ".join(shown))
    return [*found, relation("t", above, names[-1], is_turned)]


def read(rows):
    lines = r" \\ ".join(f"{value} & {condition}" for value, condition in rows)
    latex = rf"\sum_i f(t_i), \quad f(t) = \begin{{cases}} {lines} \end{{cases}}"
    return mc.expression(latex, LET, dialect="latex")


def values(e):
    """Return the value of a formula at each number alone."""
    data = {name: x for name, x in BOUNDS.items() if name in map(str, e.symbols)}
    return [e(t=np.array([t]), **data) for t in TIMES]


def truth(names, is_closed):
    def one(t):
        k = sum(t > BOUNDS[x] if is_closed else t >= BOUNDS[x] for x in names)
        return FUNCTIONS[k](t)

    return [one(t) for t in TIMES]


@pytest.mark.parametrize("front", ["{}", r"\text{{if }} {}", "{},"])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(("is_closed", "is_turned"), [*product([True, False], repeat=2)])
@pytest.mark.parametrize("names", ["a", "ab", "abc"])
def test_a_chain_needs_no_otherwise(names, is_closed, is_turned, order, front):
    every = [front.format(x) for x in conditions(names, is_closed, is_turned)]
    rows = [*zip(VALUES, every, strict=False)][::order]
    np.testing.assert_allclose(values(read(rows)), truth(names, is_closed))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]])
def test_a_chain_with_one_number(order):
    rows = [("-1", "t < 0"), ("0", "t = 0"), ("1", "t > 0")]
    np.testing.assert_allclose(values(read([rows[k] for k in order])), np.sign(TIMES))


def test_another_quantity_than_a_letter():
    rows = [("t^2", r"|t| \le 1"), ("2 |t| - 1", r"1 < |t| \le b + 2"), ("3", "|t| > b + 2")]
    expected = np.select([abs(TIMES) <= 1, abs(TIMES) <= 2.5], [TIMES**2, 2 * abs(TIMES) - 1], 3)
    np.testing.assert_allclose(values(read(rows)), expected)


REFUSED = [
    ["t < a", "a < t < b", r"t \ge b"],
    [r"t \le a", r"a \le t < b", r"t \ge b"],
    [r"t \le a", r"a < t \le b", r"t \ge b"],
    [r"t \le a", r"a < t \le b", "t > c"],
    [r"t \le a", "t > b"],
    [r"t \le a", r"a < t \le b"],
    [r"a < t \le b", "t > b"],
    [r"0 < t \le a", r"a < t \le b", "t > b"],
    [r"t \le a", r"a < t \le b", "c > b"],
    [r"t \le a", r"a < t \le b", r"a < t \le b", "t > b"],
    [r"t \le a", r"t \le b", "t > b"],
    [r"t \le a", r"t > a", "t > b"],
    ["t < 0", r"t \ne 0", "t > 0"],
    ["t < 0", "t > 0"],
]


@pytest.mark.parametrize("every", REFUSED)
def test_ranges_that_leave_numbers_or_overlap_are_refused(every):
    with pytest.raises(mc.ParseError, match="the last case needs the word otherwise"):
        read([*zip(VALUES, every, strict=False)])
