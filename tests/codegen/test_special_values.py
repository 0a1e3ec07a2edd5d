"""Zeros, infinities, NaN and cancellation in compiled functions: NumPy's result for the formula as written.

Nothing is contracted or regrouped: `x*y - z*w` of equal products is 0, `a^2 - b^2` of squares that overflow is NaN.
Expected values come from NumPy and text written here, never from matcalc.
"""

import ctypes
import itertools
import re
import runpy
import shutil
import subprocess

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.spec.reassociate import in_any_order

SPECIAL = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e-200, -1e-200, 0.1, 1 / 3, 0.5, 1.0, -1.0, 1.81,
    -3.7, 2.0, 3.0, 30.0, -30.0, 709.0, 710.0, 800.0, -745.0, 1e16, 1e154, -1e154, 1e200, -1e200, 1.7e308, -1.7e308,
    np.inf, -np.inf, np.nan,
]  # fmt: skip
FUNCTIONS = {
    "x": "x", "-x": "-x", "x.^2": "x*x", "x.^3": "x*x*x", "1./x": "1/x", "1./x.^2": "1/(x*x)", "sqrt(x)": "np.sqrt(x)",
    "exp(x)": "np.exp(x)", "log(x)": "np.log(x)", "tanh(x)": "np.tanh(x)", "abs(x)": "np.abs(x)", "sin(x)": "np.sin(x)",
    "expm1(x)": "np.expm1(x)", "log1p(x)": "np.log1p(x)", "sign(x)": "np.sign(x)", "sinh(x)": "np.sinh(x)",
    "cosh(x)": "np.cosh(x)", "atan(x)": "np.arctan(x)", "max(x, 0)": "np.maximum(x, 0)", "1 + x.^2": "1 + x*x",
    "x/3": "x/3", "x - 1": "x - 1",
}  # fmt: skip
DIFFERENCES = {".*": "*", "./": "/", " + ": "+", " - ": "-"}
ALGEBRA = {  # the normal form or a rewrite gives another formula, correct where the formula as written overflows
    ("./", "1./x"), ("./", "1./x.^2"), ("./", "exp(x)"), ("./", "sqrt(x)"), ("./", "x/3"), (".*", "1./x"),
    (".*", "1./x.^2"), (".*", "x/3"), (" + ", "x - 1"), (" - ", "x - 1"), ("./", "x - 1"),
}  # fmt: skip
TOGETHER = {  # merged or added in another order; the last bits of logarithms may or may not cancel
    (".*", "exp(x)", "exp(x)"), (" - ", "x.^2", "1 + x.^2"), (" + ", "x/3", "x/3"), (" - ", "x/3", "x/3"),
    (" + ", "log(x)", "log(x)"), (" + ", "log(x)", "log1p(x)"), (" + ", "log1p(x)", "log(x)"),
    # A sum of sums is one sum. Its terms `tanh(x)` and 1 are 2*sigmoid(2*x); `exp(x)` and -1 are expm1(x). NumPy
    # loses these digits.
    (" + ", "tanh(x)", "1 + x.^2"), (" + ", "1 + x.^2", "tanh(x)"), (" - ", "tanh(x)", "1 + x.^2"),
    (" - ", "1 + x.^2", "tanh(x)"), (" - ", "exp(x)", "1 + x.^2"), (" - ", "1 + x.^2", "exp(x)"),
}  # fmt: skip
EXACT = {
    "sqrt(x.^2 - y.^2)": "np.sqrt(x*x - y*y)",
    "x.*y - z.*w": "x*y - z*w",
    "x.*y + z.*w": "x*y + z*w",
    "x.^2 - y.^2": "x*x - y*y",
    "exp(x) - exp(y)": "np.exp(x) - np.exp(y)",
    "x.*exp(z) - y.*exp(w)": "x*np.exp(z) - y*np.exp(w)",
    "x.*y - 1": "x*y - 1",
    "1 - x./y": "1 - x/y",
    "x./y - z./w": "x/y - z/w",
    "x - y/3": "x - y/3",
    "x/10 - z": "0.1*x - z",
    "x.^3 - y.*w.*w": "x*x*x - y*(w*w)",
    "sqrt(x).*y - sqrt(z).*w": "np.sqrt(x)*y - np.sqrt(z)*w",
}
"""Formulas that are differences, each with its NumPy expression."""


