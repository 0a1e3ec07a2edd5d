"""Sizes 0 and 1: values and gradients of textbook formulas, against an evaluator and differences of its own."""

import itertools
import re

import numpy as np
import pytest

import matcalc as mc
from matcalc.calculus.evaluate.evaluate import evaluate as evaluate_nodes
from oracle import differences
from oracle.cases import identities
from oracle.data import declared, make
from oracle.values import evaluate

NAMES = re.compile(r"[a-z]\w*")
CASES = [c for c in identities() if c.kind == "gradient"]
UNDEFINED = {"(x'*y)/(norm2(x)*norm2(y))", "-y'*log(softmax(x))", "a'*softmax(A*x)", "lambda_max(X)", "tr(logm(X))"}
"""Formulas for which the evaluator has no value where an axis is empty."""


def combinations(let):
    """Return sizes of 0, 1 and 2 in all combinations of small ones; of many names, one or all are small."""
    names = sorted({name for sizes, _ in declared(let).values() for size in sizes for name in NAMES.findall(size)})
    found = itertools.product((0, 1, 2), repeat=len(names))
    few = [c for c in found if len(names) < 3 or len(set(c)) == 1 or c.count(2) == len(names) - 1]
    return [dict(zip(names, c, strict=True)) for c in few if min(c, default=2) < 2]


def fits(e, sizes):
    """Return whether a formula's requirements on sizes hold for these."""
    return all(eval(need.partition(", or")[0], {}, dict(sizes)) for need in e.needs)


@pytest.mark.parametrize("case", CASES, ids=[c.id for c in CASES])
@pytest.mark.sampled(36)
def test_values_and_gradients(case):
    e = mc.expression(case.text, case.let)
    gradient = e.gradient(case.wrt)
    compiled = mc.value_and_gradient(e, case.wrt, target="numpy")
    tried = 0
    for sizes in combinations(case.let):
        if case.text in UNDEFINED and 0 in sizes.values():
            continue
        data = make(case.let, 1, case.data, sizes)
        given = {name: data.get(name, sizes.get(name)) for name in gradient.symbols}
        if not fits(e, sizes):
            tried += 1
            continue
        with np.errstate(all="ignore"):
            value = np.squeeze(evaluate(case.text, data, sizes))
            slope = differences.gradient(case.text, data, case.wrt, sizes, declared(case.let)[case.wrt][1])
        slope = np.reshape(slope, data[case.wrt].shape)
        values = {name: given[name] for name in e.symbols}
        for found in ((e(**values), gradient(**given)), compiled(*given.values())):
            np.testing.assert_allclose(found[0], value, rtol=1e-8, atol=1e-10, err_msg=str(sizes))
            assert np.shape(found[1]) == np.shape(data[case.wrt])
            np.testing.assert_allclose(found[1], slope, rtol=1e-5, atol=1e-6, err_msg=str(sizes))
        tried += 1
    assert tried


@pytest.mark.whole
def test_what_is_needed_is_so():
    """Where requirements fail the Gram matrix has no inverse: no formula with a value is skipped."""
    needing = [c for c in CASES if any("singular" in need for need in mc.expression(c.text, c.let).needs)]
    assert 5 <= len(needing) <= 15
    for case in needing:
        e = mc.expression(case.text, case.let)
        assert all("singular" in need or "of nothing" in need for need in e.needs)


OF_NOTHING = {
    "sum(x)": 0, "prod(x)": 1, "mean(x)": np.nan, "var(x)": np.nan,
    "logsumexp(x)": -np.inf, "norm1(x)": 0, "norm2(x)": 0, "median(x)": np.nan, "x'*x": 0, "det(X)": 1,
    "logdet(X)": 0, "tr(X)": 0, "tr(expm(X))": 0, "tr(sqrtm(X))": 0, "tr(logm(X))": 0, "nuclear_norm(X)": 0,
    "spectral_norm(X)": 0,
    "spectral_radius(X)": 0, "sum(eigvalsh(S))": 0,
    "sum(chol(S))": 0, "sum(inv(X))": 0, "sum(svd_s(X))": 0, "tr(signm(X))": 0, "sum(pinv(X))": 0,
    "tr(powm(X, 0.5))": 0,
}  # fmt: skip
SHAPES = {
    "x*x'": (0, 0), "sort(x)": (0,), "cumsum(x)": (0,),
    "normalize(x)": (0,), "x - mean(x)": (0,), "[x; 1]": (1,), "[X, x]": (0, 1), "kron(X, X)": (0, 0), "vec(X)": (0,),
    "inv(X)": (0, 0),
    "svd_U(X)": (0, 0), "eigh_V(S)": (0, 0), "qr_R(X)": (0, 0), "lu_L(X)": (0, 0), "sum(X, axis=0)": (0,),
    "eye(n)": (0, 0), "matfun(exp, S)": (0, 0), "median(X, axis=0)": (0,),
}  # fmt: skip
LET = "x: vector(n); X: matrix(n, n); S: matrix(n, n) spd"
NOTHING = {"x": np.zeros(0), "X": np.zeros((0, 0)), "S": np.zeros((0, 0)), "n": 0}


