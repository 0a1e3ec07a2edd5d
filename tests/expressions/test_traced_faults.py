"""What a traced function cannot be is refused with the user's line; methods, closures and helpers are traced too."""

import math
import statistics
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from scipy import stats
from scipy.special import logsumexp
from scipy.stats import norm

import matcalc as mc

LET = "X: matrix(m, n); w: vector(n); x: vector(4); y: vector(m); s: scalar; i: index(m)"


def writes_an_argument(X):
    X[0] = 0
    return X


def writes_a_part_of_an_argument(X):
    row = X[0]
    row += 1
    return X


def writes_a_view(X):
    K = X + 1
    flat = K.T
    flat[0] = 0
    return K + 1


def uses_an_old_view(X):
    K = X + 1
    flat = K.T
    K[0] = 0
    return flat + 1


def fills_an_argument(X):
    np.fill_diagonal(X, 0)
    return X


def masks(x):
    return np.max(x[x > 0])


def writes_at_a_mask(x):
    z = 2 * x
    z[x > 0] = x[x < 0]
    return z


def branches_on_a_size(X):
    if X.shape[0] > 3:
        return X
    return np.ones(2)


def loops(X):
    total = 0
    for k in range(len(X)):
        total = total + X[2 * k]
    return total


def integers(y):
    z = np.zeros(len(y), dtype=int)
    return z + y


def integer_array(x):
    z = np.zeros(4, dtype=int)
    z[0] = x[0]
    return z


def infinite(x):
    return np.sum(x) * np.inf


def unknown_distribution(x):
    return stats.skewcauchy.logpdf(x, 0.5)


def unknown_method(x):
    return norm.moment(x)


def unknown_argument(x):
    return logsumexp(x, return_sign=True)


def unknown_of_scipy(X):
    return scipy.linalg.schur(X)


def of_math(x):
    return math.exp(x)


def residuals(X, y):
    return np.linalg.lstsq(X, y, rcond=None)[1] + 1


def outside(x):
    return x[[0, 4]]


def counts(i):
    return np.bincount(i)


def grows(x):
    x = x + 0
    x += np.ones((2, 4))
    return x


def of_pythons_library(X):
    return statistics.mean(X[0])


FAULTS = [
    (writes_an_argument, "the argument X is not changed in place: line {} of", 1, "X = X.copy()"),
    (writes_a_part_of_an_argument, "the argument X is not changed in place: line {} of", 2, "copy"),
    (writes_a_view, "an array of which a view by another function was written: line {} of", 4, "copy"),
    (uses_an_old_view, "a view of an array that was written since: line {} of", 4, "after the write"),
    (fills_an_argument, "the argument X is not changed in place: line {} of", 1, "copy"),
    (masks, "np.max of entries that a mask selects, of which there may be none: line {} of", 1, "np.where"),
    (
        writes_at_a_mask,
        "a mask that depends on a symbol selects an unknown number of entries: line {} of",
        2,
        "np.where",
    ),
    (branches_on_a_size, "a value has another shape where m > 3 holds: line {} of", 1, "declare m as a number"),
    (loops, "a subscript is the number of one or two steps plus a number: line {} of", 3, "mc.scan"),
    (integers, "np.zeros with dtype=int of a size that is no number: line {} of", 1, "dtype=float"),
    (integer_array, "x[0] is a formula, and has no value as a number: line {} of", 2, ""),
    (infinite, "inf is no number that a formula can hold: line {} of", 1, ""),
    (
        unknown_distribution,
        "scipy.stats.skewcauchy.logpdf is not supported on symbols: line {} of",
        1,
        "write its formula",
    ),
    (unknown_method, "scipy.stats.norm.moment is not supported on symbols: line {} of", 1, "write its formula"),
    (unknown_argument, "scipy.special.logsumexp: the argument return_sign is not supported: line {} of", 1, ""),
    (unknown_of_scipy, "scipy.linalg.schur computes with numbers, and X is a formula: line {} of", 1, ""),
    (of_math, "math.exp takes numbers, not arrays: line {} of", 1, "np.exp"),
    (residuals, "the residuals of np.linalg.lstsq is no formula: line {} of", 1, "rank"),
    (outside, "the subscript 4 is outside an axis of 4: line {} of", 1, ""),
    (counts, "np.bincount without minlength has a length that the data decide: line {} of", 1, "minlength"),
    (grows, "a result of shape (2, 4) does not fit an array of shape (4,): line {} of", 2, ""),
    (of_pythons_library, "the size n is no number yet: line {} of", 1, "declare n as a number"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("function", "message", "line", "hint"), FAULTS, ids=[f.__name__ for f, *_ in FAULTS])
def test_what_is_refused_shows_the_line(function, message, line, hint):
    with pytest.raises(mc.MatcalcError) as fault:
        mc.expression(function, LET)
    at = function.__code__.co_firstlineno + line
    assert str(fault.value).startswith(message.format(at))
    assert fault.value.text == Path(__file__).read_text(encoding="utf-8").split("\n")[at - 1]
    assert hint in str(fault.value)


OFFSET = 0.5


def shifted(x):
    return np.zeros(len(x)) + x + OFFSET


class Model:
    """A model whose loss is a method; its data are attributes."""

    def __init__(self, scale):
        self.scale = scale
        self.weights = np.array([1.0, 0.5, 2.0, 0.1])

    def residual(self, x):
        out = np.zeros(len(x))
        out += self.scale * x
        return out

    def loss(self, x):
        return np.sum(self.weights * self.residual(x) ** 2) + logsumexp(x)


def closure(data):
    def inner(x):
        z = np.zeros_like(data)
        z += data * x
        return z

    return inner


def with_imports(x):
    import numpy
    from scipy.special import softmax

    z = numpy.zeros(len(x))
    z[:] = softmax(x)
    return z


def recursive(x, depth=2):
    return shifted(x) if depth == 0 else recursive(x * 2, depth - 1)


def comprehension(x):
    return np.array([max(x[k], 0) for k in range(len(x))])


CODE = [
    (lambda x: shifted(x), shifted),
    (Model(2.0).loss, None),
    (closure(np.array([0.3, -0.2, 1.0, 2.0])), None),
    (with_imports, None),
    (recursive, None),
    (comprehension, None),
    (partial(recursive, depth=1), None),
]


@pytest.mark.parametrize(("function", "_"), CODE)
def test_helpers_methods_and_closures_are_traced(function, _):
    x = np.array([0.4, -0.3, 1.2, 0.9])
    e = mc.expression(function, LET)
    np.testing.assert_allclose(e(x=x), function(x=x), rtol=1e-12)


def test_tracing_changes_neither_modules_nor_functions():
    before = dict(vars(np)), dict(vars(math)), shifted.__globals__, len
    mc.expression(shifted, LET)
    assert (dict(vars(np)), dict(vars(math)), shifted.__globals__, len) == before
    assert isinstance(shifted(np.ones(4)), np.ndarray)


@pytest.mark.parametrize("function", [lambda x: np.sum(np.partition(x, 2)[:2]), lambda x: x[np.argpartition(x, 2)[0]]])
def test_partitions_are_refused_with_a_hint(function):
    with pytest.raises(mc.MatcalcError, match=r"write np\.sort\(x\)"):
        mc.expression(function, "x: vector(n)")
