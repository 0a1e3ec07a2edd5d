"""The two-pass form: a forward function that also gives what the backward one needs, and the backward
function.

Whatever the cotangents use without depending on the incoming one is known after the forward pass. At the
border of these nodes it is decided what to save: a node that costs kernels is saved, an entrywise one is
computed again where all that it is made of is there anyway, since reading it back costs as much as computing
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matcalc.node import Node, toposort
from matcalc.plan.compare import plan
from matcalc.program import Program
from matcalc.substitute import remake
from matcalc.tensor import symbol


@dataclass(frozen=True, slots=True)
class TwoPass:
    """Two programs. `forward` gives the values, then the arrays named in `saved`.

    `backward` takes the inputs named in `kept`, what was saved, then the incoming cotangents, and gives
    theirs.
    """

    forward: Program
    backward: Program
    kept: tuple[str, ...]
    saved: tuple[str, ...]


def plan_pullback(
    values: Sequence[tuple[str, Node]],
    cotangents: Sequence[tuple[str, Node]],
    inputs: Sequence[Node],
    incoming: Sequence[Node],
    sizes: Mapping[str, int] | None = None,
    target: str = "numba",
    folder: Path | None = None,
) -> TwoPass:
    """Return the programs of `values` and of `cotangents`, which are linear in the symbols `incoming`."""
    saved = to_save([node for _, node in cotangents], inputs, incoming)
    taken = {n.name for n in (*inputs, *incoming)} | {name for name, _ in (*values, *cotangents)}
    names: list[str] = []
    for _ in saved:
        names.append(_free(f"saved{len(names)}", taken))
        taken.add(names[-1])
    stands = {
        node: symbol(name, node.shape, sorted(node.facts)) for node, name in zip(saved, names, strict=True)
    }
    back = _exchanged([node for _, node in cotangents], stands)
    used = {n for n in toposort(back) if n.kind == "symbol"}
    kept = [n for n in inputs if n in used or _measures(n, back, [*stands.values(), *incoming])]
    forward = plan([*values, *zip(names, saved, strict=True)], inputs, sizes, target, folder)
    ends = [(name, node) for (name, _), node in zip(cotangents, back, strict=True)]
    backward = plan(ends, [*kept, *stands.values(), *incoming], sizes, target, folder)
    return TwoPass(forward, backward, tuple(n.name for n in kept), tuple(names))


def to_save(cotangents: Sequence[Node], inputs: Sequence[Node], incoming: Sequence[Node]) -> list[Node]:
    """Return the nodes that backward reads and forward is to keep, operands first."""
    order = toposort(cotangents)
    ends = set(cotangents)
    linear = set(incoming)
    for node in order:
        if any(a in linear for a in node.args):
            linear.add(node)
    border: dict[Node, None] = {}
    for node in order:
        if node in linear:
            border.update(dict.fromkeys(a for a in node.args if a not in linear))
        elif node in ends:
            border[node] = None
    there: set[Node] = set(inputs)
    saved: list[Node] = []
    for node in order:
        if node in border and node not in there and not _is_cheap(node, there):
            saved.append(node)
            there.add(node)
    return saved


def _is_cheap(node: Node, there: set[Node]) -> bool:
    """Whether a node is entrywise in what is there, numbers and re-indexings included."""
    if node.kind in ("number", "size", "selector", "constant", "symbol"):
        return True
    if node.kind == "op" or (node.kind == "product" and _sums(node)):
        return False
    return all(a in there or a.kind in ("number", "size", "selector", "constant") for a in node.args)


def _sums(node: Node) -> bool:
    return any(i not in node.out for at in node.indices for i in at)


def _exchanged(roots: Sequence[Node], stands: Mapping[Node, Node]) -> list[Node]:
    made: dict[Node, Node] = {}
    for node in toposort(roots):
        if node in stands:
            made[node] = stands[node]
        elif all(made[a] is a for a in node.args):
            made[node] = node
        else:
            made[node] = remake(node, made)
    return [made[root] for root in roots]


def _measures(node: Node, back: Sequence[Node], others: Sequence[Node]) -> bool:
    """Whether an input is needed for a size that no other argument of backward tells."""
    told = {name for n in others for size in n.shape for name in size.names}
    wanted = {name for n in back for size in n.shape for name in size.names}
    own = {name for size in node.shape for name in size.names}
    return bool(own & (wanted - told))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
