"""Writes comments: the formula of a value of a program in the notation of the language, bounded in length.

All comments of a program share the texts of nodes, so that each formula is composed once. A named part is defined where
it is computed; later comments write its name. A formula that is too long is cut in its middle. A node whose tree would
be far too long is written as dots in the formulas that contain it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.exact_deviations import with_exact_deviations, with_original_means
from matcalc.compiler.plan.values.running_totals import AsSums
from matcalc.errors import NotSupported
from matcalc.formula.forms import form as forms
from matcalc.formula.notation.node_reading import Reading
from matcalc.formula.notation.write_node import Readings, formula_of
from matcalc.language.short_names import short_name
from matcalc.language.syntax import Ast
from matcalc.language.write import ends
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import LONG, Node, Operand, everything, sizes_used, toposort
from matcalc.tensor.sizes.size import Size

LENGTH, TAIL = 56, 12
TOKENS = 200
"""A comment shows the first tokens of a formula: longer ones are dots, so that they need not be written."""


class Factors(NamedTuple):
    """The value of an intermediate step: a product of some factors of a product, with indices summed."""

    operands: tuple[Operand, ...]
    out: tuple[int, ...]
    sizes: Mapping[int, Size]
    coef: Fraction | int = 1


class For(NamedTuple):
    """An intermediate value of a node, without a formula of its own."""

    of: Node | Factors


Subject = str | Node | Factors | For
"""The subject of a comment: text, the formula of a value, or the node that a value helps compute."""


def scaled(coef: Fraction | float, subject: Subject) -> Subject:
    """Return the subject of a comment on a multiple of a value."""
    if coef == 1 or not isinstance(coef, (Fraction, int)):
        return subject
    if isinstance(subject, Node):
        at = tuple(range(subject.rank))
        return Factors(((subject, at),), at, dict(enumerate(subject.shape)), coef)
    return subject._replace(coef=coef * subject.coef) if isinstance(subject, Factors) else subject


def in_order(node: Node, order: Sequence[int]) -> Subject:
    """Return the subject of a comment on a node whose axes have this order in memory."""
    own = tuple(range(node.rank))
    return node if tuple(order) == own else Factors(((node, own),), tuple(order), dict(enumerate(node.shape)))


def product_of(subject: Subject) -> Node | None:
    """Return the product that a value holds, without its coefficient, if it is one of several operands."""
    if isinstance(subject, Node) and subject.kind == "product":
        subject = Factors(subject.operands, subject.out, subject.sizes)
    if not isinstance(subject, Factors) or len(subject.operands) < 2:
        return None
    return product(1, subject.operands, subject.out, subject.sizes)


def brief(node: Node) -> str:
    """Return the formula of a node, cut to about LENGTH characters."""
    return ends(formula_of(node), LENGTH, TAIL)


def meaning_of(
    nodes: Sequence[Node], written: Mapping[Node, Node], meaning: Callable[[Node], Node] | None
) -> Callable[[Node], Node] | None:
    """Return the function from a node of a plan to the node that comments write in its place.

    `written` are nodes by those with joined recurrences; in others means may have been replaced.
    """
    has_means = with_exact_deviations(nodes) != list(nodes)

    def found(node: Node) -> Node:
        node = written.get(node, node)
        node = meaning(node) if meaning else node
        return with_original_means(node) if has_means else node

    has_steps = any(node.kind == "recurrence" for node in toposort(nodes))
    return found if has_means or has_steps else meaning


class Describer:
    """The texts of comments, over the names of some nodes; `parts` are named nodes.

    `meaning` returns the node that comments write in place of a node.
    """

    def __init__(
        self, roots: Sequence[Node], parts: Mapping[Node, str], meaning: Callable[[Node], Node] | None = None
    ) -> None:
        self.meaning = meaning
        self.as_sums = AsSums()
        known = list(everything(roots))
        symbols = {node.name for node in known if node.kind == "symbol"}
        has_steps = any(node.kind == "recurrence" for node in known)
        self.most = LONG if has_steps else TOKENS  # the name of a state is short
        self.parts = parts
        self.defined: dict[Node, Ast] = {}
        self.texts: dict[object, str] = {}
        self.readings = Readings(frozenset({*symbols, *sizes_used(roots), *parts.values()}), self._named)

    def __call__(self, subject: Subject) -> str:
        """Return the text of a comment, about LENGTH characters at most; empty if the language cannot write it."""
        if isinstance(subject, str):
            return subject
        if isinstance(subject, For):
            text = self(subject.of)
            return f"for {text}" if text else ""
        key = subject if isinstance(subject, Node) else (*subject[:2], tuple(subject.sizes.items()), subject.coef)
        if key not in self.texts:
            self.texts[key] = self._text(subject)
        return self.texts[key]

    def _text(self, subject: Node | Factors) -> str:
        ast = self._formula(subject)
        if ast is None:
            return ""
        if isinstance(subject, Node) and subject in self.defined:
            return f"{self.parts[subject]} = {ends(self.defined[subject], LENGTH, TAIL)}"
        return ends(ast, LENGTH, TAIL)

    def _formula(self, subject: Node | Factors) -> Ast | None:
        """Return the formula of a value, None if the language cannot write it."""
        if isinstance(subject, Factors) and not _is_product(subject):
            return None
        node = (
            product(subject.coef, subject.operands, subject.out, subject.sizes)
            if isinstance(subject, Factors)
            else subject
        )
        node = self.as_sums(self.meaning(node) if self.meaning else node)
        for one in toposort(node, self.readings.data):
            if self._is_long(one):
                self.readings.data[one] = Reading(forms.name("..."))
        try:
            return self.readings[node].form.ast
        except NotSupported:
            return None

    def _is_long(self, node: Node) -> bool:
        """Whether a node is written as dots: a long array, or a very long formula that is no named part."""
        is_long_array = node.kind == "constant" and node.array.size > LONG
        return is_long_array or (node.length > self.most and node not in self.parts)

    def short(self, subject: Subject) -> str:
        """Return a short name for the subject of a comment, empty if there is none."""
        ast = None if isinstance(subject, (str, For)) else self._formula(subject)
        return short_name(ast) if ast is not None else ""

    def name(self, node: Node) -> str:
        """Return the text for a node in a message: a named part by its name alone."""
        return self.parts.get(node) or self(node)

    def _named(self, node: Node, reading: Reading) -> Reading:
        """Return the reading of a node inside others: a part by its name."""
        if node not in self.parts:
            return reading
        self.defined[node] = reading.form.ast
        return Reading(replace(forms.name(self.parts[node]), degree=reading.form.degree))


def _is_product(subject: Factors) -> bool:
    """Whether every index runs over the whole of each of its axes, not over a part of one."""
    lengths = dict(subject.sizes)
    return all(
        lengths.setdefault(index, size) == size
        for node, at in subject.operands
        for index, size in zip(at, node.shape, strict=True)
    )
