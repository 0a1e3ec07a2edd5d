"""SciPy's functions on symbols: elementwise ones work, all others raise an error that names the function."""

import subprocess
import sys

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


IMPORTED_LATER = """
import sys
import numpy as np
import matcalc as mc

def plain(x):
    return np.sum(np.exp(x)) * x @ x

def inside(x):
    import scipy
    from scipy.spatial.distance import cdist
    from scipy import stats as laws
    r = cdist(x[:, None], x[:2, None])
    return laws.norm.logpdf(x).sum() + scipy.special.logsumexp(x) + scipy.linalg.norm(x) + r.sum()

gradient = mc.gradient(plain, "x", "x: vector(n)")
print(sorted(name for name in sys.modules if name in ("scipy.special", "scipy.linalg", "scipy.stats")))
x = np.linspace(-1, 2, 5)
print(abs(mc.expression(inside, "x: vector(n)")(x=x) - inside(x)) < 1e-12)
"""


@pytest.mark.whole
def test_modules_are_replaced_when_the_function_imports_them():
    done = subprocess.run([sys.executable, "-c", IMPORTED_LATER], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]
