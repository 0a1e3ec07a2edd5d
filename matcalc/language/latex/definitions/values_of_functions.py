r"""Reads names that a passage has only behind a function, \cos\theta_i = \frac{b_i^\top b_j}{|b_i| |b_j|}.

If all lines read \theta_i behind \cos alone, its cosine is a name of its own; the angle itself is not needed. Powers
of the function are those of the name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from matcalc.language.latex.latex_scope import Key, Reading, key_of
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, rebuild, walk


def with_values_of_functions(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    r"""Return lines in which \cos\theta that a line defines is a name if no line has \theta without \cos."""
    done = list(lines)
    for line in lines:
        found = _defined(reading, line, signs)
        if found is None:
            continue
        word, key = found
        uses = [_uses(one, key) for one in done]
        behind = sum(_is_function(before, word) for some in uses for before in some)
        if behind > 1 and behind == sum(_count(one, key) for one in done):
            done = [rebuild(one, lambda x, word=word, key=key: _change(x, word, key)) for one in done]  # type: ignore[misc]
    return done


def _defined(reading: Reading, line: Ast, signs: Collection[str]) -> tuple[str, Key] | None:
    r"""Return the function \cos and the key of \theta of a line \cos\theta_i = ..., if no function undoes it."""
    if line.head != "relation" or line.value not in [(sign,) for sign in signs] or len(line.args) != 2:
        return None
    side = line.args[0]
    if side.head != "row" or len(side.args) != 2:
        return None
    word, name = side.args[0], _operand(side.args[1])
    key = _base(name)
    names = reading.names
    is_function = word.head == "word" and word.value[1] in ("\\", "operator") and word.value[0] in names.words  # type: ignore[index]
    if not is_function or key is None or key in reading.keys or {*word.value} & {*names.solving}:  # type: ignore[misc]
        return None
    return str(word.value[0]), key  # type: ignore[index]


def _operand(layout: Ast) -> Ast:
    """Return a name without the parentheses around it."""
    is_fence = layout.head == "fence" and layout.value == "open" and len(layout.args) == 1
    return layout.args[0] if is_fence else layout


def _base(name: Ast) -> Key | None:
    return key_of(name.args[0] if name.head == "script" and name.value == ("_",) else name)


def _uses(line: Ast, key: Key) -> Iterator[Ast]:
    """Yield the items in front of a name."""
    for row in (x for x in walk(line) if x.head == "row"):
        yield from (before for before, item in pairwise(row.args) if _base(_operand(item)) == key)


def _is_function(layout: Ast, word: str) -> bool:
    """Return whether a layout is the word of a function, with or without a power."""
    shown, above = without_top(layout)
    is_power = all(mark == "^" and x is not None and unbraced(x).head == "number" for mark, x in above)
    return shown.head == "word" and shown.value[0] == word and is_power  # type: ignore[index]


def _count(line: Ast, key: Key) -> int:
    inside = {id(x.args[0]) for x in walk(line) if x.head == "accent"}
    return sum(x.head in ("letter", "accent") and key_of(x) == key for x in walk(line) if id(x) not in inside)


def _change(row: Ast, word: str, key: Key) -> Ast:
    """Return a row in which a function and its operand are one name."""
    if row.head != "row":
        return row
    items: list[Ast] = []
    for item in row.args:
        name = _operand(item)
        if not items or _base(name) != key or not _is_function(items[-1], word):
            items.append(item)
            continue
        above = without_top(items.pop())[1]
        base = name.args[0] if name.head == "script" else name
        base = Ast("accent", (base,), f"{word}", base.span)
        scripts = [x for x in (*name.args[1:2], *(x for _, x in above)) if x is not None]
        marks = (*(("_",) if name.head == "script" else ()), *(mark for mark, _ in above))
        items.append(Ast("script", (base, *scripts), marks, item.span, item.at) if scripts else base)
    return items[0] if len(items) == 1 else Ast("row", tuple(items), None, row.span, row.at)
