"""Context: what reading one node needs of its surroundings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from matcalc.normal_form.node import Node
from matcalc.notation.forms import Form
from matcalc.notation.naming import Names
from matcalc.notation.reading import Reading
from matcalc.sizes import Size


class Context(NamedTuple):
    """The readings of all operands, formulas of sizes, functions and equations, and free index names."""

    readings: Mapping[Node, Reading]
    size: Callable[[Size], Form]
    function: Callable[[Node], Form]
    equation: Callable[[Node], Form]
    names: Names
