"""Keys of equal parts of products, independent of the names of indices and the order of operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matcalc.compiler.plan.products.match_kernel import Factor

Key = tuple[object, ...]


def part_key(members: Sequence[Factor], free: frozenset[int]) -> tuple[Key, tuple[int, ...]]:
    """Return a key that two parts of products share if they are equal up to the order of axes.

    The second result is the order of the free indices in the key. Ties that colours do not break are broken by the
    order of the arguments: a part may then be computed twice, but never be mistaken for another.
    """
    colour = {i: (0 if i in free else 1) for f in members for i in f.at}
    for _ in range(3):
        seen: dict[int, list[tuple[object, ...]]] = {i: [] for i in colour}
        for f in members:
            shown = _index_numbers(f, colour)
            for axis, i in enumerate(f.at):
                seen[i].append((f.who, 0 if f.mirrored else axis, shown))
        signature = {i: (colour[i], tuple(sorted(seen[i]))) for i in colour}
        rank = {s: n for n, s in enumerate(sorted(set(signature.values())))}
        refined = {i: rank[signature[i]] for i in colour}
        stable = len(rank) == len(set(colour.values()))
        colour = refined
        if stable or len(rank) == len(colour):
            break
    order = sorted(colour, key=lambda i: colour[i])
    label = {i: n for n, i in enumerate(order)}
    structure = tuple(sorted((f.who, _index_numbers(f, label)) for f in members))
    listed = tuple(i for i in order if i in free)
    return (structure, tuple(label[i] for i in listed)), listed


def _index_numbers(factor: Factor, number: Mapping[int, int]) -> tuple[int, ...]:
    """Return the numbers of an operand's indices, sorted if it is mirrored."""
    found = tuple(number[i] for i in factor.at)
    return tuple(sorted(found)) if factor.mirrored else found
