"""Defines selectors: the closed set of 0/1 tensors that re-index, defined by a rule on their indices and never formed.

    Merge    S[p, i1, .., ik]   p is the row-major rank of (i1, .., ik): vec, reshape, kron
    Slice    S[i, j]            i == j + offset: parts and blocks
    Mask     S[i, j]            i - j >= offset: tril, triu
    Flip     S[i, j]            i + j == n - 1
    Shift    S[i, j]            i == (j + offset) mod n
    Conv     S[k, i, j]         k == i + j + offset: convolution, Toeplitz and Hankel matrices
    Triangle S[p, i, j]         p is the rank of (i, j), i >= j, in the stacked lower triangle: vech
    Lookup   S[i, t..]          i == k[t..]: indices that are data, the integers of its operand, the array k

`reindex.py` applies their identities inside a product; each is exact and looks at no other operands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING

from matcalc.tensor.sizes.size import Size, is_nonnegative, volume

if TYPE_CHECKING:
    import numpy as np

Span = tuple[Size, Size]
"""Offset and length of a part of an axis."""


@dataclass(frozen=True, slots=True)
class Selector:
    """A 0/1 tensor: `kind` is one of those above, `offset` the constant of its rule (0 if it has none)."""

    kind: str
    shape: tuple[Size, ...]
    offset: Size = field(default_factory=lambda: Size.of(0))

    @property
    def span(self) -> Span:
        """The offset of a slice and its length."""
        return self.offset, self.shape[1]

    @property
    def digest(self) -> bytes:
        return blake2b(str(self).encode(), digest_size=16).digest()

    def __str__(self) -> str:
        sizes = ", ".join(map(str, self.shape))
        return f"{self.kind}({sizes}; {self.offset})" if self.offset != 0 else f"{self.kind}({sizes})"

    def dense(self, values: dict[str, int], places: np.ndarray | None = None) -> np.ndarray:
        """Return the 0/1 array itself, for tests and small cases; `places` are the data of a lookup.

        Shapes: sizes by `values`.
        """
        import numpy as np

        shape = [s.evaluate(values) for s in self.shape]
        if places is not None:
            entries: np.ndarray = np.arange(shape[0]).reshape(-1, *[1] * places.ndim) == places
            return entries.astype(float)
        return RULES[self.kind](np.indices(shape), shape, self.offset.evaluate(values)).astype(float)


def is_within(rule: Selector) -> bool:
    """Return whether the short axis of a slice, moved by its offset, is known to lie in the long one."""
    long, short = rule.shape
    return is_nonnegative(rule.offset) and is_nonnegative(long - rule.offset - short)


def are_apart(one: Span, other: Span) -> bool:
    """Return whether two parts of an axis are known to have no index in common."""
    return is_nonnegative(other[0] - sum(one)) or is_nonnegative(one[0] - sum(other))


def slice_of(m: Size, n: Size, offset: Size) -> tuple[Selector, bool] | None:
    """Return [i == j + offset], i < m and j < n, as a slice, and whether j is the long axis; None if none is known."""
    rules = Selector("slice", (m, n), offset), Selector("slice", (n, m), -offset)
    return next(((rule, swaps) for rule, swaps in zip(rules, (False, True), strict=True) if is_within(rule)), None)


def _merge(at: np.ndarray, shape: list[int], offset: int) -> np.ndarray:
    rank = at[1] * 0
    for axis in range(1, len(shape)):
        rank = rank * shape[axis] + at[axis]
    entries: np.ndarray = at[0] == rank
    return entries


def _triangle(at: np.ndarray, shape: list[int], offset: int) -> np.ndarray:
    p, i, j = at
    entries: np.ndarray = (i >= j) & (p == i + j * shape[1] - j * (j + 1) // 2)
    return entries


RULES: dict[str, Callable[[np.ndarray, list[int], int], np.ndarray]] = {
    "merge": _merge,
    "slice": lambda at, shape, offset: at[0] == at[1] + offset,
    "mask": lambda at, shape, offset: at[0] - at[1] >= offset,
    "flip": lambda at, shape, offset: at[0] + at[1] == shape[0] - 1,
    "shift": lambda at, shape, offset: at[0] == (at[1] + offset) % max(shape[1], 1),
    "conv": lambda at, shape, offset: at[0] == at[1] + at[2] + offset,
    "triangle": _triangle,
}


def merge(*sizes: Size) -> Selector:
    """Return the row-major merge of axes of these sizes into one leading axis."""
    return Selector("merge", (volume(sizes), *sizes))
