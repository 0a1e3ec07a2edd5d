"""Writes out recurrences of a fixed number of steps, for systems that have no loops."""

from __future__ import annotations

from matcalc.tensor.constructors import add, product
from matcalc.tensor.leading_axis import placed
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import Step, entry, summed_indices
from matcalc.tensor.steps.recurrence import arguments_of, key_of, one_row
from matcalc.tensor.substitute import Batched, instantiate_all, remake


def unrolled(root: Node) -> Node:
    """Return an equal node in which recurrences of a fixed number of steps, and sums over these, are written out."""
    return _Unroller().of(root)


class _Unroller:
    """The nodes that are written out, and the trajectories of each recurrence by its key.

    Entries are taken of the original nodes, which know what one step is, and then written out.
    """

    def __init__(self) -> None:
        self.made: dict[Node, Node] = {}
        self.trajectories: dict[tuple[object, ...], list[Node]] = {}
        self.lengths: set[Size] = set()

    def of(self, root: Node) -> Node:
        for node in toposort(root, self.made):
            if _is_fixed(node):
                self.lengths |= {node.steps, node.steps + 1}
                self.made[node] = self.trajectory(node)
            else:
                self.made[node] = self.terms(node) or remake(node, self.made)
        return self.made[root]

    def terms(self, node: Node) -> Node | None:
        """Return a product that is summed over steps as the sum of its terms; None for another node."""
        if node.kind != "product" or not self.lengths or not any(map(_is_fixed, toposort(node))):
            return None
        for index in summed_indices(node):
            size = node.index_sizes[index]
            every = product(node.coef, node.operands, (index, *node.out), node.sizes)
            if size in self.lengths and _is_along_steps(every):
                return add([(1, self.of(entry(every, Size.of(k)))) for k in range(int(size))])
        return None

    def trajectory(self, node: Node) -> Node:
        """Return a trajectory as its entries, one after the other."""
        if key_of(node) not in self.trajectories:
            self.trajectories[key_of(node)] = self.all_trajectories(node)
        return self.trajectories[key_of(node)][node.position]

    def all_trajectories(self, node: Node) -> list[Node]:
        starts, operands, _ = arguments_of(node)
        steps, states = int(node.steps), [self.made[start] for start in starts]
        rows = [[(steps if node.backward else 0, state)] for state in states]
        for number in reversed(range(steps)) if node.backward else range(steps):
            slices = [self.of(entry(operand, Size.of(number))) for operand in operands]
            bound = dict(zip((*node.states, *node.slices), map(Batched, (*states, *slices)), strict=True))
            bodies = [one.node for one in instantiate_all(node.bodies, bound, {}, ())]
            states = [self.of(body) for body in bodies]
            for row, state in zip(rows, states, strict=True):
                row.append((number if node.backward else number + 1, state))
        length = node.steps + 1
        return [add([(1, placed(one_row(state), Size.of(at), length)) for at, state in sorted(row)]) for row in rows]


def _is_fixed(node: Node) -> bool:
    return node.kind == "recurrence" and node.steps.is_integer


def _is_along_steps(node: Node) -> bool:
    """Whether the leading axis counts the steps of a recurrence that is written out."""
    step = Step()
    step.of(node, 0)
    ranges = [one for one in step.sequences.values() if one.kind == "product" and any(map(_is_slice, one.args))]
    return any(map(_is_fixed, step.sequences.values())) or any(_is_fixed(arg) for one in ranges for arg in one.args)


def _is_slice(node: Node) -> bool:
    return node.selects("slice")
