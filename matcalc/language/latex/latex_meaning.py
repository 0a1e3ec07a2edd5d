r"""Interprets a layout as a syntax tree, if declarations or layout decide the meaning of the LaTeX.

One walk, operands first, passes the bound indices down. Each layout has a value: a tree with its kind, or a fault.
The fault is raised only if the tree is needed: `\lambda_{\max}` has no tree, but its call with the next item has.
Nothing is guessed: formulas that mathematicians read in two ways (`a / b c`, `\log a b`, `|x|` of a vector)
are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import cast

from matcalc.errors import ParseError
from matcalc.language import syntax
from matcalc.language.latex.latex_applied import applied_scope, of_entries, operand_of
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_calls import call, choose
from matcalc.language.latex.latex_data_indices import compared
from matcalc.language.latex.latex_decorations import with_decorations
from matcalc.language.latex.latex_factorials import factorial
from matcalc.language.latex.latex_fences import bold_length, inner_product, is_rounded_quotient, metric_norm, rounded
from matcalc.language.latex.latex_lengths import unbounded
from matcalc.language.latex.latex_lists import listed, stack
from matcalc.language.latex.latex_products import chain, infix, row
from matcalc.language.latex.latex_scope import (
    APPLIED,
    ARRAY,
    INNER_PRODUCTS,
    NUMBER,
    VECTOR,
    Index,
    Reading,
    Scope,
    Value,
    fault,
    is_named,
    key_of,
    key_of_subscript,
    kind_of_sum,
    needed,
    subscript_of,
    value,
)
from matcalc.language.latex.latex_subscripts import named, part_of
from matcalc.language.latex.latex_sums import index_form, indices_of, read_sum
from matcalc.language.latex.latex_superscripts import with_above
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_names import REFUSED
from matcalc.language.latex.layout.latex_patterns import candidates, found_at, without_top
from matcalc.language.latex.layout.latex_rows import FACTORIAL, LOG_FACTORIAL
from matcalc.language.latex.names_in_lines import is_exponential
from matcalc.language.one_based import moved
from matcalc.language.syntax import BLOCK, ONE_ENTRY, Ast, walk

Meaning = Callable[[Reading, Ast, Scope], Value]


def meaning(reading: Reading, root: Ast, scope: Scope) -> Value:
    """Return the value of a layout; `reading.made` stores the values of all layouts inside."""
    stack: list[tuple[Ast, Scope, bool]] = [(root, scope, False)]
    while stack:
        node, scope, entered = stack.pop()
        if entered:
            reading.made[node] = _meaning(reading, node, scope)
            continue
        stack.append((node, scope, True))
        below = zip(node.args, _inside(reading, node, scope), strict=True)
        stack.extend((child, inner, False) for child, inner in reversed(list(below)))
    return reading.made[root]


def _meaning(reading: Reading, node: Ast, scope: Scope) -> Value:
    look = None if is_rounded_quotient(reading, node) else _whole_look(reading, node)
    if look is not None:
        return look
    try:
        return _MEANINGS[node.head](reading, node, scope)
    except ParseError as refused:
        return Value(None, fault=refused)


def _inside(reading: Reading, node: Ast, scope: Scope) -> list[Scope]:
    """Return the scopes of the operands of a layout."""
    if node.head == "big":
        *scripts, _ = node.args
        bound: Mapping[str, Index] = {}
        for script in scripts:
            meaning(reading, script, scope)
        with suppress(ParseError):  # `_big` raises it again
            bound = indices_of(reading, node, scope)
        return [*[scope] * len(scripts), replace(scope, indices={**scope.indices, **bound})]
    if node.head == "fence" and node.value == APPLIED:
        return [applied_scope(reading, node, scope)]
    if node.head == "script" and (names := _listed(reading, node)):
        found = {name: unbounded(reading, node.args[0], name) for name in names}
        inner = replace(scope, indices={**scope.indices, **found})
        return [inner, *[scope] * (len(node.args) - 1)]
    if node.head == "function":
        x = node.args[0]
        if x.head == "letter":
            inner = replace(scope, parameters=scope.parameters | {str(x.value[0])})  # type: ignore[index]
            return [inner, inner]
    return [scope] * len(node.args)


def _listed(reading: Reading, node: Ast) -> tuple[str, ...]:
    r"""Return the indices of an index form `\left[ A_{ik} \right]_{ij}`: letters that are subscripts inside."""
    base, below = unbraced(node.args[0]), subscript_of(node)
    if base.head != "fence" or base.value != "bracket" or below is None:
        return ()
    letters = [x for element in elements(below) for x in (element.args if element.head == "row" else (element,))]
    if any(x.head != "letter" for x in letters):
        return ()
    names = tuple(str(x.value[0]) for x in letters)  # type: ignore[index]
    is_ranged = len(names) > 1 or {*names} <= {*reading.ranges}
    inside = reading.below[base] | ({*letters_in(base)} - {key[0] for key in reading.keys} if is_ranged else set())
    return names if len(set(names)) == len(names) and set(names) <= inside else ()


def _whole_look(reading: Reading, node: Ast) -> Value | None:
    """Return the call whose look is the whole layout without its superscripts."""
    if node.head not in ("script", "fence", "letter", "word", "number", "matrix", "radical"):
        return None
    if node.head == "script" and is_named(reading, without_top(node)[0]):
        return None
    found = [f for p in candidates(reading.names, node) if len(p.items) == 1 and (f := found_at(p, [node]))]
    shown, above = without_top(node)
    if found and above and found_at(found[0].pattern, [shown]) is None:
        above = ()
    try:
        chosen = choose(reading, found, node, shown if above else node)
        return None if chosen is None else with_above(reading, chosen, node, above)
    except ParseError as refused:
        return Value(None, fault=refused)


# Leaves.


def _number(reading: Reading, node: Ast, scope: Scope) -> Value:
    number, font, text = cast("tuple[Fraction, str, str]", node.value)
    if font:
        raise fault(f"'{text}' in this font is unknown", node)
    return Value(Ast("number", (), number, node.span), "scalar")


def _letter(reading: Reading, node: Ast, scope: Scope) -> Value:
    if key_of(node) is None:
        raise fault("an accent over something other than a letter", node)
    return named(reading, node, None, scope)


def _word(reading: Reading, node: Ast, scope: Scope) -> Value:
    name, font = cast("tuple[str, str]", node.value)
    if font == "text":
        if name in reading.names.parameters:
            raise fault(f"'{name}' without an operand", node)
        raise fault(f"'{name}' is text", node, "write only the formula, without words")
    if font == "\\":
        known = name in reading.names.parameters or candidates(reading.names, node)
        raise fault(
            f"\\{name} without an operand" if known else f"\\{name} is not supported", node, REFUSED.get(name, "")
        )
    if font == "operator":
        raise fault(f"'{name}' without an operand", node)
    return named(reading, node, None, scope)


def _refused(message: str) -> Meaning:
    """Return the meaning of a layout that never has a value: it raises ParseError."""

    def refuse(reading: Reading, node: Ast, scope: Scope) -> Value:
        raise fault(message, node)

    return refuse


def _lone(reading: Reading, node: Ast, scope: Scope) -> Value:
    raise fault(f"'{node.value}' without operands", node)


def _mark(reading: Reading, node: Ast, scope: Scope) -> Value:
    if node.value != "infty":
        raise fault("a mark without a base", node)
    return Value(Ast("name", (), "inf", node.span), "scalar")


# Scripts.


def _script(reading: Reading, node: Ast, scope: Scope) -> Value:
    """Return the value of a base with scripts: a name with a subscript, a part, or a power of either."""
    shown, above = without_top(node)
    if shown.head == "script":
        base, below = shown.args
    else:
        base, below = shown, None
    key = key_of(base)
    if key is None:
        squared = metric_norm(reading, node, base, below, above) if below is not None else None
        if squared is not None:
            return with_above(reading, squared, node, above[1:])
        found = _below(reading, node, base, below, scope)
        return with_above(reading, found, node, above)
    base, below, above = with_decorations(reading, base, below, above, scope)
    key = key_of(base)
    if not below and key == ("e",) and above and above[0][0] == "^" and not reading.is_known("e"):
        return with_above(reading, _exponential(reading, node, above[0][1]), node, above[1:])
    if not below and key == ("e",) and "e" in reading.parts and is_exponential(node):
        hint = r"write \exp(...) for the exponential, (e)^{...} for the power, or give what is defined another letter"
        raise fault("e with this exponent can be the exponential or a power of what a line defines", node, hint)
    return with_above(reading, named(reading, base, below, scope, bool(above)), node, above)


NORMS = {
    "vector": r"vectors have \|x\|_1, \|x\|_2, \|x\|_\infty, \|x\|_p; \|x\|_W^2 is x^\top W x or x^\top W^{-1} x",
    "matrix": r"norms of matrices are \|A\|_F, \|A\|_2, \|A\|_*; the sum of entries is \sum_{i,j} |A_{ij}|",
}


def _exponential(reading: Reading, node: Ast, above: Ast | None) -> Value:
    assert above is not None
    exponent = needed(reading, above)
    looks = [reading.names.roles[role] for role in ("exponential", "matrix_exponential")]
    return call(reading, looks, [exponent], node)


def _below(reading: Reading, node: Ast, base: Ast, below: Ast | None, scope: Scope) -> Value:
    """Return the value of a layout with a subscript that is not a name: an index form, a part, a norm."""
    if below is None:
        return value(reading, base)
    if names := _listed(reading, node):
        return index_form(reading, node, names, needed(reading, base))
    inner = unbraced(base)
    if inner.head == "fence" and inner.value in ("double_bar", "bar"):
        kind = needed(reading, inner.args[0]).kind if len(inner.args) == 1 else ""
        hint = NORMS.get(kind, f"{NORMS['vector']}; {NORMS['matrix']}")
        raise fault(f"this norm of a {kind or 'value of unknown kind'} is unknown or ambiguous", node, hint)
    if inner.head == "fence" and inner.value == "angle" and key_of_subscript(below) in INNER_PRODUCTS:
        return value(reading, base)
    if inner.head in ("word", "number", "mark"):
        value(reading, base)
        raise fault("a subscript here is not supported", node)
    return part_of(reading, needed(reading, base), None, below, scope, node)


# Fences, fractions, roots, matrices.


def _fence(reading: Reading, node: Ast, scope: Scope) -> Value:
    """Return the value inside a fence: an inner product, a condition, a rounded quotient, or parentheses."""
    if node.value == "angle" and len(node.args) == 2:
        return inner_product(reading, node)
    if len(node.args) != 1:
        is_inner = any(one.head == "word" and one.value == ("where", "text") for one in walk(node))
        hint = "a recurrence in the step of another is read as text:  x[t+1] = (y[S] where ...)" if is_inner else ""
        raise fault("a list is not a value" if node.args else "empty parentheses", node, hint)
    inner = node.args[0]
    if node.value in ("floor", "ceil"):
        return rounded(reading, node)
    if node.value in ("bar", "double_bar", "angle"):
        operand = needed(reading, inner)
        if (length := bold_length(reading, node, operand)) is not None:
            return length
        hints = {
            "bar": "write \\|x\\| for the norm of a vector, \\operatorname{abs}(x) for its entries",
            "double_bar": "", "angle": "an inner product is \\langle A, B \\rangle",
        }  # fmt: skip
        shown = {"bar": "|...|", "double_bar": r"\|...\|", "angle": r"\langle ... \rangle"}[node.value]
        raise fault(f"{shown} of a {operand.kind or 'value of unknown kind'} is not supported", node, hints[node.value])
    if inner.head == "relation" and node.value == "bracket":
        tree = needed(reading, inner, forms=("relation",)).tree
        assert tree is not None
        if any(x.head == "name" and x.value in reading.known.indices for x in walk(tree)):  # [y_i = k]
            one, zero = (Ast("number", (), Fraction(x), node.span) for x in (1, 0))
            choice = syntax.call(reading.names.roles["choice"], tree, one, zero)
            return Value(replace(choice, span=node.span), "scalar")
        condition = Ast("condition", tree.args, tree.value, node.span, tree.caret)
        return Value(moved(condition, {index.name for index in scope.indices.values()}, -1), "scalar")
    found = needed(reading, inner)
    if node.value == APPLIED:
        return of_entries(reading, node, found)
    if node.value in (NUMBER, VECTOR, ARRAY):
        found = operand_of(reading, node, found, scope)
    return found if node.value == "brace" else replace_span(found, node)


def replace_span(found: Value, node: Ast) -> Value:
    """Return a value with the span of its parentheses."""
    assert found.tree is not None
    return found._replace(tree=replace(found.tree, span=node.span), unclear="")


def _frac(reading: Reading, node: Ast, scope: Scope) -> Value:
    over, under = (needed(reading, x) for x in node.args)
    tree = Ast("product", (over.tree, under.tree), ("/",), node.span, node.caret)  # type: ignore[arg-type]
    return Value(tree, over.kind)


def _radical(reading: Reading, node: Ast, scope: Scope) -> Value:
    *index, inner = node.args
    found = needed(reading, inner)
    if not index:
        raise fault(f"the root of a {found.kind or 'value of unknown kind'} is not supported", node)
    if len(index[0].args) != 1 or found.kind not in ("scalar", ""):
        raise fault("this root is not supported", node, "a root with an index takes a scalar")
    order = needed(reading, index[0].args[0])
    one = Ast("number", (), Fraction(1), node.span)
    exponent = Ast("product", (one, order.tree), ("/",), node.span)  # type: ignore[arg-type]
    return Value(Ast("power", (found.tree, exponent), "^", node.span), "scalar")  # type: ignore[arg-type]


def _matrix(reading: Reading, node: Ast, scope: Scope) -> Value:
    rows = [[needed(reading, cell) for cell in row.args] for row in node.args]
    kinds = {x.kind for row in rows for x in row}
    is_column = bool(rows) and len(rows[0]) == 1 and kinds <= {"scalar", "vector"}
    if kinds != {"scalar"}:
        rows = [[_block(reading, x, is_column) for x in cells] for cells in rows]
    if not rows or len({len(row) for row in rows}) > 1:
        raise fault("rows of different lengths" if rows else "a matrix without entries", node)
    trees = [Ast("row", tuple(x.tree for x in row), None, node.span) for row in rows]  # type: ignore[misc]
    kind = "vector" if is_column else "matrix" if len(rows) > 1 else ""
    found = Value(Ast("block", tuple(trees), None, node.span), kind)
    if str(node.value) in ("vmatrix", "Vmatrix"):
        return call(reading, [reading.names.roles["determinant"]], [found], node)
    if str(node.value).endswith("cases"):
        raise fault(
            "these cases are not supported",
            node,
            r"write \begin{cases} a & \text{if } x > 0 \\ b & \text{otherwise} ...",
        )
    return found


def _block(reading: Reading, cell: Value, is_column: bool) -> Value:
    """Return a block of a block matrix; 0 is a block of zeros of the size of its neighbours, or else one entry."""
    tree = cast(Ast, cell.tree)
    if tree.head != "number" or tree.value != 0:
        return cell
    sizes = [Ast("empty", (), mark, tree.span) for mark in ((ONE_ENTRY,) if is_column else (BLOCK, BLOCK))]
    return Value(replace(syntax.call(reading.names.roles["all_zeros"], *sizes), span=tree.span), "")


def _relation(reading: Reading, node: Ast, scope: Scope) -> Value:
    signs = cast("tuple[str, ...]", node.value)
    if len(signs) != 1 or len(node.args) != 2 or signs[0] not in ("==", "!=", "<", "<=", ">", ">="):
        shown = "=" if signs[0] == "==" else signs[0]
        message = f"'{shown}' between formulas" if len(node.args) > 1 else f"a line that begins with '{shown}'"
        raise fault(message, node, REFUSED.get(signs[0][1:], "write one formula, the right side of the ="))
    left, right = (needed(reading, x) for x in node.args)
    sides = compared(reading, node, scope, (cast(Ast, left.tree), cast(Ast, right.tree)))
    tree = Ast("compare", sides, signs[0], node.span, node.at)
    return Value(tree, kind_of_sum([left.kind, right.kind]), form="relation")


def _condition(reading: Reading, node: Ast, scope: Scope) -> Value:
    return needed(reading, node.args[0], forms=("relation",))


def _function(reading: Reading, node: Ast, scope: Scope) -> Value:
    x, body = node.args
    if x.head != "letter":
        raise fault("a function is x \\mapsto x^2, of one letter", node)
    tree = Ast("function", (needed(reading, body).tree,), str(x.value[0]), node.span, node.at)  # type: ignore
    return Value(tree, "", form="function")


def _big(reading: Reading, node: Ast, scope: Scope) -> Value:
    bound = indices_of(reading, node, scope)
    body = needed(reading, node.args[-1])
    return read_sum(reading, node, bound, body)


_MEANINGS: dict[str, Meaning] = {
    "number": _number, "letter": _letter, "word": _word, "lone": _lone, "operator": _lone, "hole": _lone,
    "accent": _letter, "script": _script, "fence": _fence, "frac": _frac, "radical": _radical, "matrix": _matrix,
    "row": row, "infix": infix, "chain": chain, "relation": _relation, "if": _condition, "function": _function,
    "entrywise": _lone, "big": _big, "empty": lambda *_: Value(None),
    "mark": _mark, "slice": _refused("a range is only allowed in a subscript"),
    **dict.fromkeys((FACTORIAL, LOG_FACTORIAL), factorial),
    "stack": stack, "listed": listed,
    **dict.fromkeys(("list", "cells"), _refused("a list is not a value")),
}  # fmt: skip
