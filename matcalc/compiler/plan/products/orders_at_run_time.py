"""Multiplies a chain of matrices in the best order for the sizes of the call: a few orders, and a test of their costs.

No order of `A*B*C*D` is good for all sizes. On random sizes the best single order takes three times the flops of the
optimum for three matrices, five times for four, eleven times for seven. With one order more than there are matrices, a
call is almost always within a few percent of the optimum (arXiv 2511.20198). The orders are chosen by their savings on
sizes drawn once. Each is planned as any product, and is a branch of one function; the call takes the order of least
flops. If one order suffices, as with a vector at an end, or if sizes are known, there are no branches.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import fsum

from matcalc.compiler.listing import operations
from matcalc.compiler.lowering_entries import Choice, Kernel, Part, read_kernel
from matcalc.compiler.plan.products.session import Ref, Session
from matcalc.compiler.plan.values.values import Operand, Run
from matcalc.language.identifiers import free
from matcalc.tensor.constructors import product, symbol
from matcalc.tensor.nodes.node import Node

DRAWN, LONGEST, SHORT = 200, 1000, 50
"""The number of sets of sizes drawn, their largest length, and the length below which loops multiply matrices."""
NEAR, OFTEN = 1.15, 0.96
"""Orders are added until this share of sets (OFTEN) has one within this factor (NEAR) of the least flops."""
WORTH = 1.5
"""Several orders are used if the best single order takes, on average, more than WORTH times the least flops."""
OWN = re.compile(r"least|(n|cost)_\d+")
"""The names that the function uses itself."""
MOST = 8
"""The most operands of a chain with several orders; longer chains have one."""

Order = tuple[tuple[int, int, int], ...]
"""The products of an order, each by the positions of its three sizes in the chain."""


def lower_chain(session: Session, node: Node) -> Ref | None:
    """Return the reference to a chain of matrices with several orders; None for any other node."""
    chain = _chain(session, node)
    if chain is None:
        return None
    operands, at = chain
    sizes = dict(node.sizes)
    lengths = [sizes[i] for i in at]
    if len({size.key for size in lengths}) < 4:
        return None
    kernel = _kernel(session, node, operands, at)
    if kernel is None:
        return None
    values = [session.array(arg) for arg, _ in operands]
    run = Run(kernel, [], [Operand(f"a_{k}", value) for k, value in enumerate(values)], comment=node)
    run.sizes = tuple((f"n_{position}", size) for position, size in enumerate(lengths))
    (value,) = session.graph.run(run, [("c", node.shape, "float64")])
    return Ref(value, (0, 1))


def _chain(session: Session, node: Node) -> tuple[list[tuple[Node, tuple[int, ...]]], list[int]] | None:
    """Return the matrices of a chain in order, and the indices from one end to the other."""
    fits = session.target in ("numba", "numpy") and session.ahead is None and not session.estimate.hints
    if not fits or node.coef != 1 or len(node.out) != 2 or not 3 <= len(node.operands) <= MOST:
        return None
    if any(arg.kind in ("selector", "number", "size") or session.is_unformed(arg) for arg in node.args):
        return None
    if len(set(node.args)) < len(node.args):  # equal operands may share parts, as in A*B*C*B'*A'
        return None
    if any(len(set(at)) != 2 or len(at) != 2 for at in node.indices):
        return None
    if sum(len(key[0]) > 2 for key in session.bodies) > 1:  # type: ignore[arg-type]  # other products may share parts
        return None
    left, at = list(node.operands), [node.out[0]]
    found: list[tuple[Node, tuple[int, ...]]] = []
    while left:
        here = [operand for operand in left if at[-1] in operand[1]]
        if len(here) != 1:
            return None
        left.remove(here[0])
        found.append(here[0])
        at.append(next(i for i in here[0][1] if i != at[-1]))
    return (found, at) if at[-1] == node.out[1] and len(set(at)) == len(at) else None


def _kernel(
    session: Session, node: Node, operands: Sequence[tuple[Node, tuple[int, ...]]], at: Sequence[int]
) -> Kernel | None:
    """Return the kernel of a chain; None if one order suffices or sizes are no plain names."""
    sizes = dict(node.sizes)
    lengths = [sizes[i] for i in at]
    names = tuple(size.key for size in lengths)
    if not all(size.names == (size.key,) and not OWN.fullmatch(size.key) for size in lengths):
        return None
    chosen = orders(names)
    if len(chosen) < 2:
        return None
    taken = set(names)
    symbols = [symbol(free(f"A{k}", taken), arg.shape) for k, (arg, _) in enumerate(operands)]
    result = free("C", taken)
    body = product(1, [(s, i) for s, (_, i) in zip(symbols, operands, strict=True)], node.out, sizes)
    name = free(f"chain_{node.digest.hex()[:6]}", {*session.graph.reserved})
    parts: list[Part] = []
    costs: list[str] = []
    for order, drawn in chosen:
        program = session.plan(((result, body),), tuple(symbols), sizes=tuple(drawn.items()))
        flops = operations(program)[0]
        if flops.evaluate(drawn) != 2 * _flops(order, [drawn[n] for n in names]) or program.size_args:
            continue
        parts.append(Part(f"{name}_{len(parts) + 1}", program, (result, *(s.name for s in symbols))))
        costs.append(" + ".join(f"2*n_{a}*n_{b}*n_{c}" for a, b, c in order))
    return _entry(name, parts, costs, operands, at, node) if len(parts) > 1 else None


def _entry(
    name: str,
    parts: Sequence[Part],
    costs: Sequence[str],
    operands: Sequence[tuple[Node, tuple[int, ...]]],
    at: Sequence[int],
    node: Node,
) -> Kernel:
    """Return the entry in the form of kernels.toml, with a function for each order."""
    letter = {index: f"n_{position}" for position, index in enumerate(at)}
    factors = [f"a_{k}[{', '.join(letter[i] for i in axes)}]" for k, (_, axes) in enumerate(operands)]
    operand_names = [f"a_{k}" for k in range(len(operands))]
    fields = ", ".join(f"{{{a}}}" for a in operand_names)
    least = costs[0]
    for cost in costs[1:]:
        least = f"min({least}, {cost})"
    functions = ", ".join(part.spelled("numpy") for part in parts)
    lengths = {index: f"a_{k}.shape[{axis}]" for k, (_, axes) in enumerate(operands) for axis, index in enumerate(axes)}
    entry = {
        "pattern": f"c[{letter[node.out[0]]}, {letter[node.out[1]]}] = {' * '.join(factors)}",
        "flops": least,
        "rate": 0.04,
        "words": "matrix product, in the order with the fewest flops at the sizes of the call",
        "numba": f"{name}({fields}, {{c}})",
        "numpy": f"in_best_order({_shape_and_costs(costs, at, operands)}, ({functions},), {fields})",
    }
    choice = Choice(tuple(operand_names), tuple(lengths[i] for i in at), tuple(costs))
    return replace(read_kernel(name, entry, 0), parts=tuple(parts), choice=choice)


def _shape_and_costs(costs: Sequence[str], at: Sequence[int], operands: Sequence[tuple[Node, tuple[int, ...]]]) -> str:
    """Return the shape of the result and the costs as expressions in the shapes of the operands' fields."""
    where = {
        index: f"{{a_{k}}}.shape[{axis}]" for k, (_, axes) in enumerate(operands) for axis, index in enumerate(axes)
    }
    made = []
    for cost in costs:
        for position in reversed(range(len(at))):
            cost = cost.replace(f"n_{position}", where[at[position]])
        made.append(cost)
    return f"({where[at[0]]}, {where[at[-1]]}), ({', '.join(made)},)"


