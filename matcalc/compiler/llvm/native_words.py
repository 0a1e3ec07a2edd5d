"""The words of generated text in LLVM's assembly: `codegen/llvm`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from matcalc.compiler.code.check import CASTS
from matcalc.store.data_folders import data_folder


@dataclass(frozen=True, slots=True)
class Words:
    """What `words.toml` says, and the functions of `helpers.ll`."""

    real: Mapping[str, str]
    by_kind: Mapping[str, Mapping[str, str]]
    folds: Mapping[str, str]
    vectors: Sequence[str]
    helpers: str

    @property
    def plain(self) -> frozenset[str]:
        """The words for functions of numbers that need nothing linked in."""
        return frozenset({*self.real, *self.by_kind, *self.folds, *CASTS})


@cache
def load_llvm_words() -> Words:
    """Read `codegen/llvm`."""
    folder = data_folder("codegen") / "llvm"
    with (folder / "words.toml").open("rb") as file:
        found = tomllib.load(file)
    return Words(**found, helpers=(folder / "helpers.ll").read_text(encoding="utf-8"))
