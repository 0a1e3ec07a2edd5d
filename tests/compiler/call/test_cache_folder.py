"""Folders for compiled code: the user's own, which no other user can write to or replace."""

import os
import stat
from pathlib import Path

import pytest

from matcalc.store import cache_folder as folders

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
OTHER = 54321


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "above" / "cache"))
    return tmp_path / "above" / "cache"


@pytest.fixture
def given(monkeypatch):
    """Return a function that makes a path appear to belong to another user, without root rights."""
    real, away = folders._chain, set()

    def chain(path):
        for at, info in real(path):
            yield at, os.stat_result([*info[:4], OTHER, *info[5:10]]) if at in away else info

    monkeypatch.setattr(folders, "_chain", chain)
    return away.add


def refused(place, words):
    found = folders.cache_folder()
    assert not found.lasting and found.path != place and found.path.is_dir()
    assert words in found.note and found.note.endswith("compiled code is kept for this process only"), found.note


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_folders_are_made_for_this_user_alone(mask, place):
    before = os.umask(mask)
    try:
        assert folders.cache_folder() == folders.Folder(place, lasting=True)
    finally:
        os.umask(before)
    for folder in (place, place.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777, 0o770])
def test_a_folder_that_others_may_write(mode, place):
    place.mkdir(parents=True)
    place.chmod(mode)
    refused(place, f"others may write to {place}")


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o500 | 0o200])
def test_a_folder_that_others_may_read(mode, place):
    place.mkdir(parents=True)
    place.chmod(mode)
    assert folders.cache_folder().lasting


def test_a_folder_that_others_may_write_from_now_on(place):
    assert folders.cache_folder().lasting
    place.chmod(0o777)
    refused(place, "others may write")


@pytest.mark.parametrize(("mode", "fits"), [(0o777, False), (0o757, False), (0o1777, True), (0o755, True)])
def test_a_folder_above_that_others_may_write(mode, fits, place):
    place.mkdir(parents=True, mode=0o700)
    place.parent.chmod(mode)
    if fits:
        assert folders.cache_folder().lasting
    else:
        refused(place, f"others may write to {place.parent}")


def test_a_folder_of_another_user(place, given):
    place.mkdir(parents=True, mode=0o700)
    given(place)
    refused(place, "belongs to another user")


def test_a_folder_above_of_another_user(place, given):
    place.mkdir(parents=True, mode=0o700)
    given(place.parent)
    refused(place, "belongs to another user")


def test_a_link_is_followed_and_so_is_its_way(place, tmp_path):
    place.parent.mkdir()
    (tmp_path / "real").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "real")
    assert folders.cache_folder().lasting
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open" / "link").symlink_to(tmp_path / "real")
    place.unlink()
    place.symlink_to(tmp_path / "open" / "link")
    refused(place, f"others may write to {tmp_path / 'open'}")


def test_a_link_of_another_user(place, tmp_path, given):
    place.parent.mkdir()
    (tmp_path / "real").mkdir(mode=0o700)
    place.symlink_to(tmp_path / "real")
    given(place)
    refused(place, "belongs to another user")


def test_links_in_a_circle_and_into_nothing(place):
    place.parent.mkdir()
    place.symlink_to(place)
    refused(place, "cannot write to")
    folders._made.cache_clear()
    place.unlink()
    place.symlink_to(place.parent / "nothing")
    refused(place, "cannot write to")


@pytest.mark.parametrize("setting", ["~nosuchuser/cache", "/dev/null/cache", "x" * 5000, "/proc/nowhere"])
def test_a_setting_that_is_no_folder(setting, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", setting)
    refused(Path(setting), "cannot write to")


def test_a_device(monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", "/dev/null")
    refused(Path("/dev/null"), "/dev/null is no folder")


def test_a_user_without_a_home(monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", "")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda *_, **__: "~/.cache/matcalc")
    refused(Path("~"), "the user has no home")


def test_no_room_for_a_temporary_folder_either(monkeypatch, place):
    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.tempfile, "mkdtemp", full)
    folders._temporary.cache_clear()
    place.parent.mkdir()
    place.write_text("")
    try:
        assert folders.cache_folder().path is None
    finally:
        folders._temporary.cache_clear()


def test_a_child_leaves_the_temporary_folder_to_its_parent(monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", "0")
    path = folders.cache_folder().path
    folders._remove(path, os.getpid() + 1)
    assert path.is_dir()
