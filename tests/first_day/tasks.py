"""Defines a task of the first day: a formula as a newcomer types it, its printed derivatives, and its true value.

The true value is a function of arrays, written by hand for NumPy. An editor reads the printed forms. A form that is
longer than on a blackboard is a fault of matcalc, and is not recorded as expected.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import matcalc as mc

SIZES = {"m": 5, "n": 4, "k": 3, "p": 2, "q": 3, "N": 6}


@dataclass(frozen=True, eq=False)
class Task:
    """A task: its texts, and the function for its true value.

    - `text`: the formula, or a function that returns a SymPy object.
    - `printed`: the printed derivative for each variable, with named parts where it is long.
    - `latex`, `traced`: the formula as papers write it, and whether the function can be traced as NumPy code.
    """

    name: str
    text: str | Callable[[], object]
    declarations: str
    printed: dict[str, str]
    function: Callable[..., object]
    derivative: str = "gradient"
    latex: str = ""
    traced: bool = False


TASKS: list[Task] = []


def task(text, declarations="", *, derivative="gradient", latex="", traced=False, **printed):
    """Add the decorated function of arrays to the table, as the true value of a formula."""

    def added(function):
        name = function.__name__
        TASKS.append(Task(name, text, declarations, printed, function, derivative, latex, traced))
        return function

    return added


def drawn(e):
    """Return data for the symbols of an expression that lie in their domains."""
    rng = np.random.default_rng(11)
    data = {}
    for symbol in mc.symbols(e.declarations):
        facts = symbol.facts
        value = rng.standard_normal([eval(str(size), {}, SIZES) for size in symbol.shape])
        if "index" in facts:
            value = rng.integers(0, SIZES["k"], value.shape)
        elif "skew" in facts:
            value = value - value.T
        elif "spd" in facts:
            value = value @ value.T + np.eye(len(value))
        elif "symmetric" in facts:
            value = value + value.T
        elif "positive" in facts or not value.shape:
            value = np.abs(value) + 0.5
        data[symbol.node.name] = value if value.shape else float(value)
    return data


def directions(value, facts):
    """Return each entry's direction in the space that a symbol's facts leave, by the entry's index."""
    for place in np.ndindex(value.shape):
        unit = np.zeros(value.shape)
        unit[place] = 1
        if facts & {"symmetric", "spd"}:
            unit = (unit + unit.T) / 2
        elif "skew" in facts:
            unit = (unit - unit.T) / 2
        yield place, unit


def differences(function, data, name, facts, step=1e-4):
    """Return a function's derivative in one argument by central differences of order four."""
    base = np.asarray(data[name], dtype=float)
    shape = np.shape(function(**data))
    found = np.zeros(shape + base.shape)
    for place, unit in directions(base, facts):
        for multiple, weight in ((1, 2 / 3), (-1, -2 / 3), (2, -1 / 12), (-2, 1 / 12)):
            moved = base + multiple * step * unit
            value = np.asarray(function(**{**data, name: moved if base.shape else float(moved)}))
            found[(..., *place)] += weight / step * value
    return found
