r"""Reads superscripts: powers, inverses, transposes, `A^{-\top}`, `x^{\circ 2}`, `A^{+}`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from matcalc.language import syntax
from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import Reading, Value, fault, needed, value
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import lowered, raised
from matcalc.language.syntax import Ast

_ENTRYWISE = (r"\odot", r"\circ")


def with_above(reading: Reading, found: Value, node: Ast, marks: Sequence[tuple[str, Ast | None]]) -> Value:
    """Return a value with its superscripts applied: powers, inverses, transposes."""
    for mark, layout in marks:
        base = value(reading, node, found)
        found = (
            _transposed(reading, base, node) if mark == "'" or layout is None else _power(reading, base, layout, node)
        )
    return found


def is_transposing(mark: str, layout: Ast | None) -> bool:
    r"""Return whether a superscript is a transpose: a prime, \top, T, \mathrm{H}."""
    layout = unbraced(layout) if layout is not None else None
    if mark == "'" or layout is None:
        return True
    return (layout.head == "mark" and layout.value in ("T", "H", "'")) or _is_letter(layout, "T")


def _transposed(reading: Reading, base: Value, node: Ast, written: str | None = None) -> Value:
    if base.kind == "scalar":
        hint = "declare the base as a vector or matrix, or the letter with its prime as x_prime"
        raise fault("a scalar has no transpose", node, hint)
    kind = {"vector": "row", "row": "vector"}.get(base.kind, base.kind)
    return Value(Ast("transpose", (base.tree,), written, node.span, node.caret), kind)  # type: ignore[arg-type]


def _power(reading: Reading, base: Value, above: Ast, node: Ast) -> Value:
    """Return a value with one superscript: a transpose, a raised call such as `A^{+}`, or a power."""
    if len(elements(above)) != 1:
        raise fault("a list as a superscript is not supported", above)
    layout = unbraced(elements(above)[0])
    if layout.head == "fence" and layout.value == "open" and len(layout.args) == 1:
        hint = "a power is x^{2}; a name such as W^{(1)} is declared as W_1"
        if layout.args[0].head == "number":
            raise fault("a superscript in parentheses is not supported here", layout, hint)
    mark = str(layout.value) if layout.head in ("mark", "lone", "operator") else ""
    if mark == "'":
        return _transposed(reading, base, node)
    is_power = base.kind == "scalar" and not mark and reading.is_known("T")
    if mark == "T" or _is_letter(layout, "T") and not is_power:
        return _transposed(reading, base, node, None if mark else "^T")
    if mark == "H" or _is_letter(layout, "H") and reading.kind_of("H") == "matrix":
        return _transposed(reading, base, node)  # of real numbers the conjugate transpose is the transpose
    if (
        mark in lowered(reading.names)
        and base.kind == "scalar"
        and node.head == "script"
        and node.args[0].head == "fence"
    ):
        tree = syntax.call(lowered(reading.names)[mark], base.tree)  # type: ignore[arg-type]
        return Value(replace(tree, span=node.span), base.kind)
    if mark in raised(reading.names):
        tree = syntax.call(raised(reading.names)[mark], base.tree)  # type: ignore[arg-type]
        return Value(replace(tree, span=node.span), base.kind)
    if mark:
        hint = RAISED.get(mark, "write a power, an inverse or a transpose")
        raise fault(f"'{mark}' as a superscript is not supported", layout, hint)
    if _is_letter(layout, "t") and not reading.is_known("t") and base.kind != "scalar":
        raise fault("^t can be a power or a transpose", layout, r"write ^\top, or declare t: scalar")
    if layout.head == "chain" and layout.value == ((-1,), True):
        inner = unbraced(layout.args[0])
        if inner.head == "mark" and inner.value == "T" or _is_letter(inner, "T"):
            return _inverse_transposed(reading, base, inner, node)
    if layout.head == "entrywise":
        exponent = needed(reading, layout.args[0])
        if layout.value not in _ENTRYWISE:
            raise fault(f"the power '{layout.value}' is not supported", layout)
        kind = exponent.kind if base.kind == "scalar" else base.kind
        return Value(_pair("power", base, exponent, ".^", node), kind)
    exponent = needed(reading, layout)
    if layout.head == "number" and layout.value[0] == 0 and base.tree is not None and base.tree.head == "part":  # type: ignore[index]
        hint = "write 1 for the power; a name t^0 is declared as t_0, with the index as its subscript"
        raise fault("this can be the number 1 or a name with the superscript 0", layout, hint)
    if base.kind == "scalar" and exponent.kind in ("vector", "row"):
        return Value(_pair("power", base, exponent, ".^", node), exponent.kind)
    return Value(_pair("power", base, exponent, "^", node), base.kind)


RAISED = {
    "*": r"over the reals the adjoint is ^\top; a point x^* is declared as x_star",
    "-": r"a generalized inverse is not unique; the pseudoinverse is A^{+}",
    "infty": "limits are not supported",
}


def _pair(head: str, base: Value, exponent: Value, sign: str, node: Ast) -> Ast:
    return Ast(head, (base.tree, exponent.tree), sign, node.span, node.caret)  # type: ignore[arg-type]


def _is_letter(layout: Ast, letter: str) -> bool:
    return layout.head == "letter" and layout.value[0] == letter  # type: ignore[index]


def _inverse_transposed(reading: Reading, base: Value, mark: Ast, node: Ast) -> Value:
    if mark.head == "letter" and reading.is_known("T"):
        raise fault("^{-T} can be a power or an inverse transposed", mark, r"write ^{-\top} for the inverse transposed")
    minus = Ast("negative", (Ast("number", (), Fraction(1), mark.span),), None, mark.span)
    inverse = Ast("power", (base.tree, minus), "^", node.span, node.caret)  # type: ignore[arg-type]
    return _transposed(reading, Value(inverse, base.kind), node)
