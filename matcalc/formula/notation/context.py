"""Defines the context in which one node is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from matcalc.formula.forms.form import Form
from matcalc.formula.notation.index_names import Names
from matcalc.formula.notation.node_reading import Reading
from matcalc.formula.notation.systems import Systems
from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


class Context(NamedTuple):
    """The readings of all operands, formulas of sizes, functions and equations, and free index names.

    `dotted`: whether repeated rows and columns in a sum are written once, with dotted signs. `inner`: the systems of
    recurrences that read the step which the readings are of.
    """

    readings: Mapping[Node, Reading]
    size: Callable[[Size], Form]
    function: Callable[[Node], Form]
    equation: Callable[[Node], Form]
    names: Names
    dotted: bool
    systems: Systems
    inner: dict[Node, Ast]
