"""Generated text for Numba, whose additions to a total may be done in any order.

Floating point is as it is written: no product is merged into a sum (`x*y - z*w` of equal products is 0), nothing is
regrouped, no quotient becomes a product. Only a loop that adds to a total may make several of them, its lanes, as
NumPy's own sums do: no zero, infinity or NaN of an entry comes from that. Numba allows orders to whole functions only,
so `total += x` is handed to it as a function of one addition. Assembly and C are written from the text as it was.
"""

from __future__ import annotations

import re

PLUS = "plus"
"""The function of `codegen/numba` that adds in any order."""
TOTAL = re.compile(r"^(?P<pad> *)(?P<total>[^#\n]*?) \+= (?P<value>.*?)(?P<gap>  +(?=# )|$)", re.MULTILINE)
"""A line that adds to a total, up to its comment."""


def in_any_order(source: str) -> str:
    """Return the text with `total = plus(total, x)` for `total += x`; comments stay where they are if there is room."""
    return TOTAL.sub(_called, source)


def _called(line: re.Match[str]) -> str:
    text = f"{line['pad']}{line['total']} = {PLUS}({line['total']}, {line['value']})"
    return f"{text:<{len(line[0]) - 2}}  " if line["gap"] else text
