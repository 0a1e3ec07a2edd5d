"""Reads cost formulas of kernels in the sizes of letters, `2*i*j*k`, as exact or fast functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

from matcalc.tensor.sizes.size import Size, maximum, minimum

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: b * a if isinstance(b, Size) else a * b,
    ast.Div: lambda a, b: a * (1 / b) if isinstance(a, Size) else a / b,
    ast.FloorDiv: lambda a, b: a // b,
}
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "min": lambda a, b: minimum(a, b) if isinstance(a, Size) else min(a, b),
    "max": lambda a, b: maximum(a, b) if isinstance(a, Size) else max(a, b),
}


@cache
def formula(text: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return the cost formula `text` as an exact function of the sizes of its letters.

    Raises: ValueError unless it consists of letters, numbers, + - * / min max.
    """
    tree = ast.parse(text, mode="eval").body

    def value(node: ast.expr, sizes: Mapping[str, Any]) -> Any:
        if isinstance(node, ast.Constant):
            return Fraction(str(node.value))
        if isinstance(node, ast.Name):
            return sizes[node.id]
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](value(node.left, sizes), value(node.right, sizes))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            return FUNCTIONS[node.func.id](value(node.args[0], sizes), value(node.args[1], sizes))
        raise ValueError(f"a cost may contain letters, numbers, + - * / min max: {text!r}")

    value(tree, {name.id: Fraction(1) for name in ast.walk(tree) if isinstance(name, ast.Name)})
    return lambda sizes: value(tree, sizes)


@cache
def quick(text: str) -> Callable[[Mapping[str, float]], float]:
    """Return the cost formula as a compiled function of floats, fast enough to compare thousands of orders."""
    formula(text)
    code = compile(text, "<cost>", "eval")
    return lambda sizes: eval(code, {"__builtins__": {}, "min": min, "max": max}, sizes)
