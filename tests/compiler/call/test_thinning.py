"""The cache has a size limit, works from a read-only folder, and tolerates a clock that is behind."""

import errno
import os
import subprocess
import sys
import time

import pytest

import matcalc as mc
from matcalc.store import artefacts, cache_folder, installation, thinning
from matcalc.store.sealed_files import file_name

DAY = 86400


@pytest.fixture
def place(tmp_path, monkeypatch):
    tmp_path.chmod(0o700)
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path))
    monkeypatch.setattr(thinning, "_written", {})
    return tmp_path


def write(place, count, size=1000, age=0.0):
    """Write entries, each an hour younger than the one before."""
    now = time.time()
    for k in range(count):
        artefacts.write("assembled", [f"key {k}"], bytes(size))
        path = place / file_name(artefacts.key_of("assembled", [f"key {k}"]))
        os.utime(path, (now, now - age - 3600 * (count - k)))


def kept(count):
    return [k for k in range(count) if artefacts.has("assembled", [f"key {k}"])]


@pytest.mark.parametrize(
    ("setting", "amount"),
    [("", 10**9), ("1000", 1000), ("2GB", 2 * 10**9), ("1.5 m", 1500000), ("none", None), ("much", 10**9), ("0", 0)],
)
def test_settings(setting, amount, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE_LIMIT", setting)
    assert thinning.limit() == amount


def test_the_least_recently_used_go(place, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE_LIMIT", "none")
    write(place, 20, age=2 * DAY)
    assert artefacts.read("assembled", ["key 3"]) == bytes(1000)  # just used
    size = sum(path.stat().st_size for path in place.glob("*.nbc"))
    thinning.thin(place, size * 8 // 10)
    assert 3 in kept(20)
    left = sum(path.stat().st_size for path in place.glob("*.nbc"))
    assert left <= thinning.LEFT * size * 8 // 10
    assert kept(20)[1:] == list(range(20 - len(kept(20)) + 1, 20))


def test_writing_thins(place, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE_LIMIT", "100k")
    for k in range(300):
        artefacts.write("assembled", [f"key {k}"], bytes(1000))
        os.utime(place / file_name(artefacts.key_of("assembled", [f"key {k}"])), (1e9 + k, 1e9 + k))
    left = sum(path.stat().st_size for path in place.glob("*.nbc"))
    assert 50_000 < left < 110_000 and kept(300)[-1] == 299


def test_what_is_not_ours_stays_and_half_written_files_go(place):
    old = time.time() - 3 * DAY
    for name in ("notes.txt", "a.nbc", ".x.part", "mine.py", "other.json"):
        (place / name).write_text("1")
        os.utime(place / name, (old, old))
    (place / ".new.part").write_text("1")
    thinning.thin(place, 0)
    assert sorted(path.name for path in place.iterdir()) == [
        ".new.part",
        "a.nbc",
        "mine.py",
        "notes.txt",
        "other.json",
    ]


def test_times_that_are_still_to_come_are_old(place, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE_LIMIT", "none")
    write(place, 4)
    ahead = place / file_name(artefacts.key_of("assembled", ["key 2"]))
    os.utime(ahead, (time.time() + 9 * DAY,) * 2)
    thinning.thin(place, sum(path.stat().st_size for path in place.glob("*.nbc")) - 1)
    assert kept(4) == [1, 3] or kept(4) == [0, 1, 3]


@pytest.fixture
def read_only(place, monkeypatch):
    """Return a folder with entries that cannot be written to, as on a read-only mount."""
    write(place, 2)

    def refuse(**_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    cache_folder._made.cache_clear()
    cache_folder._temporary.cache_clear()
    monkeypatch.setattr(cache_folder.tempfile, "TemporaryFile", refuse)
    yield place
    cache_folder._made.cache_clear()


def test_a_read_only_folder_is_read(read_only):
    found = cache_folder.cache_folder()
    assert not found.lasting and found.read_only == read_only and found.path != read_only
    assert "its entries are read" in found.note
    assert kept(3) == [0, 1]
    before = sorted(read_only.iterdir())
    artefacts.write("assembled", ["key 2"], b"new")
    assert artefacts.read("assembled", ["key 2"]) == b"new" and artefacts.read("assembled", ["key 1"]) == bytes(1000)
    assert sorted(read_only.iterdir()) == before


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
def test_a_read_only_folder_that_others_may_fill_is_not_read(read_only):
    read_only.chmod(0o777)
    assert cache_folder.cache_folder().read_only is None
    assert kept(2) == []


@pytest.mark.whole
def test_a_function_comes_from_a_read_only_folder(tmp_path):
    """A real process, which cannot write, reads the function: its cache folder is on a read-only file system."""
    program = """
import errno, os, sys, tempfile
if sys.argv[1] == "read":
    def refuse(**_):
        raise OSError(errno.EROFS, "read-only")
    tempfile.TemporaryFile = refuse
import numpy as np, matcalc as mc
fn = mc.value_and_gradient("norm2(X*w - y)^2", "w")
print(fn.stats["cache"], fn(np.eye(2), np.ones(2), np.zeros(2))[0])
"""
    tmp_path.chmod(0o700)
    found = []
    for how in ("write", "read"):
        command = [sys.executable, "-c", program, how]
        done = subprocess.run(
            command, env={**os.environ, "MATCALC_CACHE": str(tmp_path)}, capture_output=True, text=True
        )
        assert not done.returncode, done.stderr
        found.append(done.stdout.split())
    assert found == [["built", "2.0"], ["hit", "2.0"]]


def test_a_clock_that_is_behind_gives_one_key_to_all_processes(tmp_path, monkeypatch):
    for name in ("rules", "codegen"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.toml").write_text("1")
    monkeypatch.setattr(installation, "data_folder", lambda name: tmp_path / name)
    stamp = installation.installation.__wrapped__
    monkeypatch.setattr(mc, "_loaded_at", 10**18)  # 2001: older than all files
    monkeypatch.setattr(installation.time, "time_ns", lambda: 10**18 + 10**9)
    behind = {stamp(), stamp()}
    assert len(behind) == 1
    monkeypatch.undo()
    monkeypatch.setattr(installation, "data_folder", lambda name: tmp_path / name)
    monkeypatch.setattr(mc, "_loaded_at", (tmp_path / "codegen/a.toml").stat().st_ctime_ns)
    assert len({stamp(), stamp(), *behind}) == 3
