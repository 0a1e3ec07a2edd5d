"""Data for what is written: normal draws led into the domain, with the declared facts, at given or random sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from matcalc.calculus.evaluate.check_data import applied
from matcalc.evidence.numeric.sampling import interior, sample
from matcalc.rulebook.load import Rulebook
from matcalc.testing.trees import Leaf, Written

if TYPE_CHECKING:
    import numpy as np

    from matcalc.evidence.numeric.sampling import Array


def drawn(written: Written, sizes: Mapping[str, int], seed: int, book: Rulebook) -> dict[str, Array]:
    """Return an array for each symbol, by name."""
    import numpy as np

    rng = np.random.default_rng([seed, 17])
    with np.errstate(all="ignore"):
        return {leaf.name: _drawn(leaf, sizes, rng, book) for leaf in written.leaves}


def lengths(written: Written, sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    """Return the shape of each symbol at these sizes."""
    return {leaf.name: tuple(size.evaluate(sizes) for size in leaf.shape) for leaf in written.leaves}


def _drawn(leaf: Leaf, sizes: Mapping[str, int], rng: np.random.Generator, book: Rulebook) -> Array:
    import numpy as np

    shape = tuple(size.evaluate(sizes) for size in leaf.shape)
    if leaf.inside is None or 0 in shape:
        return sample(rng, shape, interior(leaf.facts))
    known = {name: size.evaluate(sizes) for name, size in leaf.sizes.items()}
    return np.asarray(applied(book, leaf.inside, np.asarray(rng.standard_normal(shape)), leaf.name, known))
