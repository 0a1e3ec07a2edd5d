"""Zero weights, exponents and norms: derivatives where a factor of 0 meets an infinite slope, against closed forms."""

import mpmath
import numpy as np
import pytest
import scipy

import matcalc as mc

ZERO = np.zeros(3)
PATHS = ("plain", "numpy")


def found(e, path, **data):
    return np.asarray(e(**data) if path == "plain" else mc.compile(e, target=path)(**data))


def derivative(text, wrt, order, declarations):
    if order == 0:
        return mc.expression(text, declarations=declarations)
    return (mc.gradient if order == 1 else mc.hessian)(text, wrt, declarations=declarations)


GRADIENTS = [  # text, variable, declarations, data, gradient
    ("sum(x.^2)^0.75", "x", "", {"x": ZERO}, ZERO),
    ("sum(x.^2)^p", "x", "p: scalar", {"x": ZERO, "p": 0.75}, ZERO),
    ("sum(x.^2)^p", "x", "p: scalar", {"x": ZERO, "p": 0.5}, ZERO),
    ("sum((x.^2).^0.75)", "x", "", {"x": ZERO}, ZERO),
    ("sqrt(x'*A*x)", "x", "A: matrix(n, n) spd", {"x": ZERO, "A": np.eye(3)}, ZERO),
    ("sqrt(x'*A*x)", "x", "A: matrix(n, n)", {"x": ZERO, "A": np.eye(3)}, ZERO),
    ("(x'*A*x)^0.75", "x", "A: matrix(n, n)", {"x": ZERO, "A": np.eye(3)}, ZERO),
    ("sqrt(x'*A*x + sum((B*x).^2))", "x", "A: matrix(n, n) spd",
     {"x": ZERO, "A": np.eye(3), "B": np.ones((2, 3))}, ZERO),
    ("sqrt(tr(inv(P)*V*inv(P)*V))", "V", "P: matrix(n, n) spd; V: matrix(n, n) symmetric",
     {"P": np.diag([1.0, 2.0]), "V": np.zeros((2, 2))}, np.zeros((2, 2))),
    ("sum(g.*sqrt(x))", "x", "", {"x": np.array([0.0, 4.0]), "g": np.array([0.0, 1.0])}, [0.0, 0.25]),
    ("lam*sum(sqrt(x))", "x", "lam: scalar", {"x": np.array([0.0, 4.0]), "lam": 0.0}, [0.0, 0.0]),
    ("sum(g.*acos(x))", "x", "", {"x": np.array([1.0, 0.0]), "g": np.array([0.0, 2.0])}, [0.0, -2.0]),
    ("sum(g.*x.^0.3)", "x", "", {"x": np.array([0.0, 1.0]), "g": np.array([0.0, 2.0])}, [0.0, 0.6]),
    ("sum(sqrt(A*x))", "x", "A: matrix(m, n)", {"x": np.array([1.0, 4.0]), "A": np.array([[1.0, 0.0], [0.0, 0.0]])},
     [0.5, 0.0]),
    ("g'*sqrt(A*x)", "x", "A: matrix(m, n)",
     {"x": np.array([1.0, 0.0]), "A": np.eye(2), "g": np.array([1.0, 0.0])}, [0.5, 0.0]),
    ("xlogy(g, x)", "x", "g: scalar; x: scalar", {"g": 0.0, "x": 0.0}, 0.0),
    ("sum(xlogy(g, x))", "x", "g: vector(n)", {"g": np.array([0.0, 3.0]), "x": np.array([0.0, 2.0])}, [0.0, 1.5]),
    ("c'*x.^k", "x", "x: scalar; c: vector(n); k: vector(n)",
     {"x": 0.0, "c": np.array([2.0, 3.0, 7.0]), "k": np.array([0.0, 1.0, 2.0])}, 3.0),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("text", "wrt", "declared", "data", "expected"), GRADIENTS)
