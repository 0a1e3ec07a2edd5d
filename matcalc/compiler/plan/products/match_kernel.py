"""Finds kernels for a pair of operands: unification with the entries' patterns, after folding and peeling.

A pair is matched with every pattern in both orders and all flips. Indices that are adjacent wherever they occur fold
into one (the operand is reshaped). An index that leads wherever it occurs may be peeled off into a loop round the
kernel, which accumulates if the index is summed. Both are tried only if nothing fits otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations, product
from math import prod

from matcalc.compiler.lowering_entries import Kernel, Lowerings
from matcalc.compiler.terms import Term

Group = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Factor:
    """An operand of a product: its indices, name and facts; `operation` if it is not computed yet.

    If it is `mirrored`, its two indices may be exchanged.
    """

    at: tuple[int, ...]
    who: str
    facts: frozenset[str] = frozenset()
    operation: str = ""
    mirrored: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A kernel for a pair: the factor number and flip of each field, the indices of each letter and result axis."""

    kernel: Kernel
    fields: tuple[tuple[str, int, bool], ...]
    letters: tuple[tuple[str, Group], ...]
    out: tuple[Group, ...]
    batch: tuple[int, ...] = ()

    def sizes(self, measure: Mapping[int, float]) -> dict[str, float]:
        return {letter: prod([measure[i] for i in group], start=1.0) for letter, group in self.letters}

    def time(self, measure: Mapping[int, float]) -> float:
        return prod([measure[i] for i in self.batch], start=1.0) * self.kernel.time(self.sizes(measure))

    @property
    def axes(self) -> tuple[int, ...]:
        """The indices of the result; peeled indices that are not summed come first."""
        return tuple(i for group in self.out for i in group)


class Matcher:
    """Finds kernels for pairs; pairs of the same form are matched once."""

    def __init__(self, lowerings: Lowerings) -> None:
        self.lowerings = lowerings
        self.renumbered: dict[object, tuple[Match, ...]] = {}

    def matches(self, pair: Sequence[Factor], kept: frozenset[int]) -> tuple[Match, ...]:
        """Return all matches of a pair whose result has the indices `kept`, in the indices of the pair."""
        alike = len(pair) > 1 and pair[0].who == pair[1].who
        key = (tuple((f.at, f.operation, f.facts) for f in pair), kept, alike)
        if key in self.renumbered:
            return self.renumbered[key]
        number: dict[int, int] = {}
        for factor in pair:
            for index in factor.at:
                number.setdefault(index, len(number))
        back = {n: i for i, n in number.items()}
        form = (
            tuple((tuple(number[i] for i in f.at), f.operation, f.facts) for f in pair),
            tuple(sorted(number[i] for i in kept if i in number)),
            alike,
        )
        found = self.renumbered[key] = tuple(with_indices(m, back) for m in _matches(self.lowerings, form))
        return found


Form = tuple[tuple[tuple[tuple[int, ...], str, frozenset[str]], ...], tuple[int, ...], bool]
"""A pair with indices numbered in order of appearance: operations and facts, indices of the result, whether equal."""


@lru_cache(maxsize=1024)
def _matches(lowerings: Lowerings, form: Form) -> tuple[Match, ...]:
    """Return all matches of a form."""
    pair = [Factor(at, "0" if form[2] else str(k), facts, op) for k, (at, op, facts) in enumerate(form[0])]
    kept = frozenset(form[1])
    if any(len(set(f.at)) < len(f.at) for f in pair):
        return ()
    batch: list[int] = []
    while True:
        found = list(_unify(lowerings, [(f, tuple((i,) for i in f.at)) for f in pair], kept))
        if not found:
            found = list(_unify(lowerings, _folded(pair, kept), kept))
        if found:
            return tuple(_with_batch(m, tuple(batch), kept) for m in found)
        leading = _leading(pair)
        if leading is None or any(f.operation for f in pair):
            return ()
        batch.append(leading)
        pair = [_within(f, leading) for f in pair]
        kept = kept if leading in kept else kept - {leading}


def _unify(lowerings: Lowerings, pair: list[tuple[Factor, tuple[Group, ...]]], kept: frozenset[int]) -> Iterator[Match]:
    heads = [f.operation for f, _ in pair if f.operation]
    if len(heads) > 1:
        return
    kernels = lowerings.operations.get(heads[0], ()) if heads else lowerings.products
    free = {g for _, groups in pair for g in groups if g[0] in kept}
    for kernel in kernels:
        if len(kernel.factors) != len(pair) or len(kernel.results) != 1:
            continue
        for order in permutations(range(len(pair))):
            terms = list(zip(kernel.factors, order, strict=True))
            if all(len(pair[n][1]) == len(t.letters or ()) for t, n in terms):
                yield from _assign(kernel, terms, pair, free)


