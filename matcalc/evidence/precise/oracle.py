"""The `value` of a rule, the same text, over arrays of numbers with many digits."""

from __future__ import annotations

import builtins
import math
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from matcalc.errors import NotSupported, RuleError
from matcalc.evidence.precise.arithmetic import Function, Precise, mp, number, numbers
from matcalc.evidence.precise.numpy_twin import TWIN
from matcalc.evidence.precise.scipy_twin import SL
from matcalc.evidence.precise.special_twin import SP
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.oracle import run
from matcalc.rulebook.rule import Rule

Texts = tuple[tuple[str, str], ...]


def precise_oracle(book: Rulebook, rule: Rule, index: int = 0) -> Function | None:
    """Return the value of signature number `index` at many digits, or None; arguments as those of `oracle`.

    Arrays may be Numbers or floats; the result is Numbers, or a tuple of them for several outputs. Calling it
    raises NotSupported where the text calls what has no twin.
    """
    return _oracle(rule, index, tuple(book.prelude.items()), tuple(book.precise.items()), tuple(book.functions.items()))


@lru_cache(maxsize=1024)
def _oracle(rule: Rule, index: int, prelude: Texts, precise: Texts, functions: tuple[Precise, ...]) -> Function | None:
    texts = rule.precise or rule.values
    if index >= len(texts):
        return None
    names = ", ".join(f"*{d.name}" if d.repeated else d.name for d in rule.signatures[index].parameters)
    code = compile(f"lambda {names}: ({texts[index]}\n)", rule.address, "eval")
    function = eval(code, _namespace(prelude, precise, functions))

    def value(*args: Precise) -> Precise:
        try:
            return _lifted(function(*(numbers(np.asarray(a)) if _is_data(a) else a for a in args)))
        except NameError as error:
            raise RuleError(f"{rule.address}: [{rule.name}] its value at many digits: NameError: {error}") from None

    return value


def _is_data(x: Precise) -> bool:
    return isinstance(x, (np.ndarray, np.floating, float))


def _lifted(found: Precise) -> Precise:
    """Return a value, integers and truth values among them, as Numbers."""
    if isinstance(found, tuple):
        return tuple(map(_lifted, found))
    return numbers(np.asarray(found, dtype=object))


@lru_cache(maxsize=64)
def _namespace(prelude: Texts, precise: Texts, functions: tuple[Precise, ...]) -> dict[str, Precise]:
    own = {"float": _float, "complex": number, "__import__": _imported}
    space: dict[str, Precise] = {"__builtins__": {**vars(builtins), **own}, "np": TWIN, "sl": SL, "sp": SP}
    space |= {name: _refusing(name) for name, _ in functions}
    return run((*prelude, *precise), space)


def _float(x: Precise) -> Precise:
    """Return a number that stays what it is: `float` of a value's text."""
    return number(x)


def _imported(name: str, *args: Any, **options: Any) -> object:
    return MATH if name == "math" else builtins.__import__(name, *args, **options)


def _refusing(name: str) -> Function:
    """Return what stands for a Python function of the user: it knows floats alone."""

    def refuse(*_: object) -> Precise:
        raise NotSupported(f"'{name}' is a Python function, which has no value at many digits")

    return refuse


def _math(twins: Mapping[str, str]) -> types.SimpleNamespace:
    """Return the module `math` with its functions of floats at many digits."""
    plain = {n: getattr(math, n) for n in ("factorial", "prod", "comb", "perm", "gcd", "inf", "nan", "isqrt")}
    return types.SimpleNamespace(**plain, **{name: getattr(mp, twin) for name, twin in twins.items()})


MATH = _math({n: n for n in ("sqrt", "exp", "log", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
                             "gamma", "erf", "erfc", "isfinite", "isnan", "isinf", "floor", "ceil", "hypot", "pi", "e",
                             "atan2", "fsum")} | {"lgamma": "loggamma", "fabs": "fabs"})  # fmt: skip
