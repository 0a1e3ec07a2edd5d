"""Finds the undeclared names of a formula that can only be sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from matcalc.formula.elaborate.callee import integer_arguments
from matcalc.formula.inference import exponents
from matcalc.formula.inference.inference import Inference
from matcalc.language import recurrences
from matcalc.language.index_sums import listed
from matcalc.language.syntax import BINDERS, Ast, definition, names_in, parts_in, walk
from matcalc.tensor.sizes.size import Size


def size_names(inference: Inference, roots: Sequence[Ast]) -> None:
    """Register the undeclared names that can only be sizes: integer arguments, bounds of parts, matrix powers.

    In the formula of a rule all names are declared.
    """
    for root in [] if inference.strict else roots:
        for name in exponents.size_exponents(inference, root):
            inference.size_names.setdefault(name, Size.of(name))
    for root in [definition(part) for tree in roots for part in parts_in(tree)] + list(roots):
        stack: list[tuple[Ast, frozenset[str], bool]] = [(root, frozenset(), False)]
        while stack:
            ast, hidden, is_size = stack.pop()
            if ast.head == "name" and is_size:
                name = str(ast.value)
                if name not in hidden and name not in inference.symbols:
                    inference.size_names.setdefault(name, Size.of(name))
                continue
            if ast.head in BINDERS:
                hidden |= frozenset(cast("tuple[str, ...]", ast.value))
                hidden |= {"{"} | _open_names(ast)
            hidden |= recurrences.bound_by(ast)
            stack.extend(_sized_operands(inference, ast, hidden, is_size))


def _open_names(form: Ast) -> frozenset[str]:
    """Return the names that may be indices of a form, although it does not list them: they are no sizes by inference.

    They are subscripts by themselves, or stand beside a listed index: j in `{k: x[k + j]*w[j]}`.
    """
    found: set[str] = set()
    for subscript in (one for part in walk(form) if part.head == "part" for one in part.args[1:]):
        names = set() if subscript.head == "slice" else set(names_in(subscript))
        if subscript.head == "name" or names & listed(form):
            found |= names
    return frozenset(found)


def _sized_operands(
    inference: Inference, ast: Ast, hidden: frozenset[str], is_size: bool
) -> list[tuple[Ast, frozenset[str], bool]]:
    if ast.head == "call":
        return [(arg, hidden, is_size or integer) for arg, integer in integer_arguments(inference, ast)]
    if ast.head in (recurrences.SYSTEM, recurrences.EQUATION):
        return [(ast.args[0], hidden, True), *((child, hidden, False) for child in ast.args[1:])]
    if ast.head == "part":
        inside = "{" in hidden
        marks = [not (inside and s.head == "name") for s in ast.args[1:]]
        return [
            (ast.args[0], hidden, False),
            *((s, hidden, m) for s, m in zip(ast.args[1:], marks, strict=True)),
        ]
    return [(child, hidden, is_size) for child in ast.args]
