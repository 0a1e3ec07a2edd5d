r"""Reads superscripts and primes that are parts of names: W^{(1)}, x^*, x', \ell_i^{w} of a declared ell_w."""

from __future__ import annotations

from typing import cast

from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, key_of, key_of_subscript
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.syntax import Ast

Marks = tuple[tuple[str, Ast | None], ...]


def with_decorations(reading: Reading, base: Ast, below: Ast | None, above: Marks) -> tuple[Ast, Ast | None, Marks]:
    """Return the base and the subscript of a name with the superscripts that are parts of it, and the others."""
    key = cast(Key, key_of(base))
    if above and above[0][0] == "'" and _is_prime(reading, key, below):
        base, key, above = Ast("accent", (base,), "prime", base.span), (*key, "prime"), above[1:]
    if not above or above[0][0] != "^" or above[0][1] is None or len(elements(above[0][1])) != 1:
        return base, below, above
    (layout,) = elements(above[0][1])
    added = key_of_subscript(layout)
    if added is None:
        return base, below, above
    own = key_of_subscript(below) if below is not None else ()
    is_whole = own is not None and (*key, *own, *added) in reading.keys
    if not is_whole and below is not None and _is_name_alone(reading, key, added, layout):
        for part in added:
            base = Ast("accent", (base,), part, base.span)
        return base, below, above[1:]
    is_row = layout.head == "fence" and layout.value == "open" and bool(large_of(reading, (*key, *added)))
    if is_row and below is not None and not is_whole:
        for part in added:
            base = Ast("accent", (base,), part, base.span)
        return base, below, above[1:]
    is_number = layout.head == "fence" and layout.value == "open"
    if is_number or (is_whole and (layout.head in ("operator", "lone") or key not in reading.keys)):
        return base, _joined(below, layout), above[1:]
    return base, below, above


def _is_name_alone(reading: Reading, key: Key, added: Key, layout: Ast) -> bool:
    """Return whether only the name with this superscript is declared, which is then no power."""
    inner = unbraced(layout)
    is_mark = inner.head in ("number", "mark", "chain") or (inner.head == "letter" and inner.value[0] in ("T", "H"))  # type: ignore[index]
    return (*key, *added) in reading.keys and key not in reading.keys and not is_mark and not large_of(reading, key)


def _is_prime(reading: Reading, key: Key, below: Ast | None) -> bool:
    """Return whether a name with a prime is declared, or rows of a matrix have it: x_prime, X_prime."""
    added = key_of_subscript(below) if below is not None else ()
    own = (*key, "prime")
    return own in reading.keys or (*own, *(added or ())) in reading.keys or bool(large_of(reading, own))


def _joined(below: Ast | None, layout: Ast) -> Ast:
    added = layout.args if layout.head == "fence" else (layout,)
    return Ast("fence", (*(elements(below) if below is not None else ()), *added), "brace", layout.span)
