"""Defines the tuples of derivatives in several variables, which notebooks typeset."""

from __future__ import annotations

from typing import Any


class Blocks(tuple[Any, ...]):
    """A tuple of expressions, or the rows of a block matrix. It equals the plain tuple of the same entries."""

    __slots__ = ()

    def latex(self) -> str:
        """Return the blocks as LaTeX: rows as a block matrix, expressions as a list in parentheses."""
        if all(isinstance(row, tuple) for row in self):
            rows = r" \\ ".join(" & ".join(block.latex() for block in row) for row in self)
            return rf"\begin{{bmatrix}} {rows} \end{{bmatrix}}"
        entries = r",\ ".join(block.latex() for block in self)
        return rf"\left({entries}\right)"

    def __str__(self) -> str:
        """Return the blocks as text, a row of a block matrix on each line."""
        if all(isinstance(row, tuple) for row in self):
            return "[" + ";\n ".join(", ".join(map(str, row)) for row in self) + "]"
        return f"({', '.join(map(str, self))})"

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex()}$"


def typeset(made: Any) -> Any:
    """Return a derivative; plain tuples of expressions, or of rows of them, become `Blocks`."""
    if type(made) is not tuple:
        return made
    return Blocks(map(typeset, made))
