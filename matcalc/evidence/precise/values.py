"""Evaluates the `value` of rules, and nodes, over arrays of numbers with many digits.

This decides whether a small difference is real or mere rounding error.
"""

from __future__ import annotations

import builtins
import itertools
import math
import types
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from matcalc.calculus.evaluate.einsum import Factor, contract
from matcalc.calculus.evaluate.evaluate import PARAMETERS, Parameter, arguments
from matcalc.calculus.evaluate.lookups import checked_indices
from matcalc.calculus.evaluate.steps import values_by_step
from matcalc.errors import NotSupported, RuleError
from matcalc.evidence.precise.arithmetic import Array, Function, Precise, mp, number, numbers, objects
from matcalc.evidence.precise.numpy_twin import TWIN
from matcalc.evidence.precise.scipy_twin import SL, SP
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.oracle import as_function, run
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.recurrence import arguments_of
from matcalc.tensor.switches import annihilates

Texts = tuple[tuple[str, str], ...]


def precise_oracle(book: Rulebook, rule: Rule, index: int = 0) -> Function | None:
    """Return the value of signature number `index` as a function at many digits, or None; arguments as for `oracle`.

    Arrays may be Numbers or floats; the result is Numbers, or a tuple of them for several outputs. The function
    raises NotSupported if its text calls a function without a twin.
    """
    return _oracle(rule, index, tuple(book.prelude.items()), tuple(book.precise.items()), tuple(book.functions.items()))


@lru_cache(maxsize=1024)
def _oracle(rule: Rule, index: int, prelude: Texts, precise: Texts, functions: tuple[Precise, ...]) -> Function | None:
    texts = rule.precise or rule.values
    if index >= len(texts):
        return None
    field = "precise" if rule.precise else "value"
    function = as_function(rule, index, field, texts[index], _namespace(prelude, precise, functions))

    def value(*args: Precise) -> Precise:
        try:
            return _lifted(function(*(numbers(np.asarray(a)) if _is_data(a) else a for a in args)))
        except NameError as error:
            raise RuleError(f"{rule.address}: [{rule.name}] its value at many digits: NameError: {error}") from None

    return value


def _is_data(x: Precise) -> bool:
    return isinstance(x, (np.ndarray, np.floating, float))


def _lifted(found: Precise) -> Precise:
    """Return a result, including integers and truth values, as Numbers."""
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
    """Return a number unchanged; it replaces `float` in the text of values."""
    return number(x)


def _imported(name: str, *args: Any, **options: Any) -> object:
    return MATH if name == "math" else builtins.__import__(name, *args, **options)


def _refusing(name: str) -> Function:
    """Return a function that raises, in place of a user's Python function, which supports only floats."""

    def refuse(*_: object) -> Precise:
        raise NotSupported(f"'{name}' is a Python function, which has no value at many digits")

    return refuse


def _math(twins: Mapping[str, str]) -> types.SimpleNamespace:
    """Return a replacement of the module `math` whose float functions have many digits."""
    plain = {n: getattr(math, n) for n in ("factorial", "prod", "comb", "perm", "gcd", "inf", "nan", "isqrt")}
    return types.SimpleNamespace(**plain, **{name: getattr(mp, twin) for name, twin in twins.items()})


MATH = _math({n: n for n in ("sqrt", "exp", "log", "expm1", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
                             "gamma", "erf", "erfc", "isfinite", "isnan", "isinf", "floor", "ceil", "hypot", "pi", "e",
                             "atan2", "fsum")} | {"lgamma": "loggamma", "fabs": "fabs"})  # fmt: skip


def evaluate_precisely(roots: Sequence[Node], symbols: Mapping[str, Precise], sizes: Mapping[str, int]) -> list[Array]:
    """Return the values of `roots` as arrays of numbers with many digits.

    Raises: NotSupported if a rule's value calls a function without a twin.
    """
    values: dict[Node, Array] = {}
    for node in toposort(roots):
        values[node] = _value(node, values, symbols, sizes)
    return [values[root] for root in roots]


