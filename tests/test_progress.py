"""A long operation shows one line on a terminal and removes it afterwards; a pipe gets no output."""

import io
import os
import pty
import subprocess
import sys
import time

import pytest

import matcalc as mc
from matcalc.progress import progress_line

ERASE = "\r\x1b[K"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def impatient(monkeypatch):
    """Set short delays; return a function that runs a block with another standard error and returns its text."""
    monkeypatch.setattr("matcalc.progress.PATIENCE", 0.02)
    monkeypatch.setattr("matcalc.progress.TURN", 0.02)
    monkeypatch.setenv("TERM", "xterm")

    def run(stream, block):
        monkeypatch.setattr(sys, "stderr", stream)
        block()
        return stream.getvalue()

    return run


def slow():
    with progress_line("fitting"), progress_line("deriving"):
        time.sleep(0.15)


def test_the_innermost_operation_is_shown_and_erased(impatient):
    shown = impatient(Terminal(), slow)
    assert "deriving ... 0 s" in shown and "fitting" not in shown and shown.endswith(ERASE)


def test_a_pipe_gets_nothing(impatient):
    assert impatient(io.StringIO(), slow) == ""


def test_a_short_operation_shows_nothing(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_line("deriving"):
        pass
    assert stream.getvalue() == ""


def test_an_error_erases_the_line(impatient):
    def fail():
        with pytest.raises(ZeroDivisionError), progress_line("deriving"):
            time.sleep(0.15)
            raise ZeroDivisionError

    assert impatient(Terminal(), fail).endswith(ERASE)


def test_an_error_in_a_decorated_function_shows_nothing(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)

    @progress_line("failing")
    def fail():
        raise ValueError

    for _ in range(3):
        with pytest.raises(ValueError):
            fail()
    assert stream.getvalue() == ""


def test_compiling_shows_the_name_of_the_function(impatient, monkeypatch):
    def slowly(*_):
        time.sleep(0.15)
        raise KeyboardInterrupt

    monkeypatch.setattr("matcalc.pipeline.build.specified", slowly)

    def compile_slowly():
        with pytest.raises(KeyboardInterrupt):
            mc.compile("sum(x + 1)", target="numpy", name="total")

    shown = impatient(Terminal(), compile_slowly)
    assert "compiling total ... 0 s" in shown and shown.endswith(ERASE)


PROGRAM = """
import time
from matcalc import progress
progress.PATIENCE = progress.TURN = 0.05
with progress.progress_line("compiling f"):
    time.sleep(0.3)
"""


@pytest.mark.parametrize("on_terminal", [True, False])
@pytest.mark.sampled(2)
def test_a_process_writes_to_its_terminal_only(on_terminal):
    leader, follower = pty.openpty() if on_terminal else os.pipe()
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", PROGRAM], stderr=follower, check=True, env=environment)
    os.close(follower)
    shown = os.read(leader, 1000)
    os.close(leader)
    assert (b"compiling f ... 0 s" in shown and shown.endswith(ERASE.encode())) if on_terminal else shown == b""
