"""Compiled code of every rule against plain evaluation: value, adjoint, and the adjoint's own derivative.

Several rules are compiled as one function, since most of the time of a compilation does not depend on its length. Each
is called at sizes 0 and 1, wide and tall, with arrays in every layout. Cotangents range from 1e-150 to 1e150 and, where
the rule has a degree, arguments from 1e-180 to 1e180. The reference is the same derivative by plain NumPy, which other
tests compare with the rule's `value`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from matcalc.api.compile import compile as compiled
from matcalc.calculus.derive.differentiate import pullback, pushforward
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.call.compiled import Compiled
from matcalc.errors import NotDifferentiable, NotSupported
from matcalc.evidence.numeric.sampling import Array
from matcalc.expressions.expression import Expression
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rule
from matcalc.rulelab.equivariance import degree
from matcalc.rulelab.finding import FLOOR, REFUSED, Finding, distance, largest, location, value_or_none
from matcalc.rulelab.rule_point import Draws, Form, Point, forms, lengths_of, point
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import tensors_of
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names

SHAPES = ((3, 4, 2, 5), (4, 2, 3, 5), (1,), (0,), (0, 3), (3, 0), (1, 4), (4, 1))
SAME, NEAR = 1e-9, 1e-8
"""Bounds on the difference of the two evaluations, and of that at another scale."""
COTANGENTS = tuple(2.0**k for k in (-498, 27, 498))
ARGUMENTS = tuple(2.0**k for k in (-600, -332, 27, 332, 600))
LARGEST = 1e280


@dataclass(frozen=True)
class Case:
    """One form of a rule with the nodes to compile; their names contain the case's own tag.

    data: arrays by name, of the arguments, cotangents and tangents. outputs: nodes with their descriptions, in order.
    """

    at: Point
    tag: str
    outputs: tuple[tuple[str, Node], ...]
    more: tuple[Node, ...]

    @property
    def symbols(self) -> tuple[Node, ...]:
        return (*self.at.symbols.values(), *self.more)

    def data(self, at: Point, seed: int = 0) -> dict[str, Array]:
        """Return arrays for all symbols; the arguments are those of a point."""
        rng = np.random.default_rng([67, seed, *at.rule.name.encode()])
        found = {node.name: at.data[name] for name, node in self.at.symbols.items()}
        lengths = self.lengths(at)
        for node in self.more:
            shape = tuple(size.evaluate(lengths) for size in node.shape)
            name = next((n for n, x in self.at.symbols.items() if node.name == f"d{x.name}"), None)
            found[node.name] = np.asarray(rng.standard_normal(shape)) if name is None else at.direction(rng, name)
        return found

    def lengths(self, at: Point) -> dict[str, int]:
        return {**at.lengths, **{f"{n}_{self.tag}": length for n, length in at.lengths.items()}}


def cases(book: Rulebook, rule: Rule, mode: int, draws: Draws) -> list[Case]:
    """Return the cases of a rule: each form that has arguments and random data."""
    found = []
    for number, form in enumerate(forms(rule)):
        at = _at(book, rule, form, SHAPES[0], mode, draws) or _at(book, rule, form, SHAPES[1], mode, draws)
        if at is not None and at.symbols:
            found.append(_case(at, f"{rule.name}{number}"))
    return found


def _at(book: Rulebook, rule: Rule, form: Form, lengths: Sequence[int], mode: int, draws: Draws) -> Point | None:
    """Return a point of these sizes at which the rule has a value."""
    try:
        at = point(book, rule, form, lengths_of(rule, form.overload, lengths), mode, 0, draws)
    except REFUSED:
        return None
    if not at.is_inside() or not at.is_defined():
        return None
    value = value_or_none(at)
    return None if value is None or not all(np.all(np.isfinite(a)) for a in value.values()) else at


def _case(at: Point, tag: str) -> Case:
    renamed = {}
    for name, x in at.symbols.items():
        sizes = {n: Size.of(f"{n}_{tag}") for size in x.shape for n in size.names}
        renamed[name] = symbol(f"{name}_{tag}", [size.substitute(sizes) for size in x.shape], sorted(x.data[1]))
    own = replace(at, symbols=renamed)
    outputs: list[tuple[str, Node]] = []
    more: list[Node] = []
    for output, node in own.nodes().items():
        outputs.append((f"the value {output}".strip(), node))
        xs = [x for name, x in renamed.items() if name not in at.rule.opaque_in]
        if at.rule.opaque is not None or not xs:
            continue
        bar = symbol(f"G{output}_{tag}", node.shape)
        pulled = pullback(node, bar, xs)
        names = [name for name in renamed if name not in at.rule.opaque_in]
        outputs += [
            (f"the adjoint {output} in {name}".replace("  ", " "), p) for name, p in zip(names, pulled, strict=True)
        ]
        more.append(bar)
        if at.form.tangents:
            continue
        steps = {x: symbol(f"d{x.name}", x.shape, at.book.hull(x.data[1])) for x in xs}
        try:
            second = [pushforward(p, steps) for p in pulled]
        except (NotDifferentiable, NotSupported):
            continue
        outputs += [
            (f"the second derivative {output} in {name}".replace("  ", " "), p)
            for name, p in zip(names, second, strict=True)
        ]
        more += [s for s in steps.values() if s not in more]
    return Case(own, tag, tuple(outputs), tuple(more))


@dataclass(frozen=True)
class Group:
    """Cases compiled as one function."""

    cases: tuple[Case, ...]
    function: Compiled

    def call(self, case: Case, at: Point, data: Mapping[str, Array]) -> list[Array]:
        """Return a case's outputs; the other cases get their own data."""
        given = {name: a for other in self.cases for name, a in other.data(other.at).items()} | dict(data)
        start = 0
        for other in self.cases:
            if other is case:
                break
            start += len(other.outputs)
        free = {n: self._lengths(case, at)[n] for n in self.function.args if n not in given}
        found = self.function(**{name: given[name] for name in self.function.args if name in given}, **free)
        found = found if isinstance(found, tuple) else (found,)
        return [np.asarray(a) for a in found[start : start + len(case.outputs)]]

    def _lengths(self, case: Case, at: Point) -> dict[str, int]:
        known = {n: length for other in self.cases for n, length in other.lengths(other.at).items()}
        return {**known, **case.lengths(at)}