def test_gradients_where_a_factor_is_zero(text, wrt, declared, data, expected, path):
    e = mc.gradient(text, wrt, declarations=declared)
    np.testing.assert_allclose(found(e, path, **data), expected, rtol=1e-14, atol=0)


@pytest.mark.long
@pytest.mark.parametrize(("text", "wrt", "declared", "data", "expected"), GRADIENTS)
def test_compiled_gradients_where_a_factor_is_zero(text, wrt, declared, data, expected):
    e = mc.gradient(text, wrt, declarations=declared)
    np.testing.assert_allclose(found(e, "numba", **data), expected, rtol=1e-14, atol=0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("power", range(5))
@pytest.mark.parametrize("order", range(1, 4))
def test_powers_with_exponents_that_are_data(power, order):
    """Each derivative of x^p at x = 0, for p = 0, 1, 2, ...: p*(p - 1)*...*x^(p - order)."""
    e = mc.expression("x^p", declarations="x: scalar; p: scalar")
    for _ in range(order):
        e = mc.gradient(e, "x")
    expected = float(mpmath.diff(lambda x: x**power, 0, order))
    assert e(x=0.0, p=float(power)) == pytest.approx(expected, abs=1e-12)
    assert mc.compile(e, target="numpy")(x=0.0, p=float(power)) == pytest.approx(expected, abs=1e-12)


EVEN = {  # a function of r whose first derivative is 0 at 0, and its second derivative there
    "cos(r)": -1.0, "cosh(r)": 1.0, "exp(-r^2)": -2.0, "(1 + r)*exp(-r)": -1.0, "log(cosh(r))": 1.0,
    "r*tanh(r)": 2.0, "r*sin(r)": 2.0, "sqrt(1 + r^2)": 1.0, "r^3": 0.0, "r^2*exp(-r)": 2.0, "tanh(r)^2": 2.0,
    "log1p(r) - r": -1.0, "1/(1 + r^2)": -2.0, "(1 + r + r^2/3)*exp(-r)": -1/3,
}  # fmt: skip


@pytest.mark.sampled(36)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("function", EVEN)
def test_hessians_of_smooth_functions_of_a_norm(function, path):
    """f(norm2(x)) with f'(0) = 0 has the Hessian f''(0)*I where x is 0, and its usual Hessian elsewhere."""
    e = mc.hessian(function.replace("r", "norm2(x)").replace("sqnorm2(x)t", "sqrt"), "x", declarations="x: vector(n)")
    np.testing.assert_allclose(found(e, path, x=ZERO), EVEN[function] * np.eye(3), rtol=1e-14, atol=1e-15)
    x = np.array([0.3, -0.4, 1.2])
    np.testing.assert_allclose(found(e, path, x=x), _hessian(function, x), rtol=1e-9, atol=1e-12)


def _hessian(function, x):
    """Return the Hessian of f(|x|) with many digits."""
    mpmath.mp.dps = 30
    names = {name: getattr(mpmath, name) for name in ("cos", "cosh", "exp", "log", "tanh", "sin", "sqrt", "log1p")}
    f = eval("lambda r: " + function.replace("^", "**"), names)  # noqa: S307
    r = mpmath.sqrt(sum(mpmath.mpf(float(v)) ** 2 for v in x))
    first, second = float(mpmath.diff(f, r)), float(mpmath.diff(f, r, 2))
    n = x / float(r)
    return second * np.outer(n, n) + first / float(r) * (np.eye(3) - np.outer(n, n))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("power", "second"), [(2.0, 2.0), (3.0, 0.0), (4.0, 0.0), (2.5, 0.0)])
