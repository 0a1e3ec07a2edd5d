"""Compiles the oracle of a rule, its Python text `value`, as a function: slow, obvious, independent of the compiler.

Rule files are code that their user trusts, like any plug-in: `value`, `[prelude]` and the Python files of `rules/` run
as Python, all in one scope. Formulas do not: only the grammar reads them.
"""

from __future__ import annotations

import ast
import marshal
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from types import CodeType
from typing import Any

from matcalc.errors import RuleError
from matcalc.rulebook.load import Rulebook, shipped_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.store import artefacts

MODULES = ("np", "sl", "sp")
"""Modules in the scope of each value: NumPy, scipy.linalg, scipy.special."""

SIBLINGS = "matcalc.rules."
IMPORTS = {
    "np": "import numpy as np",
    "math": "import math",
    "itertools": "import itertools",
    "sl": "import scipy.linalg as sl",
    "sp": "import scipy.special as sp",
}
"""Imports by binding that any generated text may use, so it need not contain them; includes those of values."""

Prelude = tuple[tuple[str, str], ...]
Functions = tuple[tuple[str, Callable[..., Any]], ...]


@lru_cache(maxsize=1024)
def oracle(book: Rulebook, rule: Rule, index: int = 0) -> Callable[..., Any] | None:
    """Return the value of signature number `index` as a function of its arguments in order, or None.

    Further tangents follow the other arguments. A function argument is a callable f(x, k=0): the k-th derivative of f
    at the array x. The result is an array or number, or a tuple of them for several outputs.
    """
    return _oracle(rule, index, tuple(book.prelude.items()), tuple(book.functions.items()))


def namespace(book: Rulebook) -> dict[str, Any]:
    """Return the names that values may use: np, sp, sl, the functions of all preludes and those of the book."""
    return _namespace(tuple(book.prelude.items()), tuple(book.functions.items()))


@lru_cache(maxsize=1024)
def _oracle(rule: Rule, index: int, prelude: Prelude, functions: Functions) -> Callable[..., Any] | None:
    if index >= len(rule.values):
        return None
    return as_function(rule, index, "value", rule.values[index], _namespace(prelude, functions))


@lru_cache(maxsize=1024)
def reference(book: Rulebook, rule: Rule, index: int = 0) -> Callable[..., Any] | None:
    """Return the oracle for uses that differentiate it by complex steps: of a `real` rule it rejects complex arrays.

    The function then raises TypeError, since its result would be no analytic continuation.
    """
    function = oracle(book, rule, index)
    if function is None or not rule.real:
        return function
    import numpy as np

    def value(*arguments: Any) -> Any:
        if any(map(np.iscomplexobj, arguments)):
            raise TypeError(f"{rule.name}: the value is of real numbers only")
        return function(*arguments)

    return value


def as_function(rule: Rule, index: int, field: str, text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Return the Python expression of a field as a function of the parameters of signature number `index`."""
    parameters = ", ".join(f"*{d.name}" if d.repeated else d.name for d in rule.signatures[index].parameters)
    try:
        code = compile(f"lambda {parameters}: ({text}\n)", rule.address, "eval")
    except (SyntaxError, ValueError) as error:
        raise RuleError(f"{rule.address}: [{rule.name}] {field} does not parse: {error}") from None
    return eval(code, names)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _namespace(prelude: Prelude, functions: Functions) -> dict[str, Any]:
    import numpy as np

    return run(prelude, {"np": np, "sp": Late("scipy.special"), "sl": Late("scipy.linalg"), **dict(functions)})


class Late:
    """A module that is imported when it is first used: most values need NumPy only."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._name), name)
        setattr(self, name, found)
        return found


def run(prelude: Iterable[tuple[str, str]], space: dict[str, Any]) -> dict[str, Any]:
    """Return `space` with the definitions of preludes.

    Raises: RuleError with the address of a text that does not parse.
    """
    for address, text in prelude:
        exec(_code(address, text), space)
    return space


def _code(address: str, text: str) -> CodeType:
    """Return the compiled text of a prelude; that of the files of rules/ is cached between processes."""
    if shipped_rulebook().prelude.get(address) != text:
        return _compiled(address, text)
    code: CodeType = marshal.loads(shipped_code()[address])
    return code


@cache
def shipped_code() -> Mapping[str, bytes]:
    """Return the compiled preludes of rules/ by address, marshalled: parsing them takes 60 ms of a process."""
    found: Mapping[str, bytes] = artefacts.kept("form", ["preludes"], _compile_shipped)
    return found


def _compile_shipped() -> dict[str, bytes]:
    return {address: marshal.dumps(_compiled(address, text)) for address, text in shipped_rulebook().prelude.items()}


def _compiled(address: str, text: str) -> CodeType:
    return compile(statements(text, address), address, "exec")


def statements(text: str, address: str) -> ast.Module:
    """Return the statements of a prelude without imports of names in scope: `MODULES`, and other files of rules/.

    Raises: as `run`.
    """
    try:
        module = ast.parse(text, address)
    except (SyntaxError, ValueError) as error:
        raise RuleError(f"{address}: prelude does not parse: {error}") from None
    module.body = [statement for statement in module.body if not _is_in_scope(statement)]
    return module


def _is_in_scope(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        return all(alias.asname in MODULES for alias in statement.names)
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(SIBLINGS)
