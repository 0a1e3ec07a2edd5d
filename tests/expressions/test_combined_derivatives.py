"""Results that are combined further: what a derivative is at a singular point, its sums, parts and slopes are too.

A derivative is finite at points where its printed formula is 0/0 or 0*inf. Each operation on it, and each function that
takes it, has to use the form that is finite.
"""

import pickle

import numpy as np
import pytest

import matcalc as mc

X = np.array([0.0, 1.0, 2.0])
DERIVATIVES = {  # the derivative, its data, how matcalc calls the part that is singular at 0
    "exponent": (lambda: mc.expression("sum(x.^p)", "x: vector(3) nonnegative; p: scalar").gradient("p"),
                 {"x": X, "p": 1.5}),
    "gradient": (lambda: mc.expression("sum(sin(x)./x)", "x: vector(3)").gradient("x"), {"x": X}),
    "Hessian": (lambda: mc.expression("sum(expm1(x)./x)", "x: vector(3)").hessian("x"), {"x": X}),
}  # fmt: skip
INTERNAL = ("powlog", "sinc1", "expm1c", "weighs")
OPERATIONS = {
    "-a": lambda a: -a,
    "a + 1": lambda a: a + 1,
    "1 - a": lambda a: 1 - a,
    "2*a": lambda a: 2 * a,
    "a/2": lambda a: a / 2,
    "a^2": lambda a: a**2,
    "a + a": lambda a: a + a,
    "sin(a)": np.sin,
    "sum(a)": np.sum,
    "a.T": lambda a: a.T,
    "a[0]": lambda a: a[0],
    "a[1:]": lambda a: a[1:],
    "a @ c": lambda a: a @ np.array([1.0, 2.0, 3.0]),
    "stack": lambda a: np.stack([a, a]),
    "concatenate": lambda a: np.concatenate([a, a]),
    "where": lambda a: np.where(a > 0, a, 2 * a),
    "outer": lambda a: np.outer(a, a),
    "max": np.max,
    "diag": np.diag,
    "trace": np.trace,
    "a.mT": lambda a: a.mT,
}
LEAST_AXES = {"a[0]": 1, "a[1:]": 1, "a @ c": 1, "concatenate": 1, "outer": 1, "diag": 1, "trace": 2, "a.mT": 2}
FORMS = {
    "substitute": lambda a: a.substitute(x="2*x/2"),
    "expand": lambda a: a.expand(),
    "factor": lambda a: a.factor(),
    "simplify": lambda a: a.simplify(),
    "index": lambda a: a.rewrite("index"),
    "pickle": lambda a: pickle.loads(pickle.dumps(a)),
    "expression": mc.expression,
}
CASES = [
    (of, name)
    for of, (make, _) in DERIVATIVES.items()
    for name in OPERATIONS
    if LEAST_AXES.get(name, 0) <= {"exponent": 0, "gradient": 1, "Hessian": 2}[of]
]


def finite(of):
    make, data = DERIVATIVES[of]
    a = make()
    value = a(**data)
    assert np.all(np.isfinite(value))
    return a, value, data


@pytest.mark.sampled(27)
@pytest.mark.parametrize(("of", "name"), CASES)
def test_operations(of, name):
    a, value, data = finite(of)
    made, expected = OPERATIONS[name](a), OPERATIONS[name](np.asarray(value))
    np.testing.assert_allclose(made(**data), expected, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(mc.compile(made, target="numpy")(**data), expected, rtol=1e-13, atol=1e-15)
    if name not in ("a[0]", "a[1:]"):
        assert not any(word in str(made) for word in INTERNAL)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("of", DERIVATIVES)
def test_forms(of, name):
    a, value, data = finite(of)
    made = FORMS[name](a)
    np.testing.assert_allclose(made(**data), value, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(mc.compile(made, target="numpy")(**data), value, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("wrt", ["p", "x"])
def test_value_and_gradient(wrt):
    a, value, data = finite("exponent")
    found, slope = mc.value_and_gradient(a, wrt, target="numpy")(**data)
    np.testing.assert_allclose(found, value, rtol=1e-13)
    rest = {"p": (X[1:] ** 1.5 * np.log(X[1:]) ** 2).sum(), "x": [0.0, *(X[1:] ** 0.5 * (1 + 1.5 * np.log(X[1:])))]}
    np.testing.assert_allclose(slope, rest[wrt], rtol=1e-13)


@pytest.mark.parametrize("of", DERIVATIVES)
def test_pullbacks(of):
    a, value, data = finite(of)
    passes = mc.pullback(a, "x", target="numpy")
    out, saved = passes.forward(**data)
    np.testing.assert_allclose(out, value, rtol=1e-13, atol=1e-15)
    assert np.all(np.isfinite(passes.backward(saved, np.ones(np.shape(value)))))


def test_scores():
    a = mc.expression("sum(x.^p)", "x: vector(m) nonnegative; p: scalar").gradient("p")
    found = mc.scores(a, "p", over="m", target="numpy")(x=X, p=1.5)
    np.testing.assert_allclose(found, [0.0, 0.0, 2**1.5 * np.log(2) ** 2], rtol=1e-13)
