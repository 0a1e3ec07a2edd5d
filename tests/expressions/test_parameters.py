"""Parameters as people keep them: dictionaries, named tuples, dataclasses, lists of arrays.

The reference of a derivative is a difference quotient of the function itself, run on the user's containers.
"""

import pickle
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import matcalc as mc

LET = "params.W: matrix(d, h); params.b: vector(h); params.v: vector(h); X: matrix(m, d); y: vector(m)"
rng = np.random.default_rng(7)
P = {"W": rng.standard_normal((3, 2)), "b": rng.standard_normal(2), "v": rng.standard_normal(2)}
X, Y = rng.standard_normal((6, 3)), rng.standard_normal(6)


class Layer(NamedTuple):
    W: Any
    b: Any
    v: Any


@dataclass(frozen=True)
class Net:
    W: Any
    b: Any
    v: Any
    scale: Any = field(default=2.0)


def of_dictionary(params, X, y):
    return np.mean((np.tanh(X @ params["W"] + params["b"]) @ params["v"] - y) ** 2)


def of_attributes(params, X, y):
    return np.mean((np.tanh(X @ params.W + params.b) @ params.v - y) ** 2)


def unpacked(params: Layer, X, y):
    W, b, v = params
    return np.mean((np.tanh(X @ W + b) @ v - y) ** 2)


def nested(params, X, y):
    (W, b), head = params["layers"][0], params["head"]
    return np.mean((np.tanh(X @ W + b) @ head["v"] - y) ** 2) + head["s"] ** 2


NESTED = {"layers": [(P["W"], P["b"])], "head": {"v": P["v"], "s": 0.5}, "bias": None, "none": {}, "rest": []}


