"""The page's engine where it runs without a server: in a Python without Numba, or without NumPy and SciPy as well."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.whole

PROGRAM = """
import json, sys
import importlib.util

GONE = {gone!r}
found = importlib.util.find_spec

class Gone:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return None

for name in GONE:
    assert name not in sys.modules
finders = list(sys.meta_path)

def without(finder):
    class Without:
        @staticmethod
        def find_spec(name, path=None, target=None):
            return None if name.partition(".")[0] in GONE else finder.find_spec(name, path, target)
    return Without

sys.meta_path[:] = [without(finder) for finder in finders]
from matcalc.page.alone import answer, begin

begin()
print(json.dumps([json.loads(answer(line)) for line in sys.stdin.read().splitlines()]))
"""
COMPILED = ["numba", "llvmlite", "islpy", "psutil", "rich", "IPython", "matplotlib", "multiprocessing"]
FORMULA = {"formula": "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w", "wrt": "w", "declarations": "lam: scalar"}
GRADIENT = "2*lam*w - X'*(y.*sigmoid(-y.*(X*w)))"


def answers(gone, *questions):
    asked = "\n".join(json.dumps({**FORMULA, **question}) for question in questions)
    command = [sys.executable, "-c", PROGRAM.format(gone=gone)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "gone", [COMPILED, [*COMPILED, "numpy", "scipy", "sympy", "mpmath", "platformdirs"]], ids=["numpy", "bare"]
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
    assert "mathbf{X}" in read["latex"] and derived["blocks"][0]["latex"] == latex["text"]
    assert text["text"] == GRADIENT
    assert any("product rule" in line for line in explained["blocks"][0]["lines"])
    assert fault["error"]["kind"] == "ParseError" and "topic is one of" in refused["error"]["message"]


def test_with_numpy_all_is_there_but_machine_code(tmp_path):
    code, compared, convex, graph, checked, plan = answers(
        COMPILED,
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
