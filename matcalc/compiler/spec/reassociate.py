"""Rewrites generated text for Numba so that additions to a total may be done in any order.

Other floating-point operations stay as written: no product is merged into a sum (`x*y - z*w` of equal products is 0),
nothing is regrouped, no quotient becomes a product. Only a loop that adds to a total may split it into several (its
lanes), as NumPy's sums do; this creates no zeros, infinities or NaN. Numba allows reordering only for whole functions,
so `total += x` becomes a call of a function with one addition. Assembly and C are written from the original text.
"""

from __future__ import annotations

import re

PLUS = "plus"
"""The function of `codegen/numba` whose addition may be reordered."""
TOTAL = re.compile(r"^(?P<pad> *)(?P<total>[^#\n]*?) \+= (?P<value>.*?)(?P<gap>  +(?=# )|$)", re.MULTILINE)
"""A line that adds to a total, up to its comment."""


def in_any_order(source: str) -> str:
    """Return the text with `total = plus(total, x)` for `total += x`; comments keep their columns if there is room."""
    return TOTAL.sub(_called, source)


def _called(line: re.Match[str]) -> str:
    text = f"{line['pad']}{line['total']} = {PLUS}({line['total']}, {line['value']})"
    return f"{text:<{len(line[0]) - 2}}  " if line["gap"] else text
