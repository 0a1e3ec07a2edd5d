"""Whole paragraphs of LaTeX in four sets of forty: each has the value and the slopes of its NumPy function, or is refused.

Their writers had not seen the reader. What it does not read is refused with a reason; nothing is read with another
meaning.
"""  # noqa: E501

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from first_day.paragraph import Paragraph
from first_day.paragraphs_first_1 import FIRST_1
from first_day.paragraphs_first_2 import FIRST_2
from first_day.paragraphs_first_3 import FIRST_3
from first_day.paragraphs_first_4 import FIRST_4
from first_day.paragraphs_fourth_1 import FOURTH_1
from first_day.paragraphs_fourth_2 import FOURTH_2
from first_day.paragraphs_fourth_3 import FOURTH_3
from first_day.paragraphs_fourth_4 import FOURTH_4
from first_day.paragraphs_second_1 import SECOND_1
from first_day.paragraphs_second_2 import SECOND_2
from first_day.paragraphs_second_3 import SECOND_3
from first_day.paragraphs_second_4 import SECOND_4
from first_day.paragraphs_third_1 import THIRD_1
from first_day.paragraphs_third_2 import THIRD_2
from first_day.paragraphs_third_3 import THIRD_3
from first_day.paragraphs_third_4 import THIRD_4

import matcalc as mc
from matcalc.errors import MatcalcError
from oracle.data import declared, sample

SETS = {
    "first": [*FIRST_1, *FIRST_2, *FIRST_3, *FIRST_4],
    "second": [*SECOND_1, *SECOND_2, *SECOND_3, *SECOND_4],
    "third": [*THIRD_1, *THIRD_2, *THIRD_3, *THIRD_4],
    "fourth": [*FOURTH_1, *FOURTH_2, *FOURTH_3, *FOURTH_4],
}
EVERY = [pytest.param(one, id=f"{name}: {one.paper}") for name, found in SETS.items() for one in found]
READ = [one for one in EVERY if not one.values[0].refused]
REFUSED = [one for one in EVERY if one.values[0].refused]
SIZES = {"n": 5, "m": 4, "d": 3, "k": 2, "q": 2, "T": 6, "N": 5, "M": 4, "L": 2, "r": 2, "J": 4}


class Lengths(dict[str, int]):
    """Sizes by name; others are 3."""

    def __missing__(self, name: str) -> int:
        return 3


def length(text: str) -> int:
    return int(eval(text.replace("^", "**"), {}, Lengths(SIZES)))  # noqa: S307 - a size of these tables


def data_of(one: Paragraph) -> dict[str, Any]:
    """Return random data with the declared facts."""
    found: dict[str, Any] = {}
    for name, (sizes, facts) in declared(one.let).items():
        rng, shape = np.random.default_rng([0, zlib.crc32(name.encode())]), tuple(map(length, sizes))
        if "index" in facts:
            found[name] = rng.integers(0, length(one.ranges.get(name, "2")), shape)
        else:
            x = sample(rng, shape, facts)
            x = abs(x) if "nonnegative" in facts else x
            found[name] = abs(x) / (1 + abs(x)) if name in one.fractions else x
    return found


def test_most_are_read() -> None:
    read = {name: sum(not one.refused for one in found) for name, found in SETS.items()}
    assert read == {"first": 36, "second": 35, "third": 26, "fourth": 35}


@pytest.mark.sampled(180)
@pytest.mark.parametrize("one", READ)
def test_value_and_slope(one: Paragraph) -> None:
    assert one.value is not None
    e, data = mc.expression(one.latex, one.let, dialect="latex"), data_of(one)
    wanted = np.squeeze(one.value(**data))
    np.testing.assert_allclose(np.squeeze(e(**{name: data[name] for name in e.symbols})), wanted, rtol=1e-9)
    if e.shape:
        return
    gradient = mc.gradient(e, one.wrt, check=False)
    x = data[one.wrt]
    direction = np.random.default_rng(3).standard_normal(np.shape(x))
    facts = declared(one.let)[one.wrt][1]
    direction = direction + direction.T if facts & {"symmetric", "spd"} else direction
    direction = np.tril(direction) if "lower" in facts else direction
    found = np.sum(gradient(**{name: data[name] for name in gradient.symbols}) * direction)
    ways = [one.value(**{**data, one.wrt: x + t * direction}) for t in (1e-5, -1e-5, 2e-5, -2e-5)]
    slope = (8 * (ways[0] - ways[1]) - (ways[2] - ways[3])) / 12e-5
    np.testing.assert_allclose(found, np.squeeze(slope), rtol=1e-5, atol=1e-7)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("one", REFUSED)
def test_others_are_refused_with_a_reason(one: Paragraph) -> None:
    with pytest.raises(MatcalcError) as fault:
        mc.expression(one.latex, one.let, dialect="latex")
    assert one.refused in str(fault.value)
