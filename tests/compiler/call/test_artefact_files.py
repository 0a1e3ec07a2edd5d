"""Entries of the cache: they are read only if intact, and no fault of the disk raises."""

import errno
import hashlib
import os
import pickle
import resource
import stat

import pytest
from compiler.call import endurance

from matcalc.compiler.kernels.modules import load_text
from matcalc.store import artefacts, conditions, sealed_files
from matcalc.store.events import recording
from matcalc.store.sealed_files import SUFFIX


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MATCALC_CACHE", str(tmp_path / "cache"))
    artefacts.write("assembled", ["key"], b"content")
    return tmp_path / "cache"


def entry(folder):
    (path,) = folder.glob("*" + SUFFIX)
    return path


def noted(call, *arguments):
    with recording() as record:
        return call(*arguments), record.note


def test_what_is_written_is_read(folder):
    assert noted(artefacts.read, "assembled", ["key"]) == (b"content", "")
    assert artefacts.read("assembled", ["another key"]) is None


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_files_are_for_this_user_alone(mask, folder):
    before = os.umask(mask)
    try:
        artefacts.write("assembled", ["key"], b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600


def test_every_cut_and_every_changed_byte_is_no_entry(folder):
    content = entry(folder).read_bytes()
    for at in range(len(content)):
        entry(folder).write_bytes(content[:at])
        assert artefacts.read("assembled", ["key"]) is None
        entry(folder).write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert artefacts.read("assembled", ["key"]) is None
    entry(folder).write_bytes(content + b"\0")
    assert artefacts.read("assembled", ["key"]) is None


def test_an_entry_under_the_name_of_another_is_none(folder):
    content = entry(folder).read_bytes()
    artefacts.write("assembled", ["other"], b"other content")
    for path in folder.glob("*" + SUFFIX):
        path.write_bytes(content)
    assert artefacts.read("assembled", ["other"]) is None and artefacts.read("assembled", ["key"]) == b"content"


class Forged:
    def __reduce__(self):
        return (os.mkdir, (str(Forged.trace),))


def test_a_forged_pickle_is_not_read(folder, tmp_path):
    Forged.trace = tmp_path / "ran"
    body = b"another key\0" + pickle.dumps(Forged())
    for forged in (pickle.dumps(Forged()), sealed_files.MARK + hashlib.sha256(body).hexdigest().encode() + body):
        text = endurance.TEXT.format(number=1)
        load_text(text, "forged", stays=False)
        for path in folder.glob("overload*" + SUFFIX):
            path.write_bytes(forged)
        assert not load_text(text, "forged", stays=False).hit
        assert not Forged.trace.exists()


@pytest.mark.parametrize("kind", ["folder", "dangling link", "link", "pipe", "of others"])
def test_what_is_no_file_of_this_user_is_noted_and_compiled_again(kind, folder, tmp_path):
    path = entry(folder)
    content = path.read_bytes()
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "of others":
        path.write_bytes(content)
        path.chmod(0o622)
    else:
        path.symlink_to(tmp_path / "elsewhere")
        if kind == "link":
            (tmp_path / "elsewhere").write_bytes(content)
    found, note = noted(artefacts.read, "assembled", ["key"])
    assert found is None and note.startswith(f"cannot read {path} (") and note.endswith(": compiled again")
    _, note = noted(artefacts.write, "assembled", ["key"], b"content")
    assert (kind == "folder") == bool(note)
    assert artefacts.read("assembled", ["key"]) == (None if kind == "folder" else b"content")
    assert not list(folder.glob("*.part"))


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE])
def test_faults_of_the_disk_are_noted(fault, folder, monkeypatch):
    def failing(*_, **__):
        raise OSError(fault, os.strerror(fault))

    for name in ("replace", "fdopen", "open"):
        with monkeypatch.context() as changed:
            changed.setattr(os, name, failing)
            _, note = noted(artefacts.write, "assembled", ["new"], b"x")
        assert os.strerror(fault) in note and note.endswith("compiled code is kept for this process only")
    with monkeypatch.context() as changed:
        changed.setattr(os, "open", failing)
        found, note = noted(artefacts.read, "assembled", ["key"])
    assert found is None and os.strerror(fault) in note
    assert not list(folder.glob("*.part"))


def test_a_limit_on_the_size_of_files(folder):
    """A real EFBIG: the module is compiled, computes, and reports why it is not cached."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        loaded = load_text(endurance.TEXT.format(number=2), "large")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert loaded.module.f(1.0) == 3.0 and not loaded.hit
    assert (
        "File too large" in loaded.note and not list(folder.glob("*.part")) and not list(folder.glob("overload*.nbc"))
    )


def test_other_versions_have_entries_of_their_own(folder, monkeypatch):
    text = endurance.TEXT.format(number=3)
    for is_known in (False, True):
        for version in ("one", "other"):
            monkeypatch.setitem(conditions.CONDITIONS, "numpy", lambda version=version: version)
            assert load_text(text, "versions", stays=False).hit == is_known
    assert len(list(folder.glob("overload*" + SUFFIX))) == 2


@pytest.mark.whole
def test_kills_while_entries_are_written(folder):
    report = endurance.kills(40)
    assert report["killed"] == 40 and not noted(artefacts.write, "assembled", ["key"], b"content")[1]


def test_one_who_compiles_what_another_has_not_finished(folder):
    """Files whose names end in .part are never read, whatever they contain."""
    path = entry(folder)
    os.replace(path, path.with_name(".x.part"))
    assert artefacts.read("assembled", ["key"]) is None
