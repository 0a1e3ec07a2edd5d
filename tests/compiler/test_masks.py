"""Masks exclude infinite entries: each notation, each singular function, each order of derivative and path.

The expected value is NumPy's sum without the excluded entries, differentiated by complex steps.
"""

import itertools
from functools import cache

import numpy as np
import pytest

import matcalc as mc

X = np.array([1.0, 2.0, 4.0])
A = np.arange(1.0, 10.0).reshape(3, 3)
B = A.T / 2
OFF = np.ones((3, 3)) - np.eye(3)
UP, LOW = np.triu(OFF), np.tril(OFF)
DATA = {"x": X, "A": A, "B": B, "M": OFF, "p": 0.7}
DECLARED = "x: vector(n); A: matrix(n, n); B: matrix(n, n); M: matrix(n, n); p: scalar"

MASKS = {
    "condition": ("sum{{i,j: ({f})[i,j]*[j > i]}}", lambda v, x: (v * UP).sum()),
    "shifted condition": ("sum{{i,j: ({f})[i,j]*[j >= i + 1]}}", lambda v, x: (v * UP).sum()),
    "unequal indices": ("sum{{i,j: ({f})[i,j]*[i != j]}}", lambda v, x: v.sum()),
    "triu": ("sum(triu({f}, 1))", lambda v, x: (v * UP).sum()),
    "tril": ("sum(tril({f}, -1))", lambda v, x: (v * LOW).sum()),
    "one less eye": ("sum((1 - eye(n)).*({f}))", lambda v, x: v.sum()),
    "ones less eye": ("sum((ones(n, n) - eye(n)).*({f}))", lambda v, x: v.sum()),
    "trace": ("tr((1 - eye(n))*({f}))", lambda v, x: v.sum()),
    "quadratic": ("x'*((1 - eye(n)).*({f}))*x", lambda v, x: x @ v @ x),
    "two triangles": ("sum(triu({f}, 1) + 2*tril({f}, -1))", lambda v, x: (v * UP + 2 * v * LOW).sum()),
    "weighted": ("sum(triu(A.*({f}), 1) + tril(B.*({f}), -1))", lambda v, x: (A * v * UP + B * v * LOW).sum()),
    "where": ("sum(where(M > 0, {f}, 0))", lambda v, x: v.sum()),
    "rows": ("sum(({f}).*(1 - eye(n)), axis=1)'*x", lambda v, x: v.sum(1) @ x),
    "product": ("sum(((1 - eye(n)).*({f}))*(1 - eye(n)))", lambda v, x: (v @ OFF).sum()),
}
FUNCTIONS = {
    "log": ("log((x .- x').^2)", lambda d: np.log(d * d)),
    "reciprocal": ("1./(x .- x')", lambda d: 1 / d),
    "square": ("1./(x .- x').^2", lambda d: 1 / d**2),
    "pair energy": ("1./(x .- x').^4 - 1./(x .- x').^2", lambda d: d**-4 - d**-2),
    "root": ("sqrt(abs(x .- x'))", lambda d: (d * d) ** 0.25),
    "power": ("abs(x .- x').^p", lambda d: (d * d) ** 0.35),
    "log of abs": ("log(abs(x .- x'))", lambda d: np.log(d * d) / 2),
}
KNOWN = {("quadratic", "root"), ("where", "root"), ("where", "power")}
"""Cases whose second derivative is still NaN, and never a wrong number."""
CASES = [case for case in itertools.product(MASKS, FUNCTIONS) if case not in KNOWN]


def value(mask, function, x):
    d = np.where(OFF > 0, x[:, None] - x[None], 1.0)
    return MASKS[mask][1](np.where(OFF > 0, FUNCTIONS[function][1](d), 0.0), x)


def slope(mask, function, x):
    return np.array([value(mask, function, x + 1e-30j * e).imag / 1e-30 for e in np.eye(3)])


def curvature(mask, function, x):
    return np.array(
        [(slope(mask, function, x + 1e-5 * e) - slope(mask, function, x - 1e-5 * e)) / 2e-5 for e in np.eye(3)]
    )


TRUTH = (value, slope, curvature)


@cache
def expression(mask, function, order):
    text = MASKS[mask][0].format(f=FUNCTIONS[function][0])
    if order == 0:
        return mc.expression(text, declarations=DECLARED)
    return (mc.gradient if order == 1 else mc.hessian)(text, "x", declarations=DECLARED)


def data_of(e):
    names = [part.split(":")[0].strip() for part in str(e.declarations).split(";")]
    return {name: DATA[name] for name in names if name in DATA}


def compared(found, mask, function, order):
    np.testing.assert_allclose(found, TRUTH[order](mask, function, X), rtol=1e-6, atol=1e-7)


