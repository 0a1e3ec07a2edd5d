"""Chooses names of indices: distinct from symbols and sizes, and never captured.

An index form sums the indices that it repeats; any other unlisted name in it is an index of the enclosing form. So a
formula that is inserted into an index form first gets names of its own (`apart`). An index form with subscripts is
replaced by its body with the names of the subscripts (`entry`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.language import syntax
from matcalc.language.identifiers import supply
from matcalc.language.syntax import Ast

LETTERS = "ijklpqrstuvabcdefgh"


class Names:
    """The supply of index names: all but those in scope."""

    def __init__(self, avoid: Collection[str]) -> None:
        self.avoid = frozenset(avoid)

    def fresh(self, number: int, taken: Collection[str] = ()) -> tuple[str, ...]:
        """Return the first names that are free."""
        return tuple(islice(supply(LETTERS, self.avoid.union(taken)), number))

    def entry(self, x: Form, indices: Sequence[str], listed: Sequence[str] = ()) -> Form:
        """Return `x[i,j]` with index names; `x` itself if it has no axes.

        An index form is renamed, unless the order of some of its axes is part of the node and differs from the order in
        which the surrounding index form lists them.
        """
        if not indices:
            return x
        if x.body is None or len(set(indices)) < len(indices):
            return forms.entry(x, indices)
        outputs: tuple[str, ...] = x.ast.value  # type: ignore[assignment]
        names = dict(zip(outputs, indices, strict=True))
        ordered = frozenset(tuple(names[name] for name in run) for run in x.ordered)
        if not all(_in_order(run, listed) for run in ordered):
            return forms.entry(x, indices)
        inner = x.body.used - set(outputs)
        names.update(self._own(inner, indices, {*indices, *outputs, *inner}))
        used = frozenset(names.values())
        return replace(x.body, ast=syntax.renamed(x.body.ast, names), used=used, ordered=ordered)

    def apart(self, x: Form, taken: set[str]) -> Form:
        """Return a formula whose index forms have names of their own; add these to `taken`."""
        if not x.used:
            return x
        found: set[str] = set()
        new: dict[str, str] = {}

        def own(ast: Ast) -> Ast:
            if ast.head not in syntax.BINDERS:
                return ast
            inside = index_names(ast) & x.used
            names = self._own(inside, taken, {*taken, *inside})
            taken.update(names.values())
            found.update(names.values())
            new.update(names)
            return syntax.renamed(ast, names)

        ast = syntax.rebuild(x.ast, own, closed=syntax.BINDERS)
        if x.body is None:
            return replace(x, ast=ast, used=frozenset(found))
        ordered = frozenset(tuple(new[name] for name in run) for run in x.ordered)
        body = replace(x.body, ast=ast.args[0], used=frozenset(found), ordered=ordered)
        return replace(x, ast=ast, body=body, used=frozenset(found), ordered=ordered)

    def _own(self, names: Collection[str], taken: Collection[str], known: Collection[str]) -> dict[str, str]:
        """Return new names for the names that are taken, distinct from `known`; other names are unchanged."""
        new = supply(LETTERS, self.avoid.union(known))
        return {name: next(new) if name in taken else name for name in sorted(names)}


def _in_order(indices: Sequence[str], listed: Sequence[str]) -> bool:
    """Whether all indices are listed, in this order."""
    rest = iter(listed)
    return all(index in rest for index in indices)


def index_names(form: Ast) -> set[str]:
    """Return the names in an index form, including those of symbols."""
    found: set[str] = set()
    for ast in syntax.walk(form):
        if ast.head == "name":
            found.add(str(ast.value))
        elif ast.head in syntax.BINDERS:
            found.update(ast.value)  # type: ignore[arg-type]
    return found