def test_hessians_of_powers_of_a_norm(power, second, path):
    e = mc.hessian("norm2(x)^p", "x", declarations="p: scalar")
    np.testing.assert_array_equal(found(e, path, x=ZERO, p=power), second * np.eye(3))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", ["norm2(x)", "exp(-norm2(x))", "sqrt(x'*A*x)", "norm2(x)^1.5"])
def test_what_has_no_second_derivative_has_none(text):
    e = mc.hessian(text, "x", declarations="A: matrix(n, n) spd" if "A" in text else "")
    data = {"x": ZERO} | ({"A": np.eye(3)} if "A" in text else {})
    assert not np.isfinite(np.diag(found(e, "plain", **data))).any()


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("sum(g./x)", {"g": np.zeros(2), "x": np.zeros(2)}),
        ("sum(g.*log(x))", {"g": np.zeros(2), "x": np.zeros(2)}),
        ("g'*A*h", {"g": np.zeros(2), "A": np.full((2, 2), np.inf), "h": np.ones(2)}),
    ],
)
def test_zero_times_infinity_of_the_user_is_no_number(text, data):
    """A product of data that the formula itself contains follows NumPy."""
    e = mc.expression(text)
    for path in PATHS:
        assert np.isnan(found(e, path, **data))


def test_a_factor_that_varies_is_no_weight():
    """Near 0 sin(sqrt(x))*sqrt(x) is x: its slope must not be 1/2, the share of one factor."""
    e = mc.gradient("sin(sqrt(x))*sqrt(x)", "x", declarations="x: scalar")
    assert np.isnan(e(x=0.0)) or e(x=0.0) == pytest.approx(1.0)
    e = mc.gradient("(x^3)^p", "x", declarations="x: scalar; p: scalar")
    assert e(x=2.0, p=1 / 3) == pytest.approx(1.0)
    e = mc.gradient("sqrt(x'*A*x)", "x", declarations="A: matrix(n, n) spd")
    x = np.array([0.3, -0.4])
    np.testing.assert_allclose(e(x=x, A=np.diag([1.0, 4.0])), x * [1, 4] / np.sqrt(x @ (x * [1, 4])))


@pytest.mark.parametrize(("weight", "point"), [(0.0, 4.0), (0.0, 1.0), (2.0, 4.0)])
def test_mixed_derivatives_of_a_weight_are_those_without_the_mark(weight, point):
    """The derivative in a weight is not switched off by that weight."""
    e = mc.gradient(mc.gradient("g*sqrt(x)", "x", declarations="g: scalar; x: scalar"), "g")
    assert e(g=weight, x=point) == pytest.approx(0.5 / np.sqrt(point))


NORMS = (
    "norm2(T)", "norm1(T)", "norminf(T)", "normp(T, 0.5)", "normp(T, 3)", "normp(T, p)", "normp(T, exp(log(p)))",
    "normp(T, 1/p)", "sqrt(sum((T).^2))",
)  # fmt: skip
ZEROS = {  # arguments of a norm that are 0 at the data, constant there or changing to both sides
    "x": {"x": ZERO}, "x .- mean(x)": {"x": np.ones(3)}, "X*x": {"x": ZERO, "X": np.ones((2, 3))}, "x.^2": {"x": ZERO},
    "std(A, axis=1)": {"A": np.ones((3, 1))}, "repmat(std(A, axis=1), 2)": {"A": np.ones((2, 3))},
    "norm2(A .- mean(A, axis=1), axis=1)": {"A": np.ones((2, 2))}, "A - A'": {"A": np.ones((3, 3))},
}  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("norm", NORMS)
def test_norms_have_the_gradient_0_where_their_argument_is_0(norm, power):
    """The gradient is the mean over small symmetric perturbations, however the norm is computed."""
    if "p)" not in norm and power != 3:
        return
    for argument, data in ZEROS.items():
        rows = "n" if argument == "A - A'" else "k"
        arrays = f"A: matrix({rows}, n)" if "A" in argument else "X: matrix(k, n); x: vector(n)"
        declared = f"p: scalar positive; {arrays}"
        wrt = "A" if "A" in argument else "x"
        e = mc.gradient(norm.replace("T", argument), wrt, declarations=declared)
        known = {**data, "p": power, "n": len(data[wrt])}
        value = e(**{name: known[name] for name in e.symbols})
        np.testing.assert_array_equal(value, np.zeros_like(data[wrt]), argument)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("power", [0.5, 1.0, 1.5, 3.0])
