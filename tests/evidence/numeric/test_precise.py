"""High-precision twins: values equal to NumPy's and SciPy's, and published digits."""

import itertools

import mpmath
import numpy as np
import pytest
from rulebook.samples import DOMAINS

from matcalc.errors import NotSupported
from matcalc.evidence.numeric.sampling import MODES
from matcalc.evidence.precise import digits, doubles, numbers, precise_oracle
from matcalc.evidence.precise.numpy_twin import TWIN
from matcalc.evidence.precise.scipy_twin import SL, SP
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.load import load_text
from matcalc.rulebook.oracle import oracle
from matcalc.rulelab.rule_check import value_or_none
from matcalc.rulelab.rule_point import points

BOOK = default_rulebook()
DRAWS = {**DOMAINS, "psd_part": {}, "reshape": {"p": 6, "q": 2}}
SIZES = [(3,), (4, 2, 3)]


def of(rule):
    """Yield points with finite values, of the first mode that has any."""
    for mode in range(len(MODES)):
        found = [(at, value_or_none(at)) for at in points(BOOK, rule, mode, DRAWS.get(rule.name, {}), SIZES)]
        found = [(at, v) for at, v in found if v is not None and all(np.all(np.isfinite(a)) for a in v.values())]
        if found:
            return found
    return []


UNTWINNED = {"log_rising", "log_rising_diff"}
"""Rules whose value has no high-precision form; tests/test_delicate_values.py compares them with mpmath."""


@pytest.mark.thinned(10)
@pytest.mark.parametrize(
    "rule",
    [r for r in BOOK.rules.values() if r.values and r.kind != "implicit" and r.name not in UNTWINNED],
    ids=lambda rule: rule.name,
)
@pytest.mark.sampled(22)
def test_values(rule):
    """Every value in the rulebook runs in high precision and agrees with itself in double precision."""
    found = of(rule)
    assert found
    for at, wanted in found:
        for output, exact in at.precise().items():
            size = np.max(np.abs(wanted[output]), initial=1e-300)
            np.testing.assert_allclose(doubles(exact), wanted[output], rtol=1e-11, atol=1e-12 * size)


def test_digits():
    """sqrt(2) and erf(1/2) to forty digits, psi(1/4) by Gauss's formula."""
    with digits(45):
        assert str(TWIN.sqrt(numbers(2.0)))[:41] == "1.414213562373095048801688724209698078569"
        assert str(SP.erf(numbers(0.5)))[:41] == "0.520499877813046537682746653891964528736"
        gauss = -TWIN.euler_gamma - TWIN.pi / 2 - 3 * TWIN.log(numbers(2.0))
        assert abs(float(SP.psi(numbers(0.25)) - gauss)) < 1e-43


def test_global_precision_stays():
    before = mpmath.mp.dps
    with digits(200):
        TWIN.exp(numbers(np.ones(3)))
    assert mpmath.mp.dps == before


def test_no_float_comes_in():
    """A twelfth of a twelfth, from literals and from NumPy's constructors, has all its digits."""
    with digits(50):
        x = (TWIN.ones(2) / 12) @ (TWIN.eye(2) / 12) + TWIN.zeros(2)
        assert float(abs(x[0] * 144 - 1)) < 1e-48
        assert float(abs(TWIN.where(x > 0, 1.0, 0.0)[0] / 3 * 3 - 1)) < 1e-48


def test_far_below_the_last_digit():
    """Determinants and solutions of nearly singular matrices are numbers, not 0 or an error."""
    X = numbers(np.array([[1.0, 0.0], [1.0, 1e-90]]))
    with digits(60):
        assert float(TWIN.linalg.det(X) / 1e-90) == 1.0
        assert float(TWIN.linalg.inv(X)[1, 1] * 1e-90) == 1.0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("angle", [0.0, 2.0, 3.1, 3.1415926])
