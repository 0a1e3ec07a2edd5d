"""Draws charts as text for any terminal: points in braille, bars and cells in block characters."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

WIDTH, HEIGHT = 60, 14
"""Width and height of a chart in characters."""

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of the dots of a braille character, by row and column."""

EIGHTHS = " ▏▎▍▌▋▊▉"
SHADES = " ░▒▓█"
"""Characters from an empty field to a full one."""


def points(xs: Sequence[float], ys: Sequence[float], across: str, up: str, logs: tuple[bool, bool]) -> list[str]:
    """Return a scatter plot with the range of each axis; `logs` marks logarithmic axes."""
    if not xs:
        return ["nothing to draw"]
    fields = [bytearray(WIDTH) for _ in range(HEIGHT)]
    positions = [_positions(values, count, in_powers) for values, count, in_powers in
              ((xs, 2 * WIDTH, logs[0]), (ys, 4 * HEIGHT, logs[1]))]  # fmt: skip
    for column, level in zip(*positions, strict=True):
        row = 4 * HEIGHT - 1 - level
        fields[row // 4][column // 2] |= DOTS[row % 4][column % 2]
    high, low = f"{max(ys):.3g}", f"{min(ys):.3g}"
    margin = max(len(high), len(low))
    labels = [high, *[""] * (HEIGHT - 2), low]
    drawn = ["".join(chr(0x2800 + bits) for bits in field) for field in fields]
    left, right = f"{min(xs):.3g}", f"{max(xs):.3g}"
    foot = f"{left} {across}".ljust(WIDTH - len(right)) + right
    lines = [f"{label:>{margin}} │{field}" for label, field in zip(labels, drawn, strict=True)]
    return [f"{'':>{margin}}  {up}", *lines, f"{'':>{margin}} └{'─' * WIDTH}", f"{'':>{margin}}  {foot}"]


def _positions(values: Sequence[float], count: int, in_powers: bool) -> list[int]:
    """Return the position of each value among `count`: the least at 0, the greatest last."""
    scaled = [log10(value) for value in values] if in_powers else list(values)
    low, high = min(scaled), max(scaled)
    if in_powers and high - low < 1.0:  # a range below one power of ten is drawn flat
        low, high = (low + high) / 2 - 1.0, (low + high) / 2 + 1.0
    width = (high - low) or 1.0
    return [round((value - low) / width * (count - 1)) for value in scaled]


def bars(labels: Sequence[str], values: Sequence[float], notes: Sequence[str]) -> list[str]:
    """Return a bar for each value, with a length proportional to it."""
    most = max(values, default=0.0) or 1.0
    margin = max(map(len, labels), default=0)
    length = WIDTH // 2
    return [
        f"{label:<{margin}}  {_bar(value / most * length):<{length}}  {note}".rstrip()
        for label, value, note in zip(labels, values, notes, strict=True)
    ]


def _bar(length: float) -> str:
    whole, part = divmod(round(length * 8), 8)
    return "█" * whole + (EIGHTHS[part] if part else "") or (EIGHTHS[1] if length > 0 else "")


def cells(rows: Sequence[Sequence[bool]], row_cuts: Sequence[int], column_cuts: Sequence[int]) -> list[str]:
    """Return a matrix of fields: two characters per field if they fit, otherwise several fields per character."""
    columns = len(rows[0]) if rows else 0
    step = max(-(-columns // WIDTH), -(-len(rows) // WIDTH), 1)
    wide = 2 if 2 * columns <= WIDTH else 1

    def part(first: int, left: int, last: int, right: int) -> str:
        held = [bool(row[k]) for row in rows[first:last] for k in range(left, right)]
        full = sum(held) / len(held)
        return SHADES[max(round(full * (len(SHADES) - 1)), int(full > 0))] * wide

    def line(first: int, last: int) -> str:
        spans = list(_spans(columns, step, column_cuts))
        return "".join(part(first, a, last, b) + ("│" if b in column_cuts else "") for a, b in spans)

    def between() -> str:
        return "".join("─" * wide + ("┼" if b in column_cuts else "") for _, b in _spans(columns, step, column_cuts))

    lines = []
    for a, b in _spans(len(rows), step, row_cuts):
        lines.append(f"│{line(a, b)}│")
        lines += [f"├{between()}┤"] if b in row_cuts else []
    return lines


def _spans(length: int, step: int, cuts: Sequence[int]) -> list[tuple[int, int]]:
    """Return pieces of at most `step` that contain no cut."""
    found, start = [], 0
    for cut in (*cuts, length):
        found += [(a, min(a + step, cut)) for a in range(start, cut, step)]
        start = cut
    return found