@pytest.mark.parametrize("x", [np.array([0.0, 1.0, -2.0]), ZERO, np.array([0.0])], ids=["some", "all", "one"])
def test_norms_by_a_power_that_is_data_at_entries_of_zero(x, power, path):
    e = mc.gradient("normp(x, p)", "x", declarations="p: scalar positive")
    norm = np.sum(np.abs(x) ** power) ** (1 / power)
    expected = [np.sign(v) * (abs(v) / norm) ** (power - 1) if v else 0.0 for v in x]
    np.testing.assert_allclose(found(e, path, x=x, p=power), expected, rtol=1e-14, atol=0)


POWERS = {  # declarations, function of (x, p) in many digits
    "x[0]^p": ("x: vector(n) nonnegative; p: scalar", lambda x, p: mpmath.mpf(x[0]) ** p),
    "sum(x.^p)": ("x: vector(n) nonnegative; p: scalar", lambda x, p: sum(a**p for a in x)),
    "sum(abs(x).^p)": ("x: vector(n); p: scalar", lambda x, p: sum(abs(a) ** p for a in x)),
    "norm(x, p)": ("x: vector(n); p: scalar positive", lambda x, p: sum(abs(a) ** p for a in x) ** (1 / p)),
    "sum(xlogy(x.^p, x))": (
        "x: vector(n) nonnegative; p: scalar",
        lambda x, p: sum(a**p * mpmath.log(a) for a in x),
    ),
}


@pytest.mark.sampled(45)
@pytest.mark.parametrize("path", (*PATHS, "numba"))
@pytest.mark.parametrize("order", (1, 2, 3))
@pytest.mark.parametrize("text", POWERS)
def test_derivatives_in_an_exponent_have_no_part_of_entries_that_are_zero(text, order, path):
    declared, function = POWERS[text]
    e = mc.expression(text, declared)
    for _ in range(order):
        e = e.gradient("p")
    data = {"x": np.array([0.0, 1.5, 0.25, 0.0] if "[0]" not in text else [0.0, 1.0]), "p": 2.5}
    rest = [mpmath.mpf(a) for a in data["x"] if a] if "[0]" not in text else None
    with mpmath.workdps(40):
        expected = float(mpmath.diff(lambda p: function(rest, p), data["p"], order)) if rest else 0.0
    np.testing.assert_allclose(found(e, path, **data), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("path", (*PATHS, "numba"))
@pytest.mark.parametrize("first", "xp")
@pytest.mark.parametrize("text", [text for text in POWERS if "xlogy" not in text])
def test_mixed_derivatives_in_an_exponent_are_zero_at_entries_that_are_zero(text, first, path):
    e = mc.expression(text, POWERS[text][0]).gradient(first)
    e = e.gradient("x") if first == "p" else e.jacobian("p")
    found_at = found(e, path, x=np.array([0.0, 1.5]), p=2.5)
    assert np.all(np.isfinite(found_at))
    assert found_at[0] == 0.0


@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize("of_d", ["weighs(D)", "weighs(weighs(D))", "1*weighs(D)"])
@pytest.mark.parametrize("text", ["dlyapunov(solve(A, {}), A)", "dlyapunov(solve(A, {0}'), A)"])
@pytest.mark.whole
def test_memory_of_a_weight_is_not_that_of_the_argument(text, of_d, target):
    """A weight is its operand, but its memory is used again for other values."""
    function = mc.compile(text.format(of_d), declarations="A, D: matrix(n, n)", target=target, check=False)
    A, D = np.eye(3) + np.arange(9.0).reshape(3, 3) / 20, np.arange(9.0, 18.0).reshape(3, 3) / 20
    before = D.copy()
    X = np.linalg.solve(A, D.T if "'" in text else D)
    np.testing.assert_allclose(function(A, D), scipy.linalg.solve_discrete_lyapunov(X, A), rtol=1e-10)
    assert D.tolist() == before.tolist()
