"""Tells which operands of a product determine where it is 0, and computes parts apart that hang at one index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from matcalc.compiler.plan.sparse_data.sparse import is_sparse
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Indices, Node, OpenProduct, Operand, cached_on_node, exponent_of

TRIANGLES = ("diagonal", "lower", "upper")
"""Facts of matrices that tell which entries are 0."""


def keeps_zero(node: Node) -> bool:
    """Whether a map has one operand, and the value 0 where this is 0."""
    if node.kind != "map" or len(node.args) != 1:
        return False
    exponent = exponent_of(node)[1]
    return exponent > 0 if exponent != 1 else not node.params and node.rule.through == (0.0, 0.0)


@cached_on_node
def is_structured(node: Node) -> bool:
    """Whether a node is known to be 0 at some of its entries, given its sizes and the entries of sparse matrices."""
    if node.kind == "selector" or is_sparse(node) or any(fact in node.facts for fact in TRIANGLES):
        return True
    if node.kind == "constant":
        return not bool(node.array.all())
    if node.kind == "product":
        return len(set(node.out)) < len(node.out) or bool(telling(node.operands, node.out))
    if node.kind == "sum":
        return all(map(is_structured, node.args))
    return keeps_zero(node) and is_structured(node.args[0])


def telling(operands: Sequence[Operand], out: Indices) -> list[Operand]:
    """Return the operands of a product that tell where it is 0.

    These connect two indices of the result, or leave some values of one without an entry. A triangle counts only if
    both its indices are indices of the result.
    """
    able = [(node, at) for node, at in operands if is_structured(node) and (not _is_wide(node) or set(at) <= set(out))]
    found = []
    for part in connected(able):
        ends = {i for _, at in part for i in at} & set(out)
        if len(ends) > 1 or (ends and _has_gaps(part, next(iter(ends)))):
            found += part
    return found


def _is_wide(node: Node) -> bool:
    """Whether about half of the entries of a matrix are 0."""
    if node.kind == "selector":
        return node.selects("mask")
    return "diagonal" not in node.facts and ("lower" in node.facts or "upper" in node.facts)


def _has_gaps(part: Sequence[Operand], index: int) -> bool:
    """Whether operands may be 0 at some value of an index, which may be merged from others."""
    merged = [(o, at[1:]) for o, at in part if o.kind == "selector" and o.selector.kind == "merge" and at[0] == index]
    return any(_leaves_out(operand, index) for operand in part) or any(
        _has_gaps([o for o in part if o[0] is not merge], i) for merge, inner in merged for i in inner
    )


def _leaves_out(operand: Operand, index: int) -> bool:
    """Whether an operand may be 0 for all values of its other indices at some value of this one."""
    node, at = operand
    if node.kind == "selector":
        return at[0] == index and (node.selects("slice") or bool(node.args))
    return set(at) == {index}


def connected(operands: Sequence[Operand], without: Iterable[int] = ()) -> list[list[Operand]]:
    """Return operands in parts that share no index except those in `without`."""
    parts: list[tuple[set[int], list[Operand]]] = []
    for operand in operands:
        indices = set(operand[1]) - set(without)
        meeting = [part for part in parts if part[0] & indices]
        parts = [part for part in parts if not part[0] & indices]
        merged = [o for _, part in meeting for o in part]
        parts.append((indices.union(*(found for found, _ in meeting)), [*merged, operand]))
    return [part for _, part in parts]


def contracted(whole: OpenProduct) -> OpenProduct:
    """Return a product in which each part that hangs at one index, or at none, is one operand: `(D*x)[k]`, `x'*x`."""
    while True:
        found = next(_hanging(whole), None)
        if found is None:
            return whole
        part, at = found
        sizes = dict(enumerate(whole.index_sizes))
        node = product(1, part, at, {i: sizes[i] for i in at})
        rest = list(whole.operands)
        for operand in part:
            rest.remove(operand)
        args, indices = zip(*rest, (node, at), strict=True)
        whole = OpenProduct(whole.coef, args, indices, whole.out, whole.index_sizes)


def _hanging(whole: OpenProduct) -> Iterator[tuple[list[Operand], Indices]]:
    """Yield parts of a product that share at most one index with the others, each with that index."""
    for part in connected(whole.operands):
        if not {i for _, at in part for i in at} & set(whole.out) and any(at for _, at in part):
            yield part, ()
    for index in dict.fromkeys(i for at in whole.indices for i in at):
        for part in connected(whole.operands, [index]):
            indices = {i for _, at in part for i in at}
            hangs = index in indices and len(indices) > 1 and not (indices - {index}) & set(whole.out)
            # entries that selectors put into the result stay: their number is that of the tuples
            if hangs and not (index in whole.out and _has_gaps(part, index)):
                yield part, (index,)
