"""Loads the table of a language: how each form and operation is written, and what must be imported.

A template has `{0}`, `{1}` for operands. `{0:product}` puts parentheses around an operand of a looser level than
`product`; `{0:matrix|power}` also accepts the level `matrix` itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

from matcalc.errors import NotSupported
from matcalc.store.data_folders import data_folder

SLOT = re.compile(r"\{(\w+)(?::([\w|]+))?\}")
SIMPLE = re.compile(r"[\w.]+\Z")


@dataclass(frozen=True, slots=True)
class Entry:
    """How a form or operation is written: templates, and the level of the result.

    ranks: other templates by the ranks of the operands, a pattern with a digit for each. along: the template with an
    axis, or one for each axis. many: that of an array of three axes or more. turned: with a transposed first operand.
    constant: the template where all operands are numbers or sizes.
    """

    text: str
    level: str = "atom"
    tight: str = ""
    along: str | Sequence[str] = ""
    ranks: Mapping[str, str] = field(default_factory=dict)
    many: str = ""
    turned: str = ""
    constant: str = ""
    free: bool = False
    through: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """The table of a language, as `codegen/plain/*.toml` has it."""

    table: Mapping[str, Any]
    levels: Mapping[str, int]
    forms: Mapping[str, Entry]
    calls: Mapping[str, tuple[Entry, ...]]
    factorisations: Mapping[str, Mapping[str, Any]]
    imports: Mapping[str, str]
    names: Mapping[str, Sequence[str]]
    helpers: Mapping[str, str]
    reserved: frozenset[str] = field(default_factory=frozenset)

    @property
    def width(self) -> int:
        return int(self.table["width"])

    @property
    def indent(self) -> str:
        return str(self.table["indent"])

    def word(self, key: str, **parts: str) -> str:
        """Return a template of the table with its parts."""
        return filled(str(self.table[key]), parts)

    def fits(self, level: str, needed: str) -> bool:
        """Return whether an operand of a level needs no parentheses."""
        exact, _, least = needed.rpartition("|")
        return level == exact or self.levels[level] >= self.levels[least]

    def render(self, template: str, parts: Mapping[str, tuple[str, str]]) -> str:
        """Return a template with its operands: pairs of a text and its level."""

        def part(found: re.Match[str]) -> str:
            text, level = parts[found[1]]
            is_second_sign = text.startswith("-") and template[: found.start()].endswith("-")
            return text if self.fits(level, found[2] or "any") and not is_second_sign else f"({text})"

        return SLOT.sub(part, template)

    def entry(self, form: str) -> Entry:
        """Return the entry of a form.

        Raises: NotSupported if the language has none.
        """
        found = self.forms.get(form)
        if found is None:
            raise NotSupported(f"plain {self.table['language']} has no form for {form}")
        return found


def fitted(entry: Entry, ranks: str, axis: int | None = None) -> Entry:
    """Return an entry with the one template that fits operands of these ranks and an axis."""
    if axis is not None:
        if max(map(int, ranks), default=0) > 2 and not isinstance(entry.along, str):
            return replace(entry, text=entry.many, tight="")
        along = entry.along if isinstance(entry.along, str) else entry.along[min(axis, len(entry.along) - 1)]
        return replace(entry, text=along, tight="")
    own = next((text for pattern, text in entry.ranks.items() if re.fullmatch(pattern, ranks)), None)
    return entry if own is None else replace(entry, text=own, tight="")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Return a template with texts in its slots."""
    return SLOT.sub(lambda found: parts[found[1]], template)


def is_simple(text: str) -> bool:
    """Whether a text is a name, a number or an attribute."""
    return SIMPLE.match(text) is not None


@cache
def languages() -> tuple[str, ...]:
    """Return the names of all languages that have a table."""
    return tuple(sorted(path.stem for path in (data_folder("codegen") / "plain").glob("*.toml")))


def language_of(target: str) -> str:
    """Return the language that is written for a target; "" if it has no plain source."""
    return next((name for name in languages() if language(name).table.get("target", name) == target), "")


def targets() -> tuple[str, ...]:
    """Return the targets that have plain source."""
    return tuple(str(language(name).table.get("target", name)) for name in languages())


@cache
def language(name: str) -> Language:
    """Return the table of a language.

    Raises: NotSupported for a language without a table.
    """
    if name not in languages():
        raise NotSupported(f"there is no plain source in {name}", hint=f"one of {', '.join(languages())}")
    path = data_folder("codegen") / "plain" / f"{name}.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    levels = {level: k for k, level in enumerate(table["levels"])}
    forms = {key: _entry(value) for key, value in table["forms"].items()}
    calls = {key: _entries(value) for key, value in table["calls"].items()}
    return Language(
        table,
        levels,
        forms,
        calls,
        table.get("factorisations", {}),
        table.get("imports", {}),
        table["names"],
        table.get("helpers", {}),
        frozenset(table["reserved"].split()),
    )


def _entries(value: Any) -> tuple[Entry, ...]:
    return tuple(map(_entry, value)) if isinstance(value, list) else (_entry(value),)


def _entry(value: Any) -> Entry:
    if isinstance(value, str):
        return Entry(value)
    known = {one.name for one in fields(Entry)}
    return Entry(**{key: part for key, part in value.items() if key in known})
