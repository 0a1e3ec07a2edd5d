"""Finds the order of contraction by exact dynamic programming over the connected parts of a product.

Every connected subset of the operands is a candidate. Its cost is that of the cheapest join of two parts by a kernel, a
sum in a loop, or entrywise. A part that exists already costs nothing, so products share common parts. Beyond a budget
of subsets the search is greedy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from math import prod

from matcalc.compiler.lowering_entries import TRAFFIC, Kernel
from matcalc.compiler.plan.products.join import Join, is_later
from matcalc.compiler.plan.products.match_kernel import Factor, Matcher
from matcalc.compiler.plan.products.part_keys import Key, part_key
from matcalc.compiler.plan.values.estimate import loop_time
from matcalc.compiler.plan.values.precompute import SHARE

BUDGET = 400
FEW = 5  # operands of a product whose pairs may be parts of others
MOST_SHARED = 6  # parts that are tried as shared
TASTE = 0.05  # ns, less than any step costs: breaks ties between orders of axes
WORTH = 0.98  # an order with shared parts must cost at most this multiple of the cheapest without


@dataclass(eq=False)
class Contraction:
    """The plan of one product: operands, indices of the result, estimated sizes of indices.

    `existing` maps each part that exists (a bit set) to its axes, in the product's indices. `via` are the costs of
    the factorisations of operations that are not computed yet, by step. `out_order` is the requested order of the
    result's axes, `reorder_cost` the cost of another order. The part `shared` costs nothing, since it occurs several
    times: the caller adds its cost once.
    """

    matcher: Matcher
    factors: list[Factor]
    kept: frozenset[int]
    measure: Mapping[int, float]
    virtual: InitVar[Sequence[bool]]
    via: Sequence[Mapping[str, tuple[object, float]]]
    forming: Mapping[int, tuple[float, frozenset[str]]]
    out_order: tuple[int, ...] = ()
    reorder_cost: float = 0.0
    ahead: int = 0  # which operands are known before a call (a bit set)
    existing: dict[int, tuple[int, ...]] = field(default_factory=dict)
    freed: dict[int, frozenset[int]] = field(default_factory=dict)
    keys: dict[int, tuple[Key, tuple[int, ...]]] = field(default_factory=dict)
    preferred: dict[int, tuple[int, ...]] = field(default_factory=dict)
    shared: Key | None = None

    def __post_init__(self, virtual: Sequence[bool]) -> None:
        self.indices = list(dict.fromkeys(i for f in self.factors for i in f.at))
        bit = {i: 1 << n for n, i in enumerate(self.indices)}
        self.bits = [sum(bit[i] for i in set(f.at)) for f in self.factors]
        self.kept_bits = sum(bit[i] for i in self.kept if i in bit)
        self.full = (1 << len(self.factors)) - 1
        self.are_distinct = len({f.who for f in self.factors}) == len(self.factors)
        self.table: dict[int, Join] = {}
        for position, factor in enumerate(self.factors):
            leaf = Join(1 << position, factor.at, "leaf", factor, virtual=virtual[position])
            if not factor.operation:
                leaf = self._reduced(leaf)
            self.table[1 << position] = leaf

    def again(self, existing: Mapping[int, tuple[int, ...]], shared: Key | None = None) -> Contraction:
        """Return the same product with other existing parts, or with one that is `shared`."""
        virtual = [self.table[1 << k].virtual for k in range(len(self.factors))]
        unchanged = (self.matcher, self.factors, self.kept, self.measure, virtual, self.via, self.forming)
        known = (dict(existing), self.freed, self.keys, self.preferred)
        return Contraction(*unchanged, self.out_order, self.reorder_cost, self.ahead, *known, shared)

    @property
    def new_index(self) -> int:
        """An index that the product does not have."""
        return 1 + max(self.measure)

    # ---- subsets

    def plan(self) -> Join:
        """Return the cheapest join of all operands.

        The search stores one join for each subset, the cheapest by itself. A part that occurs twice, as `S*W` in the
        gradient `S*W*W'*S*V` of `norm2(V'*S*W)^2`, may pay only if it is used twice: each such part is tried as shared.
        """
        top = self._searched()
        if self.are_distinct:
            return top
        least = top.cost * WORTH
        for key, cost in self._repeated():
            if cost >= least:
                continue
            other = self.again(self.existing, key)
            found = other._searched()
            if found.cost + cost < least:
                least, top, self.table = found.cost + cost, found, other.table
        return top

    def _repeated(self) -> list[tuple[Key, float]]:
        """Return the parts that occur more than once without overlap, and the cost of one of each."""
        masks: dict[Key, list[int]] = {}
        for mask, join in self.table.items():
            if mask & (mask - 1) and join.kind != "known" and mask != self.full:
                masks.setdefault(self.key(mask)[0], []).append(mask)
        repeated = {key: found for key, found in masks.items() if any(not m & found[0] for m in found)}
        return [(key, self.table[found[0]].cost) for key, found in repeated.items()][:MOST_SHARED]

    def _searched(self) -> Join:
        full = self.full
        if full in self.table:
            return self.table[full]
        most = max(2, len(self.kept & {i for f in self.factors for i in f.at}), *(len(f.at) for f in self.factors))
        for bound in (most, 99):
            levels = self._connected(bound)
            if levels is None:
                return self._greedy()
            for mask in levels:
                self._best(mask)
            if full in self.table:
                break
        return self.table[full]

    def pairs(self) -> Iterator[Key]:
        """Yield the parts of two operands that share a summed index, if the operands are few."""
        near = self._neighbours() if 2 < len(self.factors) <= FEW else []
        for right, mask in enumerate(near):
            yield from (self.key(1 << left | 1 << right)[0] for left in range(right) if mask >> left & 1)

    def _neighbours(self) -> list[int]:
        near = []
        for f in self.factors:
            mask = 0
            for position, g in enumerate(self.factors):
                if any(i in g.at and i not in self.kept for i in f.at):
                    mask |= 1 << position
            near.append(mask)
        return near

    def _connected(self, most: int) -> list[int] | None:
        """Return the connected subsets of two and more operands by size, None beyond the budget.

        Subsets whose result has more than `most` axes are skipped: an index that three operands share is summed when
        all three are joined, and two of them alone form a tensor that no good order computes.
        """
        near = self._neighbours()
        level = [1 << k for k in range(len(self.factors))]
        found: list[int] = []
        while level:
            grown: dict[int, None] = {}
            for mask in level:
                around, rest = 0, mask
                while rest:
                    low = rest & -rest
                    around |= near[low.bit_length() - 1]
                    rest ^= low
                around &= ~mask
                while around:
                    low = around & -around
                    grown[mask | low] = None
                    around ^= low
            found.extend(m for m in grown if len(self.free(m)) <= most)
            if len(found) > BUDGET or len(grown) > 4 * BUDGET:
                return None
            level = list(grown)
        return found

    def free(self, mask: int) -> frozenset[int]:
        """Return the indices of a subset that also occur in the result or in other operands."""
        known = self.freed.get(mask)
        if known is None:
            inside, outside = 0, self.kept_bits
            for position, bits in enumerate(self.bits):
                if mask >> position & 1:
                    inside |= bits
                else:
                    outside |= bits
            shared = inside & outside
            known = self.freed[mask] = frozenset(i for n, i in enumerate(self.indices) if shared >> n & 1)
        return known

    def key(self, mask: int) -> tuple[Key, tuple[int, ...]]:
        known = self.keys.get(mask)
        if known is None:
            members = [f for position, f in enumerate(self.factors) if mask >> position & 1]
            known = self.keys[mask] = part_key(members, self.free(mask))
        return known

    def names(self, mask: int) -> tuple[str, ...]:
        """Return the sorted names of the operands of a part."""
        return tuple(sorted([f.who for position, f in enumerate(self.factors) if mask >> position & 1]))

    def _step(self, mask: int) -> object:
        """Return the step of a part: equal parts share one, as X*w in norm2(X*w)^2 = w'*X'*X*w."""
        return "join", mask if self.are_distinct else self.key(mask)[0]

    def _best(self, mask: int) -> None:
        if mask in self.existing:
            axes = self.existing[mask]
            self.table[mask] = Join(mask, axes, "known", self.named(mask, axes))
            return
        lowest = mask & -mask
        best: Join | None = None
        for left in [m for m in self.table if m & lowest and m & mask == m and m != mask]:
            right = self.table.get(mask ^ left)
            if right is not None:
                best = self._join(self.table[left], right, mask, best)
        if best is not None:
            best.factor = self.named(mask, best.at)
            if self.shared is not None and self.key(mask)[0] == self.shared:
                best.cost, best.steps = 0.0, {}
            self.table[mask] = best

    def named(self, mask: int, at: tuple[int, ...]) -> Factor:
        """Return a part as an operand; equal parts in one orientation have one name."""
        if self.are_distinct:
            return Factor(at, f"part {mask}")
        key, order = self.key(mask)
        return Factor(at, f"{key} {[order.index(i) for i in at]}")

    def _greedy(self) -> Join:
        present = [self.table[1 << k] for k in range(len(self.factors))]
        while len(present) > 1:
            options = []
            for i, left in enumerate(present):
                for j in range(i):
                    if self._linked(left, present[j]):
                        join = self._join(present[j], left, left.mask | present[j].mask, None)
                        if join is not None:
                            options.append((join.cost - left.cost - present[j].cost, j, i, join))
            _, j, i, join = min(options, key=lambda o: o[:3])
            join.factor = self.named(join.mask, join.at)
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
        time = loop_time(volume, 1, volume, True)
        return Join(leaf.mask, at, "sum", factor, {key: time}, time, leaf.mask, 0, None, leaf.at)

    def _volume(self, indices: Sequence[int]) -> float:
        return prod([self.measure[index] for index in indices], start=1.0)

    def _share(self, mask: int) -> float:
        """Return a call's share of the cost of a part: small if it is computed ahead without loss of accuracy."""
        known = self.ahead and mask & ~self.ahead == 0
        return SHARE if known and (not self.free(mask) or not self.kept.isdisjoint(self.free(mask))) else 1.0

    def formed(self, leaf: Join) -> Join:
        """Return an operation as the array that holds its result."""
        cost, facts = self.forming[leaf.mask.bit_length() - 1]
        factor = Factor(leaf.at, leaf.factor.who, facts)
        return Join(leaf.mask, leaf.at, "leaf", factor, {("form", leaf.factor.who): cost}, cost, formed=leaf.mask)

    def _join(self, left: Join, right: Join, mask: int, best: Join | None) -> Join | None:
        """Return the cheapest join of two parts, with operations taken as factors or formed first, or `best`."""
        for first in (left, self.formed(left)) if left.factor.operation else (left,):
            for second in (right, self.formed(right)) if right.factor.operation else (right,):
                best = self._join_as(first, second, mask, best)
        return best

    def _join_as(self, left: Join, right: Join, mask: int, best: Join | None) -> Join | None:
        apart = left.steps.keys().isdisjoint(right.steps)
        base = left.cost + right.cost if apart else sum({**left.steps, **right.steps}.values())
        if best is not None and base >= best.cost:
            return best
        base += self._writing(left) + self._writing(right)
        free = self.free(mask)
        formed = left.formed * (left.kind == "leaf") | right.formed * (right.kind == "leaf")
        for match in self.matcher.matches((left.factor, right.factor), free):
            via = self._via((left, right), match.kernel)
            own = match.time(self.measure) * self._share(mask)
            cost = (
                base
                + own
                + (via[1] if via and via[0] not in left.steps else 0.0)
                + self._reorder_cost(mask, match.axes)
            )
            if best is None or cost < best.cost or (cost == best.cost and is_later(match, best.match)):
                steps = {**left.steps, **right.steps, **dict([via] if via else [])}
                steps[self._step(mask)] = cost - sum(steps.values())
                best = Join(mask, match.axes, "kernel", left.factor, steps, cost, left.mask, right.mask, match)
                best.formed = formed
        if left.factor.operation or right.factor.operation:
            return best if best is not None and best.kind == "kernel" else self._unlinked(left, right, mask, free, best)
        return self._looped(left, right, mask, free, base, formed, best)

    def _reorder_cost(self, mask: int, at: tuple[int, ...]) -> float:
        """Return the cost of an order of axes: of the result if it differs from the requested one, else a tie-break."""
        if mask == self.full:
            return self.reorder_cost if len(at) == len(self.out_order) and at != self.out_order else 0.0
        preferred = self._preferred_order(mask)
        return TASTE if preferred and at != preferred else 0.0

    def _preferred_order(self, mask: int) -> tuple[int, ...]:
        """Return the order of a part's axes in which another operand has the same axes, or the same rows; else ()."""
        found = self.preferred.get(mask)
        if found is None:
            free = self.free(mask)
            others = [f.at for position, f in enumerate(self.factors) if not mask >> position & 1 and len(f.at) > 1]
            others.sort(key=self._volume, reverse=True)
            alike = [at for at in others if len(at) == len(free) and free == set(at)]
            rows = [(at[0], i) for at in others for i in free if at[0] in free and i != at[0]] if len(free) == 2 else []
            found = self.preferred[mask] = (*alike, *rows, ())[0]
        return found

    def _via(self, pair: Sequence[Join], kernel: Kernel) -> tuple[object, float] | None:
        """Return the step and the cost of the factorisation for a match."""
        for join in pair:
            if join.factor.operation and kernel.via:
                return self.via[join.mask.bit_length() - 1].get(kernel.via[0].name)
        return None

    def _writing(self, join: Join) -> float:
        """Return the time to write out an operand that is not an array yet."""
        return 16 * TRAFFIC * self._volume(join.at) if join.virtual else 0.0

    def _looped(
        self,
        left: Join,
        right: Join,
        mask: int,
        free: frozenset[int],
        base: float,
        formed: int,
        best: Join | None,
    ) -> Join | None:
        wide, narrow = (left, right) if len(left.at) >= len(right.at) else (right, left)
        both = (*wide.at, *(i for i in narrow.at if i not in wide.at))
        at = tuple(i for i in both if i in free)
        kind = "point" if len(at) == len(both) else "sum"
        domain = both
        if kind == "point":
            at = domain = self._in_out_order(both)
        elif set(narrow.at) - set(wide.at):
            domain = (*at, *(i for i in both if i not in free))
        entries = self._volume(left.at) + self._volume(right.at)
        base -= sum(self._writing(operand) for operand in (left, right) if len(operand.at) == len(both))
        stream = all(domain[-1] not in j.at or j.at[-1] == domain[-1] for j in (left, right)) if domain else True
        cost = base + loop_time(self._volume(domain), 2 if kind == "sum" else 1, entries, stream) * self._share(mask)
        cost += self._reorder_cost(mask, at)
        if best is not None and cost >= best.cost:
            return best
        steps = {**left.steps, **right.steps}
        steps[self._step(mask)] = cost - sum(steps.values())
        join = Join(mask, at, kind, left.factor, steps, cost, left.mask, right.mask, None, domain, kind == "point")
        join.formed = formed
        return join

    def _in_out_order(self, at: tuple[int, ...]) -> tuple[int, ...]:
        """Return axes with those of the result in the requested order, the others unmoved."""
        ordered = iter([i for i in dict.fromkeys(self.out_order) if i in at])
        return tuple(next(ordered) if i in self.out_order else i for i in at)

    def _unlinked(self, left: Join, right: Join, mask: int, free: frozenset[int], best: Join | None) -> Join | None:
        """Join an operation with an operand that has both its indices: solve, then take the diagonal."""
        first, second = (left, right) if left.factor.operation else (right, left)
        if second.factor.operation or len(first.at) != 2 or not set(first.at) <= set(second.at):
            return best
        new = self.new_index
        for met in first.at:
            if met in free:  # an index of the result is not summed
                continue
            other = first.at[1 - first.at.index(met)]
            measure = {**self.measure, new: self.measure[other]}
            at = tuple(new if i == other else i for i in second.at)
            kept = frozenset({*(i for i in at if i != met), other})
            for match in self.matcher.matches((first.factor, Factor(at, second.factor.who)), kept):
                via = self._via((left, right), match.kernel)
                steps = {**left.steps, **right.steps, **dict([via] if via else [])}
                steps[self._step(mask)] = match.time(measure) + self._writing(second)
                cost = sum(steps.values())
                if best is None or cost < best.cost:
                    out = tuple(i for i in match.axes if i != new and i in free)
                    best = Join(mask, out, "unlink", first.factor, steps, cost, first.mask, second.mask, match)
                    best.domain = (other, new)
        return best
