"""Tests a rule inside larger tensors: its value, gradient and stated laws for arguments with batch axes.

The laws `degree`, `homogeneous`, `even`, `linear` and `transpose` are tested on multiples and transposes of arguments.
Calls are lifted as in `batch`, next to reductions over every axis, built and simplified. The gradient of a weighted sum
is compared with the rule's gradients slice by slice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from matcalc.calculus.derive.differentiate import pullback
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.calculus.simplify.simplify import simplify, simplify_all
from matcalc.evidence.numeric.sampling import MODES, Array
from matcalc.rulebook.load import NOTHING, Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.rulelab.batch import (
    WEIGH,
    Tensors,
    error,
    in_context,
    in_tensors,
    sliced_value,
    symbols_of,
    weight,
)
from matcalc.rulelab.finding import (
    EXACT,
    REFUSED,
    Finding,
    Slope,
    distance,
    is_finite,
    largest,
    location,
    named,
    slopes,
    value_or_none,
)
from matcalc.rulelab.rule_point import SKEW, Draws, Point, forms, lengths_of, point, takes_skew
from matcalc.tensor.constructors import product, scale, symbol, transpose
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import number
from matcalc.tensor.substitute import substitute

FACTOR = "factor_"
"""The name of a scalar factor of an argument, which gets its own batch axis."""

LENGTHS = (3, 2, 2, 3)
SHORT = (2, 1, 1, 2)
"""Lengths for forms with further tangents, whose values are slow."""

SLICES = 6
"""The number of draws for slices; a longer further axis repeats them."""


def laws(book: Rulebook, rule: Rule, draws: Draws = NOTHING) -> Iterator[Finding]:
    """Test each form of a rule inside larger tensors, at the first mode in which all slices have finite values."""
    for form in forms(rule):
        usual = SHORT if form.tangents else LENGTHS
        lengths = lengths_of(rule, form.overload, SKEW if takes_skew(rule) else usual)
        for mode in range(len(MODES)):
            each = [point(book, rule, form, lengths, mode, seed, draws) for seed in range(SLICES)]
            if all(_is_usable(at) for at in each):
                yield from _laws(each)
                break


def _is_usable(at: Point) -> bool:
    value = value_or_none(at) if at.is_inside() and at.is_defined() else None
    return value is not None and is_finite(value)


def _laws(each: Sequence[Point]) -> Iterator[Finding]:
    at = each[0]
    known = {(s.output, s.name): s for s in slopes(at)}

    def draw(k: int) -> Mapping[str, Array]:
        return {**each[k % SLICES].data, FACTOR: np.asarray(0.5 + k)}

    for output, plain in at.nodes().items():
        for tensors in in_tensors(plain, draw, at.lengths):
            yield _value(at, output, "", tensors)
            if tensors.lift.crossing is None and not at.form.tangents:  # with tangents, it would be a second derivative
                yield from _gradients(each, output, known, tensors)
        for law in _variations(at):
            root = substitute(plain, law.changed)
            for tensors in in_tensors(root, draw, at.lengths, crossed=False):
                yield _value(at, output, law.what, _with_plain_value(plain, law, tensors))


def _value(at: Point, output: str, law: str, tensors: Tensors) -> Finding:
    what = f"the value{named('', output)}{law} inside larger tensors, {tensors.lift},"
    return Finding(what, "value", error(tensors, _simplified), EXACT, location(at))


def _simplified(nodes: Sequence[Node]) -> Iterator[tuple[Node, Node]]:
    return zip(nodes, simplify_all(nodes), strict=True)


class Law(NamedTuple):
    """A change of arguments whose effect on the value is stated by a rule, in the formula and in data.

    `on` is the argument whose data get a batch axis together with its factor.
    """

    what: str
    changed: Mapping[Node, Node]
    applied: Callable[[str, Array, Array], Array]
    on: str = ""


def _variations(at: Point) -> Iterator[Law]:
    """Yield the changes of arguments for which a rule states a law."""
    rule, known = at.rule, at.book.facts
    factor = symbol(FACTOR, (), ("positive",))
    for name, x in at.symbols.items():
        axes = tuple(range(x.rank))
        kept = {known[f].scaled for f in at.facts[name] if f in known}
        is_linear = name in rule.linear or any(p.repeated and name.startswith(f"{p.name}_") for p in rule.parameters)
        if at.form.tangents and not is_linear:
            continue  # tested without tangents
        if (rule.degree is not None or is_linear) and kept <= {"any", "nonzero", "positive"}:
            yield Law(f" of 3/2*{name}", {x: scale(Fraction(3, 2), x)}, _multiplied(name, 1.5))
            yield Law(f" of c*{name}", {x: product(1, [(factor, ()), (x, axes)], axes)}, _multiplied(name), name)
        if (rule.degree is not None or rule.parity is not None or is_linear) and kept <= {"any"}:
            yield Law(f" of -2*{name}", {x: scale(-2, x)}, _multiplied(name, -2.0))
    transposed = {x: transpose(x) for x in at.symbols.values() if x.rank == 2}
    square = all(x.shape[0] == x.shape[1] for x in transposed)
    same = all(known[f].transposed == f for n in at.symbols for f in at.facts[n] if f in known)
    if rule.transpose_same and transposed and square and same:
        names = {x.name for x in transposed}
        yield Law(" of transposes", transposed, lambda n, a, c: np.swapaxes(a, -1, -2) if n in names else a)


def _multiplied(name: str, times: float | None = None) -> Callable[[str, Array, Array], Array]:
    """Return the change of data that multiplies one argument by a number, or by the factor of each slice."""

    def applied(other: str, a: Array, c: Array) -> Array:
        if other != name:
            return a
        return a * times if times is not None else a * c.reshape(c.shape + (1,) * (a.ndim - c.ndim))

    return applied


def _with_plain_value(plain: Node, law: Law, tensors: Tensors) -> Tensors:
    """Return a lifted call of changed arguments, with the value of the plain call at changed data."""
    lift, names = tensors.lift, tensors.lift.names
    c = tensors.slices.get(FACTOR, np.ones(()))
    data = dict(tensors.slices)
    if FACTOR in names and law.on not in names:
        data[law.on] = np.stack([data[law.on]] * len(c))
        names = names | {law.on}
    changed = {n: law.applied(n, a, c) for n, a in data.items() if n != FACTOR}
    return tensors._replace(value=sliced_value(plain, lift._replace(names=names - {FACTOR}), changed, tensors.sizes))


def _gradients(
    each: Sequence[Point], output: str, known: Mapping[tuple[str, str], Slope], tensors: Tensors
) -> Iterator[Finding]:
    """Compare the gradient of the weighted sum of a lifted call with the adjoints of its slices."""
    at, value, names = each[0], tensors.value, tensors.lift.names
    total = simplify(in_context(tensors.node, (WEIGH,) * value.ndim))
    weights: Array = np.ones(())
    for axis in range(value.ndim):
        weights = np.multiply.outer(weights, tensors.weights[weight(axis)])
    slices = [
        replace(at, data={name: (each[k % SLICES] if name in names else at).data[name] for name in at.data})
        for k in range(len(value))
    ]
    for name in at.symbols:
        s = known.get((output, name))
        if s is None:
            continue
        try:
            pulled = [s.pull(here, G) for here, G in zip(slices, weights, strict=True)]
        except REFUSED:
            continue
        expected = np.stack(pulled) if name in names else np.asarray(sum(pulled))
        held = next((n for n in symbols_of(total) if n.name == name), None)
        found = np.zeros(expected.shape)
        if held is not None:
            gradient = simplify(pullback(total, number(1), [held])[0])
            found = tensors.sliced(name, np.asarray(evaluate([gradient], tensors.data, tensors.sizes)[0]))
        what = f"the gradient{named('', output)} in {name} inside larger tensors, {tensors.lift},"
        size = max(largest(expected), largest(value), 1e-300)
        yield Finding(what, "value", distance(found, expected) / size, EXACT, location(at))
