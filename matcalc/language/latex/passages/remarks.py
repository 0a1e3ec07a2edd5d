r"""Removes lines of a text of sentences that define nothing, models $y = X w + \epsilon$ and laws $\epsilon \sim N$.

Words about a symbol matter if a line uses it: then it is declared, defined by a line, or has the meaning that they
state.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matcalc.errors import ParseError
from matcalc.language.latex.definitions.functions import nowhere
from matcalc.language.latex.definitions.sets import set_key, space_of
from matcalc.language.latex.definitions.statements import EQUAL
from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import lines_between, lines_of
from matcalc.language.latex.layout.latex_patterns import TOPS, without_top
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.latex.passages.contradictions import check_words
from matcalc.language.latex.passages.descriptions import OVER, Described
from matcalc.language.latex.passages.meanings import has_meaning, is_function_named
from matcalc.language.latex.passages.passage import Lines, Passage
from matcalc.language.latex.passages.restrictions import check_described, check_own, function_named, is_known, restricts
from matcalc.language.latex.passages.spellings import with_known_spellings
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, walk

_TERM = re.compile(
    r" is (?:an?\s+|the\s+)?(?:\w+\s+)*(?:penalty|weights?|regulari[sz]er|prior|offset|factor|term)\s*\Z"
)
"""The noun of a part of a formula, in front of its symbol."""
_SIM = (r"\sim",)


def without_remarks(reading: Reading, passage: Passage) -> Passage:
    """Return a passage without the lines that only tell a model, a law, a range or the parts of a declared name.

    Raises: ParseError for a relation of indices between the words, which may be a condition.
    """
    every = [one for line in (*passage.lines, *passage.aside) for one in line]
    defined = {key for one in every for key in _defined(one)}

    def kept(lines: Lines) -> Lines:
        made = [_kept(reading, line, defined) for line in lines]
        return tuple(line for line in made if line)

    return passage._replace(lines=kept(passage.lines), aside=kept(passage.aside))


def _kept(reading: Reading, line: Sequence[Ast], defined: set[Key]) -> list[Ast]:
    r"""Return the equations of a line, without the names in front of a relation, x_1, \dots, x_n \in \mathbb{R}^d."""
    made: list[Ast] = []
    for one in line:
        if one.head == "relation" and one.value[0] not in EQUAL:  # type: ignore[index]
            while made and (_are_dots(made[-1]) or made[-1].head != "relation" and is_known(reading, made[-1])):
                made.pop()
        if not _is_remark(reading, one, defined):
            made.append(_without_space(one))
    return made


def _are_dots(one: Ast) -> bool:
    return one.head == "word" and one.value[0] in DOTS  # type: ignore[index]


def _without_space(one: Ast) -> Ast:
    r"""Return f(x) = W x \in \mathbb{R}^K as f(x) = W x."""
    if one.head != "relation" or len(one.args) != 3 or one.value[0] not in EQUAL or one.value[1] != r"\in":  # type: ignore[index]
        return one
    return Ast("relation", one.args[:2], one.value[:1], one.span, one.at)  # type: ignore[index]


def _is_remark(reading: Reading, one: Ast, defined: set[Key]) -> bool:
    if one.head != "relation":
        return False
    one = _without_space(one)
    signs, left, right = set(one.value), one.args[0], one.args[-1]  # type: ignore[call-overload]
    left = with_known_spellings(reading, [left])[0]
    own = key_of(left.args[0] if left.head == "script" else left)
    is_data = own is not None and any(name in reading.known.shapes for name in reading.keys.get(own, ()))
    if signs <= {*EQUAL} and (is_known(reading, left) or is_data and left.head == "script"):
        return _is_list(right) or own in used(right) or bool(_unknown(reading, right, defined))
    if one.value == _SIM:
        return True
    if signs <= {*EQUAL} or restricts(reading, one) or set_key(one) is not None and space_of(one) is not None:
        return False
    base = left.args[0] if left.head == "script" and {*left.value} == {"'"} else left  # type: ignore[misc]
    if one.value == (r"\in",) and base.head == "letter" and right.head in ("fence", "script"):
        return True
    raise fault("a relation between the words can be a condition", one, "write it below the sum, or leave it out")


def _is_list(layout: Ast) -> bool:
    shown, _ = without_top(layout)
    return shown.head == "fence" and any(x.head == "word" and x.value[0] in DOTS for x in shown.args)  # type: ignore[index]


def _defined(one: Ast) -> set[Key]:
    """Return the keys of what an equation defines, with and without its subscript."""
    if one.head != "relation" or one.value[0] not in EQUAL:  # type: ignore[index]
        return set()
    side = without_top(one.args[0].args[0] if one.args[0].head == "row" else one.args[0])[0]
    return {key for x in (side, *side.args[:1]) if (key := whole_key(x)) is not None}


def _unknown(reading: Reading, layout: Ast, defined: set[Key]) -> set[Key]:
    """Return the names in a layout that are neither declared nor defined, such as a noise."""
    letters = [x for x in walk(layout) if x.head == "letter" and x.value[0] not in "eijkltT"]  # type: ignore[index]
    keys = {key for x in letters if (key := key_of(x)) is not None}
    return {key for key in keys if key not in reading.keys and key not in defined and not _is_part(reading, key)}


def _is_part(reading: Reading, key: Key) -> bool:
    return (key[0].upper(), *key[1:]) in reading.keys or any(other[: len(key)] == key for other in reading.keys)


def _read(line: Ast) -> frozenset[Key]:
    """Return the keys of the names that a line reads."""
    return used(line.args[-1] if line.head == "relation" else line)


def _is_formula(layout: Ast) -> bool:
    """Return whether a layout is more than a symbol or a call, L/n and -L."""
    if layout.head in ("relation", "chain", "frac", "big", "infix", "radical"):
        return True
    return layout.head == "row" and not (len(layout.args) == 2 and layout.args[1].head == "fence")


def _beside_subscripts(line: Ast) -> set[str]:
    """Return the letters of a line that are not only subscripts."""
    below = {id(x) for s in walk(line) if s.head == "script" and (b := subscript_of(s)) is not None for x in walk(b)}
    return {str(x.value[0]) for x in walk(line) if x.head in ("letter", "word") and id(x) not in below}  # type: ignore[index]


def check_mentioned(
    reading: Reading, text: str, described: Sequence[Described], lines: Sequence[Sequence[Ast]]
) -> list[Ast]:
    """Return the definitions of the functions that words name.

    Raises: ParseError for a symbol of some line that only words describe, and for words that deny a declaration.
    """
    every = [one for line in lines for one in line]
    keys = frozenset[Key]().union(*map(used, every))
    letters = {x for one in every for x in _beside_subscripts(one)}
    defined = {key for one in every for key in _defined(one)}
    bound = {x for one in every for big in walk(one) if big.head == "big" for x in letters_in(big.args[0])}
    bound |= {x for one in every if _defined(one) or one.head == "relation" for x in letters_in(one.args[0])}
    ends = {key for one in every for key in _defined(one) if not any(key in _read(x) for x in every)}
    found: list[Ast] = []
    for one in described:
        if one.words == OVER:
            found += check_described(reading, text, [one], lines)
            continue
        shown = text[one.begin : one.end].strip()
        try:
            names = [x for line in lines_between(text, one.begin, one.end, has_lines=False) for x in line]
            names = [x for x in with_known_spellings(reading, names) if not _are_dots(x)]
        except ParseError:
            if has_meaning(shown) and not one.is_stated:
                hint = "leave the words out if it has its usual meaning, or write a formula"
                raise ParseError(f"only words describe {shown}", text=text, at=one.begin, hint=hint) from None
            continue
        if any(map(_is_formula, names)):
            if any(used(x) & ends for x in names) and not any(x.head == "relation" for x in names):
                hint = "write it as the formula of the passage, or leave it out"
                raise ParseError("a formula among the words contains the result", text=text, at=one.begin, hint=hint)
            continue  # no symbol
        if one.is_stated or is_function_named(shown, one.words) and any(is_known(reading, x) for x in names):
            check_own(reading, text, one)
            continue
        if not names or all(is_known(reading, x) for x in names):
            if names:
                check_words(reading, text, one, names)
            continue
        name = without_top(names[0])[0] if len(names) == 1 else names[0]
        base = name.args[0] if name.head in ("script", "row") else name
        key = key_of(base)
        if key is None and not has_meaning(shown):
            continue
        if key is not None and key not in keys and key not in reading.keys and _TERM.search(one.words):
            raise ParseError(f"no formula contains {shown}", text=text, at=one.begin, hint="write it in the formula")
        is_denied = has_meaning(shown) and "function" in one.words and key not in defined
        if (
            not is_denied
            and key is not None
            and (
                key not in keys
                or key in defined
                or key[0] in bound
                or key[0] not in letters
                or whole_key(name) in reading.keys
            )
        ):
            continue
        is_function = name is base or name.head == "row" and name.args[1].head == "fence" and name.args[1].value in TOPS
        if key is not None and is_function and (word := function_named(reading, one.words)):
            found += lines_of(rf"{shown.partition('(')[0].strip()}(t) = \operatorname{{{word}}}(t)")[0]
            continue
        hint = (
            f"declare it if it is data, define it by a formula, or leave the words out if {shown} has its usual meaning"
        )
        raise ParseError(f"only words describe {shown}", text=text, at=one.begin, hint=hint)
    return [nowhere(x) for x in found]
