"""Translates a syntax tree into terms, iteratively: each form is a generator that yields the operands it needs.

Each tree without open indices is built as a node from the nodes of its operands. So equal parts of several formulas are
one term, and facts of matrices are known where an operation is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias, cast

from matcalc.errors import MatcalcError, NotSupported
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.identifiers import supply
from matcalc.language.index_sums import with_sums
from matcalc.language.kinds import INDEX
from matcalc.language.syntax import (
    Ast,
    children,
    exchanged,
    index_form,
    index_sum,
    leaf_of,
    name,
    part,
    rebuild,
    transpose,
    walk,
)
from matcalc.language.write import text
from matcalc.plain_source.terms.term import Pool, Term, transposed
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.tensor.constructors import product, scale
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a tree: its term, whether it is a row, and its node if it has no open index.

    axes: the labels of open indices, which are the first axes of the term.
    """

    term: Term
    row: bool = False
    node: Node | None = None
    axes: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        """The number of axes apart from those of open indices."""
        return self.term.rank - len(self.axes)


Labelled: TypeAlias = "tuple[Term, tuple[int, ...]]"
Steps: TypeAlias = "Generator[Ast, Value, Value]"
Form: TypeAlias = "Callable[[Reader, Ast], Steps | Value]"


@dataclass(slots=True)
class Reader:
    """The state of translating the formulas of one function.

    forms: by head. values: of trees. explicit: parts with their sums written out. bound: labels of index names.
    parameters: of the function being read. factors, sums: of values over open indices.
    arrays: index forms, with the factors of their entries and the labels of their axes.
    """

    names: Names
    forms: Mapping[str, Form]
    pool: Pool
    book: Rulebook = field(default_factory=default_rulebook)
    values: dict[Ast, Value] = field(default_factory=dict)
    explicit: dict[Ast, Ast] = field(default_factory=dict)
    bound: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, Value] = field(default_factory=dict)
    labels: int = 0
    sums: dict[Labelled, list[tuple[int, Value]]] = field(default_factory=dict)
    arrays: dict[Labelled, tuple[list[Labelled], tuple[int, ...]]] = field(default_factory=dict)
    factors: dict[Labelled, list[Labelled]] = field(default_factory=dict)

    def read(self, tree: Ast) -> Value:
        """Return the value of a tree.

        Raises: NotSupported for a form without plain source.
        """
        stack: list[tuple[Ast, Steps]] = []
        answer = self._entered(tree, stack)
        while stack:
            try:
                answer = self._entered(stack[-1][1].send(cast(Any, answer)), stack)
            except StopIteration as done:
                own, _ = stack.pop()
                answer = self._known(own, done.value)
        assert answer is not None
        return answer

    def _entered(self, tree: Ast, stack: list[tuple[Ast, Steps]]) -> Value | None:
        if tree in self.values:
            return self.values[tree]
        if tree.head not in self.forms:
            raise NotSupported(f"{text(tree)} has no plain source")
        found = self.forms[tree.head](self, tree)
        if isinstance(found, Value):
            return self._known(tree, found)
        stack.append((tree, found))
        return None

    def _known(self, tree: Ast, value: Value) -> Value:
        """Return a value with its node, and with the term of an equal part that was met before."""
        node = value.node or self._node(tree, value)
        term = value.term
        if node is not None and term.args and node.kind not in ("number", "size"):
            term = self._same(node, term)
        value = replace(value, term=term, node=node)
        if not value.axes and not self._is_open(tree):
            self.values[tree] = value
        return value

    def _node(self, tree: Ast, value: Value) -> Node | None:
        """Return the node of a tree; None for one over open indices, or whose lengths follow from its context."""
        if value.axes or value.term.form == "function" or self._is_open(tree):
            return None
        try:
            return self.node_of(tree)
        except MatcalcError:
            return None

    def _is_open(self, tree: Ast) -> bool:
        """Whether a tree depends on an index of a form around it."""
        names = {**self.bound, **self.parameters}
        return bool(names) and any(leaf.head == "name" and leaf.value in names for leaf in walk(tree))

    def with_sums(self, tree: Ast) -> Ast:
        """Return a tree with its sums over indices written out; one that occurs several times is wrapped once."""

        def once(node: Ast) -> Ast:
            if node.head != "index_sum":
                return node
            return index_sum(tuple(dict.fromkeys(cast("tuple[str, ...]", node.value))), node.args[0])

        return rebuild(with_entries(with_sums(tree, self.is_index)), once)

    def needed_node(self, tree: Ast) -> Node:
        """Return the node of a tree.

        Raises: NotSupported if its lengths follow only from its context.
        """
        try:
            return self.node_of(tree)
        except MatcalcError as fault:
            raise NotSupported(f"{text(tree)} has no plain source: {fault.message}") from None

    def is_index(self, word: str) -> bool:
        """Whether a name is neither a symbol nor a size."""
        return word not in self.names.scope

    def new_label(self) -> int:
        """Return a label for an axis."""
        self.labels += 1
        return self.labels

    def _same(self, node: Node, term: Term) -> Term:
        """Return the term of an equal part that was met before, or of its transpose or negative; else `term`."""
        pool = self.pool
        found = pool.nodes.get(node)
        if found is not None:
            return found
        if (
            node.rank == 2
            and term.form not in ("transpose", "diagonal")
            and (flipped := pool.nodes.get(turned_node(node)))
        ):
            term = transposed(pool, flipped)
        elif term.form == "add":
            minus = scale(-1, node)
            if minus in pool.nodes:
                term = negated(self, pool.nodes[minus])
            elif node.rank == 2 and (flipped := pool.nodes.get(turned_node(minus))):
                term = negated(self, transposed(pool, flipped))
        pool.nodes[node] = term
        term.facts |= node.facts
        return term

    def node_of(self, tree: Ast) -> Node:
        """Return the node of a tree, built from the nodes of its operands."""
        operands = [self._leaf(child) for child in children(tree)]
        symbols = {name: node for name, node in self.names.symbols.items()}
        sizes = {name: Size.of(name) for name in self.names.size_names}
        return build_formula(exchanged(tree, operands), (), self.book, symbols, sizes=sizes)

    def _leaf(self, tree: Ast) -> Ast:
        value = self.values.get(tree)
        if value is None or value.node is None:
            return rebuild(tree, self._with_data)
        node = value.node
        leaf = leaf_of(node, lambda: formula_of(node))
        return transpose(leaf) if value.row and value.rank == 1 else leaf

    def _with_data(self, tree: Ast) -> Ast:
        """Return a name of indices that are data as a leaf that holds its symbol."""
        node = self.names.symbols.get(str(tree.value)) if tree.head == "name" and tree.value not in self.bound else None
        return leaf_of(node, lambda: tree) if node is not None and INDEX in node.data[1] else tree

    def number(self, value: Fraction | int) -> Term:
        return self.pool.number(value)


