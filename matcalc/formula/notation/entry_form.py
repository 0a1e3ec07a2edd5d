"""Writes a formula entry by entry: `{i: X[i,j]*w[j] - y[i]}` for `X*w - y`.

Products, sums and elementwise functions are written in entries; other operations get subscripts, `inv(S)[i,j]`. Reading
the text back builds the same node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from matcalc.errors import NotSupported
from matcalc.formula.forms.form import ATOM, Form
from matcalc.formula.forms.form import number as number_form
from matcalc.formula.notation.calls import name_of
from matcalc.formula.notation.index_form import conditions_of
from matcalc.formula.notation.index_names import Names
from matcalc.formula.notation.write_node import formula_of
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.rulebook.notations import spelled
from matcalc.tensor.nodes.node import Node, exponent_of
from matcalc.tensor.sizes.size_tree import tree_of

MOST = 400
"""Most factors and terms of an index form."""


@dataclass(eq=False, slots=True)
class Entry:
    """One entry of a node, at named indices; `labels` names each index of a product."""

    node: Node
    at: tuple[str, ...]
    labels: dict[int, str] = field(default_factory=dict)
    parts: list[Entry] = field(default_factory=list)


def entries_of(root: Node, avoid: Collection[str]) -> Ast:
    """Return the formula of a node in index form; `avoid` are names in scope.

    Raises: NotSupported if it is too long.
    """
    supply = Names(avoid)
    names = list(supply.fresh(root.rank))
    outputs = tuple(names)
    top = Entry(root, outputs)
    order = [top]
    for entry in order:
        if entry.node.kind in OPEN:
            entry.parts = OPEN[entry.node.kind](entry, supply, names)
        order += entry.parts
        if len(order) > MOST:
            raise NotSupported(f"an index form of more than {MOST} factors is not written")
    taken = {*avoid, *names}
    made: dict[Entry, Ast] = {}
    for entry in reversed(order):
        inner = [made.pop(part) for part in entry.parts]
        is_open = entry.parts or entry.node.kind == "product"  # one without operands is an identity, ones, a selector
        made[entry] = WRITE[entry.node.kind](entry, inner) if is_open else _part(entry, taken)
    return syntax.index_form(outputs, made[top])


# ---- the parts of an entry


def _product_parts(entry: Entry, supply: Names, names: list[str]) -> list[Entry]:
    node = entry.node
    for index, name in zip(node.out, entry.at, strict=True):
        entry.labels.setdefault(index, name)
    for index in range(len(node.index_sizes)):
        if index not in entry.labels:
            (entry.labels[index],) = supply.fresh(1, names)
            names.append(entry.labels[index])
    return [Entry(a, tuple(entry.labels[i] for i in at)) for a, at in node.operands if a.kind != "selector"]


def _map_parts(entry: Entry) -> list[Entry]:
    is_written = exponent_of(entry.node)[1] != 1 or (not entry.node.params and name_of(entry.node).isidentifier())
    return [Entry(a, entry.at) for a in entry.node.args] if is_written else []


OPEN: dict[str, Callable[[Entry, Names, list[str]], list[Entry]]] = {
    "product": _product_parts,
    "sum": lambda entry, supply, names: [Entry(a, entry.at) for a in entry.node.args],
    "map": lambda entry, supply, names: _map_parts(entry),
}


# ---- their formulas


def _part(entry: Entry, taken: Collection[str]) -> Ast:
    if entry.node.kind == "selector":
        lengths = [
            _subscripted(syntax.call(spelled("all_ones"), tree_of(size)), name)
            for size, name in zip(entry.node.shape, entry.at, strict=True)
        ]
        rules = [c.ast for c in conditions_of(entry.node.selector, entry.at, _lookup(entry.node))]
        return scaled(Fraction(1), [*lengths, *rules])
    base = formula_of(entry.node, taken)
    return syntax.part(base, *map(syntax.name, entry.at)) if entry.at else base


def _product(entry: Entry, inner: Sequence[Ast]) -> Ast:
    node, labels = entry.node, entry.labels
    tensors = [at for a, at in node.operands if a.kind != "selector"]
    measured = {i for at in tensors for i in at}
    factors = _in_a_chain(list(zip(inner, (part.at for part in entry.parts), strict=True)), entry.at)
    seen: set[int] = set()
    for index, name in zip(node.out, entry.at, strict=True):
        if index in seen:
            identity = syntax.call(spelled("identity"), tree_of(node.index_sizes[index]))
            factors.append(_subscripted(identity, labels[index], name))
            measured.add(index)
        seen.add(index)
    factors += [
        _subscripted(syntax.call(spelled("all_ones"), tree_of(node.index_sizes[i])), name)
        for i, name in labels.items() if i not in measured
    ]  # fmt: skip
    for a, at in node.operands:
        if a.kind == "selector":
            factors += [c.ast for c in conditions_of(a.selector, [labels[i] for i in at], _lookup(a))]
    body = scaled(node.coef, factors)
    summed = [i for i in labels if i not in node.out]
    alone = [labels[i] for i in summed if i not in measured or _times_held(entry, i) < 2]
    return syntax.index_sum(alone, body) if alone else body


def _lookup(selector: Node) -> Form | None:
    """Return the formula of the indices of a lookup."""
    return Form(formula_of(selector.args[0]), ATOM, 1) if selector.args else None


def _times_held(entry: Entry, index: int) -> int:
    """Return how many factors hold an index; a tensor that is not written in entries may hold it twice."""
    whole = {part.node for part in entry.parts if not part.parts}
    return sum(at.count(index) if node in whole else index in at for node, at in entry.node.operands)


def _in_a_chain(factors: list[tuple[Ast, tuple[str, ...]]], first: Sequence[str]) -> list[Ast]:
    """Return factors in the order in which indices lead from one to the next, scalars in front."""
    rest = [f for f in factors if f[1]]
    ordered = [ast for ast, at in factors if not at]
    here = list(first)
    while rest:
        chosen = min(range(len(rest)), key=lambda k: _distance(rest[k][1], here))
        ast, at = rest.pop(chosen)
        ordered.append(ast)
        here = [*at[::-1], *here] if at[0] in here[:1] else [*at, *here]
    return ordered


def _distance(at: Sequence[str], here: Sequence[str]) -> tuple[int, int]:
    """Return how early the indices of a factor occur in `here`, and whether it starts with the earliest."""
    met = [here.index(i) for i in at if i in here]
    return (min(met), at.index(here[min(met)])) if met else (len(here), 0)


def _subscripted(base: Ast, *names: str) -> Ast:
    return syntax.part(base, *map(syntax.name, names))


def scaled(coef: Fraction, factors: Sequence[Ast]) -> Ast:
    """Return a number times factors, with the sign in front and reciprocals as divisors."""
    size = abs(coef)
    below = [f.args[1] for f in factors if _is_reciprocal(f)]
    above = [f for f in factors if not _is_reciprocal(f)]
    if size != 1 or not above:
        above = [number_form(size).ast, *above]
    operators = ["*"] * (len(above) - 1) + ["/"] * len(below)
    whole = syntax.product([*above, *below], operators) if operators else above[0]
    if coef < 0 and whole.head == "sum":
        return syntax.add(whole.args, [-s for s in cast("tuple[int, ...]", whole.value)])
    return syntax.negate(whole) if coef < 0 else whole


def _is_reciprocal(factor: Ast) -> bool:
    return factor.head == "product" and factor.value == ("/",) and factor.args[0].value == 1


def _sum(entry: Entry, inner: Sequence[Ast]) -> Ast:
    terms = sorted(zip(entry.node.coefs, inner, strict=True), key=lambda term: term[0] < 0)
    return syntax.add([scaled(abs(c), [ast]) for c, ast in terms], [1 if c > 0 else -1 for c, _ in terms])


def _map(entry: Entry, inner: Sequence[Ast]) -> Ast:
    _, exponent = exponent_of(entry.node)
    if exponent == 1:
        relation = entry.node.rule.relation
        operands = [syntax.compare(inner[0], relation, inner[1]), *inner[2:]] if relation else inner
        return syntax.call(name_of(entry.node), *operands)
    size = abs(exponent)
    half = Fraction(1, 2)
    base = syntax.call(spelled("square_root"), inner[0]) if size == half else inner[0]
    power = base if size in (1, half) else syntax.power(base, syntax.number(size))
    return syntax.product([syntax.number(1), power], ["/"]) if exponent < 0 else power


WRITE: dict[str, Callable[[Entry, Sequence[Ast]], Ast]] = {"product": _product, "sum": _sum, "map": _map}
