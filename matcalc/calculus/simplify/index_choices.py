"""Makes a mask of a choice between a value and 0 by a comparison of indices: `where(j < i, f, 0)` is `f*[j < i]`.

Both are 0 where the condition fails, whatever the value is there. The mask is structure: it prints as `tril` or `eye`
and needs no array. Comparisons of one index with a size remain choices.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from matcalc.formula.inference.conditions import Condition, Lengths, operands
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import product
from matcalc.tensor.leading_axis import numbers
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

CONTRARY = {">": "<=", ">=": "<", "==": "!="}
"""A relation -> the one that holds where it fails, of numbers that are not NaN."""


def as_mask(node: Node) -> Node | None:
    """Return a choice between a value and 0 by a relation of several indices as a product with selectors, else None."""
    if node.kind != "map" or node.rank < 2 or node.rule.spelling != spelled("choice"):
        return None
    left, right, yes, no = node.args
    if not (yes.is_zero or no.is_zero):
        return None
    axes = tuple(range(node.rank))
    ours, theirs = _number(left, axes), _number(right, axes)
    if ours is None or theirs is None:
        return None
    relation = node.rule.relation if no.is_zero else CONTRARY[node.rule.relation]
    difference = ours - theirs
    labels = tuple(axis for axis in axes if f"@{axis}" in difference.names)
    if len(labels) < 2:
        return None
    lengths = Lengths(dict(enumerate(node.shape)), node.rank)
    found, others = operands([Condition(relation, difference, labels, "")], lengths)
    return None if others else product(1, [*found, (yes if no.is_zero else no, axes)], axes, lengths.known)


def _number(node: Node, axes: Sequence[int]) -> Size | None:
    """Return a tensor whose entries are numbers of indices and sizes as a size over `@axis`; None for any other."""
    if node.kind in ("number", "size"):
        return node.size if node.kind == "size" else _whole(node.value)
    if node.kind == "sum":
        return _total([(coef, _number(term, axes)) for coef, term in node.terms])
    if node.kind != "product":
        return None
    if not node.args:
        return _whole(node.coef)
    at = dict(zip(node.out, axes, strict=True))
    own = [i for i in node.indices[0] if i in at]
    if len(node.args) > 1 or len(set(node.out)) < node.rank or len(set(own)) < len(own):
        return None
    if len(own) == len(node.indices[0]):
        return _total([(node.coef, _number(node.args[0], [at[i] for i in own]))])
    counted = numbers(node.args[0].shape[0])
    is_index = node.args == counted.args and node.indices[0][0] in at and node.indices[0][1] not in at
    return _total([(node.coef, Size.of(f"@{at[own[0]]}"))]) if is_index else None


def _whole(value: Fraction) -> Size | None:
    return Size.of(int(value)) if value.denominator == 1 else None


def _total(terms: Sequence[tuple[Fraction, Size | None]]) -> Size | None:
    """Return the sum of multiples of sizes; None if one is unknown or has a fraction."""
    total = Size.of(0)
    for coef, size in terms:
        if size is None or coef.denominator != 1:
            return None
        total = total + size * int(coef)
    return total
