"""Elaborates texts or syntax trees into nodes, with the scope that they share.

All texts are read first, since a later one may determine a size. Then sizes are solved and named, then nodes are built.
Errors show the user's sub-expression and its position.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from matcalc.errors import MatcalcError, NotSupported, ParseError, UnknownName
from matcalc.formula.elaborate.build import Builder, build
from matcalc.formula.elaborate.equations import names_of
from matcalc.formula.elaborate.rule_formula import template_of
from matcalc.formula.elaborate.type_tree import PI, infer
from matcalc.formula.elaborate.undeclared_sizes import size_names
from matcalc.formula.inference.exponents import check_bases, check_identity
from matcalc.formula.inference.inference import Inference
from matcalc.formula.inference.kinds import Ranks, Read, fitting
from matcalc.formula.inference.kinds_by_spelling import inferred_rank
from matcalc.formula.inference.power_sums import as_calls
from matcalc.formula.inference.scope import Scope, adopt, check_facts, check_parts, declare, scope_of
from matcalc.formula.inference.typed import Typed
from matcalc.formula.recurrences.build_systems import built
from matcalc.language.declare import MARK, read_declarations
from matcalc.language.identifiers import is_one_of, near, shown
from matcalc.language.kinds import INDEX, SIZE
from matcalc.language.read import read
from matcalc.language.recurrences import SYSTEM
from matcalc.language.syntax import Ast, definition, part_name, parts_in, whole
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.notations import latex_names, numpy_names, with_items
from matcalc.tensor.nodes.node import Node, sizes_used
from matcalc.tensor.sizes.sizes_from_shapes import KINDS, Condition
from matcalc.tensor.symbols import declaration

MOST_UNDECIDED = 3  # matrices whose rows or columns are tried
READERS: Mapping[str, Callable[[str, Inference], Ast]] = {
    "matrix": lambda text, inference: with_items(read(text), inference.rulebook),
    "numpy": lambda text, inference: _read_numpy(text, inference),
    "latex": lambda text, inference: _read_latex(text, inference),
}
"""Reader of each dialect; it gets the rulebook, which names the dialect's operations, and the declared names.

