"""Asks another framework for its answers to the same cases: runs peers.py under an interpreter that has the framework.

Cases and answers are lines of JSON, one at a time, which preserves numbers exactly.
"""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.accuracy.case import JSON, KINDS, Answer, Case
from matcalc.evidence.numeric.sampling import projected
from matcalc.evidence.precise.arithmetic import Array

HERE = Path(__file__).parent
PEERS = ("torch", "jax")
FORMULAS = tomllib.loads((HERE / "peers.toml").read_text(encoding="utf-8"))


class RefusedError(Exception):
    """The error text of a framework."""


class Peer:
    """A process that answers for one framework; it starts with its first case."""

    def __init__(self, name: str, python: str) -> None:
        self.name, self.python = name, python
        self.process: subprocess.Popen[str] | None = None

    def of(self, case: Case) -> dict[str, Answer]:
        """Return kind -> answer or error; nothing if the framework has no such operation."""
        if case.point is None or case.point.form.tangents:
            return {}
        formula = formula_of(self.name, case.rule, case.output, case.point.form.overload)
        if formula is None:
            return {}
        signature = case.point.rule.signatures[case.point.form.overload]
        plain = {p.name: str(case.plain[p.name]) for p in signature.parameters if p.name in case.plain}
        kinds = KINDS if case.wrt else KINDS[:1]
        given = self.ask(formula, plain, case.wrt, kinds, case.data, case.G, case.dX, case.V)
        return {kind: self._read(case, kind, found) for kind, found in given.items()}

    def ask(
        self,
        formula: str,
        plain: Mapping[str, str],
        wrt: str,
        kinds: Sequence[str],
        data: Mapping[str, Array],
        G: Array,
        dX: Array,
        V: Array,
    ) -> dict[str, JSON]:
        """Return kind -> nested lists of numbers, or the framework's error."""
        arrays = {"G": G, "dX": dX, "V": V, **{f"data {name}": a for name, a in data.items()}}
        request = {"formula": formula, "plain": plain, "wrt": wrt, "kinds": kinds}
        return self._sent({**request, **{name: np.asarray(a, dtype=float).tolist() for name, a in arrays.items()}})

    def _read(self, case: Case, kind: str, found: JSON) -> Answer:
        if isinstance(found, str):
            return RefusedError(found)
        array = np.asarray(found, dtype=float)
        facts = case.facts.get(case.wrt, ())
        if kind in ("vjp", "second") and facts and np.all(np.isfinite(array)):
            return projected(array, facts)  # their gradient is that with respect to all entries
        return array

    def _sent(self, request: dict[str, JSON]) -> dict[str, JSON]:
        if self.process is None:
            self.process = subprocess.Popen(
                [self.python, str(HERE / "peers.py"), self.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"},
            )
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} stopped at {request['formula']}")
        answer: dict[str, JSON] = json.loads(line)
        return answer


def formula_of(framework: str, rule: str, output: str, overload: int = 0) -> str | None:
    """Return the call with the framework's own names; None if it has no such operation."""
    entry = FORMULAS.get(rule, {})
    given = entry.get(framework, entry.get("both"))
    if isinstance(given, dict):
        given = given.get(output)
    if isinstance(given, list):
        given = given[overload] if overload < len(given) else None
    return given if given is None or isinstance(given, str) else None
