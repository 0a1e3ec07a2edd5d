"""Convexity of tr(f(X)): that of f as a function of numbers, the eigenvalues of X (Davis 1957)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matcalc.evidence.explain.reasons import written
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import symbol
from matcalc.tensor.node import Indices, Node
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.substitute import substitute

Prove = Callable[[Node, Sequence[Node], str], list[str] | None]


def trace_of_function(node: Node, at: Indices, prove: Prove) -> tuple[str, list[str], Node] | None:
    """Return how tr(f(X)) bends in X, the lines of a proof, and X; None for what is no such trace or not known."""
    is_function = node.kind == "op" and node.rule.calculus is True and node.rank == 2
    if not is_function or len(node.args) != 1 or len(set(at)) != 1:
        return None
    (matrix,), (body,) = node.args, node.params
    facts = ["positive"] if "spd" in matrix.facts else ["nonnegative"] if "psd" in matrix.facts else []
    x = symbol("x", (), facts)
    of_number = substitute(body, {parameter(): x})
    for way in ("convex", "concave"):
        lines = prove(of_number, [x], way)
        if lines is not None:
            trace = spelled("diagonal_trace")
            head = f"{trace}({written(node)}) is {way}, as {written(of_number)} is in its eigenvalues x"
            return way, [head, *lines], matrix
    return None