def _value(node: Node, values: Mapping[Node, Array], symbols: Mapping[str, Precise], sizes: Mapping[str, int]) -> Array:
    args = [values[a] for a in node.args]
    if node.kind == "symbol":
        return objects(symbols[node.name])
    if node.kind in ("number", "size"):
        exact = node.value if node.kind == "number" else _rational(node.size, sizes)
        return objects(np.asarray(exact, dtype=object))
    if node.kind == "constant":
        return np.where(node.array == math.pi, +mp.pi, objects(node.array))
    if node.kind == "selector":
        places = checked_indices(node, args[0], node.shape[0].evaluate(dict(sizes))) if args else None
        return objects(node.selector.dense(dict(sizes), places))
    if node.kind == "product":
        lengths = {k: s.evaluate(dict(sizes)) for k, s in enumerate(node.index_sizes)}
        terms = [
            Factor(array, at, annihilates(arg) or arg.kind == "selector")
            for arg, array, at in zip(node.args, args, node.indices, strict=True)
        ]
        return np.asarray(contract(number(node.coef), terms, list(node.out), lengths))
    if node.kind == "sum":
        return np.asarray(sum(number(c) * a for c, a in zip(node.coefs, args, strict=True)))
    if node.kind == "recurrence":
        return _trajectory(node, values, symbols, sizes)
    return _called(node, args, sizes)


def _trajectory(
    node: Node, values: Mapping[Node, Array], symbols: Mapping[str, Precise], sizes: Mapping[str, int]
) -> Array:
    """Return the values of a state at all steps."""
    known = {arg: values[arg] for arg in arguments_of(node)[2]}
    order = toposort(node.bodies, known)

    def bodies(at: Mapping[str, Array]) -> list[Array]:
        inner = dict(known)
        for one in order:
            inner[one] = _value(one, inner, {**symbols, **at}, sizes)
        return [inner[body] for body in node.bodies]

    states = values_by_step(node, values, sizes, bodies)[node.position]
    return np.array(states, dtype=object)


def _called(node: Node, args: Sequence[Array], sizes: Mapping[str, int]) -> Array:
    """Return the value of a map or an operation, by its rule's value for each index of its batch axes."""
    function = precise_oracle(default_rulebook(), node.rule)
    if function is None:
        raise NotSupported(f"{node.rule.name} has no value expression ({node.rule.address})")
    result = np.empty([s.evaluate(dict(sizes)) for s in node.shape], object)
    leading = result.shape[: node.batch_rank] if node.kind == "op" else ()
    batches = node.batches if node.kind == "op" else [()] * len(args)
    for at in itertools.product(*map(range, leading)):
        arrays = [numbers(np.asarray(a[tuple(at[b] for b in batch)])) for a, batch in zip(args, batches, strict=True)]
        value = function(*arguments(node, arrays, sizes, PRECISE))
        if node.kind == "op" and node.output:
            value = value[node.rule.outputs.index(node.output)]
        result[at] = objects(value)
    return result


def function_of(body: Node) -> Function:
    """Return a function argument in the form for values: f(x, k=0), the k-th derivative of its body."""

    def at(x: Precise) -> Precise:
        return evaluate_precisely([body], {parameter().name: x}, {})[0].item()

    def derivative(x: Precise, k: int) -> Precise:
        if k == 0:
            return at(x)
        with mp.extradps(mp.dps * k // 2):
            return +mp.diff(at, x, k)

    return lambda x, k=0: numbers(np.frompyfunc(lambda v: derivative(v, int(k)), 1, 1)(objects(x)))


def _unknown(*_: object) -> Precise:
    raise NotSupported("a solution of an equation is not known to many digits")


def _rational(size: Size, sizes: Mapping[str, int]) -> Fraction:
    return Fraction(size.substitute({name: Size.of(sizes[name]) for name in size.names}).constant)


PRECISE: dict[str, Parameter] = {
    **PARAMETERS,
    "number": lambda value, *_: number(value),
    "function": lambda body, *_: function_of(body),
    "equation": _unknown,
}
"""The conversion of arguments that are no tensors for values at many digits, by kind."""
