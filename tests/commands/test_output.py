"""Colour and progress appear on a terminal, never in a pipe."""

import io
import os
import pty
import re
import subprocess
import sys

import pytest

from matcalc.commands.output import say

TABLE = "derivative   error\ngradient     1e-09  right\nHessian      0.5  WRONG\nnot equal at m = 1:"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def test_a_pipe_gets_the_text_as_it_is():
    out = io.StringIO()
    say(TABLE, out)
    assert out.getvalue() == f"{TABLE}\n"


def test_a_terminal_gets_colours_and_the_same_characters():
    pytest.importorskip("rich")
    out = Terminal()
    long = "inv(X)*" * 200 + "[red]"
    say(f"{TABLE}\n{long}", out)
    assert "\x1b[" in out.getvalue()
    assert re.sub(r"\x1b\[[\d;]*m", "", out.getvalue()) == f"{TABLE}\n{long}\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colours_gets_none(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    out = Terminal()
    say(TABLE, out)
    assert out.getvalue() == f"{TABLE}\n"


def test_without_rich_all_is_plain(monkeypatch):
    monkeypatch.setattr("matcalc.commands.output.find_spec", lambda name: None)
    out = Terminal()
    say(TABLE, out)
    assert out.getvalue() == f"{TABLE}\n"


@pytest.mark.whole
def test_a_command_in_a_pipe_is_plain():
    command = [sys.executable, "-m", "matcalc", "gradient", "--quiet", "norm2(X*w - y)^2", "--wrt", "w"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "2*X'*(X*w - y)\n"


@pytest.mark.whole
def test_a_command_on_a_terminal_is_painted():
    pytest.importorskip("rich")
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "matcalc", "gradient", "--quiet", "norm2(X*w - y)^2", "--wrt", "w"]
    subprocess.run(command, stdout=follower, check=True, env={**os.environ, "TERM": "xterm"})
    os.close(follower)
    told = os.read(leader, 10000).decode()
    assert "\x1b[" in told and re.sub(r"\x1b\[[\d;]*m", "", told).strip() == "2*X'*(X*w - y)"
