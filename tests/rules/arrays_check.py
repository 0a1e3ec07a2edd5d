"""Every rule on a target of a framework's arrays: value, adjoint, second derivative, against plain evaluation.

A rule is compiled whole; where the target refuses that, its value and adjoint, then its value alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from rules.compiled_check import Case, Group, compiled_of

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotDifferentiable, NotSupported
from matcalc.evidence.numeric.finding import REFUSED, distance, largest

EXACT = 1e-12


@dataclass(frozen=True)
class Tried:
    """How far one case of a rule came: what was compiled, the refusal of the rest, the worst relative error."""

    name: str
    depth: str
    refusal: str
    error: float
    where: str = ""


def tried(case: Case, target: str, give: Callable[[Any], Any]) -> Tried:
    """Return how a case fares on a target; `give` makes an argument of an array."""
    refusal = ""
    for depth, without in (("all", ()), ("adjoint", ("the second",)), ("value", ("the second", "the adjoint"))):
        some = replace(case, outputs=tuple(out for out in case.outputs if not out[0].startswith(without or ("-",))))
        try:
            function = compiled_of([some], target)
        except (NotSupported, NotDifferentiable) as error:
            refusal = refusal or error.message
            continue
        worst, where = _error(some, function, give)
        return Tried(case.tag, depth, refusal, worst, where)
    return Tried(case.tag, "", refusal, 0.0)


def _error(case: Case, function: Any, give: Callable[[Any], Any]) -> tuple[float, str]:
    data = case.data(case.at)
    try:
        wanted = [np.asarray(a) for a in evaluate([node for _, node in case.outputs], data, case.lengths(case.at))]
    except REFUSED:
        return 0.0, "no value here"
    group = Group((case,), lambda **given: function(**{n: give(a) for n, a in given.items()}), function.args)
    found = [np.asarray(a) for a in group.call(case, case.at, data)]
    worst, where = 0.0, ""
    for (what, _), one, other in zip(case.outputs, found, wanted, strict=True):
        if one.shape != other.shape:
            return np.inf, f"{what}: shape {one.shape}, not {other.shape}"
        if not np.all(np.isfinite(other)):
            continue
        scale = max(largest(other), 1e-6 * max(largest(w) for w in wanted if np.all(np.isfinite(w))), 1e-300)
        error = distance(one, other) / scale
        if not error <= worst:
            worst, where = error, what
    return worst, where
