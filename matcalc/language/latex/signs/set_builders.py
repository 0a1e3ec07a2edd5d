r"""Reads sets that a passage defines by a condition, R_i = \{j : t_j \ge t_i\}, as that condition below a sum over one.

The number of members, |R_i|, is a sum of indicators. The line that defines the set remains without its condition, as a
remark that no formula uses. Each character keeps its position in the passage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from matcalc.language.latex.signs.indicators import Text, behind_sign

_NAME = r"(?:\\mathcal\s*(?:\{\s*[A-Z]\s*\}|[A-Z])|\\[A-Z][a-z]+|[A-Z])"
_ARGUMENT = r"(?:\s*_\s*(?:\{[^{}]*\}|\w)|\s*(?:\\left\s*)?\((?:[^()]*)\))?"
_IS = r"(?::?=|\\(?:triangleq|coloneqq|equiv)(?![A-Za-z]))"
_NUMBERS = r"(?:\[\s*[A-Za-z]\s*\]|\\\{\s*1\s*(?:,\s*2\s*)?,\s*\\[lc]?dots\s*,\s*[A-Za-z]\s*\\\})"
_COLON = r"(?::|\||\\mid(?![A-Za-z])|\\colon(?![A-Za-z]))"
_DEFINED = re.compile(
    rf"(?<![\\A-Za-z])(?P<name>{_NAME})(?P<argument>{_ARGUMENT})\s*&?\s*{_IS}"
    r"\s*(?P<set>(?:\\left\s*|\\[bB]igg?l?\s*)?\\\{\s*(?P<letter>[a-z])\s*"
    rf"(?:\\in\s*(?P<range>{_NUMBERS})\s*)?{_COLON}"
    r"(?P<condition>(?:[^{}\\]|\\(?![{}]|right|[bB]igg?r)|\{[^{}]*\})*?)"
    r"(?:\\right\s*|\\[bB]igg?r?\s*)?\\\})"
)
_ALL = re.compile(
    rf"(?<![\\A-Za-z])(?P<name>{_NAME})\s*{_IS}\s*(?P<set>{_NUMBERS})(?!\s*\\(?:setminus|backslash|cup|cap|times)(?![A-Za-z]))"
)
"""A set of all numbers, I = \\{1, \\dots, n\\}."""
_BUT = re.compile(
    rf"(?P<base>{_NUMBERS}|(?<![\\A-Za-z]){_NAME}{_ARGUMENT})\s*\\(?:setminus|backslash)(?![A-Za-z])\s*"
    r"\\\{\s*(?P<letter>[a-z]|[0-9]+)\s*\\\}"
)
"""A set without a member, I \\setminus \\{i\\}."""
_IN = r"(?P<sum>\\sum\s*(?:\\limits|\\nolimits)?\s*_\s*\{\s*(?P<letter>[a-z])\s*)\\in\s*"
_LETTER = re.compile(r"(?<![A-Za-z\\])[a-z](?![A-Za-z]|\s*_)")


class _Set(NamedTuple):
    """A set by its condition: its name, the pattern of its argument with its letter, and the letter of a member."""

    name: str
    argument: str
    letter: str
    parameter: str
    condition: str
    size: str
    """The last number, if the members are some of 1 to this number."""


def with_conditions_of_sets(text: Text) -> Text:
    r"""Return a text in which sums over sets that a line defines by a condition have that condition.

    A set that stands in another place too is left as it is.
    """
    text = _with_differences(_with_numbers(text))
    tried: set[str] = set()
    while True:
        plain = "".join(c for c, _ in text)
        found = next((x for x in _DEFINED.finditer(plain) if x["name"] + x["argument"] not in tried), None)
        if found is None:
            return text
        tried.add(found["name"] + found["argument"])
        letters = _LETTER.findall(found["argument"])
        one = _Set(
            found["name"], found["argument"], found["letter"], letters[-1] if letters else "", found["condition"],
            _size(found["range"] or ""),
        )  # fmt: skip
        text = _used(text, plain, one, found) or text


def _size(numbers: str) -> str:
    r"""Return the last number n of a set [n] or \\{1, \\dots, n\\}."""
    return "".join(re.findall(r"([A-Za-z])\s*(?:\]|\\\})\Z", numbers))


def _edited(text: Text, edits: list[tuple[int, int, str]]) -> Text:
    """Return a text with signs in the place of ranges; each sign has the position of the range."""
    for start, end, signs in sorted(edits, reverse=True):
        origin = text[min(start, len(text) - 1)][1]
        text = [*text[:start], *((c, origin) for c in signs), *text[end:]]
    return text


def _is_defined(plain: str, base: str) -> bool:
    """Return whether a text defines a set, A(i) or I, by its name."""
    name = re.escape(re.match(_NAME, base)[0])  # type: ignore[index]
    return re.search(rf"(?<![\\A-Za-z]){name}{_ARGUMENT}\s*&?\s*{_IS}", plain) is not None


def _factor(plain: str, at: int, condition: str) -> tuple[int, int, str]:
    """Return the edit that makes a condition a factor of the summand behind a sum."""
    place = behind_sign(plain, at)
    return place, place, rf"\mathbb{{1}}\{{{condition}\}} "


def _with_numbers(text: Text) -> Text:
    r"""Return a text in which a set I = \{1, \dots, n\} stands where its name is a range."""
    plain = "".join(c for c, _ in text)
    for found in reversed(list(_ALL.finditer(plain))):
        name = _pattern(_Set(found["name"], "", "", "", "", ""))
        uses = [x for x in re.finditer(name, plain) if not found.start() <= x.start() < found.end()]
        is_range = [
            re.search(r"\\in\s*\Z", plain[: x.start()]) or re.match(r"\s*\\(?:setminus|backslash)\b", plain[x.end() :])
            for x in uses
        ]
        if not uses or not all(is_range):
            continue
        is_said = re.search(r"\\in\s*\Z", plain[: found.start()]) is not None
        whole = (found.start(), found.end(), found["set"]) if is_said else (*found.span("set"), r"\{\text{set}\}")
        numbers = rf"\{{1, \dots, {_size(found['set'])}\}}"
        text = _edited(text, [whole, *((*x.span(), numbers) for x in uses)])
        plain = "".join(c for c, _ in text)
    return text


def _with_differences(text: Text) -> Text:
    r"""Return a text with the condition j \ne i in the place of I \setminus \{i\}, below sums and in definitions."""
    plain = "".join(c for c, _ in text)
    edits: list[tuple[int, int, str]] = []
    for found in _BUT.finditer(plain):
        below = re.search(
            r"(?P<sum>\\sum\s*(?:\\limits|\\nolimits)?\s*_\s*\{\s*)(?P<own>[a-z])\s*\\in\s*\Z", plain[: found.start()]
        )
        closed = re.compile(r"\s*\}").match(plain, found.end())
        size = _size(found["base"]) if re.fullmatch(_NUMBERS, found["base"]) else ""
        if below and closed and size:
            edits.append((below.start(), closed.end(), rf"{below['sum']}{below['own']}=1}}^{{{size}}}"))
            edits.append(_factor(plain, closed.end(), rf"{below['own']} \ne {found['letter']}"))
        elif re.search(rf"{_IS}\s*\Z", plain[: found.start()]) and (size or _is_defined(plain, found["base"])):
            own = _fresh(plain)
            edits.append((*found.span(), rf"\{{{own} \in {found['base']} : {own} \ne {found['letter']}\}}"))
    return _edited(text, edits)


def _used(text: Text, plain: str, one: _Set, found: re.Match[str]) -> Text | None:
    """Return a text in which all uses of a set are conditions, None if that is impossible."""
    use = re.compile(_pattern(one))
    inside, counted = re.compile(_IN + _pattern(one) + r"\s*\}"), re.compile(r"\|\s*" + _pattern(one) + r"\s*\|")
    base = re.compile(rf"(?P<set>\\\{{\s*(?P<letter>[a-z])\s*)\\in\s*{_pattern(one)}\s*{_COLON}")
    uses = [*inside.finditer(plain), *counted.finditer(plain), *base.finditer(plain)]
    others = [x for x in use.finditer(plain) if not any(y.start() <= x.start() < y.end() for y in [*uses, found])]
    if not uses or others:
        return None
    edits = [(found.start("set"), found.end("set"), r"\{\text{set}\}")]
    for x in uses:
        letter = _fresh(plain) if x.re is counted else x["letter"]
        put = {one.letter: letter, **({one.parameter: x["actual"].strip("{} ")} if one.parameter else {})}
        condition = _with_letters(one.condition, put)
        bounds = f"=1}}^{{{one.size}}}" if one.size else "}"
        if x.re is base:
            made = f"{x['set']}\\in [{one.size}] : {condition}, " if one.size else f"{x['set']}: {condition}, "
        elif x.re is inside and not one.size:
            made = f"{x['sum']}: {condition}}}"
        elif x.re is inside:
            made = x["sum"] + bounds
            edits.append(_factor(plain, x.end(), condition))
        else:
            made = rf"\left(\sum_{{{letter}{bounds} \mathbb{{1}}\{{{condition}\}}\right)"
        edits.append((*x.span(), made))
    return _edited(text, edits)


def _pattern(one: _Set) -> str:
    """Return the pattern of a use of a set, with its actual argument as the group `actual`."""
    name = r"\s*".join(re.escape(x) for x in re.findall(r"\\[A-Za-z]+|[A-Za-z]", one.name))
    name = name.replace(r"\\mathcal\s*", r"\\mathcal\s*\{?\s*") + (r"\s*\}?" if "mathcal" in one.name else "")
    name = ("" if one.name.startswith("\\") else r"(?<![\\A-Za-z])") + name + "(?![A-Za-z])"
    if not one.argument.strip():
        return name
    place = [x.start() for x in _LETTER.finditer(one.argument)]
    if not one.parameter:
        return name + _spaced(one.argument)
    before, after = one.argument[: place[-1]], one.argument[place[-1] + 1 :]
    actual = r"(?P<actual>\{?\s*[a-z](?:\s*_\s*[a-z])?\s*\}?)"
    return name + _spaced(before) + actual + _spaced(after)


def _spaced(signs: str) -> str:
    r"""Return the pattern of signs with any spaces, and with or without braces and \left."""
    parts = re.findall(r"\\[A-Za-z]+|[^\s{}]", re.sub(r"\\left|\\right", "", signs))
    optional = {"(": r"(?:\\left\s*)?\(", ")": r"(?:\\right\s*)?\)"}
    return r"\s*" + "".join(optional.get(x, re.escape(x)) + r"\s*" for x in parts)


def _with_letters(condition: str, put: Mapping[str, str]) -> str:
    return _LETTER.sub(lambda found: put.get(found[0], found[0]), condition)


def _fresh(plain: str) -> str:
    """Return a letter that is not in a text."""
    used = set(re.findall(r"(?<![A-Za-z\\])[a-z](?![A-Za-z])", plain))
    return next(x for x in "lrsuvwijkmnpqtabcdefgh" if x not in used)
