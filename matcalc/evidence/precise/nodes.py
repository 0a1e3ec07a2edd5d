"""The value of nodes at many digits: what decides whether a small difference is one, or rounding error alone."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from matcalc.calculus.evaluate.einsum import Factor, contract
from matcalc.errors import NotSupported
from matcalc.evidence.precise.arithmetic import Array, number, numbers, objects
from matcalc.evidence.precise.oracle import function_of, precise_oracle
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.signature import PLAIN
from matcalc.tensor.size import Size
from matcalc.tensor.switches import annihilates


def evaluate_precisely(roots: Sequence[Node], symbols: Mapping[str, Any], sizes: Mapping[str, int]) -> list[Array]:
    """Return the values of `roots` as arrays of numbers with many digits.

    Raises: NotSupported where a rule's value calls what has no twin.
    """
    values: dict[Node, Array] = {}
    for node in toposort(roots):
        values[node] = _value(node, values, symbols, sizes)
    return [values[root] for root in roots]


def _value(node: Node, values: Mapping[Node, Array], symbols: Mapping[str, Any], sizes: Mapping[str, int]) -> Array:
    args = [values[a] for a in node.args]
    if node.kind == "symbol":
        return objects(np.asarray(symbols[node.name], dtype=float))
    if node.kind in ("number", "size"):
        exact = node.value if node.kind == "number" else _rational(node.size, sizes)
        return objects(np.asarray(exact, dtype=object))
    if node.kind in ("constant", "selector"):
        return objects(node.array if node.kind == "constant" else node.selector.dense(dict(sizes)))
    if node.kind == "product":
        lengths = {k: s.evaluate(dict(sizes)) for k, s in enumerate(node.index_sizes)}
        terms = [
            Factor(array, at, annihilates(arg) or arg.kind == "selector")
            for arg, array, at in zip(node.args, args, node.indices, strict=True)
        ]
        return np.asarray(contract(number(node.coef), terms, list(node.out), lengths))
    if node.kind == "sum":
        total = number(node.coefs[0]) * args[0]
        for coef, arg in zip(node.coefs[1:], args[1:], strict=True):
            total = total + number(coef) * arg
        return np.asarray(total)
    return _called(node, args, sizes)


def _called(node: Node, args: Sequence[Array], sizes: Mapping[str, int]) -> Array:
    """Return the value of a map or an operation, by its rule's value for each place of its batch axes."""
    function = precise_oracle(default_rulebook(), node.rule)
    if function is None:
        raise NotSupported(f"{node.rule.name} has no value expression ({node.rule.address})")
    shape = [s.evaluate(dict(sizes)) for s in node.shape]
    result = np.empty(shape, object)
    leading = shape[: node.batch_rank] if node.kind == "op" else []
    batches = node.batches if node.kind == "op" else [()] * len(args)
    for at in itertools.product(*map(range, leading)):
        arrays = [a[tuple(at[b] for b in batch)] for a, batch in zip(args, batches, strict=True)]
        value = function(*_arguments(node, arrays, sizes))
        if node.kind == "op" and node.output:
            value = value[node.rule.outputs.index(node.output)]
        result[at] = objects(value)
    return result


def _arguments(node: Node, arrays: Sequence[Array], sizes: Mapping[str, int]) -> list[Any]:
    tensors, params = iter(numbers(np.asarray(a, dtype=object)) for a in arrays), iter(node.params)
    given: list[Any] = []
    for declared in node.rule.signature.parameters:
        if declared.kind in PLAIN:
            value = next(params)
            if isinstance(value, Size):
                given.append(value.evaluate(dict(sizes)))
            else:
                given.append(function_of(value) if isinstance(value, Node) else number(value))
        elif declared.repeated:
            given.extend(tensors)
        else:
            given.append(next(tensors))
    return given


def _rational(size: Size, sizes: Mapping[str, int]) -> Fraction:
    return Fraction(size.substitute({name: Size.of(sizes[name]) for name in size.names}).constant)
