r"""Reads sets that a passage defines by a condition, R_i = \{j : t_j \ge t_i\}, as that condition below a sum over one.

The number of members, |R_i|, is a sum of indicators. The line that defines the set remains without its condition, as a
remark that no formula uses. Each character keeps its position in the passage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from matcalc.language.latex.signs.indicators import Text

_NAME = r"(?:\\mathcal\s*(?:\{\s*[A-Z]\s*\}|[A-Z])|\\[A-Z][a-z]+|[A-Z])"
_ARGUMENT = r"(?:\s*_\s*(?:\{[^{}]*\}|\w)|\s*(?:\\left\s*)?\((?:[^()]*)\))?"
_DEFINED = re.compile(
    rf"(?<![\\A-Za-z])(?P<name>{_NAME})(?P<argument>{_ARGUMENT})\s*&?\s*(?::?=|\\(?:triangleq|coloneqq|equiv)(?![A-Za-z]))"
    r"\s*(?P<set>(?:\\left\s*|\\[bB]igg?l?\s*)?\\\{\s*(?P<letter>[a-z])\s*(?:\\in\s*\[\s*[A-Za-z]\s*\]\s*)?"
    r"(?::|\||\\mid(?![A-Za-z])|\\colon(?![A-Za-z]))(?P<condition>(?:[^{}\\]|\\(?![{}]|right|[bB]igg?r)|\{[^{}]*\})*?)"
    r"(?:\\right\s*|\\[bB]igg?r?\s*)?\\\})"
)
_IN = r"(?P<sum>\\sum\s*(?:\\limits|\\nolimits)?\s*_\s*\{\s*(?P<letter>[a-z])\s*)\\in\s*"
_LETTER = re.compile(r"(?<![A-Za-z\\])[a-z](?![A-Za-z]|\s*_)")


class _Set(NamedTuple):
    """A set by its condition: its name, the pattern of its argument with its letter, and the letter of a member."""

    name: str
    argument: str
    letter: str
    parameter: str
    condition: str


def with_conditions_of_sets(text: Text) -> Text:
    r"""Return a text in which sums over sets that a line defines by a condition have that condition.

    A set that stands in another place too is left as it is.
    """
    plain = "".join(c for c, _ in text)
    for found in reversed(list(_DEFINED.finditer(plain))):
        letters = _LETTER.findall(found["argument"])
        one = _Set(
            found["name"], found["argument"], found["letter"], letters[-1] if letters else "", found["condition"]
        )
        made = _used(text, plain, one, found)
        text = made if made is not None else text
        plain = "".join(c for c, _ in text)
    return text


def _used(text: Text, plain: str, one: _Set, found: re.Match[str]) -> Text | None:
    """Return a text in which all uses of a set are conditions, None if that is impossible."""
    use = re.compile(_pattern(one))
    inside, counted = re.compile(_IN + _pattern(one) + r"\s*\}"), re.compile(r"\|\s*" + _pattern(one) + r"\s*\|")
    uses = [*inside.finditer(plain), *counted.finditer(plain)]
    others = [x for x in use.finditer(plain) if not any(y.start() <= x.start() < y.end() for y in [*uses, found])]
    if not uses or others:
        return None
    edits = [(found.start("set"), found.end("set"), r"\{\text{set}\}")]
    for x in uses:
        is_sum = x.re is inside
        letter = x["letter"] if is_sum else _fresh(plain)
        put = {one.letter: letter, **({one.parameter: x["actual"].strip("{} ")} if one.parameter else {})}
        condition = _with_letters(one.condition, put)
        made = f"{x['sum']}: {condition}}}" if is_sum else rf"\sum_{{{letter}}} \mathbb{{1}}\{{{condition}\}}"
        edits.append((*x.span(), made if is_sum else rf"\left({made}\right)"))
    for start, end, signs in sorted(edits, reverse=True):
        origin = text[start][1]
        text = [*text[:start], *((c, origin) for c in signs), *text[end:]]
    return text


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
