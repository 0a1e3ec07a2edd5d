"""Reads a node that a definition of the rulebook produces as a call of that definition.

`svdfun(sign, X)` is `polar_U(X)`, `-lambda_max(-S)` is `lambda_min(S)`. Only definitions that are one call of another
operation, or a multiple of one, are used. The instance of the definition must be the same node, so that the text is
read back as that node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from matcalc.formula.elaborate.rule_formula import check_definition
from matcalc.rulebook.load import Candidate, Rulebook, default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import PLAIN, core_rank, tensors_of
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate
from matcalc.tensor.sums import scale, split_coef


class Called(NamedTuple):
    """A node as a multiple of a call: the definition and the arguments in their order, nodes and sizes."""

    coef: Fraction
    rule: Rule
    arguments: tuple[Node | Size, ...]


def calls_of(node: Node) -> Iterator[Called]:
    """Yield the calls of definitions of which an operation without batch is a multiple."""
    book = default_rulebook()
    for candidate in _by_operation(book).get(node.rule.name, ()):
        found = _call(candidate, node, book)
        if found is not None:
            yield found


@lru_cache(maxsize=4)
def _by_operation(book: Rulebook) -> Mapping[str, list[Candidate]]:
    """Return the definitions that begin with a call of an operation, by its name."""
    found: dict[str, list[Candidate]] = {}
    for rule in book.rules.values():
        if rule.kind == "definition" and rule.spelling and not rule.where:
            for candidate in book.spellings.get(rule.spelling, ()):
                called = (rule.definition(candidate.index) or "").lstrip("-").partition("(")[0]
                if candidate.rule is rule and called in book.rules and book.rules[called].kind != "definition":
                    found.setdefault(called, []).append(candidate)
    return found


def _call(candidate: Candidate, node: Node, book: Rulebook) -> Called | None:
    """Return the call of a definition of which `node` is a multiple; None if it is not one."""
    parameters = candidate.signature.parameters
    tensors = tensors_of(candidate.signature)
    ranks = [core_rank(p, node.args[0].rank) for p in tensors]
    template = check_definition(book, candidate, ranks, ())
    if template is None:
        return None
    coef, core = split_coef(template.node)
    bound: dict[Node, Node] = {}
    sizes: dict[str, Size] = {}
    if not _bind(core, node, bound, sizes) or len(bound) < len(tensors):
        return None
    for symbol, value in bound.items():
        if not symbol.facts <= value.facts or symbol.rank != value.rank:
            return None
        sizes.update({str(size): length for size, length in zip(symbol.shape, value.shape, strict=True)})
    whole = instantiate(core, {s: Batched(n) for s, n in bound.items()}, sizes, ()).node
    if whole is not node or any(p.kind in PLAIN and p.name not in sizes for p in parameters):
        return None
    named = {symbol.name: value for symbol, value in bound.items()}
    arguments = tuple(named[p.name] if p.kind not in PLAIN else sizes[p.name] for p in parameters)
    return Called(1 / coef, candidate.rule, arguments)


def _bind(pattern: Node, node: Node, bound: dict[Node, Node], sizes: dict[str, Size]) -> bool:
    """Bind the symbols of an operation's arguments, or of multiples of them, and the names of its parameters."""
    if pattern.kind != "op" or node.kind != "op" or pattern.rule is not node.rule or node.batch_rank:
        return False
    if pattern.output != node.output or len(pattern.args) != len(node.args):
        return False
    for expected, actual in zip(pattern.params, node.params, strict=True):
        if isinstance(expected, Size) and len(expected.names) == 1 and expected == Size.of(expected.names[0]):
            sizes[expected.names[0]] = actual if isinstance(actual, Size) else Size.of(actual)
        elif expected != actual:
            return False
    for expected, actual in zip(pattern.args, node.args, strict=True):
        coef, symbol = split_coef(expected)
        if symbol.kind == "symbol":
            bound.setdefault(symbol, scale(1 / coef, actual))
        elif symbol.kind == "product":
            _bind_multiple(symbol, actual, bound, sizes)
        else:
            _bind(expected, actual, bound, sizes)
    return True


def _bind_multiple(pattern: Node, node: Node, bound: dict[Node, Node], sizes: dict[str, Size]) -> None:
    """Bind a scalar symbol that multiplies an operation, `t*logm(X)`; a number is no such scalar."""
    expected, actual = _multiple(pattern), _multiple(node)
    if expected is not None and actual is not None and expected[0].kind == "symbol" and actual[0].kind != "number":
        bound.setdefault(*(scalar for scalar, _ in (expected, actual)))
        _bind(expected[1], actual[1], bound, sizes)


def _multiple(node: Node) -> tuple[Node, Node] | None:
    """Return the scalar and the operation whose product a node is; None for another node."""
    if node.kind != "product":
        return None
    arrays = [(arg, at) for arg, at in node.operands if arg.rank]
    if len(arrays) != 1 or arrays[0][1] != node.out or len(set(node.out)) < node.rank:
        return None
    scalars = [(arg, ()) for arg in node.args if not arg.rank]
    return product(node.coef, scalars, (), {}), arrays[0][0]
