"""Sizes as functions of a frame, against exact evaluation at all small values of their names."""

import itertools
from fractions import Fraction

import pytest

from matcalc.compiler.verify.expressions import whole
from matcalc.compiler.verify.faults import RunFault
from matcalc.tensor.sizes.size import Size, maximum, minimum

i, j, n = map(Size.of, "ijn")
HALF = Size.of(Fraction(1, 2))
SIZES = [
    *(Size.of(0), Size.of(-3), i, -i, 2 * i - 1, i + j, n - 1 - i, i * n + j, i * i, 3 * i * i * n - j * j * j + 4),
    *(i + j * n - j * (j + 1) * HALF, n * (n + 1) // 2, (i * n + j) // 3, (i - j) % 4, (2 * i + 1) // (j + 1)),
    *(minimum(i, j) * n + 1, maximum(i - n, j), (i * HALF) // 2 + (j * HALF) % 3, minimum(i, j // 2) * (n % 2) * i),
]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_size_is_what_it_evaluates_to(size):
    function = whole(size)
    for values in itertools.product(range(5), repeat=3):
        frame = dict(zip("ijn", values, strict=True))
        assert function(frame) == exactly(size, frame)
        assert type(function(frame)) is int


def exactly(size, frame):
    """Return the value of a size in fractions, with operands of quotients and remainders rounded down."""
    total = Fraction(0)
    for monomial, coefficient in size.terms:
        for atom, power in monomial:
            coefficient *= frame[atom] ** power if isinstance(atom, str) else compound(atom, frame) ** power
        total += coefficient
    return total


def compound(atom, frame):
    left, right = (exactly(side, frame).__floor__() for side in (atom.left, atom.right))
    return {"//": int.__floordiv__, "%": int.__mod__, "min": min, "max": max}[atom.operator](left, right)


def test_what_is_no_integer_is_a_fault():
    with pytest.raises(RunFault, match="n/2 is 3/2"):
        whole(n * HALF)({"n": 3})
    assert whole(n * HALF)({"n": 4}) == 2
    with pytest.raises(KeyError):
        whole(n + i)({"n": 3})
    with pytest.raises(ZeroDivisionError):
        whole(i // n)({"i": 1, "n": 0})


def test_a_name_is_a_key_and_never_text_to_run():
    name = "n'] + __import__('os').getpid() + f['n"
    assert whole(Size.of(name) + 1)({name: 2}) == 3
