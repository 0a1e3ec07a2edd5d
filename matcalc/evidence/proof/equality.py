"""Proves equality: two expressions are brought to one form, with a line for each step.

The methods are construction, the rulebook's rewrites, expanding products of sums, and finally clearing denominators:
the difference is multiplied by the matrices that are inverted at its ends, and products with an inverse of a sum are
reduced. With S = A + B, for instance, B*inv(S) becomes eye - A*inv(S). If the difference vanishes, both are equal
wherever the inverses exist.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.simplify.expand import Terms, expand, expanded_terms
from matcalc.calculus.simplify.factor import factor
from matcalc.calculus.simplify.match import match_product
from matcalc.calculus.simplify.pattern_variables import Bindings
from matcalc.calculus.simplify.rewrite import Applied
from matcalc.calculus.simplify.simplify import simplify
from matcalc.errors import NotSupported
from matcalc.evidence.explain.sentences import joined_by, sentence
from matcalc.tensor.constructors import add, eye, matmul, ones, power, product, scale
from matcalc.tensor.nodes.node import Indices, Node, exponent_of, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sums import like_terms

ROUNDS = 4
"""The number of rounds of rewriting and expanding."""

CLEARED = 6
"""The most denominators that are multiplied out one after the other."""

MOST_STATES = 40
"""The most differences examined in a proof."""

MOST_STEPS = 400
"""The most terms reduced in a proof."""


def proof(left: Node, right: Node) -> list[str] | None:
    """Return the steps that bring both sides to one form; None if none was found."""
    if left is right:
        return [sentence("both are ", left, " by construction")]
    steps: list[str] = []

    def record(node: Node, applied: Applied) -> None:
        line = sentence(node, " = ", applied.node, f"    [{applied.rewrite.address}]")
        if line not in steps:
            steps.append(line)

    try:
        for _ in range(ROUNDS):
            before = (left, right)
            left, right = simplify(left, record=record), simplify(right, record=record)
            if left is right:
                return [*steps, sentence("both are ", factor(left))]
            own, others = expanded_terms([left, right])
            if own == others:
                return [*steps, sentence("both expand to ", expand(left))]
            left, right = _rest(own, others, left), _rest(others, own, left)
            if (left, right) == before:
                break
        return _by_clearing(own, others, steps)
    except NotSupported:
        return None


def _rest(own: Terms, others: Terms, like: Node) -> Node:
    """Return one side without the terms that both sides share."""
    left = [(c, n) for n, c in own.items() if others.get(n) != c]
    return add(left) if left else scale(0, like)


# ---- denominators


class Inverse(NamedTuple):
    """An inverse: `whole` times `node` is `unit`, entrywise (a power) or as matrices."""

    node: Node
    whole: Node
    unit: Node
    is_matrix: bool

    def times(self, left: Node, swapped: bool = False) -> Node:
        """Return `left` times the inverse, or the inverse times `left`."""
        if not self.is_matrix:
            return _entrywise(left, self.node, tuple(range(self.node.rank)))
        return matmul(self.node, left) if swapped else matmul(left, self.node)


class Reduction(NamedTuple):
    """A product and its replacement in terms."""

    left: Node
    right: Node


class State(NamedTuple):
    """The terms that must be shown to vanish, and the lines of the multiplications so far."""

    terms: Terms
    lines: tuple[str, ...]

    @property
    def size(self) -> tuple[int, int]:
        return len(self.terms), sum(n.length for n in self.terms)


def _by_clearing(own: Terms, others: Terms, steps: list[str]) -> list[str] | None:
    """Multiply the difference by its denominators until it vanishes, trying the shortest result first."""
    start = like_terms([*own.items(), *((n, -c) for n, c in others.items())])
    reductions: dict[Node, tuple[Inverse, list[Reduction]]] = {}
    waiting, seen = [State(start, ())], set()
    for _ in range(MOST_STATES):
        if not waiting:
            return None
        state = waiting.pop(waiting.index(min(waiting, key=lambda s: s.size)))
        for inverse in _inverses(state.terms):
            if inverse.node not in reductions:
                reductions[inverse.node] = (inverse, list(_reductions(inverse)))
        rest = _reduced(state.terms, [r for _, found in reductions.values() for r in found])
        if rest is None:
            continue
        if not rest:
            used = joined_by(", ", [inverse.whole for inverse, _ in reductions.values()])
            return [*steps, *state.lines, sentence("the difference vanishes with the inverses of ", used)]
        key = frozenset(rest.items())
        if key not in seen and len(state.lines) < CLEARED:
            seen.add(key)
            inverses = [inverse for inverse, _ in reductions.values()]
            waiting += [State(terms, (*state.lines, line)) for terms, line in _clearings(rest, inverses)]
    return None


def _inverses(terms: Terms) -> list[Inverse]:
    """Return the inverses in the terms, the largest first."""
    found = []
    for node in toposort(list(terms)):
        if node.kind == "op" and node.rule.inverse and not node.batch_rank:
            whole = node.args[0]
            found.append(Inverse(node, whole, eye(whole.shape[0]), True))
        base, exponent = exponent_of(node)
        if node.kind == "map" and exponent < 0 and exponent.denominator == 1:
            found.append(Inverse(node, base, power(base, exponent + 1) if exponent < -1 else ones(base.shape), False))
    return sorted(found, key=lambda v: (-v.whole.length, v.node.digest))


def _reductions(inverse: Inverse) -> Iterator[Reduction]:
    """Yield the reductions of an inverted sum's leading term times the inverse, on either side."""
    terms = expanded_terms([inverse.whole])[0]
    varying = [n for n in terms if n.args or n.kind == "symbol"]
    if not varying:
        return
    chosen = max(varying, key=lambda n: (len(n.args) if n.kind == "product" else 1, n.length, n.digest))
    coef = terms[chosen]
    for swapped in (False, True) if inverse.is_matrix else (False,):
        others = [(-c / coef, inverse.times(n, swapped)) for n, c in terms.items() if n is not chosen]
        left = inverse.times(chosen, swapped)
        if left.kind == "product":
            yield Reduction(left, add([(1 / coef, inverse.unit), *others]))


