"""A part of a symbol (an entry, a range, a row) can be the variable of every derivative.

The reference is the part of the derivative in the whole symbol, by complex steps of a NumPy function.
"""

import numpy as np
import pytest

import matcalc as mc

LET = "x: vector(4); A: matrix(4, 4); T: tensor(4, 3, 2)"
FORMULA = "sum(exp(x .* (A*x))) + sum{i,j,k: T[i,j,k]^2*x[i]}*x[3]"
PARTS = {"x[0]": 0, "x[-1]": -1, "x[1:3]": slice(1, 3), "A[1, 2]": (1, 2), "A[0, :]": 0, "A[:, 1]": (slice(None), 1),
         "A[1:, 2:]": (slice(1, None), slice(2, None)), "T[1, 2, 0]": (1, 2, 0),
         "T[:, 1, 1]": (slice(None), 1, 1)}  # fmt: skip
rng = np.random.default_rng(3)
DATA = {"x": 0.3 * rng.standard_normal(4), "A": rng.standard_normal((4, 4)), "T": rng.standard_normal((4, 3, 2))}


def value(x, A, T):
    return np.sum(np.exp(x * (A @ x))) + np.einsum("ijk,i->", T**2, x) * x[3]


def moved(name, at, direction):
    """Return the data as complex numbers, shifted along a direction of one part."""
    data = {key: array.astype(complex) for key, array in DATA.items()}
    data[name][at] += direction
    return data


def gradient(part):
    name, at = part[0], PARTS[part]
    shape = DATA[name][at].shape
    found = np.zeros(shape)
    for k in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[k] = 1.0
        found[k] = value(**moved(name, at, 1e-30j * unit)).imag / 1e-30
    return found


def second(part, direction):
    """Return the Hessian in a part times a direction, by central differences of the complex step."""
    name, at = part[0], PARTS[part]
    kept, found = DATA[name].copy(), []
    for step in (1e-5, -1e-5):
        DATA[name] = kept.copy()
        DATA[name][at] += step * direction
        found.append(gradient(part))
        DATA[name] = kept
    return (found[0] - found[1]) / 2e-5


def objects(part):
    symbols = dict(zip("xAT", mc.symbols(LET), strict=True))
    return symbols[part[0]][PARTS[part]]


E = mc.expression(FORMULA, LET)


FIRST = ("x[1:3]", "A[1, 2]", "T[:, 1, 1]")


