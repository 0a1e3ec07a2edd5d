r"""Removes what a passage says of the values of declared symbols, `0 < d < 1`, `y_i \in \{0, 1\}`, `A \succ 0`.

It changes no formula. Names that only words describe must be declared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matcalc.errors import ParseError
from matcalc.language.latex.definitions.functions import nowhere
from matcalc.language.latex.definitions.statements import EQUAL
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, key_of, key_of_subscript, subscript_of
from matcalc.language.latex.layout.latex_layout import lines_between, lines_of, unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.latex.passages.contradictions import check_words
from matcalc.language.latex.passages.descriptions import OVER, Described
from matcalc.language.latex.passages.meanings import is_function_named
from matcalc.language.latex.passages.spaces import note_space
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, walk

_CHANGES = re.compile(
    r"transpos|invers|square|root|log|mean|averag|sort|order|normali|deriv|gradient|negativ|absolut|except|\bnot\b|only|unless"
)
"""Parts of words by which a symbol is another one than the formula beside them."""
_NAMED = re.compile(
    r"[\s,]*(?:is|denotes|means|(?:refers?|stands?)\s+(?:to|for)|to)\s+(?:an?\s+|the\s+)?(?:\\?\w+-?wise\s+)?([A-Za-z]+)"
    r"(?:\s+(?:function|activation|non-?linearity|unit)){0,2}(?=[\s,.;]*(?:\Z|and\b|applied\b|with\b|[,.;]))"
)
"""Words by which a symbol is a function, "is the softplus function"."""
_OF_NORMAL = re.compile(
    r"\bstandard\s+(?:normal|Gaussian)\s+(?:(?:cumulative\s+)?distribution\s+function|c\.?\s?d\.?\s?f\b"
    r"|(?P<density>(?:probability\s+)?density|p\.?\s?d\.?\s?f\b))"
)
Lines = Sequence[Sequence[Ast]]
_SIGNS = {"<", "<=", ">", ">=", "!=", r"\succ", r"\succeq", r"\prec", r"\ll", r"\gg"}


def without_restrictions(reading: Reading, lines: Lines, *, is_aside: bool) -> list[list[Ast]]:
    """Return lines without the relations of declared names with numbers, sets and one another.

    An element alone is a formula, and remains. Names before a relation belong to it, a, b > 0.
    """
    made: list[list[Ast]] = []
    is_alone = not is_aside and sum(map(len, lines)) == 1
    for number, line in enumerate(lines):
        kept: list[Ast] = []
        for one in line:
            if is_alone or not restricts(reading, one):
                kept.append(one)
                continue
            names = [one.args[0]]
            while len(kept) > (not is_aside and not number) and is_known(reading, kept[-1]):
                names.append(kept.pop())
            note_space(reading, one, names)
        made.append(kept)
    return made


def is_known(reading: Reading, layout: Ast) -> bool:
    """Return whether a layout is a declared name, an entry, a row or a size, with any letters as subscripts."""
    shown, above = without_top(layout)
    base = shown.args[0] if shown.head == "script" else shown
    key = key_of(base)
    if key is None or above and whole_key(layout) not in reading.keys and not _is_square_of_number(reading, key, above):
        return False
    if whole_key(layout) in reading.keys:
        return True
    is_declared = key in reading.keys or bool(large_of(reading, key))
    below = subscript_of(shown) if shown.head == "script" else None
    return is_declared and (below is None or all(map(_is_plain, walk(below))))


def _is_square_of_number(reading: Reading, key: Key, above: Sequence[tuple[str, Ast | None]]) -> bool:
    r"""Return whether a name with its superscript is the square of a declared number, the variance \sigma^2."""
    power = unbraced(above[0][1]) if len(above) == 1 and above[0][1] is not None else None
    is_square = power is not None and power.head == "number" and power.value[0] == 2  # type: ignore[index]
    return is_square and {reading.known.kinds.get(name) for name in reading.keys.get(key, ())} == {"scalar"}


def _is_plain(layout: Ast) -> bool:
    """Return whether a layout in a subscript is a letter, also with primes, or a number."""
    is_primed = layout.head == "script" and {*layout.value} == {"'"}  # type: ignore[misc]
    return layout.head in ("letter", "number", "fence", "row") or is_primed


def restricts(reading: Reading, one: Ast) -> bool:
    """Return whether a line tells the values of declared names, by a sign or a set."""
    if one.head != "relation":
        return False
    if one.value == (r"\in",):
        return is_known(reading, one.args[0]) or key_of(one.args[0]) == ("I",)  # the identity
    sides = [x for x in one.args if not _is_number(x)]
    return set(one.value) <= _SIGNS and bool(sides) and all(is_known(reading, x) for x in sides)  # type: ignore[call-overload]


def _is_number(layout: Ast) -> bool:
    inner = unbraced(layout)
    if inner.head == "chain" and len(inner.args) == 1:
        inner = inner.args[0]
    is_infinite = inner.head in ("word", "mark") and "infty" in str(inner.value)
    return is_infinite or inner.head == "number" or inner.head == "frac" and all(map(_is_number, inner.args))


def check_described(reading: Reading, text: str, described: Sequence[Described], lines: Lines) -> list[Ast]:
    r"""Return the definitions of the functions that words name: $\phi$ is the softplus function.

    Raises: ParseError for any other symbol that only words describe, since they may define it.
    """
    found: list[Ast] = []
    bound = {x for line in lines for one in line for x in letters_in(one)}
    for one in described:
        shown = text[one.begin : one.end].strip()
        try:
            names = [x for line in lines_between(text, one.begin, one.end, has_lines=False) for x in line]
        except ParseError:
            names = []
        if len(names) == 1 and names[0].head == "fence" and names[0].value == "open":
            names = [*names[0].args]
        if one.is_stated or is_function_named(shown, one.words) and any(is_known(reading, x) for x in names):
            check_own(reading, text, one)
            continue
        if one.words == OVER and any(x.head == "letter" and x.value[0] in reading.known.sizes for x in names):  # type: ignore[index]
            hint = rf"write \frac{{1}}{{{shown}}} for the quotient, or leave the words out"
            raise ParseError(f"over {shown} can be a quotient or a range", text=text, at=one.begin, hint=hint)
        names = without_dots(reading, names)
        if one.is_row or names and all(is_known(reading, x) or _is_index(x, bound) for x in names):
            check_words(reading, text, one, names)
            continue
        if len(names) == 1 and _is_defined(names[0], one.words, lines):
            continue
        if len(names) == 1 and (word := function_named(reading, one.words)) and names[0].head in ("letter", "row"):
            sign = shown.partition("(")[0].strip()
            found += lines_of(rf"{sign}(t) = \operatorname{{{word}}}(t)")[0]
            continue
        hint = (
            f"declare it if it is data, define it by a formula, or leave the words out if {shown} has its usual meaning"
        )
        raise ParseError(f"only words describe {shown}", text=text, at=one.begin, hint=hint)
    return [nowhere(x) for x in found]


def without_dots(reading: Reading, names: list[Ast]) -> list[Ast]:
    r"""Return the names y_1, \dots, y_q of all rows or entries of a declared array without the dots."""
    if len(names) < 3 or names[-2].head != "word" or names[-2].value[0] not in DOTS:  # type: ignore[index]
        return names
    rest = [*names[:-2], names[-1]]
    keys = {key_of(x.args[0]) if x.head == "script" and x.value == ("_",) else None for x in rest}
    key = keys.pop()
    if keys or key is None:
        return names
    arrays = {*reading.keys.get(key, ()), large_of(reading, key)}
    lengths = {length for name in arrays for length in reading.known.shapes.get(name, ())}
    numbers = [key_of_subscript(x.args[1]) for x in rest]
    is_all = numbers[-1] in {(length,) for length in lengths}
    return rest if is_all and numbers[:-1] == [(str(k + 1),) for k in range(len(rest) - 1)] else names


def function_named(reading: Reading, words: str) -> str:
    """Return the word for a function of numbers by which words name a symbol, "" for anything else."""
    if of_normal := _OF_NORMAL.search(words):
        return reading.names.roles["normal_density" if of_normal["density"] else "normal_distribution"]
    named = _NAMED.match(words)
    spellings = (named[1], named[1].lower()) if named else ()
    known = reading.names
    return next(
        (x for x in spellings if x in known.words and known.results.get(known.canonical.get(x, x)) == "same"), ""
    )


def _is_defined(name: Ast, words: str, lines: Lines) -> bool:
    r"""Return whether a formula among words defines their symbol or its entries: $D$ is diagonal with $D_{ii} = ...$"""
    key = key_of(name)
    lefts = [one.args[0] for line in lines for one in line if one.head == "relation" and one.value[0] in EQUAL]  # type: ignore[index]
    own = [
        x for x in lefts if key is not None and key in (whole_key(x), key_of(x.args[0] if x.head == "script" else x))
    ]
    words = words.partition("=")[0]
    is_diagonal = any(
        x.head == "script" and len({*letters_in(x.args[1])}) == 1 < len(letters_in(x.args[1])) for x in own
    )
    return len(own) == 1 and not _CHANGES.search(words) and ("diagonal" in words) <= is_diagonal


def check_own(reading: Reading, text: str, one: Described) -> None:
    r"""Raise ParseError for a declared symbol of which words state another meaning, \sigma the logistic function."""
    shown = text[one.begin : one.end].strip()
    first = re.match(r"(?:\\(?:mathbf|boldsymbol|bm)\s*\{?\s*)?\\?([A-Za-z]+)", shown)
    if first and (first[1],) in reading.keys:
        hint = "leave its declaration out if the words are right, else leave the words out"
        raise ParseError(f"{first[1]} is declared, and these words deny it", text=text, at=one.begin, hint=hint)


def _is_index(layout: Ast, letters: set[str]) -> bool:
    r"""Return whether a layout is a letter that lines do not contain: it may be an index or a size there."""
    return layout.head == "letter" and layout.value[0] not in letters  # type: ignore[index]
