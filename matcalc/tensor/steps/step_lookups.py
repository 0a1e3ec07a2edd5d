"""Takes lookups at an index of the step out of a step: `W[i[t], :]` is the sequence `W[i, :]` at `t`.

So a step has no index of its own. A state is multiplied by a row of the identity: `x[t, i[t]]` is the product
`x[t]'*eye(n)[i[t], :]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matcalc.tensor.constructors import product
from matcalc.tensor.lookups import is_index, is_lookup
from matcalc.tensor.nodes.node import Node, Operand, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.lookup_groups import group_of, taken_together
from matcalc.tensor.steps.one_step import Step, at_all_steps
from matcalc.tensor.substitute import rebuild, substitute


def lookups_as_sequences(
    bodies: Sequence[Node], states: Sequence[Node], sequences: Mapping[Node, Node], length: Size
) -> tuple[list[Node], dict[Node, Node]]:
    """Return bodies without lookups at indices of the step, and their sequences by the symbols of slices."""
    indices = {own for own in sequences if is_index(own)}
    if indices.isdisjoint(toposort(bodies)):
        return list(bodies), dict(sequences)
    step, bound = Step(), {*states, *sequences}
    step.avoid([*bodies, *sequences])

    def is_own(node: Node) -> bool:
        return is_lookup(node) and not indices.isdisjoint(toposort(node.args))

    def sequence_of(node: Node) -> Node:
        return step.slice(at_all_steps(node, {**sequences, **step.sequences}, length), 0)

    def is_fixed(operand: Operand) -> bool:
        return bound.isdisjoint(toposort(operand[0]))

    def without_groups(node: Node) -> Node:
        while node.kind == "product":
            own = [at[0] for arg, at in node.operands if is_own(arg)]
            groups = (group_of(node, source, lambda o: is_own(o[0]), is_fixed) for source in own)
            group = next((one for one in groups if one), None)
            if group is None:
                break
            (part, out), rest = taken_together(node, group)
            node = product(node.coef, [*rest, (sequence_of(part), out)], node.out, node.sizes)
        return node

    made = rebuild(bodies, without_groups)
    rows = {node: sequence_of(node) for node in toposort(made) if is_own(node)}
    made = [substitute(body, rows) for body in made]
    read = set(toposort(made))
    return made, {own: whole for own, whole in {**sequences, **step.sequences}.items() if own in read}
