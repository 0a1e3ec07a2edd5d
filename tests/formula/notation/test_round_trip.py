"""Printing and reading are inverse to each other, on random nodes and on all shared derivatives."""

import random

import pytest
from formula.notation.generate import LET, SYMBOLS, is_promised, random_node

from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.notation.write_node import formula_of
from matcalc.language.write import text

NAMES = {*(symbol.name for symbol in SYMBOLS), "m", "n"}
LONGEST = 1500  # characters of a text that is read back


@pytest.mark.whole
def test_random_nodes_read_back():
    chance = random.Random(7)
    count = 0
    while count < 400:
        node = random_node(chance, 3)
        shown = text(formula_of(node, NAMES))
        if not is_promised(node) or len(shown) > LONGEST:
            continue
        count += 1
        assert elaborate([shown], LET).nodes[0] is node, shown


def test_printing_is_deterministic():
    one, two = (random_node(random.Random(3), 3) for _ in range(2))
    assert text(formula_of(one)) == text(formula_of(two))
