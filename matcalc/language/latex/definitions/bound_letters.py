r"""Finds the letters that sums bind, and the names whose only subscript is one of them."""

from __future__ import annotations

from collections.abc import Collection

from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_scope import Key, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.syntax import Ast, walk


def bound_in(formula: Ast, free: Collection[str] = ()) -> set[str]:
    r"""Return the indices that the sums of a formula bind; `free` ones only have conditions, i of \sum_{j \ne i}."""
    return {x for node in walk(formula) if node.head == "big" for x in bound_by(node, free)}


def bound_by(big: Ast, free: Collection[str] = ()) -> set[str]:
    r"""Return the indices of one sum, without the letters of their first and last values."""
    found: set[str] = set()
    below = [x for mark, x in zip(big.value[1], big.args, strict=False) if mark == "_"]  # type: ignore[index]
    for one in (one for script in below for one in elements(script)):
        if one.head != "relation":
            found.update(letters_in(one))
        elif one.value in (("==",), (r"\in",)) or len(one.args) == 3:
            found.update(letters_in(one.args[len(one.args) // 3]))
        else:
            found.update(x for x in letters_in(one) if x not in free)
    return found


def listed_in(line: Ast) -> set[Key]:
    """Return the keys of the names whose only subscript is the index of a sum around them, or data at it, a_{t_i}."""
    scripts = [
        (x, letters)
        for big in walk(line)
        if big.head == "big" and (letters := bound_by(big))
        for x in walk(big.args[-1])
        if x.head == "script"
    ]
    pairs = [(key_of(x.args[0]), subscript_of(x), letters) for x, letters in scripts]
    inner = [(key, _at_index(unbraced(below)), own) for key, below, own in pairs if key and below]
    return {key for key, below, own in inner if below.head == "letter" and below.value[0] in own}  # type: ignore[index]


def _at_index(below: Ast) -> Ast:
    return unbraced(below.args[1]) if below.head == "script" and below.value == ("_",) else below
