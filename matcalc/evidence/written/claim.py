"""Claims: the statements that the check compares with the reference."""

from __future__ import annotations

from typing import NamedTuple

from matcalc.evidence.explain.derivation import Derivation
from matcalc.tensor.nodes.node import Node


class Claim(NamedTuple):
    """The claim that `node` has the meaning in `derivation`: a value or derivative of the derivation's root.

    `is_called`: a call evaluates this node, and not another form of it.
    """

    node: Node
    derivation: Derivation
    label: str
    is_called: bool = True
