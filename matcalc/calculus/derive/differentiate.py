"""Derivatives as rewrites of the DAG: pullback (reverse) and pushforward (forward) with free batch axes.

A cotangent or tangent has batch axes in front of its node's own, so gradient, VJP and generalised Jacobian are one
function. The pullback of a product swaps one operand with the output, so products need no rule. Only maps and
operations use the rulebook, through templates compiled once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from matcalc.calculus.derive.choices import is_choice
from matcalc.calculus.derive.implicit import implicit_adjoint, implicit_tangent
from matcalc.calculus.derive.infinite_slopes import is_steep_in, switches_off, weighed_product, with_weights
from matcalc.calculus.derive.jumps import is_jump
from matcalc.calculus.derive.kinks import averaged
from matcalc.calculus.derive.recurrences import all_trajectories, groups_of, pull_recurrence, push_recurrence
from matcalc.calculus.derive.removable_singularities import with_quotients
from matcalc.calculus.templates import Pull, Template, adjoint_template, derivative_template, tangent_template
from matcalc.language.declare import Declaration
from matcalc.tensor.constructors import add, eye, operate, product, zeros
from matcalc.tensor.nodes.node import Indices, Node, Operand, Shape, toposort
from matcalc.tensor.nodes.signature import tensors_of
from matcalc.tensor.substitute import Batched, instantiate, spread
from matcalc.tensor.switches import switched, weight

LITERAL = 200
"""The most tokens of a literal array whose derivative is not taken apart."""
SMOOTH = 3
"""How many of its derivatives must be finite for all data."""


def pullback(root: Node, cotangent: Node, wrt: Sequence[Node], batch: Shape = ()) -> list[Node]:
    """Return the cotangents of the symbols `wrt` from the cotangent of `root`.

    Shapes: `cotangent` has `batch + root.shape`; each result `batch + symbol.shape`.
    """
    order = toposort(root)
    active = depends_on(order, wrt)
    gathered: dict[Node, list[Node]] = {root: [cotangent]} if root in active else {}
    steep: set[Node] = set()
    together = groups_of(order)
    for node in reversed(order):
        if node in together:
            bars = {one: add([(1, part) for part in gathered.pop(one)]) for one in together[node] if one in gathered}
            bars = {one: bar for one, bar in bars.items() if not bar.is_zero}
            for arg, part in pull_recurrence(bars, active, batch, pullback) if bars else ():
                gathered.setdefault(arg, []).append(part)
        if node not in gathered or node in wrt or node.kind == "recurrence":
            continue
        bar = add([(1, part) for part in gathered.pop(node)])
        if bar.is_zero:
            continue
        number = _only_number(node, wrt)
        literal = _pull_literal(node, number, bar, batch) if number is not None else None
        if number is not None and literal is not None:
            gathered.setdefault(number, []).append(literal)
            continue
        for position, arg in enumerate(node.args):
            if arg in active:
                part = PULL[node.kind](node, position, bar, batch)
                if node.finite and bar.finite and not part.finite and node.kind == "map":
                    if is_steep_in(arg, active):
                        weighed = with_weights(bar, set(toposort(cotangent)), wrt)
                        part = part if weighed is bar else PULL[node.kind](node, position, weighed, batch)
                        steep.add(arg)
                elif node in steep and not bar.finite:
                    steep.update([arg] if node.kind == "sum" else [])
                    part = _pull_steeply(node, position, bar, batch, active) if node.kind == "product" else part
                gathered.setdefault(arg, []).append(part)
    return averaged([_total(gathered.get(symbol, []), (*batch, *symbol.shape)) for symbol in wrt], wrt)


def pushforward(root: Node, tangents: Mapping[Node, Node], batch: Shape = ()) -> Node:
    """Return the tangent of `root` from the tangents of symbols.

    Shapes: a tangent has `batch + symbol.shape`, the result `batch + root.shape`.
    """
    order = toposort(root)
    active = depends_on(order, list(tangents))
    moved: dict[Node, Node] = {}
    steep: set[Node] = set()
    for node in order:
        if node in tangents:
            moved[node] = tangents[node]
        elif node.kind == "recurrence" and node in active:
            if node not in moved:
                varying = {arg: moved[arg] for arg in node.args if arg in moved and not moved[arg].is_zero}
                pushed = push_recurrence(node, varying, batch, pushforward)
                moved.update(zip(all_trajectories(node), pushed, strict=True))
        elif node in active:
            parts = []
            for position, arg in enumerate(node.args):
                if arg in moved and not moved[arg].is_zero:
                    part = PUSH[node.kind](node, position, moved[arg], batch)
                    is_finite = node.finite and moved[arg].finite and not part.finite
                    if is_finite and node.kind == "map" and is_steep_in(arg, active):
                        if switches_off(arg, active):
                            part = PUSH[node.kind](node, position, weight(moved[arg]), batch)
                        steep.add(node)
                    elif arg in steep and not moved[arg].finite:
                        steep.update([node] if node.kind in ("sum", "product") else [])
                        if node.kind == "product":
                            part = PUSH[node.kind](weighed_product(node, position, active), position, moved[arg], batch)
                    parts.append(part)
            moved[node] = _total(parts, (*batch, *node.shape))
    return averaged([moved.get(root) or zeros((*batch, *root.shape))], list(tangents))[0]


def jacobian(root: Node, wrt: Node) -> Node:
    """Return the generalised Jacobian, shape root.shape + wrt.shape, from the side with fewer axes."""
    if len(wrt.shape) < len(root.shape):
        pushed = pushforward(root, {wrt: eye(*wrt.shape)}, wrt.shape)
        count = len(wrt.shape)
        axes = tuple(range(len(pushed.shape)))
        return product(1, [(pushed, axes)], axes[count:] + axes[:count])
    return pullback(root, eye(*root.shape), [wrt], root.shape)[0]


def _only_number(node: Node, wrt: Sequence[Node]) -> Node | None:
    """Return the number of `wrt` that is the only symbol of a literal array, as `t` of `[cos(t), -sin(t)]`."""
    if node.kind != "sum" or not node.shape or node.length > LITERAL:
        return None
    if not all(size.is_integer for size in node.shape):
        return None
    symbols = [one for one in toposort(node) if one.kind == "symbol"]
    return symbols[0] if len(symbols) == 1 and not symbols[0].shape and symbols[0] in wrt else None


def _pull_literal(node: Node, number: Node, bar: Node, batch: Shape) -> Node | None:
    """Return the cotangent of the number in a literal array: by its derivative, which is a literal array as well.

    Return None if something is not smooth: entries that do not depend on the number must not meet infinity.
    """
    slope, *others = islice(_derivatives(node, number), SMOOTH)
    if not bar.finite or bar.switches or not all(map(_is_regular, (node, slope, *others))):
        return None
    at = tuple(range(bar.rank))
    return product(1, [(bar, at), (slope, at[len(batch) :])], at[: len(batch)])


def _derivatives(node: Node, number: Node) -> Iterator[Node]:
    """Yield the derivatives of a node in a number, the first one first."""
    while True:
        node = pushforward(node, {number: eye()})
        yield node


def _is_regular(node: Node) -> bool:
    """Whether a node is finite for all data, and contains no jumps and no choices."""
    return node.finite and not any(is_jump(one) or is_choice(one) or one.switches for one in toposort(node))


def depends_on(order: Sequence[Node], wrt: Sequence[Node]) -> set[Node]:
    """Return the nodes of `order` (operands first) that depend on a symbol of `wrt`."""
    active: set[Node] = set()
    chosen = set(wrt)
    for node in order:
        if node in chosen or any(a in active for a in node.args):
            active.add(node)
    return active


def _total(parts: Sequence[Node], shape: Shape) -> Node:
    if len(parts) == 1:
        return parts[0]
    return add([(1, part) for part in parts]) if parts else zeros(shape)


def _batch_axes(count: int, batch: Shape) -> tuple[Indices, dict[int, object]]:
    axes = tuple(range(count, count + len(batch)))
    return axes, dict(zip(axes, batch, strict=True))


def _pull_product(node: Node, position: int, bar: Node, batch: Shape) -> Node:
    return _swap(node, position, bar, batch, node.out, node.indices[position])


def _push_product(node: Node, position: int, tangent: Node, batch: Shape) -> Node:
    return _swap(node, position, tangent, batch, node.indices[position], node.out)


def _swap(node: Node, position: int, new: Node, batch: Shape, at: Indices, out: Indices) -> Node:
    """Return the product with operand `position` replaced by `new` at indices `at`, with the output indices `out`."""
    axes, lengths = _batch_axes(len(node.index_sizes), batch)
    others = [(arg, indices) for k, (arg, indices) in enumerate(node.operands) if k != position]
    new = switched(new) if others else new
    sizes = {**node.sizes, **lengths}
    made = product(node.coef, [*others, (new, axes + at)], axes + out, sizes)  # type: ignore[arg-type]
    return with_quotients(made, pushforward)


def _pull_sum(node: Node, position: int, bar: Node, batch: Shape) -> Node:
    axes = tuple(range(len(bar.shape)))
    return product(node.coefs[position], [(bar, axes)], axes)


def _through_map(node: Node, position: int, bar: Node, batch: Shape) -> Node:
    """Multiply by the elementwise derivative: pullback and pushforward are the same."""
    bar = switched(bar)
    template = derivative_template(node, position)
    own = tuple(range(len(node.shape)))
    bound = {s: Batched(arg, own) for s, arg in zip(template.args, node.args, strict=True)}
    bound.update({y: Batched(node, own) for y in template.values})
    slope = spread(instantiate(template.node, bound, template.sizes(node), node.shape), own, node.shape)
    count = len(batch)
    entries = tuple(range(count, count + len(own)))
    everything = (*range(count), *entries)
    return product(1, [(bar, everything), (slope, entries)], everything)


def _pull_steeply(node: Node, position: int, bar: Node, batch: Shape, active: set[Node]) -> Node:
    """Return the pullback of a product whose cotangent is infinite at a root; it is 0 where the other operands are 0.

    If two operands vary (`x'*A*x`), the product of all others is the weight. If one varies, each other is a weight.
    """
    if not switches_off(node, active):
        return _pull_product(node, position, bar, batch)
    if sum(arg in active for arg in node.args) < 2:
        return _pull_product(weighed_product(node, position, active), position, bar, batch)
    if node.out:
        at = tuple(dict.fromkeys((*node.out, *node.indices[position])))
        rest = weight(_product_of_others(node, position, at))
    else:  # the whole slope, over all occurrences of the operand
        same = [k for k, arg in enumerate(node.args) if arg is node.args[position]]
        if position != same[0]:
            return zeros((*batch, *node.args[position].shape))
        at = node.indices[position]
        rest = weight(add([(1, _product_of_others(node, k, node.indices[k])) for k in same]))
    axes, lengths = _batch_axes(len(node.index_sizes), batch)
    sizes = {**node.sizes, **lengths}
    return product(node.coef, [(rest, at), (bar, axes + node.out)], axes + node.indices[position], sizes)  # type: ignore[arg-type]


def _product_of_others(node: Node, position: int, out: Indices) -> Node:
    """Return the product of all operands but one."""
    return product(1, [term for k, term in enumerate(node.operands) if k != position], out, node.sizes)


def _pull_op(node: Node, position: int, bar: Node, batch: Shape) -> Node:
    factors, rest = _batch_factors(node, bar, batch)
    if factors:
        inner = _pull_op(node, position, rest, batch)
        if node.finite and not inner.finite:
            rank = len(batch)
            carried = (*range(rank), *(rank + b for b in node.batches[position]))
            every = (*carried, *range(bar.rank, bar.rank + inner.rank - len(carried)))
            return with_quotients(product(1, [*factors, (inner, every)], every), pushforward)
    template = ADJOINT[node.rule.kind](node, position, pullback)
    count, own = len(batch), node.batch_rank
    result = _instantiated(template, node, bar, batch, tuple(range(count + own)))
    carried = tuple(count + b for b in node.batches[position])
    lengths = (*batch, *node.shape[:own])
    core_rank = len(result.node.shape) - len(result.batch)
    core = tuple(range(count + own, count + own + core_rank))
    kept = (*range(count), *carried)
    sizes = {k: lengths[k] for k in kept}
    return product(1, [(result.node, (*result.batch, *core))], (*kept, *core), sizes)


def _batch_factors(node: Node, bar: Node, batch: Shape) -> tuple[list[Operand], Node]:
    """Return the factors of a cotangent with exactly the batch axes of an operation, and the cotangent without them.

    Only factors that depend on the operand are returned, and only if all operands have all batch axes.
    """
    own = range(len(batch), len(batch) + node.batch_rank)
    if bar.kind != "product" or not all(set(b) == set(range(node.batch_rank)) for b in node.batches):
        return [], bar
    axis_of = {bar.out[axis]: axis for axis in own if bar.out.count(bar.out[axis]) == 1}
    found = [(arg, at) for arg, at in bar.operands
             if len(at) == len(own) and axis_of.keys() == set(at) and arg.kind != "selector"
             and node.args[0] in toposort(arg)]  # fmt: skip
    if not found:
        return [], bar
    rest = [term for term in bar.operands if term not in found]
    factors = [(arg, tuple(axis_of[i] for i in at)) for arg, at in found]
    return factors, product(bar.coef, rest, bar.out, bar.sizes)


def _push_op(node: Node, position: int, tangent: Node, batch: Shape) -> Node:
    count, own = len(batch), node.batch_rank
    lengths = (*batch, *node.shape[:own])
    carried = tuple(count + b for b in node.batches[position])
    at = (*range(count), *carried)
    parameter = template_parameter(node, position)
    if parameter.repeated or parameter.name in node.rule.linear:
        args = [tangent if k == position else a for k, a in enumerate(node.args)]
        batches = [
            at if k == position else tuple(count + b for b in carried_by) for k, carried_by in enumerate(node.batches)
        ]
        return operate(node.rule, args, node.params, batches, node.output, lengths)
    template = TANGENT[node.rule.kind](node, position)
    result = _instantiated(template, node, tangent, batch, at)
    return spread(result, tuple(range(count + own)), lengths)


def _instantiated(template: Template, node: Node, incoming: Node, batch: Shape, at: Indices) -> Batched:
    """Bind a template to an operation: arguments and value at its own batch axes, the incoming node at `at`."""
    count, own = len(batch), node.batch_rank
    bound = {
        s: Batched(arg, tuple(count + b for b in carried))
        for s, arg, carried in zip(template.args, node.args, node.batches, strict=True)
    }
    everything = tuple(range(count, count + own))
    for name, value in zip(node.rule.outputs, template.values, strict=True):
        sibling = node if name == node.output else _sibling(node, name)
        bound[value] = Batched(sibling, everything)
    bound[template.incoming] = Batched(incoming, at)
    lengths = (*batch, *node.shape[:own])
    return instantiate(template.node, bound, template.sizes(node), lengths)


def _sibling(node: Node, output: str) -> Node:
    """Return another result of the same several-output operation."""
    lengths = node.shape[: node.batch_rank]
    return operate(node.rule, node.args, node.params, node.batches, output, lengths)


def template_parameter(node: Node, position: int) -> Declaration:
    """Return the signature's parameter for argument `position` of an operation."""
    tensors = tensors_of(node.rule.signature)
    return tensors[min(position, len(tensors) - 1)]


ADJOINT: dict[str, Callable[[Node, int, Pull], Template]] = {"op": adjoint_template, "implicit": implicit_adjoint}
TANGENT: dict[str, Callable[[Node, int], Template]] = {
    "op": tangent_template,
    "implicit": lambda node, position: implicit_tangent(node, position, pullback, pushforward),
}
PULL: dict[str, Callable[[Node, int, Node, Shape], Node]] = {
    "product": _pull_product,
    "sum": _pull_sum,
    "map": _through_map,
    "op": _pull_op,
}
PUSH: dict[str, Callable[[Node, int, Node, Shape], Node]] = {
    "product": _push_product,
    "sum": _pull_sum,
    "map": _through_map,
    "op": _push_op,
}