def test_roots_near_the_negative_axis(angle):
    """The root, logarithm and power of a rotation with eigenvalues near the negative axis are principal."""
    with digits(50):
        c, s = TWIN.cos(numbers(angle)), TWIN.sin(numbers(angle))
        half, other = TWIN.cos(numbers(angle) / 2), TWIN.sin(numbers(angle) / 2)
        X, turn = TWIN.array([[c, -s], [s, c]]), numbers(np.array([[0.0, -1.0], [1.0, 0.0]]))
        root = TWIN.array([[half, -other], [other, half]])
        assert np.max(abs(SL.sqrtm(X) - root)) < 1e-40
        assert np.max(abs(SL.fractional_matrix_power(X, 0.5) - root)) < 1e-40
        assert np.max(abs(SL.logm(X) - angle * turn)) < 1e-40


@pytest.mark.whole
def test_equations():
    """Riccati and Sylvester equations and the matrix sign, by their defining equations; stable where required."""
    rng = np.random.default_rng(2)
    A, B, C = (rng.standard_normal((3, 3)) for _ in range(3))
    Q, R = np.eye(3), np.diag([1.0, 2.0, 3.0])
    with digits(50):
        X = SL.solve_continuous_are(A, B, Q, R)
        K = TWIN.linalg.solve(R, B.T @ X)
        assert np.max(abs(A.T @ X + X @ A - X @ B @ K + Q)) < 1e-40
        assert np.max(np.linalg.eigvals(doubles(A - B @ K)).real) < 0
        with pytest.raises(np.linalg.LinAlgError):
            SL.solve_continuous_are(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.zeros((2, 1)), np.eye(2), np.eye(1))
        with pytest.raises(np.linalg.LinAlgError):
            SL.signm(numbers(np.array([[0.0, 2.0, 1.0], [-3.0, 0.0, 1.0], [0.0, 0.0, 1.0]])))
        X = SL.solve_discrete_are(A, B, Q, R)
        K = TWIN.linalg.solve(R + B.T @ X @ B, B.T @ X @ A)
        assert np.max(abs(A.T @ X @ A - X - A.T @ X @ B @ K + Q)) < 1e-40
        assert np.max(np.abs(np.linalg.eigvals(doubles(A - B @ K)))) < 1
        X = SL.solve_sylvester(A, B, C)
        assert np.max(abs(A @ X + X @ B - C)) < 1e-40
        S = SL.signm(numbers(A))
        assert np.max(abs(S @ S - np.eye(3))) < 1e-40
        assert np.max(abs(S @ A - A @ S)) < 1e-40


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0), (3, 2), (2, 3)])
def test_shapes(shape):
    """Decompositions of empty, zero and all other matrices have NumPy's shapes and are orthogonal."""
    with digits(40):
        for X in (np.zeros(shape), np.ones(shape)):
            for full in (False, True):
                U, s, Vt = TWIN.linalg.svd(numbers(X), full_matrices=full)
                wanted = np.linalg.svd(X, full_matrices=full)
                assert [U.shape, s.shape, Vt.shape] == [a.shape for a in wanted]
                np.testing.assert_allclose(doubles(s), wanted[1], atol=1e-15)
                np.testing.assert_allclose(doubles(U.T @ U), np.eye(U.shape[1]), atol=1e-30)
                np.testing.assert_allclose(doubles(Vt @ Vt.T), np.eye(len(Vt)), atol=1e-30)
            Q, R = TWIN.linalg.qr(numbers(X))
            assert [Q.shape, R.shape] == [a.shape for a in np.linalg.qr(X)]
            np.testing.assert_allclose(doubles(Q @ R), X, atol=1e-30)


@pytest.mark.parametrize("gap", [1e-3, 1e-12, 1e-40, 0.0])
def test_decompositions(gap):
    """Eigenvalues and singular values at any gap: residuals at the level of the precision."""
    rng = np.random.default_rng(1)
    with digits(60):
        Q = TWIN.linalg.qr(numbers(rng.standard_normal((3, 3))))[0]
        S = (Q * numbers(np.array([1.0, 1.0, 3.0])) + gap * Q) @ Q.T
        w, V = TWIN.linalg.eigh(S)
        U, s, Vt = TWIN.linalg.svd(S[:, :2], full_matrices=False)
        residuals = [S @ V - V * w, V.T @ V - TWIN.eye(3), (U * s) @ Vt - S[:, :2], U.T @ U - TWIN.eye(2)]
        assert max(float(np.max(abs(r))) for r in residuals) < 1e-55


