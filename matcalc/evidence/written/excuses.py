"""Tells at which points a result that differs from the reference is no fault.

They are points where a printed quotient is 0/0, where a norm is 0, and where a part has no value or jumps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from matcalc.calculus.derive.differentiate import pushforward, template_parameter
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.points import Point, nudged
from matcalc.evidence.written.questions import Question
from matcalc.evidence.written.values import Array, largest
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.nodes.node import Node, cached_on_node, toposort
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.substitute import substitute
from matcalc.tensor.switches import is_masked, switches_of

COMPARISONS = ("<", ">", "=")
"""The last signs of the names of functions that compare their first two arguments."""

ROUNDING = 1e-14
"""The rounding error of a result, relative to the largest number in its computation."""

SEED_OF_JUMPS, CHANGES, CHANGE, JUMP = 37, 12, 1e-9, 1e-3
"""How often and how far operands are changed, and the change of a value that is a jump."""

NEARBY, DIFFERENCE = 1e-6, 1e-5
"""How far data are moved, relative to the largest entry, to see which operands move, or jump as in differences."""


def evaluated(nodes: Sequence[Node], data: Mapping[str, Array], sizes: Mapping[str, int]) -> list[Array] | None:
    """Return the values of nodes by plain NumPy; None if one cannot be evaluated at these data."""
    return attempted(lambda: [np.asarray(value) for value in evaluate(nodes, data, sizes)])


def attempted(values: Callable[[], list[Array]]) -> list[Array] | None:
    """Return values; None if one cannot be evaluated at its data."""
    try:
        return values()
    except (np.linalg.LinAlgError, MatcalcError, ValueError, IndexError):
        return None


def rounding_error(node: Node, data: Mapping[str, Array], sizes: Mapping[str, int]) -> float:
    """Return the rounding error of a result whose largest terms cancel."""
    values = evaluated([part for part in toposort([node]) if part.kind in ("product", "sum", "map", "op")], data, sizes)
    return ROUNDING * max((largest(v[np.isfinite(v)]) for v in values or ()), default=0.0)


def is_excused(claim: Claim, question: Question, point: Point, is_infinite: bool) -> bool:
    """Whether a difference at a point is no fault; `is_infinite` if the result is not finite there."""
    data = {**point.data, **question.extra}
    if not claim.is_called and not _is_finite_inside(claim.node, data, point.sizes):
        return True  # another form is called, and compared here; a printed quotient is 0/0
    if not is_infinite:
        return False
    root = claim.derivation.root
    if question.second is not None or _plays(root, "direction"):
        norms = [node for node in toposort([claim.node, root]) if _is_norm(node)]
        if _has_zero(norms, data, point.sizes):
            return True  # documented: the second derivative of a norm at 0, and the derivative of a direction
    if question.second is not None and _slope_jumps(root, question, data, point.sizes):
        return True  # the first derivative jumps, as that of the largest of equal singular values
    return has_no_value_inside(root, data, point.sizes)


def _slope_jumps(root: Node, question: Question, data: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    """Whether the derivative of a node along the first directions of a question jumps at data."""
    directions = question.first or {}
    moving = [node for node in toposort([root]) if node.kind == "symbol" and node.name in directions]
    tangents = {x: symbol(_name(k), x.shape) for k, x in enumerate(moving)}
    along = {tangents[x].name: directions[x.name] for x in moving}
    return jumps_inside(pushforward(root, tangents), {**data, **along}, sizes)


def _plays_itself(node: Node, role: str) -> bool:
    return node.kind == "op" and node.rule.role == role


def _is_norm(node: Node) -> bool:
    """Whether an operation is even and of degree 1, as norms are: its slope jumps at 0."""
    return node.kind == "op" and node.rule.degree == 1 and node.rule.parity == "even"


def _plays(root: Node, role: str) -> bool:
    """Whether an operation of this role is in a node."""
    return any(_plays_itself(node, role) for node in toposort([root]))


def _has_zero(nodes: Sequence[Node], data: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    found = evaluated(nodes, data, sizes)
    return found is not None and any(not np.all(value) for value in found)


def _is_finite_inside(root: Node, data: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    """Whether all parts of a node are finite."""
    found = evaluated(toposort([root]), data, sizes)
    return found is not None and all(np.all(np.isfinite(value)) for value in found)


def has_no_value_inside(root: Node, data: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    """Whether a part of a formula has no value or jumps, and is not left out by a condition or a mask of entries.

    Conditions and masks leave out entries of elementwise parts. An operation on matrices mixes entries, so that a part
    without a value inside it reaches all of them.
    """
    nodes = toposort([root])
    found = evaluated(nodes, data, sizes)
    if found is None:
        return False
    values = dict(zip(nodes, found, strict=True))
    infinite = {node for node, value in values.items() if not np.all(np.isfinite(value))}
    for node in nodes:
        if node in infinite and node.structural:
            return True  # at these sizes, for all data: 1/(n - 1) of one entry
        if any(arg in infinite for arg in node.args):
            if node.kind == "op" or (node not in infinite and not _leaves_out(node)):
                return True
        elif _has_domain(node) and (_is_outside(node, values, sizes) or _jumps(node, values, sizes)):
            return True
    return False


def _has_domain(node: Node) -> bool:
    """Whether a node is an operation or an elementwise function, and neither a condition nor a declared jump."""
    return node.kind == "op" or (
        node.kind == "map" and not (node.rule.jumps or node.rule.annihilates or _is_condition(node))
    )


def _leaves_out(node: Node) -> bool:
    """Whether a node is a condition, or a product with a mask or a condition: it may leave out parts without value."""
    return _is_condition(node) or is_masked(node) or bool(node.kind == "product" and switches_of(node))


def _is_condition(node: Node) -> bool:
    return node.kind == "map" and (node.rule.overload or "")[-1:] in COMPARISONS


def _is_outside(node: Node, values: Mapping[Node, Array], sizes: Mapping[str, int]) -> bool:
    """Whether the operands of an operation are outside the bounds that its domain states, such as `p > 0`."""
    for condition in _bounds(node):
        found = evaluated([condition], {_name(k): values[arg] for k, arg in enumerate(node.args)}, sizes)
        if found is not None and not np.all(found[0]):
            return True
    return False


@cached_on_node
def _bounds(node: Node) -> tuple[Node, ...]:
    """Return the comparisons in the domain of an operation, over symbols for its operands."""
    named = {template_parameter(node, k).name: symbol(_name(k), arg.shape) for k, arg in enumerate(node.args)}
    found = []
    for part in (node.rule.domain or "").split(", "):
        try:
            found.append(build_formula(f"{spelled('choice')}({part}, 1, 0)", (), default_rulebook(), named))
        except MatcalcError:
            continue  # a condition in words
    return tuple(found)


def _name(k: int) -> str:
    return f"operand_{k}"


def rounding_decides(
    root: Node, point: Point, symbols: Sequence[Node], extra: Mapping[str, Array] = MappingProxyType({})
) -> bool:
    """Whether rounding alone decides on which side of a jump of a function or operation inside a node its operands are.

    Then the function has another value at data nearby, where its operands, or what it compares, are the same up to
    rounding. An operand that is at a jump by its data moves with the data.
    """
    jumping = [node for node in toposort([root]) if node.kind in ("map", "op")]
    parts = [*jumping, *(arg for node in jumping for arg in node.args)]
    nearby = ({**nudged(point, symbols, NEARBY, seed), **extra} for seed in range(CHANGES))
    found = [evaluated(parts, data, point.sizes) for data in nearby]
    if any(values is None for values in found):
        return False
    near = {part: np.stack([values[k] for values in found if values]) for k, part in enumerate(parts)}
    for node in jumping:
        rounding = max((rounding_error(arg, {**point.data, **extra}, point.sizes) for arg in node.args), default=0.0)
        operands = [near[arg] for arg in node.args]
        if node.kind == "map":
            operands = [x.reshape(CHANGES, *[1] * (near[node].ndim - x.ndim), *x.shape[1:]) for x in operands]
        with np.errstate(all="ignore"):
            compared = [operands[0] - operands[1]] if _is_condition(node) else operands
            is_still = [np.abs(x - x[0]).max(axis=0) <= rounding for x in compared]
            is_still = is_still if node.kind == "map" else [np.array(all(map(np.all, is_still)))]
            jumps = np.abs(near[node] - near[node][0]).max(axis=0) > JUMP * (1 + np.abs(near[node][0]))
        if np.any(jumps & np.logical_and.reduce(is_still)):
            return True
    return False


def differences_cross_jumps(root: Node, point: Point, symbols: Sequence[Node]) -> bool:
    """Whether a rounded part of a formula has other values at data nearby, as the floor of a steep quotient has.

    Differences then measure how often it jumps; its derivative is that beside the jumps.
    """
    parts = [node for node in toposort([root]) if _is_rounded(node)]
    at = evaluated(parts, point.data, point.sizes) if parts else None
    for seed in range(CHANGES if at else 0):
        near = evaluated(parts, nudged(point, symbols, DIFFERENCE, seed), point.sizes)
        if at and near and not all(map(np.array_equal, at, near)):
            return True
    return False


def _is_rounded(node: Node) -> bool:
    """Whether a node is a map with the derivative 0 and without a stated jump: a floor, a whole quotient."""
    return node.kind == "map" and not node.rule.jumps and {*node.rule.derivative.values()} == {"0"}


def jumps_inside(root: Node, data: Mapping[str, Array], sizes: Mapping[str, int]) -> bool:
    """Whether an operation inside a node jumps at its operands, as the median at equal entries: rounding decides."""
    nodes = toposort([root])
    found = evaluated(nodes, data, sizes)
    if found is None:
        return False
    values = dict(zip(nodes, found, strict=True))
    return any(_has_domain(node) and _jumps(node, values, sizes) for node in nodes)


def _jumps(node: Node, values: Mapping[Node, Array], sizes: Mapping[str, int]) -> bool:
    """Whether an operation jumps at its operands: a small change of them makes a large change of its value."""
    symbols = [symbol(_name(k), arg.shape) for k, arg in enumerate(node.args)]
    moved = substitute(node, dict(zip(node.args, symbols, strict=True)))
    rng = np.random.default_rng(SEED_OF_JUMPS)
    at = values[node]
    for _ in range(CHANGES):
        data = {
            s.name: values[arg] + CHANGE * rng.standard_normal(values[arg].shape) * (1 + np.abs(values[arg]))
            for s, arg in zip(symbols, node.args, strict=True)
        }
        found = evaluated([moved], data, sizes)
        if found is not None and largest(found[0] - at) > JUMP * (1 + largest(at)):
            return True
    return False
