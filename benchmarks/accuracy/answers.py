"""Computes matcalc's answers to a case: value, JVP, VJP and second derivative, as one compiled function per target."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

import matcalc as mc
from benchmarks.accuracy.case import KINDS, Answer, Case
from benchmarks.accuracy.inputs import OWN
from matcalc.evidence.precise.arithmetic import Array

KIND = ("scalar", "vector({})", "matrix({})", "tensor({})", "tensor({})")

T = TypeVar("T")
Made = Callable[[Mapping[str, Array]], Array] | Exception
"""A compiled function of the values by name, or the reason why there is none."""


class Answers:
    """Compiled functions by key, compiled on first use."""

    def __init__(self, target: str = "numba") -> None:
        self.target = target
        self.known: dict[tuple[object, ...], dict[str, Made]] = {}

    def of(self, case: Case) -> dict[str, Answer]:
        """Return kind -> answer or error."""
        key = (case.key, case.output, case.wrt)
        if key not in self.known:
            self.known[key] = compiled(case, self.target)
        return {kind: self._run(made, case) for kind, made in self.known[key].items()}

    def _run(self, made: Made, case: Case) -> Answer:
        if isinstance(made, Exception):
            return made
        values = {**case.data, "G_": case.G, "dX_": case.dX, "V_": case.V}
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return made(values)
        except (np.linalg.LinAlgError, mc.MatcalcError) as error:
            return error


def call_of(case: Case) -> str:
    """Return the call as a user writes it."""
    at = case.point
    assert at is not None
    signature = at.rule.signatures[at.form.overload]
    written = []
    for p in signature.parameters:
        if p.repeated:
            written += [name for name in at.symbols if name.startswith(f"{p.name}_")]
        else:
            written.append(str(at.plain.get(p.name, p.name)))
    name = f"{at.rule.name}_{case.output}" if case.output else at.rule.name
    return f"{name}({', '.join(written)})"


def declarations(case: Case) -> str:
    """Return the declarations of the arguments, with the facts that the signature requires."""
    at = case.point
    assert at is not None
    facts = {p.name: p.facts for p in at.rule.signatures[at.form.overload].parameters}
    shapes = {name: np.shape(a) for name, a in case.data.items()}
    return "; ".join(
        f"{name}: {KIND[len(shape)].format(', '.join(map(str, shape)))} {' '.join(facts.get(name, ()))}"
        for name, shape in shapes.items()
    )


def compiled(case: Case, target: str) -> dict[str, Made]:
    """Return kind -> a function of the values by name, or the error of compiling."""
    call, let = call_of(case), declarations(case)
    shape = np.shape(case.truth["value"][0])
    cotangent = f"G_: {KIND[len(shape)].format(', '.join(map(str, shape)))}"
    weighted = f"sum(G_ .* ({call}))" if shape else f"G_*({call})"
    requests: dict[str, Callable[[], mc.Expression]] = {
        "value": lambda: mc.expression(call, let),
        "jvp": lambda: mc.expression(call, let).jvp(case.wrt, "dX_"),
        "vjp": lambda: mc.expression(call, let).vjp(case.wrt, "G_"),
        "second": lambda: mc.expression(weighted, f"{let}; {cotangent}").hvp(case.wrt, "V_"),
    }
    only = OWN.get(case.rule, {}).get("only")
    kinds = only or ("value",) if not case.wrt or only else KINDS[:3] if case.point.form.tangents else KINDS
    formulas = {kind: _tried(requests[kind]) for kind in kinds}
    good = {kind: f for kind, f in formulas.items() if not isinstance(f, Exception)}
    together = _tried(lambda: mc.compile(list(good.values()), target=target))
    if not isinstance(together, Exception):
        return {**formulas, **_results(together, list(good))}
    alone = {kind: _tried(lambda f=f: mc.compile([f], target=target)) for kind, f in good.items()}
    parts = {k: f if isinstance(f, Exception) else _results(f, [k])[k] for k, f in alone.items()}
    return {**formulas, **parts}


def _tried(make: Callable[[], T]) -> T | mc.MatcalcError:
    try:
        return make()
    except mc.MatcalcError as error:
        return error


def _results(function: mc.Compiled, kinds: Sequence[str]) -> dict[str, Made]:
    """Return kind -> the result at that index, as a function of the values by name."""

    def result(place: int) -> Made:
        return lambda values: function(*(values[name] for name in function.args))[place]

    return {kind: result(place) for place, kind in enumerate(kinds)}


__all__ = ["Answers"]
