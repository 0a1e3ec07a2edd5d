r"""Reads indices with primes, \sum_{s'} P(s' \mid s) V(s'), as indices with names of their own."""

from __future__ import annotations

from matcalc.language.latex.latex_scope import Reading
from matcalc.language.syntax import Ast, rebuild, walk


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
