"""Matches patterns against nodes: symbols are variables, everything else matches only itself.

A pattern is built from the left side of a rewrite like any other node, so it is in normal form too. A map or operation
matches at its root. A sum matches all terms of a sum. A product may match part of a larger product: its operands are
located one after the other, variables last, and a variable already bound to a product is located operand by operand.
Indices that the pattern sums must occur nowhere else in the subject. An operation that commutes with transposition is
also tried transposed. A function variable comes last: it matches all vectors on its index as one function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from matcalc.calculus.simplify.abstraction import abstract, bind_others, function_variable, is_function_variable
from matcalc.calculus.simplify.chains import runs_in
from matcalc.calculus.simplify.index_by_word import (
    head,
    held,
    is_repeated_symbol,
    is_turned_symbol,
    speaks_of,
    variable_of,
)
from matcalc.calculus.simplify.operand_readings import map_indices, readings
from matcalc.calculus.simplify.pattern_variables import EMPTY, Bindings, bind_sizes
from matcalc.tensor.constructors import product, transpose
from matcalc.tensor.nodes.named_parts import are_alike, is_matrix, is_part, is_the_tensor
from matcalc.tensor.nodes.node import Indices, Node, OpenProduct, Operand, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sums import add, scale, split_coef, summands


class Found(NamedTuple):
    """A match inside a product: bindings, matched operands, subject index of each pattern index, and factor."""

    bindings: Bindings
    positions: frozenset[int]
    indices: Mapping[int, int]
    coef: Fraction


def match(pattern: Node, subject: Node, bindings: Bindings = EMPTY) -> Iterator[Bindings]:
    """Yield the bindings for which `pattern` is the whole of `subject`."""
    if pattern.kind == "symbol":
        yield from _bind(pattern, subject, bindings)
    elif is_function_variable(pattern):
        yield from match_applied(pattern, subject, bindings)
    elif len(pattern.shape) != len(subject.shape):
        return
    elif len(summands(pattern)) > 1:
        yield from _match_sum(pattern, subject, bindings)
    elif pattern.is_zero:
        yield from bind_sizes(pattern.shape, subject.shape, bindings) if subject.is_zero else ()
    elif pattern.kind == "product" and _is_multiple(pattern):
        yield from _match_multiple(pattern, subject, bindings)
    elif pattern.kind == "product" and is_turned_symbol(pattern):
        yield from match(pattern.args[0], transpose(subject), bindings)
    elif pattern.kind == "product" and is_repeated_symbol(pattern):
        yield from _match_repeated(pattern, subject, bindings)
    elif pattern.kind == "product" and _is_scaled_symbol(pattern):
        yield from _match_scaled(pattern, subject, bindings)
    elif pattern.kind == "product":
        yield from _match_whole_product(pattern, subject, bindings)
    elif pattern.kind in ("map", "op"):
        yield from _match_function(pattern, subject, bindings)
    elif pattern.kind == "selector" and subject.kind == "selector":
        yield from _match_selector(pattern, subject, bindings)
    elif pattern.kind == "size" and (subject.kind in ("size", "number")):
        value = subject.size if subject.kind == "size" else Size.of(subject.value)
        yield from bind_sizes([pattern.size], [value], bindings)
    elif pattern is subject:
        yield bindings


def _bind(variable: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    known = bindings.nodes.get(variable)
    if known is not None:
        if known is subject:
            yield bindings
        return
    if len(variable.shape) != len(subject.shape) or not variable.facts <= subject.facts:
        return
    for bound in bind_sizes(variable.shape, subject.shape, bindings):
        yield bound._replace(nodes={**bound.nodes, variable: subject})


def _is_multiple(pattern: Node) -> bool:
    """Whether a product is minus one node, or a number times a variable, with axes in order."""
    is_in_order = len(pattern.args) == 1 and pattern.indices[0] == pattern.out == tuple(range(pattern.rank))
    return is_in_order and (pattern.coef == -1 or pattern.args[0].kind == "symbol")


def _match_multiple(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    """Yield the bindings of a multiple: -x is any node, 2*x a node with this coefficient, or with a known x."""
    (inner,) = pattern.args
    if pattern.coef == -1 or inner in bindings.nodes or split_coef(subject)[0] == pattern.coef:
        yield from match(inner, scale(1 / pattern.coef, subject), bindings)


def _match_repeated(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    """Yield the bindings of a repeated variable, including its coefficient; -diag(d) matches only this coefficient."""
    if subject.kind != "product" or pattern.coef not in (1, subject.coef) or not are_alike(pattern.out, subject.out):
        return
    at = tuple(subject.out[pattern.out.index(i)] for i in pattern.indices[0])
    used = set(at).union(*subject.indices)
    if used.intersection(subject.out) > set(at):
        return
    sizes = {i: size for i, size in enumerate(subject.index_sizes) if i in used}
    repeated = product(subject.coef / pattern.coef, subject.operands, at, sizes)
    for bound in bind_sizes(pattern.shape, subject.shape, bindings):
        yield from match(pattern.args[0], repeated, bound)


def _is_scaled_symbol(pattern: Node) -> bool:
    """Whether a product is a scalar variable times a tensor variable, with axes in order."""
    return (
        pattern.rank > 0
        and all(arg.kind == "symbol" for arg in pattern.args)
        and sorted(pattern.indices, key=len) == [(), pattern.out]
        and pattern.out == tuple(range(pattern.rank))
    )


def _match_scaled(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    """Yield the bindings of a scalar variable with all scalar factors and the coefficient, not 1 alone."""
    scalar, tensor = sorted(pattern.args, key=lambda arg: arg.rank)
    coef, core = split_coef(subject)
    factors = [operand for operand in core.operands if not operand[1]] if core.kind == "product" else []
    if coef == pattern.coef and not factors:
        return
    rest = core
    if factors:
        rest = product(1, [operand for operand in core.operands if operand[1]], core.out, core.sizes)
    for bound in match(scalar, product(coef / pattern.coef, factors, ()), bindings):
        yield from match(tensor, rest, bound)


def _match_selector(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    expected, actual = pattern.selector, subject.selector
    if expected.kind == actual.kind and len(expected.shape) == len(actual.shape):
        yield from bind_sizes([*expected.shape, expected.offset], [*actual.shape, actual.offset], bindings)


Terms = list[tuple[Fraction, Node]]


def _match_sum(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    for bound, left in match_terms(pattern, summands(subject), bindings):
        if not left:
            yield bound


def match_terms(pattern: Node, terms: Terms, bindings: Bindings = EMPTY) -> Iterator[tuple[Bindings, Terms]]:
    """Yield the matches of a sum pattern with some of these terms: bindings, and the remaining terms."""
    patterns = sorted(summands(pattern), key=lambda term: variable_of(term[1]) is not None)
    if len(patterns) <= len(terms):
        yield from _match_terms(patterns, terms, bindings)


def _match_terms(patterns: Terms, terms: Terms, bindings: Bindings) -> Iterator[tuple[Bindings, Terms]]:
    if not patterns:
        yield bindings, terms
        return
    (coef, pattern), rest = patterns[0], patterns[1:]
    variable = variable_of(pattern)
    if len(terms) > 1 and not rest and variable is not None and variable not in bindings.nodes:
        for bound in match(pattern, add([(c / coef, n) for c, n in terms]), bindings):
            yield bound, []
    for position, (other, node) in enumerate(terms):
        if coef == other or variable is not None or is_repeated_symbol(pattern):
            target = node if coef == other else scale(other / coef, node)
            is_first = bindings is EMPTY and pattern.kind == "product"
            for bound in _matches(pattern, target) if is_first else match(pattern, target, bindings):
                yield from _match_terms(rest, terms[:position] + terms[position + 1 :], bound)


@lru_cache(maxsize=512)
def _matches(pattern: Node, subject: Node) -> tuple[Bindings, ...]:
    """Return the matches of a product alone, cached: sums that share a term try the same patterns on it."""
    return tuple(match(pattern, subject))


def _match_function(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    if subject.kind != pattern.kind or subject.rule != pattern.rule or len(subject.args) != len(pattern.args):
        return
    if pattern.kind == "op" and (subject.output != pattern.output or subject.batches != pattern.batches):
        return
    sizes = [p for p in pattern.params if isinstance(p, Size)]
    actual = [p for p in subject.params if isinstance(p, Size)]
    if len(pattern.params) != len(subject.params) or len(sizes) != len(actual):
        return
    others = bind_others(pattern.params, subject.params, bindings.others)
    if others is None:
        return
    for bound in bind_sizes(sizes, actual, bindings._replace(others=others)):
        yield from _match_args(pattern.args, subject.args, bound)
        if pattern.kind == "map" and pattern.rule.commutes:
            yield from _match_args(pattern.args, subject.args[::-1], bound)


def match_applied(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    """Yield the bindings for which `subject` is the function variable applied to a match of its argument."""
    (argument,) = pattern.args
    for node in toposort([subject]):
        body = abstract(subject, node) if len(node.shape) == len(argument.shape) else None
        if body is None or parameter() not in toposort([body]):
            continue
        others = bind_others([function_variable(pattern.rule.name)], [body], bindings.others)
        if others is not None:
            yield from match(argument, node, bindings._replace(others=others))


def _match_args(patterns: Sequence[Node], subjects: Sequence[Node], bindings: Bindings) -> Iterator[Bindings]:
    if not patterns:
        yield bindings
        return
    for bound in match(patterns[0], subjects[0], bindings):
        yield from _match_args(patterns[1:], subjects[1:], bound)


def _match_whole_product(pattern: Node, subject: Node, bindings: Bindings) -> Iterator[Bindings]:
    if subject.kind != "product" or not speaks_of(pattern) <= held(subject):
        return
    sized = next(bind_sizes(pattern.shape, subject.shape, bindings, later=True), None)
    if sized is None:
        return
    for found in match_product(pattern, subject, sized, whole=True):
        if len(found.positions) != len(subject.args) or found.coef != 1:
            continue
        if is_the_tensor(pattern.out, subject.out, found.indices):
            yield found.bindings


def match_product(
    pattern: Node, subject: Node | OpenProduct, bindings: Bindings = EMPTY, whole: bool = False
) -> Iterator[Found]:
    """Yield the matches of a product pattern with part of the product `subject`.

    With `whole`, a matrix variable may match a chain of factors, and the last vector variable all remaining factors.
    """
    start = Found(bindings, frozenset(), {}, subject.coef / pattern.coef if pattern.coef else Fraction(0))
    chains = subject if whole and isinstance(subject, Node) and len(subject.args) > len(pattern.args) else None
    for found in _locate(_items(pattern), subject, start, chains):
        if is_part(subject, found.positions, found.indices, pattern.out):
            yield found


def occurrences(part: Node, subject: Node) -> Iterator[Found]:
    """Yield the places of a product, as it is, among the operands of the product `subject`."""
    own = OpenProduct(Fraction(1), part.args, part.indices, part.out, part.index_sizes)
    start = Found(EMPTY, frozenset(), {}, subject.coef / part.coef)
    for found in _locate_parts(own.operands, (), subject, start, None):
        if all(index in found.indices for index in part.out) and is_part(
            subject, found.positions, found.indices, part.out
        ):
            yield found


@lru_cache(maxsize=1024)
def _items(pattern: Node) -> tuple[Operand, ...]:
    """Return the operands of a pattern in the order in which they are located."""
    return tuple(sorted(pattern.operands, key=_order_of_item))


def _order_of_item(item: Operand) -> tuple[bool, bool, bool, int]:
    """Return the sort key of an operand of a pattern: variables late, selectors after sizes are known."""
    node, at = item
    return is_function_variable(node), node.kind == "selector", node.kind == "symbol", -len(at)


def _locate(
    items: Sequence[Operand], subject: Node | OpenProduct, found: Found, chains: Node | None = None
) -> Iterator[Found]:
    if not items:
        yield found
        return
    (item, at), rest = items[0], items[1:]
    if is_function_variable(item):
        yield from _locate_function(item, at, rest, subject, found, chains)
        return
    known = found.bindings.nodes.get(item) if item.kind == "symbol" else None
    if known is not None:
        yield from _locate_concrete(known, at, rest, subject, found, chains)
        return
    if item.kind == "symbol" and len(at) == 2 and chains is not None:
        yield from _locate_run(item, at, rest, chains, found)
    if item.kind == "symbol" and len(at) == 1 and not rest and chains is not None:
        yield from _locate_all(item, at, chains, found)
    is_named = item.kind in ("map", "op", "selector")
    for position, (node, indices) in enumerate(subject.operands):
        if position in found.positions or len(indices) != len(at) or (is_named and head(node) != head(item)):
            continue
        for read, order, sign in readings(item, node, indices):
            mapped = map_indices(at, order, found.indices)
            if mapped is None:
                continue
            for bound in match(item, read, found.bindings):
                positions = found.positions | {position}
                step = Found(bound, positions, mapped, sign * found.coef)
                yield from _locate(rest, subject, step, chains)


def _locate_run(variable: Node, at: Indices, rest: Sequence[Operand], subject: Node, found: Found) -> Iterator[Found]:
    """Match a matrix variable with a chain of factors."""
    for run in runs_in(subject):
        mapped = map_indices(at, run.ends, found.indices)
        if mapped is None or run.positions & found.positions:
            continue
        for bound in match(variable, run.of(subject), found.bindings):
            step = found._replace(bindings=bound, positions=found.positions | run.positions, indices=mapped)
            yield from _locate(rest, subject, step, subject)


def _locate_all(variable: Node, at: Indices, subject: Node, found: Found) -> Iterator[Found]:
    """Match the last variable, a vector, with all remaining factors: `diag(A*B)` in `det(diag(diag(A*B)))`.

    They share no other index with the matched factors: in `sum(exp(x).*y)` the rest is no factor of `sum(exp(x))`.
    """
    positions = [position for position in range(len(subject.args)) if position not in found.positions]
    own = {i for position in positions for i in subject.indices[position]}
    met = {i for position in found.positions for i in subject.indices[position]}
    known = [found.indices[i] for i in at if i in found.indices]
    for index in known or sorted(own.intersection(subject.out)):
        if len(positions) < 2 or index not in own or own & met - {index}:
            return
        vector = product(1, [subject.operands[position] for position in positions], (index,))
        for bound in match(variable, vector, found.bindings):
            mapped = map_indices(at, (index,), found.indices)
            if mapped is not None:
                yield found._replace(bindings=bound, positions=frozenset(range(len(subject.args))), indices=mapped)


def _locate_function(
    variable: Node, at: Indices, rest: Sequence[Operand], subject: Node | OpenProduct, found: Found, chains: Node | None
) -> Iterator[Found]:
    """Match a function variable with all vectors on one index: its index if it is known, else each in turn."""
    (own,) = at
    for index in [found.indices[own]] if own in found.indices else range(len(subject.index_sizes)):
        positions = [p for p, i in enumerate(subject.indices) if i == (index,) and p not in found.positions]
        if not positions:
            continue
        weight = product(1, [(subject.args[p], (0,)) for p in positions], (0,))
        for bound in match_applied(variable, weight, found.bindings):
            mapped = {**found.indices, own: index}
            step = found._replace(bindings=bound, positions=found.positions.union(positions), indices=mapped)
            yield from _locate(rest, subject, step, chains)


def _locate_concrete(
    known: Node, at: Indices, rest: Sequence[Operand], subject: Node | OpenProduct, found: Found, chains: Node | None
) -> Iterator[Found]:
    """Locate the node bound to a variable: as one operand, or as the operands of its product."""
    coef, core = split_coef(known)
    if not coef:
        return  # no product has a zero operand
    if core.kind == "product" and core.rank:
        fresh = -1 - sum(1 for i in found.indices if i < 0)
        inner: dict[int, int] = dict(zip(core.out, at, strict=True))
        for index in range(len(core.index_sizes)):
            if index not in inner:
                inner[index] = fresh
                fresh -= 1
        parts = [(arg, tuple(inner[i] for i in t)) for arg, t in core.operands]
    else:
        parts = [(core, at)]
    yield from _locate_parts(parts, rest, subject, found._replace(coef=found.coef / coef), chains)


def _locate_parts(
    parts: Sequence[Operand], rest: Sequence[Operand], subject: Node | OpenProduct, found: Found, chains: Node | None
) -> Iterator[Found]:
    if not parts:
        yield from _locate(rest, subject, found, chains)
        return
    part, at = parts[0]
    for position, (node, indices) in enumerate(subject.operands):
        if position in found.positions or node is not part:
            continue
        orders = [(indices, 1)]
        if is_matrix(indices) and "symmetric" in node.facts:
            orders.append((indices[::-1], 1))
        elif node.rank > 2:
            orders += [(tuple(indices[axis] for axis in order), sign) for order, sign in node.exchanges]
        for order, sign in orders:
            mapped = map_indices(at, order, found.indices)
            if mapped is not None:
                step = found._replace(positions=found.positions | {position}, indices=mapped, coef=sign * found.coef)
                yield from _locate_parts(parts[1:], rest, subject, step, chains)
