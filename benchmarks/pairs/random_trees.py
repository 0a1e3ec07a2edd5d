"""Draws random expressions beyond pairs, 3 to 5 operations deep: `python -m benchmarks.pairs FOLDER --random N`."""

from __future__ import annotations

import random

from benchmarks.pairs.table import chosen
from matcalc.rulebook.load import Rulebook
from matcalc.testing.forms import Form
from matcalc.testing.strategies import random_tree
from matcalc.testing.trees import Tree

DEPTHS = (3, 4, 5)


def tree_of(seed: int, book: Rulebook) -> Tree:
    """Return the tree of a seed, from the vocabulary and the language; all operations are equally likely."""
    chance = random.Random(seed)
    pool = chosen(book, with_auxiliaries=False)

    def choose(items: list[Form]) -> Form:
        """Choose an operation, then one of its forms, so that operations with many overloads are not more likely."""
        if not isinstance(items[0], Form):
            return chance.choice(items)
        names = list(dict.fromkeys(form.operation for form in items))
        name = chance.choice(names)
        return chance.choice([form for form in items if form.operation == name])

    return random_tree(choose, chance.choice(DEPTHS), pool, pool)
