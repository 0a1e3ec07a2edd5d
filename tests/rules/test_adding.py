"""Adding an operation takes one entry of rules/ and one of codegen/ in a copy of the tree, and no Python."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import matcalc
from matcalc.store.data_folders import data_folder

PACKAGE = Path(matcalc.__file__).parent
MEAN = Path(__file__).resolve().parents[2] / "examples" / "geometric_mean.toml"

LOWERING = """
[geomean]
where   = ["L = chol(A)"]
becomes = "L*sqrtm(inv(L)*B*inv(L)')*L'"
"""

PROGRAM = """
import numpy as np
from scipy.linalg import sqrtm
import matcalc as mc

LET = "A: matrix(n, n) spd; B: matrix(n, n) spd; C: matrix(n, n)"
rng = np.random.default_rng(4)
M, N, C, E, F = rng.standard_normal((5, 5, 5))
A, B, E, F = M @ M.T + np.eye(5), N @ N.T + np.eye(5), E + E.T, F + F.T

def mean(A, B):
    root = sqrtm(A)
    inner = np.linalg.solve(root, np.linalg.solve(root, B).T)
    return root @ sqrtm(inner) @ root

def slope(t):
    return np.sum(C.T * mean(A + t * E, B + t * F))

h = 1e-3
differences = (8 * (slope(h) - slope(-h)) - (slope(2 * h) - slope(-2 * h))) / (12 * h)
for target in ("numpy", "numba"):
    fn = mc.value_and_gradient("tr(C*geomean(A, B))", ["A", "B"], LET, target=target)
    assert "geomean_" not in fn.source and "chol(" in fn.source, "the program is made from the entry of codegen/"
    value, (in_A, in_B) = fn(A=A, B=B, C=C)
    assert np.isclose(value, slope(0), rtol=1e-12)
    assert np.isclose(np.sum(in_A * E) + np.sum(in_B * F), differences, rtol=1e-9)
print(mc.differential("geomean(A, B)", "A", LET))
"""


@pytest.mark.whole
def test_one_entry_in_rules_and_one_in_codegen(tmp_path):
    for folder in (PACKAGE, data_folder("rules"), data_folder("codegen")):
        shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(MEAN, tmp_path / "rules" / "means.toml")
    with (tmp_path / "codegen" / "kernels.toml").open("a", encoding="utf-8") as kernels:
        kernels.write(LOWERING)
    command = [sys.executable, "-c", PROGRAM]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "lyapunov" in run.stdout or "sylvester" in run.stdout
