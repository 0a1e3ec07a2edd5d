"""Prepares terms for languages that recycle operands instead of expanding them: rows and lone columns are repeated.

Such a language repeats a vector down the columns of a matrix. A row beside a matrix is repeated for each row of it, and
a column beside a row becomes a matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.plain_source.factorise import rewritten, same_form
from matcalc.plain_source.language import Language
from matcalc.plain_source.term import Pool, Term

EXPANDED = ("row", "column")


def recycled(pool: Pool, language: Language, roots: Sequence[Term]) -> list[Term]:
    """Return the roots with explicit rows and columns, if the language recycles."""
    if not language.flag("recycles"):
        return list(roots)

    def change(term: Term, args: Sequence[Term]) -> Term:
        if not any(arg.form in EXPANDED for arg in args):
            return same_form(pool, term, args)
        needs_matrix = not any(arg.rank == 2 for arg in args)
        made: list[Term] = []
        for arg in args:
            if arg.form == "column" and needs_matrix:
                arg, needs_matrix = pool.term("wide_column", arg.args, tuple(term.shape), term.shape), False
            elif arg.form == "row":
                arg = pool.term("row", arg.args, tuple(term.shape), term.shape)
            made.append(arg)
        return same_form(pool, term, made)

    return rewritten(pool, roots, change)
