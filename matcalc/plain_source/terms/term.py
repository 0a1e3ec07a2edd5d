"""Defines terms: operations on arrays that every array language has, before they are printed.

A term has no rows: a vector is one-dimensional, and products name their kind by the ranks of their operands. Equal
terms are one object, and terms of equal nodes are one term.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from matcalc.language.syntax import operands_first
from matcalc.rulebook.rule import Rule
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

Shape = tuple[Size, ...]
NONE: frozenset[str] = frozenset()
UNKNOWN = "_index"
"""The name of a length that no axis measures, before the index's label."""


@dataclass(slots=True, eq=False)
class Term:
    """An operation on arrays.

    form: the entry of a language's table that prints it. data: the form's payload: a name, a number, the signs of a
    sum, an exponent, subscripts, or the Call of a function. facts: those of its value that are known so far.
    """

    form: str
    args: tuple[Term, ...] = ()
    data: Any = None
    shape: Shape = ()
    facts: frozenset[str] = NONE

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.args))
        own = "" if self.data is None else f"[{self.data}]"
        return f"{self.form}{own}({inner})" if inner else f"{self.form}{own}"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operation: its rule, the number of the signature, and the axis along which it acts."""

    rule: Rule
    index: int = 0
    axis: int | None = None

    @property
    def name(self) -> str:
        return self.rule.name


@dataclass(slots=True)
class Pool:
    """All terms of a function, each once.

    nodes: the terms of nodes. part_names: names that a user gave. used: products that are chosen. lengths: of indices.
    inverted: matrices whose inverse is part of a result.
    """

    terms: dict[tuple[Any, ...], Term] = field(default_factory=dict)
    nodes: dict[Node, Term] = field(default_factory=dict)
    part_names: dict[Term, str] = field(default_factory=dict)
    used: set[Term] = field(default_factory=set)
    lengths: dict[int, Size] = field(default_factory=dict)
    inverted: set[Term] = field(default_factory=set)

    def term(
        self,
        form: str,
        args: Sequence[Term] = (),
        data: Any = None,
        shape: Sequence[Size] = (),
        facts: frozenset[str] = NONE,
    ) -> Term:
        """Return the term of a form and operands, always the same object for the same ones."""
        key = (form, tuple(args), data)
        found = self.terms.get(key)
        if found is None:
            found = self.terms[key] = Term(form, tuple(args), data, tuple(shape), facts)
        return found

    def number(self, value: Fraction | int) -> Term:
        return self.term("number", (), Fraction(value))

    def known(self, size: Size) -> Size:
        """Return a size with the lengths of indices that are known by now."""
        return size.substitute({f"{UNKNOWN}{label}": length for label, length in self.lengths.items()})


def length_term(pool: Pool, size: Size) -> Term:
    """Return a size as a scalar term."""
    return pool.term("length", (), size)


def terms_in(roots: Iterable[Term]) -> list[Term]:
    """Return all terms that roots contain, each once, operands before their users."""
    found: dict[Term, None] = {}
    for root in roots:
        for term in operands_first(root, lambda term: term.args, found):
            found.setdefault(term)
    return list(found)


def transposed(pool: Pool, term: Term) -> Term:
    """Return the transpose of a term: itself for a scalar, a vector and a symmetric matrix."""
    if term.rank < 2 or "symmetric" in term.facts or term.form == "diagonal":
        return term
    if term.form == "transpose":
        return term.args[0]
    if term.form == "neg":
        return pool.term("neg", [transposed(pool, term.args[0])], None, term.shape[::-1], term.facts)
    if term.form == "add" and all(arg.form == "transpose" or not arg.rank for arg in term.args):
        return pool.term(term.form, [transposed(pool, arg) for arg in term.args], term.data, term.shape[::-1])
    if term.form == "part" and [spec[0] for spec in term.data] == ["all", "gather"]:
        return pool.term("part", term.args, term.data[::-1], term.shape[::-1])
    facts = {"lower": "upper", "upper": "lower"}
    kept = frozenset(facts.get(fact, fact) for fact in term.facts)
    return pool.term("transpose", (term,), None, term.shape[::-1], kept)


def ranks_of(term: Term) -> str:
    """Return the ranks of a term's operands, a digit for each."""
    return "".join(str(arg.rank or _is_of_parameter(arg)) for arg in term.args)


def _is_of_parameter(term: Term) -> int:
    """Return 1 for a scalar that holds the parameter of a function, which is applied to vectors."""
    stack, seen = [term], {term}
    while stack:
        own = stack.pop()
        if own.form == "parameter":
            return 1
        new = [arg for arg in own.args if not arg.rank and arg not in seen]
        seen.update(new)
        stack += new
    return 0


def is_constant(term: Term) -> bool:
    """Whether a term is made of numbers and sizes alone."""
    if not term.args:
        return term.form in ("number", "pi", "size", "length")
    return not term.rank and all(map(is_constant, term.args))
