"""Writes a node as a syntax tree whose index names differ from the names in scope, and as LaTeX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from matcalc.calculus.simplify.quantities import Quantities, quantities_of
from matcalc.calculus.simplify.shortest import shortest
from matcalc.calculus.simplify.simplify import simplify
from matcalc.calculus.simplify.users_names import named_formula
from matcalc.errors import MatcalcError
from matcalc.expressions.read_formulas import Meaning, read_formulas
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.inference.power_sums import as_sums
from matcalc.formula.notation.choose_parts import names_in, renamed_parts, with_parts
from matcalc.formula.notation.write_node import NOT_NAMED
from matcalc.language.recurrences import EQUATION
from matcalc.language.syntax import Ast, definition, part_name, whole
from matcalc.language.write import text
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.meanings import explained, explained_latex, explained_where, remarks_in
from matcalc.rulebook.notations import latex_looks, latex_names
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.sizes_from_shapes import KINDS
from matcalc.tensor.symbols import Names

VECTORS = "abcdpquvrstzghklmnwxyfeoij"
MATRICES = "PQRSTUVWKLMNABCDEFGHJXYZIO"
"""Names of parts, in the order of use."""


def formula_in(node: Node, names: Names, parts: Mapping[Node, str] = NOT_NAMED, dotted: bool = True) -> Ast:
    """Return the syntax tree of a node, in which `parts` have their names; with dotted signs, or without."""
    named, scope = names.named_parts, tuple(names.scope)
    if all(own.kind != "recurrence" for own in named):
        return named_formula(node, scope, parts, dotted)
    plain = quantities_of({form: name for own, name in named.items() for form in (simplify(own), own)})
    forms = {form: name for own, name in named.items() for form in _forms(own, plain)}
    states = {form: name for form, name in forms.items() if form.kind == "recurrence"}
    quantities = quantities_of(forms)
    used = quantities.names_in(node)
    others = {part: name for part, name in parts.items() if name not in used}
    tree = named_formula(node, (*scope, *used), {**states, **others}, dotted, quantities)
    if used and not _is_text_of(tree, node, names):
        return named_formula(node, scope, {**states, **parts}, dotted)
    return tree


def _forms(own: Node, quantities: Quantities) -> tuple[Node, ...]:
    """Return the forms in which a named node occurs in results."""
    return shortest(own, quantities=quantities), shortest(own), simplify(own), own


def _is_text_of(tree: Ast, node: Node, names: Names) -> bool:
    """Whether a formula is read as a node."""
    try:
        return read_formulas([tree], known=names.symbols, sizes=names.size_names)[0].node is node
    except MatcalcError:
        return False


def named_formula_in(node: Node, names: Names, dotted: bool = True) -> tuple[Ast, Names]:
    """Return the syntax tree of a node with the user's named parts, and further ones that make it shortest.

    Also return the names, including those of these parts. A text whose parts share a name is written without parts.
    """
    named = _with_parts(node, names, dotted)
    if any(tree.head == EQUATION for tree in whole(named)) and not _is_readable(text(named), names):
        named = formula_in(node, names, dotted=dotted)
    read = read_formulas([named], known=names.symbols, sizes=names.size_names)[0]
    return named, replace(names, parts=read.names.parts)


def _is_readable(formula: str, names: Names) -> bool:
    try:
        read_formulas([formula], known=names.symbols, sizes=names.size_names)
    except MatcalcError:
        return False
    return True


def _with_parts(node: Node, names: Names, dotted: bool) -> Ast:
    own = names.named_parts

    def read_back(formula: Ast) -> Meaning:
        return read_formulas([formula], known=names.symbols, sizes=names.size_names)[0]

    def is_same(formula: Ast) -> bool:
        try:
            return read_back(formula).node is node
        except MatcalcError:  # a size as a part
            return False

    tree = with_parts(formula_in(node, names, own, dotted), is_same, names.symbols.keys())
    taken = {*names.scope, *names_in(tree), *own.values()}
    parts = read_back(tree).names.parts
    called: dict[Ast, str] = {}

    def name_of(part: Ast) -> str:
        label, key = part_name(part), definition(part)
        if label.isdigit() and key not in called:
            letters = MATRICES if parts[label].rank > 1 else VECTORS
            free = (f"{letter}{k or ''}" for k in count() for letter in letters)
            called[key] = next(name for name in free if name not in taken and name not in called.values())
        return called.get(key, label)

    return renamed_parts(tree, name_of)


def text_of(formula: Ast, is_named: bool = False) -> str:
    """Return the text of a formula with the meanings of its operations; its named parts are first, or behind where."""
    return (explained_where if is_named else explained)(as_sums(formula))


def latex_in(formula: Ast, names: Names) -> str:
    """Return a formula over the symbols of `names` as LaTeX."""
    from matcalc.language.latex.writer.latex import latex

    formula = as_sums(formula, counted=True)
    nodes = {**names.parts, **names.symbols}
    kinds = {name: KINDS[min(node.rank, 3)] for name, node in nodes.items()}
    if any(tree.head == EQUATION for tree in whole(formula)):
        ranks = elaborate([formula], symbols=names.symbols, sizes=names.size_names).step_ranks
        kinds.update((name, KINDS[min(rank, 3)]) for name, rank in ranks.items())
    shapes = {name: tuple(map(str, node.shape)) for name, node in nodes.items()}
    book = default_rulebook()
    shown = latex(formula, kinds, latex_looks(book), shapes, latex_names(book).results)
    return explained_latex(shown, remarks_in([formula]))
