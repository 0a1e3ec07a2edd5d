"""Defines switches: maps whose zero annihilates a product, and where a node is switched off.

A branch that is not taken contributes nothing to a derivative, whatever its value. So derivatives select with maps
(`when(x > y)`, the slopes of `max`, `clip` and `relu`) whose rule has `annihilates`. A product with such an operand is
0 where the operand is 0, even if other operands are infinite or NaN there; this holds at each point of the product's
sum. A sum of such products, or a summed one, is 0 there as well but has no such operand. Before it is multiplied, it
gets one, made of its `support`.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.errors import NotSupported
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.elementwise import apply
from matcalc.tensor.network import is_closed_scalar
from matcalc.tensor.nodes.canonical_labels import linked
from matcalc.tensor.nodes.node import Node, Operand, cached_on_node
from matcalc.tensor.product import simple_product
from matcalc.tensor.sizes.selectors import Span
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.sums import add

FULL = ("merge", "flip", "shift")
"""The selectors with a one for each index of their first axis."""


def is_switch(node: Node) -> bool:
    """Return whether a node is a map whose zero annihilates."""
    return node.kind == "map" and node.rule.annihilates


def is_weight(node: Node) -> bool:
    """Return whether a node is a number that switches off its product where it is 0."""
    return node.kind == "map" and node.rule.role == "weight"


def weight(node: Node) -> Node:
    """Return a node as a weight: where it is 0, a product that holds it is 0. A node known to be nonzero stays."""
    if node.range.nonzero or annihilates(node) or node.kind == "selector":
        return node
    return apply(default_rulebook().playing("weight"), [node])


def is_mask(node: Node) -> bool:
    """Return whether a node is an array that depends on no data, such as `1 - eye(n)`: its zeros leave entries out."""
    return node.structural and node.rank > 0 and node.kind != "selector"


def annihilates(node: Node) -> bool:
    """Return whether a zero of a node leaves an entry out: of a switch, a mask, or the matrix of a permutation."""
    return node.kind in ("map", "op") and node.rule.annihilates or is_mask(node)


def switches_of(node: Node) -> list[int]:
    """Return the positions of the switches and masks among the operands of a product."""
    return [k for k, arg in enumerate(node.args) if is_switch(arg) or is_mask(arg)]


def is_masked(node: Node) -> bool:
    """Return whether a product holds a mask or a weight: where that is 0, so is the product."""
    return node.kind == "product" and any(a.selects("mask") or is_mask(a) or is_weight(a) for a in node.args)


def with_masks(node: Node) -> Node:
    """Return a product that may meet an infinity, with the masks of its sums as operands.

    `(triu(A, 1) + tril(B, -1)) ./ D` is 0 on the diagonal, whatever D holds there.
    """
    infinite = [k for k, arg in enumerate(node.args) if not arg.finite] if node.kind == "product" else []
    if not infinite:
        return node
    present = {(arg, frozenset(at)) for arg, at in node.operands}
    found = []
    for position, (arg, at) in enumerate(node.operands):
        for mask, axes in masks_of(arg) if arg.kind == "sum" and infinite != [position] else ():
            placed = tuple(at[axis] for axis in axes)
            if (mask, frozenset(placed)) not in present:
                present.add((mask, frozenset(placed)))
                found.append((mask, placed))
    return simple_product(node.coef, [*node.operands, *found], node.out, node.sizes) if found else node


@cached_on_node
def masks_of(node: Node) -> tuple[Operand, ...]:
    """Return 0/1 arrays with their axes that are 0 where a sum is 0 for all data because of masks and diagonals.

    Parts that no term places, as the last rows of `[X; zeros(2, n)] + [Y; zeros(2, n)]`, are 0 as well.
    """
    found: list[Operand] = []
    masks = [] if node.structural else [_own_mask(term) for term in node.args]
    known = [mask for mask in masks if mask is not None]
    if known and len(known) == len(masks) and not _fill_an_axis(known):
        found.append((switch_of(add([(1, mask) for mask in known])), tuple(range(node.rank))))
    if node.structural and node.rank < 3:
        return ()
    if any(term.kind == "product" and len(set(term.out)) < term.rank for term in node.args):
        found += [(off_diagonal(node.shape[a]), (a, b)) for a, b in vanishing_pairs(node)]
    return tuple(found)


def off_diagonal(size: Size) -> Node:
    """Return the mask of the off-diagonal entries of a square matrix."""
    both = {0: size, 1: size}
    return add([(1, simple_product(1, [], (0, 1), both)), (-1, simple_product(1, [], (0, 0), both))])


def _own_mask(node: Node) -> Node | None:
    """Return the mask of a product by its own masks and the diagonals that it is placed on; None if it has neither.

    Of a tensor only the diagonals of axes that masks cover count: others would make it larger than necessary.
    """
    if node.kind != "product":
        return None
    out = set(node.out)
    placed = [(mask, tuple(at[k] for k in axes)) for arg, at in node.operands for mask, axes in _masks_of_operand(arg)]
    selecting = [(arg, at) for arg, at in node.operands if arg.kind == "selector" and not arg.selects("mask")]
    own: list[Operand] = []
    for group in linked([*placed, *selecting], lambda item: item[1], out):
        if len(group) == 1 and group[0] in placed:
            own += [item for item in group if set(item[1]) <= out]
        elif any(arg.kind == "selector" and at[0] in out for arg, at in group) and not all(map(_is_full, group)):
            axes = tuple(dict.fromkeys(i for _, at in group for i in at if i in out))
            own.append((simple_product(1, group, axes), axes))
    covered = {i for _, at in own for i in at} if node.rank > 2 else out
    kept = tuple(axis for axis, i in enumerate(node.out) if i in covered)
    if not own and (not kept or len(out) == node.rank):
        return None
    mask = simple_product(1, own, tuple(node.out[axis] for axis in kept), node.sizes)
    return simple_product(1, [(mask, kept)], tuple(range(node.rank)), dict(enumerate(node.shape)))


def _is_full(operand: Operand) -> bool:
    """Whether an operand is a selector that leaves no entry along its first axis 0."""
    return operand[0].kind == "selector" and operand[0].selector.kind in FULL


def _fill_an_axis(masks: Sequence[Node]) -> bool:
    """Whether masks are parts of one axis without a known gap, as those of `[x; zeros(n)] + [zeros(m); y]`."""
    parts = [mask.args[0].selector for mask in masks if len(mask.args) == 1 and mask.args[0].selects("slice")]
    if len(parts) < len(masks) or len({(mask.out, mask.indices) for mask in masks}) > 1:
        return False
    whole, spans = parts[0].shape[0], [part.span for part in parts]
    ends = {Size.of(0), *(offset + length for offset, length in spans)} - {whole}
    return not any(all(_is_beside(end, span) for span in spans) for end in ends)


def _is_beside(start: Size, span: Span) -> bool:
    """Whether an index is known to be before or behind a part of an axis."""
    offset, length = span
    return is_nonnegative(start - offset - length) or start != offset and is_nonnegative(offset - start)


def _masks_of_operand(node: Node) -> tuple[Operand, ...]:
    every = tuple(range(node.rank))
    if node.selects("mask"):
        return ((node, every),)
    if is_mask(node):
        return ((switch_of(node), every),)
    return masks_of(node) if node.kind == "sum" else ()


@cached_on_node
def vanishing_pairs(node: Node) -> tuple[tuple[int, int], ...]:
    """Return the pairs of axes on whose diagonal a sum is 0 for all data, as `x .- x'` is."""
    if node.kind != "sum":
        return ()
    pairs = ((a, b) for b in range(node.rank) for a in range(b) if node.shape[a] == node.shape[b])
    return tuple(pair for pair in pairs if _vanishes_on(node, *pair))


def _vanishes_on(node: Node, first: int, second: int) -> bool:
    """Return whether a sum is 0 where two of its axes are equal; 0/0 in a term, a weight of 0 beside a pole, is 0."""
    at = tuple(first if axis == second else axis for axis in range(node.rank))
    out = tuple(axis for axis in range(node.rank) if axis != second)
    terms = []
    for coef, term in node.terms:
        if _holds_vanishing(term, first, second):
            continue
        try:
            terms.append((coef, simple_product(1, [(term, at)], out)))
        except NotSupported:
            continue
    return not terms or add(terms).is_zero


def _holds_vanishing(term: Node, first: int, second: int) -> bool:
    """Return whether an operand of a product is a sum that is 0 where two axes of the product are equal."""
    if term.kind != "product":
        return False
    both = {term.out[first], term.out[second]}
    return len(both) == 2 and any({at[a], at[b]} == both for arg, at in term.operands for a, b in vanishing_pairs(arg))


def support(node: Node) -> Node:
    """Return a node that is 0 where `node` is switched off, and positive or NaN elsewhere.

    `node` must have the property `switches`.
    """
    found: dict[Node, Node] = {}
    stack = [node]
    while stack:
        top = stack[-1]
        inner = [arg for arg in _switching(top) if arg not in found]
        if inner:
            stack.extend(inner)
            continue
        found[stack.pop()] = _support(top, found)
    return found[node]


def _switching(node: Node) -> list[Node]:
    """Return the operands that the support of a node consists of: of a product its switches, if it has any."""
    if node.kind == "sum":
        return list(node.args)
    if node.kind != "product":
        return []
    return [arg for arg in node.args if is_switch(arg)] or [arg for arg in node.args if arg.switches]


def _support(node: Node, found: dict[Node, Node]) -> Node:
    if node.kind == "sum":
        parts = {arg: _placed(found[arg]) for arg in node.args}
        return add([(1, found[arg]) for arg in node.args if not any(other < parts[arg] for other in parts.values())])
    if node.kind != "product":
        return switch_of(node) if is_weight(node) else node  # weights of both signs could cancel
    switching = set(_switching(node))
    operands = [(found[a], at) for a, at in node.operands if a in switching]
    masks = [(a, at) for a, at in node.operands if a.kind == "selector"]
    return simple_product(1, [*operands, *masks], node.out, {i: node.index_sizes[i] for i in node.out})


def _placed(support: Node) -> frozenset[tuple[Node, tuple[int, ...]]]:
    """Return the operands of a support with their axes; where all of them are positive, so is a part of them."""
    every = tuple(range(support.rank))
    if support.kind != "product" or support.out != every:
        return frozenset({(support, every)})
    return frozenset(support.operands)


def switched(node: Node) -> Node:
    """Return a factor that switches products off where it is switched off: itself, or with a switch as an operand.

    A summed scalar stays one operand of a product, so its switches do not reach the others.
    """
    if not node.switches or is_switch(node):
        return node
    if node.kind == "product" and not is_closed_scalar(node) and switches_of(node):
        return node
    axes = tuple(range(node.rank))
    return simple_product(1, [(switch_of(support(node)), axes), (node, axes)], axes)


def switch_of(node: Node) -> Node:
    """Return the switch that is 0 where `node` is 0, else 1."""
    axes = tuple(range(node.rank))
    zero = simple_product(0, [], axes, dict(enumerate(node.shape)))
    return apply(default_rulebook().playing("unequal"), [node, zero])
