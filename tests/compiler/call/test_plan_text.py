"""Printed plans: numbers of flops and bytes at the stated sizes, and times as lower bounds."""

import pickle

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.call.plan_text import Plan
from matcalc.compiler.machine import machine as machines
from matcalc.compiler.machine.machine import Machine, machine, measured
from matcalc.tensor.sizes.size import Size

M, N = Size.of("m"), Size.of("n")


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr("matcalc.compiler.call.plan_text.machine", lambda: Machine(10.0, 20.0, 5.0))


def test_each_step_has_numbers_and_a_time(known):
    plan = Plan("first\n  of it\nsecond", [(0, M * N * 2, M * N * 8), (2, M * 100, M * 8)], {"m": 400, "n": 200}, ["n"])
    text = str(plan)
    second = "second: 4e+04 flops, 3.2e+03 bytes, 4 us"
    assert text.splitlines()[:3] == ["first: 1.6e+05 flops, 6.4e+05 bytes, 128 us", "  of it", second]
    assert "at least 132 us a call where n = 200; m = 400 assumed (sizes= gives others)" in text
    assert plan.time == pytest.approx(132e-6)
    assert plan == "first\n  of it\nsecond" and plan.splitlines()[0] == "first"
    assert "where m = 1, n = 1:" in str(plan.at(m=1, n=1)) and plan.at(m=0).time == 0
    with pytest.raises(ValueError, match="k is not a size of the plan; the sizes are m, n"):
        plan.at(k=1)
    copied = pickle.loads(pickle.dumps(plan))
    assert (copied, str(copied), copied.time) == (plan, text, plan.time)


def test_the_sizes_that_were_given_are_not_assumed(known):
    f = "norm2(X*w - y)^2"
    assert "m = 400, n = 200 assumed" in str(mc.compile(f, target="numpy").plan)
    fn = mc.compile(f, target="numpy", sizes={"m": 7, "n": 3})
    assert "where m = 7, n = 3:" in str(fn.plan)
    assert "2*m*n flops" in fn.plan and "bytes: 42 flops, " in str(fn.plan)
    bound = mc.compile("X'*X + c*eye(n)", declarations="c: scalar", target="numpy").bind(X=np.ones((30, 4)))
    assert "each call:" in bound.plan and "where n = 4:" in str(bound.plan)
    assert str(bound.plan).split("each call")[0] == bound.plan.split("each call")[0]
    assert str(mc.compile("a + 1", declarations="a: scalar", target="numpy").plan).count(" ns") >= 2


def test_the_machine_is_measured_once_and_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "cache"))
    machine.cache_clear()
    first = machine()
    assert all(figure > 0 for figure in (first.flops, first.near, first.far))
    monkeypatch.setattr(machines, "measured", lambda: Machine(4.0, 4.0, 4.0))
    machine.cache_clear()
    assert machine() == first
    (place,) = (tmp_path / "cache").glob("machine.*")
    place.write_bytes(place.read_bytes()[:-1])
    machine.cache_clear()
    assert machine() == Machine(4.0, 4.0, 4.0)
    machine.cache_clear()


@pytest.mark.whole
def test_what_is_measured_is_possible():
    found = measured()
    assert 0.01 < found.flops < 1e5 and found.far > 0.01 and 0.01 < found.near < 1e5
