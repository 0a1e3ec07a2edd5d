"""Seeded faults: the interpreter finds each that changes a value. A slice in the whole suite, all in the long runs."""

import pytest
from compiler.verify import judges
from compiler.verify.interpret_plans import supervise
from compiler.verify.mutants import KINDS, mutants
from compiler.verify.seeded_faults import FORMULAS, chosen, chosen_of_kernels, sample

FEW = [FORMULAS[k] for k in (0, 1, 5, 6, 8, 12, 16, 18)]


@pytest.mark.whole
def test_what_code_shows_the_interpreter_finds():
    rows = list(judges.planner_rows(chosen(4, FEW), {n: j for n, j in judges.JUDGES.items() if n != "Numba code"}))
    assert {row.kind for row in rows} == set(KINDS)
    assert not missed(rows)
    assert sum(bool(row.found["interpreter, values"]) for row in rows) >= 0.7 * len(rows)
    assert sum(bool(row.found["interpreter, accesses"]) for row in rows) >= 0.3 * len(rows)


@pytest.mark.long
def test_in_all_programs():
    rows = list(judges.planner_rows(chosen(5)))
    assert not missed(rows)
    assert not [row for row in rows if not any(row.found.values()) and not judges.reason(row)]


def missed(rows):
    return [row for row in rows if row.found["NumPy code"] and not row.found["interpreter, values"]]


@pytest.mark.whole
def test_templates_for_numpy_are_judged():
    """A template that does not compute its pattern is reported before any value is compared."""
    made = [m for m in chosen_of_kernels(3, ["A*X'*X*B'", "inv(L)*X'*y", "w'*inv(S)*z"]) if m.target == "numpy"]
    rows = list(judges.kernel_rows([m for m in made if m.where.startswith("template")]))
    shown = [row for row in rows if row.found["NumPy code"]]
    assert len(shown) >= 4
    assert not [row for row in shown if not row.found["interpreter, values"]]


def test_every_mutant_is_another_program():
    ((_, outputs, inputs, program),) = sample(["circshift(flip(w), 1) - w"])
    made = list(mutants(program))
    assert len(made) > 20
    assert all(m.program != program for m in made)
    assert supervise(outputs, inputs, program)