def groups(made: Sequence[Case], target: str = "numba", size: int = 24) -> Iterator[Group | tuple[Case, str]]:
    """Yield groups of about `size` outputs; a case that a target rejects comes with the reason.

    A case whose second derivatives are rejected is reported and compiled without them.
    """
    pending: list[tuple[Case, ...]] = []
    row: list[Case] = []
    for case in made:
        row.append(case)
        if sum(len(c.outputs) for c in row) >= size:
            pending.append(tuple(row))
            row = []
    pending += [tuple(row)] if row else []
    while pending:
        chosen = pending.pop(0)
        try:
            yield Group(chosen, compiled_of(chosen, target))
        except NotSupported as error:
            if len(chosen) > 1:
                pending[:0] = [chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]]
                continue
            yield chosen[0], error.message
            first = tuple(out for out in chosen[0].outputs if not out[0].startswith("the second"))
            if len(first) < len(chosen[0].outputs):
                pending[:0] = [(replace(chosen[0], outputs=first),)]


def compiled_of(chosen: Sequence[Case], target: str) -> Compiled:
    symbols = {s.name: s for case in chosen for s in case.symbols}
    names = Names(symbols, tuple(symbols))
    return compiled([Expression(node, names) for case in chosen for _, node in case.outputs], target=target)


def compiled_findings(group: Group, case: Case, mode: int, draws: Draws) -> Iterator[Finding]:
    """Test one case of a group at every shape, layout and scale."""
    at = case.at
    fixed = any(p.kind == "integer" for p in at.rule.signatures[at.form.overload].parameters)
    yield from _compared(group, case, at, "")
    for lengths in () if fixed else SHAPES[1:]:
        there = _at(at.book, at.rule, at.form, lengths, mode, draws)
        if there is not None:
            yield from _compared(group, case, there, "")
    for words, laid in LAYOUTS.items():
        yield from _compared(group, case, at, words, laid)
    yield from _scaled(group, case)


