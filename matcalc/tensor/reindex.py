"""Applies the identities of selectors inside a product until none fits.

A merge and its parts determine each other, and a slice maps each index of the part to one of the source. So contracted
pairs vanish, nested ones fuse, and disjoint ones yield zero. This makes `vec(A*X*B)` and `kron(B', A)*vec(X)` one node,
and block algebra exact.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from matcalc.tensor.network import Network
from matcalc.tensor.nodes.node import Indices
from matcalc.tensor.raw_nodes import selector as selector_node
from matcalc.tensor.sizes.selectors import Selector, are_apart, merge, slice_of
from matcalc.tensor.sizes.size import is_nonnegative, volume

Entry = tuple[Selector, Indices, int]


def reduce_selectors(network: Network) -> None:
    """Apply the identities until none fits."""
    while True:
        entries = [
            (node.selector, indices, position)
            for position, (node, indices) in enumerate(network.operands)
            if node.kind == "selector"
        ]
        if not entries or not any(_reduce_one(network, entry, entries) for entry in entries):
            return


def _reduce_one(network: Network, entry: Entry, entries: list[Entry]) -> bool:
    if ALONE[entry[0].kind](network, entry):
        return True
    return any(
        entry[0].kind == other[0].kind and PAIR[entry[0].kind](network, entry, other)
        for other in entries
        if other[2] > entry[2] or (other[2] != entry[2] and entry[0].kind in ("merge", "slice"))
    )


def _drop(network: Network, position: int, *summed: int) -> None:
    """Remove a selector, and the indices that only it has and whose sum is one."""
    del network.operands[position]
    for index in summed:
        del network.sizes[index]


def _lone(network: Network, index: int) -> bool:
    """Return whether an index is summed and occurs only once."""
    return network.uses(index) == 1 and index not in network.out


def _merge_alone(network: Network, entry: Entry) -> bool:
    """Drop a merge whose axes nothing measures, or which has one part; drop its parts of size 1."""
    selector, (whole, *parts), position = entry
    if _lone(network, whole):
        _drop(network, position, whole)
        return True
    if len(parts) == 1:
        _drop(network, position)
        network.unify(min(whole, parts[0]), max(whole, parts[0]))
        return True
    wide = [k for k, size in enumerate(selector.shape[1:]) if size != 1]
    if len(wide) < len(parts):
        remaining = wide or [next((k for k, part in enumerate(parts) if not _lone(network, part)), 0)]
        smaller = merge(*(selector.shape[1 + k] for k in remaining))
        network.operands[position] = (selector_node(smaller), (whole, *(parts[k] for k in remaining)))
        return True
    if all(_lone(network, part) for part in parts):
        _drop(network, position, *parts)
        return True
    return _joined_parts(network, entry)


def _joined_parts(network: Network, entry: Entry) -> bool:
    """Merge two adjacent parts that nothing else measures: `kron(ones(2), ones(3), x)` is `kron(ones(6), x)`."""
    selector, (whole, *parts), position = entry
    lone = [_lone(network, part) for part in parts]
    at = next((k for k in range(len(parts) - 1) if lone[k] and lone[k + 1]), None)
    if at is None:
        return False
    sizes = selector.shape[1:]
    joined = network.fresh(sizes[at] * sizes[at + 1])
    fewer = merge(*sizes[:at], network.sizes[joined], *sizes[at + 2 :])
    network.operands[position] = (selector_node(fewer), (whole, *parts[:at], joined, *parts[at + 2 :]))
    for part in parts[at : at + 2]:
        del network.sizes[part]
    return True


def _slice_alone(network: Network, entry: Entry) -> bool:
    selector, (source, part), position = entry
    if selector.shape[0] == selector.shape[1] and selector.offset == 0:
        _drop(network, position)
        network.unify(min(source, part), max(source, part))
        return True
    if _lone(network, source):
        _drop(network, position, source)
        return True
    return selector.shape[1] == 1 and _entry_alone(network, entry)


def _entry_alone(network: Network, entry: Entry) -> bool:
    """Take a single entry of each operand separately: `(A.*B)[0, :]` is `A[0, :].*B[0, :]`.

    An operand that shares another index with a selector at this entry stays with it: `tril(A)[0, :]`. An index of
    length 1 ties no entries together, so the operands that share it are separated too.
    """
    selector, (source, part), position = entry
    sharing = [(k, node) for k, (node, at) in enumerate(network.operands) if part in at and k != position]
    if part in network.out or not all(_ends_in(network, k, part) for k, _ in sharing):
        return False
    if sharing:
        network.operands[position] = (network.operands[position][0], (source, network.fresh(selector.shape[1])))
        return True
    others = [k for k, (_, at) in enumerate(network.operands) if source in at and k != position]
    if source in network.out:
        return False
    rules = [k for k in others if network.operands[k][0].kind == "selector"]
    tied = {index for k in rules for index in network.operands[k][1]} - {source}
    apart = [k for k in others if k not in rules and tied.isdisjoint(network.operands[k][1])]
    axes = [(k, axis) for k in apart for axis, index in enumerate(network.operands[k][1]) if index == source]
    moved = axes if len(apart) < len(others) else axes[1:]
    for k, axis in moved:
        node, at = network.operands[k]
        long, short = map(network.fresh, selector.shape)
        network.operands[k] = (node, (*at[:axis], long, *at[axis + 1 :]))
        network.operands.append((selector_node(selector), (long, short)))
    return bool(moved)


def _ends_in(network: Network, position: int, part: int) -> bool:
    """Return whether an operand is a slice whose part index is `part`."""
    node, at = network.operands[position]
    return node.selects("slice") and at[1] == part != at[0]


def _mask_alone(network: Network, entry: Entry) -> bool:
    """Drop a mask on its diagonal or over a triangular matrix; the product is zero if the mask leaves no entry."""
    selector, (row, column), position = entry
    if row == column and selector.offset.is_integer:
        if selector.offset.constant > 0:
            network.coef = Fraction(0)
        _drop(network, position)
        return True
    if not selector.offset.is_integer:
        return False
    offset = selector.offset.constant
    for node, indices in network.operands:
        if indices == (row, column):
            lower, upper = "lower" in node.facts, "upper" in node.facts
        elif indices == (column, row):
            lower, upper = "upper" in node.facts, "lower" in node.facts
        else:
            continue
        if lower and offset <= 0:
            _drop(network, position)
            return True
        if upper and offset > 0:
            network.coef = Fraction(0)
            _drop(network, position)
            return True
    return False


def _permutation_alone(network: Network, entry: Entry) -> bool:
    _, indices, position = entry
    lone = [i for i in indices if _lone(network, i)]
    if lone:
        _drop(network, position, lone[0])
    return bool(lone)


def _shift_alone(network: Network, entry: Entry) -> bool:
    """Reverse a shift whose offset begins with a negative term: by -k from i to j is by k from j to i."""
    if _permutation_alone(network, entry):
        return True
    selector, (i, j), position = entry
    terms = selector.offset.terms
    if not terms or terms[0][1] > 0:
        return False
    network.operands[position] = (selector_node(Selector("shift", selector.shape[::-1], -selector.offset)), (j, i))
    return True


def _conv_alone(network: Network, entry: Entry) -> bool:
    """Order the two parts of a convolution, which commute, by their lengths; a part of length 1 only shifts."""
    selector, (whole, left, right), position = entry
    for single, other, length in ((1, right, selector.shape[2]), (2, left, selector.shape[1])):
        if selector.shape[single] != 1:
            continue
        found = slice_of(selector.shape[0], length, selector.offset)
        if found is not None:
            network.operands[position] = (selector_node(found[0]), (other, whole) if found[1] else (whole, other))
            return True
    if str(selector.shape[1]) <= str(selector.shape[2]):
        return False
    swapped = Selector("conv", (selector.shape[0], selector.shape[2], selector.shape[1]), selector.offset)
    network.operands[position] = (selector_node(swapped), (whole, right, left))
    return True


def _lookup_alone(network: Network, entry: Entry) -> bool:
    """Drop a lookup whose axis nothing else has: each of its entries is 1 once."""
    _, (source, *_), position = entry
    if not _lone(network, source):
        return False
    _drop(network, position, source)
    return True


ALONE: dict[str, Callable[[Network, Entry], bool]] = {
    "merge": _merge_alone,
    "slice": _slice_alone,
    "mask": _mask_alone,
    "flip": _permutation_alone,
    "shift": _shift_alone,
    "conv": _conv_alone,
    "triangle": lambda network, entry: False,
    "lookup": _lookup_alone,
}


def _merge_pair(network: Network, one: Entry, two: Entry) -> bool:
    """Unify equal merges, fuse nested ones, and split those that agree at an end."""
    (first, (p, *parts), position), (second, (q, *others), other_place) = one, two
    if p == q and first.shape == second.shape:
        _drop(network, other_place)
        _unify_all(network, list(zip(parts, others, strict=True)))
        return True
    if parts == others:
        _drop(network, other_place)
        _unify_all(network, [(p, q)])
        return True
    if q in parts and network.uses(q) == 2 and q not in network.out:
        at = parts.index(q)
        sizes = (*first.shape[1 : at + 1], *second.shape[1:], *first.shape[at + 2 :])
        network.operands[position] = (selector_node(merge(*sizes)), (p, *parts[:at], *others, *parts[at + 1 :]))
        _drop(network, other_place, q)
        return True
    if p == q and (shared := _common_ends(first, second)):
        _split_common(network, one, two, shared)
        return True
    return False


def _common_ends(first: Selector, second: Selector) -> tuple[int, int] | None:
    """Return how many leading and trailing parts of two partitions of one axis have equal sizes, None if both are 0."""
    a, b = first.shape[1:], second.shape[1:]
    lead = 0
    while lead < min(len(a), len(b)) - 1 and a[lead] == b[lead]:
        lead += 1
    tail = 0
    while tail < min(len(a), len(b)) - 1 - lead and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    return (lead, tail) if lead or tail else None


def _split_common(network: Network, one: Entry, two: Entry, shared: tuple[int, int]) -> None:
    """Unify the agreeing ends of two partitions; the rest become merges of one smaller axis."""
    (first, (p, *parts), position), (second, (_, *others), other_place) = one, two
    lead, tail = shared
    mine, theirs = slice(lead, len(parts) - tail), slice(lead, len(others) - tail)
    middle_sizes = first.shape[1:][mine]
    total = volume(middle_sizes)
    middle = network.fresh(total)
    head, end = parts[:lead], parts[len(parts) - tail :]
    sizes = (*first.shape[1 : lead + 1], total, *first.shape[len(parts) - tail + 1 :])
    pairs = [*zip(head, others[:lead], strict=True), *zip(end, others[len(others) - tail :], strict=True)]
    network.operands[position] = (selector_node(merge(*sizes)), (p, *head, middle, *end))
    network.operands[other_place] = (selector_node(merge(*second.shape[1:][theirs])), (middle, *others[theirs]))
    network.operands.append((selector_node(merge(*middle_sizes)), (middle, *parts[mine])))
    _unify_all(network, pairs)


def _unify_all(network: Network, pairs: list[tuple[int, int]]) -> None:
    while pairs:
        a, b = pairs.pop(0)
        kept, dropped = min(a, b), max(a, b)
        network.unify(kept, dropped)
        pairs = [(kept if x == dropped else x, kept if y == dropped else y) for x, y in pairs]


def _slice_pair(network: Network, one: Entry, two: Entry) -> bool:
    """Unify equal slices and fuse nested ones; the product is zero if two of one source are disjoint."""
    (first, (source, part), position), (second, (source2, part2), other_place) = one, two
    if source == source2 and first.offset == second.offset and first.shape == second.shape:
        _drop(network, other_place)
        _unify_all(network, [(part, part2)])
        return True
    if part == part2 and first.offset == second.offset and first.shape == second.shape:
        _drop(network, other_place)
        _unify_all(network, [(source, source2)])
        return True
    if part == source2:
        fused = Selector("slice", (first.shape[0], second.shape[1]), first.offset + second.offset)
        network.operands[position] = (selector_node(fused), (source, part2))
        if network.uses(part) == 1 and part not in network.out:
            _drop(network, other_place, part)
        return True
    if source != source2:
        return False
    if are_apart(first.span, second.span):
        network.coef = Fraction(0)
        _drop(network, other_place)
        return True
    inside = second.offset - first.offset
    if is_nonnegative(inside) and is_nonnegative(first.shape[1] - inside - second.shape[1]):
        narrow = Selector("slice", (first.shape[1], second.shape[1]), inside)
        network.operands[other_place] = (selector_node(narrow), (part, part2))
        return True
    return False


def _mask_pair(network: Network, one: Entry, two: Entry) -> bool:
    """Drop a mask that another implies; the product is zero if both exclude each other."""
    (first, at, position), (second, other_at, other_place) = one, two
    if at == other_at:
        difference = second.offset - first.offset
        if is_nonnegative(difference):
            _drop(network, position)
            return True
        if is_nonnegative(-difference):
            _drop(network, other_place)
            return True
        return False
    if at == other_at[::-1] and is_nonnegative(first.offset + second.offset - 1):
        network.coef = Fraction(0)
        _drop(network, other_place)
        return True
    return False


def _permutation_pair(network: Network, one: Entry, two: Entry) -> bool:
    (first, at, _), (second, other_at, other_place) = one, two
    if first.offset != second.offset:
        return False
    axes = [(0, 0), (1, 1)] + ([(0, 1), (1, 0)] if first.kind == "flip" else [])
    for a, b in axes:
        if at[a] == other_at[b]:
            _drop(network, other_place)
            _unify_all(network, [(at[1 - a], other_at[1 - b])])
            return True
    return False


def _no_pair(network: Network, one: Entry, two: Entry) -> bool:
    (first, at, _), (second, other_at, other_place) = one, two
    if first == second and at == other_at:
        _drop(network, other_place)
        return True
    return False


def _lookup_pair(network: Network, one: Entry, two: Entry) -> bool:
    """Unify the axes of two lookups of the same entry of the same data."""
    (_, (source, *at), position), (_, (other, *there), other_place) = one, two
    if at != there or network.operands[position][0] is not network.operands[other_place][0]:
        return False
    _drop(network, other_place)
    _unify_all(network, [(source, other)])
    return True


PAIR: dict[str, Callable[[Network, Entry, Entry], bool]] = {
    "merge": _merge_pair,
    "slice": _slice_pair,
    "mask": _mask_pair,
    "flip": _permutation_pair,
    "shift": _permutation_pair,
    "conv": _no_pair,
    "triangle": _no_pair,
    "lookup": _lookup_pair,
}
