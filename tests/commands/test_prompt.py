"""The prompt: it remembers a formula and declarations, runs commands on them, and marks where an error is."""

import os
import pty
import subprocess
import sys

import pytest

import matcalc as mc
from matcalc.commands import prompt
from matcalc.commands.notebook import run
from matcalc.commands.prompt import HELP, Prompt


def said(*lines):
    """Return the output of each line at one prompt."""
    session = Prompt()
    return [session.answer(line) for line in lines]


def test_a_formula_says_what_was_inferred_and_its_shape():
    (text,) = said("norm2(X*w - y)^2")
    assert text == "X: matrix(m, n); w: vector(n); y: vector(m), undeclared\nnorm2(X*w - y)^2    (a number)"


def test_derivatives_of_the_last_formula():
    *_, one, two, several = said("norm2(X*w - y)^2", "gradient w", "hessian w", "gradient w, y")
    assert one == "2*X'*(X*w - y)"
    assert two == "2*X'*X"
    assert several == "w: 2*X'*(X*w - y)\ny: 2*(y - X*w)"


def test_declarations_stay_and_are_replaced_by_name():
    one, _, gradient, two, *_ = said(
        "let S: matrix(n, n) spd", "logdet(S)", "gradient S", "let S: matrix(n, n); lam: scalar"
    )
    assert one == "S: matrix(n, n) spd"
    assert gradient == "inv(S)"
    assert two == "S: matrix(n, n)\nlam: scalar"


def test_a_wrong_declaration_changes_nothing():
    session = Prompt()
    session.answer("let S: matrix(n, n)")
    assert session.answer("let T: matricks(n)").startswith("UnknownName: unknown kind")
    assert session.answer("let") == "S: matrix(n, n)"


def test_results_in_other_forms():
    *_, latex, equal, unequal = said("tr(A*X)", "gradient X", "latex", "equal A.T", "equal A")
    assert latex == r"\mathbf{A}^\top"
    assert equal.startswith("equal")
    assert not unequal.startswith("equal")


@pytest.mark.parametrize("command", ["gradient w", "latex", "check w", "code w", "explain w", "equal x"])
def test_a_command_before_any_formula(command):
    assert said(command) == ["NotSupported: there is no formula yet\n  type one, such as (X*w - y)'*(X*w - y)"]


def test_a_command_without_a_variable():
    assert said("x'*x", "gradient")[1] == "UnknownName: in which variable?\n  gradient w"


def test_errors_mark_the_place():
    assert said("A*(x + y") == ["ParseError: '(' is never closed\n  A*(x + y\n    ^\n  expected ')' before the end"]


def test_names_of_commands_are_still_symbols():
    assert said("latex*code")[0].endswith("(a number)") or "latex" in said("latex.*code")[0]


def test_help_names_every_command():
    assert all(name in HELP for name in prompt.COMMANDS)
    assert said("?") == [HELP]


def test_forget():
    assert said("let A: matrix(2, 2)", "forget", "let") == ["A: matrix(2, 2)", "", ""]


@pytest.mark.whole
def test_on_a_terminal(tmp_path):
    """The whole program on a pseudo terminal: a formula over two lines, a gradient, the end of input."""
    here, there = pty.openpty()
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TERM": "dumb"}
    command = [sys.executable, "-m", "matcalc"]
    with subprocess.Popen(command, stdin=there, stdout=there, stderr=there, env=environment, close_fds=True) as process:
        os.close(there)
        os.write(here, b"norm2([A;\nB]*x)^2\ngradient x\nquit\n")
        output = b""
        while chunk := read_some(here):
            output += chunk
        assert process.wait(60) == 0
    assert b"2*(A'*A + B'*B)*x" in output
    assert b"\n. " in output.replace(b"\r", b"")
    assert (tmp_path / "matcalc" / "history").exists()


def read_some(terminal):
    """Return the next output of a terminal, empty at its end."""
    try:
        return os.read(terminal, 1000)
    except OSError:
        return b""


def in_a_cell(line, *lines):
    names = {}
    return run(names, line, "\n".join(lines)), names


def test_a_cell_of_a_notebook():
    result, names = in_a_cell(" g ", "let S: matrix(n, n) spd", "logdet(S)", "gradient S")
    assert str(result) == "inv(S)"
    assert names == {"g": result}


def test_a_cell_that_ends_in_words(capsys):
    result, names = in_a_cell("g", "tr(A*X)", "gradient X", "latex")
    assert result is None
    assert names == {}
    assert capsys.readouterr().out == "\\mathbf{A}^\\top\n"


def test_a_cell_over_several_lines_and_its_errors():
    result, _ = in_a_cell("", "norm2([A;", " B]*x)^2", "gradient x")
    assert str(result) == "2*(A'*A + B'*B)*x"
    with pytest.raises(mc.ParseError):
        in_a_cell("", "A*(x + y")
    with pytest.raises(SyntaxError, match="takes a name"):
        in_a_cell("a b", "x")


@pytest.mark.whole
def test_in_ipython():
    shell = pytest.importorskip("IPython").core.interactiveshell.InteractiveShell.instance()
    shell.run_line_magic("load_ext", "matcalc")
    shell.run_cell("%%matcalc g\nnorm2(X*w - y)^2\ngradient w")
    assert str(shell.user_ns["g"]) == "2*X'*(X*w - y)"
