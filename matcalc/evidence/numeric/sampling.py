"""Random data with declared facts: the samplers and projections of the rulebook, evaluated by the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from matcalc.calculus.evaluate.check_data import applied
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.rule import Fact
from matcalc.tensor.lookups import is_index
from matcalc.tensor.node import Node
from matcalc.tensor.size import Size

ROUNDING = 1e-12
"""What counts as 0, relative to the largest entry, where a fact asks for more than 0."""

Array = np.ndarray[Any, np.dtype[Any]]


def sample(rng: np.random.Generator, shape: Sequence[int], facts: Sequence[str] = (), scale: float = 1.0) -> Array:
    """Return normal draws, scaled, made to have the facts: by the sampler of each, the most particular last."""
    return _made(np.asarray(scale * rng.standard_normal(tuple(shape))), facts, lambda fact: fact.sample)


def drawn(rng: np.random.Generator, shape: tuple[int, ...], facts: Sequence[str], mode: int) -> Array:
    """Return draws with facts, strictly inside their bounds; without any, where a mode says."""
    return sample(rng, shape, interior(facts, mode > 0)) if facts else MODES[mode](rng, shape)


def drawn_for(node: Node, sizes: Mapping[str, int], along: Sequence[Size], mode: int, *seed: int) -> Array:
    """Return data of a symbol at these sizes; of an index, places of axes `along` which it is looked up."""
    rng = np.random.default_rng([*seed, *node.name.encode()])
    shape = shape_at(node.shape, sizes)
    return places(rng, shape, along, sizes) if is_index(node) else drawn(rng, shape, facts_of(node), mode)


def facts_of(node: Node) -> tuple[str, ...]:
    """Return the declared facts of a symbol that say something of its value."""
    return tuple(sorted(node.data[1] - {"constant"}))


def shape_at(shape: Sequence[Size], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return a shape at these sizes."""
    return tuple(size.evaluate(dict(sizes)) for size in shape)


def interior(facts: Sequence[str], definite: bool = False) -> tuple[str, ...]:
    """Return facts with those that allow a boundary made strict: positive for nonnegative, spd for psd.

    `definite` makes spd of symmetric too.
    """
    book = default_rulebook()

    def strict(fact: str) -> str:
        limit = book.facts[fact].nonnegative
        if book.facts[fact].positive is not None:
            return fact
        for inner in book.facts.values():
            is_strict = inner.positive is not None and (definite or inner.positive == limit)
            if is_strict and fact != inner.name and fact in book.closure([inner.name]):
                return inner.name
        return fact

    return tuple(map(strict, facts))


def _near_identity(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    if len(shape) == 2 and shape[0] == shape[1]:
        return 0.2 * rng.standard_normal(shape) + 1.5 * np.eye(*shape)
    return np.asarray(rng.uniform(0.2, 0.8, shape))


def _spread(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    if len(shape) == 2 and shape[0] == shape[1]:
        return 0.1 * rng.uniform(0.1, 1.0, shape) + np.diag(np.arange(1.0, shape[0] + 1))
    return np.asarray(rng.uniform(1.2, 2.8, shape))


MODES: tuple[Callable[[np.random.Generator, tuple[int, ...]], Array], ...] = (
    lambda rng, shape: np.asarray(rng.standard_normal(shape)),
    _near_identity,
    _spread,
    lambda rng, shape: 0.2 * rng.uniform(-1.0, 1.0, shape),
)
"""Where arguments without facts lie: anywhere, near 1, above 1 and apart, near 0. A domain in words is met by one."""


def least_length(lengths: Sequence[Size], sizes: Mapping[str, int]) -> int:
    """Return the least of the lengths of axes that an index holds places of; 10 where it is looked up in none."""
    return min((size.evaluate(sizes) for size in lengths), default=10)


def places(rng: np.random.Generator, shape: Sequence[int], lengths: Sequence[Size], sizes: Mapping[str, int]) -> Array:
    """Return places of axes of these lengths; where one is empty, places that an evaluation refuses."""
    least = least_length(lengths, sizes)
    return np.asarray(rng.integers(0, max(least, 1), tuple(shape)))


def whole(drawn: Array, facts: Sequence[str]) -> Array:
    """Return integers made to have the facts, by what each says of integers, the most particular last."""
    return _made(drawn, facts, lambda fact: fact.whole)


def _made(drawn: Array, facts: Sequence[str], by: Callable[[Fact], str | None]) -> Array:
    book = default_rulebook()
    for fact in sorted(facts, key=lambda name: (len(book.closure([name])), name)):
        text = by(book.facts[fact])
        if text is not None and drawn.size:
            drawn = applied(book, text, drawn)
    return drawn


def projected(array: Array, facts: Sequence[str]) -> Array:
    """Return a tangent at an array with these facts: projected on their linear hull."""
    book = default_rulebook()
    for fact in book.hull(facts):
        text = book.facts[fact].tangent
        if text is not None and array.size:
            array = applied(book, text, array)
    return array


def defect(array: Array, fact: str) -> float:
    """Return how far a value is from having a fact: 0 where it has it, by the tests of the fact."""
    book = default_rulebook()
    record = book.facts[fact]
    found = [defect(array, other) for other in record.implies]
    return max([*found, own_defect(array, fact)])


def own_defect(array: Array, fact: str) -> float:
    """Return how far a value is from what a fact asks by itself, without what it implies."""
    book = default_rulebook()
    record = book.facts[fact]
    scale = max(1.0, float(np.max(np.abs(array), initial=0.0)))
    found: list[float] = []
    if array.size:
        if record.zero is not None:
            found.append(float(np.max(np.abs(applied(book, record.zero, array, "X")), initial=0.0)) / scale)
        for text, strict in ((record.nonnegative, False), (record.positive, True)):
            if text is not None:
                least = float(np.min(applied(book, text, array, "X"), initial=np.inf))
                found.append(max(-least / scale, 0.0) if not strict else float(least <= ROUNDING * scale))
    return max(found, default=0.0)
