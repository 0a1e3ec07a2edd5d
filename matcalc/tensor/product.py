"""Makes canonical products: a network of operands and indices becomes its one node.

Steps: flatten within the bound; apply selector identities; replace unmeasured indices by their sizes; split closed
components off as scalar nodes; collect powers of equal operands; order by canonical labels. Transpose, trace,
diagonal, matrix, Hadamard, outer and Kronecker products all end here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache, wraps
from math import prod
from typing import Protocol

from matcalc.errors import NotSupported, RuleError
from matcalc.rulebook.notations import sum_of_squares
from matcalc.tensor.network import Network, flatten, is_closed_scalar, next_inlined
from matcalc.tensor.nodes.canonical_labels import Factor, components, order_operands
from matcalc.tensor.nodes.grouping import MOST, runs_of
from matcalc.tensor.nodes.labelling import SYMMETRIC_OR_SKEW, described, labelled
from matcalc.tensor.nodes.node import Indices, Node, Operand, Shape, exponent_of
from matcalc.tensor.raw_nodes import is_long, merged_exponents, number, power_node, product_node
from matcalc.tensor.reindex import reduce_selectors
from matcalc.tensor.size_factors import multiplied_sizes, size_factors
from matcalc.tensor.sizes.size import Size

REMEMBERED = 1024  # cached products of each constructor: the last 256 alone serve four of five calls in a derivation


class Constructor(Protocol):
    """Makes a product of a coefficient, operands, output indices and the lengths that no operand measures."""

    def __call__(
        self,
        coef: Fraction | int,
        operands: Sequence[Operand],
        out: Indices,
        sizes: Mapping[int, Size] | None = None,
    ) -> Node: ...


def remembered(build: Callable[[Fraction | int, Sequence[Operand], Indices, Mapping[int, Size]], Node]) -> Constructor:
    """Return a constructor that caches its last products."""

    @lru_cache(maxsize=REMEMBERED)
    def made(
        coef: Fraction | int, operands: tuple[Operand, ...], out: Indices, lengths: tuple[Size | None, ...]
    ) -> Node:
        sizes = {index: size for index, size in zip(out, lengths, strict=True) if size is not None}
        return build(coef, operands, out, sizes)

    @wraps(build)
    def construct(
        coef: Fraction | int, operands: Sequence[Operand], out: Indices, sizes: Mapping[int, Size] | None = None
    ) -> Node:
        if coef.denominator == 1:
            coef = coef.numerator  # an integer is hashed faster
        return made(coef, tuple(operands), out, tuple(map((sizes or {}).get, out)))

    return construct


def gather(coef: Fraction | int, operands: Sequence[Operand], out: Indices, sizes: Mapping[int, Size]) -> Network:
    """Return the flattened network of a product, selectors reduced; its coefficient is 0 if it vanishes.

    The coefficient of a product too long to be dissolved is extracted; its axes are in canonical order. So `(-X)*Y` is
    `-(X*Y)` and `Y*X'` is `(X*Y')'` at any length.
    """
    network = Network(Fraction(coef), operands, out, sizes)
    while network.coef:
        flatten(network)
        if any(_stripped(network, position) for position in range(len(network.operands))):
            continue
        before = list(network.operands)
        reduce_selectors(network)
        if any(node.is_zero for node, _ in network.operands):
            network.coef = Fraction(0)
        if network.operands == before:
            break
    network.operands = [oriented(node, indices) for node, indices in network.operands]
    _count(network)
    if not network.coef and any(_is_pole(node) for node, _ in operands):
        raise NotSupported("0/0, which is not a number")
    return network


def _count(network: Network) -> None:
    """Multiply by the length of each summed index that no operand measures any more, and drop it."""
    lost = unmeasured(network.sizes, network.operands, network.out)
    factor, atoms = lengths_of(lost, network.sizes)
    network.coef *= factor
    network.operands += atoms
    for index in lost:
        del network.sizes[index]


def unmeasured(indices: Iterable[int], operands: Sequence[Operand], out: Indices) -> list[int]:
    """Return the summed indices that no operand has; each contributes its length as a factor."""
    measured = {i for _, at in operands for i in at}.union(out)
    return [index for index in indices if index not in measured]


def lengths_of(lost: Sequence[int], sizes: Mapping[int, Size]) -> tuple[Fraction, list[Operand]]:
    """Return the product of the lengths of unmeasured indices: a number, and sizes as operands."""
    found = [size_factors(sizes[index]) for index in lost]
    return prod([c for c, _ in found], start=Fraction(1)), [(atom, ()) for _, atoms in found for atom in atoms]


def _stripped(network: Network, position: int) -> bool:
    """Remove the coefficient and repeated axes of an operand that is a product; return whether something changed."""
    node, indices = network.operands[position]
    if node.kind != "product":
        return False
    measured = {i for at in node.indices for i in at}
    first = {index: axis for axis, index in reversed(list(enumerate(node.out)))}
    axes = {index: axis for index, axis in first.items() if index in measured}
    if node.coef == 1 and len(axes) == node.rank and len(set(indices)) == node.rank:
        return False
    for axis, index in enumerate(node.out):  # also of unmeasured indices: `s^12*eye(n)` keeps its diagonal
        now = network.operands[position][1]
        network.unify(*sorted((now[axis], now[first[index]])))
    now = network.operands[position][1]
    own = tuple(now[axis] for axis in axes.values())
    network.coef *= node.coef
    bare = _intern(Fraction(1), node.operands, tuple(axes), node.sizes)
    once = tuple(dict.fromkeys(own))
    network.operands[position] = (simple_product(1, [(bare, own)], once) if len(once) < len(own) else bare, once)
    return True


def oriented(node: Node, indices: Indices) -> Operand:
    """Return a product as an operand of another: of a matrix and its transpose the one with fewer transposed leaves."""
    if node.kind != "product" or node.rank < 2 or len(node.args) < 2 or node.facts & SYMMETRIC_OR_SKEW:
        return node, indices
    if node.rank > 2:
        return _with_axes_ordered(node, indices)
    mirrored = transposed(node)
    chosen = min(node, mirrored, key=lambda n: (n.tilt[0], n.digest))
    return (node, indices) if chosen is node else (mirrored, indices[::-1])


def _with_axes_ordered(node: Node, indices: Indices) -> Operand:
    """Return a tensor with its axes in the order of the labels that they have when none is fixed."""
    marked = [Factor(b"axis", (index,), 1, -1) for index in node.out]
    _, labels, _ = order_operands([*described(node.operands), *marked], {})
    order = sorted(range(node.rank), key=lambda axis: labels[node.out[axis]])
    out = tuple(node.out[axis] for axis in order)
    made = _intern(node.coef, node.operands, out, node.sizes)
    return made, tuple(indices[axis] for axis in order)


def without_coef(node: Node) -> Node:
    """Return a nonzero product without its coefficient."""
    return with_coef(Fraction(1), node) if node.kind == "product" else node


def with_coef(coef: Fraction, node: Node) -> Node:
    """Return a product with another coefficient, both nonzero; the rest of its normal form stays."""
    if node.coef == coef:
        return node
    if coef == 1 and len(node.args) == 1 and node.indices[0] == node.out == tuple(range(node.rank)):
        return node.args[0]
    return product_node(coef, node.args, node.indices, node.out, node.index_sizes)


def _is_pole(node: Node) -> bool:
    """Return whether an operand is a reciprocal of the number 0, repeated or not."""
    parts = node.args if node.kind == "product" else (node,)
    return any(exponent < 0 and base.is_zero for base, exponent in map(exponent_of, parts))


def finish(network: Network) -> Node:
    """Return the node of a gathered network."""
    shape = tuple(network.sizes[i] for i in network.out)
    if not network.coef or any(size == 0 for size in network.sizes.values()):
        return zeros(shape)
    coef, operands = network.coef, list(network.operands)
    factor, operands = _close(operands, network.out, network.sizes)
    coef *= factor
    collected, is_less = _cancelled(operands, network.out, network.sizes)
    if is_less or next_inlined(collected, network.out) is not None:
        return finish(gather(coef, collected, network.out, network.sizes))
    factor, operands = multiplied_sizes(collected)
    coef *= factor
    factor, operands = _grouped(operands, network.out, network.sizes)
    return _intern(coef * factor, operands, network.out, network.sizes)


def _cancelled(operands: list[Operand], out: Indices, sizes: Mapping[int, Size]) -> tuple[list[Operand], bool]:
    """Return operands with their powers collected, and whether all operands at some indices cancelled.

    The rest may then fall apart, as `x'*(M.*(1./M))*y` into the sum of x and that of y. Summed indices that are lost
    leave their lengths: `x'*(1./x)` is n.
    """
    collected = collect_powers(operands)
    before, after = ({frozenset(at) for _, at in terms} for terms in (operands, collected))
    if before == after:
        return collected, False
    lost = unmeasured(dict.fromkeys(i for _, at in operands for i in at), collected, out)
    factor, lengths = lengths_of(lost, sizes)
    return [(number(factor), ()), *collected, *lengths], True


@remembered
def simple_product(coef: Fraction | int, operands: Sequence[Operand], out: Indices, sizes: Mapping[int, Size]) -> Node:
    """Return the canonical product, without distribution over block sums."""
    return finish(gather(coef, operands, out, sizes))


def zeros(shape: Shape) -> Node:
    """Return the zero tensor of this shape."""
    if not shape:
        return number(0)
    out = tuple(range(len(shape)))
    return product_node(Fraction(0), (), (), out, shape)


def size_number(size: Size) -> Node:
    """Return a size as a number: its content times its factors."""
    coef, atoms = size_factors(size)
    return simple_product(coef, [(atom, ()) for atom in atoms], ())


def _close(operands: list[Operand], out: Indices, sizes: Mapping[int, Size]) -> tuple[Fraction, list[Operand]]:
    """Turn each closed component with indices into a scalar operand, unless it is the whole product."""
    outer = set(out)
    parts = parts_of(operands, out)
    if len(parts) <= 1 and not out:
        return Fraction(1), operands
    result: list[Operand] = []
    coef = Fraction(1)
    for terms in parts:
        if not any(indices for _, indices in terms) or any(i in outer for _, t in terms for i in t):
            result += terms
            continue
        collected, is_less = _cancelled(terms, (), sizes)
        has_room = len(terms) > MOST or any(_is_run(node) for node, _ in terms)  # alone it may dissolve its runs
        if has_room or is_less or next_inlined(collected, ()) is not None:
            closed = simple_product(1, terms, (), sizes)
        else:
            closed = _intern(Fraction(1), collected, (), sizes)
        if closed.kind == "number":
            coef *= closed.value
        elif closed.kind == "product" and not is_closed_scalar(closed):
            coef *= closed.coef
            result += [(arg, ()) for arg in closed.args]
        elif closed.kind == "product" and closed.coef != 1:  # the sign of skew operands
            coef *= closed.coef
            result.append((without_coef(closed), ()))
        else:
            result.append((closed, ()))
    return coef, result


def parts_of(operands: Sequence[Operand], out: Indices) -> list[list[Operand]]:
    """Return operands in groups that share no summed index."""
    fixed = {index: label for label, index in enumerate(dict.fromkeys(out))}
    return [[operands[o.place] for o in part] for part in components(described(operands), fixed)]


def _is_run(node: Node) -> bool:
    """Return whether an operand is a product that its whole had no room to dissolve."""
    return node.kind == "product" and bool(node.shape)


def _dissolves(node: Node) -> bool:
    return node.kind == "number" or (node.kind == "product" and not node.shape and not is_closed_scalar(node))


def collect_powers(operands: list[Operand]) -> list[Operand]:
    """Merge powers of one operand at the same indices; opposite signs only if the operand is known to be nonzero.

    Even powers of a norm, whose square its rule declares, become powers of the sum of squares.
    """
    if len(operands) <= MOST and not any(exponent_of(node)[1] != 1 or has_square(node) for node, _ in operands):
        return operands
    groups: dict[Operand, list[Fraction]] = {}
    for node, indices in operands:
        base, exponent = exponent_of(node)
        at = tuple(sorted(indices)) if len(indices) == 2 and "symmetric" in base.facts else indices
        groups.setdefault((base, at), []).append(exponent)
    result: list[Operand] = []
    for (base, at), exponents in groups.items():
        for exponent in merged_exponents(base, exponents):
            if has_square(base, exponent):
                result += _as_operands(square_of(base), exponent / 2, at)
            else:
                result += _as_operands(base, exponent, at)
    return result


def _as_operands(base: Node, exponent: Fraction, at: Indices) -> list[Operand]:
    """Return a power as operands: small whole powers repeat the base, those of scalar products go to their factors."""
    if exponent.denominator == 1 and 0 <= exponent <= MOST:
        return [(base, at)] * int(exponent)
    dissolves = exponent.denominator == 1 and _dissolves(base) and not is_long(base.coef, exponent)
    if dissolves and (exponent > 0 or not base.is_zero):
        inner = [exponent_of(arg) for arg in base.args]
        powers = [(b, q * exponent) if q.denominator == 1 else (power_node(b, q), exponent) for b, q in inner]
        return [(number(base.coef ** int(exponent)), ()), *(term for b, q in powers for term in _as_operands(b, q, ()))]
    if exponent < 0 and base.kind == "number" and base.is_zero:
        exponent = Fraction(-1)  # every negative power of 0 is 1/0
    return [(power_node(base, exponent), at)]


def has_square(node: Node, exponent: Fraction | int = 2) -> bool:
    """Return whether an even power of this operation is a power of the square that the rulebook defines for it.

    A condition is its own square. Its negative powers stay, since limits tell them apart: with w = [x > y],
    `expm1(w)^2/w^2` is 1 where w is 0, and `expm1(w)^2/w` is 0 there.
    """
    if node.kind not in ("map", "op") or node.rule.square is None or not exponent or exponent % 2:
        return False
    return exponent > 0 or node.rule.square != _itself(node)


def _itself(node: Node) -> str:
    return f"{node.rule.name}({', '.join(node.rule.operands)})"


def square_of(node: Node) -> Node:
    """Return the square of an operation by its rule: the sum of squares, "x.^2", or itself."""
    text, argument = node.rule.square, node.args[0]
    axes = tuple(range(len(argument.shape)))
    if text == sum_of_squares():
        core = len(argument.shape) - len(node.batches[0])
        at = (*node.batches[0], *range(node.batch_rank, node.batch_rank + core))
        return simple_product(1, [(argument, at), (argument, at)], tuple(range(node.batch_rank)))
    if text == "x.^2":
        return simple_product(1, [(argument, axes), (argument, axes)], axes)
    if text == _itself(node):
        return node
    raise RuleError(f"{node.rule.address}: [{node.rule.name}] square is one of sum(x.^2), x.^2, {_itself(node)}")


def _grouped(operands: list[Operand], out: Indices, sizes: Mapping[int, Size]) -> tuple[Fraction, list[Operand]]:
    """Cut a product into wholes and groups; return a coefficient and at most MOST operands."""
    coef = Fraction(1)
    while len(operands) > MOST:
        total = Counter(i for _, indices in operands for i in indices)
        total.update(out)
        found: list[Operand] = []
        for positions in runs_of(described(operands), out, [node.length for node, _ in operands]):
            run = [operands[position] for position in positions]
            if len(run) == 1:
                found += run
                continue
            own = Counter(i for _, indices in run for i in indices)
            outer = tuple(i for i, count in own.items() if total[i] > count)
            made = simple_product(1, run, outer, sizes)
            coef *= made.coef if made.kind == "product" else 1
            found.append(oriented(without_coef(made), outer))
        operands = found
    return coef, operands


def _intern(coef: Fraction, operands: Sequence[Operand], out: Indices, sizes: Mapping[int, Size]) -> Node:
    """Order operands canonically and intern; a lone operand with its axes in order is returned itself."""
    if not operands and not out:
        return number(coef)
    fixed = {index: label for label, index in enumerate(dict.fromkeys(out))}
    found = labelled(operands, fixed)
    if found is None:
        return zeros(tuple(sizes[i] for i in out))
    args, shown, sign, labels = found
    shown_out = tuple(labels[i] for i in out)
    coef *= sign
    if not coef:
        return zeros(tuple(sizes[i] for i in out))
    if coef == 1 and len(args) == 1 and shown[0] == shown_out == tuple(range(len(shown_out))):
        return args[0]
    measured = {labels[index]: size for index, size in sizes.items() if index in labels}
    ordered = [measured[label] for label in range(len(measured))]
    return product_node(coef, args, shown, shown_out, ordered)


def transposed(node: Node) -> Node:
    """Return the matrix with its two axes exchanged."""
    return simple_product(1, [(node, (0, 1))], (1, 0))
