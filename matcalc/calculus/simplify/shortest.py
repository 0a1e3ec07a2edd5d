"""Finds the shortest form of an expression to print, by tokens, then by operations.

Rewrites and factoring enable each other: a common factor may meet its inverse (`inv(A + B)*A + inv(A + B)*B`). So they
alternate until nothing gets shorter. An operation on a product is tried whole and split (`logdet(A*B)`). The input is
returned if nothing is shorter. So the result is never longer than the input, and the alternation ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matcalc.calculus.simplify.by_step import Measured, by_step, lengths_of
from matcalc.calculus.simplify.expand import separated
from matcalc.calculus.simplify.factor import factor_all
from matcalc.calculus.simplify.named_functions import named
from matcalc.calculus.simplify.quantities import NO_QUANTITIES, Quantities
from matcalc.calculus.simplify.rewrite import Applied
from matcalc.calculus.simplify.shorten import Guide, estimate, length, measure
from matcalc.calculus.simplify.simplify import READABLE, Record, may_split, simplify_all
from matcalc.errors import NotSupported
from matcalc.formula.notation.write_node import extra_tokens_of
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step
from matcalc.tensor.steps.recurrence import sequences_in, with_bodies
from matcalc.tensor.substitute import remake, substitute

ROUNDS = 4
"""Rounds of rewriting and factoring; two are rare, more have not been seen."""


class Shortened(NamedTuple):
    """Two forms of a node: the shortest, which is printed, and one with its sums not factored, which may be cheaper.

    If rewrites fuse factored terms, both forms are the same: `sigmoid(-x) - sigmoid(x)` becomes `-tanh(x/2)`, and the
    separate terms would cancel.
    """

    shown: Node
    unfactored: Node


def shortest(node: Node, record: Record | None = None, quantities: Quantities = NO_QUANTITIES) -> Node:
    """Return the shortest equal form found of a node, and of the steps in it over the names of `quantities`."""
    split = _settled(node, True, record)
    whole = _settled(node, False) if may_split([node]) else split
    found = min([whole, split, node], key=measure) if split is not whole else min([whole, node], key=measure)
    return _with_short_steps(_by_one_step(_by_names(found), node, quantities), quantities)


def _by_one_step(shown: Node, plain: Node, quantities: Quantities) -> Node:
    """Return a node whose sums over the steps of recurrences are shortened as one step, if that is shorter.

    `plain` is the node with its sums not factored: other factors may be shorter over the names of quantities.
    """

    if not lengths_of(shown):
        return shown

    def shorten(body: Node, step: Step, length: Size) -> Measured:
        return _short_step(body, quantities.symbols(step, length), quantities)

    tokens, count = measure(shown)
    try:
        whole = Measured((tokens + extra_tokens_of(shown), count), shown)
    except NotSupported:  # a literal array of order 3 has no text
        return shown
    found = [whole, *by_step(shown, shorten), *by_step(plain, shorten)]
    return min(found, key=lambda form: form.measure).node


def _with_short_steps(node: Node, quantities: Quantities) -> Node:
    """Return a node in which the step of each recurrence has its shortest form."""
    order = toposort(node)
    if not any(one.kind == "recurrence" for one in order):
        return node
    made: dict[Node, Node] = {}
    for one in order:
        if one.kind == "recurrence":
            symbols = quantities.symbols(Step(sequences_in(one)), one.steps)
            short = with_bodies(one, [_with_facts(body, symbols, quantities) for body in one.bodies])
            made[one] = substitute(short, {node: own for node, own in made.items() if own is not node})
        else:
            made[one] = remake(one, made)
    return made[node]


def _with_facts(body: Node, symbols: Mapping[Node, Node], quantities: Quantities) -> Node:
    """Return the shortest form of a step that keeps the facts of its state."""
    found = _short_step(body, symbols, quantities).node
    return found if found.facts >= body.facts else body


def _short_step(body: Node, symbols: Mapping[Node, Node], quantities: Quantities) -> Measured:
    """Return the shortest form of a value of a step, measured over the symbols of quantities."""
    forms = dict.fromkeys([body, separated(body)])
    plain = [shortest(form) for form in forms]
    over = [quantities.over(form, symbols) for form in [*forms, *plain]]
    named = [shortest(form) for form in over[: len(forms)] if form not in forms]
    best = min([*over, *named], key=measure)
    return Measured(measure(best), substitute(best, symbols))


def _by_names(node: Node) -> Node:
    """Return a node with named functions of matrices, if that is shorter."""
    shown = named(node)
    return node if shown is node else min([node, shown], key=measure)


def shortest_of(
    nodes: Sequence[Node], record: Record | None = None, quantities: Quantities = NO_QUANTITIES
) -> list[Shortened]:
    """Return the forms of nodes, simplified together with all their operations split.

    Nodes too large to be read are only factored, all together.
    """
    plain = simplify_all(nodes, record=record)
    if len(toposort(plain)) > READABLE:
        return [Shortened(*pair) for pair in zip(factor_all(plain), plain, strict=True)]
    splits = [_forms(node, True) for node in plain]
    if not may_split(nodes):
        return [_by_steps(split, split.shown, quantities) for split in splits]
    wholes = [_forms(node, False) for node in simplify_all(nodes, splits=False)]
    return [
        _by_steps(split, min([split.shown, whole.shown], key=measure), quantities)
        for split, whole in zip(splits, wholes, strict=True)
    ]


def _by_steps(forms: Shortened, shown: Node, quantities: Quantities) -> Shortened:
    """Return forms with another printed one, whose steps are shortened."""
    found = _by_one_step(_by_names(shown), forms.unfactored, quantities)
    return forms._replace(shown=_with_short_steps(found, quantities))


def to_compute(nodes: Sequence[Node]) -> list[Shortened]:
    """Return the forms of nodes that are computed and not printed, simplified together with all operations split.

    The estimated length is the measure, so that no text is written.
    """
    plain = simplify_all(nodes)
    if len(toposort(plain)) > READABLE:
        return [Shortened(*pair) for pair in zip(factor_all(plain), plain, strict=True)]
    return [_rounds(node, factor_all([node], length)[0], True, length, False, length) for node in plain]


def _settled(node: Node, splits: bool, record: Record | None = None) -> Node:
    return _forms(simplify_all([node], record=record, splits=splits)[0], splits).shown


def _forms(plain: Node, splits: bool) -> Shortened:
    """Return a simplified node factored, and simplified and factored again while that shortens it.

    Factors are chosen by the measure and by its estimate, which looks further ahead; each finds some that the other
    misses. A tensor of order 3 or more, which has no matrix form, is tried term by term too, stacked or not.
    """
    guides = ((measure, False), (estimate, False), (estimate, True))[: 3 if plain.rank > 2 else 2]
    starts = {factor_all([plain], *guide)[0]: guide for guide in guides}
    return min(
        (_rounds(plain, best, splits, *guide) for best, guide in starts.items()), key=lambda forms: measure(forms.shown)
    )


def _rounds(plain: Node, best: Node, splits: bool, by: Guide, last: bool, judge: Guide = measure) -> Shortened:
    """Return a simplified node simplified and factored again while `judge` finds that shorter."""
    if plain.rank > 2 or any(a.rank > 2 and a.kind == "sum" for a in plain.args):
        parted = separated(plain)
        best = min([best, parted, _round(parted, splits, by, last)[0]], key=judge)
    if best is plain:
        return Shortened(best, plain)
    fused = False
    for _ in range(ROUNDS):
        again, fires = _round(best, splits, by, last)
        if again is best or judge(again) >= judge(best):
            break
        best, fused = again, fused or fires
    return Shortened(best, best if fused else plain)


def _round(node: Node, splits: bool, by: Guide, last: bool) -> tuple[Node, bool]:
    """Return a node simplified, then factored, and whether a rewrite fitted."""
    fired: list[Applied] = []
    (simple,) = simplify_all([node], record=lambda _, applied: fired.append(applied), splits=splits)
    return factor_all([simple], by, last)[0], bool(fired)
