"""Defines the text that Code is printed as. It keeps the Code, so that no later stage reads the text."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matcalc.compiler.code.code import Code


class Printed(str):
    """The text of Code, with the Code. A pickle has the Code as bytes, which are read when the Code is first used."""

    kept: Code | bytes

    def __new__(cls, text: str, code: Code | bytes) -> Printed:
        made = super().__new__(cls, text)
        made.kept = code
        return made

    @property
    def code(self) -> Code:
        if isinstance(self.kept, bytes):
            self.kept = pickle.loads(self.kept)
        return self.kept  # type: ignore[return-value]

    def __reduce__(self) -> tuple[Any, ...]:
        return Printed, (str(self), self.kept if isinstance(self.kept, bytes) else pickle.dumps(self.kept))
