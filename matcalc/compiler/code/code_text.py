"""Defines the texts of generated modules. They keep what they are made of, so that no later stage reads a text."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matcalc.compiler.code.code import Code

FUNCTION = re.compile(r"^def (\w+)", re.MULTILINE)


class ModuleText(str):
    """The text of functions and constants: `parts` are their texts, the last one that of the function to call."""

    parts: tuple[str, ...]

    def __new__(cls, parts: Sequence[str]) -> ModuleText:
        made = super().__new__(cls, "\n\n\n".join(parts) + "\n" if parts else "")
        made.parts = tuple(parts)
        return made

    def changed(self, change: Callable[[str], str]) -> ModuleText:
        """Return the module with each part changed."""
        return ModuleText([*map(change, self.parts)])

    @property
    def companions(self) -> dict[str, str]:
        """The functions before the last one, by name."""
        named = ((FUNCTION.search(part), part) for part in self.parts[:-1])
        return {found[1]: part for found, part in named if found}

    @property
    def constants(self) -> tuple[str, ...]:
        """The parts that define no function."""
        return tuple(part for part in self.parts[:-1] if not FUNCTION.search(part))

    def __reduce__(self) -> tuple[Any, ...]:
        return ModuleText, (self.parts,)


class Printed(ModuleText):
    """The text of Code, a part for each item. A pickle has the Code as bytes, which are read when it is first used."""

    kept: Code | bytes

    def __new__(cls, parts: Sequence[str], code: Code | bytes) -> Printed:
        made = super().__new__(cls, parts)
        assert isinstance(made, Printed)
        made.kept = code
        return made

    @property
    def code(self) -> Code:
        if isinstance(self.kept, bytes):
            self.kept = pickle.loads(self.kept)
        return self.kept  # type: ignore[return-value]

    def __reduce__(self) -> tuple[Any, ...]:
        return Printed, (self.parts, self.kept if isinstance(self.kept, bytes) else pickle.dumps(self.kept))
