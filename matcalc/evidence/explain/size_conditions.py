"""Finds conditions on sizes for a formula to have a value: `m >= n` for `inv(X'*X)`, whose rank is at most m.

The rank of a product is bounded by its narrowest index: if removing an index disconnects the rows of the result from
its columns, its length bounds the rank. If the rulebook requires a nonsingular argument (`nonsingular(X)`, or an spd
parameter), this bound must reach the argument's size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.rulebook.fields import read_fact
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.nodes.signature import tensors_of
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sizes.sizes_from_shapes import Condition

ONE = Size.of(1)


def needs(root: Node) -> tuple[str, ...]:
    """Return the conditions that do not hold for all sizes, as sentences: `m >= n, or X'*X is singular`."""
    return tuple(needed(condition) for condition in conditions(root))


def needed(condition: Condition) -> str:
    """Return a condition as a sentence: `m >= n, or X'*X is singular`."""
    return f"{at_least_zero(condition.size)}, or {condition.message}"


def conditions(*roots: Node) -> tuple[Condition, ...]:
    """Return the conditions on sizes under which no argument is singular by its rank: m - n >= 0 for `inv(X'*X)`.

    If they are violated, an evaluation may still return numbers, but these are mere rounding errors.
    """
    return tuple(dict.fromkeys(_conditions(roots)))


def at_least_zero(size: Size) -> str:
    """Return the condition size >= 0 as text: `m >= n` for m - n, `n <= 1` for 1 - n."""
    above = Size.of(0)
    for part in size.parts:
        above = above + part if part.terms[0][1] > 0 else above
    below = above - size
    return f"{below} <= {above}" if above.is_integer else f"{above} >= {below}"


def _conditions(roots: Sequence[Node]) -> Iterator[Condition]:
    for node in toposort(list(roots)):
        if node.kind != "op":
            continue
        required = _nonsingular(node.rule, default_rulebook())
        for parameter, arg in zip(tensors_of(node.rule.signature) if required else (), node.args, strict=False):
            if parameter.name not in required:
                continue
            size = arg.shape[-1]
            for bound in bounds(arg):
                if not is_nonnegative(bound - size):
                    yield Condition(bound - size, f"{text(formula_of(arg))} is singular")


@lru_cache(maxsize=1024)
def _nonsingular(rule: Rule, book: Rulebook) -> frozenset[str]:
    """Return the parameters of a rule that must be nonsingular."""
    required = [(p.name, fact) for p in rule.parameters for fact in p.facts]
    domain = read_fact(rule.domain or "")
    required += [domain[::-1]] if domain is not None else []
    return frozenset(name for name, fact in required if fact in book.facts and "nonsingular" in book.closure([fact]))


def bounds(node: Node) -> list[Size]:
    """Return upper bounds of the rank of a matrix, the last two axes of a node."""
    if node.kind == "sum":
        each = [_bounds(term) for term in _terms(node)]
        return [sum((found[0] for found in each), start=Size.of(0))] if all(each) else []
    return _bounds(node)


def _terms(node: Node) -> Iterator[Node]:
    """Yield the terms of a sum, with nested sums flattened."""
    pending = [node]
    while pending:
        term = pending.pop()
        if term.kind == "sum":
            pending.extend(reversed(term.args))
        else:
            yield term


def _bounds(node: Node) -> list[Size]:
    """Return upper bounds of the rank of a product; none for other nodes."""
    if node.kind != "product" or node.out[-1] == node.out[-2]:
        return []
    ends, held = node.out[-2:], set(node.out[:-2])
    if not _are_joined(node, ends, held):
        return [ONE]
    summed = dict.fromkeys(i for at in node.indices for i in at if i not in node.out)
    return list(dict.fromkeys(node.index_sizes[i] for i in summed if not _are_joined(node, ends, {*held, i})))


def _are_joined(node: Node, ends: tuple[int, ...], without: set[int]) -> bool:
    """Whether operands connect the two indices `ends` of a product if those in `without` are removed."""
    reached, pending = {ends[0]}, [ends[0]]
    while pending:
        here = pending.pop()
        for at in node.indices:
            if here in at:
                new = set(at) - reached - without
                reached |= new
                pending += sorted(new)
    return ends[1] in reached
