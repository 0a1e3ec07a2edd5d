"""Indices as data, `x[k]`, `X[i, :]`, `{t: U[i[t], a]*V[j[t], a]}`: values and derivatives against NumPy by hand.

Data are enumerated: repeated indices, all equal, each once, a single one, none. The reference derivatives are complex
steps of the value written by hand; the second ones are differences of these.
"""

import pickle

import numpy as np
import pytest
from first_day.index_cases import CASES, FACTORS, PATTERNS, compiled, data_of, derived, gradient, path_of

import matcalc as mc
from matcalc.errors import ShapeError


def product(value, data, name, v):
    """Return the Hessian times a vector by differences of the gradient."""
    ends = [gradient(value, {**data, name: data[name] + h * v}, name) for h in (1e-5, -1e-5)]
    return (ends[0] - ends[1]) / 2e-5


def judge(case, pattern, run):
    _, wrt, _, value = CASES[case]
    data = data_of(case, pattern)
    v = np.random.default_rng(9).standard_normal(data[wrt].shape)
    found = run(data, v)
    wanted = value(**data), gradient(value, data, wrt), product(value, data, wrt, v)
    for what, got, want, bound in zip(("value", "gradient", "hvp"), found, wanted, (1e-12, 1e-11, 1e-6), strict=True):
        np.testing.assert_allclose(got, want, rtol=bound, atol=bound * 10, err_msg=f"{case}, {pattern}: {what}")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_plain(case, pattern):
    def run(data, v):
        f, g, h = derived(case)
        return f(data), g(data), h({**data, "v": v})

    judge(case, pattern, run)


@pytest.mark.sampled(31)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_compiled(case, target):
    function = compiled(case, target)
    for pattern in PATTERNS:
        judge(case, pattern, lambda data, v: function({**data, "v": v}))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("case", CASES)
def test_printed_reads_back(case):
    for e in derived(case):
        assert mc.expression(str(e), e.declarations).node is e.node, str(e)
        assert pickle.loads(pickle.dumps(e)).node is e.node


PRINTED = {
    "entry": ("x[k]^2", "2*x[k]*eye(n)[:, k]"),
    "label": ("(z - logsumexp(z))[k]", "eye(n)[:, k] - softmax(z)"),
    "factors": ("norm2((U*V')[i,j] - r)^2", "2*eye(m)[:, i]*diag((U*V')[i,j] - r)*V[j, :]"),
    "nested": ("sum((x.^3)[j[i]])", "3*x.^2.*(eye(n)[:, j[i]]*ones(N))"),
}


@pytest.mark.parametrize("case", PRINTED)
def test_printed(case):
    assert tuple(map(str, derived(case)[:2])) == PRINTED[case]


def test_second_derivatives_are_tensors_too():
    e = mc.expression("sum{t: (r[t] - U[i[t], a]*V[j[t], a])^2}", FACTORS).hessian("U")
    data = data_of("factors", "repeated")
    wanted = np.zeros((4, 2, 4, 2))
    for row, column in zip(data["i"], data["j"], strict=True):
        wanted[row, :, row, :] += 2 * np.outer(data["V"][column], data["V"][column])
    np.testing.assert_allclose(e(data), wanted, atol=1e-12)


# ---- arrays that are not formed, entries that are not touched


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", ["factors", "link", "labels", "pairs", "steps"])
def test_no_selector_is_formed(case):
    plan = compiled(case, "numpy").plan
    assert not any(f"({a})" in plan for a in ("N, m", "m, N", "N, N", "c, N", "n, N", "N, n, n")), plan


def test_a_million_entries_take_no_more_memory_than_they_have():
    rng = np.random.default_rng(0)
    U, V, count = rng.standard_normal((3000, 2)), rng.standard_normal((2000, 2)), 1_000_000
    i, j, r = rng.integers(0, 3000, count), rng.integers(0, 2000, count), rng.standard_normal(count)
    e = r - np.sum(U[i] * V[j], axis=1)
    f = derived("factors")[0]
    np.testing.assert_allclose(f(U=U, V=V, r=r, i=i, j=j), e @ e, rtol=1e-10)


@pytest.mark.parametrize("target", ["plain", "numpy"])
def test_what_is_not_looked_up_may_be_anything(target):
    e = mc.expression("3*x[k]", "x: vector(n); k: index")
    both = [e, e.gradient("x")]
    functions = both if target == "plain" else [mc.compile(one, target=target) for one in both]
    x = np.array([np.nan, 2.0, np.inf])
    assert [np.asarray(f(x, 1)).tolist() for f in functions] == [6.0, [0.0, 3.0, 0.0]]


# ---- rejected data


def outside(*paths):
    return [pytest.param(path, id=path) for path in paths]


REFUSED = [
    ("i", [0, 4, 1], ShapeError, "i[1] is 4, outside an axis of length m = 4: indices are 0 to 3"),
    ("j", [0, 1, -1], ShapeError, "j[2] is -1, outside an axis of length n = 3: indices are 0 to 2"),
    ("i", [0.0, 1.0, 2.0], TypeError, "i: index(N) takes integers, not entries of type float64: give i.astype(int)"),
    ("i", [True, False, True], TypeError, "i: index(N) takes integers, not entries of type bool"),
    ("i", [[0, 1, 2]], ShapeError, "i: index(N) takes an array of 1 axes, not one of shape (1, 3)"),
    ("j", [0, 1], ShapeError, "j: vector(N) must have shape (3,), not (2,) where N = 3 (from r and i)"),
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, value, error, message", REFUSED)
@pytest.mark.parametrize("path", outside("plain", "numpy", "numba"))
def test_refused_at_the_call(path, name, value, error, message):
    data = {**data_of("factors", "repeated"), "r": np.zeros(3), "i": np.arange(3), "j": np.arange(3)}
    data[name] = np.array(value)
    with pytest.raises(error) as caught:
        path_of(path)(*data.values())
    assert str(caught.value).splitlines()[0] == message


@pytest.mark.parametrize("given", [2, np.int64(2), np.int32(2), np.array(2), np.uint8(2)])
def test_integers_of_any_kind_are_taken(given):
    x = np.arange(4.0)
    assert derived("entry")[0](x, given) == 4.0
    assert compiled("entry", "numpy")(x, given, x)[0] == 4.0


def test_float_array_is_never_read_as_integers():
    f = path_of("numba")
    data = data_of("factors", "repeated")
    with pytest.raises(TypeError, match="takes integers"):
        f(data["U"], data["V"], data["r"], data["i"].astype(np.int64).view(np.float64), data["j"])


def test_parts_of_an_index_have_bounds_of_their_own():
    f = mc.compile("A[p[0], p[1]]", declarations="A: matrix(2, 5); p: index(2)", target="numpy")
    A = np.arange(10.0).reshape(2, 5)
    assert f(A, [1, 4]) == 9.0
    with pytest.raises(ShapeError) as caught:
        f(A, [2, 4])
    assert str(caught.value) == "p[0] is 2, outside an axis of length 2: indices are 0 to 1"