def leaves(value, path=()):
    """Yield the paths and arrays of a container, without the code under test."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, (list, tuple)):
        for key, one in enumerate(value):
            yield from leaves(one, (*path, key))
    elif hasattr(value, "__dataclass_fields__"):
        for key in value.__dataclass_fields__:
            yield from leaves(getattr(value, key), (*path, key))
    elif value is not None:
        yield path, value


def slopes(function, params):
    """Return the difference quotient for each entry of each array; arrays are changed in place."""
    found = []
    arrays = [np.array(one, float) for _, one in leaves(params)]

    def rebuilt(value):
        if isinstance(value, dict):
            return {key: rebuilt(one) for key, one in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(rebuilt, value))
        if isinstance(value, (list, tuple)):
            return type(value)(map(rebuilt, value))
        if hasattr(value, "__dataclass_fields__"):
            return type(value)(*(rebuilt(getattr(value, key)) for key in value.__dataclass_fields__))
        return value if value is None else next(remaining)

    for k, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for at in np.ndindex(*array.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [one.copy() for one in arrays]
                moved[k][at] += step
                remaining = iter(moved)
                ends.append(function(rebuilt(params), X, Y))
            slope[at] = (ends[0] - ends[1]) / 2e-6
        found.append(slope)
    return found


def same_gradient(function, params, gradient):
    assert type(gradient) is type(params)
    for (path, found), (expected_path, _), slope in zip(
        leaves(gradient), leaves(params), slopes(function, params), strict=True
    ):
        assert path == expected_path
        assert np.shape(found) == slope.shape
        np.testing.assert_allclose(found, slope, rtol=1e-6, atol=1e-8)


FORMS = [
    (of_dictionary, P, LET),
    pytest.param(of_dictionary, OrderedDict(P), LET, marks=pytest.mark.whole),
    pytest.param(of_attributes, Layer(**P), LET, marks=pytest.mark.whole),
    (unpacked, Layer(**P), LET),
    (of_attributes, Net(**P), {"params": Net(**P), "X": "matrix(6, 3)", "y": Y}),
    (nested, NESTED, {"params": NESTED, "X": X, "y": Y}),
]


NAMES = ["dict", "ordered", "fields", "unpacked", "dataclass", "nested"]


@pytest.mark.whole
@pytest.mark.parametrize(("function", "params", "let"), FORMS, ids=NAMES)
def test_values_and_gradients_have_the_form_of_the_argument(function, params, let):
    fn = mc.value_and_gradient(function, "params", declarations=let)
    assert fn.args == ("params", "X", "y")
    assert fn.checked.startswith("at ")
    value, gradient = fn(params, X, Y)
    assert value == pytest.approx(function(params, X, Y), rel=1e-12)
    same_gradient(function, params, gradient)
    again = pickle.loads(pickle.dumps(fn.bind(X=X, y=Y)))
    assert again.args == ("params",)
    assert again(params)[0] == value and again({"params": params})[0] == value
    assert function(params, X, Y) == pytest.approx(mc.expression(function, let)(params=params, X=X, y=Y), rel=1e-12)


def test_formulas_have_readable_names_and_the_declared_form():
    gradient = mc.gradient(of_dictionary, "params", LET)
    assert type(gradient) is dict and list(gradient) == ["W", "b", "v"]
    assert str(gradient["v"]) == "2*tanh(X*params_W .+ params_b')'*(tanh(X*params_W .+ params_b')*params_v - y)/m"
    assert isinstance(mc.gradient(unpacked, "params", LET), Layer)
    assert isinstance(mc.gradient(of_attributes, "params", {"params": Net(**P), "X": X, "y": Y}), Net)
    assert mc.gradient(of_dictionary, "params.b", LET).node is gradient["b"].node
    both, plain = mc.gradient(of_dictionary, ["params", "X"], LET)
    assert both["b"].node is gradient["b"].node and plain.shape == ("m", "d")


def test_names_that_are_taken_get_another_one():
    let = "p.a: vector(n); p.a_b: vector(n); p.c.b: vector(n); p_c: matrix(n, n); p_a: vector(n)"
    e = mc.expression(lambda p, p_a, p_c: np.sum(p["a"] * p["a_b"] + p_c @ p["c"]["b"] + p_a), let)
    assert len(set(e.names.symbols)) == 5 and e.symbols == ("p", "p_c", "p_a")
    n = {"a": np.ones(2), "a_b": np.full(2, 3.0), "c": {"b": np.ones(2)}}
    assert e(n, np.eye(2), np.zeros(2)) == 8.0


@pytest.mark.whole
def test_other_derivatives():
    rows = mc.hessian(of_dictionary, "params", LET)
    direction = {key: rng.standard_normal(np.shape(one)) for key, one in P.items()}
    product = mc.compile(mc.hvp(of_dictionary, "params", LET))
    assert product.args == ("params", "X", "y", "v_params")
    found = product(P, X, Y, direction)
    fn = mc.value_and_gradient(of_dictionary, "params", declarations=LET)
    ends = [fn({k: P[k] + t * direction[k] for k in P}, X, Y)[1] for t in (1e-6, -1e-6)]
    for key in P:
        np.testing.assert_allclose(found[key], (ends[0][key] - ends[1][key]) / 2e-6, rtol=1e-5, atol=1e-7)
        blocks = [rows[key][k](P, X, Y) for k in P]
        total = sum(np.tensordot(b, direction[k], np.ndim(direction[k])) for b, k in zip(blocks, P, strict=True))
        np.testing.assert_allclose(found[key], total, rtol=1e-10)
    slope = mc.jvp(of_dictionary, "params", LET)(P, X, Y, direction)
    assert slope == pytest.approx(sum(np.sum(fn(P, X, Y)[1][k] * direction[k]) for k in P), rel=1e-12)
    assert mc.check(of_dictionary, "params", LET)


def test_results_in_containers():
    let = {"p": {"x": "vector(n)"}}
    fn = mc.compile(
        lambda p: {"twice": 2 * p["x"], "rest": Layer(p["x"] @ p["x"], [np.sum(p["x"])], 1.0)}, declarations=let
    )
    made = fn({"x": np.array([1.0, 2.0])})
    assert made["twice"].tolist() == [2.0, 4.0] and made["rest"] == Layer(5.0, [3.0], 1.0)
    slopes_ = mc.compile(mc.gradient(lambda p: p["x"] @ p["x"], "p", let))
    assert slopes_({"p": {"x": np.ones(3)}})["x"].tolist() == [2.0, 2.0, 2.0]


def test_empty_containers_and_arrays():
    params = {"a": np.zeros((0, 3)), "b": None, "c": {}, "s": 2.0}
    fn = mc.value_and_gradient(lambda p: np.sum(p["a"] ** 2) + p["s"] ** 3, "p", {"p": params})
    value, gradient = fn(params)
    assert value == 8.0 and gradient["a"].shape == (0, 3) and gradient["b"] is None
    assert gradient["c"] == {} and gradient["s"] == 12.0
    nothing = {"p": {}, "x": "vector(n)"}
    assert mc.gradient(lambda p, x: x @ x, "p", nothing) == {}
    empty = mc.value_and_gradient(lambda p, x: x @ x, "p", nothing)
    assert empty.args == ("p", "x") and empty({}, np.ones(3)) == (3.0, {})


def test_a_single_dictionary_is_a_container_or_holds_arguments_by_name():
    fn = mc.compile(lambda p: p["p"] @ p["p"], declarations="p.p: vector(n)")
    assert fn({"p": np.ones(2)}) == fn({"p": {"p": np.ones(2)}}) == fn(p={"p": np.ones(2)}) == 2.0


def test_order_of_arguments_and_substitution():
    let = "p.w: vector(n); p.s: scalar; x: vector(n)"
    fn = mc.compile(lambda p, x: p["s"] * (p["w"] @ x), args=["x", "p"], declarations=let)
    assert fn.args == ("x", "p") and fn(np.ones(2), {"w": np.ones(2), "s": 3.0}) == 6.0
    e = mc.expression(lambda p, x: p["s"] * (p["w"] @ x), let).substitute(p_s=2)
    assert e.symbols == ("p_w", "x") and e(np.ones(2), np.ones(2)) == 4.0


def test_equal_shapes_and_one_array_twice():
    shared = np.array([1.0, 2.0])
    params = [shared, shared]
    fn = mc.value_and_gradient(lambda p: np.sum(p[0] * p[1] ** 2), "p", {"p": params})
    _, (first, second) = fn(params)
    np.testing.assert_allclose(first, shared**2)
    np.testing.assert_allclose(second, 2 * shared**2)


@pytest.mark.whole
def test_minimize():
    def ridge(params, X, y):
        return np.sum((X @ params["w"] + params["c"] - y) ** 2) + np.sum(params["w"] ** 2)

    let = "params.w: vector(d); params.c: scalar; X: matrix(m, d); y: vector(m)"
    found = mc.minimize(ridge, "params", {"params": {"w": np.zeros(3), "c": 0.0}}, {"X": X, "y": Y}, declarations=let)
    A = np.c_[X, np.ones(6)]
    truth = np.linalg.solve(A.T @ A + np.diag([1.0, 1.0, 1.0, 0.0]), A.T @ Y)
    np.testing.assert_allclose(found.x["params"]["w"], truth[:3], atol=1e-5)
    np.testing.assert_allclose(found.x["params"]["c"], truth[3], atol=1e-5)


def test_text_with_parts():
    let = "params.w: vector(n); X: matrix(m, n); y: vector(m)"
    fn = mc.value_and_gradient("norm2(X*params_w - y)^2", "params", declarations=let)
    assert fn.args == ("params", "X", "y")
    assert mc.value_and_gradient("norm2(X*params_w - y)^2", "params", declarations=let).args == fn.args
    np.testing.assert_allclose(fn({"w": np.ones(3)}, X, Y)[1]["w"], 2 * X.T @ (X @ np.ones(3) - Y))


cyclic: list[Any] = [np.ones(3)]
cyclic.append(cyclic)


def gradient_of(let):
    return lambda: mc.gradient(of_dictionary, "params", let)


def value_at(*args):
    return lambda: mc.expression(of_dictionary, LET)(*args)


def read(let):
    return lambda: mc.expression(of_dictionary, let)


REFUSED = [
    (gradient_of({"params": {"W": "tanh"}}), mc.NotSupported, "params.W is 'tanh', which is no array"),
    (gradient_of({"params": {"W": True}}), mc.NotSupported, "params.W is True, which is no"),
    (gradient_of({"params": {"W": np.ones(2) * 1j}}), mc.NotSupported, "no array of real"),
    (gradient_of({"params": {(1, 2): 1.0}}), mc.NotSupported, r"the key \(1, 2\)"),
    (gradient_of({"params": cyclic}), mc.NotSupported, "params.1 contains itself"),
    (gradient_of("params: vector(n); params.W: vector(n)"), mc.ShapeError, "as an array and as a container"),
    (read("params.0: scalar; params.2: scalar"), mc.ShapeError, "numbered from 0"),
    (read("p.a: scalar; p.a.b: scalar"), mc.ShapeError, "as an array and as a container"),
    (read("p.a: vector(n); p.a: vector(n)"), mc.ShapeError, "p.a is declared twice"),
    (value_at({"W": P["W"]}, X, Y), TypeError, "params lacks b: it has W, b, v"),
    (value_at({**P, "z": 1.0}, X, Y), TypeError, "params has no z"),
    (value_at(3.0, X, Y), TypeError, "params is a container with W, b, v, not 3.0"),
    (value_at({**P, "W": "tanh"}, X, Y), TypeError, "params.W is 'tanh', which is no array"),
    (lambda: mc.gradient(of_dictionary, "params.z", LET), mc.UnknownName, "params.z is no part of params"),
    (lambda: mc.pullback(of_dictionary, "params.z", LET), mc.UnknownName, "params.z is no part of params"),
]


@pytest.mark.parametrize(("call", "fault", "message"), REFUSED)
def test_what_is_refused(call, fault, message):
    with pytest.raises(fault, match=message):
        call()


def residuals(params, X, y):
    return np.tanh(X @ params["W"] + params["b"]) @ params["v"] - y


@pytest.mark.whole
def test_pullbacks_return_cotangents_in_the_container_of_the_argument():
    both = mc.pullback(residuals, "params", LET)
    given = OrderedDict(P)
    value, saved = both.forward(given, X, Y)
    np.testing.assert_allclose(value, residuals(P, X, Y), rtol=1e-13)
    weights = rng.standard_normal(6)
    same_gradient(lambda params, X, y: weights @ residuals(params, X, y), given, both.backward(saved, weights))
    several = both.backward(saved, np.stack([weights, 2 * weights]))
    np.testing.assert_allclose(several["W"][1], 2 * several["W"][0])
    both = mc.pullback(unpacked, ["X", "params"], LET)
    value, saved = both.forward(params=Layer(**P), X=X, y=Y)
    of_x, of_params = both.backward(saved, 1.0)
    same_gradient(unpacked, Layer(**P), of_params)
    assert of_x.shape == X.shape and both.args == ("params", "X", "y") and both.flat.second.source in both.source
    one = mc.pullback(of_dictionary, "params.W", LET)
    np.testing.assert_allclose(one.backward(one.forward(P, X, Y)[1], 1.0), of_params.W)
    other = mc.pullback(of_dictionary, "X", LET)
    np.testing.assert_allclose(other.backward(other.forward(P, X, Y)[1], 1.0), of_x)
    with pytest.raises(TypeError, match="saved is the pair that forward returns"):
        both.backward(saved[0], 1.0)
    with pytest.raises(TypeError, match="params lacks b"):
        both.forward({"W": P["W"]}, X, Y)


@pytest.mark.whole
def test_scores_in_containers():
    rows = mc.scores(of_dictionary, "params", "m", declarations=LET)(P, X, Y)
    both = mc.value_and_gradient(of_dictionary, "params", LET)
    for k in range(6):
        _, own = both(P, X[k : k + 1], Y[k : k + 1])
        for name in P:
            np.testing.assert_allclose(rows[name][k], own[name] / 6, rtol=1e-10)
    layer = Layer(**P)
    of_y, in_layer = mc.scores(of_attributes, ["y", "params"], "m", declarations=LET)(layer, X, Y)
    assert type(in_layer) is Layer and of_y.shape == (6, 6)
    np.testing.assert_allclose(in_layer.W, rows["W"])


@pytest.mark.whole
def test_batches_of_functions_of_containers():
    both = mc.value_and_gradient(of_dictionary, "params", LET)
    several = [{name: array + k for name, array in P.items()} for k in range(3)]
    stacked = {name: np.stack([one[name] for one in several]) for name in P}
    values, gradients = mc.batch(both, "params")(stacked, X, Y)
    one_array = mc.batch(both, ["params.b"])(P | {"b": stacked["b"]}, X, Y)[0]
    of_data = mc.batch(both.bind(params=P), "X")(X=np.stack([X, 2 * X]), y=Y)[0]
    for k, own in enumerate(several):
        value, gradient = both(own, X, Y)
        np.testing.assert_allclose(values[k], value)
        np.testing.assert_allclose(one_array[k], of_dictionary(P | {"b": own["b"]}, X, Y))
        for name in P:
            np.testing.assert_allclose(gradients[name][k], gradient[name])
    np.testing.assert_allclose(of_data, [of_dictionary(P, X, Y), of_dictionary(P, 2 * X, Y)])
    with pytest.raises(mc.UnknownName, match="params.z is no part of params"):
        mc.batch(both, "params.z")
