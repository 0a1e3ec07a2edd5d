"""Matching of patterns against nodes: variables are symbols, everything else is itself.

A pattern is a node like any other, built from the left side of a rewrite, so it is in normal form too. A
map or operation matches at its root; a sum matches with all its terms, up to nothing; a product may match
part of a larger product: its operands are located one after the other, those that are no variable first,
and a variable that is already bound to a product is looked for operand by operand. Indices that the
pattern sums must occur nowhere else in the subject. An operation that commutes with transposition is tried
both ways. A function variable comes last: it stands for all vectors on its index, as one function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from matcalc.calculus.abstraction import abstract, bind_others, function_variable, is_function_variable
from matcalc.normal_form.make import map_node, op_node, parameter
from matcalc.normal_form.node import Indices, Node, toposort
from matcalc.normal_form.sums import scale, split_coef
from matcalc.normal_form.tensor import product, transpose
from matcalc.sizes import Size


class Bindings(NamedTuple):
    """What the variables of a pattern stand for: nodes by symbol, sizes by name. Never changed in place.

    `others` are variables that are numbers or functions: values and bodies by what stands for them in the pattern.
    """

    nodes: Mapping[Node, Node]
    sizes: Mapping[str, Size]
    others: Mapping[Any, Any] = MappingProxyType({})


EMPTY = Bindings({}, {})


class Found(NamedTuple):
    """A match inside a product: bindings, matched places, subject index of each pattern index, and factor."""

    bindings: Bindings
    places: frozenset[int]
    indices: Mapping[int, int]
    coef: Fraction


def match(pattern: Node, subject: Node, bindings: Bindings = EMPTY) -> Iterator[Bindings]:
    """Yield the bindings under which `pattern` is `subject`, the whole of it."""
    if pattern.kind == "symbol":
        yield from _bind(pattern, subject, bindings)
    elif is_function_variable(pattern):
        yield from match_applied(pattern, subject, bindings)
    elif len(pattern.shape) != len(subject.shape):
        return
    elif terms_of(pattern) is not None:
        yield from _match_sum(pattern, subject, bindings)
    elif pattern.kind == "product":
        yield from _match_whole_product(pattern, subject, bindings)
    elif pattern.kind in ("map", "op"):
        yield from _match_function(pattern, subject, bindings)
    elif pattern.kind == "size" and (subject.kind in ("size", "number")):
        value = subject.size if subject.kind == "size" else Size.of(subject.value)
        yield from _bind_sizes([pattern.size], [value], bindings)
    elif pattern.kind == "selector":
        yield from _match_selector(pattern, subject, bindings)
    elif pattern is subject:
        yield bindings


def _match_selector(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    """Match the rule of a selector, its offset first: that is how a part names its size."""
    if subject.kind != "selector" or subject.selector.kind != pattern.selector.kind:
        return
    wanted, given = pattern.selector, subject.selector
    yield from _bind_sizes((wanted.offset, *wanted.shape), (given.offset, *given.shape), bindings)


def _bind(variable: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    known = bindings.nodes.get(variable)
    if known is not None:
        if known is subject:
            yield bindings
        return
    if len(variable.shape) != len(subject.shape) or not variable.facts <= subject.facts:
        return
    for bound in _bind_sizes(variable.shape, subject.shape, bindings):
        yield bound._replace(nodes={**bound.nodes, variable: subject})


def _bind_sizes(pattern: Sequence[Size], subject: Sequence[Size], bindings: Bindings) -> Iterator[Bindings]:
    sizes = dict(bindings.sizes)
    for wanted, given in zip(pattern, subject, strict=True):
        name = str(wanted)
        if wanted.names == (name,) and name not in sizes:
            sizes[name] = given
        elif wanted.substitute(sizes) != given:
            return
    yield bindings._replace(sizes=sizes)


def terms_of(node: Node) -> list[tuple[Fraction, Node]] | None:
    """Return the terms of a sum with any content multiplied in; None for what is no sum."""
    coef, rest = split_coef(node)
    if rest.kind != "sum":
        return None
    return [(coef * c, arg) for c, arg in zip(rest.coefs, rest.args, strict=True)]


def _match_sum(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    wanted, given = terms_of(pattern), terms_of(subject)
    if wanted is None or given is None or len(wanted) != len(given):
        return
    wanted = sorted(wanted, key=lambda term: term[1].kind == "symbol")
    yield from _match_terms(wanted, given, bindings)


def _match_terms(
    wanted: list[tuple[Fraction, Node]], given: list[tuple[Fraction, Node]], bindings: Bindings
) -> Iterator[Bindings]:
    if not wanted:
        yield bindings
        return
    (coef, pattern), rest = wanted[0], wanted[1:]
    for place, (other, node) in enumerate(given):
        if coef == other or pattern.kind == "symbol":
            target = node if coef == other else scale(other / coef, node)
            for bound in match(pattern, target, bindings):
                yield from _match_terms(rest, given[:place] + given[place + 1 :], bound)


def _match_function(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    if subject.kind != pattern.kind or subject.rule != pattern.rule or len(subject.args) != len(pattern.args):
        return
    if pattern.kind == "op" and (subject.output != pattern.output or subject.batches != pattern.batches):
        return
    sizes = [p for p in pattern.params if isinstance(p, Size)]
    given = [p for p in subject.params if isinstance(p, Size)]
    if len(pattern.params) != len(subject.params) or len(sizes) != len(given):
        return
    others = bind_others(pattern.params, subject.params, bindings.others)
    if others is None:
        return
    for bound in _bind_sizes(sizes, given, bindings._replace(others=others)):
        yield from _match_args(pattern.args, subject.args, bound)
        if pattern.kind == "map" and pattern.rule.commutes:
            yield from _match_args(pattern.args, subject.args[::-1], bound)


def match_applied(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    """Yield the bindings under which `subject` is a function of what the function variable is applied to."""
    (wanted,) = pattern.args
    for node in toposort([subject]):
        body = abstract(subject, node) if len(node.shape) == len(wanted.shape) else None
        if body is None or parameter() not in toposort([body]):
            continue
        others = bind_others([function_variable(pattern.rule.name)], [body], bindings.others)
        if others is not None:
            yield from match(wanted, node, bindings._replace(others=others))


def _match_args(patterns: Sequence[Node], subjects: Sequence[Node], bindings: Bindings) -> Iterator[Bindings]:
    if not patterns:
        yield bindings
        return
    for bound in match(patterns[0], subjects[0], bindings):
        yield from _match_args(patterns[1:], subjects[1:], bound)


def _match_whole_product(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    if subject.kind != "product":
        return
    for found in match_product(pattern, subject, bindings):
        if len(found.places) != len(subject.args) or found.coef != 1:
            continue
        if tuple(found.indices.get(i, -1) for i in pattern.out) == subject.out or _broadcast_alike(
            pattern, subject, found
        ):
            yield found.bindings


def _broadcast_alike(pattern: Node, subject: Node, found: Found) -> bool:
    """Whether outputs agree where an index that no operand has stands for broadcasting on both sides."""
    seen: dict[int, int] = dict(found.indices)
    for wanted, given in zip(pattern.out, subject.out, strict=True):
        if seen.setdefault(wanted, given) != given:
            return False
    return len(set(pattern.out)) == len(set(subject.out))


Item = tuple[Node, Indices]


def match_product(pattern: Node, subject: Node, bindings: Bindings = EMPTY) -> Iterator[Found]:
    """Yield the ways in which a product pattern is part of the product `subject`."""
    items = sorted(
        zip(pattern.args, pattern.indices, strict=True),
        key=lambda item: (is_function_variable(item[0]), item[0].kind in ("symbol", "selector"), -len(item[1])),
    )
    start = Found(bindings, frozenset(), {}, subject.coef / pattern.coef if pattern.coef else Fraction(0))
    for found in _locate(items, subject, start):
        if _inner_free(pattern, subject, found):
            yield found


def _locate(items: list[Item], subject: Node, found: Found) -> Iterator[Found]:
    if not items:
        yield found
        return
    (wanted, at), rest = items[0], items[1:]
    if is_function_variable(wanted):
        yield from _locate_function(wanted, at, rest, subject, found)
        return
    known = found.bindings.nodes.get(wanted) if wanted.kind == "symbol" else None
    if known is not None:
        yield from _locate_concrete(known, at, rest, subject, found)
        return
    for place, (node, indices) in enumerate(zip(subject.args, subject.indices, strict=True)):
        if place in found.places or len(indices) != len(at):
            continue
        for read, order in _readings(wanted, node, indices):
            mapped = _map_indices(at, order, found.indices)
            if mapped is None:
                continue
            for bound in match(wanted, read, found.bindings):
                step = found._replace(bindings=bound, places=found.places | {place}, indices=mapped)
                yield from _locate(rest, subject, step)


def _locate_function(wanted: Node, at: Indices, rest: list[Item], subject: Node, found: Found) -> Iterator[Found]:
    """Take all vectors on one index as one function: on the index that is known, else on each in turn."""
    (own,) = at
    for index in [found.indices[own]] if own in found.indices else range(len(subject.index_sizes)):
        places = [p for p, i in enumerate(subject.indices) if i == (index,) and p not in found.places]
        if not places:
            continue
        weight = product(1, [(subject.args[p], (0,)) for p in places], (0,))
        for bound in match_applied(wanted, weight, found.bindings):
            mapped = {**found.indices, own: index}
            step = found._replace(bindings=bound, places=found.places.union(places), indices=mapped)
            yield from _locate(rest, subject, step)


def _readings(wanted: Node, node: Node, indices: Indices) -> Iterator[tuple[Node, Indices]]:
    """Yield the ways to read an operand: as it is, with indices swapped, as the transposed of its transpose."""
    yield node, indices
    if len(indices) != 2 or indices[0] == indices[1]:
        return
    if "symmetric" in node.facts:
        yield node, indices[::-1]
    elif wanted.kind == "symbol" and wanted.rank == 2:
        yield transpose(node), indices[::-1]
    elif wanted.kind == node.kind and _turns(node) and wanted.rule == node.rule:
        yield _mirrored(node), indices[::-1]


def _turns(node: Node) -> bool:
    """Whether a node is a function that commutes with transposition."""
    return node.kind == "map" or (node.kind == "op" and node.rule.transpose_same)


def _mirrored(node: Node) -> Node:
    """Return f(A') for f(A), as it stands: f commutes with transposition, so it reads f(A)[j, i] at [i, j]."""
    args = [transpose(a) if a.rank == 2 else a for a in node.args]
    if node.kind == "map":
        return map_node(node.rule, node.params, args)
    shape = (*node.shape[:-2], *node.shape[:-3:-1])
    return op_node(node.rule, node.params, args, node.batches, node.output, shape, node.batch_rank)


def _locate_concrete(known: Node, at: Indices, rest: list[Item], subject: Node, found: Found) -> Iterator[Found]:
    """Look for a node that a variable already stands for: its own operand, or those of the product it is."""
    coef, core = split_coef(known)
    if core.kind == "product" and core.rank:
        fresh = -1 - sum(1 for i in found.indices if i < 0)
        inner: dict[int, int] = dict(zip(core.out, at, strict=True))
        for index in range(len(core.index_sizes)):
            if index not in inner:
                inner[index] = fresh
                fresh -= 1
        parts = [(arg, tuple(inner[i] for i in t)) for arg, t in zip(core.args, core.indices, strict=True)]
    else:
        parts = [(core, at)]
    yield from _locate_parts(parts, rest, subject, found._replace(coef=found.coef / coef))


def _locate_parts(parts: list[Item], rest: list[Item], subject: Node, found: Found) -> Iterator[Found]:
    if not parts:
        yield from _locate(rest, subject, found)
        return
    wanted, at = parts[0]
    for place, (node, indices) in enumerate(zip(subject.args, subject.indices, strict=True)):
        if place in found.places or node is not wanted:
            continue
        orders = [indices]
        if len(indices) == 2 and "symmetric" in node.facts and indices[0] != indices[1]:
            orders.append(indices[::-1])
        for order in orders:
            mapped = _map_indices(at, order, found.indices)
            if mapped is not None:
                step = found._replace(places=found.places | {place}, indices=mapped)
                yield from _locate_parts(parts[1:], rest, subject, step)


def _map_indices(wanted: Indices, given: Indices, known: Mapping[int, int]) -> dict[int, int] | None:
    mapped = dict(known)
    for w, g in zip(wanted, given, strict=True):
        if mapped.setdefault(w, g) != g:
            return None
    return mapped


def _inner_free(pattern: Node, subject: Node, found: Found) -> bool:
    """Whether what the pattern sums is summed in the subject too and occurs in matched operands alone."""
    inner = [g for w, g in found.indices.items() if w not in pattern.out]
    outer = {g for w, g in found.indices.items() if w in pattern.out}
    if len(set(inner)) != len(inner) or outer.intersection(inner):
        return False
    held = set(subject.out)
    for place, indices in enumerate(subject.indices):
        if place not in found.places:
            held.update(indices)
    return not held.intersection(inner)
