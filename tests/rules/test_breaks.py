"""Functions with a jump or kink between close eigenvalues, where a mean of the derivative would miss it."""

import numpy as np
import pytest

import matcalc as mc

FUNCTIONS = {"step": lambda w: (w > 1) * 1.0, "relu": lambda w: np.maximum(w - 1, 0), "abs": lambda w: np.abs(w - 1)}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("gap", [2e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_break_between_close_eigenvalues(name, gap):
    rng = np.random.default_rng(3)
    w = np.array([1 - gap / 2, 1 + gap / 2, 2.0])
    V = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    S, E = (V * w) @ V.T, rng.standard_normal((3, 3))
    E = E + E.T
    w, V = np.linalg.eigh(S)
    f = FUNCTIONS[name](w)
    apart = w[:, None] - w
    slopes = np.diag((w > 1) * 1.0 if name == "relu" else np.sign(w - 1) if name == "abs" else 0 * w)
    D = np.divide(f[:, None] - f, apart, out=slopes, where=apart != 0)
    wanted = V @ (D * (V.T @ E @ V)) @ V.T
    pushed = mc.jvp(f"matfun(x -> {name}(x - 1), S)", "S", "S: matrix(n, n) symmetric")
    for found in (pushed(S=S, dS=E), mc.compile(pushed, target="numpy")(S=S, dS=E), mc.compile(pushed)(S=S, dS=E)):
        assert np.allclose(found, wanted, rtol=0, atol=1e-13 / gap * np.abs(wanted).max())
