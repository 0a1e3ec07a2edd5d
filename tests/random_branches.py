"""Random entrywise formulas with kinks, most of them of two branches that agree in a region, with their NumPy code."""

import random

import numpy as np

DECLARED = "x, A, B: vector(n); p, q: vector(n) positive; c, d: scalar positive"
POINTS = 400
STEP = 1e-6

Pair = tuple[str, str]
LEAVES: list[Pair] = [("x", "x"), ("A.*x", "A*x"), ("exp(x)./p", "np.exp(x)/p"), ("x.*p.*q", "x*p*q")]
ONE: list[Pair] = [
    ("clip({}, 1 - c, 1 + d)", "np.clip({}, 1 - c, 1 + d)"),
    ("max({}, B)", "np.maximum({}, B)"),
    ("A.*({})", "A*({})"),
    ("({})./q", "({})/q"),
    ("relu({})", "np.maximum({}, 0)"),
    ("abs({})", "np.abs({})"),
]
TWO: list[Pair] = [
    ("min({}, {})", "np.minimum({}, {})"),
    ("where({0} > {1}, {0}, {1})", "np.where({0} > {1}, {0}, {1})"),
    ("(({}) + ({}))", "(({}) + ({}))"),
]
CUTS: list[Pair] = [
    ("clip({}, 1 - c, 1 + d)", "np.clip({}, 1 - c, 1 + d)"),
    ("min({}, 1 + c)", "np.minimum({}, 1 + c)"),
    ("max({}, B)", "np.maximum({}, B)"),
    ("relu({})", "np.maximum({}, 0)"),
    ("abs({})", "np.abs({})"),
    ("max({}, -d)", "np.maximum({}, -d)"),
]
WEIGHTS: list[Pair] = [("A.*", "A*"), ("", "1*"), ("p.*", "p*"), ("A.*p.*", "A*p*"), ("A./q.*", "A/q*")]


def term(r: random.Random, depth: int) -> Pair:
    """Return an entrywise quantity as text and as Python."""
    if depth == 0 or r.random() < 0.3:
        return r.choice(LEAVES)
    if r.random() < 0.7:
        (text, python), inner = r.choice(ONE), term(r, depth - 1)
        return text.format(inner[0]), python.format(inner[1])
    (text, python), one, other = r.choice(TWO), term(r, depth - 1), term(r, depth - 1)
    return text.format(one[0], other[0]), python.format(one[1], other[1])


def formula(seed: int) -> Pair:
    """Return a formula as text and as Python."""
    r = random.Random(seed)
    found = term(r, 2)
    if r.random() < 0.7:
        weight, cut = r.choice(WEIGHTS), r.choice(CUTS)
        branches = [
            (f"{weight[0]}({found[0]})", f"{weight[1]}({found[1]})"),
            (weight[0] + cut[0].format(found[0]), weight[1] + cut[1].format(found[1])),
        ]
        r.shuffle(branches)
        (a, b), (text, python) = branches, r.choice([("min", "np.minimum"), ("max", "np.maximum")])
        found = f"{text}({a[0]}, {b[0]})", f"{python}({a[1]}, {b[1]})"
    if r.random() < 0.3:
        other = term(r, 2)
        found = f"({found[0]}).*({other[0]})", f"({found[1]})*({other[1]})"
    return found


def data(seed: int) -> dict[str, object]:
    r = np.random.default_rng(seed)
    x, A, B = r.standard_normal((3, POINTS))
    p, q = r.uniform(0.2, 2, (2, POINTS))
    return {"x": x, "A": A, "B": B, "p": p, "q": q, "c": 0.4, "d": 0.7}


def slopes(python: str, given: dict[str, object]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the central differences, the points where the formula is smooth, and the size of the slopes there."""

    def at(by: float) -> np.ndarray:
        return eval(python, {"np": np, **given, "x": given["x"] + by}) * np.ones(POINTS)  # noqa: S307

    middle, one, two = at(0.0), (at(STEP), at(-STEP)), (at(2 * STEP), at(-2 * STEP))
    right, left = (one[0] - middle) / STEP, (middle - one[1]) / STEP
    size = 1 + np.abs(right) + np.abs(left)
    is_smooth = np.abs(right - left) < 1e-3 * size
    is_smooth &= np.abs(two[0] + two[1] - 2 * middle) / (2 * STEP) < 1e-3 * size
    return (one[0] - one[1]) / (2 * STEP), is_smooth, size