# ---- choice of orders


@lru_cache(maxsize=256)
def orders(names: tuple[str, ...]) -> tuple[tuple[Order, Mapping[str, int]], ...]:
    """Return the orders to choose from for a chain with sizes `names`, each with lengths for which it is best.

    Return a single order if it is nearly as good as all orders.
    """
    rng = random.Random(0)
    drawn = [{name: rng.randint(1, LONGEST) for name in dict.fromkeys(names)} for _ in range(DRAWN)]
    rows = [[sizes[name] for name in names] for sizes in drawn]
    best = [best_order(row) for row in rows]
    least = [_flops(order, row) for order, row in zip(best, rows, strict=True)]
    times = {
        order: [_flops(order, row) / flops for row, flops in zip(rows, least, strict=True)]
        for order in dict.fromkeys(best)
    }
    chosen: list[Order] = []
    now = [float("inf")] * DRAWN
    while sum(t <= NEAR for t in now) < OFTEN * DRAWN:
        taking = {order: [min(a, b) for a, b in zip(now, row, strict=True)] for order, row in times.items()}
        order = max(taking, key=lambda o: (sum(t <= NEAR for t in taking[o]), -fsum(taking[o])))
        chosen.append(order)
        now = taking[order]
    if min(fsum(row) for row in times.values()) < WORTH * DRAWN:
        chosen = chosen[:1]
    found = []
    for order in chosen:  # sizes at which the order is furthest ahead of the others, so that a plan finds it
        others = [row for o, row in times.items() if o != order]
        gaps = [min((row[k] for row in others), default=1.0) * (times[order][k] == 1) for k in range(DRAWN)]
        ranks = [(min(*row, SHORT) if gap > 1 else 0, gap) for row, gap in zip(rows, gaps, strict=True)]
        found.append((order, drawn[ranks.index(max(ranks))]))
    return tuple(found)


def best_order(sizes: Sequence[int]) -> Order:
    """Return the order of least flops for a chain of matrices, by dynamic programming over its parts."""
    count = len(sizes) - 1
    cost: dict[tuple[int, int], int] = {(k, k): 0 for k in range(count)}
    made: dict[tuple[int, int], Order] = {(k, k): () for k in range(count)}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            flops, cut = min(
                (cost[first, k] + cost[k + 1, last] + sizes[first] * sizes[k + 1] * sizes[last + 1], k)
                for k in range(first, last)
            )
            cost[first, last] = flops
            own = (first, cut + 1, last + 1)
            made[first, last] = tuple(sorted((*made[first, cut], *made[cut + 1, last], own)))
    return made[0, count - 1]


def _flops(order: Order, sizes: Sequence[int]) -> int:
    """Return the number of multiplications of an order."""
    return sum(sizes[a] * sizes[b] * sizes[c] for a, b, c in order)
