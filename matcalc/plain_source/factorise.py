"""Chooses factorisations: one matrix that is solved with, inverted or measured several times is factorised once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from matcalc.plain_source.language import Language
from matcalc.plain_source.terms.term import Pool, Term, terms_in, transposed

LOGDET = "log_determinant"


@dataclass(slots=True)
class Uses:
    """The terms that use one matrix: solutions with it and with its transpose, its inverse, its log-determinant."""

    solves: list[Term] = field(default_factory=list)
    transposed_solves: list[Term] = field(default_factory=list)
    inverses: list[Term] = field(default_factory=list)
    logdets: list[Term] = field(default_factory=list)


def factorised(pool: Pool, language: Language, roots: Sequence[Term]) -> list[Term]:
    """Return the roots with solutions of equations by the factorisations of a language."""
    roots = rewritten(pool, roots, _without_transposed_symmetric(pool))
    uses: dict[Term, Uses] = {}
    for term in terms_in(roots):
        _add(uses, term)
    chosen = {matrix: name for matrix, found in uses.items() if (name := _choice(language, matrix, found))}

    def change(term: Term, args: Sequence[Term]) -> Term:
        return _solved(pool, language, chosen, term, args)

    return rewritten(pool, roots, change)


Change = Callable[[Term, Sequence[Term]], Term]


def rewritten(pool: Pool, roots: Sequence[Term], change: Change) -> list[Term]:
    """Return the roots with each term replaced by `change(term, new operands)`."""
    new: dict[Term, Term] = {}
    for term in terms_in(roots):
        new[term] = change(term, [new[arg] for arg in term.args])
    pool.part_names.update({new[t]: name for t, name in pool.part_names.items() if t in new})
    return [new[root] for root in roots]


def same_form(pool: Pool, term: Term, args: Sequence[Term]) -> Term:
    """Return a term with other operands."""
    if all(a is b for a, b in zip(term.args, args, strict=True)):
        return term
    return pool.term(term.form, args, term.data, term.shape, term.facts)


def _without_transposed_symmetric(pool: Pool) -> Change:
    """Return the change that removes transposes of matrices whose symmetry became known later."""

    def change(term: Term, args: Sequence[Term]) -> Term:
        if term.form == "transpose":
            return transposed(pool, args[0])
        return same_form(pool, term, args)

    return change


def _add(uses: dict[Term, Uses], term: Term) -> None:
    if term.form == "solution":
        matrix = term.args[0]
        if matrix.form == "transpose":
            uses.setdefault(matrix.args[0], Uses()).transposed_solves.append(term)
        else:
            uses.setdefault(matrix, Uses()).solves.append(term)
    elif term.form == "inverse":
        uses.setdefault(term.args[0], Uses()).inverses.append(term)
    elif term.form == "call" and term.data.rule.role == LOGDET:
        uses.setdefault(term.args[0], Uses()).logdets.append(term)


def _choice(language: Language, matrix: Term, uses: Uses) -> str:
    """Return the factorisation of a matrix; "" for none.

    It needs a solution, or an inverse and a determinant, and as many solutions and determinants as its entry says.
    """
    if {"lower", "upper", "diagonal"} & matrix.facts:
        return ""
    solutions = len(uses.solves) + len(uses.transposed_solves)
    for name, entry in language.factorisations.items():
        has_fact = "when" not in entry or entry["when"] in matrix.facts
        is_needed = solutions or ("inverse" in entry and uses.inverses and uses.logdets)
        if has_fact and is_needed and solutions + len(uses.logdets) >= int(entry.get("least", 1)):
            return name
    return ""


def _solved(pool: Pool, language: Language, chosen: Mapping[Term, str], term: Term, args: Sequence[Term]) -> Term:
    if term.form == "solution":
        return _solve(pool, chosen, term, args)
    if term.form == "inverse" and term.args[0] in chosen:
        name = chosen[term.args[0]]
        if "inverse" in language.factorisations[name]:
            return pool.term(f"{name}.inverse", (_factor(pool, name, args[0]),), None, term.shape, term.facts)
    if term.form == "call" and term.data.rule.role == LOGDET and term.args[0] in chosen:
        name = chosen[term.args[0]]
        return pool.term(f"{name}.log_determinant", (_factor(pool, name, args[0]),))
    return same_form(pool, term, args)


def _solve(pool: Pool, chosen: Mapping[Term, str], term: Term, args: Sequence[Term]) -> Term:
    matrix = term.args[0]
    is_transposed = matrix.form == "transpose" and matrix.args[0] in chosen
    inner = matrix.args[0] if is_transposed else matrix
    if inner in chosen:
        name = chosen[inner]
        new = args[0].args[0] if is_transposed else args[0]
        form = "solution_transposed" if is_transposed else "solution"
        return pool.term(f"{name}.{form}", (_factor(pool, name, new), args[1]), None, term.shape, term.facts)
    triangle = next((fact for fact in ("lower", "upper") if fact in matrix.facts), "")
    if triangle and "diagonal" not in matrix.facts:
        return pool.term(f"solution_{triangle}", args, None, term.shape)
    return same_form(pool, term, args)


def _factor(pool: Pool, name: str, matrix: Term) -> Term:
    """Return the factorisation of a matrix; its shape is the matrix's, though languages have objects of their own."""
    return pool.term(f"{name}.make", (matrix,), None, matrix.shape)
