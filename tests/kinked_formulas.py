"""Equal formulas written with kinks: definitions of one function by others, at ties and zeros.

`value` is NumPy's value. Where a function is smooth it has its own derivative. Elsewhere the derivative is the mean of
nearby slopes: over all orders and signs of one perturbation, so that each order of a tie has equal weight.
"""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LET = "x: vector(3); y: vector(3)"
Data = dict[str, np.ndarray]


class Equal(NamedTuple):
    """Equal formulas, entrywise or numbers, with the points to test and the value by NumPy."""

    texts: tuple[str, ...]
    at: tuple[Data, ...]
    value: Callable[..., np.ndarray]


def of(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


ZEROS = ({"x": of(0, 0, -1.5)}, {"x": of(0, 2, 0)})
BOUNDS = ({"x": of(1, -1, 0.3)}, {"x": of(-1, 0, 2)})
TIES = ({"x": of(1, 2, -1), "y": of(1, 3, -1)}, {"x": of(0, 0, 2), "y": of(0, 0, 2)})
ORDERS = ({"x": of(2, 2, 2)}, {"x": of(1, 3, 3)}, {"x": of(3, 1, 1)})
NORMS = ({"x": of(1, -1, 0)}, {"x": of(0, 0, 0)}, {"x": of(2, 2, -1)})

EQUAL = {
    "relu": Equal(
        ("relu(x)", "max(x, 0)", "(x + abs(x))/2", "x - min(x, 0)", "-min(-x, 0)", "x.*step(x)", "max(x, 0*x)",
         "relu(relu(x))", "max(relu(x), x/2)", "max(abs(x), x) - relu(-x)", "sqrt(x.^2)/2 + x/2", "x - clip(x, -9, 0)",
         "relu(x + abs(x))/2"),
        ZEROS, lambda x: np.maximum(x, 0)),
    "abs": Equal(
        ("abs(x)", "max(x, -x)", "relu(x) + relu(-x)", "sqrt(x.^2)", "x.*sign(x)", "2*relu(x) - x", "-min(x, -x)",
         "max(x, 0) - min(x, 0)", "hypot(x, 0*x)", "max(abs(x), x)", "x - 2*min(x, 0)", "max(relu(x), relu(-x))"),
        ZEROS, np.abs),
    "max": Equal(
        ("max(x, y)", "(x + y + abs(x - y))/2", "x + relu(y - x)", "y + relu(x - y)", "x + y - min(x, y)",
         "-min(-x, -y)", "(x + y)/2 + max(x - y, y - x)/2", "max(max(x, y), x)", "max(x, y).*step(1 + x.^2)"),
        TIES, np.maximum),
    "min": Equal(
        ("min(x, y)", "(x + y - abs(x - y))/2", "x - relu(x - y)", "x + y - max(x, y)", "-max(-x, -y)",
         "min(min(x, y), max(x, y))"),
        TIES, np.minimum),
    "clip": Equal(
        ("clip(x, -1, 1)", "min(max(x, -1), 1)", "max(min(x, 1), -1)", "relu(x + 1) - relu(x - 1) - 1",
         "(abs(x + 1) - abs(x - 1))/2", "x - relu(x - 1) + relu(-x - 1)", "clip(clip(x, -1, 1), -2, 2)"),
        BOUNDS, lambda x: np.clip(x, -1, 1)),
    "between": Equal(
        ("x", "clip(x, -abs(x), abs(x))", "clip(x, x, 3)/2 + clip(x, -3, x)/2", "min(max(x, -abs(x)), abs(x))"),
        ZEROS, lambda x: x),
    "shrunk": Equal(
        ("relu(x - 1) - relu(-x - 1)", "x - clip(x, -1, 1)", "sign(x).*relu(abs(x) - 1)",
         "max(x - 1, 0) + min(x + 1, 0)"),
        BOUNDS, lambda x: np.sign(x) * np.maximum(np.abs(x) - 1, 0)),
    "softplus": Equal(
        ("softplus(x)", "log(1 + exp(x))", "max(x, 0) + log1p(exp(-abs(x)))", "logaddexp(x, 0*x)",
         "(x + abs(x))/2 + log1p(exp(-abs(x)))", "x - min(x, 0) + log(1 + exp(-abs(x)))",
         "x + log1p(exp(-abs(x))) - min(x, 0)"),
        ZEROS, lambda x: np.logaddexp(x, 0)),
    "log cosh": Equal(
        ("log(cosh(x))", "log(cosh(abs(x)))", "abs(x) + log1p(exp(-2*abs(x))) - log(2)",
         "max(x, -x) + softplus(-2*abs(x)) - log(2)"),
        ZEROS, lambda x: np.log(np.cosh(x))),
    "huber": Equal(
        ("huber(x)", "clip(x, -1, 1).^2/2 + relu(abs(x) - 1)", "x.^2/2 - relu(abs(x) - 1).^2/2",
         "abs(x) - 1/2 + relu(1 - abs(x)).^2/2"),
        (*BOUNDS, *ZEROS), lambda x: np.where(np.abs(x) <= 1, x * x / 2, np.abs(x) - 0.5)),
    "itself": Equal(
        ("x", "max(x, 0) + min(x, 0)", "relu(x) - relu(-x)", "abs(x).*sign(x)", "sign(x).*sqrt(x.^2)",
         "2*relu(x) - abs(x)"),
        ZEROS, lambda x: x),
    "leaky": Equal(
        ("max(x, x/10)", "max(x, 0) + min(x, 0)/10", "11/20*x + 9/20*abs(x)", "relu(x) - relu(-x)/10"),
        ZEROS, lambda x: np.maximum(x, x / 10)),
    "largest": Equal(
        ("max(x)", "sort(x)[2]", "-min(-x)", "-sort(-x)[0]", "lambda_max(diag(x))", "sum_largest_eig(diag(x), 1)",
         "norminf(x)", "sum(x) - min(x) - median(x)", "max(x[0], x[1], x[2])", "-min(-x[0], -x[1], -x[2])"),
        ORDERS, np.max),
    "middle": Equal(("median(x)", "sort(x)[1]", "sum(x) - max(x) - min(x)", "-median(-x)"), ORDERS, np.median),
    "two largest": Equal(
        ("sum(x) - min(x)", "sum(sort(x)[1:])", "sum_largest_eig(diag(x), 2)", "max(x) + median(x)"),
        ORDERS, lambda x: np.sum(x) - np.min(x)),
    "norm1": Equal(
        ("norm1(x)", "sum(abs(x))", "sum(max(x, -x))", "norm_nuc(diag(x))", "2*sum(relu(x)) - sum(x)", "norm(x, 1)"),
        NORMS, lambda x: np.sum(np.abs(x))),
    "norminf": Equal(
        ("norminf(x)", "max(abs(x))", "max(max(x), -min(x))", "spectral_norm(diag(x))", "sort(abs(x))[2]"),
        NORMS, lambda x: np.max(np.abs(x))),
}  # fmt: skip
PAIRS = [(name, *pair) for name, equal in EQUAL.items() for pair in itertools.combinations(equal.texts, 2)]
SIZES = of(1, 2.3, 3.7)
NEAR, STEP = 1e-6, 1e-9


def directions() -> list[np.ndarray]:
    """Return one perturbation in all orders and with all signs."""
    signs = [of(*s) for s in itertools.product((1, -1), repeat=3)]
    return [s * SIZES[list(order)] for order in itertools.permutations(range(3)) for s in signs]


def mean_slope(equal: Equal, at: Data, weights: np.ndarray) -> np.ndarray:
    """Return the mean over small perturbations of the gradient in x of the value, weighted and summed."""

    def value(x: np.ndarray) -> float:
        return float(np.sum(weights * equal.value(*{**at, "x": x}.values())))

    slopes = [
        [(value(at["x"] + NEAR * d + e) - value(at["x"] + NEAR * d - e)) / (2 * STEP) for e in STEP * np.eye(3)]
        for d in directions()
    ]
    return np.mean(slopes, axis=0)
