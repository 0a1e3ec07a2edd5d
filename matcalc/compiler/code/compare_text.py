"""Compares the printed text of Code with the Code: read again, it must be the same tree.

A printer that writes another operator, other indices or too few brackets is found here, at all sizes at once. Only
comments, docstrings and the kinds of parameters may differ.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from matcalc.compiler.code.code import FORMS, Constants, Foreign, Function, Item, Number, Op
from matcalc.compiler.code.code_text import Printed
from matcalc.compiler.code.print_python import item_text
from matcalc.compiler.code.read_python import items_as_written
from matcalc.compiler.kernels.native_kinds import UnknownFormError
from matcalc.compiler.lowering_entries import PART

FIELDS = {form: tuple(field.name for field in fields(form) if field.name != "note") for form in FORMS}


def difference(source: str) -> str:
    """Return the first line of an item whose text has another meaning than its Code; empty if there is none.

    Beside values of users' rules a function may have forms that are not read back, such as `y[...] = f(x)`; such a
    function is not compared.
    """
    if not isinstance(source, Printed):
        return ""
    items = source.code.items
    if len(source.parts) != len(items):
        return source.parts[-1]
    is_foreign = any(isinstance(item, Foreign) for item in items)
    for item, text in zip(items, source.parts, strict=True):
        if not _agrees(item, text, is_foreign):
            return text.partition("\n")[0] or item_text(item).partition("\n")[0]
    return ""


def _agrees(item: Item, text: str, is_foreign: bool) -> bool:
    if isinstance(item, Foreign):
        return item.text == text
    try:
        found = items_as_written(text)
    except UnknownFormError:
        return is_foreign
    except SyntaxError:
        return False
    if isinstance(item, Constants):
        lets = [let for one in found if isinstance(one, Constants) for let in one.lets]
        return len(lets) == len(found) and same(item.lets, tuple(lets))
    (first, *others) = found or (None,)
    if others or not isinstance(first, Function) or text.startswith(PART) != item.is_inner:
        return False
    names = [[name for name, _ in one.parameters] for one in (item, first)]
    return item.name == first.name and names[0] == names[1] and same(item.body, first.body)


def same(one: Any, other: Any) -> bool:
    """Whether two trees are equal, except for notes. A negative number is read as the sign of a positive one."""
    stack = [(one, other)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, Number) and isinstance(right, Op) and str(left.value).startswith("-"):
            left = Op("-", (Number(-left.value),))
        kind = type(left)
        if kind is not type(right):
            return False
        if kind is tuple:
            if len(left) != len(right):
                return False
            stack += zip(left, right, strict=True)
        elif kind in FIELDS:
            stack += [(getattr(left, name), getattr(right, name)) for name in FIELDS[kind]]
        elif left != right if kind is not float else str(left) != str(right):  # a zero has a sign, and nan is nan
            return False
    return True
