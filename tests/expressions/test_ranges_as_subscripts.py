"""Ranges of open sizes as subscripts: joined, mirrored, rolled, counted from the end, modulo a size."""

import numpy as np
import pytest

import matcalc as mc

X = np.random.default_rng(6).standard_normal(5)
SUBSCRIPTS = {
    "joined": lambda n: np.concatenate([np.arange(n), np.arange(n)]),
    "joined with numbers": lambda n: np.append(np.arange(1, n), [0, 0]),
    "tiled": lambda n: np.tile(np.arange(n), 3),
    "in r_": lambda n: np.r_[0:n, 1:n, 0],
    "backwards": lambda n: np.arange(n - 1, -1, -1),
    "mirrored": lambda n: n - 1 - np.arange(n),
    "reversed": lambda n: np.arange(n)[::-1],
    "a part": lambda n: np.arange(n)[1:][::-1] - 1,
    "rolled": lambda n: np.roll(np.arange(n), 2),
    "neighbours on a ring": lambda n: (np.arange(n) + 1) % n,
    "other neighbours": lambda n: (np.arange(n) - 1) % n,
    "from the end": lambda n: np.arange(n) - 2,
    "flipped pieces": lambda n: np.concatenate([np.arange(n) - 1, np.arange(2)])[::-1],
}


def weighted(name):
    def loss(x):
        at = SUBSCRIPTS[name](len(x))
        return np.sum(x[at] ** 3 * np.cos(np.arange(len(at))))

    return loss


@pytest.mark.whole
@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_value_and_gradient_are_those_of_the_function(name):
    loss = weighted(name)
    value, gradient = mc.value_and_gradient(loss, "x", "x: vector(n)", target="numpy")(X)
    weights = np.cos(np.arange(len(SUBSCRIPTS[name](len(X)))))
    expected = np.zeros(len(X))
    np.add.at(expected, SUBSCRIPTS[name](len(X)), weights)
    np.testing.assert_allclose(value, loss(X), rtol=1e-12)
    np.testing.assert_allclose(gradient, 3 * expected * X**2, rtol=1e-12)


def test_a_write_counts_from_the_end():
    def moved(x):
        z = np.zeros(len(x))
        z[np.arange(len(x)) - 1] = x
        return z

    np.testing.assert_array_equal(mc.expression(moved, "x: vector(n)")(x=X), moved(X))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x[np.arange(len(x)) + 1].sum(), "the subscripts 1 to n leave an axis of n"),
        (lambda x: x[np.arange(len(x)) % x[0]].sum(), "a subscript that depends on a symbol's values"),
        (lambda x: x[np.repeat(np.arange(len(x)), 2)].sum(), "a subscript that the size n decides"),
    ],
)
def test_refused(function, message):
    with pytest.raises(mc.MatcalcError, match=message):
        mc.expression(function, "x: vector(n)")


def test_a_size_that_is_too_small_is_refused_at_the_call():
    e = mc.expression(lambda x: x[(np.arange(len(x)) + 3) % len(x)].sum(), "x: vector(n)")
    assert e(x=X) == pytest.approx(X.sum())
    with pytest.raises(mc.ShapeError, match="modulo n repeat"):
        e(x=X[:2])


def test_grids_of_open_sizes():
    def loss(A, a):
        h, w = A.shape
        rows, columns = np.mgrid[:h, :w]
        i, j = np.ogrid[0:h, 1 : w + 1]
        return np.sum(A * np.exp(-a * ((columns - 1) ** 2 + rows))) + np.sum(A * (i + j * a)) + np.mgrid[0:3, :2].sum()

    e = mc.expression(loss, "A: matrix(h, w); a: scalar")
    for A in (np.outer(X, X[:3]), np.outer(X[1:3], X)):
        np.testing.assert_allclose(e(A=A, a=0.3), loss(A, 0.3), rtol=1e-12)
    with pytest.raises(mc.NotSupported, match=r"np.mgrid of ranges with a step"):
        mc.expression(lambda x: np.mgrid[: len(x) : 2].sum(), "x: vector(n)")