def _reduced(terms: Terms, reductions: Sequence[Reduction]) -> Terms | None:
    """Return the terms with all reductions applied and expanded; None if that takes too long."""
    pending = list(terms.items())
    settled: list[tuple[Node, Fraction]] = []
    for _ in range(MOST_STEPS):
        if not pending:
            return like_terms(settled)
        node, coef = pending.pop()
        changed = _applied(node, reductions)
        if changed is None:
            settled.append((node, coef))
        else:
            for term, times in expanded_terms([changed])[0].items():  # simplifying the sum would undo it
                pending += [(n, coef * times * c) for n, c in expanded_terms([simplify(term)])[0].items()]
    return None


def _applied(node: Node, reductions: Sequence[Reduction]) -> Node | None:
    """Return a term with the first fitting reduction applied, or None."""
    if node.kind != "product":
        return next((r.right for r in reductions if r.left is node), None)
    for reduction in reductions:
        pattern = reduction.left
        if not {a for a in pattern.args if a.kind != "symbol"} <= set(node.args):
            continue
        for found in match_product(pattern, node, _itself(pattern)):
            if any(i not in found.indices for i in pattern.out):
                continue
            out = tuple(found.indices[i] for i in pattern.out)
            others = [item for place, item in enumerate(node.operands) if place not in found.positions]
            lengths = node.sizes
            kept = {i for _, at in others for i in at} | set(out) | set(node.out)
            sizes = {i: lengths[i] for i in kept}
            return product(found.coef, [*others, (reduction.right, out)], node.out, sizes)
    return None


def _itself(pattern: Node) -> Bindings:
    """Return bindings of every symbol and size of a pattern to itself."""
    symbols = [n for n in toposort([pattern]) if n.kind == "symbol"]
    sizes = {name: Size.of(name) for n in toposort([pattern]) for size in n.shape for name in size.names}
    return Bindings({s: s for s in symbols}, sizes)


def _clearings(terms: Terms, inverses: Sequence[Inverse]) -> Iterator[tuple[Terms, str]]:
    """Yield the terms multiplied by the operand of an inverse at one of their ends, with the line of this step."""
    for inverse in sorted(inverses, key=lambda v: (-v.whole.length, v.node.digest)):
        for axes in _ends(terms, inverse):
            if inverse.is_matrix:
                made = [(c, _onto(n, inverse.whole, axes[0])) for n, c in terms.items()]
                side = "left" if axes[0] == 0 else "right"
                line = sentence(f"multiply from the {side} by ", inverse.whole)
            else:
                base, exponent = exponent_of(inverse.node)
                made = [(c, _entrywise(n, power(base, -exponent), axes)) for n, c in terms.items()]
                line = sentence("multiply by ", power(base, -exponent))
            found = expanded_terms([simplify(n) for _, n in made])
            yield like_terms((n, c * k) for (c, _), t in zip(made, found, strict=True) for n, k in t.items()), line


def _ends(terms: Terms, inverse: Inverse) -> list[Indices]:
    """Return the axes along which the inverse is a factor of some term: one axis for a matrix, all for a power."""
    found: dict[Indices, None] = {}
    for node in terms:
        if node is inverse.node:
            found[(0,) if inverse.is_matrix else tuple(range(node.rank))] = None
        for arg, at in node.operands if node.kind == "product" else ():
            if arg is not inverse.node or len(set(node.out)) < len(node.out):
                continue
            if inverse.is_matrix:
                found |= {(node.out.index(i),): None for i in at if i in node.out}
            elif set(at) <= set(node.out) and len(set(at)) == len(at):
                found[tuple(map(node.out.index, at))] = None
    return sorted(found)


def _onto(node: Node, whole: Node, axis: int) -> Node:
    """Return a tensor multiplied by a matrix along an axis: from the left on the first, else from the right."""
    rank, fresh = len(node.shape), len(node.shape)
    inner = tuple(fresh if k == axis else k for k in range(rank))
    at = (axis, fresh) if axis == 0 else (fresh, axis)
    return product(1, [(whole, at), (node, inner)], tuple(range(rank)))


def _entrywise(node: Node, small: Node, axes: Indices) -> Node:
    """Return the entrywise product of a tensor with a smaller one along some of its axes."""
    own = tuple(range(node.rank))
    return product(1, [(node, own), (small, axes)], own, dict(enumerate(node.shape)))
