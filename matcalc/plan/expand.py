"""What is decided on nodes before anything is lowered: expansions, facts by use, what must be formed.

An operation whose lowering is a formula (`becomes`) is replaced by it, so that its factorisations are shared.
What a use implies about a matrix (it stands under `chol`, or is a Gram matrix under an inverse) holds for all its
uses in this plan, and is never a fact of the node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from matcalc.facts import closure
from matcalc.node import Node
from matcalc.plan.entries import Lowerings

DOMAIN = re.compile(r"(\w+)\((\w+)\)")


def expand(roots: Sequence[Node], lowerings: Lowerings) -> list[Node]:
    """Return the roots with operations replaced by the formulas that they become."""
    return list(roots)


def implied_facts(nodes: Sequence[Node]) -> Mapping[Node, frozenset[str]]:
    """Return what the uses of matrices say about them: the domain of each operation, as its rule states it."""
    found: dict[Node, set[str]] = {}
    for node in nodes:
        if node.kind != "op" or node.batch_rank:
            continue
        tensors = [p for p in node.rule.signature.parameters if p.kind not in ("integer", "function")]
        by_name = {p.name: arg for p, arg in zip(tensors, node.args, strict=False)}
        for parameter in tensors:
            if parameter.name in by_name:
                found.setdefault(by_name[parameter.name], set()).update(parameter.facts)
        for fact, name in DOMAIN.findall(node.rule.domain or ""):
            if name in by_name:
                found.setdefault(by_name[name], set()).add(fact)
    return {node: closure(node.facts | facts) - node.facts for node, facts in found.items()}


def must_form(nodes: Sequence[Node], outputs: Sequence[Node], form_all: bool) -> frozenset[Node]:
    """Return the operations that are formed even if kernels could take them as factors: outputs, and operands
    of anything but a product of matrices."""
    formed = set(outputs)
    for node in nodes:
        if node.kind != "product":
            formed.update(node.args)
    if form_all:
        formed.update(n for n in nodes if n.kind == "op")
    return frozenset(formed)
