"""The order of contraction: exact dynamic programming over the connected parts of a product.

Every connected subset of the operands is a candidate, its cost that of the cheapest way to join two parts: a
kernel, a sum in a loop, or entrywise. A part that is there already costs nothing, so products share what they
have in common. Beyond a budget of subsets the cheapest join is taken greedily.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matcalc.plan.cost import loop_time
from matcalc.plan.entries import TRAFFIC
from matcalc.plan.match import Factor, Match, Matcher

BUDGET = 400
Key = tuple[object, ...]


@dataclass(slots=True)
class Join:
    """How a subset of operands is computed: `left` and `right` are the joined subsets (bit sets)."""

    mask: int
    at: tuple[int, ...]
    kind: str  # leaf, known, kernel, sum, point, unlink
    factor: Factor
    steps: dict[object, float] = field(default_factory=dict)
    left: int = 0
    right: int = 0
    match: Match | None = None
    domain: tuple[int, ...] = ()
    virtual: bool = False
    formed: int = 0  # which of the joined operands are operations to be formed first (a bit set)

    @property
    def cost(self) -> float:
        return sum(self.steps.values())


class Contraction:
    """The plan of one product: operands, the indices that are kept, estimated sizes of indices.

    `known` tells of a part whether it exists: its axes in the product's indices. `extra` are the costs of using
    an operand that is not computed yet, by step: a factorisation, or the entries of a virtual array.
    """

    def __init__(
        self,
        matcher: Matcher,
        factors: Sequence[Factor],
        kept: frozenset[int],
        measure: Mapping[int, float],
        known: Mapping[Key, tuple[int, ...]],
        virtual: Sequence[bool],
        via: Sequence[Mapping[str, tuple[object, float]]],
        forming: Mapping[int, tuple[float, frozenset[str]]],
    ) -> None:
        self.matcher = matcher
        self.factors = list(factors)
        self.kept = kept
        self.measure = measure
        self.known = known
        self.via = via
        self.forming = forming
        self.table: dict[int, Join] = {}
        for place, factor in enumerate(self.factors):
            leaf = Join(1 << place, factor.at, "leaf", factor, virtual=virtual[place])
            if not factor.operation:
                leaf = self._reduced(leaf)
            self.table[1 << place] = leaf

    # ---- subsets

    def plan(self) -> Join:
        """Return the cheapest way to compute all operands together."""
        full = (1 << len(self.factors)) - 1
        if full in self.table:
            return self.table[full]
        levels = self._connected()
        if levels is None:
            return self._greedy()
        for mask in levels:
            self._best(mask)
        return self.table[full]

    def _neighbours(self) -> list[int]:
        near = []
        for f in self.factors:
            mask = 0
            for place, g in enumerate(self.factors):
                if any(i in g.at and i not in self.kept for i in f.at):
                    mask |= 1 << place
            near.append(mask)
        return near

    def _connected(self) -> list[int] | None:
        """Return the connected subsets of two and more operands by size, None beyond the budget."""
        near = self._neighbours()
        level = [1 << k for k in range(len(self.factors))]
        found: list[int] = []
        while level:
            grown: dict[int, None] = {}
            for mask in level:
                around = 0
                for place, adjacent in enumerate(near):
                    if mask >> place & 1:
                        around |= adjacent
                around &= ~mask
                for place in range(len(near)):
                    if around >> place & 1:
                        grown[mask | 1 << place] = None
            found.extend(grown)
            if len(found) > BUDGET:
                return None
            level = list(grown)
        return found

    def free(self, mask: int) -> frozenset[int]:
        """Return the indices of a subset that the result or other operands have."""
        inside: set[int] = set()
        outside: set[int] = set()
        for place, factor in enumerate(self.factors):
            (inside if mask >> place & 1 else outside).update(factor.at)
        return frozenset(i for i in inside if i in self.kept or i in outside)

    def key(self, mask: int) -> tuple[Key, tuple[int, ...]]:
        members = [f for place, f in enumerate(self.factors) if mask >> place & 1]
        return part_key(members, self.free(mask))

    def _best(self, mask: int) -> None:
        key, order = self.key(mask)
        if key in self.known:
            axes = tuple(order[p] for p in self.known[key])
            self.table[mask] = Join(mask, axes, "known", self._named(mask, axes))
            return
        lowest = mask & -mask
        best: Join | None = None
        for left in [m for m in self.table if m & lowest and m & mask == m and m != mask]:
            right = self.table.get(mask ^ left)
            if right is None:
                continue
            join = self._join(self.table[left], right, mask)
            if join is not None and (best is None or join.cost < best.cost):
                best = join
        assert best is not None
        best.factor = self._named(mask, best.at)
        self.table[mask] = best

    def _named(self, mask: int, at: tuple[int, ...]) -> Factor:
        """Return a part as an operand; equal parts in one orientation have one name."""
        key, order = self.key(mask)
        return Factor(at, f"{key} {[order.index(i) for i in at]}")

    def _greedy(self) -> Join:
        present = [self.table[1 << k] for k in range(len(self.factors))]
        while len(present) > 1:
            options = []
            for i, left in enumerate(present):
                for j in range(i):
                    if self._linked(left, present[j]):
                        join = self._join(present[j], left, left.mask | present[j].mask)
                        if join is not None:
                            options.append((join.cost - left.cost - present[j].cost, j, i, join))
            _, j, i, join = min(options, key=lambda o: o[:3])
            join.factor = self._named(join.mask, join.at)
            self.table[join.mask] = join
            present = [p for k, p in enumerate(present) if k not in (i, j)] + [join]
        return present[0]

    def _linked(self, left: Join, right: Join) -> bool:
        return any(i in right.at and i not in self.kept for i in left.at)

    # ---- joins

    def _reduced(self, leaf: Join) -> Join:
        """Sum out the indices that only this operand has."""
        free = self.free(leaf.mask)
        if all(i in free for i in leaf.at):
            return leaf
        at = tuple(i for i in leaf.at if i in free)
        key = ("sum", leaf.factor.who, leaf.factor.at, at)
        factor = Factor(at, str(key))
        volume = self._volume(leaf.at)
        return Join(leaf.mask, at, "sum", factor, {key: loop_time(volume, 1, volume)}, leaf.mask, 0, None, leaf.at)

    def _volume(self, indices: Sequence[int]) -> float:
        volume = 1.0
        for index in indices:
            volume *= self.measure[index]
        return volume

    def formed(self, leaf: Join) -> Join:
        """Return an operation as the array that it is when it has been computed."""
        cost, facts = self.forming[leaf.mask.bit_length() - 1]
        factor = Factor(leaf.at, leaf.factor.who, facts)
        return Join(leaf.mask, leaf.at, "leaf", factor, {("form", leaf.factor.who): cost}, formed=leaf.mask)

    def _join(self, left: Join, right: Join, mask: int) -> Join | None:
        """Return the cheapest join of two parts, of those that are not computed as they are or formed."""
        best: Join | None = None
        for first in (left, self.formed(left)) if left.factor.operation else (left,):
            for second in (right, self.formed(right)) if right.factor.operation else (right,):
                join = self._join_as(first, second, mask)
                if join is not None:
                    join.formed = first.formed * (first.kind == "leaf") | second.formed * (second.kind == "leaf")
                    if best is None or join.cost < best.cost:
                        best = join
        return best

    def _join_as(self, left: Join, right: Join, mask: int) -> Join | None:
        free = self.free(mask)
        steps = {**left.steps, **right.steps}
        unformed = [j for j in (left, right) if j.factor.operation]
        best: Join | None = None
        for match in self.matcher.matches((left.factor, right.factor), free):
            added = dict(steps)
            self._charge(added, (left, right), match)
            added[("kernel", mask)] = match.time(self.measure) + self._writing((left, right))
            join = Join(mask, match.axes, "kernel", Factor(match.axes, ""), added, left.mask, right.mask, match)
            if best is None or join.cost < best.cost or (join.cost == best.cost and _later(join, best)):
                best = join
        if unformed:
            return best or self._unlinked(left, right, mask, free)
        loop = self._looped(left, right, mask, free, steps)
        return loop if best is None or loop.cost < best.cost else best

    def _charge(self, steps: dict[object, float], pair: Sequence[Join], match: Match) -> None:
        """Add the factorisation that a match needs."""
        for join in pair:
            if join.factor.operation and match.kernel.via is not None:
                place = join.mask.bit_length() - 1
                key, cost = self.via[place].get(match.kernel.via.name, (None, 0.0))
                if key is not None:
                    steps[key] = cost

    def _writing(self, pair: Sequence[Join]) -> float:
        return sum(16 * TRAFFIC * self._volume(j.at) for j in pair if j.virtual)

    def _looped(
        self, left: Join, right: Join, mask: int, free: frozenset[int], steps: dict[object, float]
    ) -> Join:
        wide, narrow = (left, right) if len(left.at) >= len(right.at) else (right, left)
        both = (*wide.at, *(i for i in narrow.at if i not in wide.at))
        at = tuple(i for i in both if i in free)
        kind = "point" if len(at) == len(both) else "sum"
        domain = both
        if set(narrow.at) - set(wide.at) and kind == "sum":
            domain = (*at, *(i for i in both if i not in free))
        volume = self._volume(domain)
        entries = sum(self._volume(j.at) for j in (left, right))
        added = {**steps, (kind, mask): loop_time(volume, 2 if kind == "sum" else 1, entries)}
        factor = Factor(at, "")
        return Join(mask, at, kind, factor, added, left.mask, right.mask, None, domain, kind == "point")

    def _unlinked(self, left: Join, right: Join, mask: int, free: frozenset[int]) -> Join | None:
        """Join what is not computed with an operand that has both its indices: solve, then take the diagonal."""
        first, second = (left, right) if left.factor.operation else (right, left)
        if second.factor.operation or len(first.at) != 2 or not set(first.at) <= set(second.at):
            return None
        new = 1 + max(self.measure)
        best: Join | None = None
        for met in first.at:
            other = first.at[1 - first.at.index(met)]
            measure = {**self.measure, new: self.measure[other]}
            at = tuple(new if i == other else i for i in second.at)
            kept = frozenset({*(i for i in at if i != met), other})
            for match in self.matcher.matches((first.factor, Factor(at, second.factor.who)), kept):
                steps = {**left.steps, **right.steps}
                self._charge(steps, (left, right), match)
                steps[("kernel", mask)] = match.time(measure) + self._writing((second,))
                out = tuple(i for i in match.axes if i != new and i in free)
                join = Join(mask, out, "unlink", Factor(out, ""), steps, first.mask, second.mask, match, (other, new))
                if best is None or join.cost < best.cost:
                    best = join
        return best


def _later(join: Join, best: Join) -> bool:
    if join.match is None or best.match is None:
        return False
    mine, other = join.match, best.match
    flips = (sum(f for *_, f in mine.fields), sum(f for *_, f in other.fields))
    return (mine.kernel.order, -flips[0]) > (other.kernel.order, -flips[1])


def part_key(members: Sequence[Factor], free: frozenset[int]) -> tuple[Key, tuple[int, ...]]:
    """Return a key that parts of products have in common when they are equal up to the order of axes.

    The second result is the order of the free indices that the key stands for. Ties that colours do not
    break are broken by the order given: a part may then be computed twice, never be taken for another.
    """
    colour = {i: (0 if i in free else 1) for f in members for i in f.at}
    for _ in range(3):
        seen: dict[int, list[tuple[object, ...]]] = {i: [] for i in colour}
        for f in members:
            shown = tuple(colour[i] for i in f.at)
            for place, i in enumerate(f.at):
                seen[i].append((f.who, place, shown))
        signature = {i: (colour[i], tuple(sorted(seen[i]))) for i in colour}  # type: ignore[type-var]
        rank = {s: n for n, s in enumerate(sorted(set(signature.values())))}
        refined = {i: rank[signature[i]] for i in colour}
        stable = len(rank) == len(set(colour.values()))
        colour = refined
        if stable or len(rank) == len(colour):
            break
    order = sorted(colour, key=lambda i: colour[i])
    label = {i: n for n, i in enumerate(order)}
    structure = tuple(sorted((f.who, tuple(label[i] for i in f.at)) for f in members))
    listed = tuple(i for i in order if i in free)
    return (structure, tuple(label[i] for i in listed)), listed
