"""Rewrites nodes before lowering, collects facts from uses, and decides which operations must be formed.

An operation whose lowering is a formula (`becomes`) is replaced by it, so that its factorisations are shared. A sum
with an identity or selector term is multiplied out if it meets a summed index: (A + c*eye(n))*B is a product and a
multiple of B, without the sum as an array. A use may imply facts of a matrix, as an operand of `chol` or as a Gram
matrix under an inverse. Such facts hold for all uses in this plan, but are not recorded in the node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from matcalc.calculus.exact_deviations import with_exact_deviations
from matcalc.compiler.lowering_entries import Expansion, Lowerings
from matcalc.compiler.plan.divided_differences import divided
from matcalc.compiler.plan.series_radius import radius_at
from matcalc.compiler.plan.staged_sums import staged_sums
from matcalc.compiler.plan.switches import selections
from matcalc.compiler.plan.values.running_totals import running_totals
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.fields import stated_facts
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import add, product, symbol
from matcalc.tensor.facts.facts import closure
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.nodes.signature import bind, tensors_of
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, remake
from matcalc.tensor.switches import is_mask, with_masks

MOST_ROUNDS = 4  # rounds that only multiply out, to save work; operations with a formula have no other lowering
DEFINITE = frozenset(["psd", "nonsingular"])
EXPANSIONS = {"divided": divided, "radius": radius_at}
"""The expansions that `expands` in scalars.toml may name."""


def expand(roots: Sequence[Node], lowerings: Lowerings) -> list[Node]:
    """Return the roots with operations replaced by formulas, identities multiplied out and switches as selections.

    Runs in rounds: an operation with changed operands may become a product or sum of operations, which the next round
    handles. The rounds end, since no formula leads back to its own operation.
    """
    found = list(roots)
    rounds = 0
    while rounds < MOST_ROUNDS:
        rounds += 1
        nodes = toposort(found)
        needed = {arg for n in nodes if n.kind == "op" for arg in n.args} | set(found)
        implied = implied_facts(nodes)
        made: dict[Node, Node] = {}
        for node in nodes:
            new = plain = remake(node, made)
            if node.kind == "op" and node.rule.name in lowerings.becomes:
                new = _become(plain, node.facts | implied.get(node.args[0], frozenset()), lowerings)
            elif plain.kind == "map" and plain.rule.name in lowerings.expands:
                new = EXPANSIONS[lowerings.expands[plain.rule.name]](plain)
            elif plain.kind == "product":
                made[node] = _multiplied_out(plain, needed)
                continue
            if new is not plain:
                rounds = 0
            made[node] = new
        if all(made[node] is node for node in nodes):
            break
        found = [made[root] for root in found]
    return staged_sums(selections(running_totals(with_exact_deviations(found))))


def _become(node: Node, facts: frozenset[str], lowerings: Lowerings) -> Node:
    if node.kind != "op":
        return node
    facts = facts | node.args[0].facts if node.args else facts
    cores = tuple(a.shape[len(b) :] for a, b in zip(node.args, node.batches, strict=True))
    for entry in lowerings.becomes[node.rule.name]:
        if entry.when <= facts and entry.batch <= node.batch_rank and entry.fits(cores):
            functions = tuple(p for p in node.params if isinstance(p, Node))
            sizes = tuple(p for p in node.params if isinstance(p, Size))
            template, symbols = _template(node.rule, entry, cores, sizes, functions)
            bound = {s: Batched(a, b) for s, a, b in zip(symbols, node.args, node.batches, strict=True)}
            made = instantiate(template, bound, {}, node.shape[: node.batch_rank])
            return made.node if len(made.batch) == node.batch_rank else node
    return node


@lru_cache(maxsize=1024)
def _template(
    rule: Rule,
    entry: Expansion,
    cores: tuple[tuple[Size, ...], ...],
    sizes: tuple[Size, ...],
    functions: tuple[Node, ...],
) -> tuple[Node, tuple[Node, ...]]:
    """Return the formula of an expansion over symbols, and the symbols."""
    tensors = tensors_of(rule.signature)
    slots = [tensors[min(k, len(tensors) - 1)] for k in range(len(cores))]
    names = tuple(term.name for term in entry.arguments or ()) or tuple(p.name for p in slots)
    symbols = tuple(symbol(name, core, p.facts) for name, p, core in zip(names, slots, cores, strict=True))
    integers = [p.name for p in rule.signature.parameters if p.kind == "integer"]
    named = [p.name for p in rule.signature.parameters if p.kind == "function"]
    node = build_formula(
        entry.formula,
        entry.where,
        default_rulebook(),
        dict(zip(names, symbols, strict=True)),
        functions=dict(zip(named, functions, strict=False)),
        sizes={
            **bind(rule, rule.signature, cores, (*functions, *sizes)).sizes,
            **dict(zip(integers, sizes, strict=False)),
        },
    )
    return node, symbols


def _multiplied_out(node: Node, needed: set[Node]) -> Node:
    """Distribute a product over a sum with an identity that meets a summed index, unless the sum is formed anyway.

    Two sums that meet are not distributed. Terms that cancel in each, as in the square of `[x; y] - mean([x; y])`,
    would cancel between products, which loses twice the digits.
    """
    node = with_masks(node)
    for position, (arg, at) in enumerate(node.operands if node.kind == "product" else ()):
        if arg.kind != "sum" or arg in needed or not _meets_any(arg, at, node):
            continue
        others = [(a, i) for k, (a, i) in enumerate(node.operands) if k != position]
        if not others:
            return node
        if is_mask(arg) and arg.rank < 3 and not all(a.finite for a, _ in others):
            continue  # entries outside the mask may be infinite, and would be in two of the terms
        summed = set(at) - set(node.out)
        if any(a.kind == "sum" and summed & set(i) for a, i in others):
            continue
        sizes = node.sizes
        terms = [(c, product(node.coef, [*others, (t, at)], node.out, sizes)) for c, t in arg.terms]
        return add(terms)
    return node


def _meets_any(total: Node, at: tuple[int, ...], node: Node) -> bool:
    is_formed = any(term.kind in ("map", "op") for term in total.args)
    return any(_meets(term, at, node, is_formed) for term in total.args)


def _meets(term: Node, at: tuple[int, ...], node: Node, is_formed: bool) -> bool:
    """Whether a term identifies or selects axes, one of which is summed in the product.

    A term whose data select the index of each entry does not count if another term forms the array anyway. A range of
    the steps of a recurrence does not count: the loop of the steps reads the states at each step.
    """
    if term.kind != "product":
        return False
    picked = {i for i in term.out if term.out.count(i) > 1}
    steps = {at[0] for a, at in term.operands if at and any(one.kind == "recurrence" for one in toposort(a))}
    for arg, indices in term.operands:
        if arg.kind != "selector" or arg.selector.kind == "mask":
            continue
        if arg.selects("slice") and indices[0] in steps:
            continue
        if not arg.args or not (is_formed or indices[0] not in term.out):  # data select indices of the term
            picked.update(indices)
    return any(i in picked and at[axis] not in node.out for axis, i in enumerate(term.out))


def implied_facts(nodes: Sequence[Node]) -> Mapping[Node, frozenset[str]]:
    """Return the facts that the uses of matrices imply: the domains of operations in their rules."""
    found: dict[Node, set[str]] = {}
    for node in nodes:
        if node.kind != "op" or node.batch_rank:
            continue
        tensors = tensors_of(node.rule.signature)
        by_name = {p.name: arg for p, arg in zip(tensors, node.args, strict=False)}
        for parameter in tensors:
            if parameter.name in by_name:
                found.setdefault(by_name[parameter.name], set()).update(parameter.facts)
        for fact, name in stated_facts(node.rule.domain or ""):
            if name in by_name:
                found.setdefault(by_name[name], set()).add(fact)
    return {node: _closed(node.facts | facts) - node.facts for node, facts in found.items()}


def _closed(facts: frozenset[str]) -> frozenset[str]:
    """Return facts with their joint consequences: a semidefinite matrix that has an inverse is definite."""
    facts = closure(facts)
    return closure(facts | {"spd"}) if facts >= DEFINITE else facts


def must_form(nodes: Sequence[Node], outputs: Sequence[Node], form_all: bool) -> frozenset[Node]:
    """Return the operations that are formed even if kernels could take them as factors.

    These are outputs and operands of nodes other than products.
    """
    formed = set(outputs)
    for node in nodes:
        if node.kind != "product":
            formed.update(node.args)
    if form_all:
        formed.update(n for n in nodes if n.kind == "op")
    return frozenset(formed)
