r"""Reads norms that a passage defines, \|u\|_M^2 = u^\top M u, as functions of a vector.

A subscript that is not declared stands for any: \|x\|_A^2 = x^\top A x defines \|\cdot\|_M and \|\cdot\|_N too.
\|W\|_{2,1} = \sum_i \|w_i\|_2 of a declared W defines that norm of W alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of, key_of_subscript
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, rebuild

_KNOWN = (("F",), ("1",), ("2",), ("inf",), ("star",))
"""Subscripts of norms that have one meaning."""


class Norm(NamedTuple):
    """A norm with a subscript: its operand, the subscript with its key, and whether it is squared."""

    operand: Ast
    below: Ast
    key: Key
    is_squared: bool


def with_norms(
    reading: Reading, lines: Sequence[Ast | None], signs: Collection[str]
) -> tuple[list[Ast | None], list[Ast]]:
    """Return lines in which norms that a line defines are functions, None for those lines, and the functions."""
    defined: dict[Key, tuple[Norm, Ast]] = {}
    others: list[Ast | None] = []
    for line in lines:
        if line is None:
            others.append(None)
            continue
        is_equation = line.head == "relation" and line.value in [(sign,) for sign in signs] and len(line.args) == 2
        norm = _norm(line.args[0]) if is_equation else None
        is_known = norm is not None and norm.key in _KNOWN and not _is_open(reading, norm)
        if norm is None or key_of(norm.operand) is None or is_known:
            others.append(line)
        else:
            defined[norm.key] = norm, line.args[1]
            others.append(None)
    open_ = {
        key
        for key, (norm, _) in defined.items()
        if key not in reading.keys and key_of(norm.below) and key_of(norm.operand) not in reading.keys
    }
    made: dict[Key, Ast] = {}

    def change(node: Ast) -> Ast:
        norm = _norm(node)
        if norm is None:
            return node
        own = norm.key if norm.key in defined else next(iter(open_), None) if len(open_) == 1 else None
        if own is None:
            return node
        pattern, formula = defined[own]
        if key_of(pattern.operand) in reading.keys and key_of(norm.operand) != key_of(pattern.operand):
            hint = "define it for a letter that is not declared, or write its formula"
            raise fault("this norm is defined for another operand alone", norm.operand, hint)
        name = Ast("word", (), ("_".join(("metric", *norm.key)), "operator"), node.span)
        made[norm.key] = _definition(name, pattern, formula, norm.below)
        call = Ast("fence", (Ast("row", (name, _list(norm.operand)), None, node.span),), "brace", node.span)
        if pattern.is_squared and not norm.is_squared:
            return Ast("radical", (call,), None, node.span)
        if norm.is_squared and not pattern.is_squared:
            two = without_top(node)[1][0][1]
            return Ast("script", (replace(call, value="open"), cast(Ast, two)), ("^",), node.span, node.at)
        return call

    done = [rebuild(line, change) if line is not None and defined else line for line in others]
    return done, list(made.values())


def _is_open(reading: Reading, norm: Norm) -> bool:
    r"""Return whether papers mean different norms by one, as by \|H\|_1 of a matrix."""
    names = reading.keys.get(key_of(norm.operand) or (), ())
    return norm.key == ("1",) and len(names) == 1 and reading.kind_of(names[0]) == "matrix"


def _definition(name: Ast, pattern: Norm, formula: Ast, below: Ast) -> Ast:
    """Return the line that defines the norm with a subscript."""

    def change(node: Ast) -> Ast:
        return unbraced(below) if key_of(node) == pattern.key and node.head == "letter" else node

    left = Ast("row", (name, _list(pattern.operand)), None, formula.span)
    return Ast("relation", (left, rebuild(formula, change)), ("==",), formula.span)


def _list(operand: Ast) -> Ast:
    return Ast("fence", (operand,), "open", operand.span)


def _norm(node: Ast) -> Norm | None:
    r"""Return the norm \|u\|_M or \|u\|_M^2 that a layout is; None for any other."""
    shown, above = without_top(node) if node.head == "script" else (node, ())
    fence = unbraced(shown.args[0]) if shown.head == "script" and shown.value == ("_",) else shown
    if fence is shown or fence.head != "fence" or fence.value != "double_bar" or len(fence.args) != 1:
        return None
    key = key_of_subscript(shown.args[1])
    exponent = unbraced(above[0][1]) if len(above) == 1 and above[0][1] is not None else None
    is_squared = exponent is not None and exponent.head == "number" and exponent.value[0] == 2  # type: ignore[index]
    if key is None or above and not is_squared:
        return None
    return Norm(fence.args[0], shown.args[1], key, is_squared)
