"""Builds sentences that contain formulas: they print as text, and notebooks typeset their formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from matcalc.formula.notation.write_node import formula_of
from matcalc.language.latex.writer.latex import latex
from matcalc.language.read import read
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.pictures.rich_text import Math, Piece
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import latex_looks, latex_names
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.sizes_from_shapes import KINDS

SHOWN = 200
"""The most characters of a formula inside a sentence; a longer one is cut."""


class Formula(NamedTuple):
    """A formula in a sentence: its text, its tree, and the kinds of its symbols."""

    text: str
    tree: Ast
    kinds: Mapping[str, str]


class Sentence(str):
    """A line of text; `parts` are its words and its formulas."""

    parts: tuple[str | Formula, ...]

    def __new__(cls, parts: Iterable[str | Formula]) -> Sentence:
        kept = tuple(parts)
        made = super().__new__(cls, "".join(p.text if isinstance(p, Formula) else p for p in kept))
        made.parts = kept
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence, (self.parts,)


def sentence(*parts: str | Node | Formula) -> Sentence:
    """Return words, formulas of nodes and other sentences as one sentence."""
    found: list[str | Formula] = []
    for part in parts:
        if isinstance(part, Node):
            found.append(_formula(part))
        else:
            found += part.parts if isinstance(part, Sentence) else [part]
    return Sentence(found)


def joined_by(separator: str, parts: Iterable[str | Node | Formula]) -> Sentence:
    """Return words and formulas as one sentence, with a separator between them."""
    both = [found for part in parts for found in (separator, part)]
    return sentence(*both[1:])


def formula_sentence(tree: Ast, nodes: Iterable[Node]) -> Sentence:
    """Return a formula over the symbols of nodes as a sentence, in full."""
    return Sentence([Formula(text(tree), tree, kinds_of(nodes))])


def formula_in_words(words: str, kinds: Mapping[str, str]) -> Formula:
    """Return the formula in a text; `kinds` are those of its symbols."""
    return Formula(words, read(words), kinds)


def pieces_of(line: str) -> tuple[Piece, ...]:
    """Return the words of a line, and its formulas as LaTeX; a line that is no sentence has words only."""
    parts = line.parts if isinstance(line, Sentence) else (line,)
    return tuple(Math(latex_of(p.tree, p.kinds), p.text) if isinstance(p, Formula) else p for p in parts)


def written(node: Node) -> str:
    """Return a node as text, cut to a maximal length."""
    return _cut(text(formula_of(node)))


def _formula(node: Node) -> str | Formula:
    """Return a node as a formula, or as words if its text is cut."""
    tree = formula_of(node)
    shown = text(tree)
    return Formula(shown, tree, kinds_of([node])) if len(shown) <= SHOWN else _cut(shown)


def latex_of(tree: Ast, kinds: Mapping[str, str]) -> str:
    """Return a formula as LaTeX; `kinds` are those of its symbols."""
    book = default_rulebook()
    return latex(tree, kinds, latex_looks(book), results=latex_names(book).results)


def kinds_of(nodes: Iterable[Node]) -> dict[str, str]:
    """Return the kind of each symbol, by name."""
    return {n.name: KINDS[min(n.rank, 3)] for n in toposort(list(nodes)) if n.kind == "symbol"}


def _cut(shown: str) -> str:
    return shown if len(shown) <= SHOWN else shown[: SHOWN - 3] + "..."
