"""Draws the DAG for the page; each node has its formula, shape, facts, and value at random data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.errors import MatcalcError
from matcalc.expressions.expression import Expression
from matcalc.expressions.printing import formula_in, latex_in
from matcalc.formula.graph.draw import words
from matcalc.formula.graph.graph import drawn
from matcalc.language.write import text
from matcalc.page.trials import Trial, trial
from matcalc.tensor.nodes.node import Node

ENTRIES = 36


def picture(e: Expression) -> dict[str, Any]:
    """Return nodes with position, shape, facts and value, and edges as lines through points.

    Raises: NotSupported for too many nodes to draw.
    """
    drawing = drawn(e.node)
    at, sizes, values = _values(e, [box.node for box in drawing.nodes])
    return {
        "width": drawing.width,
        "height": drawing.height,
        "sizes": sizes,
        "at": at,
        "nodes": [
            {
                "name": box.name,
                "says": words(box.node),
                **_formula(e, box.node),
                "shape": [str(size) for size in box.node.shape],
                "facts": sorted(box.node.facts),
                "uses": box.uses,
                "kind": box.node.kind,
                "value": value,
                "x": box.x,
                "y": box.y,
                "width": box.width,
            }
            for box, value in zip(drawing.nodes, values, strict=True)
        ],
        "edges": [
            {"from": edge.user, "to": edge.operand, "note": edge.note, "points": edge.points} for edge in drawing.edges
        ],
    }


def _formula(e: Expression, node: Node) -> Mapping[str, str]:
    """Return a node as text and LaTeX; "" for a node that cannot be written."""
    try:
        plain = formula_in(node, e.names, dotted=False)
        return {"text": text(formula_in(node, e.names)), "latex": latex_in(plain, e.names)}
    except MatcalcError:
        return {"text": "", "latex": ""}


def _values(e: Expression, nodes: Sequence[Node]) -> tuple[dict[str, Any], dict[str, int], list[Any]]:
    """Return random data, sizes, and the values of all nodes; the values are None if no data are found."""
    valued = [node for node in nodes if node.kind != "selector"]
    try:
        found: Trial = trial(e, [e.node])
        arrays = dict(zip(valued, found.values(valued), strict=True))
    except (MatcalcError, np.linalg.LinAlgError, ValueError):
        return {}, {}, [None] * len(nodes)
    data = {name: array.tolist() for name, array in found.data.items() if array.size <= ENTRIES}
    return data, dict(found.sizes), [_small(arrays.get(node)) for node in nodes]


def _small(array: Any) -> Any:
    """Return a small array as lists, with NaN and infinity as text; None for a larger one."""
    if array is None or array.size > ENTRIES:
        return None
    return np.vectorize(lambda v: float(f"{v:.5g}") if np.isfinite(v) else str(v), otypes=[object])(array).tolist()
