"""Interns raw nodes with their facts, without mathematics. Only the constructors of the normal form call this."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.facts.facts import describe
from matcalc.tensor.nodes.labelling import symmetry
from matcalc.tensor.nodes.node import Exchange, Indices, Node, Shape, intern
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    import numpy as np

    from matcalc.rulebook.rule import Rule


def symbol(name: str, shape: Sequence[Size], facts: Sequence[str] = ()) -> Node:
    """Return the symbol of this name, shape and declared facts (all three are its identity)."""
    return intern("symbol", (), (name, frozenset(facts)), tuple(shape), describe)


@cache
def parameter() -> Node:
    """Return the bound symbol of every function argument such as `x -> log(x)^2`: interned up to renaming."""
    return symbol("#", ())  # not an identifier, so no user's symbol has this name


def number(value: Fraction | int) -> Node:
    """Return an exact number, shape ()."""
    return intern("number", (), (Fraction(value),), (), describe)


def constant(array: np.ndarray) -> Node:
    """Return a literal array, keyed by its float64 entries."""
    import numpy as np

    entries = np.asarray(array, dtype=np.float64, order="C")
    return intern("constant", (), (entries.tobytes(),), tuple(map(Size.of, entries.shape)), describe)


def selector(rule: Selector) -> Node:
    """Return a selector as an operand of products."""
    return intern("selector", (), (rule,), rule.shape, describe)


def lookup(indices: Node, length: Size) -> Node:
    """Return the selector [i == k[t..]] of an axis of this length, with integer data k.

    Shapes: (length, *indices.shape).
    """
    rule = Selector("lookup", (length, *indices.shape))
    return intern("selector", (indices,), (rule,), rule.shape, describe)


def size_atom(size: Size) -> Node:
    """Return a size used as a number, its content and factors already taken out by the caller."""
    return intern("size", (), (size,), (), describe)


def product_node(
    coef: Fraction,
    args: Sequence[Node],
    indices: Sequence[Indices],
    out: Indices,
    sizes: Sequence[Size],
) -> Node:
    shape = tuple(sizes[i] for i in out)
    data = (coef, tuple(indices), out, tuple(sizes))
    return intern("product", tuple(args), data, shape, lambda node: describe(node, symmetry(node)))


def sum_node(
    coefs: Sequence[Fraction],
    args: Sequence[Node],
    symmetry: Callable[[Node], frozenset[str]],
    exchanges: Callable[[Node], tuple[int, tuple[Exchange, ...]]],
) -> Node:
    def described(node: Node) -> None:
        describe(node, symmetry(node))
        node.commuting, node.exchanges = exchanges(node)

    return intern("sum", tuple(args), (tuple(coefs),), args[0].shape, described)


def map_node(rule: Rule, params: tuple[Any, ...], args: Sequence[Node]) -> Node:
    return intern("map", tuple(args), (rule, params), args[0].shape, describe)


def op_node(
    rule: Rule,
    params: tuple[Any, ...],
    args: Sequence[Node],
    batches: Sequence[Indices],
    output: str,
    shape: Shape,
    batch_rank: int,
) -> Node:
    return intern("op", tuple(args), (rule, params, tuple(batches), batch_rank, output), shape, describe)


def recurrence_node(
    args: Sequence[Node],
    steps: Size,
    backward: bool,
    states: Sequence[Node],
    slices: Sequence[Node],
    bodies: Sequence[Node],
    position: int,
    kept: Sequence[bool] = (),
    again: tuple[Any, ...] = (),
) -> Node:
    """Return the trajectory of one state of a recurrence, in the order and with the names of the normal form.

    Only plans have nodes with `kept`: the node of a state without a kept trajectory is its last value. Only plans have
    `again`: the loop whose states are computed again.
    """
    kept = tuple(kept) or (True,) * len(states)
    data = (steps, backward, tuple(states), tuple(slices), tuple(bodies), position, kept, *([again] if again else []))
    lead = (steps + 1,) if kept[position] else ()
    return intern("recurrence", tuple(args), data, (*lead, *states[position].shape), describe)


def power_node(base: Node, exponent: Fraction) -> Node:
    """Return `base.^exponent` of a base and exponent that the caller has normalised."""
    return map_node(default_rulebook().playing("fixed_power"), (exponent,), (base,))


LONGEST_NUMBER = 4096
"""Bits of the longest exact power of a number; longer ones stay powers."""


def is_long(value: Fraction, exponent: Fraction) -> bool:
    """Return whether a power of a number is too long to write out."""
    return abs(exponent) * max(value.numerator.bit_length(), value.denominator.bit_length()) > LONGEST_NUMBER


def merged_exponents(base: Node, exponents: list[Fraction]) -> list[Fraction]:
    """Return the exponents of a product of powers of one base, added up as far as its range allows."""
    if len(exponents) == 1:
        return exponents
    if base.range.positive:
        return [sum(exponents, Fraction(0))]
    whole = [e for e in exponents if e.denominator == 1]
    broken = [e for e in exponents if e.denominator != 1]
    if base.range.nonzero:
        return [sum(whole, Fraction(0)), *broken]
    if base.range.nonnegative:
        whole, broken = exponents, []
    up, down = [e for e in whole if e > 0], [e for e in whole if e < 0]
    return [sum(up, Fraction(0)), sum(down, Fraction(0)), *broken]
