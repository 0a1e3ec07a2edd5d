r"""Rejects a name before parentheses that can be a function of this name or a factor: f(x), \\Phi^{-1}(u)."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.latex_scope import Reading, Scope, fault, key_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import TOPS, candidates, without_top
from matcalc.language.syntax import Ast

_CONSTANTS = (("pi",),)


def check_not_called(reading: Reading, items: Sequence[Ast], scope: Scope) -> None:
    """Raise ParseError for f(x) if f is undeclared and can be a function or a factor."""
    if len(items) < 2 or not is_parenthesised(items[1]):
        return
    _check_not_inverse(reading, items)
    found = reading.made.get(items[0])
    base = items[0]
    if base.head == "script" and len(base.value) > 1 or found is None or found.tree is None:  # type: ignore[arg-type]
        return
    tree = found.tree
    while tree.head == "transpose":
        tree = tree.args[0]
    if tree.head != "name":
        return
    fence = items[1].args[0] if items[1].head == "script" else items[1]
    if reading.is_known(str(tree.value)):
        _check_not_argument(reading, str(tree.value), fence, base, scope)
        return
    for element in fence.args:
        inner = reading.made.get(element)
        if inner is not None and inner.fault is not None:
            raise inner.fault
    is_call = len(fence.args) != 1 or fence.value == "bracket" or fence.args[0].head in ("letter", "script", "accent")
    key = key_of(base)
    stands_alone = key is not None and key[0] in reading.bare
    if key in _CONSTANTS and len(fence.args) == 1 and fence.args[0].head in ("chain", "row", "frac"):
        return
    if is_call or (found.kind not in ("matrix", "") and not stands_alone):
        name = str(tree.value)
        hint = f"declare {name} for the product; a function is known by its name, \\operatorname{{...}}"
        raise fault(f"{name}(...) can be a function of this name or a product", base, hint)


def _check_not_argument(reading: Reading, name: str, fence: Ast, base: Ast, scope: Scope) -> None:
    r"""Raise ParseError for a(\omega) if a is declared and \omega is not: a, which depends on \omega, or a product."""
    inner = fence.args[0] if len(fence.args) == 1 and fence.value == "open" else base
    found = reading.made.get(inner)
    key = key_of(inner) if inner.head == "letter" else None
    if key is None or found is None or found.tree is None or found.tree.head != "name" or key in reading.keys:
        return
    letter = str(found.tree.value)
    if not reading.is_known(letter) and key[0] not in {*scope.indices, *scope.parameters}:
        hint = f"declare {letter} for the product, or write {name} without its argument"
        raise fault(f"{name}({letter}) can be {name} itself, which depends on {letter}, or a product", base, hint)


def _check_not_inverse(reading: Reading, items: Sequence[Ast]) -> None:
    r"""Raise ParseError for \Phi^{-1}(u), the inverse of a function or its reciprocal."""
    shown, above = without_top(items[0])
    key = key_of(shown)
    if key is None or key in reading.keys or not above:
        return
    calls = [p for p in candidates(reading.names, shown) if len(p.items) == 2 and p.items[1].head == "fence"]
    if calls and unbraced(above[0][1] or shown).head == "chain":
        hint = "write the inverse function by its name, or the power after parentheses, (f(x))^{-1}"
        raise fault(f"{key[0]} with this superscript can be its inverse or a power", items[0], hint)


def is_parenthesised(item: Ast) -> bool:
    base = item.args[0] if item.head == "script" else item
    return base.head == "fence" and base.value in TOPS
