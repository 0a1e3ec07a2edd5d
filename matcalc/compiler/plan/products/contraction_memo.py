"""Records parts of products that exist and orders of contraction found before, shared by the compared plans.

The search reads only the pattern of a product: indices and facts of the operands, which operands are equal, sizes,
costs, and existing parts. The pattern does not depend on names of operands and indices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations, product

from matcalc.compiler.plan.products.contraction_order import Contraction
from matcalc.compiler.plan.products.join import Join
from matcalc.compiler.plan.products.match_kernel import with_indices
from matcalc.compiler.plan.products.part_keys import Key

Names = tuple[str, ...]


class Parts:
    """The parts of products that exist, as sorted names of operands, grouped by the first two names."""

    def __init__(self) -> None:
        self.known: dict[Names, dict[Names, None]] = {}

    def add(self, names: Names) -> None:
        """Add a part; one operand alone is not a part."""
        if len(names) > 1:
            self.known.setdefault(names[:2], {})[names] = None

    def within(self, names: Sequence[str]) -> Iterator[int]:
        """Yield the subsets of these operands, as bit sets, that exist as parts."""
        positions: dict[str, list[int]] = {}
        for position, name in enumerate(names):
            positions.setdefault(name, []).append(position)
        for pair in dict.fromkeys(combinations(sorted(names), 2)):
            for part in self.known.get(pair, ()):
                if positions.keys() >= set(part):
                    chosen = (combinations(positions[name], count) for name, count in Counter(part).items())
                    yield from (sum(1 << k for several in one for k in several) for one in product(*chosen))


class Orders:
    """The orders found for one plan and those it is compared with; `searches` counts the searches."""

    def __init__(self) -> None:
        self.found: dict[object, tuple[Join, ...]] = {}
        self.searches = 0

    def plan(self, contraction: Contraction) -> Join:
        """Return the cheapest join of a whole product."""
        if len(contraction.factors) < 2:
            return contraction.plan()
        number = _numbers(contraction)
        pattern = _pattern(contraction, number)
        if pattern not in self.found:
            self.searches += 1
            top = contraction.plan()
            self.found[pattern] = tuple(_with_indices(join, number) for join in _joins(contraction, top))
            return top
        back = {n: index for index, n in number.items()}
        for join in self.found[pattern]:
            made = _with_indices(join, back)
            made.factor = contraction.named(made.mask, made.at)
            contraction.table[made.mask] = made
        return contraction.table[contraction.full]

    def is_as_alone(self, contraction: Contraction, met: Set[Key]) -> bool:
        """Whether the parts in an order are the same as if no parts existed before."""
        alone = contraction.again({})
        return met <= parts_in(alone, self.plan(alone))


def parts_in(contraction: Contraction, top: Join) -> set[Key]:
    """Return the parts that an order computes or reuses, including the whole."""
    return {contraction.key(join.mask)[0] for join in _joins(contraction, top)}


def _numbers(contraction: Contraction) -> dict[int, int]:
    """Return indices numbered in order of appearance; the last is the one that an order may add."""
    shown = [*(i for factor in contraction.factors for i in factor.at), *contraction.out_order, contraction.new_index]
    return {index: n for n, index in enumerate(dict.fromkeys(shown))}


def _pattern(contraction: Contraction, number: Mapping[int, int]) -> object:
    names = [factor.who for factor in contraction.factors]
    ranks = () if contraction.are_distinct else tuple(map(sorted(set(names)).index, names))
    steps: dict[object, int] = {}
    return (
        tuple(
            (tuple(number[i] for i in f.at), f.facts, f.operation, f.mirrored, contraction.table[1 << k].virtual)
            for k, f in enumerate(contraction.factors)
        ),
        ranks,
        frozenset(number[i] for i in contraction.kept if i in number),
        tuple(contraction.measure.get(i) for i in number),
        tuple((mask, *(number[i] for i in axes)) for mask, axes in sorted(contraction.existing.items())),
        tuple(
            tuple((name, steps.setdefault(step, len(steps)), cost) for name, (step, cost) in sorted(via.items()))
            for via in contraction.via
        ),
        tuple(sorted(contraction.forming.items())),
        tuple(number[i] for i in contraction.out_order),
        contraction.reorder_cost,
        contraction.ahead,
    )


def _joins(contraction: Contraction, top: Join) -> Iterable[Join]:
    """Return the joins of an order other than operands."""
    found: dict[int, Join] = {}
    pending = [top]
    while pending:
        join = pending.pop()
        if join.mask & (join.mask - 1):
            found[join.mask] = join
            pending += [contraction.table[m] for m in (join.left, join.right) if m]
    return found.values()


def _with_indices(join: Join, number: Mapping[int, int]) -> Join:
    """Return a join with other indices and without its steps, which only the search reads."""
    return Join(
        join.mask,
        tuple(number[i] for i in join.at),
        join.kind,
        join.factor,
        left=join.left,
        right=join.right,
        match=None if join.match is None else with_indices(join.match, number),
        domain=tuple(number[i] for i in join.domain),
        virtual=join.virtual,
        formed=join.formed,
    )