def with_entries(tree: Ast) -> Ast:
    """Return a tree with `{t: X[i,t] - X[j,t]}` for operands `X[i, :] - X[j, :]` over indices of forms."""
    bound = {name for node in walk(tree) if node.head == "index_form" for name in cast("tuple[str, ...]", node.value)}
    if not bound:
        return tree
    letters = supply("tuvw", {str(node.value) for node in walk(tree) if node.head == "name"} | bound)

    def entries(operand: Ast) -> Ast:
        lines = [x for x in walk(operand) if x.head == "part" and any(_is_whole(s) for s in x.args[1:])]
        is_open = any(s.head == "name" and s.value in bound for x in lines for s in x.args[1:])
        if operand.head not in ("sum", "part", "product") or not is_open:
            return operand
        letter = next(letters)

        def entry(x: Ast) -> Ast:
            return part(x.args[0], *(name(letter) if _is_whole(s) else s for s in x.args[1:])) if x in lines else x

        return index_form((letter,), rebuild(operand, entry))

    def change(node: Ast) -> Ast:
        return replace(node, args=tuple(map(entries, node.args))) if node.head == "call" else node

    return rebuild(tree, change)


def _is_whole(subscript: Ast) -> bool:
    return subscript.head == "slice" and all(bound.head == "empty" for bound in subscript.args)


def turned_node(node: Node) -> Node:
    """Return the node of the transpose of a matrix."""
    return product(1, [(node, (0, 1))], (1, 0))


def negated(reader: Reader, term: Term) -> Term:
    if term.form == "number":
        return reader.number(-term.data)
    if term.form == "neg":
        return term.args[0]
    return reader.pool.term("neg", (term,), None, term.shape, term.facts & {"symmetric", "diagonal", "lower", "upper"})


def factors_of(reader: Reader, value: Value) -> list[Labelled]:
    """Return the factors of a scalar value over open indices."""
    return reader.factors.get((value.term, value.axes), [(value.term, value.axes)])
