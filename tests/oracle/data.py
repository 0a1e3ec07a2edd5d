"""Data for declarations: sizes, and arrays that have the declared facts and are far from degenerate."""

import re
import zlib

import numpy as np

from oracle.values import evaluate, shaped

SIZES = {"m": 6, "n": 5, "p": 4, "k": 3, "q": 2, "l": 3, "r": 2}
DECLARATION = re.compile(
    r"\s*(\w+(?:\s*,\s*\w+)*)\s*:\s*(scalar|vector|matrix|tensor|index)\s*(?:\(([^)]*)\))?\s*([\w\s]*)$"
)


def declared(text: str) -> dict[str, tuple[tuple[str, ...], frozenset[str]]]:
    """Return name -> (texts of the sizes, facts) for a declarations text."""
    found = {}
    for entry in filter(str.strip, re.split(r"[;\n]", text)):
        match = DECLARATION.match(entry)
        if match is None:
            raise ValueError(f"cannot read the declaration {entry!r}")
        names, kind, sizes, facts = match.groups()
        lengths = tuple(filter(None, (s.strip() for s in (sizes or "").split(","))))
        for name in names.split(","):
            found[name.strip()] = lengths, frozenset([*facts.split(), *(["index"] if kind == "index" else [])])
    return found


def shape_of(sizes: tuple[str, ...], known: dict[str, int]) -> tuple[int, ...]:
    return tuple(int(evaluate(s, {}, known).item()) for s in sizes)


def make(declarations: str, seed: int = 0, adjust: str = "", sizes: dict | None = None) -> dict:
    """Return data for every declared name; `adjust` is the field `data` of a case."""
    known = SIZES if sizes is None else sizes
    shapes = {name: (shape_of(s, known), facts) for name, (s, facts) in declared(declarations).items()}
    data = {
        name: sample(np.random.default_rng([seed, zlib.crc32(name.encode())]), shape, facts)
        for name, (shape, facts) in shapes.items()
    }
    return adjusted(data, adjust, np.random.default_rng([seed, 7]), known) if adjust else data


def adjusted(data: dict, adjust: str, rng: np.random.Generator, known: dict[str, int]) -> dict:
    """Carry out `y = sign of normal draws` or `y = A*x + uniform(0.3, 2)`."""
    name, formula = (side.strip() for side in adjust.split("=", 1))
    shape = data[name].shape
    if formula == "sign of normal draws":
        return {**data, name: np.where(rng.standard_normal(shape) < 0, -1.0, 1.0)}
    drawn = re.search(r"uniform\(([^,]+),([^)]+)\)", formula)
    if drawn is None:
        return {**data, name: shaped(evaluate(formula, data, known), shape)}
    noise = rng.uniform(float(drawn[1]), float(drawn[2]), shape)
    text = formula.replace(drawn[0], "drawn")
    return {**data, name: shaped(evaluate(text, {**data, "drawn": noise}, known), shape)}


def sample(rng: np.random.Generator, shape: tuple[int, ...], facts: frozenset[str]) -> np.ndarray:
    """Draw an array with the given facts."""
    draw = np.asarray(rng.standard_normal(shape))
    known = next((fact for fact in SAMPLERS if fact in facts), None)
    return SAMPLERS[known](rng, shape, draw) if known else draw


def rotation(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((n, n)))[0]


def with_spectrum(rng: np.random.Generator, n: int, w: np.ndarray) -> np.ndarray:
    Q = rotation(rng, n)
    return (Q * w) @ Q.T


def signs(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.where(rng.random(shape) < 0.5, -1.0, 1.0)


def with_singular_values(rng, shape, low=0.6, high=2.0):
    k = min(shape)
    U, V = rotation(rng, shape[0])[:, :k], rotation(rng, shape[1])[:, :k]
    return (U * np.linspace(high, low, k)) @ V.T


def spd(rng, shape, draw):
    return with_spectrum(rng, shape[0], np.linspace(0.7, 3.0, shape[0]))


def symmetric(rng, shape, draw):
    return with_spectrum(rng, shape[0], np.linspace(-1.5, 2.0, shape[0]))


def positive(rng, shape, draw):
    return rng.uniform(0.5, 2.0, shape)


def lower(rng, shape, draw):
    return np.tril(draw, -1) * 0.5 + np.diag(rng.uniform(0.8, 2.0, shape[0]))


# In the order in which they decide: the most specific fact first.
SAMPLERS = {
    "diagonal": lambda rng, shape, draw: np.diag(rng.uniform(0.5, 2.0, shape[0])),
    "orthogonal": lambda rng, shape, draw: rotation(rng, shape[0]),
    "spd": spd,
    "psd": lambda rng, shape, draw: with_spectrum(rng, shape[0], np.arange(shape[0]) / 2.0),
    "distinct_sv": lambda rng, shape, draw: with_singular_values(rng, shape),
    "symmetric": symmetric,
    "skew": lambda rng, shape, draw: (draw - draw.T) / 2,
    "lower": lower,
    "upper": lambda rng, shape, draw: lower(rng, shape, draw).T,
    "nonsingular": lambda rng, shape, draw: with_singular_values(rng, shape),
    "positive": positive,
    "nonnegative": positive,
    "index": lambda rng, shape, draw: rng.integers(0, 2, shape),
    "integer": lambda rng, shape, draw: rng.integers(1, 4, shape).astype(float),
    # Words of the field `assume` in rules.json.
    "invertible": lambda rng, shape, draw: with_singular_values(rng, shape),
    "full_col_rank": lambda rng, shape, draw: with_singular_values(rng, shape),
    "full_row_rank": lambda rng, shape, draw: with_singular_values(rng, shape),
    "diag_dominant": lambda rng, shape, draw: draw / 4 + np.diag(rng.uniform(2, 4, shape[0])),
    "stable": lambda rng, shape, draw: draw / 4 - np.diag(rng.uniform(1, 2, shape[0])),
    "schur_stable": lambda rng, shape, draw: 0.6 * draw / np.linalg.norm(draw, 2),
    "pos_eigs": lambda rng, shape, draw: draw / 5 + np.diag(np.linspace(1, 3, shape[0])),
    "distinct_eigs": symmetric,
    "unit_interval": lambda rng, shape, draw: rng.uniform(0.1, 0.9, shape),
    "nonzero": lambda rng, shape, draw: signs(rng, shape) * rng.uniform(0.3, 2.0, shape),
    "distinct": lambda rng, shape, draw: rng.permutation(np.linspace(-2, 1.7, draw.size)).reshape(shape),
    "pm1": lambda rng, shape, draw: signs(rng, shape),
    "gt2": lambda rng, shape, draw: rng.uniform(2.5, 4.0, shape),
}
