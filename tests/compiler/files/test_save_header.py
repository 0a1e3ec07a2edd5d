"""The docstring of a saved file fits a screen; formulas that it abbreviates are whole at the end of the file."""

import ast
import subprocess
import sys

import pytest

import matcalc as mc
from matcalc.compiler.files.save_header import SCREEN

LET = "D: matrix(n, n) symmetric; y: vector(n); sf: scalar; l: scalar; s: scalar"
LONG = "(y'*inv(K)*y + logdet(K))/2 where K = sf^2*exp(-D.^2/(2*l^2)) + s^2*eye(n)"


def saved(tmp_path, target, formula, wrt, name):
    path = tmp_path / name
    e = mc.expression(formula, LET if formula is LONG else "x: scalar; z: scalar")
    outputs = [e, *(e.gradient(x).gradient("s" if formula is LONG else x) for x in wrt)]
    fn = mc.compile(outputs, target=target)
    fn.save(path)
    return path.read_text(encoding="utf-8"), fn.spec.formulas


@pytest.mark.parametrize("target", ["numpy", "c"])
@pytest.mark.whole
def test_long_formulas_are_at_the_end(tmp_path, target):
    text, formulas = saved(tmp_path, target, LONG, ("l", "s", "sf"), f"f.{'py' if target == 'numpy' else 'c'}")
    head = ast.get_docstring(ast.parse(text)) if target == "numpy" else text[: text.index("*/")]
    assert len(head.splitlines()) <= SCREEN
    assert "at the end of the file" in head
    tail = "".join(text[len(head) :].split()).replace("#", "")
    assert len(formulas) == 4
    for formula in formulas:
        assert "".join(formula.text.split()) in tail
        assert "".join(formula.latex.split()) in tail


def test_a_file_with_formulas_at_its_end_tests_itself(tmp_path):
    saved(tmp_path, "numpy", LONG, ("l",), "f.py")
    made = subprocess.run([sys.executable, "f.py"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


def test_short_formulas_are_in_the_docstring(tmp_path):
    text, formulas = saved(tmp_path, "numpy", "x^2*z", ("x",), "f.py")
    head = ast.get_docstring(ast.parse(text))
    assert all(formula.text in head and formula.latex in head for formula in formulas)
    assert "at the end of the file" not in text
