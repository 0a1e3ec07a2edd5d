"""What SymPy and matcalc call the same function; data for both directions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# SymPy's class -> our name, for scalar functions with the same arguments.
FUNCTIONS = {
    "exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh",
    "acosh": "acosh", "atanh": "atanh", "Abs": "abs", "sign": "sign", "Max": "max", "Min": "min",
    "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "gamma": "gamma", "loggamma": "gammaln",
    "polygamma": "polygamma",
    "digamma": "digamma", "LambertW": "lambertw", "besselj": "besselj", "besseli": "besseli",
    "besselk": "besselk",
}  # fmt: skip


def scalar_functions() -> dict[str, Callable[..., Any]]:
    """Return our elementwise functions as functions of SymPy scalars."""
    import sympy as sp

    one = sp.Integer(1)
    same = {ours: getattr(sp, theirs) for theirs, ours in FUNCTIONS.items()}
    return same | {
        "square": lambda x: x**2,
        "expm1": lambda x: sp.exp(x) - 1,
        "log1p": lambda x: sp.log(1 + x),
        "log2": lambda x: sp.log(x) / sp.log(2),
        "log10": lambda x: sp.log(x) / sp.log(10),
        "sigmoid": lambda x: 1 / (1 + sp.exp(-x)),
        "logit": lambda x: sp.log(x / (1 - x)),
        "softplus": lambda x: sp.log(1 + sp.exp(x)),
        "relu": lambda x: sp.Max(x, 0),
        "step": lambda x: sp.Heaviside(x, 0),
        "huber": lambda x: sp.Piecewise((x**2 / 2, sp.Abs(x) <= 1), (sp.Abs(x) - one / 2, True)),
        "clip": lambda x, lo, hi: sp.Min(sp.Max(x, lo), hi),
        "hypot": lambda x, y: sp.sqrt(x**2 + y**2),
        "logaddexp": lambda x, y: sp.log(sp.exp(x) + sp.exp(y)),
        "xlogy": lambda x, y: sp.Piecewise((0, sp.Eq(x, 0)), (x * sp.log(y), True)),
        "where": lambda c, a, b: sp.Piecewise((a, c > 0), (b, True)),
    }
