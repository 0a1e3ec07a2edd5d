r"""Reads letters with primes as names of their own.

Such are indices, \sum_{s'} P(s' \mid s) V(s'), and what a line defines, h' = (1 - z) \odot h.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import cast

from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import same_layout
from matcalc.language.syntax import Ast, rebuild, walk


def with_primed_names(reading: Reading, lines: Sequence[Ast], signs: Collection[str]) -> list[Ast]:
    """Return lines in which each name with a prime that a line defines has the prime as an accent.

    Raises: ParseError for a use in front of a factor if the name without its prime is declared: it can be transposed.
    """
    sides = [x.args[0] for x in lines if x.head == "relation" and x.value in [(sign,) for sign in signs]]
    keys = {key for side in sides if (key := _primed_key(side)) and (*key, "prime") not in reading.keys}
    for item, after in (
        pair for line in lines for row in walk(line) if row.head == "row" for pair in pairwise(row.args)
    ):
        key = _primed_key(item)
        if key in keys and after.head != "operator" and (key in reading.keys or large_of(reading, key)):
            shown = "_".join(key)
            hint = rf"write {shown}^\top for the transpose, or another letter for what the line defines"
            raise fault(f"{shown}' can be the transpose of {shown} or what a line defines", item, hint)

    def change(node: Ast) -> Ast:
        if _primed_key(node) not in keys:
            return node
        base, below = Ast("accent", (node.args[0],), "prime", node.args[0].span), subscript_of(node)
        return base if below is None else Ast("script", (base, below), ("_",), node.span, node.at)

    return [rebuild(line, change) for line in lines] if keys else list(lines)


def _primed_key(node: Ast) -> Key:
    """Return the key of a name with one prime and no other superscript, () for anything else."""
    is_primed = node.head == "script" and sorted(node.value) in (["'"], ["'", "_"])  # type: ignore[call-overload]
    return (key_of(node.args[0]) or ()) if is_primed else ()


def with_primed_indices(reading: Reading, line: Ast) -> Ast:
    """Return a line in which each letter with a prime that a sum binds is one letter, s_prime."""
    below = [x for node in walk(line) if node.head == "big" for script in node.args[:-1] for x in walk(script)]
    letters = {_letter(x) for x in below if _is_primed(x)}
    letters = {x for x in letters if (x, "prime") not in reading.keys}
    if not letters:
        return line

    def change(node: Ast) -> Ast:
        if not _is_primed(node) or (letter := _letter(node)) not in letters:
            return node
        return Ast("letter", (), (f"{letter}_prime", ""), node.span)

    return rebuild(line, change)


def _is_primed(node: Ast) -> bool:
    return node.head == "script" and node.value == ("'",) and node.args[0].head == "letter"


def _letter(node: Ast) -> str:
    return str(node.args[0].value[0])  # type: ignore[index]


def check_not_derived(lines: Sequence[Ast], signs: Collection[str]) -> None:
    """Raise ParseError for u'(x) beside a function u(x) that a line defines: a derivative without a formula."""
    sides = [x.args[0] for x in lines if x.head == "relation" and x.value in [(sign,) for sign in signs]]
    calls = [x.args for x in sides if x.head == "row" and len(x.args) == 2 and x.args[1].head == "fence"]
    plain = [x for x, _ in calls if x.head != "script" or "'" not in cast("tuple[str, ...]", x.value)]
    functions = {key_of(x.args[0] if x.head == "script" else x) for x in plain} - {None}
    defined = [name for name, _ in calls if name.head == "script"]
    for node in (x for line in lines for x in walk(line) if x.head == "script"):
        key = key_of(node.args[0])
        if key not in functions or "'" not in cast("tuple[str, ...]", node.value):
            continue
        if not any(same_layout(node, one) for one in defined):
            shown = "_".join(key or ()) + "'" * cast("tuple[str, ...]", node.value).count("'")
            hint = f"write a line with its formula, {shown}(x) = ..., or call gradient of the function"
            raise fault(f"{shown} is a derivative that no line defines", node, hint)
