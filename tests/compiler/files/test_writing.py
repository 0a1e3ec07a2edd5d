"""`save` writes complete files with the right mode, preserves links, and rejects devices."""

import errno
import os
import resource
import stat

import pytest

from matcalc.compiler.files.write_file import write_text


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def whole(path, text="new\n"):
    assert path.read_text() == text
    assert not list(path.parent.glob("*.part")) and not list(path.parent.glob(".*.part"))


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o027, 0o077])
def test_a_new_file_has_the_mode_of_the_umask(mask, tmp_path):
    before = os.umask(mask)
    try:
        write_text(tmp_path / "f.py", "new\n")
    finally:
        os.umask(before)
    assert mode(tmp_path / "f.py") == 0o666 & ~mask
    whole(tmp_path / "f.py")


@pytest.mark.parametrize("bits", [0o600, 0o644, 0o755, 0o664, 0o666, 0o4755])
def test_a_file_that_is_there_keeps_its_mode(bits, tmp_path):
    (tmp_path / "f.py").write_text("old")
    (tmp_path / "f.py").chmod(bits)
    write_text(tmp_path / "f.py", "new\n")
    assert mode(tmp_path / "f.py") == bits
    whole(tmp_path / "f.py")


def test_links_stay_and_lead_to_the_new_text(tmp_path):
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "f.py"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "second").symlink_to("link")
    write_text(tmp_path / "second", "new\n")
    assert (tmp_path / "second").is_symlink() and (tmp_path / "link").is_symlink() and mode(target) == 0o640
    whole(target)
    target.unlink()
    write_text(tmp_path / "link", "new\n")
    assert (tmp_path / "link").is_symlink()
    whole(target)


def test_a_file_of_two_names_keeps_both(tmp_path):
    (tmp_path / "f.py").write_text("old and longer than the new one")
    os.link(tmp_path / "f.py", tmp_path / "g.py")
    write_text(tmp_path / "f.py", "new\n")
    assert (tmp_path / "f.py").samefile(tmp_path / "g.py")
    whole(tmp_path / "g.py")


@pytest.mark.parametrize("through_link", [False, True])
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "missing folder", "circle"])
def test_what_is_no_regular_file_is_refused(kind, through_link, tmp_path):
    place = tmp_path / "place"
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/null")
    elif kind == "circle":
        place.symlink_to(place)
    else:
        place = tmp_path / "missing" / "f.py"
    given = place
    if through_link:
        given = tmp_path / "link"
        given.symlink_to(place)
    before = place.lstat().st_mode if kind != "missing folder" else None
    with pytest.raises(OSError) as caught:
        write_text(given, "new\n")
    assert caught.value.filename == str(given)
    wanted = {"folder": errno.EISDIR, "missing folder": errno.ENOENT, "circle": errno.ELOOP}.get(kind, errno.EINVAL)
    assert caught.value.errno == wanted
    assert kind == "missing folder" or place.lstat().st_mode == before
    assert not list(tmp_path.rglob(".*.part"))


def test_a_full_disk_leaves_the_old_file(tmp_path):
    (tmp_path / "f.py").write_text("old\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_text(tmp_path / "f.py", "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    whole(tmp_path / "f.py", "old\n")
