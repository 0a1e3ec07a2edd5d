"""Every formula records the index names in it: a form around it must not capture one of them.

`Form.used` of each reading is compared with the names that its tree lists.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from random_recurrences import random_recurrence
from test_random_recurrences import INDICES, formulas

import matcalc as mc
from matcalc.formula.notation import write_node
from matcalc.formula.notation.node_reading import Reading
from matcalc.language import syntax
from matcalc.language.syntax import Ast
from matcalc.language.write import text
from matcalc.tensor.nodes.node import Node

STEPS_OF_INDEX_FORMS = (
    "sum(softmax(v[T]).^2) where M[0] = Q, M[t+1] = M[t]'/2, v[0] = x, v[t+1] = tr(M[t])*eye(n)[j[t], :]*b, t < T"
)
DECLARED = "Q: matrix(n, n); x: vector(n); b: scalar; j: index(T)"


@contextmanager
def recorded() -> Iterator[list[Reading]]:
    """Collect all readings of nodes."""
    found: list[Reading] = []
    original = write_node.Readings.__missing__

    def reading(self: write_node.Readings, root: Node) -> Reading:
        made = original(self, root)
        found.append(made)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write_node.Readings, "__missing__", reading)
        yield found


def listed_in(ast: Ast) -> set[str]:
    """Return the names of indices that the forms in a tree list."""
    return {str(name) for one in syntax.walk(ast) if one.head in syntax.BINDERS for name in one.value}  # type: ignore[attr-defined]


def assert_recorded(readings: list[Reading]) -> int:
    """Check all readings; return the number of those with indices."""
    count = 0
    for reading in readings:
        for form in (reading.form, reading.minus, reading.transposed, reading.transposed_minus):
            names = listed_in(form.ast) if form is not None else set()
            assert form is None or names <= form.used, (text(form.ast), names - form.used)
            count += bool(names)
    return count


def derivatives_of(seed: int) -> None:
    """Print the derivatives of a random recurrence."""
    made, r = random_recurrence(seed), random.Random(seed)
    names = [part.split(":")[0].strip() for part in made.declared.split(";")]
    for e in formulas(made, r.choice([own for own in names if own not in INDICES]), 2):
        str(e)


def test_names_in_sums_over_steps_are_recorded() -> None:
    with recorded() as readings:
        e = mc.expression(STEPS_OF_INDEX_FORMS, DECLARED)
        for name in ("b", "Q"):
            str(mc.hvp(e, name, vector="w", check=False))
    assert assert_recorded(readings) > 10


@pytest.mark.whole
@pytest.mark.parametrize("seed", [1977, *range(2000, 2008)])
def test_names_in_random_recurrences_are_recorded(seed: int) -> None:
    with recorded() as readings:
        derivatives_of(seed)
    assert_recorded(readings)
    assert readings


@pytest.mark.whole
def test_a_sum_over_steps_in_an_index_form_reads_back() -> None:
    made = random_recurrence(1977)
    for e in formulas(made, "x0", 2):
        mc.expression(str(e), e.declarations)
