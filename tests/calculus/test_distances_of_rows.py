"""Kernels of the root of squared distances have gradients where rows are equal, however the squares are written."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import matcalc as mc

LET = {"X": "matrix(n, d)", "y": "vector(n)", "l": "scalar", "s": "scalar positive", "L": "vector(d)"}
rng = np.random.default_rng(8)
DATA = {
    "X": rng.standard_normal((4, 3)),
    "y": rng.standard_normal(4),
    "l": 0.7,
    "s": 1.3,
    "L": np.array([0.6, -1.4, 2.0]),
}
SQUARES = {
    "differences": "((X[:, None, :] - X[None, :, :])**2).sum(-1)/l**2",
    "weights": "((X[:, None, :] - X[None, :, :])**2/L**2).sum(-1)",
    "multiplied out": "((X**2).sum(1)[:, None] + (X**2).sum(1)[None, :] - 2*X @ X.T)/l**2",
    "by the diagonal": "np.diag(X @ X.T)[:, None] + np.diag(X @ X.T)[None, :] - 2*X @ X.T",
    "divided rows": "((X/L)**2).sum(1)[:, None] + ((X/L)**2).sum(1) - 2*(X/L) @ (X/L).T",
    "distances": "cdist(X, X)**2/l**2",
    "numbers": "(X[:, 0][:, None] - X[:, 0])**2/l**2",
}
KERNELS = {
    "exponential": "np.exp(-np.sqrt(D))",
    "three halves": "(1 + np.sqrt(3)*np.sqrt(D))*np.exp(-np.sqrt(3)*np.sqrt(D))",
    "inside": "(1 + np.sqrt(3*D))*np.exp(-np.sqrt(3*D))",
    "five halves": "(1 + np.sqrt(5*D) + 5/3*D)*np.exp(-np.sqrt(5*D))",
}
CASES = [(squares, kernel) for squares in SQUARES for kernel in KERNELS]


def kernel_of(squares, kernel):
    """Return a quadratic form of a kernel, and the same by loops over differences, and the names of its arguments."""
    names = [name for name in LET if name in ("X", "y", "s") or f"{name})" in squares or f"{name}*" in squares]
    text = f"def form({', '.join(names)}):\n    D = {squares}\n    return s*(y @ ({kernel}) @ y)"
    space = {"np": np, "cdist": cdist}
    exec(text, space)

    def truth(**data):
        Z = data["X"][:, :1] if "X[:, 0]" in squares else data["X"]
        D = ((Z[:, None] - Z) ** 2 / np.asarray(data.get("L", data.get("l", 1.0))) ** 2).sum(-1)
        return data["s"] * (data["y"] @ eval(kernel, {"np": np, "D": D}) @ data["y"])

    return space["form"], truth, names


@pytest.mark.whole
@pytest.mark.parametrize(("squares", "kernel"), CASES)
def test_gradients_at_equal_rows(squares, kernel):
    form, truth, names = kernel_of(SQUARES[squares], KERNELS[kernel])
    data = {name: DATA[name] for name in names}
    for wrt in names:
        found = mc.gradient(form, wrt, "; ".join(f"{name}: {LET[name]}" for name in names))
        slope = np.zeros(np.shape(data[wrt]))
        for at in np.ndindex(slope.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = np.array(data[wrt], dtype=float)
                moved[at] += step
                ends.append(truth(**{**data, wrt: moved}))
            slope[at] = (ends[0] - ends[1]) / 2e-6
        for made in (found, mc.compile(found), mc.expression(str(found), found.declarations)):
            given = {str(one): data[str(one)] for one in getattr(made, "symbols", None) or found.symbols}
            assert np.allclose(made(**given), slope, rtol=1e-5, atol=1e-7), (wrt, str(found))


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("sqrt(diag(X*X')*ones(n)' + ones(n)*diag(X*X')' - 2*X*X')", "{i,j: norm2(X[j, :] - X[i, :])}"),
        ("sqrt(3*{i,j: sum{k: (X[i,k] - X[j,k])^2}})", "sqrt(3)*{i,j: norm2(X[j, :] - X[i, :])}"),
    ],
)
def test_roots_of_squared_distances_are_norms(text, short):
    assert str(mc.expression(text, "X: matrix(n, d)").simplify()) == short


def test_other_sums_are_no_distances():
    let = "X: matrix(n, d); Z: matrix(n, d)"
    for text in (
        "sqrt(diag(X*X')*ones(n)' + ones(n)*diag(X*X')' + 2*X*X')",
        "sqrt(diag(X*X')*ones(n)' + ones(n)*diag(X*X')' - X*X')",
        "sqrt(diag(X*X')*ones(n)' + ones(n)*diag(Z*Z')' - 2*X*X')",
        "sqrt(2*diag(X*X')*ones(n)' + ones(n)*diag(X*X')' - 2*X*X')",
    ):
        e = mc.expression(text, let if "Z" in text else "X: matrix(n, d)")
        assert "norm2" not in str(e.simplify())
        X, Z = DATA["X"], DATA["X"][::-1]
        with np.errstate(invalid="ignore"):
            data = {"X": X, "Z": Z}
            values = [made(**{str(one): data[str(one)] for one in e.symbols}) for made in (e, e.simplify())]
        assert np.allclose(*values, equal_nan=True)
