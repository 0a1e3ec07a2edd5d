"""Turns conditions of index form into selectors: `[k == i + j]`, `[p == i*n + j]`, `[i >= j]`.

A condition is brought to the form `difference REL 0`, a polynomial in its indices. It is compared with the forms of the
closed set of selectors. A condition of another form is left to the caller, which forms it as an array if it can.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

from matcalc.errors import NotSupported
from matcalc.formula.inference.typed import ONE, ZERO, Labels
from matcalc.tensor.constructors import add, product, selector
from matcalc.tensor.nodes.node import Operand
from matcalc.tensor.sizes.selectors import Selector, slice_of
from matcalc.tensor.sizes.size import Compound, Size, floordiv, is_nonnegative, volume

KNOWN = "[i == j + c], [i >= j + c], [i + j == n - 1], [k == i + j], [p == i*n + j], [i == (j + k) % n]"


class Condition(NamedTuple):
    """`left REL right` as `difference REL 0`, in which `@k` is the index with label k."""

    relation: str
    difference: Size
    labels: Labels
    text: str


class Lengths:
    """Lengths of the labels of one product; new labels follow all known ones."""

    def __init__(self, known: dict[int, Size], following: int) -> None:
        self.known, self.following = known, following

    def __getitem__(self, label: int) -> Size:
        return self.known[label]

    def fresh(self, length: Size) -> int:
        self.known[self.following] = length
        self.following += 1
        return self.following - 1


def operands(conditions: Sequence[Condition], lengths: Lengths) -> tuple[list[Operand], list[Condition]]:
    """Return selectors that are 1 where conditions hold, else 0, and the conditions that are no selectors."""
    found: list[Operand] = []
    others: list[Condition] = []
    pending = list(conditions)
    while pending:
        condition = pending.pop(0)
        triangle = _triangle(condition, pending, lengths)
        if triangle is not None:
            operand, partner = triangle
            found.append(operand)
            pending.remove(partner)
            continue
        made = FORMS.get(condition.relation, _order)(condition, lengths)
        if made is None:
            others.append(condition)
        else:
            found.extend(made)
    return found, others


def not_supported(condition: str) -> NotSupported:
    """Return the error of a condition that has no form."""
    return NotSupported(f"the condition {condition} is not supported", hint=f"conditions are {KNOWN}")


def linear_in(difference: Size) -> tuple[dict[int, Size], Size] | None:
    """Return the coefficient of each index and the rest, for a polynomial that is linear in its indices."""
    found = {int(name[1:]): name for name in difference.names if name[0] == "@"}
    rest = difference.substitute(dict.fromkeys(found.values(), ZERO))
    coefficients: dict[int, Size] = {}
    linear = rest
    for label, name in found.items():
        others = {other: ZERO for other in found.values() if other != name}
        coefficients[label] = difference.substitute({**others, name: ONE}) - rest
        if "@" in coefficients[label].key:
            return None
        linear = linear + coefficients[label] * Size.of(name)
    return (coefficients, rest) if linear is difference else None


def _equality(condition: Condition, lengths: Lengths) -> list[Operand] | None:
    shift = _shift(condition, lengths)
    if shift is not None:
        return shift
    split = linear_in(condition.difference)
    if split is None:
        return None
    coefficients, rest = split
    signs = {label: _sign(c) for label, c in coefficients.items()}
    merged = _merge(coefficients, rest, lengths)
    if merged is not None:
        return merged
    if any(sign is None for sign in signs.values()):
        return None
    plus = [label for label, sign in signs.items() if sign == 1]
    minus = [label for label, sign in signs.items() if sign == -1]
    if len(plus) > len(minus):
        plus, minus, rest = minus, plus, -rest
    if len(signs) == 1:
        return _fixed(minus[0], rest, lengths)
    if len(plus) == len(minus) == 1:
        return equal(minus[0], plus[0], rest, lengths)
    if len(minus) == 2 and not plus:
        return _opposite(minus, rest, lengths)
    if len(minus) == 2 and len(plus) == 1:
        shape = tuple(lengths[label] for label in (plus[0], *minus))
        return [(selector(Selector("conv", shape, -rest)), (plus[0], *minus))]
    return None


def _inequality(condition: Condition, lengths: Lengths) -> list[Operand] | None:
    """Return [i != j + c] as 1 - [i == j + c]."""
    found = _equality(condition, lengths) if len(condition.labels) == 2 else None
    if found is None:
        return None
    sizes = {label: lengths[label] for label in {*condition.labels, *(i for _, at in found for i in at)}}
    every, equal_ = (product(1, operands, condition.labels, sizes) for operands in ([], found))
    return [(add([(1, every), (-1, equal_)]), condition.labels)]


def _sign(coefficient: Size) -> int | None:
    if coefficient == 1:
        return 1
    return -1 if coefficient == -1 else None


def equal(i: int, j: int, offset: Size, lengths: Lengths) -> list[Operand]:
    """Return [i == j + offset]: an identity, a slice if one range lies in the other, else two masks."""
    m, n = lengths[i], lengths[j]
    if offset is ZERO and m is n:
        return [(product(1, [], (0, 0), {0: m}), (i, j))]
    found = slice_of(m, n, offset)
    if found is not None:
        return [(selector(found[0]), (j, i) if found[1] else (i, j))]
    return [_mask(i, j, offset, lengths), _mask(j, i, -offset, lengths)]


def _mask(i: int, j: int, offset: Size, lengths: Lengths) -> Operand:
    return selector(Selector("mask", (lengths[i], lengths[j]), offset)), (i, j)


def _fixed(i: int, index: Size, lengths: Lengths) -> list[Operand] | None:
    """Return [i == index], if the index is known to be in the range."""
    if not is_nonnegative(index) or not is_nonnegative(lengths[i] - 1 - index):
        return None
    return [(selector(Selector("slice", (lengths[i], ONE), index)), (i, lengths.fresh(ONE)))]


def _opposite(labels: list[int], total: Size, lengths: Lengths) -> list[Operand]:
    """Return [i + j == total]: reverse i, then equate."""
    i, j = labels
    n = lengths[i]
    if n is lengths[j] and total is n - 1:
        return [(selector(Selector("flip", (n, n))), (i, j))]
    reversed_ = lengths.fresh(n)
    return [(selector(Selector("flip", (n, n))), (i, reversed_)), *equal(j, reversed_, total - n + 1, lengths)]


def _shift(condition: Condition, lengths: Lengths) -> list[Operand] | None:
    """Return [i == (j + k) % n] as a cyclic shift."""
    for sign in (1, -1):
        difference = condition.difference * sign
        for i in condition.labels:
            terms = (Size.of(f"@{i}") - difference).terms
            if len(terms) != 1 or terms[0][1] != 1 or len(terms[0][0]) != 1:
                continue
            atom = terms[0][0][0][0]
            if not isinstance(atom, Compound) or atom.operator != "%" or atom.right is not lengths[i]:
                continue
            split = linear_in(atom.left)
            if split is not None and all(lengths[j] is lengths[i] and _sign(c) for j, c in split[0].items()):
                return _cyclic(i, split[0], split[1], lengths)
    return None


def _cyclic(i: int, coefficients: dict[int, Size], offset: Size, lengths: Lengths) -> list[Operand] | None:
    """Return [i == (j + k + offset) % n] of indices of length n with signs; -j is n - 1 - j plus 1, modulo n."""
    n = lengths[i]
    found: list[Operand] = []
    at: list[int] = []
    for j, coefficient in coefficients.items():
        if _sign(coefficient) == -1:
            reversed_ = lengths.fresh(n)
            found.append((selector(Selector("flip", (n, n))), (j, reversed_)))
            j, offset = reversed_, offset + 1
        at.append(j)
    while len(at) > 1:
        total, turns, rest = lengths.fresh(n * 2), lengths.fresh(Size.of(2)), lengths.fresh(n)
        found.append((selector(Selector("conv", (n * 2, n, n))), (total, at.pop(), at.pop())))
        found.append((selector(Selector("merge", (n * 2, Size.of(2), n))), (total, turns, rest)))
        at.append(rest)
    if not at:
        return None
    last = (
        equal(i, at[0], ZERO, lengths)
        if offset is ZERO
        else [(selector(Selector("shift", (n, n), offset)), (i, at[0]))]
    )
    return [*found, *last]


def _merge(coefficients: dict[int, Size], rest: Size, lengths: Lengths) -> list[Operand] | None:
    """Return [p == i*n + j] as a merge: the strides are products of the lengths of the inner indices."""
    if rest is not ZERO or len(coefficients) < 3:
        return None
    for head, coefficient in coefficients.items():
        sign = _sign(coefficient)
        if sign is None:
            continue
        strides = {label: c * -sign for label, c in coefficients.items() if label != head}
        inner = _strided(strides, lengths)
        if inner is not None and volume(lengths[label] for label in inner) is lengths[head]:
            shape = (lengths[head], *(lengths[label] for label in inner))
            return [(selector(Selector("merge", shape)), (head, *inner))]
    return None


def _strided(strides: dict[int, Size], lengths: Lengths) -> Labels | None:
    """Return the labels, outermost first, if each stride is the product of the lengths inside it."""
    if len(strides) > 6:
        return None
    for order in permutations(strides):
        stride = ONE
        for label in reversed(order):
            if strides[label] is not stride:
                break
            stride = stride * lengths[label]
        else:
            return order
    return None


def _triangle(condition: Condition, others: Sequence[Condition], lengths: Lengths) -> tuple[Operand, Condition] | None:
    """Return the merge [p == i + j*n - j*(j+1)//2]*[i >= j], and the other condition of the two."""
    for one in (condition, *others):
        if one.relation != "==" or len(one.labels) != 3:
            continue
        for p, i, j in permutations(one.labels):
            if one.difference is not _triangle_rank(p, i, j, lengths) and one.difference is not -_triangle_rank(
                p, i, j, lengths
            ):
                continue
            for other in (condition, *others):
                if _is_order(other, i, j) and condition in (one, other):
                    shape = (lengths[p], lengths[i], lengths[j])
                    operand = (selector(Selector("triangle", shape)), (p, i, j))
                    return operand, other if condition is one else one
    return None


def _triangle_rank(p: int, i: int, j: int, lengths: Lengths) -> Size:
    p_, i_, j_ = (Size.of(f"@{label}") for label in (p, i, j))
    return p_ - i_ - j_ * lengths[i] + floordiv(j_ * (j_ + 1), Size.of(2))


def _is_order(condition: Condition, i: int, j: int) -> bool:
    difference = Size.of(f"@{i}") - Size.of(f"@{j}")
    return (condition.relation, condition.difference) in ((">=", difference), ("<=", -difference))


ORDERS: dict[str, tuple[int, int]] = {">=": (1, 0), ">": (1, 1), "<=": (-1, 0), "<": (-1, 1)}


def _order(condition: Condition, lengths: Lengths) -> list[Operand] | None:
    """Return [i >= j + c] as a mask."""
    if condition.relation not in ORDERS:
        return None
    sign, strict = ORDERS[condition.relation]
    split = linear_in(condition.difference * sign)
    if split is None or len(split[0]) != 2:
        return None
    coefficients, rest = split
    signs: dict[int | None, int] = {_sign(c): label for label, c in coefficients.items()}
    if set(signs) != {1, -1}:
        return None
    return [_mask(signs[1], signs[-1], Size.of(strict) - rest, lengths)]


FORMS = {"==": _equality, "!=": _inequality}
"""The relations that are no order, each with the function that returns its selectors."""
