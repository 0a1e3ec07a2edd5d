r"""Rejects p_x beside p_{xy}, which can be a row of a declared matrix P or the marginal \sum_y p_{xy}."""

from __future__ import annotations

from matcalc.language.latex.latex_axes import axes_in, letters_in
from matcalc.language.latex.latex_scope import Key, Reading, Scope, fault, font_of, key_of, subscript_of
from matcalc.language.latex.latex_superscripts import is_transposing
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, walk


def check_not_marginal(reading: Reading, key: Key, large: str, layout: Ast) -> None:
    """Raise ParseError for one subscript beside two of the same letter, unless the formula shows that it is a vector.

    A vector is bold, transposed, inside a norm or an inner product.
    """
    own = [x for x in walk(reading.root) if x.head == "script" and key_of(x.args[0]) == key and subscript_of(x)]
    pairs = [x for x in own if len(axes_in(_below(x), 2, Scope())) == 2]
    if not pairs or font_of(layout) == "bold" or any(_is_vector(x) for x in own if x not in pairs):
        return
    if any(own_ in walk(x) for x in _products(reading.root) for own_ in own if own_ not in pairs):
        return
    shown = key[0]
    letters = "".join(letters_in(_below(pairs[0])))
    letter = "".join(letters_in(_below(next(x for x in own if x not in pairs))))
    length = reading.known.shapes[large][0]
    declared = f"declare {shown}_{letter}: vector({length})"
    hint = f"write {large}_{{{letter},:}} for the row; for the marginal write its sum, or {declared}"
    message = f"{shown}_{letter} beside {shown}_{{{letters}}} can be a row of {large} or a marginal"
    raise fault(message, layout, hint)


def _below(script: Ast) -> Ast:
    found = subscript_of(script)
    assert found is not None
    return found


def _is_vector(script: Ast) -> bool:
    return any(is_transposing(mark, x) for mark, x in without_top(script)[1])


def _products(root: Ast) -> list[Ast]:
    """Return the norms and inner products in a layout."""
    return [x for x in walk(root) if x.head == "fence" and x.value in ("double_bar", "angle")]
