"""Collects the reasons why a line of a derivation follows from the previous one: rewrites, rules and facts.

A fact counts as used if the result is different without it; the derivation is repeated for each fact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from matcalc.calculus.derive import conventions
from matcalc.calculus.derive.differentiate import pushforward, template_parameter
from matcalc.calculus.simplify.rewrite import Applied
from matcalc.calculus.simplify.shortest import shortest_of
from matcalc.calculus.simplify.simplify import Record, simplify
from matcalc.errors import MatcalcError
from matcalc.formula.notation.write_node import formula_of
from matcalc.language import syntax
from matcalc.language.read import read
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import apply, operate, symbol
from matcalc.tensor.lookups import is_index
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.sizes_from_shapes import KINDS
from matcalc.tensor.substitute import substitute

LONGEST = 160
"""The most characters of a rule's formula; for a longer one only the rule's name is shown."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a line equals the previous one: words, or an equation in symbols of certain `kinds` with its source.

    `sides` are the trees of the equation; its text `formula` identifies it.
    """

    words: str = ""
    formula: str = ""
    source: str = ""
    kinds: tuple[tuple[str, str], ...] = ()
    sides: tuple[Ast, ...] = field(default=(), compare=False)

    @property
    def says(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.words or self.formula or self.source)


def simplified(node: Node) -> tuple[Node, tuple[Reason, ...]]:
    """Return a node simplified, with the rewrites used."""
    return _recorded(lambda record: simplify(node, record=record))


def settled(node: Node) -> tuple[Node, tuple[Reason, ...]]:
    """Return a node in its shown form, simplified and factored, with the rewrites used."""
    return _recorded(lambda record: shortest_of([node], record)[0].shown)


def _recorded(make: Callable[[Record], Node]) -> tuple[Node, tuple[Reason, ...]]:
    used: dict[Reason, None] = {}

    def record(_: Node, applied: Applied) -> None:
        rewrite = applied.rewrite
        condition = f"if {rewrite.condition}" if rewrite.condition else ""
        kinds = tuple((d.name, d.kind) for d in rewrite.variables)
        sides = read(rewrite.left), read(rewrite.right)
        used[Reason(condition, f"{rewrite.left} = {rewrite.right}", rewrite.address, kinds, sides)] = None

    return make(record), tuple(used)


def rule_reason(node: Node, places: Sequence[int]) -> Reason:
    """Return the rule of an operation as its differential in the operands numbered `places`, with its address."""
    rule = node.rule
    source = f"{rule.address}; {rule.source}" if rule.source else rule.address
    alone = Reason(f"rule {rule.name}", "", source)
    try:
        call, moved = general_use(node, places)
        sides = syntax.call("d", formula_of(call)), formula_of(settled(pushforward(call, moved))[0])
    except MatcalcError:
        return alone
    kinds = tuple((s.name, KINDS[min(s.rank, 3)]) for s in moved)
    shown = Reason("", " = ".join(map(text, sides)), source, kinds, sides)
    return shown if len(shown.formula) <= LONGEST else alone


def general_use(node: Node, places: Sequence[int]) -> tuple[Node, dict[Node, Node]]:
    """Return an operation on symbols named as its rule's parameters, and the tangents of those numbered `places`."""
    made: list[Node] = []
    moved: dict[Node, Node] = {}
    for k, arg in enumerate(node.args):
        parameter = template_parameter(node, k)
        batch = node.batches[k] if node.kind == "op" else arg.shape
        name = parameter.name + ("" if not parameter.repeated or not made else str(k))
        own = symbol(name, arg.shape[len(batch) :], parameter.facts)
        made.append(own)
        if k in places:
            moved[own] = conventions.tangent_symbol(own, f"d{name}")
    if node.kind == "map":
        return apply(node.rule, made, node.params), moved
    return operate(node.rule, made, node.params, [()] * len(made), node.output, ()), moved


def simplest(root: Node, at: Sequence[Node]) -> Node:
    return settled(root)[0]


def gradient_of(root: Node, at: Sequence[Node]) -> Node:
    return settled(conventions.gradients(simplify(root), at, "projected")[0])[0]


def facts_used(root: Node, shown: Ast, remade: Callable[[Node, Sequence[Node]], Node], *at: Node) -> tuple[Reason, ...]:
    """Return the declared facts without which a result would have another text."""
    found = []
    expected = text(shown)
    for s in (n for n in toposort(root) if n.kind == "symbol" and n.data[1] and not is_index(n)):

        def reads(facts: Sequence[str], s: Node = s) -> bool:
            weaker = symbol(s.name, s.shape, facts)
            variables = [weaker if x is s else x for x in at]
            return text(formula_of(remade(substitute(root, {s: weaker}), variables))) == expected

        if reads(()):
            continue
        book = default_rulebook()
        known = sorted(s.facts, key=lambda f: (len(book.closure([f])), f))
        fact = next((f for f in known if f in book.facts and reads((f,))), " and ".join(sorted(s.data[1])))
        declared = "" if fact in s.data[1] else f" (declared {' '.join(sorted(s.data[1]))})"
        found.append(Reason(f"{s.name} is {fact}{declared}"))
    return tuple(found)
