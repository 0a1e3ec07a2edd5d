"""SciPy's functions on symbols: elementwise ones work, all others raise an error that names the function."""

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import matcalc as mc

A, S, X, x = mc.symbols("A: matrix(n, n); S: matrix(n, n) spd; X: matrix(m, n); x: vector(n)")
REFUSED = {
    "expm": (A,), "inv": (A,), "cho_factor": (S,), "solve": (A, x), "cholesky": (S,), "block_diag": (A, A),
    "logm": (A,), "sqrtm": (A,), "eigh": (S,), "svd": (X,), "solve_sylvester": (A, A, A), "det": (A,), "norm": (A,),
    "pinv": (A,), "toeplitz": (x,),
}  # fmt: skip
INSTEAD = {"expm": "mc.expm", "inv": "mc.inv", "eigh": "mc.eigh_w", "cholesky": "mc.cholesky", "norm": "mc.norm"}


@pytest.mark.parametrize("name", REFUSED)
def test_linear_algebra_is_refused_by_name(name):
    if name == "block_diag" and scipy.__version__.startswith(("1.15", "1.16")):  # reads a dtype before any numbers
        with pytest.raises(AttributeError):
            scipy.linalg.block_diag(A, A)
        return
    with pytest.raises(mc.MatcalcError, match=rf"scipy.linalg.{name} computes with numbers") as fault:
        getattr(scipy.linalg, name)(*REFUSED[name])
    assert INSTEAD.get(name, "") in str(fault.value)


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
def test_what_is_not_elementwise_is_refused_by_name(name):
    with pytest.raises(mc.MatcalcError, match=rf"scipy.special.{name} computes with numbers"):
        getattr(scipy.special, name)(x)


@pytest.mark.parametrize("name", ["expit", "gammaln", "erf", "digamma", "entr", "logit", "log_ndtr", "erfinv", "log1p"])
def test_elementwise_functions_are_those_of_formulas(name):
    data = np.array([0.2, 0.5, 0.7])
    np.testing.assert_allclose(getattr(scipy.special, name)(x)(data), getattr(scipy.special, name)(data), rtol=1e-13)


def test_numpy_asking_for_an_array_is_told_as_before():
    with pytest.raises(mc.MatcalcError, match="x is no array of numbers"):
        np.asarray(x, dtype=float)
