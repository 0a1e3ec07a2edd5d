"""Computes matcalc's answers at degenerate inputs."""

from __future__ import annotations

import warnings

import numpy as np

import matcalc as mc
from benchmarks.accuracy.case import Answer
from benchmarks.edges.inputs import Edge

SHAPE = ("scalar", "vector({})", "matrix({})")


class Ours:
    """Compiled for a target."""

    def __init__(self, target: str) -> None:
        self.target = target

    def of(self, edge: Edge) -> dict[tuple[str, str], Answer]:
        """Return (argument, kind) -> derivative or error."""
        return {key: self._answer(edge, *key) for key in edge.expected}

    def _answer(self, edge: Edge, wrt: str, kind: str) -> Answer:
        try:
            if kind == "vjp":
                formula = mc.vjp(edge.text, wrt, cotangent="G_", declarations=edge.let)
            else:
                shape = np.shape(edge.G)
                let = f"{edge.let}; G_: {SHAPE[len(shape)].format(', '.join(map(str, shape)))}"
                weighted = f"sum(G_ .* ({edge.text}))" if shape else f"G_*({edge.text})"
                formula = mc.hvp(weighted, wrt, vector="V_", declarations=let)
            made = mc.compile([formula], target=self.target)
            values = {**edge.data, "G_": edge.G, "V_": edge.direction(wrt)}
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = made(*(values[name] for name in made.args))
            return result[0] if isinstance(result, tuple | list) else result
        except (np.linalg.LinAlgError, mc.MatcalcError) as error:
            return error
