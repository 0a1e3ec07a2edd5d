"""Two matrices that are combined entry by entry, in every notation: neither is transposed in memory."""

import itertools
import re

import numpy as np
import pytest

import matcalc as mc

LET = "T: matrix(m, n); U: matrix(m, k); V: matrix(n, k); P: matrix(n, p); Q: matrix(m, p); W: matrix(n, k)"
SHAPES = {"T": "mn", "U": "mk", "V": "nk", "P": "np", "Q": "mp", "W": "nk"}
TURNED = re.compile(r"\[j, i\]")
MATRICES = {
    "T": lambda d: d["T"],
    "U*V'": lambda d: d["U"] @ d["V"].T,
    "(V*U')'": lambda d: d["U"] @ d["V"].T,
    "tanh(U*V')": lambda d: np.tanh(d["U"] @ d["V"].T),
    "tanh(V*U')'": lambda d: np.tanh(d["U"] @ d["V"].T),
    "exp(Q*P')": lambda d: np.exp(d["Q"] @ d["P"].T),
    "exp(P*Q')'": lambda d: np.exp(d["Q"] @ d["P"].T),
    "U*V' + Q*P'": lambda d: d["U"] @ d["V"].T + d["Q"] @ d["P"].T,
    "(V*U')' + Q*P'": lambda d: d["U"] @ d["V"].T + d["Q"] @ d["P"].T,
}
WAYS = {
    "sum(({x}).*({y}))": lambda x, y, d: np.sum(x * y),
    "sum(exp(({x}) - ({y})))": lambda x, y, d: np.sum(np.exp(x - y)),
    "({x}).*({y})": lambda x, y, d: x * y,
    "(({x}).*({y}))*W": lambda x, y, d: (x * y) @ d["W"],
    "(({x}).*({y}))'*U": lambda x, y, d: (x * y).T @ d["U"],
    "sum(({x}).*({y})) + sum(sqrt(({x}).^2 + ({y}).^2 + 1))": lambda x, y, d: (
        np.sum(x * y) + np.sum(np.sqrt(x**2 + y**2 + 1))
    ),
}
PAIRS = list(itertools.combinations(MATRICES, 2))


def data(sizes):
    rng = np.random.default_rng(3)
    return {name: rng.uniform(-1, 1, [sizes[letter] for letter in shape]) for name, shape in SHAPES.items()}


def step(f, given, name):
    """Return the gradient in a matrix, by complex steps."""
    found = np.zeros(given[name].shape)
    for place in np.ndindex(*found.shape):
        moved = given[name].astype(complex)
        moved[place] += 1e-30j
        found[place] = f({**given, name: moved}).imag / 1e-30
    return found


@pytest.mark.thinned(3)
@pytest.mark.sampled(150)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pair", PAIRS, ids=" | ".join)
def test_matrices_that_meet_stand_alike(pair, way):
    x, y = pair
    text = way.format(x=x, y=y)
    is_total = text.startswith("sum")
    fn = mc.value_and_gradient(text, ["U", "V"], LET) if is_total else mc.compile(text, declarations=LET)
    assert not TURNED.search(fn.source)
    for m, n in ((4, 3), (3, 3), (1, 4), (0, 2)):
        given = data({"m": m, "n": n, "k": 2, "p": 2})

        def by_hand(d):
            return WAYS[way](MATRICES[x](d), MATRICES[y](d), d)

        found = fn(**{name: given[name] for name in fn.args})
        want = (by_hand(given), (step(by_hand, given, "U"), step(by_hand, given, "V"))) if is_total else by_hand(given)
        for got, true in zip(flat(found), flat(want), strict=True):
            np.testing.assert_allclose(got, true, rtol=1e-12, atol=1e-12)


def flat(value):
    return [part for inner in value for part in flat(inner)] if isinstance(value, tuple) else [value]
