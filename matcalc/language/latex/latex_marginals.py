r"""Rejects rows that can be marginals: p_x beside p_{xy}, and p_{x\cdot}, can be the sum \sum_y p_{xy}."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matcalc.language.latex.latex_axes import axes_in, is_whole, letters_in
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
    length = (*reading.known.shapes.get(large, ()), "n")[0]
    declared = f"declare {shown}_{letter}: vector({length})"
    hint = f"write {large}_{{{letter},:}} for the row; for the marginal write its sum, or {declared}"
    message = f"{shown}_{letter} beside {shown}_{{{letters}}} can be a row of {large} or a marginal"
    raise fault(message, layout, hint)


def check_not_summed(reading: Reading, name: str, axes: Sequence[Ast], layout: Ast) -> None:
    r"""Raise ParseError for p_{i\cdot}, unless the formula shows that it is a row.

    A row is bold, transposed, in a norm, or beside a vector or matrix. A capital letter has rows too, unless its
    columns stand beside them, N_{i\cdot} N_{\cdot j}.
    """
    if [is_whole(x) for x in axes] not in ([True, False], [False, True]):
        return
    key = key_of(layout)
    every = [x for x in walk(reading.root) if x.head == "script" and key_of(x.args[0]) == key and subscript_of(x)]
    own = [x for x in every if any(map(is_whole, axes_in(_below(x), 2, Scope())))]
    if key is None or font_of(layout) == "bold" or any(_is_vector(x) for x in own):
        return
    if any(one in walk(x) for x in _products(reading.root) for one in own):
        return
    is_one_way = len({is_whole(axes_in(_below(x), 2, Scope())[0]) for x in own}) < 2
    if is_one_way and (key[0][:1].isupper() or _beside_array(reading, own)):
        return
    shown = "_".join(key)
    place, at, other = ("row", "i,:", "j") if is_whole(axes[1]) else ("column", ":,j", "i")
    hint = rf"write {shown}_{{{at}}} for the {place}, \sum_{other} {shown}_{{ij}} for the sum"
    raise fault(f"this can be a {place} of {name} or the sum of its entries", layout, hint)


def _beside_array(reading: Reading, own: Sequence[Ast]) -> bool:
    """Return whether a row stands beside a declared vector or matrix of another name."""
    for row in (x for x in walk(reading.root) if x.head == "row"):
        for pair in pairwise(row.args):
            others = [x for x in pair if x not in own]
            names = [n for x in others for n in reading.keys.get(key_of(x) or key_of(without_top(x)[0]) or (), ())]
            if len(others) == 1 and any(reading.kind_of(n) in ("vector", "matrix") for n in names):
                return True
    return False


def _below(script: Ast) -> Ast:
    found = subscript_of(script)
    assert found is not None
    return found


def _is_vector(script: Ast) -> bool:
    return any(is_transposing(mark, x) for mark, x in without_top(script)[1])


def _products(root: Ast) -> list[Ast]:
    """Return the norms and inner products in a layout."""
    return [x for x in walk(root) if x.head == "fence" and x.value in ("double_bar", "angle")]
