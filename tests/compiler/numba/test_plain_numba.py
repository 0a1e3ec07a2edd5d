"""Functions are right where Numba and llvmlite lack private members, and where the layout of objects is unknown."""

import os
import subprocess
import sys

import pytest
from hide_members import hiding, members

from matcalc.compiler.numba.private_members import MEMBERS, TESTED, _is_tested

START = """
import numpy as np
from scipy import sparse
import matcalc as mc

rng = np.random.default_rng(5)
A, b, x = rng.standard_normal((4, 4)), rng.standard_normal(4), rng.standard_normal(4)
S = A @ A.T + np.eye(4)
close = lambda found, known: np.testing.assert_allclose(found, known, rtol=1e-10, atol=1e-12)
"""
FORMULAS = """
both = mc.value_and_gradient("x'*A*x + b'*x", "x", declarations="A: matrix(n, n); b: vector(n)")
value, gradient = both(A=A, x=x, b=b)
close(value, x @ A @ x + b @ x)
close(gradient, (A + A.T) @ x + b)

solve = mc.compile("b'*inv(S)*b + logdet(S)", declarations="S: matrix(n, n) spd; b: vector(n)")
close(solve(S=S, b=b), b @ np.linalg.solve(S, b) + np.linalg.slogdet(S)[1])
close(solve(S=S.astype(">f8"), b=list(b)), solve(S=S, b=b))
for wrong, error in ((dict(S=-S, b=b), np.linalg.LinAlgError), (dict(S=S, b=b[:2]), ValueError)):
    try:
        solve(**wrong)
    except error:
        continue
    raise AssertionError(error)

both = mc.value_and_gradient("sum(log(1 + exp(-A*x)))", "x", declarations="A: matrix(m, n); x: vector(n)")
value, gradient = both(A=A, x=x)
close(value, np.logaddexp(0, -A @ x).sum())
close(gradient, -A.T @ (1 / (1 + np.exp(A @ x))))
close(mc.compile("exp(A)*x", declarations="A: matrix(m, n)")(A=A, x=x), np.exp(A) @ x)

quadratic = mc.compile("x'*A*x", declarations="A: matrix(n, n); x: vector(n)")
X = rng.standard_normal((5, 4))
close(mc.batch(quadratic, over="x")(A=A, x=X), np.einsum("ki,ij,kj->k", X, A, X))
close(quadratic.bind(A=A)(x), x @ A @ x)
weighted = mc.compile("sum(A*x)", declarations="A: matrix(m, n) sparse; x: vector(n)")
close(weighted(A=sparse.csr_array(A * (A > 0)), x=x), ((A * (A > 0)) @ x).sum())

out = np.empty(4)
chosen = mc.compile("{i: Z[i, y[i]]}", declarations="Z: matrix(n, k); y: index(n)")
labels = np.array([3, 0, 2, 2])
close(chosen(Z=A, y=labels, out=out), A[np.arange(4), labels])
close(out, A[np.arange(4), labels])
try:
    chosen(Z=A, y=labels + 9)
except (IndexError, ValueError) as error:
    assert "y" in str(error)
else:
    raise AssertionError("an index outside its axis")

for matrix in (A[:, ::-1], A.astype(np.float32), np.asfortranarray(A)):
    close(quadratic(A=matrix, x=x), x @ np.float64(matrix) @ x)
import numba
close(quadratic.numba(A, x), x @ A @ x)
twin = quadratic.numba

@numba.njit
def twice(A, x):
    return 2 * twin(A, x)

close(twice(A, x), 2 * (x @ A @ x))
assert quadratic.cfunc().address
from matcalc.compiler.call.compiled import Compiled
assert type(quadratic) is Compiled  # it has no call slot
"""
HIDDEN = """
import sys
assert "public functions" in quadratic.stats["note"], quadratic.stats
assert "matcalc.compiler.numba.engine" not in sys.modules
"""
UNKNOWN = """
from matcalc.compiler.machine import array_layout
array_layout.{check} = lambda: False
"""
END = """
print("right")
"""


def run(program, tmp_path):
    environment = {**os.environ, "MATCALC_CACHE": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=500)
    assert done.stdout.strip() == "right", done.stderr


def test_the_installed_versions_are_known_to_have_all():
    assert all(map(_is_tested, TESTED))


@pytest.mark.whole
def test_plain_numba_gives_right_results_without_all_private_members(tmp_path):
    run(hiding(members(MEMBERS)) + START + FORMULAS + HIDDEN + END, tmp_path)


@pytest.mark.whole
@pytest.mark.parametrize("check", ["is_known", "are_arrays_known"])
def test_an_unknown_layout_of_objects_takes_python_and_gives_right_results(check, tmp_path):
    run(UNKNOWN.format(check=check) + START + FORMULAS + END, tmp_path)
