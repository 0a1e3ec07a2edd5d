"""Finds products that the plan of one step computes and that of a later step would read, so that they are stored.

The normal form has no node for `inv(S)*H*P` in `A*P*H'*inv(S)*H*P*A'`: which products of some operands are computed is
a choice of the plan. So the earlier step is planned first, and its products are offered to the plan of the later one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from itertools import product as choices
from typing import Protocol

from matcalc.compiler.plan.products.match_kernel import Factor
from matcalc.compiler.plan.products.part_keys import Key, part_key
from matcalc.compiler.plan.recurrences.steps import factored
from matcalc.errors import NotSupported
from matcalc.tensor.constructors import product, symbol
from matcalc.tensor.nodes.labelling import SYMMETRIC
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.steps.recurrence import closed_parts
from matcalc.tensor.substitute import Batched, instantiate_all, remake

Outputs = tuple[tuple[str, Node], ...]


class StepProducts(Protocol):
    """Plans a step from outputs and inputs; `offered` are inputs that hold products of other inputs.

    Returns the products that the plan computes, and the offered inputs that it reads.
    """

    def __call__(
        self,
        outputs: Outputs,
        inputs: tuple[Node, ...],
        offered: tuple[tuple[Node, Node], ...],
        forms: tuple[tuple[Node, ...], ...],
    ) -> tuple[tuple[Node, ...], tuple[Node, ...]]: ...


def common_products(
    earlier: Sequence[Node],
    later: Sequence[Node],
    shared: Mapping[Node, Batched],
    varying: Sequence[Node],
    products: StepProducts,
) -> list[tuple[Node, Node]]:
    """Return products that an earlier step computes and a later one reads, each also as the later step writes it.

    Those of most operands come first: they may contain others.
    `shared` are parts of the earlier step with their symbols in the later one, `varying` all symbols of a step.
    """
    known = set(toposort(later))
    if not _large_products(earlier) or not _large_products(later):
        return []
    try:
        computed = _planned(earlier, varying, (), products)[0]
        written = [made.node for made in instantiate_all(computed, shared, {}, ())]
        pairs = [
            (part, as_read)
            for part, as_read in zip(computed, written, strict=True)
            if as_read.kind == "product"
            and len(as_read.index_sizes) > len(as_read.out)
            and known.issuperset(as_read.args)
        ]
        if not pairs:
            return []
        read = _planned(later, varying, [as_read for _, as_read in pairs], products)[1]
    except NotSupported:
        return []
    return sorted((pair for pair in pairs if pair[1] in read), key=lambda pair: -len(pair[1].args))


def _large_products(bodies: Sequence[Node]) -> bool:
    return any(node.kind == "product" and len(node.args) > 2 for node in toposort(bodies))


def _planned(
    bodies: Sequence[Node], varying: Sequence[Node], offered: Sequence[Node], products: StepProducts
) -> tuple[list[Node], list[Node]]:
    """Return the products that the plan of a step computes, and those of the offered ones that it reads."""
    closed = [part for part in closed_parts(bodies, varying) if part.kind != "symbol"]
    named = {part: symbol(f"#closed{k}", part.shape, sorted(part.facts)) for k, part in enumerate(closed)}
    bound = {part: Batched(own) for part, own in named.items()}
    own = [made.node for made in instantiate_all([*bodies, *offered], bound, {}, ())]
    outputs = tuple((f"#next{k}", body) for k, body in enumerate(own[: len(bodies)]))
    held = [symbol(f"#held{k}", part.shape, sorted(part.facts)) for k, part in enumerate(offered)]
    pairs = tuple(
        (one, part)
        for one, part in zip(held, own[len(bodies) :], strict=True)
        if all(arg.kind == "symbol" for arg in part.args)
    )
    inputs = [node for node in toposort(own) if node.kind == "symbol"]
    computed, read = products(outputs, (*inputs, *held), pairs, factored(outputs, ()))
    back = {own: Batched(part) for part, own in named.items()}
    # Inner recurrences of a plan are joined: no formula may be built of them again.
    plain = [part for part in computed if not any(node.kind == "recurrence" for node in toposort(part))]
    whole = [made.node for made in instantiate_all(plain, back, {}, ())]
    return whole, [part for part, own in zip(offered, held, strict=True) if own in read]


# ---- parts of products


def has_part(bodies: Sequence[Node], part: Node) -> bool:
    """Whether a product in the bodies contains a part."""
    own = symbol("#held", part.shape)
    return any(node.kind == "product" and _replaced(node, part, own) is not None for node in toposort(bodies))


def with_part(bodies: Sequence[Node], part: Node, own: Node) -> list[Node]:
    """Return bodies whose products contain a symbol in place of a part."""
    done: dict[Node, Node] = {}
    for node in toposort(bodies):
        made = remake(node, done)
        while made.kind == "product" and (found := _replaced(made, part, own)) is not None:
            made = found
        done[node] = made
    return [done[body] for body in bodies]


def _replaced(node: Node, part: Node, own: Node) -> Node | None:
    """Return a product with one occurrence of a part replaced; None if there is none."""
    key, listed = _key(part.operands, frozenset(part.out))
    for chosen in _choices(node, part):
        inside = [node.operands[k] for k in chosen]
        outside = [operand for k, operand in enumerate(node.operands) if k not in chosen]
        around = {i for _, at in outside for i in at}.union(node.out)
        free = frozenset(i for _, at in inside for i in at if i in around)
        found, order = _key(inside, free)
        if found == key:
            at = tuple(order[listed.index(i)] for i in part.out)
            return product(node.coef, [*outside, (own, at)], node.out, node.sizes)
    return None


def _choices(node: Node, part: Node) -> Iterator[tuple[int, ...]]:
    """Yield positions of operands of a product that are those of a part."""
    places: dict[Node, list[int]] = {}
    for position, arg in enumerate(node.args):
        places.setdefault(arg, []).append(position)
    counts = Counter(part.args)
    if places.keys() >= counts.keys():
        for several in choices(*(combinations(places[arg], count) for arg, count in counts.items())):
            yield tuple(position for one in several for position in one)


def _key(operands: Sequence[tuple[Node, tuple[int, ...]]], free: frozenset[int]) -> tuple[Key, tuple[int, ...]]:
    factors = [Factor(at, arg.digest.hex(), mirrored=arg.rank == 2 and arg.facts >= SYMMETRIC) for arg, at in operands]
    return part_key(factors, free)
