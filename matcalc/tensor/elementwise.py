"""Makes canonical maps and powers: elementwise functions of operands of equal shape.

Axes along which every operand is broadcast are removed, and matrices are oriented. The sign of the argument of an odd
or even function is extracted, and powers of products become products of powers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import floor, lcm
from operator import floordiv, mod
from typing import TYPE_CHECKING, Any

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.axes import inverse, least_order, with_axes
from matcalc.tensor.nodes.grouping import MOST
from matcalc.tensor.nodes.node import Indices, Node, Operand, exponent_of, tilt_of
from matcalc.tensor.product import has_square, parts_of, simple_product, square_of, transposed
from matcalc.tensor.raw_nodes import is_long, map_node, number, power_node
from matcalc.tensor.sums import scale, split_coef, transposed_rank

if TYPE_CHECKING:
    from matcalc.rulebook.rule import Rule


WHOLE: Mapping[str, Callable[..., Fraction | int]] = {
    "rounded_down": floor,
    "whole_quotient": floordiv,
    "remainder": mod,
}
"""The operations on whole numbers, of rational numbers, by their roles."""


def apply(rule: Rule, args: Sequence[Node], params: tuple[Any, ...] = ()) -> Node:
    """Return the map of `rule` on operands of one shape."""
    if rule.role == "fixed_power":
        return power(args[0], params[0])
    if rule.role == "free_power" and (exponent := _constant(args[1])) is not None:
        return power(args[0], exponent)
    if rule.role == "weight" and (content := split_coef(args[0])[0]) not in (0, 1):
        return scale(content, apply(rule, [scale(1 / content, args[0])]))
    if rule.role is not None and rule.role in WHOLE and (found := _whole_number(rule.role, args)) is not None:
        return found
    if rule.role == "rounded_down" and (divisor := _divisor(args[0])) > 1:
        return _rounded_quotient(args[0], divisor)
    varying = _varying_axes(args)
    if len(varying) < len(args[0].shape):
        return _broadcast_back(apply(rule, [_reduced(a, varying) for a in args], params), varying, args[0])
    if rule.parity and len(args) == 1:
        coef, rest = split_coef(args[0])
        if coef < 0:
            inner = apply(rule, [scale(-coef, rest)], params)
            return scale(-1, inner) if rule.parity == "odd" else inner
    order = _order(args, rule.commutes)
    return with_axes(map_node(rule, params, _reordered(args, order, rule.commutes)), inverse(order))


def _whole_number(role: str, args: Sequence[Node]) -> Node | None:
    """Return the value of rational numbers; None for other operands, and for the divisor 0."""
    values = [arg.value for arg in args if arg.kind == "number" and isinstance(arg.value, Fraction)]
    if len(values) < len(args) or (len(values) > 1 and not values[1]):
        return None
    return number(Fraction(WHOLE[role](*values)))


def _divisor(node: Node) -> int:
    """Return the least integer k for which k*node has integer coefficients."""
    coefs = node.coefs if node.kind == "sum" else (split_coef(node)[0],)
    return lcm(*(c.denominator for c in coefs if isinstance(c, Fraction)))


def _rounded_quotient(node: Node, divisor: int) -> Node:
    """Return x/k rounded down, of x and k: x/k itself is rounded to a double, which may be below an integer."""
    indices, sizes = tuple(range(node.rank)), dict(enumerate(node.shape))
    below = simple_product(divisor, [], indices, sizes)
    return apply(default_rulebook().playing("whole_quotient"), [scale(Fraction(divisor), node), below])


def _constant(node: Node) -> Fraction | None:
    """Return the number that all entries of a node are, None if they are not one number."""
    if node.kind == "number":
        return Fraction(node.value)
    is_constant = node.kind == "product" and not node.args and len(set(node.out)) == len(node.out)
    return Fraction(node.coef) if is_constant else None


def power(base: Node, exponent: Fraction) -> Node:
    """Return base.^exponent for a rational exponent, elementwise."""
    if exponent == 1:
        return base
    indices = tuple(range(len(base.shape)))
    sizes = dict(enumerate(base.shape))
    if exponent == 0:
        return simple_product(1, [], indices, sizes)
    if exponent < 0 and base.kind == "number" and base.is_zero:
        exponent = Fraction(-1)  # every negative power of 0 is 1/0
    if exponent.denominator == 1 and 1 < exponent <= MOST:
        return simple_product(1, [(base, indices)] * int(exponent), indices, sizes)
    varying = _varying_axes([base])
    if len(varying) < len(base.shape):
        return _broadcast_back(power(_reduced(base, varying), exponent), varying, base)
    coef, rest = split_coef(base)
    if coef != 1 and base.kind != "number":
        exact = _exact_power(coef, exponent)
        if exact is not None:
            return scale(exact, power(rest, exponent))
    factored = _power_of_factors(base, exponent)
    if factored is not None:
        return factored
    if has_square(base, exponent):
        return power(square_of(base), exponent / 2)
    inner, before = exponent_of(base)
    if before != 1 and _is_one_power(inner, before, exponent):
        return power(inner, before * exponent)
    if base.kind == "number":
        exact = _exact_power(base.value, exponent)
        return number(exact) if exact is not None else power_node(base, exponent)
    order = _order([base], False)
    return with_axes(power_node(with_axes(base, order), exponent), inverse(order))


def _is_one_power(base: Node, before: Fraction, exponent: Fraction) -> bool:
    """Return whether (base.^before).^exponent is one power of the base, also where this is negative or 0."""
    if base.range.positive or (base.range.nonnegative and before < 0 < exponent):
        return True
    roots = before.denominator != 1 and (before * exponent).denominator != 1
    return roots or before.denominator == exponent.denominator == 1


def _power_of_factors(base: Node, exponent: Fraction) -> Node | None:
    """Return (c*x.*y).^p as c^p * x.^p .* y.^p, where the domain allows it; operands linked by a sum stay together."""
    if base.kind != "product" or not base.coef:
        return None
    axes = tuple(range(len(base.shape)))
    if base.out != axes or base.coef != 1 or base.switches:
        return None
    free: list[Operand] = []
    bound: list[Operand] = []
    operands: list[Operand] = []
    for part in parts_of(base.operands, base.out):
        own = tuple(sorted({i for _, at in part for i in at if i in base.out}))
        is_plain = len(part) == 1 and len(part[0][1]) == len(own)  # off the diagonal a negative power is infinite
        operands.append(part[0] if is_plain else (simple_product(1, part, own), own))
    if operands == [(base, axes)]:
        return None
    for arg, at in operands:
        (free if exponent.denominator == 1 or arg.range.positive else bound).append((arg, at))
    if len(operands) > 1 and all(arg.range.nonnegative for arg, _ in bound):
        free, bound = free + bound, []
    if not free:
        return None
    sizes = dict(enumerate(base.shape))
    powers = [(power(arg, exponent), at) for arg, at in free]
    if bound:
        powers.append((power(simple_product(1, bound, axes, sizes), exponent), axes))
    return simple_product(1, powers, axes, sizes)


def _exact_power(value: Fraction, exponent: Fraction) -> Fraction | None:
    """Return value**exponent if it is rational, defined and not too long to write out."""
    if is_long(value, exponent):
        return None
    if exponent.denominator == 1:
        return None if value == 0 and exponent < 0 else Fraction(value) ** int(exponent)
    if value < 0:
        return None
    root = exact_root(value, exponent.denominator)
    if root is None or (root == 0 and exponent < 0):
        return None
    return root ** int(exponent.numerator)


def exact_root(value: Fraction, degree: int) -> Fraction | None:
    parts = []
    for part in (value.numerator, value.denominator):
        guess = round(part ** (1.0 / degree)) if part < 2**1000 else -1
        if guess < 0 or guess**degree != part:
            return None
        parts.append(guess)
    return Fraction(parts[0], parts[1])


def _varying_axes(args: Sequence[Node]) -> list[int]:
    """Return the axes along which some operand varies."""
    rank = len(args[0].shape)
    varies: set[int] = set()
    for arg in args:
        if arg.kind != "product":
            return list(range(rank))
        measured = {i for at in arg.indices for i in at}
        varies.update(axis for axis, i in enumerate(arg.out) if i in measured or arg.out.count(i) > 1)
    return sorted(varies)


def _reduced(node: Node, varying: Sequence[int]) -> Node:
    """Return a node without the axes along which it is broadcast."""
    return simple_product(node.coef, node.operands, tuple(node.out[axis] for axis in varying), node.sizes)


def _broadcast_back(node: Node, varying: Sequence[int], like: Node) -> Node:
    out = tuple(range(len(like.shape)))
    return simple_product(1, [(node, tuple(varying))], out, dict(enumerate(like.shape)))


def _order(args: Sequence[Node], commutes: bool) -> Indices:
    """Return the axis order of a map's operands; of matrices the order with fewer transposed leaves."""
    rank = args[0].rank
    if rank > 2:
        return least_order(
            args, lambda order: _reordered(args, order, commutes), lambda found: [a.digest for a in found]
        )
    return (1, 0) if rank == 2 and _leans(_reordered(args, (0, 1), commutes)) else tuple(range(rank))


def _reordered(args: Sequence[Node], order: Indices, commutes: bool) -> list[Node]:
    """Return operands with their axes in an order, sorted by content if they commute."""
    reordered = [with_axes(a, order) for a in args]
    return sorted(reordered, key=lambda a: a.digest) if commutes else reordered


def _leans(args: Sequence[Node]) -> bool:
    """Return whether to read matrices transposed: if that has fewer transposed leaves, ties by content."""
    against, leaves = tilt_of(args)
    if 2 * against != leaves:
        return 2 * against > leaves
    if not leaves and all("symmetric" in a.facts for a in args):
        return False
    mirrored = [transposed(a) for a in args]
    return [transposed_rank(a) for a in mirrored] < [transposed_rank(a) for a in args]
