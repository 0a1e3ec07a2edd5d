"""One case: an input of a rule with directions, and the truth of each kind of answer there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matcalc.evidence.precise.arithmetic import Array
from matcalc.rulelab.rule_point import Point

JSON = dict[str, "JSON"] | list["JSON"] | str | float | None
Answer = Array | Exception
"""The answer of a library: numbers or an error."""
KINDS = ("value", "jvp", "vjp", "second")


@dataclass
class Case:
    """`truth[kind]` is a pair of arrays, high and low parts; with `entrywise` each entry is a problem of its own."""

    rule: str
    output: str
    wrt: str
    regime: str
    entrywise: bool
    data: dict[str, Array]
    facts: dict[str, tuple[str, ...]]
    plain: dict[str, object]
    G: Array
    dX: Array
    V: Array
    truth: dict[str, tuple[Array, Array]]
    point: Point | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Everything that compiled code depends on; the numbers are not part of it."""
        shapes = tuple((name, np.shape(a)) for name, a in self.data.items())
        return self.rule, shapes, tuple(map(str, self.plain.values()))
