r"""Finds the names in the lines of a passage, with their subscripts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import cast

from matcalc.language.latex.latex_scope import Key, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.latex_superscripts import is_transposing
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, walk


def whole_key(item: Ast) -> Key | None:
    """Return the key of a name with its subscript; superscripts only decorate it."""
    shown, above = without_top(item)
    base, below = shown.args if shown.head == "script" else (shown, None)
    key = key_of(base) or _set_upright(base)
    added = key_of_subscript(below) if below is not None else ()
    if key is None or added is None:
        return None
    return (*key, *added, *(["top"] if above else []))


def _set_upright(layout: Ast) -> Key | None:
    r"""Return the key of a name that is set as a word: \operatorname{KL}."""
    if layout.head != "word" or layout.value[1] == "\\":  # type: ignore[index]
        return None
    return (str(layout.value[0]),)  # type: ignore[index]


def used(layout: Ast, declared: Collection[Key] = ()) -> frozenset[Key]:
    """Return the keys of all letters and words in a layout, with and without their subscripts.

    A declared name with a subscript, k_B, contains no letters of its own.
    """
    found: set[Key] = set()
    scripts = [node for node in walk(layout) if node.head == "script"] if declared else []
    inside = {id(x) for node in scripts if (below := _subscript_in(node, declared)) for x in walk(below)}
    inside |= {id(x) for node in scripts if _subscript_in(node, declared) for x in walk(node.args[0])}
    inside |= {id(x) for node in scripts if is_decorated(node, declared) for x in walk(node.args[0])}
    inside |= {id(node.args[0]) for node in walk(layout) if is_exponential(node)}
    inside |= {id(node.args[0]) for node in walk(layout) if node.head == "accent" and node.value == "own"}
    for node in walk(layout):
        if node.head in ("letter", "accent") and id(node) not in inside and (key := key_of(node)):
            found.add(key)
        if node.head == "word":  # a function of the text: \mathrm{sim}, \operatorname{sim}, \text{sim}
            found.add((cast("tuple[str, str]", node.value)[0],))
        if node.head == "script" and subscript_of(node) is not None and (key := whole_key(without_top(node)[0])):
            found.add(key)
        if node.head == "script" and {*cast("tuple[str, ...]", node.value)} == {"'"} and (key := whole_key(node)):
            found.add(key)  # h'(t) = ..., the derivative that a passage defines
    return frozenset(found)


def is_exponential(node: Ast) -> bool:
    """Return whether a layout is e with an exponent that is no number and no transpose: beside e_i no name either."""
    if node.head != "script" or node.value != ("^",) or key_of(node.args[0]) != ("e",):
        return False
    return unbraced(node.args[1]).head != "number" and not is_transposing("^", node.args[1])


def is_decorated(script: Ast, declared: Collection[Key]) -> bool:
    r"""Return whether a name with its superscript is declared, E^\circ as E_circ."""
    shown, above = without_top(script)
    key = key_of(shown.args[0] if shown.head == "script" else shown)
    added = key_of_subscript(above[0][1]) if above and above[0][1] is not None else None
    return key is not None and added is not None and (*key, *added) in declared


def _subscript_in(script: Ast, declared: Collection[Key]) -> Ast | None:
    """Return the subscript of a declared name with a subscript."""
    below = subscript_of(script)
    return below if below is not None and whole_key(without_top(script)[0]) in declared else None


def bare_letters(lines: Iterable[Ast]) -> set[str]:
    """Return the letters that occur without a subscript and without a parenthesis after them."""
    found: set[str] = set()
    for line in lines:
        hidden = {base for x in walk(line) if x.head == "script" and "_" in x.value for base in walk(x)}  # type: ignore[operator]
        for row in walk(line):
            if row.head == "row":
                for item, after in zip(row.args, row.args[1:], strict=False):
                    shown = after.args[0] if after.head == "script" else after
                    if shown.head == "fence" and shown.value == "open":
                        hidden |= set(walk(item))
        found |= {str(x.value[0]) for x in walk(line) if x.head == "letter" and x not in hidden}  # type: ignore[index]
    return found
