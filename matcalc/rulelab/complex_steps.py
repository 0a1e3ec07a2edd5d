"""Tests that the complex steps of a value are its derivatives: the built-in check relies on them, unless `real`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from matcalc.evidence.numeric.differences import Line, by_complex_step, slope
from matcalc.evidence.numeric.differences import Slope as Reference
from matcalc.rulelab.finding import NUMERIC, Array, Finding, Slope, distance, is_finite, location, norm, value_or_none
from matcalc.rulelab.rule_point import Point


def complex_step(at: Point, s: Slope, along: Line, reference: Reference, data: str = "") -> Iterator[Finding]:
    """Compare the complex step along a line with a reference. `data` describes the arguments."""
    found = None if at.rule.real else by_complex_step(along, reference.value.shape)
    if found is None or not np.all(np.isfinite(reference.value)):
        return
    size = max(norm(reference.value), norm(found), 1e-300)
    what = f"the complex step of {s.output or 'the value'} in {data}{s.name} (if it must be so: real = true)"
    bound = max(NUMERIC, 100 * reference.error / size)
    yield Finding(what, "value", distance(found, reference.value) / size, bound, location(at))


def complex_steps(at: Point, value: Mapping[str, Array], found: Sequence[Slope]) -> Iterator[Finding]:
    """Test complex steps at positive definite arguments: many functions of matrices have a branch for these."""
    rng = np.random.default_rng([59, *at.rule.name.encode()])
    for s in found:
        array = at.data[s.name]
        if at.rule.real or array.ndim != 2 or array.shape[0] != array.shape[1]:
            continue
        here = replace(at, data={**at.data, s.name: array @ array.T + np.eye(len(array))})
        there = value_or_none(here)
        if there is None or not is_finite(there):
            continue
        E = np.asarray(rng.standard_normal(array.shape))
        for name, direction in (("", E), ("symmetric ", E + E.T)):

            def along(t: Any, here: Point = here, E: Array = direction, s: Slope = s) -> Array:
                return here.value({s.name: here.data[s.name] + t * E})[s.output]

            data = f"positive definite, {name}".strip(", ") + " "
            yield from complex_step(here, s, along, slope(along), data)
