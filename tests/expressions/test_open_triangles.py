"""Subscripts of triangles whose size is open: reads, writes, and condensed distances are those of NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import matcalc as mc
from matcalc.errors import MatcalcError

FUNCTIONS: dict[str, Callable[[int], Callable[[Any], Any]]] = {
    "upper": lambda k: lambda X: X[np.triu_indices(len(X), k)],
    "lower": lambda k: lambda X: X[np.tril_indices(len(X), -k)],
    "upper_from": lambda k: lambda X: X[np.triu_indices_from(X, k)],
    "swapped": lambda k: lambda X: X[np.tril_indices(X.shape[0], -k)[::-1]],
    "rows": lambda k: lambda X: X[np.triu_indices(len(X), k)[0]] * np.triu_indices(len(X), k)[1][:, None],
    "columns": lambda k: lambda X: X[:, np.tril_indices(len(X), -k)[1]],
    "gaps": lambda k: lambda X: np.subtract(*np.tril_indices(len(X), -k)) + X[np.tril_indices(len(X), -k)],
    "written": lambda k: lambda X: _written(np.zeros(X.shape), np.tril_indices_from(X, -k), X),
}


def _written(Z: Any, at: Any, X: Any) -> Any:
    Z[at] = np.exp(X[at])
    return Z + Z.T


@pytest.mark.sampled(3)
@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_triangles_of_open_size(name: str, k: int) -> None:
    function = FUNCTIONS[name](k)
    e = mc.expression(function, "X: matrix(n, n)")
    for n in (k, k + 1, 5):
        X = np.random.default_rng(n).normal(size=(n, n))
        assert np.allclose(e(X), function(X), rtol=1e-14)


@pytest.mark.whole
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_triangles(name: str) -> None:
    function = FUNCTIONS[name](1)
    fn = mc.compile(function, declarations="X: matrix(n, n)")
    for n in (1, 2, 6):
        X = np.random.default_rng(n).normal(size=(n, n))
        assert np.allclose(fn(X), function(X), rtol=1e-14)


def test_shifted_sides() -> None:
    e = mc.expression(lambda x: x[np.triu_indices(x.shape[0], 1)[0] + 1], "x: vector(n)")
    x = np.arange(4.0)
    assert np.array_equal(e(x), x[np.triu_indices(4, 1)[0] + 1])


@pytest.mark.whole
def test_squareform_of_computed_distances() -> None:
    def kernel(X: Any) -> Any:
        return squareform(np.exp(-pdist(X)))

    e = mc.expression(kernel, "X: matrix(n, d)")
    X = np.random.default_rng(0).normal(size=(5, 2))
    assert np.allclose(e(X), kernel(X), rtol=1e-14)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X: X[np.triu_indices(len(X), -1)], "past the diagonal"),
        (lambda X: X[np.triu_indices(len(X), 1, 7)], "of a rectangle"),
        (lambda X: _filled(X, 1.0), "both:  A[i, j] = v"),
        (lambda X: squareform(X[0]), "vector(n*(n - 1)//2)"),
        (lambda X: X[:2][np.triu_indices(len(X), 1)], "leaves an axis of 2"),
    ],
)
def test_refused_triangles(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(MatcalcError) as found:
        e = mc.expression(function, "X: matrix(n, n)")
        e(np.ones((5, 5)))
    assert message in str(found.value)


def _filled(X: Any, value: Any) -> Any:
    Z = X.copy()
    Z[np.triu_indices(len(X), 1)[0]] = value
    return Z
