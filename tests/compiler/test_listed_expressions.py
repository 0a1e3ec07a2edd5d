"""The text of an expression in a plan has the value of the expression, by the precedence of Python's operators."""

import math
import random
from fractions import Fraction

import pytest

from matcalc.compiler.entrywise import Apply, Literal, Product, Read, Sum
from matcalc.compiler.listing import step_text
from matcalc.compiler.lowering_entries import Scalar
from matcalc.compiler.program import Loop, Store
from matcalc.tensor.sizes.size import Size

DATA = {"x": 1.7, "y": 0.6, "n": 5, "m": 3}
SIGNS = {
    "1/{0}": lambda a: 1 / a,
    "1/{0}^2": lambda a: 1 / a**2,
    "1/sqrt({0})": lambda a: 1 / math.sqrt(a),
    "{0}^(3/2)": lambda a: a**1.5,
    "{0}/{1}": lambda a, b: a / b,
    "{0}/{1}^2": lambda a, b: a / b**2,
    "abs({0})": abs,
}
LEAVES = [
    *((Read(name), DATA[name]) for name in ("x", "y")),
    (Literal(Fraction(-3)), -3),
    (Literal(Fraction(1, 2)), 0.5),
    (Literal(Size.of("n")), 5),
    (Literal(Size.of("n") - 1), 4),
    (Literal(Size.of("n") + Size.of("m")), 8),
    (Literal(Size.of("n") * 2), 10),
    (Literal(Size.of("n") * Size.of("m")), 15),
]


def drawn(chance, depth):
    """Return a random expression and its value."""
    if not depth or chance.random() < 0.2:
        return chance.choice(LEAVES)
    kind = chance.choice(["sum", "product", "function"])
    parts = [drawn(chance, depth - 1) for _ in range(2)]
    coefs = [Fraction(chance.choice([-2, -1, 1, 3])) for _ in parts]
    if kind == "sum":
        terms = tuple((c, e) for c, (e, _) in zip(coefs, parts, strict=True))
        return Sum(terms), float(sum(c * v for c, (_, v) in zip(coefs, map(fractional, parts), strict=True)))
    if kind == "product":
        return Product(coefs[0], tuple(e for e, _ in parts)), float(coefs[0]) * parts[0][1] * parts[1][1]
    template, function = chance.choice(list(SIGNS.items()))
    parts = parts[: 2 if "{1}" in template else 1]
    return Apply(Scalar("f", {"plan": template}, 1.0), tuple(e for e, _ in parts)), function(*(v for _, v in parts))


def fractional(part):
    return part[0], Fraction(part[1])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_texts_of_random_expressions_have_their_values(depth):
    chance, count = random.Random(depth), 0
    while count < 300:
        try:
            expression, value = drawn(chance, depth)
        except (ZeroDivisionError, ValueError, TypeError, OverflowError):  # a power of a number below 0
            continue
        if isinstance(value, complex):
            continue
        text = step_text(Loop((), (), (), (Store("z", (), expression),))).partition("z = ")[2]
        found = eval(text.replace("^", "**"), {"sqrt": math.sqrt}, DATA)  # noqa: S307
        assert found == pytest.approx(value, rel=1e-9), text
        count += 1
