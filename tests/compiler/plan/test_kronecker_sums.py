"""A Kronecker product plus a multiple of the identity: values and derivatives against NumPy's on the whole matrix."""

from functools import cache

import mpmath as mp
import numpy as np
import pytest

import matcalc as mc

TARGETS = ("numba", "numpy")
SIZES = ((4, 4), (5, 4), (3, 7), (6, 5), (2, 3), (1, 4), (3, 3), (0, 2))
LET = "P: matrix(m, m) symmetric; Q: matrix(n, n) symmetric; c: scalar; y: vector(m*n)"


def solved(K, x):
    return np.linalg.solve(K, x)


FORMULAS = {
    "evidence": (
        "logdet(K) + y'*inv(K)*y where K = kron(P, Q) + c*eye(m*n)",
        LET,
        lambda K, d: np.linalg.slogdet(K)[1] + d["y"] @ solved(K, d["y"]),
    ),
    "determinant": (
        "log(1 + det(K)) + y'*(K\\y) where K = kron(P, Q) + c*eye(m*n)",
        LET,
        lambda K, d: np.log(1 + np.linalg.det(K)) + d["y"] @ solved(K, d["y"]),
    ),
    "trace": (
        "tr(inv(K)*S) + sum(inv(K)*y) where K = kron(P, Q) + c*eye(m*n)",
        f"{LET}; S: matrix(m*n, m*n)",
        lambda K, d: np.trace(solved(K, d["S"])) + np.sum(solved(K, d["y"])),
    ),
}


def drawn(m, n, seed=0, noise=0.5):
    """Return data: P and Q are positive definite."""
    rng = np.random.default_rng([seed, m, n])
    P, Q = rng.standard_normal((m, m)), rng.standard_normal((n, n))
    data = {"P": P @ P.T / max(m, 1), "Q": Q @ Q.T / max(n, 1) + np.eye(n), "c": noise}
    return {**data, "y": rng.standard_normal(m * n), "S": rng.standard_normal((m * n, m * n))}


def matrix(d):
    return np.kron(d["P"], d["Q"]) + d["c"] * np.eye(len(d["y"]))


def slopes(value, d, name, step=1e-6):
    """Return central differences in an argument; those of a symmetric matrix move both entries and count half."""
    base = np.asarray(d[name], dtype=float)
    found = np.zeros(base.shape)
    for at in np.ndindex(base.shape):
        ends = []
        for sign in (1, -1):
            moved = base.copy()
            moved[at] += sign * step / 2
            moved[at[::-1]] += sign * step / 2
            ends.append(value(matrix({**d, name: moved}), {**d, name: moved}))
        found[at] = (ends[0] - ends[1]) / (2 * step)
    return found


@cache
def compiled(name, target="numba"):
    formula, declarations, _ = FORMULAS[name]
    return mc.value_and_gradient(formula, ["P", "Q", "c", "y"], declarations, target=target)


def compare(name, target, sizes, seed=0):
    function, value = compiled(name, target), FORMULAS[name][2]
    assert "kronecker_" in function.source
    for m, n in sizes:
        d = drawn(m, n, seed)
        found, gradients = function(**{argument: d[argument] for argument in function.args})
        expected = value(matrix(d), d)
        assert abs(found - expected) <= 1e-11 * max(1, abs(expected)), (name, m, n)
        for argument, gradient in zip("PQcy", gradients, strict=True):
            difference = slopes(value, d, argument)
            scale = max(1, np.max(np.abs(difference), initial=0))
            assert np.max(np.abs(gradient - difference), initial=0) <= 1e-6 * scale, (name, m, n, argument)


@pytest.mark.whole
def test_values_and_gradients_are_those_of_the_whole_matrix():
    compare("evidence", "numba", SIZES)


@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.thinned(2)
def test_values_and_gradients_on_each_target(name, target):
    compare(name, target, SIZES, seed=1)


@pytest.mark.whole
def test_nothing_of_the_size_of_the_matrix_is_made():
    text = str(compiled("evidence").plan)
    short = text[text.index("_short(") : text.index("_direct(")]
    assert "(m*n, m*n)" not in short


