"""The README's Python and commands run, and print the output shown."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from matcalc.commands import cli

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = [
    (match[1], match[2])
    for block in re.findall(r"```console\n(.*?)```", README, re.S)
    for match in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
]


def test_python_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # one of them saves a file
    failures, tried = doctest.testfile(
        str(ROOT / "README.md"), module_relative=False, verbose=False, optionflags=doctest.ELLIPSIS
    )
    assert tried >= 5
    assert failures == 0


@pytest.mark.parametrize(("command", "shown"), CONSOLE, ids=[command for command, _ in CONSOLE])
def test_commands(command, shown, capsys):
    program, *arguments = shlex.split(command)
    assert program == "matcalc"
    assert cli.main(arguments) == 0
    assert capsys.readouterr().out == shown


def test_setup_commands():
    """The first two commands are in separate blocks and do the whole setup."""
    blocks = re.findall(r"```sh\n(.*?)```", README, re.S)
    assert [block.count("\n") for block in blocks] == [1, 1]
    assert all(block.startswith("python3 -m venv ") for block in blocks)
    assert blocks[0].endswith("matcalc demo\n")
    assert blocks[1].endswith("pytest -n auto\n")


def test_examples_are_listed():
    listed = set(re.findall(r"^\| `(\w+\.py)` \|", README, re.M))
    assert listed == {path.name for path in (ROOT / "examples").glob("*.py")}
