"""The numbers from 0 on, as a formula."""

from __future__ import annotations

from matcalc.expressions.numpy_bridge.along_axes import built, leaf
from matcalc.language.syntax import call
from matcalc.tensor import constructors
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


def iota(length: Size) -> Node:
    """Return the numbers from 0 to a length, the length excluded."""
    if len(length.terms) == 1 and length.names == (str(length),):
        return built(call("iota", leaf(constructors.size_number(length))))
    steps = built(call("cumsum", leaf(constructors.ones((length,)))))
    return constructors.add([(1, steps), (-1, constructors.ones((length,)))])
