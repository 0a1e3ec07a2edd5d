"""Reads the field `sympy` of a rule as a syntax tree: Python's notation for formulas and nothing else.

Allowed are names, whole numbers, operators, comparisons, tuples, `lambda`, and calls of names by position. Attributes,
subscripts, strings and keywords are rejected, so that a text can only build SymPy's objects.
"""

from __future__ import annotations

import ast

from matcalc.errors import RuleError

ALLOWED = (
    ast.Expression, ast.Name, ast.Load, ast.Call, ast.Tuple, ast.Lambda, ast.arguments, ast.arg, ast.BinOp,
    ast.operator, ast.UnaryOp, ast.unaryop, ast.Compare, ast.cmpop,
)  # fmt: skip


def read_sympy(text: str) -> ast.Expression:
    """Return the syntax tree of a field `sympy`.

    Raises: RuleError if it is not a formula.
    """
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RuleError(f"sympy does not parse: {error}") from None
    for node in ast.walk(tree):
        number = isinstance(node, ast.Constant) and type(node.value) in (int, bool)
        called = not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and not node.keywords)
        if not (number or isinstance(node, ALLOWED)) or not called:
            part = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
            raise RuleError(f"sympy takes names, whole numbers, True, operators and calls of names, not `{part}`")
    return tree


def names_in(tree: ast.Expression) -> list[str]:
    """Return the names of a tree that its functions do not bind, in order."""
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id not in bound]
