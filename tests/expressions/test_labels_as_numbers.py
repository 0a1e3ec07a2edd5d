"""Labels, data of kind index, are numbers in functions that also look them up, against the functions on arrays."""

import numpy as np
import pytest

import matcalc as mc

LET = "x: vector(n) positive; y: index(n); w: vector(k); i: index"
USES = {
    "product": lambda x, y, w, i: np.sum(y * x) + np.sum(w[y]),
    "signs": lambda x, y, w, i: np.sum((2 * y - 1) * x * w[y]),
    "power": lambda x, y, w, i: np.sum(x**y * w[y]),
    "shifted": lambda x, y, w, i: np.sum(w[y - 1] * (y - 1) * x),
    "negative": lambda x, y, w, i: np.sum(w[y] * np.exp(-y / 2) * x) + y.mean() * x.sum(),
    "products": lambda x, y, w, i: w[y] @ (x * (y + 1)) - y @ x,
    "part": lambda x, y, w, i: np.sum((x[1:] * y[1:] + w[y[:-1]]) ** 2),
    "pairs": lambda x, y, w, i: np.sum((y[:, None] - y[None, :]) ** 2 * x * w[y]),
    "scalar": lambda x, y, w, i: w[i] * i * np.sum(x) + (i + 1) ** 2 * w[0],
    "choice": lambda x, y, w, i: np.sum(np.where(y > 0, x * y, w[y])),
    "indicators": lambda x, y, w, i: np.sum(np.eye(len(w))[y] @ w * x) + np.sum(y.astype(float) * x),
    "functions": lambda x, y, w, i: np.sum(np.log1p(y) * x * np.take(w, y)),
}


def before_a_loop(x, y, w, i):
    total, sign = 0.0, 2 * y - 1
    for t in range(len(x)):
        total = np.tanh(total) + sign[t] * x[t] * w[y[t]] ** 2
    return total


def in_a_loop(x, y, w, i):
    total = 0.0
    for t in range(len(x)):
        total = np.tanh(total) + y[t] * x[t] * w[y[t]]
    return total


def over_rows(x, y, w, i):
    total = 0.0
    for a, k in zip(x, y, strict=True):
        total = np.cos(total) * w[k] + a**k / (1 + k)
    return total


def over_labels(x, y, w, i):
    total = 1.0
    for k in y:
        total = total / 2 + (2 * k - 1) * w[k]
    return total * np.sum(x)


def with_the_last_label(x, y, w, i):
    total = w[y[0]]
    for t in range(1, len(y)):
        total = np.sin(total + (y[t] - y[t - 1]) ** 2 * x[t - 1] * w[y[t]])
    return total


def over_pairs(x, y, w, i):
    total = 0.0
    for s in range(len(y)):
        for t in range(len(y)):
            total += (y[s] - y[t]) ** 2 * x[s] * w[y[t]]
    return total


def under_a_condition(x, y, w, i):
    total = 0.0
    for t in range(len(y)):
        if y[t] > 0:
            total = total * 0.5 + y[t] * w[y[t]] * x[t]
        else:
            total -= x[t]
    return total


def a_list_of_numbers(x, y, w, i):
    found = []
    for t in range(len(y)):
        found.append(np.exp(-y[t] / 2) * w[y[t]])
    return np.array(found) @ x


LOOPS = (
    before_a_loop, in_a_loop, over_rows, over_labels, with_the_last_label, over_pairs, under_a_condition,
    a_list_of_numbers,
)  # fmt: skip
USES.update((f.__name__, f) for f in LOOPS)


@pytest.mark.parametrize("name", USES)
@pytest.mark.sampled(26)
def test_values_and_gradients(name):
    function = USES[name]
    e = mc.expression(function, LET)
    assert mc.expression(str(e), e.declarations).node is e.node
    rng = np.random.default_rng(len(name))
    data = {"x": rng.random(6) + 0.5, "y": np.array([0, 1, 2, 0, 1, 2]), "w": rng.standard_normal(3), "i": 2}
    both = mc.value_and_gradient(e, "x")
    value, gradient = both(**{one: data[one] for one in both.args})
    np.testing.assert_allclose(value, function(**data), rtol=1e-12)
    for at, step in enumerate(1e-6 * np.eye(6)):
        slope = (function(**data | {"x": data["x"] + step}) - function(**data | {"x": data["x"] - step})) / 2e-6
        np.testing.assert_allclose(gradient[at], slope, rtol=1e-5, atol=1e-6)


def only_a_number(x, y, w, i):
    return np.sum(y * x)


def only_a_number_in_a_loop(x, y, w, i):
    total = 0.0
    for t in range(len(x)):
        total = np.tanh(total) + y[t] * x[t]
    return total


@pytest.mark.parametrize(
    ("function", "message"), [(only_a_number, "declare it a vector"), (only_a_number_in_a_loop, "declare it a vector")]
)
def test_refused(function, message):
    with pytest.raises(mc.ShapeError, match="number") as fault:
        mc.expression(function, LET)
    assert message in str(fault.value)


@pytest.mark.whole
def test_two_sizes():
    function = lambda X, y: np.sum(y * X[np.arange(len(y)), y]) + y @ X[y, 0]  # noqa: E731
    X, y = np.random.default_rng(0).standard_normal((3, 4)), np.array([2, 0, 1])
    e = mc.expression(function, "X: matrix(n, k); y: index(n)")
    np.testing.assert_allclose(e(X=X, y=y), function(X, y), rtol=1e-13)
