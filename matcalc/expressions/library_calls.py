"""Provides traced functions with functions of NumPy, SciPy and Python that accept symbols."""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import Any

from matcalc.expressions.expression import Expression
from matcalc.expressions.loops.loops import Loops
from matcalc.expressions.loops.source import LOOPS
from matcalc.expressions.numpy_bridge.runs import Runs
from matcalc.expressions.numpy_bridge.triangles import Side
from matcalc.expressions.step_list import STACKING, StepList, stacking
from matcalc.expressions.traced_array import TracedArray, traced_array
from matcalc.expressions.traced_range import TracedRange, TracedSide
from matcalc.expressions.user_code.composed_calls import COMPOSED
from matcalc.expressions.user_code.copied import Values
from matcalc.expressions.user_code.lists_of_arrays import OF_ARRAYS, of_lists
from matcalc.expressions.user_code.numpy_calls import SYMBOLIC_ONLY, NumpyCalls
from matcalc.expressions.user_code.python_calls import BUILTINS, is_symbolic, math_calls, number_types, or_else
from matcalc.expressions.user_code.scipy_calls import scipy_calls
from matcalc.expressions.user_code.scipy_stats import Distribution
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names

SCIPY = ("scipy.special", "scipy.linalg", "scipy.spatial.distance", "scipy.stats")
"""Modules of SciPy whose functions accept symbols. One that nobody imported is not imported for them."""


def values_for(names: Names) -> Values:
    """Return the values of names in a function whose symbols have these names."""
    scope = replace(names, traced=True)

    def make(node: Node, runs: Runs | None = None, side: Side | None = None) -> TracedArray:
        if side is not None:
            return TracedSide(node, scope, side=side)
        return TracedArray(node, scope) if runs is None else TracedRange(node, scope, runs=runs)

    import numpy as np

    calls = NumpyCalls(make)
    own = {name: getattr(calls, name) for name in vars(NumpyCalls) if not name.startswith("_")}
    known = {name: one for name, one in own.items() if hasattr(np, name)}
    numpys = {name: or_else(one, getattr(np, name)) if name in SYMBOLIC_ONLY else one for name, one in known.items()}
    table: dict[int, Any] = {id(getattr(np, name)): one for name, one in numpys.items() if name != "float64"}
    table |= {id(getattr(np, name)): or_else(one, getattr(np, name)) for name, one in COMPOSED.items()}
    listed = [attrgetter(name)(np) for name in OF_ARRAYS]
    table |= {id(one): of_lists(one, calls.array) for one in listed}
    table |= {id(getattr(builtins, name)): or_else(one, getattr(builtins, name)) for name, one in BUILTINS.items()}
    table |= {id(theirs): ours for theirs, ours in number_types().items()}
    stacked = [getattr(np, name) for name in STACKING if hasattr(np, name)]  # NumPy 2.5 has no row_stack
    table |= {id(theirs): stacking(theirs) for theirs in stacked if id(theirs) not in table}
    table |= {id(getattr(math, name)): or_else(one, getattr(math, name)) for name, one in math_calls().items()}
    known_modules: set[str] = set()

    def attributes(module: ModuleType | None = None) -> Mapping[str, Any] | None:
        for new in [one for one in SCIPY if one in sys.modules and one not in known_modules]:
            known_modules.add(new)
            found = _of_scipy(new)
            takes_lists = new == "scipy.special"
            table.update({key: of_lists(one, calls.array) for key, one in found.items()} if takes_lists else found)
        return None if module is None else _attributes(module, table)

    attributes()
    values = Values(table, attributes)
    values.builtins[LOOPS] = Loops(
        lambda node, own: traced_array(Expression(node, scope.joined(own))),
        lambda array: StepList(array.node, array.names),
    )
    return values


def _of_scipy(module: str) -> dict[int, Any]:
    """Return the replacements of a module's functions, by the identity of the originals."""
    theirs = import_module(module)  # another thread may be importing it
    found = {id(one): or_else(ours, one) for one, ours in scipy_calls(theirs)}
    if module != "scipy.stats":
        return found
    for name, one in vars(theirs).items():
        if not isinstance(one, (type, ModuleType)) and (hasattr(one, "logpdf") or hasattr(one, "logpmf")):
            found[id(one)] = Distribution(one, name, is_symbolic)
    return found


def _attributes(module: ModuleType, table: Mapping[int, Any]) -> Mapping[str, Any] | None:
    """Return the replaced attributes of a module; None if there are none."""
    root = module.__name__.partition(".")[0]
    if root not in ("numpy", "scipy", "math"):
        return None
    return {name: table[id(value)] for name, value in vars(module).items() if id(value) in table}
