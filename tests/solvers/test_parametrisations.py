"""parametrise=True: variables stay in their sets, and the minima are those known in closed form."""

import numpy as np
import pytest

import matcalc as mc
from matcalc import solvers

RNG = np.random.default_rng(8)
A = RNG.standard_normal((3, 3))
C = A @ A.T + np.eye(3)
ROTATED = np.linalg.qr(A)[0]
ROTATED *= np.sign(np.linalg.det(ROTATED))
NEAREST = {
    "symmetric": (A + A.T) / 2,
    "skew": (A - A.T) / 2,
    "lower": np.tril(A),
    "upper": np.triu(A),
    "diagonal": np.diag(np.diag(A)),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("fact", NEAREST)
def test_linear_sets_give_the_projection(fact):
    found = mc.minimize("norm2(X - A)^2", "X", {"X": np.zeros((3, 3))}, {"A": A}, "trust-exact", parametrise=True,
                        declarations=f"X: matrix(n, n) {fact}; A: matrix(n, n)", target="numpy")  # fmt: skip
    assert np.allclose(found.x["X"], NEAREST[fact], atol=1e-8)
    assert len(found.jac) == {"symmetric": 6, "skew": 3, "lower": 6, "upper": 6, "diagonal": 3}[fact]


@pytest.mark.parametrize(
    ("f", "fact", "start", "least"),
    [
        ("logdet(X) + tr(inv(X)*C)", "spd", 2 * np.eye(3), C),
        ("norm2(X - Q)^2", "orthogonal", np.eye(3), ROTATED),
        ("sum(X - C.*log(X))", "positive", np.ones((3, 3)), np.abs(C)),
    ],
)
@pytest.mark.whole
@pytest.mark.parametrize("method", ["BFGS", pytest.param("trust-exact", marks=pytest.mark.whole)])
def test_curved_sets(f, fact, start, least, method):
    data = {"C": np.abs(C) if fact == "positive" else C, "Q": ROTATED}
    data = {name: value for name, value in data.items() if name in f}
    found = mc.minimize(f, "X", {"X": start}, data, method, parametrise=True, target="numpy", tol=1e-8,
                        declarations=f"X: matrix(n, n) {fact}; C: matrix(n, n); Q: matrix(n, n)")  # fmt: skip
    assert np.allclose(found.x["X"], least, atol=1e-5)


def test_coordinates_and_back_and_constraints_in_the_arrays():
    made = solvers.problem("tr(S*C)", "S", {"C": C}, "tr(S) <= 2", start={"S": C}, parametrise=True, target="numpy",
                           declarations="S: matrix(n, n) spd; C: matrix(n, n)")  # fmt: skip
    assert made.x0.shape == (6,)
    assert np.allclose(made.unpack(made.x0)["S"], C)
    (trace,) = made.constraints
    assert np.isclose(trace.fun(made.x0)[0], np.trace(C) - 2)
    steps = 1e-6 * np.eye(6)
    assert np.allclose(
        trace.jac(made.x0)[0], [(trace.fun(made.x0 + e) - trace.fun(made.x0 - e))[0] / 2e-6 for e in steps]
    )


@pytest.mark.parametrize(
    ("declared", "start", "bounds", "kind", "message"),
    [
        ("nonnegative", np.eye(2), {}, mc.NotSupported, "no parametrisation keeps X nonnegative"),
        ("positive symmetric", np.ones((2, 2)), {}, mc.NotSupported, "positive and symmetric"),
        ("orthogonal", np.ones((2, 2)), {}, ValueError, "is not orthogonal"),
        ("positive", np.zeros((2, 2)), {}, ValueError, "not inside"),
        ("positive", np.ones((2, 2)), {"X": (0, 1)}, ValueError, "X is parametrised"),
    ],
)
def test_what_has_no_chart_is_refused(declared, start, bounds, kind, message):
    with pytest.raises(kind, match=message):
        mc.minimize("norm2(X)^2", "X", {"X": start}, bounds=bounds, parametrise=True, target="numpy",
                    declarations=f"X: matrix(2, 2) {declared}")  # fmt: skip