def _strided(a: Array) -> Array:
    if not a.ndim:
        return a
    wide = np.zeros(tuple(2 * n for n in a.shape))
    view = wide[tuple(slice(None, None, 2) for _ in a.shape)]
    view[...] = a
    return view


LAYOUTS: Mapping[str, Callable[[Array], Array]] = {
    ", columns first": lambda a: np.asfortranarray(a) if a.ndim else a,
    ", strided": _strided,
    ", backwards": lambda a: np.ascontiguousarray(a[::-1])[::-1] if a.ndim else a,
}


def _compared(
    group: Group, case: Case, at: Point, words: str, laid: Callable[[Array], Array] = np.asarray
) -> Iterator[Finding]:
    data = case.data(at)
    try:
        wanted = [np.asarray(a) for a in evaluate([node for _, node in case.outputs], data, case.lengths(at))]
    except REFUSED:
        return
    try:
        found = group.call(case, at, {name: laid(a) for name, a in data.items()})
    except REFUSED as error:
        yield Finding(f"compiled: {type(error).__name__}: {error}", "lowering", float("inf"), 0.0, location(at))
        return
    for (what, _), one, other in zip(case.outputs, found, wanted, strict=True):
        if not np.all(np.isfinite(other)):
            continue
        scale = max(largest(other), 1e-6 * max(largest(w) for w in wanted if np.all(np.isfinite(w))), 1e-300)
        if what.startswith("the second"):
            scale = max(scale, _size_of_second(at, data))
        yield Finding(f"{what}, compiled,", "lowering", distance(one, other) / scale, SAME, location(at) + words)


def _size_of_second(at: Point, data: Mapping[str, Array]) -> float:
    """Return the possible size of cancelling terms of a second derivative; at one row or column all of them cancel."""
    value = max((largest(a) for a in at.value().values()), default=0.0)
    steps = max((largest(a) for a in data.values()), default=0.0) ** 2
    return FLOOR * value * steps / max(min((largest(a) for a in at.data.values()), default=1.0), 1e-100) ** 2


def _scaled(group: Group, case: Case) -> Iterator[Finding]:
    """Test compiled adjoints at scaled cotangents, and value and adjoint at scaled arguments."""
    at, data = case.at, case.data(case.at)
    try:
        here = group.call(case, at, data)
    except REFUSED:
        return
    bars = [node.name for node in case.more if node.name.startswith("G")]
    for c in COTANGENTS:
        found = group.call(case, at, {**data, **{name: c * data[name] for name in bars}})
        for (what, _), one, before in zip(case.outputs, found, here, strict=True):
            power = 0 if what.startswith("the value") else 1
            yield from _power(what, one, before, c, power, f"{location(at)}, c*G with c = {c:.0e}")
    tensors = [p.name for p in tensors_of(at.rule.signature) if not p.repeated]
    if at.rule.degree is None or at.form.overload or not tensors or tensors[0] not in at.data:
        return
    first, exponent = tensors[0], degree(at)
    for c in ARGUMENTS:
        try:
            found = group.call(case, at, {**data, f"{first}_{case.tag}": c * at.data[first]})
        except REFUSED as error:
            yield Finding(f"compiled: {type(error).__name__}: {error}", "lowering", float("inf"), 0.0, location(at))
            continue
        for (what, _), one, before in zip(case.outputs, found, here, strict=True):
            if what.startswith("the value") or what.endswith(f"in {first}") and what.startswith("the adjoint"):
                less = 0 if what.startswith("the value") else 1
                yield from _power(what, one, before, c, exponent - less, f"{location(at)}, c*{first} with c = {c:.0e}")


def _power(what: str, found: Array, before: Array, c: float, power: float, where: str) -> Iterator[Finding]:
    size = np.log10(max(largest(before), 1e-300)) + power * np.log10(c)
    if not np.all(np.isfinite(before)) or not abs(size) < np.log10(LARGEST):
        return
    with np.errstate(all="ignore"):
        error = distance(found / c**power, before) / max(largest(before), 1e-300)
    yield Finding(f"{what}, compiled,", "lowering", error, NEAR, where)


__all__ = ["Case", "Group", "cases", "compiled_findings", "groups"]
