"""A long compilation shows one line on a terminal and removes it afterwards; a pipe gets no output."""

import io
import os
import pty
import subprocess
import sys
import time

import pytest

import matcalc as mc
from matcalc.compiler.runtime import waiting


class Terminal(io.StringIO):
    def isatty(self):
        return True


def waited(monkeypatch, stream, seconds, patience=0.05):
    monkeypatch.setattr(waiting, "PATIENCE", patience)
    monkeypatch.setattr(sys, "stderr", stream)
    with waiting.said("compiling f"):
        time.sleep(seconds)
    return stream.getvalue()


def test_a_long_wait_is_said_on_a_terminal_and_erased(monkeypatch):
    assert waited(monkeypatch, Terminal(), 0.3) == "compiling f ..." + waiting.ERASE


def test_a_short_wait_is_not_said(monkeypatch):
    assert waited(monkeypatch, Terminal(), 0, patience=30) == ""


def test_a_pipe_gets_nothing(monkeypatch):
    assert waited(monkeypatch, io.StringIO(), 0.3) == ""


def test_a_wait_that_ends_in_an_error_is_erased(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(waiting, "PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", stream)
    with pytest.raises(ZeroDivisionError), waiting.said("compiling f"):
        time.sleep(0.2)
        raise ZeroDivisionError
    assert stream.getvalue().endswith(waiting.ERASE)


def test_compiling_is_said(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(waiting, "PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", stream)
    mc.compile("sum(x + 1)", target="numpy", name="total")
    assert stream.getvalue() == "compiling total ..." + waiting.ERASE


PROGRAM = """
import time
from matcalc.compiler.runtime import waiting
waiting.PATIENCE = 0.05
with waiting.said("compiling f"):
    time.sleep(0.3)
"""


@pytest.mark.parametrize("on_terminal", [True, False])
def test_a_process_says_so_on_its_terminal_alone(on_terminal):
    leader, follower = pty.openpty() if on_terminal else os.pipe()
    subprocess.run([sys.executable, "-c", PROGRAM], stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 1000)
    os.close(leader)
    assert shown == (b"compiling f ..." + waiting.ERASE.encode() if on_terminal else b"")
