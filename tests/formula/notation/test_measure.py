"""The number of tokens of a formula, against an independent lexer and as the conversion to text counts it."""

import random

import pytest
from formula.notation.generate import random_node

from matcalc.formula.notation.length import tokens
from matcalc.formula.notation.write_node import form_of
from matcalc.language.write import text
from oracle.cases import identities
from oracle.reading import tokens as independent


@pytest.mark.parametrize(
    ("formula", "count"),
    [("x", 1), ("2*X'*(X*w - y)", 12), ("1./x", 3), ("1.5e-3.*x.^2", 5), ("{i,j: A[i,k]}", 12), ("A'", 2)],
)
def test_counts(formula, count):
    assert tokens(formula) == count


def test_agrees_with_an_independent_lexer():
    for case in identities():
        assert tokens(case.derivative) == len(independent(case.derivative))


def test_the_price_of_a_formula_is_its_length():
    chance = random.Random(11)
    for _ in range(200):
        form = form_of(random_node(chance, 2))
        if not form.used:
            assert form.tokens == tokens(text(form.ast))
