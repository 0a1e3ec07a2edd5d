"""Applies the rulebook's rewrites, built as patterns when a node first has the operations that they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple
from weakref import WeakSet

from matcalc.calculus.simplify.abstraction import is_function_variable
from matcalc.calculus.simplify.by_factor import by_factor, is_direction
from matcalc.calculus.simplify.compiled_rewrites import Pattern, compiled_as, sides
from matcalc.calculus.simplify.function_arguments import holds_scalars, with_functions
from matcalc.calculus.simplify.index_by_word import Outline, head, held, may_match, outline, outline_of, speaks_of
from matcalc.calculus.simplify.match import Terms, match, match_product, match_terms
from matcalc.calculus.simplify.pattern_variables import EMPTY, Bindings
from matcalc.calculus.simplify.rewrite_index import called, marks_in, readings
from matcalc.rulebook.load import Rulebook
from matcalc.rulebook.rule import Rewrite
from matcalc.tensor.constructors import add, product, scale, transpose
from matcalc.tensor.nodes.node import Node, OpenProduct, terms_of
from matcalc.tensor.substitute import Batched, instantiate
from matcalc.tensor.sums import split_coef


class Applied(NamedTuple):
    """A rewrite that fired: the node that replaces the old one, and the rule's address."""

    node: Node
    rewrite: Rewrite


def _is_used(rewrite: Rewrite, numeric: bool) -> bool:
    """Whether a rewriter uses a rewrite. A rewrite of matrices may have a value where the original does not."""
    if not numeric:
        return not rewrite.numeric
    return rewrite.factor or all(d.kind != "matrix" for d in rewrite.variables)


class Rewriter:
    """The rewrites of one rulebook.

    `settled` are nodes that remain, `unfit` those that no rewrite fits, with and without the rewrites that split.
    A `numeric` rewriter has the rewrites for numbers, and none about matrices; one without `marks` has those whose
    results are printed as they are.
    """

    def __init__(self, book: Rulebook, numeric: bool = False, marks: bool = True) -> None:
        self.book, self.numeric = book, numeric
        used = (r for r in book.rewrites if _is_used(r, numeric) and (marks or not marks_in(r, book)))
        self.rewrites = tuple((called(r, book), r) for r in used)
        self._by_operation = _by_operation(self.rewrites)
        self.settled: WeakSet[Node] = WeakSet()
        self.unfit: dict[bool, WeakSet[Node]] = {True: WeakSet(), False: WeakSet()}
        self._known: dict[tuple[object, ...], tuple[Pattern, ...]] = {}

    def apply(self, node: Node, splits: bool = True) -> Applied | None:
        """Return the result of the first rewrite that fits `node`, else None; `splits` allows those that split."""
        unfit = self.unfit[splits]
        if node in unfit:
            return None
        for pattern in self.candidates(node, splits):
            for result in results(pattern, node, self.book):
                if result is not node:
                    return Applied(result, pattern.rewrite)
        unfit.add(node)
        return None

    def candidates(self, node: Node, splits: bool = True) -> tuple[Pattern, ...]:
        """Return the patterns that may match a node of this outline, in the book's order."""
        key = (outline(node), splits)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(self._built(*key))
        return found

    def _built(self, of_node: Outline, splits: bool) -> Iterator[Pattern]:
        rewrites = chain(*(self._by_operation.get(word, ()) for word in (NO_WORD, *of_node.words)))
        for _, operations, rewrite in sorted(rewrites):
            if not operations <= of_node.words or (rewrite.splits and not splits):
                continue
            for kind in readings(rewrite, of_node, self.book):
                patterns = compiled_as(rewrite, kind, self.book)
                fits = partial(of_node.may_contain, in_factor=rewrite.factor)
                yield from (pattern for pattern in patterns if fits(outline_of(pattern.left)))


NO_WORD = ""
"""The key of rewrites that call no operation."""

