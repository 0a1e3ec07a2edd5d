"""Why a scalar is never negative, in words: what the axis of its mirror image is, or the signs of its factors."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import diag_matrix, hadamard
from matcalc.tensor.mirror import Joint, Mirror
from matcalc.tensor.node import Node

NOT_NEGATIVE = "none of its factors is negative"


def nonnegative(node: Node) -> str | None:
    """Return why a scalar is never negative, in words; None where that is not known."""
    if not node.range.nonnegative:
        return None
    if node.kind != "product" or node.coef <= 0:
        return NOT_NEGATIVE
    if not any(node.indices):
        return "a square" if all(node.args.count(a) % 2 == 0 for a in node.args) else NOT_NEGATIVE
    found = node.ground
    if not isinstance(found, Mirror) or all(len(at) < 2 for at in node.indices):
        return NOT_NEGATIVE
    return _words([_shown(j) for j in found.axis if any(j)], found.is_cycle)


def _words(reasons: Sequence[str], is_cycle: bool) -> str:
    if not reasons:
        return "a sum of squares"
    names = [r.replace("P", letter, 1) for r, letter in zip(reasons, "PQ", strict=False)]
    form = "P*B'*Q*B" if is_cycle and len(reasons) > 1 else "B'*P*B"
    form = f"{spelled('diagonal_trace')}({form})" if is_cycle else form
    return f"of the form {form} with {' and '.join(names)}"


def _shown(joint: Joint) -> str:
    """Return what stands on the axis, and what is known of it."""
    if joint.is_edge:
        return f"P = {text(formula_of(hadamard(*(a for a, _ in joint.edge))))} positive semidefinite"
    return f"P = {text(formula_of(diag_matrix(hadamard(*joint.weights))))} >= 0"