@pytest.fixture
def rng():
    return np.random.default_rng(30)


def other(text, name):
    return re.sub(r"\bx\b", name, text)


def compared(wanted, found):
    """Return where two arrays differ in a zero, an infinity, a NaN, or by more than rounding."""
    with np.errstate(all="ignore"):
        kinds = np.isnan(wanted) != np.isnan(found)
        kinds |= (wanted == 0) != (found == 0)
        kinds |= (np.isinf(wanted) | np.isinf(found)) & ~(np.isnan(wanted) | np.isnan(found)) & (wanted != found)
        size = np.maximum(np.abs(wanted), 1.0)
        return kinds | (np.isfinite(wanted) & np.isfinite(found) & (np.abs(wanted - found) > 1e-14 * size))


def wrong(formulas, data, call):
    """Return the formulas on which compiled code and NumPy differ, each with an index."""
    found = []
    with np.errstate(all="ignore"):
        for (formula, numpy), result in zip(formulas.items(), call, strict=True):
            wanted = np.broadcast_to(eval(numpy, {"np": np, **data}), result.shape)
            places = np.flatnonzero(compared(wanted, result))
            if len(places):
                k = places[0]
                at = {name: array[k] for name, array in data.items()}
                found.append(f"{formula} at {at}: {result[k]!r}, NumPy {wanted[k]!r} ({len(places)} places)")
    return found


def compiled(formulas, names, **options):
    declared = "; ".join(f"{name}: vector(n)" for name in names)
    return mc.compile(
        [mc.expression(text, declared) for text in formulas], name="at_edges", args=list(names), **options
    )


def grid(count):
    return dict(zip("xyzw", (g.ravel() for g in np.meshgrid(*[np.array(SPECIAL)] * count)), strict=False))


def equal_pairs(rng, count=400):
    """Return data whose products, squares and quotients are equal in pairs."""
    x, y = rng.standard_normal((2, count)) * 10.0 ** rng.integers(-5, 6, (2, count))
    return {"x": x, "y": y, "z": x.copy(), "w": y.copy()}


def saved(function, place):
    path = place / "at_edges_saved.py"
    function.save(path)
    quick = runpy.run_path(str(path))["at_edges"]
    return lambda *arrays: quick(*arrays, jit=True)


@pytest.mark.parametrize("way", ["numba", pytest.param("saved", marks=pytest.mark.whole), "numpy"])
@pytest.mark.sampled(2)
def test_functions_of_one_number(way, tmp_path):
    call = compiled(FUNCTIONS, "x", target="numpy" if way == "numpy" else "numba")
    call = saved(call, tmp_path) if way == "saved" else call
    data = grid(1)
    assert wrong(FUNCTIONS, data, call(data["x"])) == []


@pytest.mark.parametrize("way", ["numba", pytest.param("saved", marks=pytest.mark.whole), "numpy"])
def test_differences_of_equal_products_are_zero(way, tmp_path, rng):
    call = compiled(EXACT, "xyzw", target="numpy" if way == "numpy" else "numba")
    call = saved(call, tmp_path) if way == "saved" else call
    data = equal_pairs(rng)
    same = data | {"y": data["x"], "w": data["x"], "z": data["x"]}
    for arrays in (data, same):
        assert wrong(EXACT, arrays, call(*arrays.values())) == []


@pytest.mark.whole
def test_differences_at_special_values():
    call = compiled(EXACT, "xyzw")
    x, y = grid(2).values()
    for arrays in ({"x": x, "y": y, "z": x, "w": y}, {"x": x, "y": y, "z": y, "w": x}):
        assert wrong(EXACT, arrays, call(*arrays.values())) == []


@pytest.mark.thinned(2)
@pytest.mark.whole
@pytest.mark.parametrize("sign", DIFFERENCES)
def test_pairs_of_functions(sign):
    """f(x) and g(y) joined by an operation, each f with each g, without pairs that algebra rewrites."""
    data = grid(2)
    for one, inner in FUNCTIONS.items():
        formulas = {
            f"({one}){sign}({other(two, 'y')})": f"({inner}){DIFFERENCES[sign]}({other(last, 'y')})"
            for two, last in FUNCTIONS.items()
            if not {(sign, one), (sign, two)} & ALGEBRA and (sign, one, two) not in TOGETHER
        }
        if formulas:
            call = compiled(formulas, "xy")
            assert wrong(formulas, data, call(*data.values())) == [], one


