"""The twins at many digits: the same values as NumPy's and SciPy's, and digits that others have computed."""

import mpmath
import numpy as np
import pytest
from rulebook.samples import DOMAINS

from matcalc.errors import NotSupported
from matcalc.evidence.numeric.rule_check import value_or_none
from matcalc.evidence.numeric.rule_point import MODES, points
from matcalc.evidence.precise import digits, doubles, jacobian, numbers, precise_oracle, second
from matcalc.evidence.precise.numpy_twin import TWIN
from matcalc.evidence.precise.scipy_twin import SL
from matcalc.evidence.precise.special_twin import SP
from matcalc.rulebook import default_rulebook
from matcalc.rulebook.load import load_text

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


@pytest.mark.parametrize(
    "rule", [r for r in BOOK.rules.values() if r.values and r.kind != "implicit"], ids=lambda rule: rule.name
)
@pytest.mark.sampled(9)
def test_values(rule):
    """Every value of the book runs at many digits and agrees with itself in double precision."""
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
    """A twelfth of a twelfth, as literals and NumPy's constructors give it, has all its digits."""
    with digits(50):
        x = (TWIN.ones(2) / 12) @ (TWIN.eye(2) / 12) + TWIN.zeros(2)
        assert float(abs(x[0] * 144 - 1)) < 1e-48
        assert float(abs(TWIN.where(x > 0, 1.0, 0.0)[0] / 3 * 3 - 1)) < 1e-48


@pytest.mark.parametrize("gap", [1e-3, 1e-12, 1e-40, 0.0])
def test_decompositions(gap):
    """Eigenvalues and singular values at any gap: residuals at the level of the digits."""
    rng = np.random.default_rng(1)
    with digits(60):
        Q = TWIN.linalg.qr(numbers(rng.standard_normal((3, 3))))[0]
        S = (Q * numbers(np.array([1.0, 1.0, 3.0])) + gap * Q) @ Q.T
        w, V = TWIN.linalg.eigh(S)
        U, s, Vt = TWIN.linalg.svd(S[:, :2], full_matrices=False)
        residuals = [S @ V - V * w, V.T @ V - TWIN.eye(3), (U * s) @ Vt - S[:, :2], U.T @ U - TWIN.eye(2)]
        assert max(float(np.max(abs(r))) for r in residuals) < 1e-55


def test_functions_of_a_defective_matrix():
    """A Jordan block has no eigenvectors to use: exp, log, root and power of it are known."""
    J = numbers(np.array([[2.0, 1.0], [0.0, 2.0]]))
    with digits(50):
        assert np.max(abs(SL.expm(SL.logm(J)) - J)) < 1e-45
        assert np.max(abs(SL.sqrtm(J) @ SL.sqrtm(J) - J)) < 1e-45
        assert np.max(abs(SL.fractional_matrix_power(J, 0.25) @ SL.fractional_matrix_power(J, 0.75) - J)) < 1e-45
        assert np.max(abs(SL.cosm(J) @ SL.cosm(J) + SL.sinm(J) @ SL.sinm(J) - np.eye(2))) < 1e-45


def test_derivatives():
    """First and second differences against derivatives that are known: of 1/x^3 and of a determinant."""
    cube = lambda d: d["x"] ** -3  # noqa: E731
    data = {"x": np.array(1e-30)}
    one = np.array(1.0)
    first = jacobian(cube, data, "x", [one])
    assert abs(float(first[0] / numbers(-3e120) - 1)) < 1e-15
    twice = second(cube, data, "x", [one], "x", one)
    assert abs(float(twice[0] / numbers(12e150) - 1)) < 1e-15
    X = np.diag([1.0, 0.0, 2.0])
    basis = [np.eye(9)[k].reshape(3, 3) for k in range(9)]
    gradient = doubles(jacobian(lambda d: TWIN.linalg.det(d["X"]), {"X": X}, "X", basis))
    np.testing.assert_allclose(gradient.reshape(3, 3), np.diag([0.0, 2.0, 0.0]), atol=1e-40)


def test_ieee():
    """Divisions by zero and poles are inf or NaN, no exception and no number."""
    x = numbers(np.array([1.0, 0.0, -1.0]))
    np.testing.assert_array_equal(doubles(x / 0.0), [np.inf, np.nan, -np.inf])
    np.testing.assert_array_equal(doubles(TWIN.log(x)), [0.0, -np.inf, np.nan])
    assert np.isnan(float(SP.psi(numbers(0.0))))
    with pytest.raises(np.linalg.LinAlgError):
        TWIN.linalg.inv(numbers(np.zeros((2, 2))))
    with pytest.raises(np.linalg.LinAlgError):
        SL.sqrtm(numbers(-np.eye(2)))


def test_unknown_is_refused():
    """A function without a twin is named; it is never evaluated in double precision."""
    with pytest.raises(NotSupported, match="np.unwrap"):
        TWIN.unwrap(numbers(np.ones(2)))
    with pytest.raises(NotSupported, match="sp.wofz"):
        SP.wofz(1.0)


def test_own_text():
    """`precise` of an entry is what runs at many digits."""
    text = '[twice]\nsignature = "twice(x: entry) -> entry"\nderivative = "2"\nvalue = "x + x"\nprecise = "3*x"\n'
    book = load_text(text, "own.toml", BOOK)
    assert float(precise_oracle(book, book.get("twice"))(numbers(2.0))) == 6.0
