"""Computes with ranges of integers that are subscripts: shifted, mirrored, reversed, joined, and modulo a length.

A piece is the integers from `start` on, backwards if it is reversed. Sizes decide where a piece is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from matcalc.expressions.numpy_bridge.arguments import check_room
from matcalc.tensor.nodes.node import Shape
from matcalc.tensor.sizes.size import Size, is_nonnegative

ZERO = Size.of(0)


class Piece(NamedTuple):
    """The integers from `start` to `start + length - 1`, read backwards if `reversed`."""

    start: Size
    length: Size
    reversed: bool = False


@dataclass(frozen=True)
class Runs:
    """Joined pieces; `is_apart` if no integer occurs twice."""

    pieces: tuple[Piece, ...]
    is_apart: bool = False

    @classmethod
    def of(cls, start: Size, length: Size, is_reversed: bool = False) -> Runs:
        return cls((Piece(start, length, is_reversed),), True)

    @property
    def shape(self) -> Shape:
        return (reduce(lambda total, piece: total + piece.length, self.pieces, ZERO),)

    def shifted(self, by: Size) -> Runs:
        """Return the integers plus a number."""
        return Runs(tuple(p._replace(start=p.start + by) for p in self.pieces), self.is_apart)

    def subtracted_from(self, number: Size) -> Runs:
        """Return a number minus the integers."""
        pieces = tuple(Piece(number - p.start - p.length + 1, p.length, not p.reversed) for p in self.pieces)
        return Runs(pieces, self.is_apart)

    def backwards(self) -> Runs:
        """Return the integers in the opposite order."""
        return Runs(tuple(p._replace(reversed=not p.reversed) for p in self.pieces[::-1]), self.is_apart)

    def part(self, start: Size, length: Size) -> Runs | None:
        """Return the integers at the positions from `start` on; None for several pieces."""
        if len(self.pieces) > 1:
            return None
        (own,) = self.pieces
        first = own.start + (own.length - start - length if own.reversed else start)
        return Runs.of(first, length, own.reversed)

    def modulo(self, length: Size) -> Runs | None:
        """Return the integers modulo a length; None if the sizes do not decide which of them reach it."""
        found = [_remainders(p, length) for p in self.pieces]
        if any(one is None for one in found):
            return None
        pieces = tuple(p for one in found if one is not None for p in one)
        return Runs(pieces, len(self.pieces) == 1 and is_nonnegative(length - self.shape[0]))

    def inside(self, length: Size) -> Runs:
        """Return subscripts of an axis of this length, of which negative ones are counted from the end.

        Raises: ShapeError for a subscript outside; where data decide that, at the call.
        """
        pieces = [inner for p in self.pieces for inner in _from_front(p, length)]
        for p in pieces:
            for room in (p.start, p.length, length - p.start - p.length):
                check_room(room, f"the subscripts {p.start} to {p.start + p.length - 1} leave an axis of {length}")
        return Runs(tuple(pieces), self.is_apart)


def joined_runs(parts: Sequence[Runs]) -> Runs:
    """Return the integers of several ranges, one after the other."""
    return Runs(tuple(p for part in parts for p in part.pieces), len(parts) == 1 and parts[0].is_apart)


def _cut(piece: Piece, at: Size, before: Size, behind: Size) -> list[Piece]:
    """Return the two pieces below and from `at` on, moved by `before` and `behind`."""
    below = Piece(piece.start + before, at - piece.start, piece.reversed)
    above = Piece(at + behind, piece.start + piece.length - at, piece.reversed)
    both = [above, below] if piece.reversed else [below, above]
    return [one for one in both if one.length != 0]


def _from_front(piece: Piece, length: Size) -> list[Piece]:
    stop = piece.start + piece.length
    if is_nonnegative(piece.start):
        return [piece]
    if is_nonnegative(-stop):
        return [piece._replace(start=length + piece.start)]
    if is_nonnegative(-piece.start):
        check_room(stop, f"the subscripts {piece.start} to {stop - 1} are all negative")
        return _cut(piece, ZERO, length, ZERO)
    return [piece]


def _remainders(piece: Piece, length: Size) -> list[Piece] | None:
    stop = piece.start + piece.length
    if is_nonnegative(piece.start) and is_nonnegative(length - stop):
        return [piece]
    message = f"the integers {piece.start} to {stop - 1} modulo {length} repeat"
    if is_nonnegative(piece.start) and is_nonnegative(stop - length):
        check_room(length - piece.start, message)
        check_room(length + length - stop, message)
        return _cut(piece, length, ZERO, -length)
    if is_nonnegative(-piece.start) and is_nonnegative(length - stop):
        check_room(length + piece.start, message)
        check_room(stop, message)
        return _cut(piece, ZERO, length, ZERO)
    return None