def _assign(
    kernel: Kernel,
    terms: list[tuple[Term, int]],
    pair: list[tuple[Factor, tuple[Group, ...]]],
    free: set[Group],
) -> Iterator[Match]:
    if any(bool(term.args) != bool(pair[n][0].operation) for term, n in terms):
        return
    head = next((n for term, n in terms if term.args), terms[0][1])
    if not kernel.when <= pair[head][0].facts:
        return
    options = [(False, True) if _may_flip(kernel, t) and len(t.letters or ()) == 2 else (False,) for t, _ in terms]
    for flips in product(*options):
        letters: dict[str, Group] = {}
        fields: list[tuple[str, int, bool]] = []
        if all(_bind(t, n, flip, pair, letters, fields) for (t, n), flip in zip(terms, flips, strict=True)):
            yield from _results(kernel, letters, fields, free)


def _may_flip(kernel: Kernel, term: Term) -> bool:
    return (term.args[0].name if term.args else term.name) in kernel.flips


def _bind(
    term: Term,
    number: int,
    flip: bool,
    pair: list[tuple[Factor, tuple[Group, ...]]],
    letters: dict[str, Group],
    fields: list[tuple[str, int, bool]],
) -> bool:
    name = term.args[0].name if term.args else term.name
    groups = pair[number][1]
    for letter, group in zip(term.letters or (), reversed(groups) if flip else groups, strict=True):
        if letters.setdefault(letter, group) != group:
            return False
    if len(set(letters.values())) < len(letters):
        return False
    for other, position, other_flip in fields:
        if other == name and (pair[position][0].who != pair[number][0].who or other_flip != flip):
            return False
    fields.append((name, number, flip))
    return True


def _within(factor: Factor, leading: int) -> Factor:
    """Return a factor inside the loop over its first index, named so that equal factors stay equal."""
    if leading not in factor.at:
        return factor
    return Factor(tuple(i for i in factor.at if i != leading), f"{factor.who}[{leading}]", factor.facts)


def _results(
    kernel: Kernel, letters: dict[str, Group], fields: list[tuple[str, int, bool]], free: set[Group]
) -> Iterator[Match]:
    result = kernel.results[0]
    if any(letter not in letters for letter in result.letters or ()):
        return
    out = tuple(letters[letter] for letter in result.letters or ())
    if set(out) != free or len(set(out)) < len(out):
        return
    yield Match(kernel, tuple(fields), tuple(letters.items()), out)


def _folded(pair: list[Factor], kept: frozenset[int]) -> list[tuple[Factor, tuple[Group, ...]]]:
    """Group adjacent indices that occur only together and are all in the result or all summed."""
    follows: dict[int, set[int | None]] = {}
    before: dict[int, set[int | None]] = {}
    for factor in pair:
        for position, index in enumerate(factor.at):
            after = factor.at[position + 1] if position + 1 < len(factor.at) else None
            follows.setdefault(index, set()).add(after)
            before.setdefault(index, set()).add(factor.at[position - 1] if position else None)
    joined = {
        i
        for i, after in follows.items()
        if len(after) == 1 and (j := next(iter(after))) is not None and before[j] == {i} and (i in kept) == (j in kept)
    }
    result = []
    for factor in pair:
        groups: list[Group] = []
        for position, index in enumerate(factor.at):
            if position and factor.at[position - 1] in joined:
                groups[-1] = (*groups[-1], index)
            else:
                groups.append((index,))
        result.append((factor, tuple(groups)))
    return result


def _leading(pair: list[Factor]) -> int | None:
    """Return an index that leads in every operand that has it."""
    for factor in pair:
        if len(factor.at) > 1:
            index = factor.at[0]
            if all(index not in f.at or f.at[0] == index for f in pair):
                return index
    return None


def _with_batch(match: Match, batch: tuple[int, ...], kept: frozenset[int]) -> Match:
    return replace(match, out=(*((i,) for i in batch if i in kept), *match.out), batch=batch)


def with_indices(match: Match, number: Mapping[int, int]) -> Match:
    """Return a match with other indices."""

    def group(g: Group) -> Group:
        return tuple(number[i] for i in g)

    letters = tuple((letter, group(g)) for letter, g in match.letters)
    return replace(match, letters=letters, out=tuple(map(group, match.out)), batch=group(match.batch))
