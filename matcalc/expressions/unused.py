"""Raises for declarations that no formula uses beside names that no declaration has: most are misspelled names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matcalc.errors import UnknownName
from matcalc.expressions.expression import Expression
from matcalc.expressions.sympy_bridge.sympy_objects import is_sympy
from matcalc.language.declare import (
    Declarations,
    DeclaredText,
    SharedDeclarations,
    as_text,
    read_declarations,
    size_names,
)
from matcalc.language.identifiers import near
from matcalc.language.kinds import SIZE
from matcalc.language.syntax import Ast

MOST_LISTED = 8  # names in a message


def is_text(formula: object) -> bool:
    """Whether a formula is read in a scope that has all declared names."""
    return isinstance(formula, (str, Ast)) or is_sympy(formula)


def shared(declarations: Declarations) -> Declarations:
    """Return declarations that further formulas share, whose unused names are checked later or not at all."""
    text = as_text(declarations)
    found = SharedDeclarations(text)
    found.forms = text.forms if isinstance(text, DeclaredText) else None
    return found


def check_used(
    declarations: Declarations, formulas: Sequence[object], read: Sequence[Expression], others: Iterable[str] = ()
) -> None:
    """Raise for a declared name that no formula uses, if a formula has a name whose kind is inferred instead.

    `read` are the expressions of `formulas`; `others` are names used besides. Sizes, and names that an equation binds,
    count as used. Without undeclared names nothing is guessed, so formulas may share declarations.

    Raises: UnknownName, with the position in the declarations and the nearest used names.
    """
    undeclared = dict.fromkeys(name for e in read for name in e.names.written if name in e.names.undeclared)
    if isinstance(declarations, SharedDeclarations) or not declarations or not undeclared:
        return
    declarations = as_text(declarations)
    declared = read_declarations(declarations)
    used = {*others, *(name for d in declared for name in size_names(d))}
    for formula, e in zip(formulas, read, strict=True):
        idle = e.names.symbols.keys() - set(e.names.written)
        used |= {d.name for d in declared} - idle if is_text(formula) else e.names.symbols.keys()
    unused = [d for d in declared if d.name not in used and d.kind != SIZE]
    if not unused:
        return
    first = unused[0]
    nearest = near(first.name, undeclared) or list(undeclared)[:MOST_LISTED]
    message = f"{first.name} is declared, and no formula uses it; {_listed(nearest)} not declared"
    hint = f"write {' or '.join(nearest)} for {first.name}, declare {nearest[0]}, or leave {first.name} out"
    raise UnknownName(message, text=declarations, at=first.span[0], hint=hint)


def _listed(names: Sequence[str]) -> str:
    return f"{names[0]} is" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} are"
