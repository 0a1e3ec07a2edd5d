"""Long runs of endurance.py: no data are lost when processes are killed or fork, and memory does not grow."""

import pytest
from compiler.call import endurance

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "cache"))


def test_kills_while_entries_are_written():
    report = endurance.kills(1000)
    assert report["killed"] == 1000


def test_kills_while_others_compile():
    report = endurance.compiling(200)
    assert 0 < report["hits afterwards"] <= report["of"]


def test_forks_while_a_thread_compiles():
    report = endurance.forks(20)
    assert report["children that compiled"] == report["forks"]


@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_memory_stays(target):
    """A formula that is not freed would show, and so would pass managers, which take 150 kB for each optimisation."""
    assert endurance.memory(300, target)["kB each"] < 100
