"""Prepares terms for languages whose arrays do not expand as NumPy's do.

A language that recycles repeats a vector down the columns of a matrix: a row beside a matrix is repeated for each row
of it, and a column beside a row becomes a matrix. A language with a type of its own for diagonal matrices, which do
not expand, has the form `dense`.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.plain_source.factorise import rewritten, same_form
from matcalc.plain_source.language import Language
from matcalc.plain_source.terms.term import Pool, Term

EXPANDED = ("row", "column", "expand")


def recycled(pool: Pool, language: Language, roots: Sequence[Term]) -> list[Term]:
    """Return the roots with operands that the language expands as NumPy does."""
    is_recycling, has_dense = bool(language.table.get("recycles")), "dense" in language.forms
    if not is_recycling and not has_dense:
        return list(roots)

    def change(term: Term, args: Sequence[Term]) -> Term:
        if not any(arg.form in EXPANDED for arg in args):
            return same_form(pool, term, args)
        return same_form(pool, term, _repeated(pool, term, args) if is_recycling else _dense(pool, args))

    return rewritten(pool, roots, change)


def _repeated(pool: Pool, term: Term, args: Sequence[Term]) -> list[Term]:
    """Return operands with rows repeated for each row of a matrix; a column is a matrix if no other operand is."""
    needs_matrix = not any(arg.rank == 2 or arg.form == "expand" for arg in args)
    made: list[Term] = []
    for arg in args:
        if arg.form == "column" and needs_matrix:
            arg, needs_matrix = pool.term("wide_column", arg.args, tuple(term.shape), term.shape), False
        elif arg.form == "expand":
            arg = pool.term("spread", arg.args, arg.data, term.shape)
        elif arg.form == "row":
            arg = pool.term("row", arg.args, tuple(term.shape), term.shape)
        made.append(arg)
    return made


def _dense(pool: Pool, args: Sequence[Term]) -> list[Term]:
    """Return operands of which none has the type of a diagonal matrix."""
    return [
        pool.term("dense", (arg,), None, arg.shape) if "diagonal" in arg.facts and arg.form != "name" else arg
        for arg in args
    ]
