"""Reads the option `checkpoints` of compiled functions."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.targets import SAVED
from matcalc.errors import NotSupported
from matcalc.pipeline.requests import Request
from matcalc.tensor.nodes.node import Node, toposort


def checkpoints_of(request: Request, nodes: Sequence[Node]) -> int | None:
    """Return the most states that recurrences may store: 0 for twice the square root of their steps, None for all.

    Raises: ValueError for another option; NotSupported without a recurrence, or for a target
        whose memory cannot depend on the number of steps.
    """
    given = request.checkpoints
    if given is None:
        return None
    is_number = isinstance(given, int) and not isinstance(given, bool) and given > 0
    if given != "sqrt" and not is_number:
        raise ValueError(f'checkpoints is a positive integer or "sqrt", not {given!r}')
    if request.target in SAVED and not is_number:
        raise NotSupported(
            f"the target {request.target} allocates as much memory as its sizes tell",
            hint="give checkpoints as a number",
        )
    if not any(node.kind == "recurrence" for node in toposort(nodes)):
        raise NotSupported(
            "checkpoints bound the stored states of recurrences, and these formulas have none",
            hint="omit checkpoints, or write the loop as a recurrence: x[0] = x0, x[t+1] = A*x[t], t < T",
        )
    return given if isinstance(given, int) else 0
