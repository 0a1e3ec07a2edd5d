"""Which results without a value the check accepts: those of formulas with a part that has no value, or jumps.

A part that a condition or a mask leaves out is no excuse.
"""

import numpy as np
import pytest

import matcalc as mc
from matcalc.evidence.written.excuses import differences_cross_jumps, has_no_value_inside, rounding_decides
from matcalc.evidence.written.points import Point
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import toposort

N = {"n": 2}
ROOT = np.array([-1.0, 2.0])
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])

EXCUSED = {
    "a slice leaves out the root of a negative number": ("sum(sqrt(x)[2:])", {"x": ROOT}),
    "a slope of an infinite quotient": ("softplus(-1/(a*when(a > 2)))", {"a": 1.0}),
    "a matrix function mixes all entries": ("sum(where(X > 0, expm(log(X)), X))", {"X": -SINGULAR}),
    "bounds of a domain: a negative order": ("norm(x, p)", {"x": np.array([0.0, 2.0]), "p": -1.0}),
    "a function of singular values jumps at a matrix of rank 1": ("sum(svdfun(exp, X).^2)", {"X": SINGULAR}),
    "an angle jumps at the origin": ("atan2(x[1], x[2])^2", {"x": np.zeros(2)}),
    "a projector jumps at equal eigenvalues": ("spectral_projector(sym(X), 1)[1, 1]", {"X": np.eye(2)}),
}
DECLARED = "n: size; x: vector(n); X: matrix(n, n); a: scalar; p: scalar"

FINITE = {
    "everything has a value": ("sum(log(x.^2))", {"x": ROOT}),
    "a condition": ("sum(where(x > 0, log(x), x))", {"x": ROOT}),
    "a mask": ("sum(triu(log(X), 1))", {"X": np.array([[-1.0, 2.0], [-2.0, -1.0]])}),
    "a switch": ("sum(log(x).*when(x > 0))", {"x": ROOT}),
    "a norm has a kink at 0 and no jump": ("norm2(x)", {"x": np.zeros(2)}),
    "a function of singular values that is 0 at 0": ("sum(svdfun(sinh, X).^2)", {"X": SINGULAR}),
    "the root of a singular matrix": ("tr(sqrtm(X))", {"X": SINGULAR}),
    "the nuclear norm of a singular matrix": ("norm_nuc(X)", {"X": SINGULAR}),
    "a declared jump": ("sum(sign(x).*max(x, 0))", {"x": np.zeros(2)}),
    "a root at 0": ("sum(sqrt(x))", {"x": np.zeros(2)}),
    "a kink at 0": ("norm(x, p)", {"x": np.array([0.0, 2.0]), "p": 1.5}),
}


def inside(text, data):
    e = mc.expression(text, DECLARED)
    return has_no_value_inside(e.node, {name: np.asarray(value, dtype=float) for name, value in data.items()}, N)


@pytest.mark.parametrize("kind", EXCUSED)
def test_a_part_without_a_value_is_an_excuse(kind):
    assert inside(*EXCUSED[kind])


@pytest.mark.parametrize("kind", FINITE)
def test_a_part_that_a_condition_leaves_out_is_none(kind):
    assert not inside(*FINITE[kind])


@pytest.mark.whole
def test_the_second_derivative_of_a_norm_in_its_order_at_a_zero_entry():
    """Compared with differences of first derivatives, which are finite at such points."""
    e = mc.expression("norm(x, p)", "x: vector(n); p: scalar positive")
    first, second = e.gradient("p"), e.gradient("p").gradient("p")
    call = mc.compile(second, target="numpy")
    x, h = np.array([0.0, 1.0, -2.0]), 1e-6
    for p in (0.4, 0.9, 1.0, 1.2, 2.0, 2.5):
        expected = (first(x=x, p=p + h) - first(x=x, p=p - h)) / (2 * h)
        np.testing.assert_allclose(second(x=x, p=p), expected, rtol=1e-6)
        np.testing.assert_allclose(call(x=x, p=p), expected, rtol=1e-6)


@pytest.mark.whole
def test_a_compiled_function_may_differ_where_rounding_decides():
    """Two entries of an orthogonal 2 x 2 matrix are equal, or differ in their last digit."""
    found = mc.compile("median_at(svd_U(X))", declarations="X: matrix(2, 2)")
    assert found.checked.startswith(("at ", "not checked: no data at which")) and "inf" not in found.checked


@pytest.mark.whole
def test_a_compiled_function_may_read_what_has_no_value():
    """Plain evaluation multiplies the other entries alone; compiled code adds 0 times an entry without a value."""
    found = mc.compile("prod_others(cos(log_besseli(1, x)), z)", declarations="x: vector(n); z: vector(n)")
    assert found.checked.startswith(("at ", "not checked: no data")) and "inf" not in found.checked


