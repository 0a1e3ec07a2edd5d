"""Shared by the tests of elaboration: shapes as text, and the error of a text."""

from matcalc.errors import MatcalcError
from matcalc.formula.elaborate.texts import elaborate
from matcalc.tensor.nodes.node import Node


def node(text: str, declarations: str = "") -> Node:
    """Return the node of one text."""
    return elaborate([text], declarations).nodes[0]


def shape(text: str, declarations: str = "") -> str:
    """Return the shape of a text: "m x n", "n", "n'" for a row, "" for a scalar."""
    read = elaborate([text], declarations)
    return " x ".join(map(str, read.nodes[0].shape)) + ("'" if read.rows[0] else "")


def fault(text: str, declarations: str = "", dialect: str = "matrix") -> MatcalcError:
    """Return the error that reading a text raises."""
    try:
        elaborate([text], declarations, dialect=dialect)
    except MatcalcError as error:
        return error
    raise AssertionError(f"{text} is no error")
