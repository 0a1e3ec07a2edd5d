"""Tells at which points a result that differs from the reference is no fault.

They are points where a printed quotient is 0/0, where a norm is 0, and points outside the domain of a part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.points import Point
from matcalc.evidence.written.questions import Question
from matcalc.evidence.written.values import Array
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.switches import is_masked

COMPARISONS = ("<", ">", "=")
"""The last signs of the names of functions that compare their first two arguments."""


def evaluated(nodes: Sequence[Node], data: Mapping[str, Array], sizes: Mapping[str, int]) -> list[Array] | None:
    """Return the values of nodes by plain NumPy; None if one cannot be evaluated at these data."""
    return attempted(lambda: [np.asarray(value) for value in evaluate(nodes, data, sizes)])


def attempted(values: Callable[[], list[Array]]) -> list[Array] | None:
    """Return values; None if one cannot be evaluated at its data."""
    try:
        return values()
    except (np.linalg.LinAlgError, MatcalcError, ValueError, IndexError):
        return None


def is_excused(claim: Claim, question: Question, point: Point, is_infinite: bool) -> bool:
    """Whether a difference at a point is no fault; `is_infinite` if the result is not finite there."""
    data = {**point.data, **question.extra}
    if not claim.is_called and not _is_finite_inside(claim.node, data, point.sizes):
        return True  # another form is called, and compared here; a printed quotient is 0/0
    root = claim.derivation.root
    if is_infinite and (question.second is not None or _plays(root, "direction")):
        norms = [node for node in toposort([claim.node]) if _plays_itself(node, "euclidean_length")]
        if _has_zero(norms, data, point.sizes):
            return True  # documented: the second derivative of a norm at 0, and the derivative of a direction
    return is_infinite and not _switches(root) and not _is_finite_inside(root, data, point.sizes)


def _plays_itself(node: Node, role: str) -> bool:
    return node.kind == "op" and node.rule.role == role


def _plays(root: Node, role: str) -> bool:
    """Whether an operation of this role is in a node."""
    return any(_plays_itself(node, role) for node in toposort([root]))


def _switches(root: Node) -> bool:
    """Whether a formula has a condition or a mask, which may switch off a part that has no value."""
    return any(_is_condition(node) or (node.kind == "product" and is_masked(node)) for node in toposort([root]))


def _is_condition(node: Node) -> bool:
    return node.kind == "map" and (node.rule.overload or "")[-1:] in COMPARISONS


def _has_zero(nodes: Sequence[Node], data: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    found = evaluated(nodes, data, sizes)
    return found is not None and any(not np.all(value) for value in found)


def _is_finite_inside(root: Node, data: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    """Whether all parts of a node are finite."""
    found = evaluated(toposort([root]), data, sizes)
    return found is not None and all(np.all(np.isfinite(value)) for value in found)
