"""Random formulas over data by rows, each with its value by plain NumPy on all rows at once.

A formula is a text and a line of NumPy, built together, so that this module neither reads the language nor calls
matcalc. NumPy may compute with complex numbers, which are compared by real part: a gradient is a complex step.
"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

LET = (
    "X: matrix(m, n); Z: matrix(m, p); Q: matrix(n, m); y: vector(m); g: vector(m); t: index(m); w: vector(n); "
    "u: vector(p); c: scalar; W: matrix(n, p); M: matrix(n, n)"
)
COLUMNS = {"n": 3, "p": 2}
BY_ROWS = {"X": 0, "Z": 0, "Q": 1, "y": 0, "g": 0, "t": 0}
"""The axis of rows of each symbol that has one."""


@dataclass(frozen=True)
class Formula:
    """A text, its value as a line of NumPy, whether it must separate over rows, and whether its gradient must."""

    text: str
    line: str
    separates: bool
    gradient_separates: bool

    def value(self, data: dict) -> np.ndarray:
        return eval(self.line, FUNCTIONS, data)

    def gradient(self, data: dict, name: str) -> np.ndarray:
        """Return the gradient in one symbol, by complex steps."""
        found = np.zeros(np.shape(data[name]))
        for at in np.ndindex(found.shape):
            moved = np.array(data[name], complex)
            moved[at] += 1e-30j
            found[at] = np.imag(self.value({**data, name: moved})) / 1e-30
        return found

    def product(self, data: dict, name: str, along: np.ndarray) -> np.ndarray:
        """Return the Hessian in one symbol times a direction, by differences of gradients of two widths."""

        def slope(h: float) -> np.ndarray:
            ends = (self.gradient({**data, name: data[name] + k * h * along}, name) for k in (1, -1))
            return np.subtract(*ends) / (2 * h)

        return (4 * slope(5e-4) - slope(1e-3)) / 3


def data(rows: int, seed: int) -> dict:
    """Return arrays for all symbols, with this number of rows."""
    rng = np.random.default_rng([rows, seed])
    n, p = COLUMNS["n"], COLUMNS["p"]
    shapes = {"X": (rows, n), "Z": (rows, p), "Q": (n, rows), "y": (rows,), "w": (n,), "u": (p,), "W": (n, p)}
    drawn = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    more = {"g": rng.uniform(0.2, 2.0, rows), "t": rng.integers(0, p, rows), "c": rng.uniform(0.3, 1.5)}
    return {**drawn, **more, "M": rng.standard_normal((n, n)) / 2}


def cut(data: dict, names: Sequence[str], ends: Sequence[int]) -> list[dict]:
    """Return blocks of the rows between ends."""
    parts = [slice(a, b) for a, b in zip(ends, ends[1:], strict=False)]
    return [{name: data[name][(*(slice(None),) * BY_ROWS[name], part)] for name in names} for part in parts]


# ---- functions of complex arrays


def largest(x, axis=None):
    x, axis = (np.ravel(x), 0) if axis is None else (x, axis)
    return np.take_along_axis(x, np.expand_dims(np.argmax(np.real(x), axis), axis), axis).squeeze(axis)


def size(x):
    return np.where(np.real(x) < 0, -x, x)


def log_sum_exp(x, axis=None):
    top = np.max(np.real(x), axis, keepdims=True)
    return np.log(np.sum(np.exp(x - top), axis)) + np.squeeze(top, axis)


def length(x, axis=None):
    return np.sqrt(np.sum(x * x, axis))


def spread(x, axis=None):
    return np.mean((x - np.mean(x, axis, keepdims=True)) ** 2, axis)


def shares(x, axis):
    e = np.exp(x - np.max(np.real(x), axis, keepdims=True))
    return e / np.sum(e, axis, keepdims=True)


def ordered(x):
    return np.take_along_axis(x, np.argsort(np.real(x), -1), -1)


def middle(x):
    k, x = np.shape(x)[-1], ordered(x)
    return (x[..., (k - 1) // 2] + x[..., k // 2]) / 2


def logdet(A):
    return np.log(np.linalg.det(A))


FUNCTIONS = {
    **{f.__name__: f for f in (largest, size, log_sum_exp, length, spread, shares, ordered, middle, logdet)},
    **{name: getattr(np, name) for name in ("tanh", "exp", "log", "log1p", "where", "real", "sum", "mean", "prod")},
    **{name: getattr(np, name) for name in ("outer", "cumsum", "eye", "sqrt")},
    "trace": np.trace,
    "each": np.arange,
    "pairs": np.subtract.outer,
}

# ---- parts of formulas: a text and a line with slots, and the kinds that fill these.
# s is a number, v of length n, u of p, a of n x n; r has m rows, X is m x n, Z is m x p

LEAVES = {"s": ["c"], "v": ["w"], "u": ["u"], "a": ["M"], "r": ["y", "g"], "X": ["X"], "Z": ["Z"]}
SAME = [("tanh({0})", "tanh({0})"), ("exp(tanh({0}))", "exp(tanh({0}))"), ("1./(1 + {0}.^2)", "1/(1 + {0}**2)")]
BOTH = [("{0} + {1}", "{0} + {1}"), ("{0} - {1}", "{0} - {1}"), ("{0}.*{1}", "{0}*{1}")]
BY_ROW = {
    "r": [
        ("{0}*{1}", "{0} @ {1}", "Xv"),
        ("{0}*{1}", "{0} @ {1}", "Zu"),
        ("Q'*{0}", "Q.T @ {0}", "v"),
        ("softplus({0})", "log1p(exp({0}))", "r"),
        ("abs({0})", "size({0})", "r"),
        ("where({0} > 0, {1}, 2*{2})", "where(real({0}) > 0, {1}, 2*{2})", "rrr"),
        ("max({0}, {1})", "where(real({0}) > real({1}), {0}, {1})", "rr"),
        ("{0}*{1}", "{0}*{1}", "sr"),
        ("{0} - {1}", "{0} - {1}", "rs"),
        ("max({0}, axis=1)", "largest({0}, 1)", "Z"),
        ("logsumexp({0}, axis=1)", "log_sum_exp({0}, 1)", "Z"),
        ("norm2({0}, axis=1)", "length({0}, 1)", "X"),
        ("sum({0}, axis=1)", "sum({0}, 1)", "X"),
        ("var({0}, axis=1)", "spread({0}, 1)", "X"),
        ("median({0}, axis=1)", "middle({0})", "X"),
        ("diag({0}*{1}*{2}')", "sum(({0} @ {1})*{2}, 1)", "XaX"),
        ("prod({0}, axis=1)", "prod({0}, 1)", "Z"),
        ("{0}[t]", "{0}[t]", "u"),
        ("{{k: {0}[k, t[k]]}}", "{0}[each(len(t)), t]", "Z"),
        ("{0}[:, 0]", "{0}[:, 0]", "X"),
    ],
    "X": [
        ("{0}*{1}", "{0} @ {1}", "Xa"),
        ("{0} .- {1}'", "{0} - {1}", "Xv"),
        ("{0}.*{1}", "{0}[:, None]*{1}", "rX"),
        ("{0}*{1}'", "outer({0}, {1})", "rv"),
        ("softmax({0}, axis=1)", "shares({0}, 1)", "X"),
        ("Q'*{0}", "Q.T @ {0}", "a"),
        ("cumsum({0}, axis=1)", "cumsum({0}, 1)", "X"),
        ("sort({0})", "ordered({0})", "X"),
        ("{0}*W'", "{0} @ W.T", "Z"),
    ],
    "Z": [
        ("{0}*W", "{0} @ W", "X"),
        ("{0} .- {1}'", "{0} - {1}", "Zu"),
        ("log_softmax({0}, axis=1)", "log(shares({0}, 1))", "Z"),
        ("{0}*{1}'", "outer({0}, {1})", "ru"),
    ],
}
TOTALS = {
    "s": [
        ("sum({0})", "sum({0})", "r"),
        ("mean({0})", "mean({0})", "r"),
        ("var({0})", "spread({0})", "r"),
        ("std({0})", "sqrt(spread({0}))", "r"),
        ("norm2({0})", "length({0})", "r"),
        ("norm1({0})", "sum(size({0}))", "r"),
        ("{0}'*{1}", "{0} @ {1}", "rr"),
        ("logsumexp({0})", "log_sum_exp({0})", "r"),
        ("log(sum(exp({0})))", "log_sum_exp({0})", "r"),
        ("mean({0})", "mean({0})", "Z"),
        ("norm2({0})^2", "sum({0}**2)", "X"),
        ("norm2({0})", "length({0})", "Z"),
        ("var({0})", "spread({0})", "X"),
        ("logsumexp({0})", "log_sum_exp({0})", "Z"),
        ("{0}'*{1}*{2}", "{0} @ {1} @ {2}", "rXv"),
        ("tr({0}'*{1})", "sum({0}*{1})", "XX"),
        ("sum(softmax({0}).^2)", "sum(shares({0}, 0)**2)", "r"),
        ("norm2(softmax({0}, axis=0))^2", "sum(shares({0}, 0)**2)", "Z"),
        ("logdet({0}'*{0} + eye(n))", "logdet({0}.T @ {0} + eye(3))", "X"),
        ("m*mean({0})", "len({0})*mean({0})", "r"),
        ("sum(({0} - mean({0})).*({1} - mean({1})))/m", "sum(({0} - mean({0}))*({1} - mean({1})))/len({0})", "rr"),
        ("normalize({0})'*{1}", "{0} @ {1}/length({0})", "rr"),
    ],
    "v": [
        ("{0}'*{1}", "{0}.T @ {1}", "Xr"),
        ("sum({0}, axis=0)", "sum({0}, 0)", "X"),
        ("mean({0}, axis=0)", "mean({0}, 0)", "X"),
        ("logsumexp({0}, axis=0)", "log_sum_exp({0}, 0)", "X"),
        ("norm2({0}, axis=0)", "length({0}, 0)", "X"),
        ("var({0}, axis=0)", "spread({0}, 0)", "X"),
        ("Q*{0}", "Q @ {0}", "r"),
    ],
    "u": [
        ("{0}'*{1}", "{0}.T @ {1}", "Zr"),
        ("mean({0}, axis=0)", "mean({0}, 0)", "Z"),
        ("std({0}, axis=0)", "sqrt(spread({0}, 0))", "Z"),
        ("logsumexp({0}, axis=0)", "log_sum_exp({0}, 0)", "Z"),
    ],
    "a": [
        ("{0}'*{1}", "{0}.T @ {1}", "XX"),
        ("{0}'*diag({1})*{2}", "{0}.T @ ({1}[:, None]*{2})", "XrX"),
    ],
}
EXTREMES = [
    ("max({0})", "largest({0})", "r"),
    ("min({0})", "-largest(-({0}))", "r"),
    ("norminf({0})", "largest(size({0}))", "r"),
    ("max({0})", "largest({0})", "X"),
    ("sum(max({0}, axis=0))", "sum(largest({0}, 0))", "Z"),
    ("prod(tanh({0}))", "prod(tanh({0}))", "r"),
]
"""Totals whose derivatives separate only in some positions."""
SHARED = {
    "s": [
        ("{0}*{1}", "{0}*{1}", "ss"),
        ("{0}'*{1}", "{0} @ {1}", "vv"),
        ("{0}'*{1}", "{0} @ {1}", "uu"),
        ("{0}/(1 + {1}^2)", "{0}/(1 + {1}**2)", "ss"),
        ("tr({0})", "trace({0})", "a"),
        ("norm2({0})^2", "sum({0}**2)", "a"),
        ("sum(exp(tanh({0})))", "sum(exp(tanh({0})))", "v"),
        ("logsumexp({0})", "log_sum_exp({0})", "u"),
        ("{0}'*{1}*{2}", "{0} @ {1} @ {2}", "vav"),
    ],
    "v": [("{0}*{1}", "{0} @ {1}", "av"), ("W*{0}", "W @ {0}", "u")],
    "u": [("W'*{0}", "W.T @ {0}", "v")],
    "a": [("{0}*{1}'", "outer({0}, {1})", "vv")],
}
WHOLE = [
    ("sum(sort({0}).*{1})", "sum(ordered({0})*{1})", "rr"),
    ("median({0})", "middle({0})", "r"),
    ("sum(cumsum({0}).^2)", "sum(cumsum({0})**2)", "r"),
    ("sum({0}[1:].^2)", "sum({0}[1:]**2)", "r"),
    ("{0}[0]", "{0}[0]", "r"),
    ("sum(exp(-({0} .- {1}').^2))", "sum(exp(-pairs({0}, {1})**2))", "rr"),
    ("sum(flip({0}).*{1})", "sum({0}[::-1]*{1})", "rr"),
    ("norm2(tanh({0}*{1}'))", "length(tanh({0} @ {1}.T))", "XX"),
    ("logdet({0}*{0}' + eye(m))", "logdet({0} @ {0}.T + eye(len({0})))", "Z"),
]
"""Functions that need all rows at once."""


def formula(seed: int, depth: int = 4) -> Formula:
    """Return a random scalar formula that has totals over rows."""
    rng = random.Random(seed)
    while True:
        draw = _Draw(rng)
        text, line = draw.whole(depth)
        if BY_ROWS.keys() & re.findall(r"\w+", line):
            return Formula(text, line, draw.separates, draw.gradient_separates)


class _Draw:
    """Draws pairs of a text and a line, bracketed when combined, and records the parts drawn."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.separates, self.gradient_separates = rng, True, True

    def whole(self, depth: int) -> tuple[str, str]:
        terms = [self.total("s", depth) for _ in range(self.rng.choice((1, 1, 1, 2)))]
        return " + ".join(t for t, _ in terms), " + ".join(x for _, x in terms)

    def total(self, kind: str, depth: int) -> tuple[str, str]:
        kinds = [TOTALS[kind]] * 10
        if kind == "s":
            kinds += [EXTREMES] * 2 + [WHOLE] + [SHARED["s"]] * 3
        chosen = self.rng.choice(kinds)
        self.separates &= chosen is not WHOLE
        self.gradient_separates &= chosen is not EXTREMES
        return self.made(self.rng.choice(chosen), depth)

    def made(self, form: tuple[str, ...], depth: int) -> tuple[str, str]:
        text, line, kinds = form
        parts = [self.one(kind, depth - 1) for kind in kinds]
        return text.format(*(f"({t})" for t, _ in parts)), f"({line.format(*(x for _, x in parts))})"

    def one(self, kind: str, depth: int) -> tuple[str, str]:
        """Return a part of a kind: a symbol, a function of others, or of a total over rows where it has none."""
        if depth <= 0 or self.rng.random() < 0.2:
            name = self.rng.choice(LEAVES[kind])
            return name, name
        both = [(*form, 2 * kind) for form in BOTH if kind != "s" or ".*" not in form[0]]
        plain = [(*form, kind) for form in SAME] + both
        if kind in BY_ROW:
            return self.made(self.rng.choice([*plain, *BY_ROW[kind] * 2]), depth)
        if self.rng.random() < 0.4:
            return self.total(kind, depth)
        return self.made(self.rng.choice([*plain, *SHARED[kind] * 2]), depth)
