r"""Decides what the prose of a paragraph says of symbols: those that it mentions must be known from elsewhere.

An equation of a declared symbol with unknown ones, $y = X \beta + \varepsilon$, tells where data come from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matcalc.errors import ParseError
from matcalc.language.latex.definitions.bound_letters import bound_in
from matcalc.language.latex.definitions.functions import nowhere
from matcalc.language.latex.definitions.sets import set_key, space_of
from matcalc.language.latex.definitions.statements import EQUAL
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import lines_between, lines_of
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.latex.passages.contradictions import check_words
from matcalc.language.latex.passages.descriptions import Described
from matcalc.language.latex.passages.meanings import is_function_named
from matcalc.language.latex.passages.passage import Passage
from matcalc.language.latex.passages.restrictions import check_own, function_named, is_known, without_dots
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, walk

Lines = Sequence[Sequence[Ast]]

_OPERATION = re.compile(
    r"\b(?:sum|average|mean|product|expectation|maximum|minimum|inverse|transpose|square|root|logarithm|log|exponential"
    r"|negative|norm|trace|determinant|reciprocal|absolute\s+value)\s+(?:of|over)\s+(?:(?:the|all|these|each)\s+)*(?:[a-z-]+\s+){0,2}\Z"
)
"""Words of a function of the formula that they name."""
_DENOTES = re.compile(r"\s*,?\s*(?:denotes?|means?|stands?\s+for|refers?\s+to|represents?|is|are|be)\b")
_LETS = re.compile(r"\b(?:[Ww]rite|[Dd]enote\s+by|[Ll]et|[Bb]y)\s*\Z")
_NOTATION = re.compile(
    r"\\cdot(?![A-Za-z])|\\\||\\[lr]?[vV]ert|(?<!\\)\||\^\s*\{?\s*(?:\+|-|\*|\\dagger|\\ast|\\star|')|\\(?:langle|odot"
    r"|otimes|oplus|circ|ast|star|bullet|lfloor|lceil|mathbb|mathbbm|operatorname|mathrm|nabla|partial|Delta)(?![A-Za-z])|\\(?:log|exp"
    r"|max|min|det|tanh|sin|cos|ln)(?![A-Za-z])|[\])]\s*_"
)
"""Signs that words can give a meaning."""


def with_restrictions(reading: Reading, passage: Passage) -> Passage:
    """Return a paragraph with what it says of the values of known symbols, without equations that tell of data."""
    if not passage.is_paragraph:
        return passage
    told = [
        [one]
        for line in passage.restrictions
        for one in line
        if one.head == "relation" and (is_known(reading, one.args[0]) or set_key(one) and space_of(one))
    ]
    defined = {key for line in passage.lines for one in line for key in _left_keys(one)}
    lines = tuple([one for one in line if not _tells_data(reading, one, defined)] for line in passage.lines)
    return passage._replace(lines=tuple(line for line in lines if line), aside=(*passage.aside, *told))


def _left_keys(line: Ast) -> set[Key]:
    """Return the keys of the name on the left side of an equation, with and without its subscript."""
    if line.head != "relation" or line.value[0] not in EQUAL:  # type: ignore[index]
        return set()
    side = line.args[0]
    side = side.args[0] if side.head in ("row", "chain") and side.args else side
    shown = without_top(side)[0]
    return {
        key
        for key in (whole_key(side), whole_key(shown), key_of(shown.args[0] if shown.head == "script" else shown))
        if key
    }


def _tells_data(reading: Reading, line: Ast, defined: set[Key]) -> bool:
    r"""Return whether an equation only says where declared data come from: its right side has unknown names."""
    keys = _left_keys(line)
    if not any(key in reading.keys or large_of(reading, key) for key in keys):
        return False
    if any(x.head == "word" and x.value[0] in DOTS for side in line.args[1:] for x in walk(side)):  # type: ignore[index]
        return any(x.head == "fence" for side in line.args[1:] for x in walk(side))  # Z = [z_1, \dots, z_n]
    known = {*reading.keys, *defined, *((x,) for x in (*reading.names.words, *reading.names.commands, "e", "pi"))}
    others = {key for side in line.args[1:] for key in values_in(side)}
    return any(key not in known and key[:1] not in known and (key[0].upper(),) not in known for key in others)


def _values_of(line: Ast) -> set[Key]:
    """Return the names that a line uses as values, without its own parameters and those that it bounds."""
    if line.head != "relation" or line.value[0] not in EQUAL:  # type: ignore[index]
        return values_in(line)
    own = {(x,) for x in (*letters_in(line.args[0]), *(x for side in line.args for x in bound_in(side)))}
    return {key for side in line.args[1:] for key in values_in(side)} - own | _left_keys(line)


def values_in(layout: Ast) -> set[Key]:
    """Return the keys of the names of a layout that stand outside of subscripts and of the bounds of sums."""
    found: set[Key] = set()
    waiting = [layout]
    while waiting:
        node = waiting.pop()
        if node.head == "script":
            key = whole_key(without_top(node)[0])
            if key is not None:
                found.add(key)
            else:
                waiting.append(node.args[0])
            waiting += [x for mark, x in zip(node.value, node.args[1:], strict=False) if mark == "^"]  # type: ignore[call-overload]
        elif node.head == "big":
            waiting.append(node.args[-1])
        elif node.head in ("letter", "accent") and (key := key_of(node)):
            found.add(key)
        else:
            waiting += node.args
    return found


def check_mentioned(reading: Reading, text: str, mentioned: Sequence[Described], lines: Lines) -> list[Ast]:
    r"""Return the definitions of the functions that words name: $\phi$ is the softplus function.

    Raises: ParseError for a symbol that the formulas use and only words describe, and for words about a declared one
        that deny its declaration.
    """
    every = [one for line in lines for one in line]
    defined = {key for one in every for key in _left_keys(one)}
    values = {key for one in every for key in _values_of(one)}
    bound = {x for one in every for x in bound_in(one)}
    below = {
        x
        for one in every
        for node in walk(one)
        if node.head == "script" and (s := subscript_of(node))
        for x in letters_in(s)
    }
    found: list[Ast] = []
    for one in mentioned:
        shown = text[one.begin : one.end].strip()
        names = _names(text, one)
        if one.is_stated or is_function_named(shown, one.words) and any(is_known(reading, x) for x in names):
            check_own(reading, text, one)
            continue
        if names and all(is_known(reading, x) for x in without_dots(reading, names)):
            check_words(reading, text, one, names)
            continue
        for name in names or [None]:
            key = whole_key(name) if name is not None else None
            base = key_of(name.args[0]) if name is not None and name.head == "script" else key
            own = {x for x in (key, base) if x} | ({(base[0].upper(), *base[1:])} if base else set())
            if name is not None and (is_known(reading, name) or own & defined):
                if _OPERATION.search(one.before) and _is_last({key, base}, every):
                    raise ParseError(
                        f"these words name a function of {shown}", text=text, at=one.begin, hint="write it as a formula"
                    )
                continue
            if key is None or base is None:
                if (
                    _NOTATION.search(shown)
                    and (_DENOTES.match(one.words) or _LETS.search(one.before))
                    and _occurs(shown, text, one)
                ):
                    raise _only_words(shown, text, one)
                continue
            if len(key) == 1 and (key[0] in bound or key[0] in below) and key not in values:
                continue
            if not {key, base} & values:
                continue
            if (
                len(names) == 1
                and name is not None
                and (word := function_named(reading, one.words))
                and name.head in ("letter", "row")
            ):
                found += lines_of(rf"{shown.partition('(')[0].strip()}(t) = \operatorname{{{word}}}(t)")[0]
                continue
            raise _only_words(shown, text, one)
    return [nowhere(x) for x in found]


def _names(text: str, one: Described) -> list[Ast]:
    """Return the symbols of a mentioned formula, those of a list one by one; none if it cannot be read."""
    try:
        names = [x for line in lines_between(text, one.begin, one.end, has_lines=False) for x in line]
    except ParseError:
        return []
    if len(names) == 1 and names[0].head == "fence" and names[0].value in ("open", "set", "brace"):
        names = [*names[0].args]
    names = [x for name in names for x in elements(name)]
    return [x.args[0] if x.head == "row" and len(x.args) == 2 and x.args[1].head == "fence" else x for x in names]


def _is_last(keys: set[Key | None], every: Sequence[Ast]) -> bool:
    """Return whether no other line uses a defined name."""
    return not any(keys & {*used(x)} for one in every for x in one.args[1:] if one.head == "relation")


def _occurs(shown: str, text: str, one: Described) -> bool:
    """Return whether a sign that words describe occurs elsewhere in the text."""
    signs = re.sub(r"\\cdot(?![A-Za-z])|\s|\\left|\\right|[A-Za-z](?![A-Za-z])|[,()]", "", shown)
    rest = re.sub(r"\s", "", text[: one.begin] + text[one.end :])
    return all(sign in rest for sign in re.findall(r"\\[A-Za-z]+|\\.|[^\w\s]", signs))


def _only_words(shown: str, text: str, one: Described) -> ParseError:
    hint = f"declare it if it is data, define it by a formula, or leave the words out if {shown} has its usual meaning"
    return ParseError(f"only words describe {shown}", text=text, at=one.begin, hint=hint)
