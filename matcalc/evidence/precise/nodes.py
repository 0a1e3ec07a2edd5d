"""The value of nodes at many digits: what decides whether a small difference is one, or rounding error alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from matcalc.calculus.evaluate.einsum import Factor, contract
from matcalc.calculus.evaluate.evaluate import PARAMETERS, Parameter, arguments
from matcalc.calculus.evaluate.lookups import places_of
from matcalc.errors import NotSupported
from matcalc.evidence.precise.arithmetic import Array, Function, Precise, mp, number, numbers, objects
from matcalc.evidence.precise.oracle import precise_oracle
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.size import Size
from matcalc.tensor.switches import annihilates


def evaluate_precisely(roots: Sequence[Node], symbols: Mapping[str, Precise], sizes: Mapping[str, int]) -> list[Array]:
    """Return the values of `roots` as arrays of numbers with many digits.

    Raises: NotSupported where a rule's value calls what has no twin.
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
        return objects(node.array)
    if node.kind == "selector":
        places = places_of(node, args[0], node.shape[0].evaluate(dict(sizes))) if args else None
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
    return _called(node, args, sizes)


def _called(node: Node, args: Sequence[Array], sizes: Mapping[str, int]) -> Array:
    """Return the value of a map or an operation, by its rule's value for each place of its batch axes."""
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
    """Return a function argument as values take it: f(x, k=0), the k-th derivative of its body at many digits."""

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
"""What a value at many digits is given for a parameter that is no tensor, by its kind."""