@pytest.mark.parametrize("way", ["numba", pytest.param("saved", marks=pytest.mark.whole)])
def test_sums_keep_zeros_and_what_is_not_finite(way, tmp_path, rng):
    """Vector lanes may add in another order, which changes rounding but no sum of pairs of opposite products."""
    formulas = {
        "sum(sqrt(x.^2 - y.^2))": "np.sum(np.sqrt(x*x - y*y))",
        "sum(x.*y)": "np.sum(x*y)",
        "sum(abs(x.*y - z.*w))": "np.sum(np.abs(x*y - z*w))",
        "norm2(x.*y - z.*w)": "np.sqrt(np.sum((x*y - z*w)**2))",
        "sum(x) - sum(z)": "np.sum(x) - np.sum(z)",
    }
    call = compiled(formulas, "xyzw")
    call = saved(call, tmp_path) if way == "saved" else call
    x, y = rng.standard_normal((2, 9))
    for data in ((x, x, x, x), (x[:1].repeat(2), y[:1] * [1, -1], x[:1].repeat(2), y[:1] * [1, -1])):
        found = call(*map(np.ascontiguousarray, data))
        for value, numpy in zip(found, formulas.values(), strict=True):
            wanted = eval(numpy, {"np": np, **dict(zip("xyzw", data, strict=True))})
            assert value == 0 if wanted == 0 else value == pytest.approx(wanted, rel=1e-14), numpy
    for bad in (np.inf, -np.inf, np.nan):
        data = [np.where(np.arange(9) == 4, bad, x), y, x, y]
        with np.errstate(all="ignore"):
            wanted = [eval(text, {"np": np, **dict(zip("xyzw", data, strict=True))}) for text in formulas.values()]
        np.testing.assert_array_equal(np.isnan(call(*data)), np.isnan(wanted))


def test_cross_product_of_a_vector_with_itself_is_zero(rng):
    call = mc.compile("norm2(cross(a, a))", declarations="a: vector(3)")
    assert all(call(rng.standard_normal(3)) == 0 for _ in range(50))


def test_rows_of_a_batch_are_rounded_as_one_alone(rng):
    one = mc.compile("x.*y - z.*w", declarations="x: vector(n); y: vector(n); z: vector(n); w: vector(n)")
    many = mc.batch(one, ["x", "z"])
    x, y = rng.standard_normal((2, 40))
    assert not np.any(many(**{"x": x.reshape(1, -1), "y": y, "z": x.reshape(1, -1), "w": y}))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is missing")
@pytest.mark.parametrize("options", [["-std=c99", "-O2"], ["-std=gnu11", "-O3", "-march=native"]])
@pytest.mark.sampled(2)
def test_files_of_c_contract_nothing(options, tmp_path, rng):
    call = compiled(EXACT, "xyzw", target="c")
    source, library = tmp_path / "special.c", tmp_path / "special.so"
    source.write_text(call.source.split("#ifdef MATCALC_TEST")[0])
    command = ["gcc", "-Wall", "-Wextra", "-Werror", *options, "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run([*command, "-lm"], check=True)
    data = equal_pairs(rng)
    results = [np.empty(400) for _ in EXACT]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*data.values(), *results)]
    assert ctypes.CDLL(str(library)).at_edges(*pointers, ctypes.c_int64(400), None) == 0
    assert wrong(EXACT, data, results) == []


def test_additions_to_a_total_are_handed_on():
    lines = ["    total += x[i]*y[i]              # said", "Y[i, j] += v", "    x = a + b", "    n += 1"]
    found = in_any_order("\n".join(lines)).split("\n")
    assert found[0] == "    total = plus(total, x[i]*y[i])  # said"
    assert found[1:] == ["Y[i, j] = plus(Y[i, j], v)", "    x = a + b", "    n = plus(n, 1)"]


def test_names_of_arguments_may_be_that_of_the_sum():
    call = mc.compile("sum(plus.*x)", declarations="plus: vector(n); x: vector(n)")
    assert call(np.arange(4.0), np.arange(4.0)) == 14
    assert "plus(" in call.source
    assert list(itertools.islice(call.args, 2)) == ["plus", "x"]
