"""Substitutes in a DAG: nodes that may carry batch axes for symbols, and sizes for size names.

Rule formulas are compiled once, unbatched, over symbols; such a template is instantiated here. A bound node carries
its batch axes in front. The result of each template node carries the union of its operands' batch axes, so one
template serves gradients, Jacobians and reductions along an axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from matcalc.errors import NotSupported, ShapeError
from matcalc.rulebook.rule import Rule
from matcalc.tensor.constructors import add, apply, operate, product, selector_alone, size_number, symbol
from matcalc.tensor.lookups import can_index, looked_up
from matcalc.tensor.nodes.node import Indices, Node, toposort
from matcalc.tensor.raw_nodes import op_node
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size

UNKNOWN = "#"
"""The prefix of the name of a bound unknown, which no user's name has: `#1`, `#2`, ... from the inside out."""


class Batched(NamedTuple):
    """A node whose leading axes are the batch positions `batch`, increasing."""

    node: Node
    batch: Indices = ()


def substitute(root: Node, nodes: Mapping[Node, Node], sizes: Mapping[str, Size] | None = None) -> Node:
    """Return `root` with symbols, or other nodes, replaced by nodes of their shape and size names by sizes."""
    bound = {old: Batched(new) for old, new in nodes.items()}
    return instantiate(root, bound, sizes or {}, ()).node


def instantiate(
    root: Node, symbols: Mapping[Node, Batched], sizes: Mapping[str, Size], batch_sizes: Sequence[Size]
) -> Batched:
    """Return the template `root` with its symbols bound; the result's batch is the union of the batches it uses.

    Shapes: a bound node has its batch axes, then the symbol's shape under `sizes`.
    """
    return instantiate_all([root], symbols, sizes, batch_sizes)[0]


def instantiate_all(
    roots: Sequence[Node],
    symbols: Mapping[Node, Batched],
    sizes: Mapping[str, Size],
    batch_sizes: Sequence[Size],
) -> list[Batched]:
    """Return several templates instantiated under one binding; shared nodes are made once, unchanged ones kept."""
    made = dict(symbols)
    for node in toposort(roots, symbols):
        if not sizes and all([made[arg].node is arg and not made[arg].batch for arg in node.args]):
            made[node] = Batched(node)
        else:
            made[node] = INSTANTIATE[node.kind](node, made, sizes, batch_sizes)
    return [made[root] for root in roots]


Made = Mapping[Node, Batched]
Sizes = Mapping[str, Size]


def spread(value: Batched, batch: Indices, batch_sizes: Sequence[Size]) -> Node:
    """Return the node with all batch axes of `batch` in front, broadcast along those that it lacks."""
    if value.batch == batch:
        return value.node
    count = len(batch)
    rank = len(value.node.shape) - len(value.batch)
    core = tuple(range(count, count + rank))
    own = (*(batch.index(b) for b in value.batch), *core)
    shape = {k: batch_sizes[b] for k, b in enumerate(batch)}
    return product(1, [(value.node, own)], (*range(count), *core), shape)


def _symbol(node: Node, made: Made, sizes: Sizes, batch_sizes: Sequence[Size]) -> Batched:
    shape = tuple(s.substitute(sizes) for s in node.shape)
    return Batched(node if shape == node.shape else symbol(node.name, shape, tuple(node.data[1])))


def _selector(node: Node, made: Made, sizes: Sizes, batch_sizes: Sequence[Size]) -> Batched:
    rule = node.selector
    if node.args:
        return _lookup(made[node.args[0]], rule.shape[0].substitute(sizes))
    shape = tuple(s.substitute(sizes) for s in rule.shape)
    return Batched(selector_alone(Selector(rule.kind, shape, rule.offset.substitute(sizes))))


def _lookup(indices: Batched, length: Size) -> Batched:
    """Return a lookup at indices that may carry batch axes, which come in front of its own axes."""
    if not can_index(indices.node):
        raise ShapeError("only an index can replace an index", hint="for one entry write its number, as in  x[2]")
    axes, count = tuple(range(1, indices.node.rank + 1)), len(indices.batch)
    out = (*axes[:count], 0, *axes[count:])
    return Batched(product(1, [looked_up(indices.node, length, 0, axes)], out), indices.batch)


def _product(node: Node, made: Made, sizes: Sizes, batch_sizes: Sequence[Size]) -> Batched:
    values = [made[a] for a in node.args]
    batch = union(values)
    count = len(node.index_sizes)
    axis_of = {b: count + k for k, b in enumerate(batch)}
    operands = [(v.node, (*(axis_of[b] for b in v.batch), *at)) for v, at in zip(values, node.indices, strict=True)]
    lengths = {k: s.substitute(sizes) for k, s in enumerate(node.index_sizes)}
    lengths.update({axis_of[b]: batch_sizes[b] for b in batch})
    return Batched(product(node.coef, operands, (*axis_of.values(), *node.out), lengths), batch)


def _sum(node: Node, made: Made, sizes: Sizes, batch_sizes: Sequence[Size]) -> Batched:
    values = [made[a] for a in node.args]
    batch = union(values)
    terms = [(c, spread(v, batch, batch_sizes)) for c, v in zip(node.coefs, values, strict=True)]
    return Batched(add(terms), batch)


