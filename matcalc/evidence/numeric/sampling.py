"""Draws random data with declared facts, by the samplers and projections of the rulebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from matcalc.evidence.numeric.boundary import ends
from matcalc.evidence.numeric.samplers import (
    ROUNDING,
    Array,
    FactValue,
    by_node,
    defect,
    has_facts,
    made,
    own_defect,
    projected,
)
from matcalc.language.kinds import INDEX
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.lookups import is_index
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


def generator(*seed: int) -> np.random.Generator:
    """Return NumPy's generator for a seed of several numbers; small ones are read faster as an array."""
    is_small = all(0 <= number < 2**32 for number in seed)
    return np.random.default_rng(np.array(seed, dtype=np.uint32) if is_small else seed)


def sample(
    rng: np.random.Generator, shape: Sequence[int], facts: Sequence[str] = (), value: FactValue = by_node
) -> Array:
    """Return normal draws mapped to have the facts by the sampler of each, the most special last.

    If samplers undo each other, as for symmetric and orthogonal, return an end of the set of both.
    """
    found = made(np.asarray(rng.standard_normal(tuple(shape))), facts, lambda fact: fact.sample, value)
    if len(facts) > 1 and found.size and INDEX not in facts and not has_facts(found, facts):
        others = ends(shape, facts)
        if others:
            return others[int(rng.integers(len(others)))].array.copy()
    return found


def drawn(
    rng: np.random.Generator, shape: tuple[int, ...], facts: Sequence[str], mode: int, value: FactValue = by_node
) -> Array:
    """Return draws with facts, strictly inside their bounds; without facts, draws by a mode of `MODES`."""
    return sample(rng, shape, interior(facts, mode > 0), value) if facts else MODES[mode](rng, shape)


def drawn_for(
    node: Node, sizes: Mapping[str, int], along: Sequence[Size], mode: int, *seed: int, value: FactValue = by_node
) -> Array:
    """Return data of a symbol at these sizes; for an index, indices into axes of the lengths `along`."""
    rng = generator(*seed, *node.name.encode())
    shape = shape_at(node.shape, sizes)
    if is_index(node):
        return random_indices(rng, shape, along, sizes)
    return drawn(rng, shape, facts_of(node), mode, value)


def draws(
    symbols: Sequence[Node], sizes: Mapping[str, int], along: Mapping[str, Sequence[Size]], mode: int, *seed: int
) -> dict[str, Array]:
    """Return data of symbols by name at these sizes; `along` has the lengths for each index."""
    return {s.name: drawn_for(s, sizes, along.get(s.name, ()), mode, *seed) for s in symbols}


def facts_of(node: Node) -> tuple[str, ...]:
    """Return the declared facts of a symbol that restrict its value."""
    return tuple(sorted(node.data[1] - {"constant"}))


def shape_at(shape: Sequence[Size], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return a shape as integers at these sizes."""
    return tuple(size.evaluate(sizes) for size in shape)


def interior(facts: Sequence[str], definite: bool = False) -> tuple[str, ...]:
    """Return facts with boundary-allowing ones made strict: positive for nonnegative, spd for psd.

    With `definite`, symmetric becomes spd too.
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
"""Distributions of arguments without facts: normal, near 1, above 1 and separated, near 0. One fits most domains."""


def least_length(lengths: Sequence[Size], sizes: Mapping[str, int]) -> int:
    """Return the least length of the axes that an index selects from; 10 if there are none."""
    return min((size.evaluate(sizes) for size in lengths), default=10)


def random_indices(
    rng: np.random.Generator, shape: Sequence[int], lengths: Sequence[Size], sizes: Mapping[str, int]
) -> Array:
    """Return indices into axes of these lengths; if an axis is empty, evaluation at these indices raises."""
    least = least_length(lengths, sizes)
    return np.asarray(rng.integers(0, max(least, 1), tuple(shape)))


def whole(drawn: Array, facts: Sequence[str]) -> Array:
    """Return integers mapped to have the facts, by the field `whole` of each, the most special last."""
    return made(drawn, facts, lambda fact: fact.whole)


__all__ = [
    "MODES", "ROUNDING", "Array", "defect", "drawn", "drawn_for", "draws", "facts_of", "generator", "interior",
    "least_length", "own_defect", "projected", "random_indices", "sample", "shape_at", "whole",
]  # fmt: skip
