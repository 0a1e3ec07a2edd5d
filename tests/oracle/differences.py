"""Derivatives of a text by complex steps where the text is analytic, else by extrapolated differences."""

from collections.abc import Callable

import numpy as np

from oracle.arrays import NotAnalytic
from oracle.values import evaluate

Function = Callable[[np.ndarray], np.ndarray]


def along(text: str, data: dict, wrt: str, direction: np.ndarray, sizes: dict) -> tuple[np.ndarray, float]:
    """Return the derivative of `text` along `direction` of `wrt`, and its relative accuracy."""
    base = np.asarray(data[wrt], float)

    def f(t):
        return evaluate(text, {**data, wrt: base + t * direction}, sizes)

    try:
        return f(1e-30j).imag / 1e-30, 1e-11
    except NotAnalytic:
        return extrapolated(f), 1e-8


def extrapolated(f: Callable[[float], np.ndarray], h: float = 0.02) -> np.ndarray:
    """Differentiate f at 0 by central differences of five widths, extrapolated to width 0 (Richardson)."""
    table = [(f(h / 2**k) - f(-h / 2**k)) / (2 * h / 2**k) for k in range(5)]
    for order in range(1, 5):
        table = [(4**order * b - a) / (4**order - 1) for a, b in zip(table, table[1:], strict=False)]
    return table[0]


def basis(shape: tuple[int, ...], facts: frozenset[str] = frozenset()) -> list[np.ndarray]:
    """Return an orthogonal basis of the linear set that the facts name."""
    units = [unit(shape, place) for place in np.ndindex(*shape)]
    if facts & {"symmetric", "spd", "psd"}:
        return [unit(shape, (i, j)) + (i != j) * unit(shape, (j, i)) for i, j in np.ndindex(*shape) if i >= j]
    if "diagonal" in facts:
        return [unit(shape, (i, i)) for i in range(shape[0])]
    if "lower" in facts:
        return [unit(shape, (i, j)) for i, j in np.ndindex(*shape) if i >= j]
    if "upper" in facts:
        return [unit(shape, (i, j)) for i, j in np.ndindex(*shape) if i <= j]
    if "skew" in facts:
        return [unit(shape, (i, j)) - unit(shape, (j, i)) for i, j in np.ndindex(*shape) if i > j]
    return units


def unit(shape: tuple[int, ...], place: tuple[int, ...]) -> np.ndarray:
    array = np.zeros(shape)
    array[place] = 1.0
    return array


def projected(G: np.ndarray, facts: frozenset[str]) -> np.ndarray:
    """Project a gradient orthogonally on the linear set that the facts name."""
    total = np.zeros_like(G)
    for E in basis(G.shape, facts):
        total += (G * E).sum() / (E * E).sum() * E
    return total


def gradient(text: str, data: dict, wrt: str, sizes: dict, facts: frozenset[str] = frozenset()) -> np.ndarray:
    """Return the gradient of a scalar text in the linear set that the facts name."""
    base = np.asarray(data[wrt], float)
    total = np.zeros_like(base)
    for E in basis(base.shape, facts):
        total += along(text, data, wrt, E, sizes)[0].item() / (E * E).sum() * E
    return total


def jacobian(text: str, data: dict, wrt: str, sizes: dict) -> np.ndarray:
    """Return the Jacobian of a vector text in a vector, a column for each entry of `wrt`."""
    shape = np.asarray(data[wrt]).shape
    return np.hstack([along(text, data, wrt, E, sizes)[0].reshape(-1, 1) for E in basis(shape)])


def hessian(text: str, data: dict, wrt: str, sizes: dict) -> np.ndarray:
    """Return the Hessian of a scalar text in a vector: differences of complex-step gradients."""
    base = np.asarray(data[wrt], float)

    def row(direction):
        return extrapolated(lambda t: gradient(text, {**data, wrt: base + t * direction}, wrt, sizes))

    return np.stack([row(E) for E in basis(base.shape)])
