r"""Decides what the prose of a paragraph says of symbols: those that it mentions must be known from elsewhere.

An equation of a declared symbol with unknown ones, $y = X \beta + \varepsilon$, tells where data come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from matcalc.errors import ParseError
from matcalc.language.latex.definitions.bound_letters import bound_in
from matcalc.language.latex.definitions.functions import nowhere
from matcalc.language.latex.definitions.sets import set_key, space_of
from matcalc.language.latex.definitions.statements import EQUAL
from matcalc.language.latex.latex_axes import elements, letters_in
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Key, Reading, fault, key_of, subscript_of
from matcalc.language.latex.layout.latex_layout import lines_between, lines_of
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import used, whole_key
from matcalc.language.latex.passages.contradictions import check_words
from matcalc.language.latex.passages.descriptions import CHANGE, Described
from matcalc.language.latex.passages.meanings import is_function_named
from matcalc.language.latex.passages.paragraphs import OF_DATA, OPERATION
from matcalc.language.latex.passages.passage import Passage
from matcalc.language.latex.passages.restrictions import check_own, function_named, is_known, without_dots
from matcalc.language.latex.passages.words_of_rows import letters_of
from matcalc.language.latex.recurrences.iterations import tells_iteration
from matcalc.language.latex.recurrences.steps import DOTS
from matcalc.language.syntax import Ast, walk

Lines = Sequence[Sequence[Ast]]

_OVER = re.compile(r"\s*over\s*")
_WITH = re.compile(r"(?:^|[\s,])with\s+(?:[a-z-]+\s+){1,3}\Z")
"""Words of a part of the formula, with weights $c_i$."""
_ROWS = re.compile(
    r"[\s,]*(?:is|are|be|denotes?)\b[^$,;]*(?:\$[^$]*\$[^$,;]*)??\b(?:row|column)s?(?:[\s-]+vectors?)?\s+(?:of|in)\s+"
    r"[a-z\s]*\$([^$]*)\$"
)
_IS_MATRIX = re.compile(r"[^=<>\s]+?(?=\s*(?:\\in(?![A-Za-z])|\Z))")
_DENOTES = re.compile(r"\s*,?\s*(?:denotes?|means?|stands?\s+for|refers?\s+to|represents?|is|are|be)\b")
_CALLED = re.compile(r"\s*[^()\[\]|]*[\w}](?=\s*(?:\\left\s*|\\[bB]igg?l?\s*)?\([^()]*\)\s*\Z)")
"""The name of a function in front of its arguments."""
_LETS = re.compile(r"\b(?:[Ww]rite|[Dd]enote\s+by|[Ll]et|[Bb]y)\s*\Z")
_NOTATION = re.compile(
    r"\\cdot(?![A-Za-z])|\\\||\\[lr]?[vV]ert|(?<!\\)\||\^\s*\{?\s*(?:\+|-|\*|\\dagger|\\ast|\\star|')|\\(?:langle|odot"
    r"|otimes|oplus|circ|ast|star|bullet|lfloor|lceil|mathbb|mathbbm|operatorname|mathrm|nabla|partial|Delta)(?![A-Za-z])|\\(?:log|exp"
    r"|max|min|det|tanh|sin|cos|ln)(?![A-Za-z])|[\])]\s*_"
)
"""Signs that words can give a meaning."""


def with_restrictions(reading: Reading, passage: Passage) -> Passage:
    """Return a paragraph with what it says of the values of known symbols, without equations that tell of data.

    Raises: ParseError for a relation of two indices, i < j, which may be a condition.
    """
    if not passage.is_paragraph:
        return passage
    told = [
        [one]
        for line in passage.restrictions
        for one in line
        if one.head == "relation" and (is_known(reading, one.args[0]) or set_key(one) and space_of(one))
    ]
    letters = {x for line in passage.lines for one in line for x in letters_in(one)}
    for one in (one for line in passage.restrictions for one in line if one.head == "relation"):
        found = {key_of(x) for x in one.args if x.head == "letter"} - {None, *reading.keys}
        indices = {key for key in found if key is not None and key[0] in letters}
        if len(indices) > 1 and one.value != (r"\in",):
            raise fault("a condition on indices among words", one, "write it below the sum")
    defined = {key for line in passage.lines for one in line for key in _left_keys(one)}
    every = [one for line in passage.lines for one in line]
    kept = [[_without_data(reading, one, every, defined, passage.random) for one in line] for line in passage.lines]
    lines = tuple([one for one in line if one is not None] for line in kept)
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


def _tells_data(reading: Reading, line: Ast, defined: set[Key], random: frozenset[str]) -> bool:
    r"""Return whether an equation only says where declared data come from, by random symbols that nothing defines."""
    keys = _left_keys(line)
    if not keys:
        return False
    names = {name for key in keys for name in (*reading.keys.get(key, ()), large_of(reading, key))} - {"", None}
    side = line.args[0]
    is_function = side.head == "row" and len(side.args) == 2 and without_top(side.args[1])[0].head == "fence"
    if not names or is_function or names & reading.known.sizes:
        return False
    if any(x.head == "word" and x.value[0] in DOTS for side in line.args[1:] for x in walk(side)):  # type: ignore[index]
        return any(x.head == "fence" for side in line.args[1:] for x in walk(side))  # Z = [z_1, \dots, z_n]
    known = {*reading.keys, *defined}
    others = {key for side in line.args[1:] for key in values_in(side) if key not in known and key[:1] not in known}
    return any(key[0] in random for key in others)


def _without_data(
    reading: Reading, line: Ast, lines: Sequence[Ast], defined: set[Key], random: frozenset[str]
) -> Ast | None:
    """Return a line, solved for noise that others use; None if it only tells data or an iteration."""
    if tells_iteration(reading, line, lines):
        return None
    is_told = _tells_data(reading, line, defined, random)
    return _solved_for_noise(reading, line, lines, defined, random) if is_told else line


def _solved_for_noise(
    reading: Reading, line: Ast, lines: Sequence[Ast], defined: set[Key], random: frozenset[str]
) -> Ast | None:
    r"""Return r_t = \mu + \varepsilon_t as \varepsilon_t = r_t - \mu if other lines use this noise."""
    chain = line.args[-1]
    if len(line.args) != 2 or chain.head != "chain":
        return None
    known = {*reading.keys, *defined}
    signs = cast("tuple[int, ...]", chain.value[0])  # type: ignore[index]
    noise = [
        (sign, x) for sign, x in zip(signs, chain.args, strict=True)
        if (key := _base(x)) is not None and key[0] in random and key not in known and whole_key(x) not in known
    ]  # fmt: skip
    if len(noise) != 1:
        return None
    sign, name = noise[0]
    key = _base(name)
    others = [x for x in lines if x is not line]
    again = sum(k == key for side in chain.args for k in map(_base, _names_in(side)))
    if again != 1 or not any(key in {_base(y) for y in _names_in(x)} for x in others):
        return None
    rest = [(-s * sign, x) for s, x in zip(signs, chain.args, strict=True) if x is not name]
    left = Ast(
        "chain", (line.args[0], *(x for _, x in rest)), ((sign, *(s for s, _ in rest)), sign < 0), chain.span, chain.at
    )
    return Ast("relation", (name, left), line.value, line.span, line.at)


def _names_in(layout: Ast) -> Iterator[Ast]:
    """Yield letters with accents and subscripts."""
    waiting = [layout]
    while waiting:
        node = waiting.pop()
        is_name = _base(node) is not None
        if is_name:
            yield node
        if node.head == "script":
            waiting += [x for x in node.args[is_name:] if x is not subscript_of(node)]
        elif is_name:
            continue
        else:
            waiting += node.args


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


class _Lines(NamedTuple):
    """Names in the lines of a paragraph: those that lines define, those of them that no line uses, and values; letters
    of indices."""

    defined: set[Key]
    last: set[Key]
    values: set[Key]
    indices: set[str]


def _lines(lines: Lines) -> _Lines:
    every = [one for line in lines for one in line]
    defined = {key for one in every for key in _left_keys(one)}
    equations = [one for one in every if _left_keys(one)]
    uses = {key for one in every for side in (one.args[1:] if one in equations else (one,)) for key in used(side)}
    uses |= {key for one in equations if _left_keys(one) & uses for key in _left_keys(one)}
    scripts = [s for one in every for x in walk(one) if x.head == "script" and (s := subscript_of(x))]
    indices = {x for one in every for x in bound_in(one)} | {x for s in scripts for x in letters_in(s)}
    return _Lines(defined, defined - uses, {key for one in every for key in _values_of(one)}, indices)


def check_mentioned(reading: Reading, text: str, mentioned: Sequence[Described], lines: Lines) -> list[Ast]:
    r"""Return the definitions of the functions that words name: $\phi$ is the softplus function.

    Raises: ParseError for a symbol that the formulas use and only words describe, for words about a declared one
        that deny its declaration, and for words that may be a further formula.
    """
    found: list[Ast] = []
    own = _lines(lines) if mentioned else None
    for one in mentioned:
        assert own is not None
        names = _names(text, one)
        shown = text[one.begin : one.end].strip()
        if (row := _told_row(reading, one, names, shown)) and not {_base(names[0])} & own.defined:
            found += lines_of(row)[0]
        elif one.is_stated or is_function_named(shown, one.words) and any(is_known(reading, x) for x in names):
            check_own(reading, text, one)
        elif names and all(is_known(reading, x) for x in without_dots(reading, names)):
            _check_known(reading, text, one, shown, names)
            if CHANGE.match(one.words):
                raise ParseError(f"these words change {shown}", text=text, at=one.begin, hint="write it as a formula")
            check_words(reading, text, one, names)
        elif not names or any(whole_key(x) is None for x in names):
            _check_formula(text, one, shown, names, own)
        else:
            word = function_named(reading, one.words) if len(names) == 1 and names[0].head == "letter" else ""
            used_ = own.defined | own.values
            is_part = not any({whole_key(x), _base(x)} & used_ or _is_index_of(x, own) for x in names)
            if _WITH.search(one.before) and is_part:
                raise _only_words(shown, text, one)
            unknown = [x for x in names if not is_known(reading, x) and not _is_explained(x, own)]
            if unknown and not word or OF_DATA.match(one.words):
                raise _only_words(shown, text, one)
            if unknown:
                found += lines_of(rf"{shown.partition('(')[0].strip()}(t) = \operatorname{{{word}}}(t)")[0]
            if OPERATION.search(one.before) and any({whole_key(x), _base(x)} & own.last for x in names):
                hint = "write it as a formula"
                raise ParseError(f"these words name a function of {shown}", text=text, at=one.begin, hint=hint)
    return [nowhere(x) for x in found]


def _told_row(reading: Reading, one: Described, names: Sequence[Ast], shown: str) -> str:
    r"""Return the definition of an unknown name of which words say that it is a row, \beta_g = B_{g,:}^\top, else "".

    Beside the rows of the declared matrix of its own letter it needs none.
    """
    told = _ROWS.match(one.words)
    below = subscript_of(names[0]) if len(names) == 1 and names[0].head == "script" else None
    if told is None or below is None or below.head != "letter" or is_known(reading, names[0]):
        return ""
    matrix = _IS_MATRIX.match(told[1])
    if matrix is None:
        return ""
    keys = [key_of(x) for line in lines_of(matrix[0])[:1] for x in line]
    names_ = reading.keys.get(keys[0] or (), ()) if len(keys) == 1 else ()
    if len(names_) != 1 or len(reading.known.shapes.get(names_[0], ())) != 2:
        return ""
    index = str(below.value[0])  # type: ignore[index]
    index = f"\\{index}" if len(index) > 1 else index
    is_row = "row" in told[0].rpartition("$")[0].rpartition("$")[0]
    return f"{shown} = {matrix[0]}_{{{index},:}}^\\top" if is_row else f"{shown} = {matrix[0]}_{{:,{index}}}"


def _base(name: Ast) -> Key | None:
    return key_of(name.args[0]) if name.head == "script" else whole_key(name)


def _check_known(reading: Reading, text: str, one: Described, shown: str, names: Sequence[Ast]) -> None:
    """Raise ParseError for words about known symbols that may change the formula: over n, rows of another matrix."""
    letters = [x for x in names if x.head == "letter"]
    if _OVER.fullmatch(one.before) and any({*_names_of(reading, x)} & reading.known.sizes for x in letters):
        hint = rf"write \frac{{1}}{{{shown}}} for the quotient, or leave the words out"
        raise ParseError(f"over {shown} can be a quotient or a range", text=text, at=one.begin, hint=hint)
    rows = _ROWS.match(one.words)
    own = {x.lower() for x in letters_of(shown)}
    rest = re.split(r"[.;](?:\s|\Z)", text[one.end :])[0]
    if rows and "_" in shown and not own & {x.lower() for x in letters_of(rest)}:
        hint = "write X_{i,:} for a row and X_{:,j} for a column, or define it by a formula"
        raise ParseError("rows of a matrix of another letter", text=text, at=one.begin, hint=hint)


def _names_of(reading: Reading, name: Ast) -> tuple[str, ...]:
    return reading.keys.get(key_of(name) or (), ())


def _is_index_of(name: Ast, own: _Lines) -> bool:
    key = whole_key(name)
    return key is not None and len(key) == 1 and key[0] in own.indices


def _is_explained(name: Ast, own: _Lines) -> bool:
    """Return whether lines define a name, use it as an index alone, or do not use it."""
    keys = {key for key in (whole_key(name), _base(name)) if key}
    large = {(key[0].upper(), *key[1:]) for key in keys}
    is_index = all(len(key) == 1 and key[0] in own.indices for key in keys)
    return bool((keys | large) & own.defined) or not keys & own.values or is_index and not keys & own.values


def _check_formula(text: str, one: Described, shown: str, names: Sequence[Ast], own: _Lines) -> None:
    """Raise ParseError for a mentioned formula that gives signs a meaning, or may be the formula of the paragraph."""
    is_described = _DENOTES.match(one.words) or _LETS.search(one.before)
    if _NOTATION.search(shown) and is_described and _occurs(shown, text, one):
        raise _only_words(shown, text, one)
    if own.last & {key for x in names for key in used(x)} and len(names) == 1:
        hint = "give the formula a name, L = ..., or leave it out"
        raise ParseError("this may be the formula of the paragraph", text=text, at=one.begin, hint=hint)


def _names(text: str, one: Described) -> list[Ast]:
    """Return the symbols of a mentioned formula, those of a list one by one; none if it cannot be read."""
    called = _CALLED.match(text, one.begin, one.end)  # d(x | y), of which the name matters
    try:
        names = [x for line in lines_between(text, one.begin, called.end() if called else one.end, False) for x in line]
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