@pytest.mark.whole
@pytest.mark.parametrize(
    ("text", "declared", "name", "derive"),
    [
        ("log1pc_diff(1, huber(cumprod(A, axis=1)).^2)", "A: matrix(n, m)", "A", "differential"),
        ("log_cosh(matfun(exp, sym(sylvester(A, B, D))))", "A, B, D: matrix(n, n)", "B", "differential"),
        ("max(svdfun_at(exp, log_softmax(A, axis=1), a))", "A: matrix(n, m); a: scalar", "A", "gradient"),
        ("where(A > B, log_besseli(1, H)[1:, :-1], M)", "A, B, M: matrix(n - 1, m - 1); H: matrix(n, m)", "H", "vjp"),
        ("where(x > y, y, prod_others(z, var(A, axis=0)))", "x, y, z: vector(n); A: matrix(m, n)", "z", "vjp"),
        ("std(log_poch(A, unless(B > D).^2), axis=1)", "A: matrix(n, m) positive; B, D: matrix(n, m)", "A", "jvp"),
    ],
)
def test_formulas_that_were_false_alarms(text, declared, name, derive):
    """Digits lost in a printed form, differences across a pole, jumps, slices, sizes, and deviations of sums."""
    assert getattr(mc.expression(text, declared), derive)(name).checked.startswith("at ")


NEAR_SINGULAR = np.array([[2.0, 0.3], [0.7, 1.1]])
BY_ROUNDING = {
    "an entry that is 0 up to rounding": ("sum(where(X*inv(X) > eye(n), 1, 0))", {"X": NEAR_SINGULAR}),
    "the sign of such an entry": ("sum(sign(X*inv(X) - eye(n)))", {"X": NEAR_SINGULAR}),
    "an integer up to rounding": ("sum(floor(X*inv(X)))", {"X": NEAR_SINGULAR}),
    "the direction of a deviation that is 0": ("sum(normalize(x + X*inv(X)*x - 2*x))", {"x": ROOT, "X": NEAR_SINGULAR}),
    "both sides move": ("sum(where(x + X*inv(X)*x - x > x, 1, 0))", {"x": ROOT, "X": NEAR_SINGULAR}),
}
BY_DATA = {
    "an entry is 0": ("sum(where(x > 0, 1, 0))", {"x": np.zeros(2)}),
    "equal entries": ("sum(where(x > a, 1, 0))", {"x": np.ones(2), "a": 1.0}),
    "both sides are computed alike": ("sum(where(sin(x) >= sin(x), 1, 0))", {"x": ROOT}),
    "the sign of an entry that is 0": ("sum(sign(x).*x)", {"x": np.zeros(2)}),
    "an entry is an integer": ("sum(floor(x))", {"x": ROOT}),
    "an entry is small": ("sum(sign(x))", {"x": np.array([1e-13, -1e-13])}),
    "the direction of zeros": ("sum(normalize(x))", {"x": np.zeros(2)}),
    "equal entries of an order": ("sum(sort(x)[1:])", {"x": np.ones(2)}),
    "nothing jumps": ("sum(max(x, 0))", {"x": np.zeros(2)}),
}


def decided_by_rounding(text, data):
    e = mc.expression(text, DECLARED)
    names = {name: np.asarray(value, dtype=float) for name, value in data.items()}
    symbols = [node for node in toposort([e.node]) if node.kind == "symbol" and node.name in names]
    assert len(symbols) == len(names)
    return rounding_decides(e.node, Point(names, N, np.asarray(0.0), frozenset()), symbols)


@pytest.mark.parametrize("kind", BY_ROUNDING)
def test_rounding_decides(kind):
    assert decided_by_rounding(*BY_ROUNDING[kind])


@pytest.mark.parametrize("kind", BY_DATA)
def test_data_decide(kind):
    assert not decided_by_rounding(*BY_DATA[kind])


def test_a_formula_with_a_jump_that_rounding_decides_passes_its_check():
    """The identity is a computed orthogonal factor: its zeros have random signs."""
    e = mc.expression("sum(where(polar_U(A'*A + 2*eye(n)) >= 0*B, 1, 0))", "A: matrix(n, n); B: matrix(n, n)")
    assert "at n" in e.simplify().checked


@pytest.mark.whole
def test_the_order_of_a_norm_has_a_value_in_the_check():
    """For an order without a value the norm of one entry was this entry, as 1^NaN is 1."""
    e = mc.expression("norm(min(A, axis=0), 3/2 + log1pc(a)^2)", "A: matrix(n, m); a: scalar")
    assert np.isnan(e(A=np.ones((3, 1)), a=-1.7))
    mc.compile(e)


