"""Functions of matrices and roots become assembly without Numba, so that a second process finds them by their text."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.llvm.native import assembly_of

SYMMETRIC, SQUARE, ANY = "S: matrix(n, n) symmetric", "A: matrix(n, n)", "X: matrix(m, n)"
DEFINITE, SCALARS = "S: matrix(n, n) spd", "a: scalar; y: scalar"
QUICK = [
    ("sum(spectral_projector(S, 2))", "S", SYMMETRIC),
    ("root(y^3 - a*y - 2, y, start=a)", "a", SCALARS),
]
FORMULAS = [
    ("lambda_max(S)", "S", SYMMETRIC),
    ("sum_largest_eig(S, 2)", "S", SYMMETRIC),
    ("sum(psd_part(S))", "S", SYMMETRIC),
    ("sum(matfun(exp, S))", "S", SYMMETRIC),
    ("sum(eigh_V(S).^3)", "S", SYMMETRIC),
    ("sum(logm(S))", "S", DEFINITE),
    ("sum(powm(S, 1/3))", "S", DEFINITE),
    ("sum(svdfun(exp, X))", "X", ANY),
    ("sum(svd_lowrank(X, 2))", "X", ANY),
    ("sum(svd_shrink(X, 0.5))", "X", ANY),
    ("spectral_norm(X)", "X", ANY),
    ("cond(X)", "X", ANY),
    ("sum(polar_U(X))", "X", ANY),
    ("sum(pinv(X))", "X", ANY),
    ("sum(expm(A))", "A", SQUARE),
    ("sum(signm(A))", "A", SQUARE),
    ("spectral_radius(A)", "A", SQUARE),
    ("sum(eigvals(A).^2)", "A", SQUARE),
]


@pytest.mark.parametrize(
    ("text", "wrt", "declarations"), [*QUICK, *(pytest.param(*case, marks=pytest.mark.whole) for case in FORMULAS)]
)
@pytest.mark.sampled(2)
def test_functions_of_matrices_need_no_numba(text, wrt, declarations):
    symbol, assembly, _ = assembly_of(mc.value_and_gradient(text, wrt, declarations).spec)
    assert symbol in assembly


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ("numba", "numpy"))
def test_a_root_in_one_number(target):
    """The root of y^3 - a*y - 2, and its derivative y/(3*y^2 - a)."""
    function = mc.value_and_gradient("root(y^3 - a*y - 2, y, start=a)", "a", SCALARS, target=target)
    value, slope = function(2.0)
    (y,) = [r.real for r in np.roots([1, 0, -2.0, -2]) if abs(r.imag) < 1e-12]
    np.testing.assert_allclose([value, slope], [y, y / (3 * y * y - 2)], rtol=1e-13)
