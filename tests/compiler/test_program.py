"""`verify` rejects a Program that would compute another result than planned."""

from fractions import Fraction

import pytest

from matcalc.compiler.entrywise import Literal, Product, Read
from matcalc.compiler.listing import listing
from matcalc.compiler.program import Buffer, Let, Loop, Program, ProgramFault, Store, View
from matcalc.compiler.verify.order import verify
from matcalc.tensor.sizes.size import Size

N = Size.of("n")
X = Buffer("x", (N,), role="input")
OUT = Buffer("out", (N,), role="output")
TEMPORARY = Buffer("r", (N,))


def program(*steps, places, buffers=(X, OUT, TEMPORARY), results=None):
    return Program(
        ("x",), ("out",), (), (), tuple(buffers), {"x": "x", **places}, {}, results or {"out": "y"}, steps
    )  # fmt: skip


def loop(*stores, lets=()):
    return Loop((("i", N),), tuple(lets), (), tuple(stores))


def twice(value):
    return Product(Fraction(2), (Read(value, ("i",)),))


def test_sound():
    good = program(loop(Store("y", ("i",), twice("x"))), places={"y": "out"})
    assert verify(good) is good
    assert "loop over i < n" in listing(good)


def test_in_place_at_the_same_entry_is_sound():
    first = loop(Store("t", ("i",), twice("x")))
    second = loop(Store("y", ("i",), twice("t")))
    verify(program(first, second, places={"t": "out", "y": "out"}))


def test_in_place_is_in_one_shape():
    """The entry [i, i] of the same memory in another shape is another entry."""
    rows, turned = Buffer("out", (N, N * 2), role="output"), Buffer("v", (N * 2, N), role="view")
    first = loop(Store("t", ("i", "i"), Literal(1)))
    second = loop(Store("y", ("i", "i"), Read("t", ("i", "i"))))
    given = {"buffers": (X, rows, turned), "results": {"out": "y"}}
    verify(program(first, second, places={"t": "out", "y": "out"}, **given))
    with pytest.raises(ProgramFault, match="overwritten"):
        verify(program(View("v", "out"), first, second, places={"t": "v", "y": "out"}, **given))


@pytest.mark.parametrize(
    ("steps", "places", "message"),
    [
        ([loop(Store("y", ("i",), twice("t")))], {"y": "out", "t": "r"}, "holds nothing yet"),
        ([loop(Store("t", ("i",), twice("x")))], {"t": "r", "y": "out"}, "holds nothing yet"),
        ([loop(Store("y", ("i",), Read("x", ("i", "i"))))], {"y": "out"}, "with 2 indices"),
        ([loop(Store("y", ("i",), twice("x")))] * 2, {"y": "out"}, "a second time"),
        ([loop(Store("y", ("i",), twice("x")))], {"y": "x"}, "not the buffer|writes to the argument"),
        (
            [
                loop(Store("t", ("i",), twice("x"))),
                loop(Store("y", ("i",), Read("t", (N - 1 - Size.of("i"),)))),
            ],
            {"t": "out", "y": "out"},
            "overwritten",
        ),
        (
            [
                loop(Store("t", ("i",), twice("x"))),
                loop(Store("u", ("i",), twice("x")), Store("y", ("i",), twice("t"))),
            ],
            {"t": "r", "u": "r", "y": "out"},
            "before it is read",
        ),
        (
            [
                loop(Store("t", ("i",), twice("x"))),
                loop(Store("u", ("i",), twice("x"))),
                loop(Store("y", ("i",), twice("t"))),
            ],
            {"t": "r", "u": "r", "y": "out"},
            "holds u",
        ),
    ],
)  # fmt: skip
def test_faults(steps, places, message):
    with pytest.raises(ProgramFault, match=message):
        verify(program(*steps, places=places))


def test_names_are_unique():
    with pytest.raises(ProgramFault, match="one name"):
        verify(program(loop(Store("y", ("i",), Literal(1))), places={"y": "out"}, buffers=(X, X, OUT)))


def test_locals_are_not_memory():
    verify(program(loop(Store("y", ("i",), Read("t", ("i",))), lets=[Let("t", twice("x"))]), places={"y": "out"}))
