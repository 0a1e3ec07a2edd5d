"""The problems of `problems.toml` or `operations.toml` with their data: deterministic, float64, row-major.

A problem is plain text and sizes, the same for every library. Code that depends on a library is in its `peer_*.py`; the
reference results are computed in `expert_*.py`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIZES = ("tiny", "small", "medium", "large")
FORWARD_SEED = "G"  # the name of the cotangent of a pullback
DIRECTION = "V"  # the name of the vector that a Hessian is multiplied with

Data = dict[str, float | np.ndarray]
Call = Callable[[], object]
"""A problem and its data in one library: a call that returns the answer as arrays."""


@dataclass(frozen=True)
class Problem:
    """A formula, the requested results, and the shapes of its symbols by size."""

    name: str
    formula: str
    python: str
    wrt: tuple[str, ...]
    gives: str
    shapes: dict[str, tuple[str, ...]]
    facts: dict[str, str]
    recipes: dict[str, str]
    lengths: dict[str, dict[str, int]]

    @property
    def declarations(self) -> str:
        """The symbols as matcalc's declarations text."""
        kinds = ("scalar", "vector", "matrix")
        texts = []
        for name, shape in self.shapes.items():
            sizes = f"({', '.join(shape)})" if shape else ""
            texts.append(f"{name}: {kinds[len(shape)]}{sizes} {self.facts.get(name, '')}".strip())
        return "; ".join(texts)

    def data(self, size: str) -> Data:
        """Return the value of each symbol: arrays, and floats for scalars."""
        rng = np.random.default_rng(sum(map(ord, self.name)))
        values = {name: self._value(rng, name, size) for name in self.shapes}
        if self.gives == "hvp":
            values[DIRECTION] = np.random.default_rng(1).standard_normal(np.shape(values[self.wrt[0]]))
        return values

    @property
    def inputs(self) -> list[str]:
        """Names of the arguments of a call: the symbols, then the cotangent or the direction."""
        return [*self.shapes, *{"pullback": [FORWARD_SEED], "hvp": [DIRECTION]}.get(self.gives, [])]

    def cotangent(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return the cotangent of a pullback whose value has this shape."""
        return np.random.default_rng(1).standard_normal(shape)

    def _value(self, rng: np.random.Generator, name: str, size: str) -> float | np.ndarray:
        shape = tuple(self.lengths[size][letter] for letter in self.shapes[name])
        if not shape:
            return float(0.5 + rng.random())
        kind = self.recipes.get(name, self.facts.get(name, ""))
        return np.ascontiguousarray(RECIPES[kind](rng, shape))


RECIPES = {
    "": lambda rng, shape: rng.standard_normal(shape),
    "scaled": lambda rng, shape: rng.standard_normal(shape) / np.sqrt(shape[-1]),
    "signs": lambda rng, shape: np.where(rng.random(shape) < 0.5, -1.0, 1.0),
    "mask": lambda rng, shape: (rng.random(shape) < 0.5).astype(float),
    "onehot": lambda rng, shape: np.eye(shape[1])[rng.integers(0, shape[1], shape[0])],
    "symmetric": lambda rng, shape: (lambda a: (a + a.T) / 2)(rng.standard_normal(shape)),
    "symmetric_scaled": lambda rng, shape: RECIPES["symmetric"](rng, shape) / np.sqrt(shape[-1]),
    "distances": lambda rng, shape: (lambda p: np.sum((p[:, None] - p[None]) ** 2, axis=2))(
        rng.standard_normal((shape[0], 3))
    ),
    "spd": lambda rng, shape: (lambda a: a @ a.T / len(a) + np.eye(len(a)))(rng.standard_normal(shape)),
    "dominant": lambda rng, shape: rng.standard_normal(shape) / np.sqrt(shape[0]) + 2.0 * np.eye(shape[0]),
}


def load(name: str) -> list[Problem]:
    """Read the problems of `name`.toml, in the order of the file."""
    text = Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")
    return [_problem(name, entry) for name, entry in tomllib.loads(text).items()]


def _problem(name: str, entry: dict[str, str]) -> Problem:
    letters, _, rows = entry["sizes"].partition(":")
    columns = [[int(number) for number in row.split()] for row in rows.split("|")]
    names = SIZES[-len(columns) :]
    lengths = {size: dict(zip(letters.split(), row, strict=True)) for size, row in zip(names, columns, strict=True)}
    return Problem(
        name,
        entry["formula"],
        entry["python"],
        tuple(entry["wrt"].split()),
        entry["gives"],
        {symbol: tuple(sizes.split()) for symbol, sizes in entry["symbols"].items()},
        entry.get("facts", {}),
        entry.get("data", {}),
        lengths,
    )
