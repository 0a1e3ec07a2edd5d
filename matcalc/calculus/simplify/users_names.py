"""Writes a formula with the names that the user gave to parts of it, wherever these parts still occur.

A part occurs as a node, as some factors of a product, as some terms of a sum, and as a multiple of these. Each occurrence
becomes a symbol with the part's name. Then the formula is printed, and the name refers to its definition. The symbol's
value, put back, must yield the node again; otherwise the name is not used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from matcalc.calculus.simplify.match import occurrences
from matcalc.formula.notation.write_node import formula_of
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import add, product, scale, symbol, transpose
from matcalc.tensor.nodes.node import Node, sizes_used, toposort
from matcalc.tensor.substitute import remake, substitute
from matcalc.tensor.sums import split_coef, summands

NO_NAMES: Mapping[Node, str] = {}
MOST = 3000
"""Nodes of a formula in which factors and terms are looked for; a larger one has names only for whole nodes."""

Named = tuple[Node, str]


def named_formula(
    root: Node, avoid: Collection[str] = (), names: Mapping[Node, str] = NO_NAMES, dotted: bool = True
) -> Ast:
    """Return the formula of a node, in which `names` are names of parts; otherwise as `formula_of`.

    A part's definition uses the names of parts before it.
    """
    taken = {*avoid, *names.values()}
    made: dict[str, Ast] = {}
    parts = list(names.items())
    used = _used(root, parts)
    for k, (part, name) in enumerate(parts):
        if name in used:
            made[name] = syntax.shared(name, _formula(part, taken, parts[:k], made, dotted))
    return _formula(root, taken, parts, made, dotted)


def _used(root: Node, parts: Sequence[Named]) -> set[str]:
    """Return the names that a formula of the node uses, or a definition of one of these."""
    found = {node.name for node in toposort([_over_names(root, parts)]) if node.kind == "symbol"}
    used: set[str] = set()
    for k in range(len(parts) - 1, -1, -1):
        part, name = parts[k]
        if name in found:
            used.add(name)
            found |= {node.name for node in toposort([_over_names(part, parts[:k])]) if node.kind == "symbol"}
    return used


def _formula(root: Node, taken: Collection[str], parts: Sequence[Named], made: Mapping[str, Ast], dotted: bool) -> Ast:
    tree = formula_of(_over_names(root, parts), (*taken, *sizes_used([root])), dotted=dotted)
    return syntax.rebuild(tree, lambda ast: made.get(str(ast.value), ast) if ast.head == "name" else ast)


def _over_names(root: Node, parts: Sequence[Named]) -> Node:
    """Return a node over symbols for its parts, the last part first: it may contain the earlier ones.

    The node itself, or minus the node, has no name: its formula is printed.
    """
    made = root
    for part, name in reversed(parts):
        facts = default_rulebook().strongest(sorted(part.facts))
        found = _over_name(made, part, symbol(name, part.shape, facts))
        coef, core = split_coef(found)
        made = made if core.kind == "symbol" and abs(coef) == 1 else found
    return made


def _over_name(root: Node, part: Node, own: Node) -> Node:
    """Return a node in which a symbol stands for a part; the node itself if the part does not occur."""
    coef, core = split_coef(part)
    if not core.args:
        return root
    whole = {core: scale(1 / coef, own)}
    nodes = toposort([root])
    forms = [substitute(root, whole)] if core in nodes else []
    if len(nodes) <= MOST:
        forms.insert(0, _everywhere(nodes, core, whole[core]))
    same = (new for new in forms if new is not root and substitute(new, {own: part}) is root)
    return next(same, root)


def _everywhere(nodes: Sequence[Node], core: Node, own: Node) -> Node:
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
    for part, shown in [(core, own)] + [(transpose(core), transpose(own))] * (core.rank == 2):
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
