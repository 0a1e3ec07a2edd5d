r"""Refuses words that contradict how a formula is read: other kinds and shapes than declared, logarithms to base 2.

Words about a declared symbol change no formula, but words that deny its declaration or a convention of matcalc do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matcalc.errors import ParseError
from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Reading, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.latex.passages.descriptions import Described
from matcalc.language.latex.passages.words_of_rows import letters_of
from matcalc.language.syntax import Ast

CONVENTIONS = (
    (
        r"\bbase[\s-]*\$?\s*(?:2|10|two|ten)\b|\bbinary\s+logarithm",
        "logarithms are natural here",
        r"leave these words out, and write \log_2 x or \frac{\log x}{\log 2}",
    ),
    (
        r"\b(?:zero|0)-(?:based|indexed)|\b(?:ind(?:ex|exes|ices)|subscripts?|numbers)\s+(?:\w+\s+)?(?:start|begin|count|run)\w*\s+"
        r"(?:at|from|with)\s+\$?\s*(?:0|zero)\b|\bcount\w*\s+from\s+\$?\s*(?:0|zero)\b",
        "subscripts count from 1 here",
        "write subscripts that count from 1, or sums with bounds",
    ),
    (r"\bin\s+degrees\b(?!\s+of)", "angles are in radians here", "multiply the angle by \\pi / 180"),
    (
        r"\b(?:periodic|cyclic)(?:al)?(?:ly)?\s+(?:boundar|border|condition|exten|continu|ind(?:ex|ices)|subscript)\w*"
        r"|\bmodulo\b"
        r"|\bwrap\w*\s+around",
        "indices have no values beyond the last one here",
        "write the terms at the border, as + x_n x_1",
    ),
    (
        r"\b(?:is|are|be|denotes?)\s+(?:an?\s+|the\s+)?(?:[\w-]+\s+)?row[\s-]vectors?\b(?!\s+(?:of|in)\b)",
        "vectors are columns here",
        "declare it as matrix(1, n), or write its transpose where it is a row",
    ),
)
"""Words that deny a convention, the convention, and what to write instead."""

_GOES_ROUND = re.compile(r"_\s*(?:0|\{\s*0\b[^{}]*\}|\{[^{}]*\+\s*1\b[^{}]*\})\s*&?\s*=")
"""An entry beyond an end that the passage defines, u_{N+1} = u_1."""
_ADJECTIVE = r"(?:(?!of\b|in\b|for\b|on\b|to\b|from\b|by\b|with\b|that\b|and\b|norms?\b)[\w-]+|\$[^$]*\$)[\s,-]+"
_KIND = re.compile(
    r"[\s,]*(?:(?:is|are|be|being|denotes?|represents?|collects?)\s+)?(?:(?:an?|the|its|their|some)\s+)?"
    rf"(?P<before>(?:{_ADJECTIVE}){{0,5}}?)(?P<noun>vector|matrix|scalar)s?"
    r"(?=\s*(?:[,.;)]|\Z|\$|(?:of|with|and|that|whose|which|containing|in|for|to|from|by|collecting|over|at)\b))"
    r"|[\s,]*(?:are|be)\s+(?:the\s+)?(?P<many>matrices)\b"
)
_SHAPE = re.compile(r"\$\s*(\w+)\s*\\times\s*(\w+)\s*\$")
_SQUARE = re.compile(r"\b(?:symmetric|(?:semi-?)?definite|invertible|nonsingular|square)\b")
_NOUN = re.compile(r"[\s,]*(?:is|are|be)\s+(?:[\w-]+\s+){0,4}?\Z")
_COUNT = re.compile(r"[\s,]*(?:is|are|be|denotes?)\s+the\s+number\s+of\s+(row|column)s\s+(?:of|in)\s+\$([^$]*)\$")
_RANKS = {"scalar": 0, "vector": 1, "matrix": 2, "matrices": 2}
_KINDS = ("number", "vector", "matrix", "tensor")


def check_conventions(text: str, shown: str) -> None:
    """Raise ParseError for removed words of a text that deny a convention; `shown` has spaces for them."""
    words = "".join(a if a != b or a.isspace() else "\0" for a, b in zip(text, shown, strict=True))
    for pattern, convention, hint in CONVENTIONS:
        if (found := re.search(pattern, words)) and not ("periodic" in pattern and _GOES_ROUND.search(shown)):
            raise ParseError(f"{' '.join(found[0].split())!r}: {convention}", text=text, at=found.start(), hint=hint)


def check_words(reading: Reading, text: str, one: Described, names: Sequence[Ast]) -> None:
    """Raise ParseError for words of a declared symbol that name another kind or shape than its declaration."""
    for name in names:
        declared = declared_part(reading, name)
        if declared is not None:
            _check_kind(text, one, *declared)
    counted = _COUNT.match(one.words)
    key = whole_key(names[0]) if len(names) == 1 else None
    size = next(iter(reading.keys.get(key or (), ())), "")
    matrices = [x for letter in letters_of(counted[2]) for x in reading.keys.get((letter,), ())] if counted else []
    shape = reading.known.shapes.get(matrices[0], ()) if len(matrices) == 1 else ()
    if counted and size in reading.known.sizes and len(shape) == 2 and shape[counted[1] == "column"] != size:
        hint = f"declare it as these words tell it; {matrices[0]} is declared as a matrix({', '.join(shape)})"
        raise ParseError(f"{size} is not the number of {counted[1]}s", text=text, at=one.begin, hint=hint)


def _check_kind(text: str, one: Described, name: str, shape: tuple[str, ...]) -> None:
    found = _KIND.match(one.words)
    noun = (found["noun"] or found["many"]) if found else ""
    told = _SHAPE.search(found["before"]) if found and found["before"] else None
    is_column = "1" in shape
    is_other = bool(noun) and _RANKS[noun] != len(shape) and not is_column
    if told and len(shape) == 2 and (told[1], told[2]) != shape:
        is_other |= {told[1], told[2]} <= {*shape} or (told[1] == told[2]) != (shape[0] == shape[1])
    square = _SQUARE.search(one.words)
    is_said = square is not None and _NOUN.fullmatch(one.words[: square.start()]) is not None
    is_other |= is_said and len(shape) == 2 and shape[0] != shape[1]
    if is_other:
        kind = _KINDS[min(len(shape), 3)] + (f"({', '.join(shape)})" if shape else "")
        hint = "declare it as these words tell it, or leave them out"
        raise ParseError(f"{name} is declared as a {kind}, and these words deny it", text=text, at=one.begin, hint=hint)


def declared_part(reading: Reading, layout: Ast) -> tuple[str, tuple[str, ...]] | None:
    """Return the declared array and the sizes of a name, an entry or a row; None if they are not known.

    Of x_i with a matrix X the one size is "", since either axis may be that of i.
    """
    shown, above = without_top(layout)
    key = whole_key(shown)
    if above or key is None:
        return None
    names = reading.keys.get(key, ())
    if len(names) == 1:
        return _shape(reading, names[0], 0)
    below = subscript_of(shown) if shown.head == "script" else None
    base = key_of(shown.args[0]) if below is not None else None
    if below is None or base is None:
        return None
    items = [x for one in elements(below) for x in (one.args if one.head == "row" else (one,))]
    names = reading.keys.get(base, ()) or tuple(filter(None, [large_of(reading, base)]))
    if len(names) != 1 or any(x.head != "letter" for x in items):
        return None
    return _shape(reading, names[0], len(items))


def _shape(reading: Reading, name: str, count: int) -> tuple[str, tuple[str, ...]] | None:
    """Return an array with its sizes without those of a number of indices."""
    if name in reading.known.sizes or name in reading.known.indices:
        return None
    shape = reading.known.shapes.get(name, ())
    if reading.known.kinds.get(name) != "scalar" and not shape or count > len(shape):
        return None
    return name, shape if not count else shape[count:] if len(shape) - count != 1 or count > 1 else ("",)
