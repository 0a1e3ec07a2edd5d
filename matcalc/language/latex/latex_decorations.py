r"""Reads superscripts and primes that are parts of names: W^{(1)}, x^*, x', \ell_i^{w} of a declared ell_w."""

from __future__ import annotations

from typing import cast

from matcalc.language.latex.latex_axes import axes_in, elements
from matcalc.language.latex.latex_bounds import range_of
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, Scope, fault, key_of, key_of_subscript
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.syntax import Ast

Marks = tuple[tuple[str, Ast | None], ...]


def with_decorations(
    reading: Reading, base: Ast, below: Ast | None, above: Marks, scope: Scope
) -> tuple[Ast, Ast | None, Marks]:
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
    is_sign = unbraced(layout).head in ("lone", "operator") or key not in reading.keys and not large_of(reading, key)
    is_marked = is_sign or layout.head == "fence" and layout.value == "open"
    is_row = is_marked and bool(large_of(reading, (*key, *added)))
    if is_row and below is not None and not is_whole:
        for part in added:
            base = Ast("accent", (base,), part, base.span)
        return base, below, above[1:]
    is_number = layout.head == "fence" and layout.value == "open"
    if is_number and below is not None and (ordered := _ordered(reading, key, below, layout, scope)) is not None:
        return base, ordered, above[1:]
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


def _ordered(reading: Reading, key: Key, below: Ast, layout: Ast, scope: Scope) -> Ast | None:
    """Return the subscripts of x_i^{(m)} in the order of the axes of a declared array, by the ranges of the indices.

    Raises: ParseError if the ranges do not decide.
    """
    names = [*reading.keys.get(key, ()), *([large] if (large := large_of(reading, key)) else [])]
    shape = reading.known.shapes.get(names[0], ()) if len(names) == 1 else ()
    axes = (axes_in(below, len(shape) - 1, scope), layout.args)
    letters = [x for some in axes for x in some if x.head == "letter" and x.value[0] in scope.indices]  # type: ignore[index]
    if len(shape) < 2 or not len(letters) == sum(map(len, axes)) == len(shape):
        return None
    orders = [(*axes[0], *axes[1]), (*axes[1], *axes[0])]
    lengths = [[range_of(scope.indices[str(x.value[0])]) for x in order] for order in orders]  # type: ignore[index]
    fits = [
        order
        for order, own in zip(orders, lengths, strict=True)
        if any(own) and all(a in ("", b) for a, b in zip(own, shape, strict=True))
    ]
    if len(fits) != 1:
        shown = [f"{names[0]}_{{{','.join(str(x.value[0]) for x in order)}}}" for order in orders]  # type: ignore[index]
        raise fault(f"this can be {' or '.join(shown)}", layout, "write the subscripts in the order of the axes")
    return Ast("fence", fits[0], "brace", layout.span)


def _joined(below: Ast | None, layout: Ast) -> Ast:
    added = layout.args if layout.head == "fence" else (layout,)
    return Ast("fence", (*(elements(below) if below is not None else ()), *added), "brace", layout.span)
