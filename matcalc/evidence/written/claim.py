"""What is claimed of a result."""

from __future__ import annotations

from typing import NamedTuple

from matcalc.evidence.explain.derivation import Derivation
from matcalc.tensor.node import Node


class Claim(NamedTuple):
    """That `node` is what a derivation says it is, of the formula that the derivation begins with."""

    node: Node
    derivation: Derivation
    label: str
