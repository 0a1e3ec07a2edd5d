"""Tests every rule on a target of a framework's arrays: value, adjoint, second derivative.

They are compared with the target `numpy` and with plain evaluation, which uses no generated code. A rule is compiled
whole. Where the target raises, its value and adjoint are compiled, then its value alone.

    python tests/rules/arrays_check.py torch [NAME ...]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (1, 2)]

from c_files import CCall
from rules.compiled_check import Case, compiled_of

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NotDifferentiable, NotSupported
from matcalc.rulelab.finding import REFUSED, distance, largest

EXACT = 1e-12
ANY_BOUND = ("radius",)
"""Rules whose values are bounds: a radius within which a series surely converges, estimated by each target."""


@dataclass(frozen=True)
class Tried:
    """The result of one case of a rule: the parts compiled, the error for the rest, the worst relative error."""

    name: str
    depth: str
    refusal: str
    error: float
    where: str = ""


def tried(case: Case, target: str, give: Callable[[Any], Any], run: Callable[[Any], Any] = lambda f: f) -> Tried:
    """Return the result of a case on a target; `give` converts an array to an argument, `run` runs compiled code."""
    refusal = ""
    for depth, without in (("all", ()), ("adjoint", ("the second",)), ("value", ("the second", "the adjoint"))):
        some = replace(case, outputs=tuple(out for out in case.outputs if not out[0].startswith(without or ("-",))))
        try:
            function = run(compiled_of([some], target))
        except (NotSupported, NotDifferentiable) as error:
            refusal = refusal or error.message
            continue
        worst, where = _error(some, function, give)
        return Tried(case.tag, depth, refusal, worst, where)
    return Tried(case.tag, "", refusal, 0.0)


def _error(case: Case, function: Any, give: Callable[[Any], Any]) -> tuple[float, str]:
    """Return the worst relative error against plain evaluation and the target `numpy`, and where it is."""
    data, lengths = case.data(case.at), case.lengths(case.at)
    try:
        plain = [np.asarray(a) for a in evaluate([node for _, node in case.outputs], data, lengths)]
    except REFUSED:
        plain = []
    given = {name: data[name] if name in data else lengths[name] for name in function.args}
    found = _flat(function(**{name: give(a) for name, a in given.items()}))
    other = _flat(compiled_of([case], "numpy")(**given))
    worst, where = 0.0, ""
    for wanted in (other, plain if case.at.rule.name not in ANY_BOUND else []):
        largest_ = [largest(a) for a in wanted if np.all(np.isfinite(a))]
        for (what, _), one, right in zip(case.outputs, found, wanted, strict=False):
            if one.shape != right.shape:
                return np.inf, f"{what}: shape {one.shape}, not {right.shape}"
            if not np.all(np.isfinite(right)):
                continue
            error = distance(one, right) / max(largest(right), 1e-6 * max(largest_), 1e-300)
            if not error <= worst:
                worst, where = error, what
    return worst, where


def _flat(results: Any) -> list[Any]:
    return [np.asarray(a) for a in (results if isinstance(results, tuple) else (results,))]


def giver(target: str) -> Callable[[Any], Any]:
    """Return a function that converts arrays to a target's arguments, in double precision."""
    if target == "c":
        return lambda a: a
    if target == "torch":
        import torch

        return lambda a: a if isinstance(a, int) else torch.tensor(np.asarray(a))
    import jax

    jax.config.update("jax_enable_x64", True)
    return lambda a: a


def runner(target: str) -> Callable[[Any], Any]:
    """Return a function that runs a target's compiled functions."""
    return CCall if target == "c" else lambda function: function


def main(target: str, names: list[str]) -> None:
    """Print the result of each rule."""
    from rules.compiled import made, rules

    for case, _, _ in made(rules(names)):
        r = tried(case, target, giver(target), runner(target))
        print(f"{r.depth or 'refused':8} {r.name:24} {r.error:.1e} {r.where} | {r.refusal}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], sys.argv[2:])
