"""The oracle of a rule: its `value`, Python text, as a function. Slow, obvious, independent of the compiler.

Rule files are code that their user trusts, like any plug-in: `value` and `[prelude]` are run as Python.
(Formulas are not: they are read by the grammar, and nothing else.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from matcalc.errors import RuleError
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rule

IMPORTS = {
    "np": "import numpy as np",
    "math": "import math",
    "itertools": "import itertools",
    "sl": "import scipy.linalg as sl",
    "sp": "import scipy.special as sp",
}
"""Imports by binding that any generated text may use, and so need not bring along: those of values among them."""

Prelude = tuple[tuple[str, str], ...]
Functions = tuple[tuple[str, Callable[..., Any]], ...]


def oracle(book: Rulebook, rule: Rule, index: int = 0) -> Callable[..., Any] | None:
    """Return the value of signature number `index` as a function of its arguments in order, or None.

    Further tangents follow the other arguments. A function argument is a callable f(x, k=0): the k-th
    derivative of f at the array x. The result is an array or number, or a tuple of them for several outputs.
    """
    return _oracle(rule, index, tuple(book.prelude.items()), tuple(book.functions.items()))


def namespace(book: Rulebook) -> dict[str, Any]:
    """Return the names that values may use: np, sp, sl, the functions of every [prelude] and those of the book."""
    return _namespace(tuple(book.prelude.items()), tuple(book.functions.items()))


@lru_cache(maxsize=1024)
def _oracle(rule: Rule, index: int, prelude: Prelude, functions: Functions) -> Callable[..., Any] | None:
    if index >= len(rule.values):
        return None
    parameters = rule.signatures[index].parameters
    names = ", ".join(f"*{d.name}" if d.repeated else d.name for d in parameters)
    try:
        code = compile(f"lambda {names}: ({rule.values[index]}\n)", rule.address, "eval")
    except (SyntaxError, ValueError) as error:
        raise RuleError(f"{rule.address}: [{rule.name}] value does not parse: {error}") from None
    return eval(code, _namespace(prelude, functions))  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _namespace(prelude: Prelude, functions: Functions) -> dict[str, Any]:
    import numpy as np
    import scipy.linalg as sl
    import scipy.special as sp

    space: dict[str, Any] = {"np": np, "sp": sp, "sl": sl, **dict(functions)}
    for address, text in prelude:
        try:
            exec(compile(text, address, "exec"), space)
        except SyntaxError as error:
            raise RuleError(f"{address}: prelude does not parse: {error}") from None
    return space