def _map(node: Node, made: Made, sizes: Sizes, batch_sizes: Sequence[Size]) -> Batched:
    values = [made[a] for a in node.args]
    batch = union(values)
    args = [spread(v, batch, batch_sizes) for v in values]
    return Batched(apply(node.rule, args, _params(node, sizes)), batch)


def _op(node: Node, made: Made, sizes: Sizes, batch_sizes: Sequence[Size]) -> Batched:
    if node.rule.kind == "implicit":
        return Batched(_solution(node, made, sizes))
    values = [made[a] for a in node.args]
    outer = union(values)
    own = node.batch_rank
    shift = len(outer)
    position_of = {b: k for k, b in enumerate(outer)}
    batches = [
        (*(position_of[b] for b in v.batch), *(shift + b for b in carried))
        for v, carried in zip(values, node.batches, strict=True)
    ]
    inner_sizes = [node.shape[k].substitute(sizes) for k in range(own)]
    lengths = [*(batch_sizes[b] for b in outer), *inner_sizes]
    made_node = operate(node.rule, [v.node for v in values], _params(node, sizes), batches, node.output, lengths)
    return Batched(made_node, outer)


def _solution(node: Node, made: Made, sizes: Sizes) -> Node:
    """Return the solution of an equation with its symbols replaced, inside the equation too.

    Raises: NotSupported for symbols that carry batch axes.
    """
    equation, unknown = node.params
    start, *others = node.args
    if any(made[arg].batch for arg in node.args):
        raise NotSupported(f"{node.rule.spelling} of tensors over outer indices", hint="solve for each index by itself")
    if any(made[s].node is not s for s in others) or (sizes and any(set(s.names) & set(sizes) for s in unknown.shape)):
        inner = _bound_numbers([equation, *(made[s].node for s in others)])
        apart = symbol(f"{UNKNOWN}{max(inner, default=0) + 1}", unknown.shape)
        renamed = instantiate(equation, {unknown: Batched(apart)}, {}, ()).node
        bound = {s: made[s] for s in others}
        equation = instantiate(renamed, bound, sizes, ()).node
        unknown = instantiate(apart, {}, sizes, ()).node
    return solution(node.rule, equation, unknown, made[start].node)


def solution(rule: Rule, equation: Node, unknown: Node, start: Node) -> Node:
    """Return the solution of equation = 0 for the symbol `unknown`, searched from `start`.

    The equation is a closed parameter: its unknown is renamed, so that solutions equal up to renaming are one node. The
    other symbols in it are the arguments after `start`. So the solution is differentiated in them like any operation,
    and the unknown is not a symbol of the result.

    Shapes: equation, unknown, start and result have the same shape.
    """
    nodes = toposort(equation)
    inner = max((_number_of(n.params[1]) for n in nodes if n.kind == "op" and n.rule.kind == "implicit"), default=0)
    free = {_number_of(n) for n in nodes if n.kind == "symbol" and n is not unknown}
    number = next(k for k in range(inner + 1, inner + len(free) + 2) if k not in free)
    bound = symbol(f"{UNKNOWN}{number}", unknown.shape)
    if bound is not unknown:
        equation = instantiate(equation, {unknown: Batched(bound)}, {}, ()).node
    others = [n for n in toposort(equation) if n.kind == "symbol" and n is not bound]
    args = (start, *sorted(others, key=lambda n: (n.name, n.digest)))
    return op_node(rule, (equation, bound), args, [()] * len(args), rule.outputs[0], unknown.shape, 0)


def _number_of(node: Node) -> int:
    """Return the number of a bound unknown, 0 for any other symbol."""
    text = node.name.removeprefix(UNKNOWN)
    return int(text) if text != node.name and text.isdecimal() else 0


def _bound_numbers(nodes: Sequence[Node]) -> list[int]:
    """Return the numbers of the unknowns in nodes, free or bound."""
    found = []
    for n in toposort(nodes):
        if n.kind == "symbol":
            found.append(_number_of(n))
        elif n.kind == "op" and n.rule.kind == "implicit":
            found.append(_number_of(n.params[1]))
    return found


def union(values: Sequence[Batched]) -> Indices:
    """Return the batch positions of several values."""
    return tuple(sorted({b for v in values for b in v.batch}))


def _params(node: Node, sizes: Sizes) -> tuple[Any, ...]:
    return tuple(p.substitute(sizes) if isinstance(p, Size) else p for p in node.params)


INSTANTIATE: dict[str, Callable[[Node, Made, Sizes, Sequence[Size]], Batched]] = {
    "symbol": _symbol,
    "number": lambda node, made, sizes, batch_sizes: Batched(node),
    "constant": lambda node, made, sizes, batch_sizes: Batched(node),
    "size": lambda node, made, sizes, batch_sizes: Batched(size_number(node.size.substitute(sizes))),
    "selector": _selector,
    "product": _product,
    "sum": _sum,
    "map": _map,
    "op": _op,
}


def remake(node: Node, made: Mapping[Node, Node]) -> Node:
    """Return a node with its operands replaced by `made`, through the constructors; itself if none changes."""
    if all(made[a] is a for a in node.args):
        return node
    return INSTANTIATE[node.kind](node, {a: Batched(made[a]) for a in node.args}, {}, ()).node


def rebuild(roots: Sequence[Node], change: Callable[[Node], Node]) -> list[Node]:
    """Return the roots with each node changed once, after its operands."""
    made: dict[Node, Node] = {}
    for node in toposort(roots):
        made[node] = change(remake(node, made))
    return [made[root] for root in roots]
