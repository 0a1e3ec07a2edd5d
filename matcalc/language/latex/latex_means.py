r"""Reads a mean behind a function, \log \frac{1}{K} \sum_k a_k: the function of the mean.

One over a number of terms belongs to the sum behind it. Any other factor in front of a sum is ambiguous there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from matcalc.language import syntax
from matcalc.language.latex.latex_scope import Reading, Value, is_plain_number, needed
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.syntax import Ast, walk


def mean_of_sum(reading: Reading, items: Sequence[Ast]) -> Value | None:
    r"""Return the product of 1/n and the sum behind it, if items are these two and n consists of sizes."""
    if len(items) != 2 or items[0].head != "frac" or items[1].head != "big" or items[1].value[0] != "sum":  # type: ignore[index]
        return None
    over, under = map(unbraced, items[0].args)
    if not is_plain_number(over):
        return None
    names = {str(x.value) for x in walk(cast(Ast, needed(reading, under).tree)) if x.head == "name"}
    if not names or not names <= reading.known.sizes:
        return None
    factor, total = (needed(reading, x) for x in items)
    tree = syntax.product([cast(Ast, factor.tree), cast(Ast, total.tree)], ["*"])
    return total._replace(tree=Ast("product", tree.args, tree.value, (items[0].span[0], items[1].span[1])))
