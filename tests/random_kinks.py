"""Random formulas of one variable with kinks at 0, and the mean of their slopes on both sides.

Kinks are nested in each other, multiplied and hidden in smooth functions. Arguments of kinks are piecewise linear
there, so the sign of the variable determines the sides of all kinks.
"""

import numpy as np

KINKS = {
    "abs({0})": np.abs,
    "relu({0})": lambda u: np.maximum(u, 0),
    "max({0}, 0)": lambda u: np.maximum(u, 0),
    "min({0}, 0)": lambda u: np.minimum(u, 0),
    "max({0}, {1})": np.maximum,
    "min({0}, {1})": np.minimum,
    "{0}*sign({1})": lambda u, v: u * np.sign(v),
}
RISING = {
    "sinh({0})": np.sinh,
    "tanh({0})": np.tanh,
    "expm1({0})": np.expm1,
    "atan({0})": np.arctan,
    "{0}^3": lambda u: u**3,
}
SMOOTH = {
    "exp({0})": np.exp, "cos({0})": np.cos, "sin({0})": np.sin, "softplus({0})": lambda u: np.logaddexp(u, 0),
    "log(2 + cos({0}))": lambda u: np.log(2 + np.cos(u)), "({0})^2": lambda u: u**2,
}  # fmt: skip


class Formula:
    """A text and its function of one number."""

    def __init__(self, text, value):
        self.text, self.value = text, value


def applied(rng, table, *inner):
    """Return a function from a table, applied to a formula that it accepts."""
    text = str(rng.choice(list(table)))
    used = inner[: 1 + ("{1}" in text)]
    return Formula(text.format(*(f"({f.text})" for f in used)), lambda x: table[text](*(f.value(x) for f in used)))


def linear(rng, *terms):
    """Return a linear combination whose coefficients are nonzero and distinct."""
    numbers = [int(c) for c in rng.choice([-3, -2, -1, 1, 2, 3, 5], len(terms))]
    text = " + ".join(f"{c}*({f.text})" for c, f in zip(numbers, terms, strict=True))
    return Formula(text, lambda x: sum(c * f.value(x) for c, f in zip(numbers, terms, strict=True)))


def inside(rng, depth):
    """Return a formula that is 0 at 0, with kinks there."""
    if depth == 0:
        return Formula("x", lambda x: x)
    if rng.integers(3) == 0:
        return linear(rng, inside(rng, depth - 1), inside(rng, depth - 1))
    return applied(rng, KINKS, inside(rng, depth - 1), inside(rng, depth - 1))


def formula(rng):
    """Return a formula that may be smooth outside: sums and products of smooth functions of kinked formulas."""
    tables = [rng.choice([SMOOTH, RISING, None]) for _ in range(3)]
    parts = [applied(rng, table, inside(rng, 2)) if table else inside(rng, 3) for table in tables]
    whole = linear(rng, parts[0], parts[1])
    if rng.random() < 0.5:
        whole = Formula(
            f"({whole.text})*({parts[2].text} + 1)", lambda x, f=whole: f.value(x) * (parts[2].value(x) + 1)
        )
    return whole


def slope(found, side):
    """Return the slope at 0 from one side: that of a polynomial through values near it."""
    steps = side * 2e-4 * np.arange(6)
    values = np.array([found.value(np.float64(t)) for t in steps])
    return np.polynomial.polynomial.polyfit(steps * 5e3, values, 5)[1] * 5e3


def mean_slope(found):
    """Return the mean of the slopes on both sides of 0."""
    return (slope(found, 1) + slope(found, -1)) / 2
