"""Builds the reports of `check`, `convex` and `equivalent`: lines that print as text and that notebooks typeset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.evidence.explain.sentences import Sentence, formula_in_words, joined_by, pieces_of, sentence
from matcalc.pictures.rich_text import Block, Paragraph, Steps, Typeset

KINDS = ("scalar", "vector", "matrix", "tensor")


class Lines(Typeset):
    """A report of `lines`, in which the lines of a proof are a list. It prints as text."""

    __slots__ = ()

    def lines(self) -> list[str | Sequence[str]]:
        """Return the lines of the report; a proof is a list of lines."""
        raise NotImplementedError

    def blocks(self) -> list[Block]:
        """Return the lines as paragraphs, and proofs as numbered steps."""
        shown = [line for line in self.lines() if line]
        return [_paragraph(x) if isinstance(x, str) else Steps([(pieces_of(s), ()) for s in x]) for x in shown]

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        printed: list[str] = []
        for line in self.lines():
            printed += [line] if isinstance(line, str) else [f"{k}. {step}" for k, step in enumerate(line, 1)]
        return "\n".join(printed)


def _paragraph(line: str) -> Block:
    return Paragraph(pieces_of(line))


def equations(values: Mapping[str, Any], mark: str = "") -> Sentence:
    """Return data by name as a sentence: `n = 2, x = [1; 2]`. With the mark "d" the names are `dx`."""
    named = ((formula_in_words(mark + name, _kinds(name, value)), " = ", value) for name, value in values.items())
    return joined_by(", ", (sentence(name, sign, array_in_words(value)) for name, sign, value in named))


def _kinds(name: str, value: ArrayLike) -> dict[str, str]:
    return {name: KINDS[min(np.ndim(value), 3)]}


def array_in_words(value: ArrayLike) -> Sentence:
    """Return an array as part of a sentence: a formula, or words if it is empty or has more than two axes."""
    array = np.asarray(value)
    shown = shown_array(array)
    is_formula = array.size and array.ndim <= 2 and bool(np.all(np.isfinite(array)))
    return Sentence([formula_in_words(shown, {}) if is_formula else shown])


def shown_array(array: ArrayLike) -> str:
    a = np.asarray(array)
    if a.ndim == 0:
        return f"{float(a):.6g}"
    if a.ndim == 1:
        return f"[{'; '.join(f'{x:.6g}' for x in a)}]"
    if a.ndim == 2:
        return f"[{'; '.join(', '.join(f'{x:.6g}' for x in row) for row in a)}]"
    return np.array2string(a, precision=6, separator=", ").replace("\n", "")
