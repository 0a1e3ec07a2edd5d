"""Adds diagonal matrices as vectors."""

from __future__ import annotations

from matcalc.plain_source.terms.products import is_identity
from matcalc.plain_source.terms.term import Pool, Term


def one_diagonal(pool: Pool, total: Term) -> Term:
    """Return a sum of matrices with its diagonal matrices, and multiples of the identity, as one diagonal matrix."""
    found = [_on_diagonal(pool, term) if term.rank == 2 else None for term in total.args]
    kept = [k for k, entry in enumerate(found) if entry is None]
    if total.rank != 2 or len(kept) > len(found) - 2 or not any(term.form == "diagonal" for term in total.args):
        return total
    places = [k for k in range(len(found)) if k not in kept]
    entries_of = [entry for entry in found if entry is not None]
    signs = tuple(total.data[k] for k in places)
    inner = pool.term("add", entries_of, signs, total.shape[:1])
    facts = frozenset({"symmetric", "diagonal"})
    diagonal = pool.term("diagonal", (inner,), None, total.shape, facts)
    if not kept:
        return diagonal
    terms = [diagonal if k == places[0] else total.args[k] for k in sorted([places[0], *kept])]
    ordered = tuple(1 if k == places[0] else total.data[k] for k in sorted([places[0], *kept]))
    return pool.term("add", terms, ordered, total.shape, total.facts)


def _on_diagonal(pool: Pool, term: Term) -> Term | None:
    """Return the diagonal of a diagonal matrix as a vector, or as a scalar for a multiple of the identity."""
    if term.form == "diagonal":
        return term.args[0]
    if is_identity(term):
        return pool.number(1)
    if term.form in ("mul", "div") and len([arg for arg in term.args if arg.rank]) == 1:
        if not is_identity(term.args[0] if term.form == "div" else next(arg for arg in term.args if arg.rank)):
            return None
        if term.form == "div":
            return pool.term("div", (pool.number(1), term.args[1]))
        return next(arg for arg in term.args if not arg.rank)
    return None