def test_functions_of_a_defective_matrix():
    """A Jordan block has too few eigenvectors, but its exp, log, root and power are known."""
    J = numbers(np.array([[2.0, 1.0], [0.0, 2.0]]))
    with digits(50):
        assert np.max(abs(SL.expm(SL.logm(J)) - J)) < 1e-45
        assert np.max(abs(SL.sqrtm(J) @ SL.sqrtm(J) - J)) < 1e-45
        assert np.max(abs(SL.fractional_matrix_power(J, 0.25) @ SL.fractional_matrix_power(J, 0.75) - J)) < 1e-45
        assert np.max(abs(SL.cosm(J) @ SL.cosm(J) + SL.sinm(J) @ SL.sinm(J) - np.eye(2))) < 1e-45


def test_ieee():
    """Divisions by zero and poles return inf or NaN and do not raise."""
    x = numbers(np.array([1.0, 0.0, -1.0]))
    np.testing.assert_array_equal(doubles(x / 0.0), [np.inf, np.nan, -np.inf])
    np.testing.assert_array_equal(doubles(TWIN.log(x)), [0.0, -np.inf, np.nan])
    assert np.isnan(float(SP.psi(numbers(0.0))))
    with pytest.raises(np.linalg.LinAlgError):
        TWIN.linalg.inv(numbers(np.zeros((2, 2))))
    with pytest.raises(np.linalg.LinAlgError):
        SL.sqrtm(numbers(-np.eye(2)))
    with pytest.raises(np.linalg.LinAlgError):
        SL.logm(numbers(np.zeros((2, 2))))
    with pytest.raises(np.linalg.LinAlgError):
        SL.expm(numbers(np.array([[np.nan]])))


def test_unknown_is_refused():
    """An error names a function without a twin; it is never evaluated in double precision."""
    with pytest.raises(NotSupported, match="np.unwrap"):
        TWIN.unwrap(numbers(np.ones(2)))
    with pytest.raises(NotSupported, match="sp.wofz"):
        SP.wofz(1.0)


def test_own_text():
    """The `precise` text of an entry runs in high precision."""
    text = '[twice]\nsignature = "twice(x: entry) -> entry"\nderivative = "2"\nvalue = "x + x"\nprecise = "3*x"\n'
    book = load_text(text, "own.toml", BOOK)
    assert float(precise_oracle(book, book.get("twice"))(numbers(2.0))) == 6.0


SPECIAL = (-2.5, -1.0, -0.25, 0.0, 0.25, 1.0, 2.5)
ELEMENTWISE = [
    r for r in BOOK.rules.values() if r.kind == "map" and {p.kind for p in r.parameters} <= {"entry", "integer"}
]


@pytest.mark.parametrize(
    "rule", [r for r in ELEMENTWISE if r.values and r.name not in UNTWINNED], ids=lambda rule: rule.name
)
@pytest.mark.sampled(55)
@pytest.mark.thinned(2)
def test_special_points(rule):
    """Elementwise rules at every special point, outside their domains too, in high precision.

    Where NumPy's value is finite the value equals it, elsewhere it may be none. Only a pole may raise.
    """
    kinds = [p.kind for p in rule.parameters]
    plain, precise = oracle(BOOK, rule), precise_oracle(BOOK, rule)
    places = [SPECIAL if p.kind == "entry" else (1,) if "positive" in p.facts else (0, 1) for p in rule.parameters]
    for at in itertools.product(*places):
        given = [np.float64(x) if kind == "entry" else x for x, kind in zip(at, kinds, strict=True)]
        with np.errstate(all="ignore"):
            want = plain(*given)
        with digits(30):
            try:
                found = doubles(
                    precise(*(numbers(x) if kind == "entry" else x for x, kind in zip(given, kinds, strict=True)))
                )
            except (ValueError, ZeroDivisionError):
                continue  # mpmath at a pole
        if np.isfinite(want) and np.isfinite(found):
            np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-13, err_msg=f"{rule.name}{at}")
