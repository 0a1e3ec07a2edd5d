"""Kinds of values in C: numbers, arrays with their shape, pairs; and what a Numba signature says of them."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from matcalc.errors import NotSupported

NUMBERS = {"boolean": "int64_t", "int64": "int64_t", "float64": "double", "void": "void"}
ARRAYS = {"VECTOR": ("double", 1), "MATRIX": ("double", 2), "PIVOTS": ("int32_t", 1)}
WORDS = {"double": "", "int64_t": "int64_", "int32_t": "int32_"}
RANKS = {1: "vector", 2: "matrix"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A number (`rank` 0) or an array of numbers of a type of C; `pair` is two doubles."""

    base: str
    rank: int = 0

    @property
    def text(self) -> str:
        """What the kind is called in C."""
        if not self.rank:
            return self.base
        return WORDS[self.base] + RANKS.get(self.rank, f"array{self.rank}")

    @property
    def definition(self) -> str:
        """The type of an array: where its entries are, row by row, and its shape."""
        return f"typedef struct {{ {self.base} *at; int64_t shape[{self.rank}]; }} {self.text};"


INTEGER, DOUBLE, VOID, PAIR = Kind("int64_t"), Kind("double"), Kind("void"), Kind("pair")


def joined(left: Kind | None, right: Kind) -> Kind:
    """Return the kind of a name that is given values of both, as Numba unifies them.

    Raises: NotSupported where there is none.
    """
    if left is None or left == right:
        return right
    if {left, right} == {INTEGER, DOUBLE}:
        return DOUBLE
    raise NotSupported(f"a name is a {left.text} and a {right.text}")


def signature(function: ast.FunctionDef) -> tuple[Kind, list[Kind]] | None:
    """Return the kinds of result and arguments that a decorator states; None where none does."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Call):
            stated = decorator.args[0]
            return stated_kind(stated.func), [stated_kind(arg) for arg in stated.args]
    return None


def stated_kind(node: ast.expr) -> Kind:
    """Return the kind that a word or call of a signature states.

    Raises: NotSupported for what C has no kind for.
    """
    text = ast.unparse(node).removeprefix("types.")
    if text in NUMBERS:
        return Kind(NUMBERS[text])
    if text.removesuffix("_OUT") in ARRAYS:
        return Kind(*ARRAYS[text.removesuffix("_OUT")])
    if text == "UniTuple(float64, 2)":
        return PAIR
    raise NotSupported(f"the target c has no type {text}")