FALSE_ALARMS = {  # a result and the symbol that it is differentiated in, or none for the simplified form
    "a comparison with what has no value": ("where(x > (y.^(5/2)).^2, 1, 0)", ""),
    "a condition without a value": ("where(where(log(x) < logdiffexp(y, x), x, y), x.^2, y.^2)", ""),
    "a multiplicity by what has no value": ("tied(when(acos(x) != y), x/2, 2, 3)", ""),
    "the place of the least of entries that are equal up to rounding": ("max_at(min_at(expm(S + S')), axis=0)", ""),
    "the deviation of one number that is a sum": ("std(expm1c_diff(1, A), axis=1)", "A"),
    "the norm of no entries": ("normp(A[:, :-1], a)", "A"),
    "the norm of deviations of one number": ("norm(var(solve(S, A), axis=0), 3/2 + a^2)", "A"),
}


@pytest.mark.parametrize("kind", FALSE_ALARMS)
@pytest.mark.sampled(8)
def test_what_rounding_and_missing_values_decide_is_no_fault(kind):
    text, wrt = FALSE_ALARMS[kind]
    e = mc.expression(text, "x, y: vector(n); A: matrix(n, m); S: matrix(n, n); a: scalar")
    found = e.simplify() if not wrt else e.jvp(wrt) if e.node.shape else e.hvp(wrt)
    assert "at n" in found.checked


def choosing():
    """Yield calls of each function whose operands choose a value, one of these without a value: acos(3) is none."""
    for name in default_rulebook().rules:
        rule = default_rulebook().get(name)
        for k, chosen in enumerate(rule.operands if rule.kind == "map" else ()):
            if rule.derivative.get(chosen) == "0":
                arguments = [f"acos({one})" if one == chosen else one for one in rule.operands]
                relation = (rule.overload or "").removeprefix(rule.spelling)
                if relation:
                    arguments[:2] = [f"{arguments[0]} {relation} {arguments[1]}"]
                yield pytest.param(f"{rule.spelling}({', '.join(arguments)})", rule.operands, id=f"{name} {k}")


@pytest.mark.parametrize(("text", "names"), list(choosing()))
def test_a_choice_by_what_has_no_value_has_none(text, names):
    e = mc.expression(text, "; ".join(f"{one}: scalar positive" for one in names))
    with np.errstate(invalid="ignore"):
        value = e.reference.value({one: np.asarray(3.0) for one in names}, {})
    assert np.isnan(value)


STEEP = {
    "1e9*tanh(a)": "a: scalar",
    "1/erf_share(1 + log_erf_diff(a, b)^2, c)": "a: scalar; b: scalar; c: scalar",
}
ROUNDED = (
    "floor({u})",
    "ceil({u})",
    "round({u})",
    "floordiv({u}, 2)",
    "floordiv(3, 1/({u}))",
    "mod({u}, 2)",
    "({u})*floor({u})",
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("u", STEEP)
@pytest.mark.parametrize("rounded", ROUNDED)
def test_the_floor_of_a_steep_quotient_is_not_compared_with_differences(rounded, u):
    """Its derivative is 0; differences measure the slope of the quotient, since they cross thousands of jumps."""
    slope = mc.gradient(rounded.format(u=u), "a", STEEP[u])
    assert slope.checked.startswith("not checked: no data")


@pytest.mark.parametrize("rounded", ROUNDED)
def test_a_floor_beside_its_jumps_is_compared(rounded):
    e = mc.expression(rounded.format(u="3*a"), "a: scalar")
    point = Point({"a": np.asarray(0.3)}, {}, np.asarray(0.0), frozenset())
    symbols = [node for node in toposort([e.node]) if node.kind == "symbol"]
    assert len(symbols) == 1
    assert not differences_cross_jumps(e.node, point, symbols)
    assert e.gradient("a").checked.startswith("at ")


@pytest.mark.parametrize(
    "text",
    [
        "norm(qr_Q(A), 2)",
        "lambda_max(qr_Q(A)'*qr_Q(A))",
        "log(1 + lambda_min(qr_Q(A)'*qr_Q(A)))",
        "norm(qr_Q(A)*qr_Q(A)' - eye(n), 2)",
        "norm_nuc(qr_Q(A)*qr_Q(A)' - eye(n))",
    ],
)
@pytest.mark.whole
def test_second_derivatives_where_the_first_jumps_are_not_compared(text):
    """All singular values of these matrices are equal at all data, so that NaN is no fault of the formula."""
    declared = "A: matrix(m, n)" if text.endswith("Q(A), 2)") else "A: matrix(n, n)"
    found = mc.expression(text, declared).hvp("A").checked
    assert found.startswith(("at ", "not checked: no data"))


def test_second_derivatives_elsewhere_are_compared():
    """The largest singular value of a random matrix is simple, and the norm of A*A' has no kink but where A is 0."""
    for text in ("norm(A, 2)", "norm_nuc(A*A')", "lambda_max(A'*A)"):
        assert mc.expression(text, "A: matrix(n, n)").hvp("A").checked.startswith("at n=2 and n=3"), text
