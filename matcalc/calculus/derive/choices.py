"""Combines two choices from one vector, such as the index of its largest entry, before ties are shared.

`max_at(x)` is 1/k at each of k largest entries. If the tie is broken, it is 1 at one of them and 0 at the others. So
the mean of `max_at(x)*max_at(x)'` is diagonal, and that of `max_at(x)*min_at(x)'` is 0 on the diagonal. The field
`choices` of a rule states these means.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.calculus.derive.jumps import Key
from matcalc.calculus.templates import choice_template
from matcalc.tensor.constructors import operate, product
from matcalc.tensor.nodes.node import Indices, Node
from matcalc.tensor.substitute import Batched, instantiate, spread
from matcalc.tensor.sums import split_coef


def is_choice(node: Node) -> bool:
    """Whether a node is an operation that chooses entries of a vector."""
    return node.kind == "op" and bool(node.rule.choices) and node.rank == node.batch_rank + 1


def chosen_from(node: Node, at: Indices) -> Key:
    """Return the key of choices from one vector: the choice from it or from its negative, at its batch indices."""
    coef, rest = split_coef(node.args[0])
    upright = operate(node.rule, [rest], node.params, node.batches, node.output, node.shape[: node.batch_rank])
    return (upright if coef < 0 else node), at[: node.batch_rank]


def chosen_together(node: Node, positions: Sequence[int]) -> Node:
    """Return a product with the first two choices from one vector replaced by their mean."""
    keys = [chosen_from(*node.operands[k]) for k in positions]
    one, other = next((a, b) for a, key in enumerate(keys) for b in range(a + 1, len(keys)) if keys[b] == key)
    (first, at), (second, beside) = node.operands[positions[one]], node.operands[positions[other]]
    template = choice_template(first, "same" if first is second else "opposite")
    own = tuple(range(first.batch_rank))
    lengths = first.shape[: first.batch_rank]
    bound = {s: Batched(arg, b) for s, arg, b in zip(template.args, first.args, first.batches, strict=True)}
    mean = spread(instantiate(template.node, bound, template.sizes(first), lengths), own, lengths)
    rest = [term for k, term in enumerate(node.operands) if k not in (positions[one], positions[other])]
    return product(node.coef, [*rest, (mean, (*at, beside[-1]))], node.out, node.sizes)
