r"""Finds the row or column of a matrix whose number is computed from several indices, s_{t+l+1}."""

from __future__ import annotations

from matcalc.language.latex.latex_axes import Axis, axis_of, whole_axis
from matcalc.language.latex.latex_scope import Reading, Scope, fault
from matcalc.language.syntax import Ast


def computed_row(reading: Reading, name: str, axis: Ast, scope: Scope, layout: Ast) -> list[Axis]:
    """Return the subscripts of both axes of a matrix, if words or sizes of the formula decide which has the number.

    Raises: ParseError with both readings, among which the sizes of the formula may decide.
    """
    own, _ = reading.known.axes.get(name, (reading.stated.get(name), ""))
    if own is None:
        hint = f"a row is {name}_{{i,:}}, a column {name}_{{:,i}}"
        refused = fault(f"one subscript for 2 axes: this can be a row or column of {name}", layout, hint)
        refused.undecided = ((name, 0, "vector"), (name, 1, "vector"))
        raise refused
    first = 0 if (name, own) in reading.zeros else 1
    made: list[Axis] = [(whole_axis(layout), None)]
    made.insert(own, axis_of(reading, axis, reading.known.shapes[name][own], scope, first))
    return made
