"""The words of C as data: `codegen/c/words.toml`, and the functions of `codegen/c/helpers.c`, cut apart."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

from matcalc.store.data_folders import data_folder

WORD = re.compile(r"[^\W\d]\w*")
CALLED = re.compile(r"\b(\w+)\(")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
HELPER = re.compile(r"^static \w+ (\w+)\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CWords:
    """The words of the Numba sources in C; the fields are the tables of `words.toml`."""

    names: Mapping[str, str]
    folds: Mapping[str, str]
    by_kind: Mapping[str, Mapping[str, str]]
    whole: Mapping[str, str]
    letters: Mapping[str, str]
    address: Mapping[str, list[int]]
    at_most: Mapping[str, Mapping[str, str]]
    families: Mapping[str, str]
    taken: Mapping[str, str]
    helpers: Mapping[str, str] = field(default_factory=dict)

    @property
    def reserved(self) -> frozenset[str]:
        """The words that nothing in a file may be called."""
        return frozenset({*self.helpers, *(word for words in self.taken.values() for word in words.split())})

    def reserved_for(self, names: Iterable[str]) -> set[str]:
        """Return the words that nothing may be called, and those of `names` that are of a family of such words."""
        family = re.compile("|".join(self.families.values()))
        return {*self.reserved, *(name for name in names if family.fullmatch(name))}


@cache
def load_c_words() -> CWords:
    """Read `codegen/c/`."""
    folder = data_folder("codegen") / "c"
    tables = tomllib.loads((folder / "words.toml").read_text(encoding="utf-8"))
    blocks = (folder / "helpers.c").read_text(encoding="utf-8").split("\n\n")
    helpers = {found[1]: block.strip() for block in blocks if (found := HELPER.search(block))}
    return CWords(helpers=MappingProxyType(helpers), **tables)


def helpers_of(text: str) -> list[str]:
    """Return the texts of the helpers that a text of C calls, also through others, in the order of the file."""
    helpers = load_c_words().helpers
    needed: set[str] = set()
    waiting = [COMMENT.sub("", text)]
    while waiting:
        called = {word for word in CALLED.findall(waiting.pop()) if word in helpers} - needed
        needed |= called
        waiting += [helpers[name] for name in called]
    return [block for name, block in helpers.items() if name in needed]
