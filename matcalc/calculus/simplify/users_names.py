"""Writes a formula with the names that the user gave to parts of it, wherever these parts still occur.

A part occurs as a node, as some factors of a product, as some terms of a sum, and as a multiple of these. Each
occurrence becomes a symbol with the part's name. Then the formula is printed, and the name refers to its definition.
The symbols' values, put back, must yield the node again; otherwise only whole nodes have names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from matcalc.calculus.simplify.match import occurrences
from matcalc.calculus.simplify.simplify import simplify
from matcalc.formula.notation.choose_parts import with_changed_parts
from matcalc.formula.notation.systems import Quantities
from matcalc.formula.notation.write_node import NOT_NAMED, formula_of
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, product, scale, symbol, transpose
from matcalc.tensor.lookups import can_index
from matcalc.tensor.nodes.node import Node, sizes_used, toposort
from matcalc.tensor.substitute import remake, substitute
from matcalc.tensor.sums import split_coef, summands

MOST = 3000
"""Nodes of a formula in which factors and terms are looked for; a larger one has names only for whole nodes."""


def named_formula(
    root: Node,
    avoid: Collection[str] = (),
    names: Mapping[Node, str] = NOT_NAMED,
    dotted: bool = True,
    quantities: Quantities | None = None,
) -> Ast:
    """Return the formula of a node, in which `names` are names of parts; otherwise as `formula_of`.

    A part's definition uses the names of parts before it. If only a simplified part occurs, that is its definition.
    A state of a recurrence has its name in the equations of its step, so it is no such part; nor are indices, which
    stand in subscripts.
    """
    taken = (*avoid, *names.values(), *sizes_used([root]))
    named = {part: name for part, name in names.items() if part.kind != "recurrence" and not can_index(part)}
    parts = {_symbol(part, name): part for part, name in named.items()} if len(toposort([root])) <= MOST else {}
    over = _over_names(root, parts)
    simple = {own: part if own in over else simplify(part) for own, part in parts.items()}
    if simple != parts:
        parts, over = max((parts, over), (simple, _over_names(root, simple)), key=lambda found: len(found[1]))
    if not over:
        return formula_of(root, avoid, names, dotted, quantities)
    made: dict[str, Ast] = {}
    items = list(parts.items())
    states = {_over(part, items): name for part, name in names.items() if part.kind == "recurrence"}

    def written(node: Node) -> Ast:
        tree = formula_of(node, taken, states, dotted, quantities)
        return with_changed_parts(tree, lambda _, ast: made.get(str(ast.value), ast) if ast.head == "name" else ast)

    for own, part in parts.items():
        if own in over:
            made[own.name] = syntax.shared(own.name, written(over[part]))
    return written(over[root])


def _symbol(part: Node, name: str) -> Node:
    return symbol(name, part.shape, default_rulebook().strongest(sorted(part.facts)))


def _over_names(root: Node, parts: Mapping[Node, Node]) -> dict[Node, Node]:
    """Return the root, and the part of each symbol that it needs, over the symbols; nothing if a value would differ.

    `parts` are the parts by their symbols. A needed symbol maps to itself.
    """
    found = {root: _over(root, list(parts.items()))}
    needed = {node for node in toposort([found[root]]) if node in parts}
    items = list(parts.items())
    for k in range(len(items) - 1, -1, -1):
        own, part = items[k]
        if own in needed:
            found[own], found[part] = own, _over(part, items[:k])
            needed |= {node for node in toposort([found[part]]) if node in parts}
    is_same = all(node in parts or substitute(over, parts) is node for node, over in found.items())
    return found if needed and is_same else {}


def _over(root: Node, parts: Sequence[tuple[Node, Node]]) -> Node:
    """Return a node over the symbols of its parts, the last part first: it may contain the earlier ones.

    The node itself, or minus the node, has no name: its formula is printed.
    """
    for own, part in reversed(parts):
        coef, core = split_coef(part)
        if core.args:
            if core.rank == 2 and core.kind == "product" and core.args == (transpose(core),):
                core, own = transpose(core), transpose(own)
            made = everywhere(toposort([root]), core, scale(1 / coef, own))
            factor, shown = split_coef(made)
            is_whole = shown is own or own.rank == 2 and shown is transpose(own)
            root = root if is_whole and abs(factor) == 1 else made
    return root


def everywhere(nodes: Sequence[Node], core: Node, own: Node) -> Node:
    """Return the last node with `own` for each occurrence of `core`."""
    made: dict[Node, Node] = {}
    for node in nodes:
        made[node] = own if node is core else _with_factor(_with_terms(remake(node, made), core, own), core, own)
    return made[nodes[-1]]


def _with_factor(node: Node, core: Node, own: Node) -> Node:
    """Return a product in which `own` stands for the factors of `core`, wherever they are."""
    if core.kind != "product" or len(core.args) < 2 or len({*core.out}) < len(core.out):
        return node
    while node.kind == "product" and (found := next(occurrences(core, node), None)) is not None:
        others = [operand for k, operand in enumerate(node.operands) if k not in found.positions]
        at = tuple(found.indices[index] for index in core.out)
        left = {*at, *node.out, *(i for _, own_at in others for i in own_at)}
        sizes = {k: size for k, size in enumerate(node.index_sizes) if k in left}
        node = product(found.coef, [*others, (own, at)], node.out, sizes)
    return node


def _with_terms(node: Node, core: Node, own: Node) -> Node:
    """Return a sum in which a multiple of `own` stands for the terms of `core`, also transposed."""
    if core.kind != "sum" or split_coef(node)[1].kind != "sum" or node.rank != core.rank:
        return node
    turned = [(transpose(core), transpose(own))] if core.rank == 2 else []
    for part, shown in [(core, own), *turned]:
        terms, wanted = _terms(node), _terms(part)
        if not wanted.keys() <= terms.keys() or len(wanted) < 2:
            continue
        ratios = {terms[term] / coef for term, coef in wanted.items()}
        if len(ratios) == 1:
            left = [(coef, term) for term, coef in terms.items() if term not in wanted]
            return add([(ratios.pop(), shown), *left])
    return node


def _terms(node: Node) -> dict[Node, Fraction]:
    """Return the coefficient of each term of a sum."""
    found: dict[Node, Fraction] = {}
    for coef, term in summands(node):
        inner, plain = split_coef(term)
        found[plain] = coef * inner
    return found
