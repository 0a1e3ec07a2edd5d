"""What SymPy and matcalc call the same function; data for both directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matcalc.errors import NotSupported

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


# SymPy's class -> the function that it is written by.
REWRITTEN = {
    "sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh",
    "factorial": "gamma", "binomial": "gamma", "MatrixPermute": "MatMul",
}  # fmt: skip

# How the name of an entry of the rulebook ends that compares its first two operands: `where_gt(x, y, a, b)`.
COMPARING = {">": "gt", "<": "lt", ">=": "ge", "<=": "le", "==": "eq", "!=": "ne"}

# Those that SymPy itself takes of a matrix as a whole: its class -> our name.
MATRIX_FUNCTIONS = {"exp": "expm", "log": "logm"}


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
        "atleast": sp.Max,
        "atmost": sp.Min,
        "where": lambda holds, a, b: sp.Piecewise((a, holds), (b, True)),
        "when": lambda holds: sp.Piecewise((1, holds), (0, True)),
        "unless": lambda holds: sp.Piecewise((0, holds), (1, True)),
        "above": lambda x, y: sp.Piecewise((1, x > y), (0, True)),
        "reaches": lambda x, y: sp.Piecewise((1, x >= y), (0, True)),
        "leads": lambda x, y: sp.Piecewise((1, x > y), (one / 2, sp.Eq(x, y)), (0, True)),
        "ratio0": lambda x, y: sp.Piecewise((0, sp.Eq(x, 0) & sp.Eq(y, 0)), (x / y, True)),
        "cosine": lambda x, y: sp.Piecewise((0, sp.Eq(x, 0)), (x / sp.sqrt(x**2 + y**2), True)),
        "softmax2": lambda x, y: 1 / (1 + sp.exp(y - x)),
        "entr": lambda x: sp.Piecewise((0, sp.Eq(x, 0)), (-x * sp.log(x), True)),
        "erfcx": _erfcx,
        "erfcx_diff": lambda k, x: _derivative(_erfcx, (k,), x),
        "sinc": _sinc,
        "sinc_diff": lambda k, x: _derivative(_sinc, (k,), x),
        "log_ndtr": _log_ndtr,
        "log_ndtr_diff": lambda k, x: _derivative(_log_ndtr, (k,), x),
        "betaln": lambda a, b: sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b),
        "psi_gap": lambda k, a, b: sp.polygamma(k, a) - sp.polygamma(k, a + b),
        "gammainc": _gammainc,
        "gammaincc": lambda a, x: sp.uppergamma(a, x) / sp.gamma(a),
        "gammainc_diff": lambda i, k, a, x: _derivative(_gammainc, (i, k), a, x),
        "betainc": _betainc,
        "betainc_diff": _betainc_derivative,
    }


def _erfcx(x: Any) -> Any:
    import sympy as sp

    return sp.exp(x**2) * sp.erfc(x)


def _sinc(x: Any) -> Any:
    import sympy as sp

    return sp.sinc(sp.pi * x)


def _log_ndtr(x: Any) -> Any:
    import sympy as sp

    return sp.log(sp.erfc(-x / sp.sqrt(2)) / 2)


def _gammainc(a: Any, x: Any) -> Any:
    import sympy as sp

    return sp.lowergamma(a, x) / sp.gamma(a)


def _betainc(a: Any, b: Any, x: Any) -> Any:
    import sympy as sp

    return sp.betainc_regularized(a, b, 0, x)


def _derivative(function: Callable[..., Any], orders: Sequence[Any], *args: Any) -> Any:
    """Return the derivative of these orders in each argument, by SymPy."""
    import sympy as sp

    names = [sp.Dummy(f"t{k}", positive=True) for k in range(len(args))]
    found = function(*names)
    for name, order in reversed(list(zip(names, orders, strict=True))):
        found = sp.diff(found, (name, int(order))) if int(order) else found
    return found.subs(dict(zip(names, args, strict=True)))


def _betainc_derivative(i: Any, j: Any, k: Any, a: Any, b: Any, x: Any) -> Any:
    if int(k) == 0:
        raise NotSupported("betainc_diff in a or b has no SymPy form: SymPy has no such derivative of its own function")
    return _derivative(_betainc, (i, j, k), a, b, x)