def both_ways(text):
    """Yield the value of a formula on empty arrays, evaluated and compiled."""
    e = mc.expression(text, LET)
    data = {name: NOTHING[name] for name in e.symbols}
    yield e(**data)
    yield mc.compile(e, target="numpy")(**data)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "expected"), OF_NOTHING.items(), ids=list(OF_NOTHING))
def test_scalars_of_nothing(text, expected):
    for found in both_ways(text):
        np.testing.assert_equal(float(found), float(expected))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "expected"), SHAPES.items(), ids=list(SHAPES))
def test_arrays_of_nothing(text, expected):
    for found in both_ways(text):
        assert np.shape(found) == expected
        np.testing.assert_array_equal(found, np.ones(expected))


@pytest.mark.parametrize("text", ["median(x)", "logsumexp(x)", "x'*S*x", "logdet(S)", "det(X)"])
def test_gradients_of_nothing(text):
    e = mc.expression(text, LET)
    for name in e.names.written:
        g = e.gradient(name)
        assert g(**{key: NOTHING[key] for key in g.symbols}).shape == NOTHING[name].shape


REDUCED = ["prod", "mean", "std", "norm2", "logsumexp", "normalize", "cumsum"]
PARTS = ["a*B", "B + a", "B.*(z*y')"]


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:Degrees of freedom", "ignore:invalid value")
@pytest.mark.parametrize("operation", REDUCED)
@pytest.mark.sampled(3)
def test_slopes_along_axes_of_nothing(operation):
    """Measurements along an empty axis are constant: where they have a value and a slope, the slope is 0."""
    let, compared = "a: scalar; B: matrix(k, m); y: vector(m); z: vector(k)", 0
    for inside, axis in itertools.product(PARTS, (0, 1)):
        text = f"{operation}({inside}, axis={axis})"
        e = mc.expression(text, let)
        names = [name for name in "aByz" if name in e.symbols]
        slopes = e.vjp(names, cotangent="G_")
        compiled = mc.compile([e, *slopes], target="numpy", name="both")
        for k, m in ((0, 2), (2, 0), (0, 3)):
            sizes = {"k": k, "m": m}
            shape = tuple(size.evaluate(sizes) for size in e.node.shape)
            given = {"a": 1.5, "B": np.ones((k, m)), "y": np.ones(m), "z": np.ones(k), "G_": np.ones(shape)} | sizes
            with np.errstate(all="ignore"):
                try:
                    value = evaluate(text, given, sizes)
                except ValueError:  # as `max` of an empty array
                    continue
                plain = evaluate_nodes([s.node for s in slopes], given, sizes)
                found = compiled(**{name: given[name] for name in compiled.args})
            if not np.all(np.isfinite(value)):
                continue
            np.testing.assert_array_equal(np.reshape(found[0], np.shape(value)), value)
            for one, other in zip(map(np.asarray, found[1:]), plain, strict=True):
                defined = np.isfinite(other)
                compared += np.size(other)
                np.testing.assert_array_equal(one[defined], 0.0, err_msg=f"{text} {sizes}")
    assert compared


@pytest.mark.parametrize("text", ["conv(x, x)", "sum(conv(x, x))"])
def test_negative_lengths_are_refused(text):
    e = mc.expression(text, LET)
    for function in (e, mc.compile(e, target="numpy")):
        with pytest.raises(mc.ShapeError, match=r"conv\(x, x\) has a negative length where n = 0"):
            function(x=np.zeros(0))
