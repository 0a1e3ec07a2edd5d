"""The DAG as a drawing in layers: operands below what uses them, each node once, edges bent round what lies between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.errors import MatcalcError, NotSupported
from matcalc.expressions.expression import Expression
from matcalc.expressions.written import formula_in, latex_in
from matcalc.formula.notation.draw import operand_edges, words
from matcalc.language.write import text
from matcalc.page.layers import Box, placed
from matcalc.page.trials import Trial, trial
from matcalc.tensor.node import Node, label, toposort

MOST = 150
"""Nodes that are drawn."""

CUT = 22
ENTRIES = 36


def picture(e: Expression) -> dict[str, Any]:
    """Return nodes with place, shape, facts and value, and edges as lines through points.

    Raises: NotSupported for more nodes than can be looked at.
    """
    nodes = toposort([e.node])[::-1]
    if len(nodes) > MOST:
        raise NotSupported(f"the graph has {len(nodes)} nodes: {MOST} can be looked at")
    number = {node: k for k, node in enumerate(nodes)}
    edges = [(number[user], k, note) for user, k, note in operand_edges(number)]
    names = [_name(node) for node in nodes]
    drawing = placed([Box(max(len(name) * 8 + 20, 44)) for name in names], [(a, b) for a, b, _ in edges])
    at, sizes, values = _values(e, nodes)
    return {
        "width": drawing.width,
        "height": drawing.height,
        "sizes": sizes,
        "at": at,
        "nodes": [
            {
                "name": name,
                "says": words(node),
                **_formula(e, node),
                "shape": [str(size) for size in node.shape],
                "facts": sorted(node.facts),
                "uses": sum(b == k for _, b, _ in edges),
                "kind": node.kind,
                "value": value,
                "x": drawing.centres[k][0],
                "y": drawing.centres[k][1],
                "width": drawing.boxes[k].width,
            }
            for k, (node, name, value) in enumerate(zip(nodes, names, values, strict=True))
        ],
        "edges": [
            {"from": a, "to": b, "note": note, "points": points}
            for (a, b, note), points in zip(edges, drawing.lines, strict=True)
        ],
    }


def _name(node: Node) -> str:
    """Return what stands in the box."""
    name = {"product": "×", "sum": "+"}.get(node.kind, label(node))
    return name if len(name) <= CUT else f"{name[: CUT - 1]}…"


def _formula(e: Expression, node: Node) -> Mapping[str, str]:
    """Return how a node is written; nothing for one that has no form of its own."""
    try:
        plain = formula_in(node, e.names, dotted=False)
        return {"text": text(formula_in(node, e.names)), "latex": latex_in(plain, e.names)}
    except MatcalcError:
        return {"text": "", "latex": ""}


def _values(e: Expression, nodes: Sequence[Node]) -> tuple[dict[str, Any], dict[str, int], list[Any]]:
    """Return data, sizes, and the values of all nodes there; None for all where no data are found."""
    valued = [node for node in nodes if node.kind != "selector"]
    try:
        found: Trial = trial(e, [e.node])
        arrays = dict(zip(valued, found.values(valued), strict=True))
    except (MatcalcError, np.linalg.LinAlgError, ValueError):
        return {}, {}, [None] * len(nodes)
    data = {name: array.tolist() for name, array in found.data.items() if array.size <= ENTRIES}
    return data, dict(found.sizes), [_small(arrays.get(node)) for node in nodes]


def _small(array: Any) -> Any:
    """Return an array as lists, where it can be looked at; NaN and infinity in words."""
    if array is None or array.size > ENTRIES:
        return None
    return np.vectorize(lambda v: float(f"{v:.5g}") if np.isfinite(v) else str(v), otypes=[object])(array).tolist()