@pytest.mark.thinned(2)
@pytest.mark.sampled(160)
@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize(("mask", "function"), CASES)
def test_plain_evaluation_and_numpy_leave_out_what_a_mask_leaves_out(mask, function, order):
    e = expression(mask, function, order)
    compared(e(**data_of(e)), mask, function, order)
    compared(mc.compile(e, target="numpy")(**data_of(e)), mask, function, order)


@pytest.mark.long
@pytest.mark.parametrize("order", range(3))
@pytest.mark.parametrize(("mask", "function"), CASES)
def test_compiled_code_leaves_out_what_a_mask_leaves_out(mask, function, order):
    e = expression(mask, function, order)
    compared(mc.compile(e)(**data_of(e)), mask, function, order)


@pytest.mark.whole
@pytest.mark.parametrize("function", ["log", "pair energy", "root"])
def test_compiled_hessians_of_pairwise_energies(function):
    e = expression("triu", function, 2)
    compared(mc.compile(e)(**data_of(e)), "triu", function, 2)


@pytest.mark.parametrize("mask", ["condition", "one less eye", "weighted"])
@pytest.mark.sampled(4)
def test_directional_derivatives_are_switched_off(mask):
    text = MASKS[mask][0].format(f=FUNCTIONS["log"][0])
    direction = np.array([0.3, -1.0, 0.5])
    forward = mc.jvp(text, "x", declarations=DECLARED)
    np.testing.assert_allclose(forward(**data_of(forward), dx=direction), slope(mask, "log", X) @ direction, rtol=1e-9)
    second = mc.hvp(text, "x", declarations=DECLARED)
    expected = curvature(mask, "log", X) @ direction
    np.testing.assert_allclose(second(**data_of(second), v=direction), expected, rtol=1e-6)


def test_a_sum_over_a_denominator_keeps_its_diagonal():
    e = mc.hessian("sum(triu(A.*log((x .- x').^2), 1) + tril(B.*log((x .- x').^2), -1))", "x", declarations=DECLARED)
    np.testing.assert_allclose(e(x=X, A=A, B=B), curvature("weighted", "log", X), rtol=1e-6)


POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 0.0]])


def distance_sum(points, pairs, energy):
    total = 0.0
    for i, j in pairs:
        d = points[i] - points[j]
        total = total + energy(np.sqrt((d * d).sum()))
    return total


@pytest.mark.sampled(12)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("text", "energy"),
    [
        ("sum{i,j: sqrt(sum{k: (X[i,k] - X[j,k])^2})}", lambda r: 2 * r),
        ("sum{i,j: exp(-sqrt(sum{k: (X[i,k] - X[j,k])^2}))}", lambda r: 2 * np.exp(-r)),
        ("sum{i,j: 1/sqrt(sum{k: (X[i,k] - X[j,k])^2})*[j > i]}", lambda r: 1 / r),
        ("sum{i,j: norm2(X[i,:] - X[j,:])*[j > i]}", lambda r: r),
    ],
)
def test_a_point_has_no_distance_from_itself(text, energy, order):
    """Distances of the rows of a matrix, written with indices; the terms with i = j are constant."""
    points = POINTS[:3]
    pairs = [(0, 1), (0, 2), (1, 2)]
    steps = np.eye(6).reshape(6, 3, 2)

    def gradient(at):
        return np.array([distance_sum(at + 1e-30j * e, pairs, energy).imag / 1e-30 for e in steps])

    derive = mc.gradient if order == 1 else mc.hessian
    e = derive(text, "X", declarations="X: matrix(n, d)")
    expected = gradient(points)
    if order == 2:
        expected = np.array([(gradient(points + 1e-5 * e) - gradient(points - 1e-5 * e)) / 2e-5 for e in steps])
    shape = (3, 2) if order == 1 else (3, 2, 3, 2)
    for found in (e(X=points), mc.compile(e, target="numpy")(X=points)):
        np.testing.assert_allclose(found, expected.reshape(shape), rtol=1e-5, atol=1e-6)


def test_rows_that_coincide_have_the_mean_slope():
    """Two equal rows: their distance has the derivative 0, as every norm has at 0."""
    e = mc.gradient("sum{i,j: sqrt(sum{k: (X[i,k] - X[j,k])^2})}", "X", declarations="X: matrix(n, d)")
    found = e(X=POINTS)
    apart = distance_gradient(POINTS)
    np.testing.assert_allclose(found, apart, rtol=1e-12, atol=1e-12)


def distance_gradient(points):
    result = np.zeros_like(points)
    for i, j in itertools.permutations(range(len(points)), 2):
        d = points[i] - points[j]
        result[i] += 2 * d / np.linalg.norm(d) if d.any() else 0.0
    return result
