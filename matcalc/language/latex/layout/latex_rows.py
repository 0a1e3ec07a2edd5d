r"""Joins items of a row in LaTeX that are one layout together: `\mathrm{d}X`, `\log(x!)`."""

from __future__ import annotations

from typing import cast

from matcalc.language.syntax import Ast

FACTORIAL = "factorial"
LOG_FACTORIAL = "logarithm of a factorial"


def joined(items: list[Ast]) -> list[Ast]:
    """Return the items of a row in which several items that are one layout are joined."""
    return _differentials(_with_logarithms(_without_empty(items)))


def _with_logarithms(items: list[Ast]) -> list[Ast]:
    r"""Return a row in which \log(x!) and \log x! are one layout: x! may overflow, its logarithm does not."""
    found: list[Ast] = []
    for item in items:
        inner = item
        while inner.head == "fence" and inner.value in ("brace", "open", "bracket") and len(inner.args) == 1:
            inner = inner.args[0]
        is_log = found and found[-1].head == "word" and found[-1].value[0] in ("log", "ln")  # type: ignore[index]
        if is_log and inner.head == FACTORIAL:
            found[-1] = Ast(LOG_FACTORIAL, inner.args, None, (found[-1].span[0], item.span[1]))
        else:
            found.append(item)
    return found


def _without_empty(items: list[Ast]) -> list[Ast]:
    r"""Return a row without `{}`, which only sets the distance of the sign before it."""
    shown = [x for x in items if not (x.head == "fence" and x.value == "brace" and not x.args)]
    return shown or items


def _differentials(items: list[Ast]) -> list[Ast]:
    r"""Return a row in which `\mathrm{d}X` is one letter."""
    found: list[Ast] = []
    for item in items:
        last = found[-1] if found else None
        base = item.args[0] if item.head == "script" else item
        if last is None or last.head != "letter" or last.value != ("d", "roman") or base.head != "letter":
            found.append(item)
            continue
        name, font = cast("tuple[str, str]", base.value)
        letter = Ast("letter", (), (f"d {name}", font), (last.span[0], base.span[1]))
        if item is not base:
            letter = Ast("script", (letter, *item.args[1:]), item.value, (last.span[0], item.span[1]), item.at)
        found[-1] = letter
    return found