Indexed = tuple[int, frozenset[str], Rewrite]


def _by_operation(rewrites: Sequence[tuple[frozenset[str], Rewrite]]) -> dict[str, list[Indexed]]:
    """Return rewrites with their positions and the operations that they call, by the rarest of these operations."""
    count = Counter(name for operations, _ in rewrites for name in operations)
    found: dict[str, list[Indexed]] = {}
    for position, (operations, rewrite) in enumerate(rewrites):
        rarest = min(operations, key=lambda name: (count[name], name), default=NO_WORD)
        found.setdefault(rarest, []).append((position, operations, rewrite))
    return found


def results(pattern: Pattern, node: Node, book: Rulebook) -> Iterator[Node]:
    """Yield the results of a pattern on a node, one for each match."""
    if pattern.rewrite.factor:
        yield from _results_by_factor(pattern, node, book)
    if node.kind == "sum" and len(terms_of(pattern.left)) > 1:
        yield from _results_in_sum(pattern, node, book)
        return
    if node.kind != "product":
        for bindings in match(pattern.left, node, EMPTY):
            right = _right(pattern, bindings, book) if _holds(pattern, bindings) else None
            if right is not None:
                yield right
        return
    required = {head(a) for a in pattern.left.args if a.kind != "symbol" and not is_function_variable(a)}
    missing = required - {head(a) for a in node.args}
    subject = _opened(node, lambda a: head(a) in missing) if missing else node
    if missing <= {head(a) for a in subject.args} and _may_hold(pattern, subject, book):
        yield from _results_in_product(pattern, node, subject, book)
    if not missing and _closed(pattern.left):
        inside = _opened(node, lambda a: True)
        if inside is not node:
            yield from _results_in_product(pattern, node, inside, book)


def _results_in_product(pattern: Pattern, node: Node, subject: Node | OpenProduct, book: Rulebook) -> Iterator[Node]:
    for found in match_product(pattern.left, subject, EMPTY):
        if not _holds(pattern, found.bindings):
            continue
        right = _right(pattern, found.bindings, book)
        if right is None:
            continue
        indices = dict(found.indices)
        fresh = len(subject.index_sizes)
        for index in pattern.left.out:
            if index not in indices:
                return  # a pattern that broadcasts matches only whole nodes
        out = tuple(indices[i] for i in pattern.left.out)
        others = [(arg, at) for position, (arg, at) in enumerate(subject.operands) if position not in found.positions]
        sizes = {k: s for k, s in enumerate(subject.index_sizes) if k < fresh}
        kept = {i for _, at in others for i in at} | set(out) | set(node.out)
        yield product(found.coef, [*others, (right, out)], node.out, {k: s for k, s in sizes.items() if k in kept})


def _results_by_factor(pattern: Pattern, node: Node, book: Rulebook) -> Iterator[Node]:
    """Yield the results of a pattern on one factor of a product, or of a logarithm's argument."""
    subjects: list[Node | OpenProduct] = [node]
    if node.kind == pattern.left.kind == "product" and (opened := _opened(node, is_direction)) is not node:
        subjects.append(opened)
    for found in (found for subject in subjects for found in by_factor(pattern.left, subject)):
        right = _right(pattern, found.bindings, book) if _holds(pattern, found.bindings) else None
        if right is not None:
            yield from found.finish(right, partial(_bound, bindings=found.bindings))


@lru_cache(maxsize=1024)
def _closed(left: Node) -> bool:
    """Whether a product pattern has scalars and one array, which may be inside a closed scalar: x/norm2(x)."""
    arrays = [a for a in left.args if a.rank]
    return len(arrays) == 1 < len(left.args) and arrays[0].kind == "symbol"


