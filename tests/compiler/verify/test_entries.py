"""Entries of data used as indices: only facts that a call has checked are known of them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.program import Checked, Loop, ProgramFault
from matcalc.compiler.verify.accesses import proved
from matcalc.compiler.verify.entries import entries_in, entry, every_entry, replaced
from matcalc.compiler.verify.faults import RunFault
from matcalc.compiler.verify.inequalities import Known, known_of
from matcalc.compiler.verify.interpret import interpret
from matcalc.errors import ShapeError
from matcalc.pipeline.build import planned, request_of
from matcalc.tensor.sizes.size import Size

i, j, k, m, n, N = map(Size.of, ("i", "j", "k", "m", "n", "N"))
ROWS = Checked((("k", N),), entry(i, k), m, "i")


@cache
def program():
    e = mc.expression("{a: sum{t: [a == i[t]]*x[j[t]]}*ones(m)[a]}", "x: vector(n); i: index(N); j: index(N)")
    return planned(request_of([e], ["result"])).program


def stores(found):
    return [store for step in found.steps if isinstance(step, Loop) for store in step.stores]


def test_text_and_parts_of_an_entry():
    size = 2 * entry(i, k + 1) + entry(i, entry(j, k))
    assert set(map(str, (entry(i, k), entry(i, entry(j, k))))) == {"i[k]", "i[j[k]]"}
    assert len(entries_in([size])) == 2 and len(every_entry([size])) == 3
    assert size.substitute({"k": Size.of(0)}) is 2 * entry(i, Size.of(1)) + entry(i, entry(j, Size.of(0)))
    atom = entries_in([entry(i, k)])[0]
    assert replaced(3 * entry(i, k) + n, {atom: m}) is 3 * m + n


@pytest.mark.parametrize("place, axes, holds", [
    (k, {"k": N}, True),
    (k, {"k": N + 1}, False),
    (k + 1, {"k": N - 1}, True),
    (k - 1, {"k": N}, False),
    (Size.of(0), {"k": N}, True),  # there is a k, and so an entry
    (Size.of(0), {}, False),
])  # fmt: skip
def test_an_entry_is_known_where_it_was_checked(place, axes, holds):
    known = known_of((), (ROWS,)).at(axes)
    assert known.is_inside(entry(i, place), m) is holds
    assert not known.is_inside(entry(i, place), n)
    assert not known.is_inside(entry(j, place), m)
    assert not Known((), (), axes).is_nonnegative(entry(i, place))  # not even the sign without a check


@pytest.mark.parametrize("at, axes, holds", [
    ((k, n), {"k": N, "n": m}, True),
    ((n, k), {"k": N, "n": m}, False),
    ((k, k), {"k": N}, False),  # there may be no column k
    ((k, k), {"k": m}, False),
    ((k + 1, n), {"k": N - 1, "n": m}, True),
    ((k, n + 1), {"k": N, "n": m}, False),
    ((k, Size.of(0)), {"k": N, "n": m}, True),
    ((k, Size.of(0)), {"k": N}, False),
])  # fmt: skip
def test_an_entry_of_a_matrix_is_known_where_both_indices_were_checked(at, axes, holds):
    checked = Checked((("a", N), ("b", m)), entry(j, Size.of("a"), Size.of("b")), i, "j")
    assert known_of((), (checked,)).at(axes).is_inside(entry(j, *at), i) is holds


def test_a_diagonal_is_known_where_it_was_checked():
    checked = Checked((("a", N),), entry(j, Size.of("a"), Size.of("a")), m, "j")
    known = known_of((), (checked,)).at({"k": N, "n": N})
    assert known.is_inside(entry(j, k, k), m) and not known.is_inside(entry(j, k, n), m)
    assert str(entry(j, k, entry(i, n))) == "j[k, i[n]]" and len(every_entry([entry(j, k, entry(i, n))])) == 2


def test_an_entry_of_an_entry():
    data = (Checked((("k", N),), entry(j, k), n, "j"), Checked((("k", N),), entry(i, entry(j, k)), m, "i[j]"))
    known = known_of((), data).at({"k": N})
    assert known.is_inside(entry(j, k), n) and known.is_inside(entry(i, entry(j, k)), m)
    assert not known.is_inside(entry(i, k), m)


def test_a_single_index_is_like_an_axis():
    known = known_of((), (Checked((), k, n, "k"), Checked((), k, m, "k")))
    assert known.is_inside(k, n) and known.is_inside(k, m) and not known.is_inside(k + 1, n)


@pytest.mark.parametrize("at, axes, once", [
    ((entry(i, k),), ["k"], False),  # indices repeat
    (("k", entry(i, k)), ["k"], True),
    ((entry(i, k) + k,), ["k"], False),  # k and i[k] may compensate each other
    ((entry(i, k) * N + k,), ["k"], True),  # but not as digits
    ((entry(i, Size.of(0)) + k,), ["k"], True),
])  # fmt: skip
def test_places_that_are_data_are_never_known_to_differ(at, axes, once):
    known = known_of((), (ROWS,)).at({"k": N})
    assert known.is_injective(at, axes) is once


def test_scatter_adds_up():
    assert [store.onto != "" for store in stores(program()) if entries_in(map(Size.of, store.at))] == [True]
    assert "adds up" in " ".join(program().proof.guarded)


def test_scatter_that_assigns_is_refused():
    def assigning(step):
        if not isinstance(step, Loop):
            return step
        return replace(step, stores=tuple(replace(s, onto="", over=s.onto) for s in step.stores))

    with pytest.raises(ProgramFault, match="several points may meet"):
        proved(replace(program(), steps=tuple(map(assigning, program().steps)), proof=None))


@pytest.mark.parametrize("left_out", [0, 1])
def test_data_that_are_not_checked_prove_nothing(left_out):
    data = tuple(checked for place, checked in enumerate(program().data) if place != left_out)
    with pytest.raises(ProgramFault, match="is not known to lie in 0"):
        proved(replace(program(), data=data, proof=None))


def test_interpreter_checks_data_and_entries():
    x, good, bad = np.arange(3.0), np.array([0, 2, 0, 1]), np.array([0, 2, 0, 3])
    sizes = {"m": 3, "n": 3, "N": 4}
    found = interpret(program(), {"x": x, "i": good, "j": good}, sizes)["result"]
    assert found.tolist() == np.bincount(good, x[good], 3).tolist()
    for data in ({"i": bad, "j": good}, {"i": good, "j": bad}):
        with pytest.raises(ShapeError, match="holds an index outside an axis"):
            interpret(program(), {"x": x, **data}, sizes)
        with pytest.raises(RunFault, match="index 3 of axis 0, length 3"):
            interpret(replace(program(), data=()), {"x": x, **data}, sizes)
