"""Reads terms of patterns in index form: `A[i,k]`, `inv(X)[i,k]`, `p[i]:int32`."""

from __future__ import annotations

import re
from dataclasses import dataclass

TERM = re.compile(r"\s*([^\W\d]\w*)\s*(?:\[([\w\s,]*)\])?(?::(\w+))?")


@dataclass(frozen=True, slots=True)
class Term:
    """`A[i,k]`, or `inv(X)[i,k]` with the operation as `name` and its operands as `args`."""

    name: str
    letters: tuple[str, ...] | None = None
    dtype: str = "float64"
    args: tuple[Term, ...] = ()

    @property
    def is_operation(self) -> bool:
        return bool(self.args)


def terms_of(text: str, separator: str) -> tuple[Term, ...]:
    """Return the terms of `A[i,k] * inv(X)[k,j]` or `F[i,i], p[i]:int32`."""
    terms: list[Term] = []
    position = 0
    while text[position:].strip():
        term, position = _term(text, position)
        terms.append(term)
        rest = text[position:].lstrip()
        if rest and not rest.startswith(separator):
            raise ValueError(f"cannot read {rest!r} in the pattern")
        position = len(text) - len(rest) + 1
    return tuple(terms)


def _term(text: str, position: int) -> tuple[Term, int]:
    found = TERM.match(text, position)
    if not found:
        raise ValueError(f"cannot read {text[position:]!r} in the pattern")
    name, letters, dtype = found.groups()
    after = found.end()
    if letters is None and text[after:].lstrip().startswith("("):
        start = text.index("(", after)
        end = text.index(")", start)
        args = terms_of(text[start + 1 : end], ",")
        tail = re.compile(r"\s*(?:\[([\w\s,]*)\])?").match(text, end + 1)
        assert tail is not None
        return Term(name, _letters(tail.group(1)), "float64", args), tail.end()
    return Term(name, _letters(letters), dtype or "float64"), after


def _letters(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip())


def letters_of(name: str, rank: int) -> str:
    """Return the letters of an operand of a pattern, derived from its name."""
    return f"[{', '.join(f'{name}_{axis}' for axis in range(rank))}]" if rank else "[]"


def bytes_of(term: Term) -> str:
    """Return the bytes of an operand as a formula."""
    return "*".join(["8", *term.letters]) if term.letters else "8"