def _opened(node: Node, holds: Callable[[Node], bool]) -> Node | OpenProduct:
    """Return a product with closed scalars expanded if `holds` accepts an operand, as `inv` in det(X)*tr(inv(X)*A)."""
    scalars = [a.kind == "product" and not a.shape and any(map(holds, a.args)) for a in node.args]
    if not any(scalars):
        return node
    found, position = OpenProduct(node.coef, node.args, node.indices, node.out, node.index_sizes), 0
    for arg, is_open in zip(node.args, scalars, strict=True):
        found = found.dissolved(position) if is_open else found
        position += len(arg.args) if is_open else 1
    return found


def _may_hold(pattern: Pattern, node: Node | OpenProduct, book: Rulebook) -> bool:
    """Whether a product has operands of the kinds, parameters and facts that a product pattern requires."""
    for operand in pattern.left.args:
        if operand.kind == "symbol":
            required = [
                {fact, book.facts[fact].transposed} for fact, variable in pattern.conditions if variable is operand
            ]
            if required and not any(all(arg.facts & either for either in required) for arg in node.args):
                return False
        elif operand.kind in ("map", "op") and not is_function_variable(operand):
            unknown = [variable for _, variable in pattern.others]
            numbers = [(k, p) for k, p in enumerate(operand.params) if isinstance(p, Fraction) and p not in unknown]
            like = [a for a in node.args if head(a) == head(operand) and len(a.params) == len(operand.params)]
            if len(like) < sum(head(arg) == head(operand) for arg in pattern.left.args):
                return False
            if not any(all(a.params[k] == p for k, p in numbers) and speaks_of(operand) <= held(a) for a in like):
                return False
    return True


def _results_in_sum(pattern: Pattern, node: Node, book: Rulebook) -> Iterator[Node]:
    """Yield the results of a pattern on terms of a sum or of a multiple of it; for a matrix, also transposed."""
    yield from _results_of_terms(pattern, list(node.terms), book)
    if node.rank == 2 and pattern.left.rank == 2 and not all("symmetric" in term.facts for term in node.args):
        yield from map(transpose, _results_of_terms(pattern, _transposed_terms(node), book))


@lru_cache(maxsize=64)
def _transposed_terms(node: Node) -> Terms:
    """Return the terms of a sum, each transposed."""
    return [(c * f, rest) for c, term in node.terms for f, rest in [split_coef(transpose(term))]]


def _results_of_terms(pattern: Pattern, terms: Terms, book: Rulebook) -> Iterator[Node]:
    pattern_terms = terms_of(pattern.left)
    if len(pattern_terms) > len(terms):
        return
    first = next((c for c, term in pattern_terms if term.kind != "symbol"), pattern_terms[0][0])
    for content in dict.fromkeys(c / first for c, _ in terms):
        divided = [(c / content, n) for c, n in terms]
        found = match_terms(pattern.left, divided) if may_match(pattern.left, divided) else ()
        for bindings, left in found:
            right = _right(pattern, bindings, book) if _holds(pattern, bindings) else None
            if right is not None:
                yield scale(content, add([(Fraction(1), right), *left]))


def _holds(pattern: Pattern, bindings: Bindings) -> bool:
    return all(fact in _bound(node, bindings).facts for fact, node in pattern.conditions)


def _right(pattern: Pattern, bindings: Bindings, book: Rulebook) -> Node | None:
    """Return the right side; None if a bound function contains scalars and cannot be decomposed."""
    if not pattern.others:
        return _bound(pattern.right, bindings)
    values = [(name, variable, bindings.others[variable]) for name, variable in pattern.others]
    scalar = {variable: body for _, variable, body in values if isinstance(variable, Node) and holds_scalars(body)}
    closed = tuple((name, variable if variable in scalar else value) for name, variable, value in values)
    right = _bound(sides(pattern.rewrite, pattern.declared, closed, book).right, bindings)
    return with_functions(right, scalar, book) if scalar else right


def _bound(node: Node, bindings: Bindings) -> Node:
    symbols = {variable: Batched(value) for variable, value in bindings.nodes.items()}
    return instantiate(node, symbols, bindings.sizes, ()).node
