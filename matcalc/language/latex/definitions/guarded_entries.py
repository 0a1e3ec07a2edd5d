r"""Reads entries that a case keeps inside an array: u_{i+1} - u_i for i < n, and 0 for i = n.

A sum up to n whose case reads u_{i+1} below n is the sum up to n - 1 and its last term. So is one whose case reads
u_{i-1} above the first term.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple, cast

from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_scope import subscript_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import same_layout
from matcalc.language.syntax import Ast, rebuild, rebuilt, walk


class Sum(NamedTuple):
    """A sum over one index: its letter, first and last values, and its terms."""

    letter: str
    low: Ast
    high: Ast
    body: Ast


def with_guarded_entries(layout: Ast) -> Ast:
    """Return a layout in which sums whose cases guard an entry beyond an end are those without it, and its term."""
    if not any(_is_cases(x) for x in walk(layout)):
        return layout
    return rebuild(layout, _split)


def _is_cases(node: Ast) -> bool:
    return node.head == "matrix" and str(node.value).endswith("cases") and [len(x.args) for x in node.args] == [2, 2]


def _split(node: Ast) -> Ast:
    """Return a sum as the one without its first or last term, and this term, if a case guards an entry beyond it."""
    found = _sum(node)
    if found is None:
        return node
    for at_end in (True, False):
        end = found.high if at_end else found.low
        cases = [x for x in walk(found.body) if _is_cases(x)]
        guarded = {id(x): row for x in cases if (row := _guarded(x, found, at_end)) is not None}
        if not guarded:
            continue
        step = _added(end, -1 if at_end else 1)
        low, high = (found.low, step) if at_end else (step, found.high)
        below = unbraced(node.args[0])
        below = Ast("relation", (below.args[0], low), below.value, below.span, below.at)
        rest = Ast("big", (below, high, _with_rows(found.body, guarded)), node.value, node.span, node.at)
        last = rebuild(
            _with_rows(found.body, {key: 1 - row for key, row in guarded.items()}),
            lambda x, end=end: end if x.head == "letter" and x.value[0] == found.letter else x,  # type: ignore[misc]
        )
        terms = (_split(rest), Ast("fence", (last,), "open", node.span))
        chain = Ast("chain", terms, ((1, 1), False), node.span, node.at)
        return Ast("fence", (chain,), "open", node.span, node.at)
    return node


def _sum(node: Ast) -> Sum | None:
    """Return a sum over one index with both bounds, i = 1 below and n above; None for anything else."""
    if node.head != "big" or node.value != ("sum", ("_", "^")):
        return None
    below = unbraced(node.args[0])
    if below.head != "relation" or below.value != ("==",) or below.args[0].head != "letter":
        return None
    return Sum(str(below.args[0].value[0]), unbraced(below.args[1]), unbraced(node.args[1]), node.args[2])  # type: ignore[index]


def _guarded(cases: Ast, one: Sum, at_end: bool) -> int | None:
    """Return the row of the case that holds except at an end and reads an entry beyond it; None without one."""
    condition = unbraced(cases.args[0].args[1])
    condition = unbraced(condition.args[0] if condition.head == "if" else condition)
    if condition.head != "relation" or len(condition.args) != 2:
        return None
    (sign,), (left, right) = cast("tuple[str]", condition.value), condition.args
    if right.head == "letter" and right.value[0] == one.letter:  # type: ignore[index]
        left, right = right, left
        sign = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(sign, sign)
    if left.head != "letter" or left.value[0] != one.letter:  # type: ignore[index]
        return None
    end, past = (one.high, ("<", "<=")) if at_end else (one.low, (">", ">="))
    is_beside = sign == past[1] and same_layout(right, _added(end, -1 if at_end else 1))
    if same_layout(right, end) and sign in ("==", "!=", past[0]) or is_beside:
        row = 1 if sign == "==" else 0
        return row if _reads_beyond(cases.args[row].args[0], one.letter, 1 if at_end else -1) else None
    return None


def _reads_beyond(layout: Ast, letter: str, sign: int) -> bool:
    """Return whether a layout has a subscript i + 1, or i - 1 for the sign -1."""
    scripts = [s for x in walk(layout) if x.head == "script" and (s := subscript_of(x)) is not None]
    for axis in (x for below in scripts for x in elements(below)):
        if axis.head == "chain" and len(axis.args) == 2 and axis.value == ((1, sign), False):
            first, second = axis.args
            if first.head == "letter" and first.value[0] == letter and second.head == "number":  # type: ignore[index]
                return True
    return False


def _with_rows(body: Ast, rows: Mapping[int, int]) -> Ast:
    """Return terms with the values of some rows in the place of cases."""

    def change(node: Ast, new: Ast) -> Ast:
        if id(node) not in rows:
            return new
        return Ast("fence", (new.args[rows[id(node)]].args[0],), "open", node.span, node.at)

    return rebuilt(body, change)


def _added(end: Ast, step: int) -> Ast:
    """Return an end plus or minus 1, as written."""
    if end.head == "number":
        value = cast(Fraction, end.value[0]) + step  # type: ignore[index]
        return Ast("number", (), (value, "", str(value)), end.span)
    one = Ast("number", (), (Fraction(1), "", "1"), end.span)
    return Ast("chain", (end, one), ((1, step), False), end.span, end.at)