@pytest.mark.parametrize("part", [p if p in FIRST else pytest.param(p, marks=pytest.mark.whole) for p in PARTS])
@pytest.mark.sampled(3)
def test_each_derivative_in_a_part(part):
    truth = gradient(part)
    direction = rng.standard_normal(truth.shape)
    curved = second(part, direction)
    wrt = objects(part)
    assert E.gradient(part) == E.gradient(wrt)
    np.testing.assert_allclose(E.gradient(part)(DATA), truth, rtol=1e-12)
    np.testing.assert_allclose(E.jacobian(wrt)(DATA), truth, rtol=1e-12)
    np.testing.assert_allclose(E.vjp(part)({**DATA, "G": 2.0}), 2 * truth, rtol=1e-12)
    np.testing.assert_allclose(E.jvp(wrt, tangent="d")({**DATA, "d": direction}), np.sum(truth * direction), rtol=1e-12)
    product = np.tensordot(E.hessian(part)(DATA), direction, direction.ndim)
    np.testing.assert_allclose(product, curved, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(E.hvp(wrt)({**DATA, "v": direction}), curved, rtol=1e-6, atol=1e-8)
    f = mc.value_and_gradient(FORMULA, part, declarations=LET, target="numpy")
    np.testing.assert_allclose(f(DATA)[1], truth, rtol=1e-12)
    assert mc.gradient(FORMULA, part, LET) == E.gradient(part)


@pytest.mark.whole
def test_lists_of_parts_and_symbols():
    both = ["x[0]", "A[1, 2]", "T"]
    gradients = E.gradient(both)
    np.testing.assert_allclose(gradients[0](DATA), gradient("x[0]"), rtol=1e-12)
    np.testing.assert_allclose(gradients[1](DATA), gradient("A[1, 2]"), rtol=1e-12)
    vectors = {"v_x_0": 0.7, "v_A_1_2": -1.1, "v_T": rng.standard_normal((4, 3, 2))}
    rows = E.hvp(both)
    blocks = E.hessian(both)
    for row, line in zip(rows, blocks, strict=True):
        sums = [np.tensordot(b(DATA), v, np.ndim(v)) for b, v in zip(line, vectors.values(), strict=True)]
        np.testing.assert_allclose(row({**DATA, **vectors}), sum(sums), rtol=1e-10)
    total = E.jvp(["x[0]", "x[1]"])({**DATA, "dx_0": 1.0, "dx_1": 2.0})
    assert total == pytest.approx(float(gradient("x[0]")) + 2 * E.gradient("x[1]")(DATA))
    vector = mc.jvp("A*x", "x[1]", LET)
    np.testing.assert_allclose(vector(x=DATA["x"], A=DATA["A"], dx_1=1.0), DATA["A"][:, 1])


def test_sizes_in_places():
    made = mc.gradient("sum(x.^3)", "x[n-1]", "x: vector(n)")
    assert made(np.array([1.0, 2.0, 5.0])) == 75.0
    assert mc.gradient("sum(x.^3)", "x[1:n-1]", "x: vector(n)").shape == ("n - 2",)


@pytest.mark.whole
def test_checks_convexity_and_minima():
    let = "x: vector(n); A: matrix(n, n)"
    report = mc.check("x'*A*x", ["x[0]", "A[0, 0]"], let)
    assert report and "gradient in x_0" in str(report)
    assert mc.check("x'*A*x", "x[0]", let, against="((A + A')*x)[0]")
    assert not mc.check("x'*A*x", "x[0]", let, against="(A*x)[0]")
    assert str(mc.convex("x[0]^2 + x[1]^3", "x[0]", "x: vector(n)")).startswith("convex in x_0 = x[0], proved")
    assert not mc.convex("x[0]^2 + x[1]^3", "x[1]", "x: vector(n)")
    data = {"x": np.array([9.0, 2.0, 3.0])}
    for key in ("x[0]", mc.symbols("x: vector(n)")[0][0]):
        found = mc.minimize("(x[0] - x[1])^2 + x[0]^2", key, {key: 0.0}, data, "trust-ncg", declarations="x: vector(n)")
        assert found.x["x[0]"] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.whole
def test_compiled_checks_and_other_methods():
    assert mc.check("A*x", "x[0]", "x: vector(n); A: matrix(n, n)", compiled=True)
    data = {"x": np.array([9.0, 2.0, 3.0])}
    for method in ("L-BFGS-B", "Nelder-Mead"):
        f = "(x[0] - x[1])^2 + x[0]^2"
        found = mc.minimize(f, "x[0]", {"x[0]": 0.0}, data, method, declarations="x: vector(n)")
        assert found.x["x[0]"] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("call", "fault", "message"),
    [
        (lambda: mc.pullback("A*x", "x[0]", LET), mc.NotSupported, "the pullback of a part of x alone"),
        (lambda: mc.gradient("x'*x", "x[9]", LET), mc.ShapeError, "outside axis 0 of x"),
        (lambda: mc.gradient("x[k]", "x[k]", "x: vector(n); k: index"), mc.NotSupported, "depends on the data"),
        (lambda: E.hvp(["x", "x[0]"]), mc.ShapeError, "x and a part of it are both in wrt"),
        (lambda: E.jvp(["x[0]", "x[0]"]), mc.ShapeError, "list each variable once"),
        (lambda: mc.hvp("logdet(S)", "S[0, 1]", "S: matrix(n, n) spd"), mc.NotDifferentiable, "S is symmetric"),
        (lambda: E.jacobian("x[0]", layout="vec"), mc.NotSupported, "needs whole variables, not a single entry"),
        (lambda: mc.minimize("x'*x", "x[0]", {}, declarations=LET), ValueError, "start gives no value for x"),
    ],
)
def test_what_is_refused(call, fault, message):
    with pytest.raises(fault, match=message):
        call()