OTHERS = {
    "three factors": ("kron(P, Q, P) + c*eye(m*n*m)", lambda d: np.kron(np.kron(d["P"], d["Q"]), d["P"])),
    "with coefficients": ("2*c*kron(P, Q) + c*eye(m*n)", lambda d: 2 * d["c"] * np.kron(d["P"], d["Q"])),
    "a square": ("kron(P*P, Q) + c*eye(m*n)", lambda d: np.kron(d["P"] @ d["P"], d["Q"])),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.whole
def test_other_products(name):
    text, of = OTHERS[name]
    function = mc.compile(f"logdet({text})", declarations=LET.rpartition(";")[0])
    assert "kronecker_" in function.source
    d = drawn(4, 5)
    K = of(d)
    expected = np.linalg.slogdet(K + d["c"] * np.eye(len(K)))[1]
    assert abs(function(**{a: d[a] for a in function.args}) - expected) <= 1e-12 * max(1, abs(expected))


LOOK_ALIKES = {
    "a factor that is not symmetric": ("logdet(kron(P, A) + c*eye(m*n))", "A: matrix(n, n)"),
    "two products": ("logdet(kron(P, Q) + kron(Q, P) + c*eye(m*m))", "Q: matrix(m, m) symmetric"),
    "a diagonal": ("logdet(kron(P, Q) + diag(d))", "Q: matrix(n, n) symmetric; d: vector(m*n)"),
    "small factors": ("logdet(kron(P, Q) + c*eye(6))", "P: matrix(2, 2) symmetric; Q: matrix(3, 3) symmetric"),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_other_sums_are_computed_directly(name):
    formula, declarations = LOOK_ALIKES[name]
    declarations = declarations if "P:" in declarations else f"{declarations}; P: matrix(m, m) symmetric"
    declarations += "; c: scalar" if "c*" in formula else ""
    assert "kronecker_" not in mc.compile(formula, declarations=declarations, check=False).source


@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
def test_a_matrix_that_is_not_definite_is_computed_directly(target):
    d = drawn(4, 5, noise=-2.3)
    value, (_, _, _, slope) = compiled("evidence", target)(d["P"], d["Q"], d["c"], d["y"])
    K = matrix(d)
    assert np.min(np.linalg.eigvalsh(K)) < -1 < 1 < np.max(np.linalg.eigvalsh(K))
    expected = FORMULAS["evidence"][2](K, d)
    assert abs(value - expected) <= 1e-11 * abs(expected)
    assert np.allclose(slope, 2 * solved(K, d["y"]), rtol=1e-10, atol=1e-11)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
def test_a_singular_matrix_fails_as_it_did(target):
    d = drawn(4, 5, noise=0.0)
    with pytest.raises(np.linalg.LinAlgError):
        compiled("evidence", target)(0 * d["P"], d["Q"], d["c"], d["y"])


@pytest.mark.parametrize("target", TARGETS)
def test_missing_data_do_not_look_like_a_number(target):
    d = drawn(4, 5)
    d["P"][1, 2] = d["P"][2, 1] = np.nan
    try:
        value, _ = compiled("evidence", target)(d["P"], d["Q"], d["c"], d["y"])
    except np.linalg.LinAlgError:
        return
    assert np.isnan(value)


def digits(P, Q, c, y):
    """Return the error of value and slope in y, and those of a factorisation of K, against 50 digits."""
    value, (_, _, _, slope) = compiled("evidence")(P, Q, c, y)
    K = np.kron(P, Q) + c * np.eye(len(y))
    z = solved(K, y)
    with mp.workdps(50):
        exact_P, exact_Q = mp.matrix(P.tolist()), mp.matrix(Q.tolist())
        n = len(Q)
        exact = mp.matrix(len(y), len(y))
        for i in range(len(y)):
            for j in range(len(y)):
                exact[i, j] = exact_P[i // n, j // n] * exact_Q[i % n, j % n] + (mp.mpf(c) if i == j else 0)
        x = mp.lu_solve(exact, mp.matrix(y.tolist()))
        truth = mp.log(mp.det(exact)) + mp.fsum(mp.mpf(a) * b for a, b in zip(y.tolist(), x, strict=True))
        largest = max(map(abs, x))

        def far(found, total):
            of_slope = max(abs(mp.mpf(float(a)) - b) for a, b in zip(found, x, strict=True)) / largest
            return float(of_slope), float(abs(mp.mpf(float(total)) - truth) / abs(truth))

        return far(slope / 2, value), far(z, np.linalg.slogdet(K)[1] + y @ z)


MORE, LEAST = 30.0, 1e-14
"""How many times the error of a factorisation is permitted, and the error that always is."""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("graded", (False, True))
@pytest.mark.parametrize("exponent", (0, 6, pytest.param(3, marks=pytest.mark.whole), 9, 12))
def test_no_more_digits_are_lost_than_by_a_factorisation(exponent, graded):
    """Graded factors, whose Cholesky factor has digits that eigenvalues lose, are computed directly."""
    rng = np.random.default_rng([exponent, graded])
    P, Q = rng.standard_normal((4, 4)), rng.standard_normal((5, 5))
    P, Q = P @ P.T / 4, Q @ Q.T / 5
    if graded:
        P += np.eye(4)
        Q += np.eye(5)
        scale = 10.0 ** -np.linspace(0, exponent / 2, 4)
        P = P * scale * scale[:, None]
    mine, his = digits(P, Q, 10.0**-exponent if not graded else 10.0 ** -(exponent + 3), rng.standard_normal(20))
    for a, b in zip(mine, his, strict=True):
        assert a <= max(MORE * b, LEAST), (mine, his)