A dialect's reader is imported when the first text in it is read.
"""


@dataclass(frozen=True, slots=True)
class Elaborated:
    """Trees, nodes, row flags, conditions on sizes and named parts, one for each text, and the scope.

    `step_ranks` are the numbers of axes of the states and quantities of recurrences, at one step.
    """

    trees: tuple[Ast, ...]
    nodes: tuple[Node, ...]
    rows: tuple[bool, ...]
    conditions: tuple[tuple[Condition, ...], ...]
    parts: tuple[Mapping[str, Node], ...]
    scope: Scope
    step_ranks: Mapping[str, int]


def elaborate(
    formulas: Sequence[str | Ast],
    declarations: str = "",
    rulebook: Rulebook | None = None,
    dialect: str = "matrix",
    symbols: Mapping[str, Node] | None = None,
    sizes: Iterable[str] = (),
    varied: Collection[str] | None = None,
) -> Elaborated:
    """Return the nodes of formulas that share one scope; `symbols` and `sizes` are in it from the start.

    `varied` are names for differentiation; the formulas are then read as scalars if possible.

    Raises: ParseError, ShapeError, UnknownName, NotSupported, with the text and the position.
    """
    if not is_one_of(dialect, READERS):
        raise NotSupported(f"there is no dialect {shown(dialect)}", hint=f"dialects are {' and '.join(READERS)}")
    reader = READERS[dialect]
    book = rulebook if rulebook is not None else default_rulebook()
    texts = [formula if isinstance(formula, str) else "" for formula in formulas]
    declared = read_declarations(declarations)
    check_facts(declared, declarations, book)
    names = tuple(sizes)
    first: list[Ast] = []
    fixed = {*(d.name for d in declared), *(symbols or {})}
    axes: dict[str, tuple[int, str]] = {}

    def read_as(ranks: Mapping[str, int]) -> tuple[Inference, list[Typed]]:
        inference = Inference(book, numpy=dialect == "numpy", broadcasts=dialect == "numpy", ranks=ranks, axes=axes)
        adopt(inference, symbols or {}, names)
        declare(inference, declared)
        trees = [as_calls(reader(one, inference), one) if isinstance(one, str) else one for one in formulas]
        inference.trees = tuple(trees)
        if not ranks:
            first.extend(trees)
            fixed.update(inference.ranks)
        check_parts(inference, texts, trees)
        for text, tree in zip(texts, trees, strict=True):
            check_bases(inference, text, tree)
            check_identity(inference, text, tree)
        size_names(inference, trees)
        values: list[Typed] = []
        for number, (text, tree) in enumerate(zip(texts, trees, strict=True)):
            inference.text, inference.number = text, number
            values.append(infer(inference, tree))
        return inference, values

    try:
        inference, values = fitting(read_as, first, fixed, varied)
    except ParseError as fault:
        if not fault.undecided or not _axes_that_fit(read_as, axes, fault.undecided, book):
            raise
        first.clear()
        inference, values = fitting(read_as, first, fixed, varied)
    trees = inference.trees
    scope = scope_of(inference)
    _check_slips(texts, trees, scope, [d.name for d in declared if d.kind != SIZE])
    builder = Builder(inference, scope.symbols, partial(template_of, book, 0))
    nodes: list[Node] = []
    parts: list[Mapping[str, Node]] = []
    for text, tree, value in zip(texts, trees, values, strict=True):
        inference.text = text
        nodes.append(build(builder, value))
        read = [(part, inference.shared.get(definition(part))) for part in parts_in(tree)]  # None: inside an equation
        parts.append({name: node for part, typed in read if typed for name, node in _nodes_of(builder, part, typed)})
    conditions = tuple(tuple(inference.conditions.get(number, ())) for number in range(len(trees)))
    rows = tuple(value.row for value in values)
    variables = [v for system in inference.systems.values() for v in system.variables.values()]
    ranks = {variable.name: len(variable.shape) for variable in variables}
    return Elaborated(tuple(trees), tuple(nodes), rows, conditions, tuple(parts), scope, ranks)


def _axes_that_fit(
    read: Callable[[Ranks], Read],
    axes: dict[str, tuple[int, str]],
    undecided: Sequence[tuple[str, int, str]],
    book: Rulebook,
) -> bool:
    """Return whether one choice of rows or columns x_i of matrices fits the sizes of the formulas; `axes` is then that.

    A choice is needed only if nothing else decides it. Choices with the same nodes are one.
    """
    waiting = [{name: (axis, kind)} for name, axis, kind in undecided]
    others: list[ParseError] = []
    found: dict[tuple[Node, ...], dict[str, tuple[int, str]]] = {}
    while waiting:
        tried = waiting.pop()
        axes.clear()
        axes.update(tried)
        try:
            made, values = read({})
            made.finish()
            builder = Builder(made, scope_of(made).symbols, partial(template_of, book, 0))
            nodes = tuple(build(builder, value) for value in values)
        except ParseError as fault:
            more = [(name, axis, kind) for name, axis, kind in fault.undecided if name not in tried]
            if more and len(tried) >= MOST_UNDECIDED:
                return False
            waiting += [{**tried, name: (axis, kind)} for name, axis, kind in more]
            others += [] if fault.undecided else [fault]
        except MatcalcError:
            pass
        else:
            found.setdefault(nodes, tried)
            if made.sizes.guessed:
                return False
    axes.clear()
    axes.update(next(iter(found.values()), {}))
    if not found and len({(fault.message, fault.at) for fault in others}) == 1:
        raise others[0]  # the fault of all choices that sizes allow
    return len(found) == 1


def _nodes_of(builder: Builder, part: Ast, typed: Typed) -> Iterator[tuple[str, Node]]:
    """Yield the name and the node of a named part; of a recurrence, those of its states and quantities."""
    if typed.form != SYSTEM:
        yield part_name(part), build(builder, typed)
    else:
        yield from built(builder, typed.data).named.items()


def _check_slips(texts: Sequence[str], trees: Sequence[Ast], scope: Scope, declared: Collection[str]) -> None:
    """Raise for an undeclared name that looks like a misspelling of a declared name that no formula uses.

    Single letters do not count, since they are often left undeclared beside declared names.

    Raises: UnknownName, which names both.
    """
    used = {str(node.value) for tree in trees for node in whole(tree) if node.head == "name"}
    unused = [name for name in declared if name not in used]
    for name in scope.undeclared if unused else ():
        found = near(name, unused) if len(name) > 1 and name in used else []
        if not found:
            continue
        text, at = next(
            ((text, node.caret) for text, tree in zip(texts, trees, strict=True) for node in whole(tree)
             if node.head == "name" and node.value == name), ("", -1))  # fmt: skip
        other = " and ".join(found)
        message = f"{name} is not declared, and no formula uses {other}, which is declared"
        raise UnknownName(message, text=text, at=at, hint=f"write {' or '.join(found)}, or declare {name} too")


def _read_numpy(text: str, inference: Inference) -> Ast:
    from matcalc.language.numpy_text.numpy_dialect import read_numpy

    return read_numpy(text, numpy_names(inference.rulebook))


def _read_latex(text: str, inference: Inference) -> Ast:
    """Return the tree of LaTeX; declarations distinguish names from entries and rows, and fonts imply kinds."""
    from matcalc.language.latex.latex_scope import Known
    from matcalc.language.latex.passages.read_latex import read_latex

    shapes = {s.name: tuple(map(str, s.shape)) for s in inference.symbols.values()}
    kinds = {name: KINDS[min(len(shape), 3)] for name, shape in shapes.items()}
    ranks = inference.ranks
    indices = frozenset(s.name for s in inference.symbols.values() if INDEX in s.facts)
    sizes = frozenset(inference.size_names)

    def default(name: str) -> str:
        return KINDS[0 if name in PI else ranks.get(name, inferred_rank(name) or 0)]

    positive = frozenset(s.name for s in inference.symbols.values() if "positive" in s.facts)
    known = Known(kinds, shapes, sizes, default, indices, inference.axes, positive)
    found = read_latex(text, latex_names(inference.rulebook), known)
    inference.ranks = {**found.ranks, **ranks}
    declare(inference, read_declarations("; ".join(found.declared)))
    return found.tree


def declarations_of(
    node: Node, formula: Callable[[], Ast], symbols: Sequence[Node], undeclared: Collection[str] = ()
) -> str:
    """Return text that declares symbols, and the sizes that the formula alone does not show to be sizes.

    Those sizes occur only as numbers: `q` in `q*c`, but not in `q*eye(q)`. Names in `undeclared` are marked.
    """
    shown = {n for s in symbols for size in s.shape for n in size.names}
    hidden = [n for n in sizes_used([node]) if n not in shown]
    if hidden:
        ast = formula()
        inference = Inference(default_rulebook())
        adopt(inference, {s.name: s for s in symbols})
        size_names(inference, [ast])
        met = dict.fromkeys(names_of(ast, inference.rulebook)[0])
        hidden = [n for n in met if n in hidden and n not in inference.size_names]
    written = [declaration(s) + (MARK if s.name in undeclared else "") for s in symbols]
    return "; ".join([*written, *(f"{n}: {SIZE}" for n in hidden)])
