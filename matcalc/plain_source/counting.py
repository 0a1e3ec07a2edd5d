"""Converts data that are indices, where the language says how: where they count from 1, or are no floating numbers.

As subscripts they stay as they are. Anywhere else they are numbers from 0, as in the formula.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.plain_source.factorise import rewritten, same_form
from matcalc.plain_source.language import Language
from matcalc.plain_source.terms.term import Pool, Term

SCATTERED = ("scatter", "scatter_rows")
"""Forms whose first operand is an array of indices."""


def is_index(term: Term) -> bool:
    """Whether a term is data that are indices, or a part of such data."""
    while term.form == "part":
        term = term.args[0]
    return term.form == "name" and "index" in term.facts


def counted(pool: Pool, language: Language, roots: Sequence[Term]) -> list[Term]:
    """Return the roots with data of indices as numbers from 0 where they are no subscripts."""
    if "from_zero" not in language.forms:
        return list(roots)

    def number(term: Term) -> Term:
        return pool.term("from_zero", (term,), None, term.shape) if is_index(term) else term

    def change(term: Term, args: Sequence[Term]) -> Term:
        if term.form == "part":
            return same_form(pool, term, args)
        subscripts = 1 if term.form in SCATTERED else 0
        return same_form(pool, term, [*args[:subscripts], *map(number, args[subscripts:])])

    return [number(root) for root in rewritten(pool, roots, change)]
