"""Matrices of more entries than 32 bits count: 46,341 x 46,341, of which few pages are ever touched."""

import mmap

import numpy as np
import pytest

import matcalc as mc

N = 46_341
VALUES = {
    "tr(X)": 3.0 + 11.0,
    "X[n-1, n-1] + 2*X[n-1, 0]": 3.0 + 2 * 5.0,
    "sum(X[:, n-1])": 3.0 + 7.0,
    "X[n-2, :]'*ones(n)": 7.0,
}


@pytest.fixture(scope="module")
def matrix():
    if not hasattr(mmap, "MADV_NOHUGEPAGE"):
        pytest.skip("pages are small on Linux alone")
    try:
        memory = mmap.mmap(-1, 8 * N * N)
    except OSError:
        pytest.skip(f"{N}^2 numbers have no address here")
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    X = np.frombuffer(memory).reshape(N, N)
    X[N - 1, N - 1], X[N - 1, 0], X[N - 2, N - 1], X[0, 0] = 3.0, 5.0, 7.0, 11.0
    return X


@pytest.mark.sampled(4)
@pytest.mark.parametrize("formula", VALUES)
def test_places_beyond_32_bits(matrix, formula):
    assert mc.compile(formula, declarations="X: matrix(n, n)", name="large")(matrix) == VALUES[formula]


@pytest.mark.long
def test_gradients_beyond_32_bits_are_written_where_they_belong(matrix):
    run = mc.value_and_gradient("X[n-2, n-1] + 4*X[n-1, 0]", "X", declarations="X: matrix(n, n)", name="large_gradient")
    try:
        value, gradient = run(matrix)
    except MemoryError:
        pytest.skip("there is no memory for the gradient")
    assert value == 7.0 + 4 * 5.0
    places = [(N - 1, 0), (N - 2, N - 1), (N - 1, 1), (N - 2, N - 2)]
    assert [gradient[place] for place in places] == [4.0, 1.0, 0.0, 0.0]
