"""Distributes products over sums where that shortens: terms vanish, merge or get simpler.

`sum(x - sum(x)/n)` is `sum(x) - sum(x)`, and `A*(x + y) - A*y` is `A*x`. But `inv(A)*(A + B)` remains, since
`eye(n) + inv(A)*B` is no shorter. Only results with fewer tokens count. Squares of sums are not multiplied out into
more terms, or into terms that cancel (`x'*x - sum(x)^2/n` is short and loses all digits). So the result is never
larger, and never worse to compute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from fractions import Fraction
from math import prod

from matcalc.tensor.constructors import add, product, scale, zeros
from matcalc.tensor.nodes.node import Node, cached_on_node, exponent_of
from matcalc.tensor.sums import split_coef, summands
from matcalc.tensor.switches import is_mask

MOST_TERMS = 12
"""A sum with more terms is never tried."""

Term = tuple[Fraction, Node]


def distributed(node: Node, settle: Callable[[Node], Node]) -> Node | None:
    """Return an equal node with fewer tokens, with products of sums multiplied out; None if there is none.

    `settle` applies the rewrites to a node as a whole.
    """
    if node.kind == "sum":
        return _from_sum(node, settle)
    if node.kind == "product":
        return _from_product(node, settle)
    return None


def _from_product(node: Node, settle: Callable[[Node], Node]) -> Node | None:
    positions = _open_positions(node)
    is_summed = _is_summed(node)
    if not positions or len(node.args) == 1 and not is_summed:
        return None
    may_vanish = is_summed and any(map(_part_vanishes, _summed_alone(node)))
    if not may_vanish and not _may_cancel(node) and not _may_merge(_signatures(node, positions)):
        return None
    terms = _multiplied_out(node, positions, settle)
    if terms is None:
        return None
    made = _added(terms, node)
    if len(positions) > 1 and _terms_inside(made) > 1:
        return None
    return made if made.length < node.length else None


def _open_positions(node: Node) -> list[int]:
    """Return the positions of operands that are sums, except masks that exclude an infinity."""
    is_finite = all(arg.finite for arg in node.args)
    return [k for k, arg in enumerate(node.args) if len(_inside(arg)) > 1 and (is_finite or not is_mask(arg))]


def _may_cancel(node: Node) -> bool:
    """Whether an operation may meet its inverse in a term, or an operand a divisor in a sum."""
    terms = [n for position in _open_positions(node) for _, n in _inside(node.args[position])]
    if any(arg.kind == "op" for arg in node.args) or any(map(_has_operation, terms)):
        return True
    factors = [exponent_of(a) for n in terms for a in (n.args if n.kind == "product" else (n,))]
    divisors = {base for base, exponent in factors if exponent < 0}
    return any(exponent_of(arg)[0] in divisors for arg in node.args)


def _has_operation(node: Node) -> bool:
    return node.kind == "product" and any(arg.kind == "op" for arg in node.args)


Signature = tuple[bytes, ...]


def _signatures(node: Node, positions: Sequence[int]) -> list[Signature]:
    """Return the operands of each term that a product would have, without building the terms."""
    rest = [part for k, arg in enumerate(node.args) if k not in positions for part in _parts(arg)]
    found: list[list[bytes]] = [rest]
    for position in positions:
        inner = _inside(node.args[position])
        if len(found) * len(inner) > MOST_TERMS:
            return []
        found = [[*parts, *_parts(n)] for parts in found for _, n in inner]
    return [tuple(sorted(parts)) for parts in found]


def _parts(node: Node) -> list[bytes]:
    """Return the operands of a product without numbers and sizes."""
    found: list[bytes] = []
    pending = [node]
    while pending:
        part = pending.pop()
        if part.kind == "product":
            pending.extend(part.args)
        elif part.kind in ("size", "number") or (part.kind == "map" and part.args[0].kind == "size"):
            continue
        elif part.kind == "map" and len(part.args) == 1:  # f(-x) may simplify to f(x)
            found.append(part.rule.name.encode() + split_coef(part.args[0])[1].digest)
        else:
            found.append(part.digest)
    return found


def _may_merge(signatures: Sequence[Signature]) -> bool:
    return len(set(signatures)) < len(signatures)


def _vanishes(node: Node) -> bool:
    """Whether a product sums an operand that is 0 when summed, `x - mean(x)`, over an index of that operand alone."""
    if node.kind != "product":
        return False
    return any(axis in centred_axes(arg) for arg, axis in _summed_alone(node)) or any(map(_vanishes, node.args))


def _part_vanishes(summed: tuple[Node, int]) -> bool:
    arg, axis = summed
    return arg.kind == "sum" and any(_vanishes(summed_over(term, axis)) for term in arg.args)


def _summed_alone(node: Node) -> list[tuple[Node, int]]:
    """Return the operands with a summed index that no other operand has, each with its axis."""
    held = Counter(i for at in node.indices for i in at)
    held.update(node.out)
    return [(arg, axis) for arg, at in node.operands for axis, i in enumerate(at) if held[i] == 1]


@cached_on_node
def centred_axes(node: Node) -> frozenset[int]:
    """Return the axes along which a sum of terms is 0 when summed."""
    if node.kind != "sum":
        return frozenset()
    return frozenset(axis for axis in range(node.rank) if _is_centred(node, axis))


def _is_centred(node: Node, axis: int) -> bool:
    parts = [(coef, summed_over(term, axis)) for coef, term in node.terms]
    return add([(coef, zeros(part.shape) if _vanishes(part) else part) for coef, part in parts]).is_zero


def summed_over(node: Node, axis: int) -> Node:
    """Return a tensor summed along an axis."""
    axes = tuple(range(node.rank))
    return product(1, [(node, axes)], tuple(a for a in axes if a != axis), dict(enumerate(node.shape)))


def _is_summed(node: Node) -> bool:
    return len(set(node.out)) < len(node.index_sizes)


def _from_sum(node: Node, settle: Callable[[Node], Node]) -> Node | None:
    """Multiply out all terms that are products of sums, or one of them."""
    openable = {
        k: positions for k, arg in enumerate(node.args) if arg.kind == "product" and (positions := _open_positions(arg))
    }
    if not openable:
        return None
    signatures = [tuple(sorted(_parts(arg))) for k, arg in enumerate(node.args) if k not in openable]
    signatures += [s for k, positions in openable.items() for s in _signatures(node.args[k], positions)]
    if not _may_merge(signatures):
        return None
    opened: dict[int, list[Term]] = {}
    several = {k for k, positions in openable.items() if len(positions) > 1}  # such as squares
    for k, positions in openable.items():
        coef, arg = node.coefs[k], node.args[k]
        terms = _multiplied_out(arg, positions, settle)
        if terms is not None:
            opened[k] = [(coef * c, n) for c, n in terms]
    trials = dict.fromkeys([tuple(opened), tuple(k for k in opened if k not in several), *((k,) for k in opened)])
    best: Node | None = None
    for chosen in filter(None, trials):
        terms = []
        for k, (coef, arg) in enumerate(node.terms):
            terms += opened[k] if k in chosen else [(coef, arg)]
        content, rest = split_coef(_added(terms, node))
        made = scale(content, settle(rest))
        is_less = _terms_inside(made) <= len(node.args) and made.length < (best or node).length
        if is_less and _keeps_digits(made, node, several.intersection(chosen), opened):
            best = made
    return best


def _keeps_digits(made: Node, node: Node, several: Set[int], opened: Mapping[int, Sequence[Term]]) -> bool:
    """Whether multiplying out products of several sums introduces no cancellation.

    `(2 - 3*b)^2 + (1 - 2*b)^2` is exact where it is almost 0, `13*b^2 - 16*b + 5` is not. Terms of one sign do not
    cancel. If one product is multiplied out, the terms that it meets must vanish, as in `(a - b)^2 - a^2`.
    """
    terms = _flat(made)
    signs = {coef > 0 if term.range.nonnegative else None for coef, term in terms}
    if not several or len(terms) < 2 or (len(signs) == 1 and None not in signs):
        return True
    others = [n for k, arg in enumerate(node.args) if k not in several for _, n in opened.get(k, [(1, arg)])]
    met = {split_coef(n)[1] for k in several for _, n in opened[k]}.intersection(split_coef(n)[1] for n in others)
    return len(several) == 1 and met.isdisjoint(split_coef(term)[1] for _, term in terms)


def _flat(node: Node) -> list[Term]:
    """Return the terms of a sum, with the terms of sums inside it."""
    found: list[Term] = []
    for coef, term in summands(node):
        content, rest = split_coef(term)
        inner = _flat(rest) if len(summands(rest)) > 1 else [(Fraction(1), rest)]
        found += [(coef * content * c, n) for c, n in inner]
    return found


def _multiplied_out(node: Node, positions: Sequence[int], settle: Callable[[Node], Node]) -> list[Term] | None:
    """Return the terms of a product distributed over its operands at `positions`; None if they are too many."""
    choices = [_inside(node.args[k]) for k in positions]
    if prod(map(len, choices)) > MOST_TERMS:
        return None
    sizes = node.sizes
    made: list[tuple[Fraction, list[Node]]] = [(node.coef, list(node.args))]
    for position, inner in zip(positions, choices, strict=True):
        made = [(c * k, [*args[:position], n, *args[position + 1 :]]) for c, args in made for k, n in inner]
    terms = [product(coef, list(zip(args, node.indices, strict=True)), node.out, sizes) for coef, args in made]
    return [(Fraction(1), zeros(n.shape) if _vanishes(n) else settle(n)) for n in terms]


def _inside(node: Node) -> list[Term]:
    """Return the terms of a sum, or of a scalar such as `sum(x + y)` that sums over one; else the operand itself."""
    if node.kind != "product" or node.shape or not node.index_sizes:
        return summands(node)
    positions = [k for k, arg in enumerate(node.args) if len(summands(arg)) > 1]
    terms = _multiplied_out(node, positions, lambda n: n) if len(positions) == 1 else None
    return terms or [(Fraction(1), node)]


def _added(terms: Sequence[Term], like: Node) -> Node:
    return add([*terms, (Fraction(0), like)])


def _terms_inside(node: Node) -> int:
    """Return the number of terms of a node; a sum re-indexed or scaled as a whole counts with its terms."""
    return sum(_terms_of(term) for _, term in _flat(node))


def _terms_of(node: Node) -> int:
    counts = [len(summands(arg)) for arg in node.args if node.kind == "product"]
    sums = [count for count in counts if count > 1]
    return 0 if node.is_zero else sums[0] if len(sums) == 1 else 1
