"""Indexes patterns by the words that they require, computed once for each node, so that most are never tried.

A pattern about `inv` of a sum is tried where an `inv` contains a sum. A node that matches a pattern contains all its
words: no step of matching, such as transposing or scaling, introduces an operation, a selector or a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple
from weakref import WeakKeyDictionary

from matcalc.calculus.simplify.abstraction import is_function_variable
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node, terms_of, toposort
from matcalc.tensor.sums import summands


def head(node: Node) -> str:
    """Return the key by which a pattern is indexed: the operation's name, else the kind."""
    return node.rule.name if node.kind in ("map", "op") else node.kind


def of_rank(rank: int) -> str:
    """Return the word of a map of this rank."""
    return f"rank {rank}"


def of_argument(operation: str, argument: str) -> str:
    """Return the word of an operation whose argument has this head."""
    return f"{operation} of {argument}"


def _words(node: Node) -> list[str]:
    """Return the words of a node: the operation's name and a map's rank; "selector" and its kind; or "sum".

    An operation has a further word for the head of each argument: `inv(A + B)` matches no `inv(S)`.
    """
    if node.kind == "selector":
        return ["selector", node.selector.kind]
    if node.kind == "map":
        return [head(node), of_rank(node.rank)]
    if node.kind == "op":
        names = [head(node), *_quotient(node)]
        return names + [of_argument(name, word) for arg in node.args for word in _heads(arg) for name in names]
    return ["sum"] if node.kind == "sum" else []


def _heads(argument: Node) -> list[str]:
    """Return the heads by which a pattern's argument must agree with a node's.

    Transposing or scaling an argument may make a product of one factor of it. That factor counts too.
    """
    if len(summands(argument)) > 1:
        return ["sum"]
    if argument.kind == "product" and len(argument.args) > 1:
        return ["product"]
    inner = argument.args[0] if argument.kind == "product" and argument.args else argument
    return [head(inner)] if inner.kind in ("map", "op") and not is_function_variable(inner) else []


def _quotient(node: Node) -> list[str]:
    """Return the words of what a direction is equivalent to: a vector over its length."""
    if node.kind != "op" or node.rule.role != "direction":
        return []
    return [of_rank(0), *(default_rulebook().playing(role).name for role in ("fixed_power", "euclidean_length"))]


_held: WeakKeyDictionary[Node, frozenset[str]] = WeakKeyDictionary()


def held(root: Node) -> frozenset[str]:
    """Return the words of all nodes inside a node, cached."""
    known = _held.get(root)
    if known is not None:
        return known
    for node in toposort(root, _held):
        _held[node] = frozenset(_words(node)).union(*(_held[a] for a in node.args))
    return _held[root]


@lru_cache(maxsize=4096)
def speaks_of(pattern: Node) -> frozenset[str]:
    """Return the words that every match of a pattern contains."""
    nodes = toposort([pattern])
    return frozenset(word for node in nodes if not is_function_variable(node) for word in _words(node))


class Outline(NamedTuple):
    """What the index compares of a node or a pattern: its head, its rank if that matters, its words, its terms.

    The rank of a product does not matter, because a part of the product may match. `terms` is 1 for any node but a
    sum, and at most MOST_TERMS.
    """

    head: str
    rank: int | None
    words: frozenset[str]
    terms: int = 1

    def may_contain(self, other: Outline, in_factor: bool = False) -> bool:
        """Whether a pattern with the other outline may match a node with this one, or `in_factor` a factor of it."""
        is_ranked = self.head == "product" or self.rank == other.rank
        is_alike = self.head == other.head and (is_ranked or (in_factor and (other.rank or 0) < (self.rank or 0)))
        return is_alike and other.terms <= self.terms and other.words <= self.words


MOST_TERMS = 4
"""Sums of more terms have the same outline."""


def outline(node: Node) -> Outline:
    """Return the outline of a node."""
    terms = min(len(node.args), MOST_TERMS) if node.kind == "sum" else 1
    return Outline(head(node), None if node.kind == "product" else node.rank, held(node), terms)


@lru_cache(maxsize=4096)
def outline_of(left: Node) -> Outline:
    """Return the outline of a pattern; a multiple of a sum counts as the sum."""
    count = len(terms_of(left))
    if count > 1:
        return Outline("sum", left.rank, speaks_of(left), min(count, MOST_TERMS))
    return Outline(head(left), left.rank, speaks_of(left))


def may_match(pattern: Node, terms: Sequence[tuple[Fraction, Node]]) -> bool:
    """Whether each operation and product among the terms of a sum pattern has a similar multiple among `terms`."""
    return all(any(c == coef and _is_like(term, node) for c, node in terms) for coef, term in _named_terms(pattern))


@lru_cache(maxsize=1024)
def _named_terms(pattern: Node) -> tuple[tuple[Fraction, Node], ...]:
    """Return the terms of a sum pattern that match only operations of one name, or only products."""
    named = [(coef, term) for coef, term in summands(pattern) if not is_function_variable(term)]
    products = [(c, t) for c, t in named if t.kind == "product" and t.coef == 1 and len(summands(t)) == 1]
    products = [(c, t) for c, t in products if not is_repeated_symbol(t) and variable_of(t) is None]
    return (*((c, t) for c, t in named if t.kind in ("map", "op")), *products)


def _is_like(pattern: Node, node: Node) -> bool:
    if pattern.kind == "product":
        return node.kind == "product" and speaks_of(pattern) <= held(node)
    return node.kind == pattern.kind and node.rule == pattern.rule


def is_repeated_symbol(pattern: Node) -> bool:
    """Whether a product is a variable repeated along further axes: a scalar in every entry, or on a diagonal."""
    if pattern.kind != "product" or len(pattern.args) != 1 or pattern.args[0].kind != "symbol":
        return False
    (at,) = pattern.indices
    return len(set(at)) == len(at) < pattern.rank and set(at) <= set(pattern.out)


def is_turned_symbol(pattern: Node) -> bool:
    """Whether a node is the transpose of a matrix variable."""
    return (
        pattern.kind == "product"
        and pattern.rank == 2
        and pattern.coef == 1
        and pattern.indices == (pattern.out[::-1],) != (pattern.out,)
        and pattern.args[0].kind == "symbol"
    )


def variable_of(pattern: Node) -> Node | None:
    """Return the variable of a pattern that is a variable or its transpose."""
    if pattern.kind == "symbol":
        return pattern
    return pattern.args[0] if is_turned_symbol(pattern) else None
