"""Functions of singular values with any value and slope at 0: differentials of wide, tall and square matrices."""

import numpy as np
import pytest

import matcalc as mc

FUNCTIONS = {
    "S.^-1.1": lambda s: s**-1.1,
    "1./S": lambda s: 1 / s, "log(S)": np.log, "sqrt(S)": np.sqrt, "1 + S": lambda s: 1 + s,
    "exp(S)": np.exp, "S.^3": lambda s: s**3, "cos(S)": np.cos,
}  # fmt: skip


@pytest.mark.sampled(12)
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 2), (1, 3), (3, 1)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes(name: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape)
    X, E, G = rng.standard_normal((3, *shape))
    text = f"sum(G.*(svd_U(X)*diag({name.replace('S', 'svd_s(X)')})*svd_V(X)'))"

    def value(t: float) -> float:
        U, s, V = np.linalg.svd(X + t * E, full_matrices=False)
        return float(np.sum(G * ((U * FUNCTIONS[name](s)) @ V)))

    h = 1e-3
    slopes = [(value(k * h) - value(-k * h)) / (2 * k * h) for k in (1, 2, 4)]
    first, second = (4 * slopes[0] - slopes[1]) / 3, (4 * slopes[1] - slopes[2]) / 3
    wanted = (16 * first - second) / 15
    found = mc.gradient(text, "X", "X: matrix(m, n); G: matrix(m, n)", check=False)(X=X, G=G)
    assert np.sum(found * E) == pytest.approx(wanted, rel=1e-5, abs=1e-7)
