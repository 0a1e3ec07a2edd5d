"""Sizes that fit: the shape of an operand made equal to that of its place, by as few equalities as do it.

Every form has size names of its own. Where a name meets a size it becomes that size; where two polynomials meet
(`m*n` in `p*q`) their names are matched, and where only numbers can do it (`m + n - 1` in `3`) small ones are tried.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from matcalc.tensor.size import Size
from matcalc.testing.forms import Shape

LENGTHS = (2, 3, 4, 1, 5, 6)
"""Numbers that are tried for names, in this order."""
MOST = 4
"""Names at once that numbers are tried for."""


class Fit:
    """What size names stand for. `unify` either makes two shapes equal or changes nothing."""

    def __init__(self, known: dict[str, Size] | None = None) -> None:
        self.known = dict(known or {})

    def of(self, size: Size) -> Size:
        """Return a size with all that is known of its names put in."""
        while any(name in self.known for name in size.names):
            size = size.substitute({name: self.known[name] for name in size.names if name in self.known})
        return size

    def unify(self, one: Shape, other: Shape) -> bool:
        """Make two shapes equal if that can be; whether it could."""
        if len(one) != len(other):
            return False
        before = dict(self.known)
        if all(self._equal(a, b) for a, b in zip(one, other, strict=True)):
            return True
        self.known = before
        return self._numbered(list(zip(one, other, strict=True)))

    def _equal(self, a: Size, b: Size) -> bool:
        a, b = self.of(a), self.of(b)
        if a == b:
            return True
        for name, size in ((a, b), (b, a)):
            if name.is_name and str(name) not in size.names:
                self.known[str(name)] = size
                return True
        return self._matched(a, b)

    def _matched(self, a: Size, b: Size) -> bool:
        """Match the names of two sizes one by one: those of `p*q` become those of `m*n`."""
        if not len(a.names) == len(b.names) <= MOST or not b.names or set(a.names) & set(b.names):
            return False
        for order in itertools.permutations(a.names):
            trial = dict(zip(b.names, map(Size.of, order), strict=True))
            if b.substitute(trial) == a:
                self.known |= trial
                return True
        return False

    def _numbered(self, equations: Sequence[tuple[Size, Size]]) -> bool:
        pairs = [(self.of(a), self.of(b)) for a, b in equations]
        names = sorted({name for pair in pairs for size in pair for name in size.names})
        if len(names) > MOST:
            return False
        for lengths in itertools.product(LENGTHS, repeat=len(names)):
            values = dict(zip(names, lengths, strict=True))
            if all(a.evaluate(values) == b.evaluate(values) for a, b in pairs):
                self.known |= {name: Size.of(length) for name, length in values.items()}
                return True
        return False
