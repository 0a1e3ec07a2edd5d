"""Statements that write to arrays: what both spellings leave in an array is what NumPy's own functions give."""

from itertools import product

import numpy as np
import pytest

from matcalc.compiler.code.code import Load, Name, Number
from matcalc.compiler.emit.writes import Place, Write, assigned, in_place, place, renewed


def set_at(X, at, body):
    """Return a copy of X with entries replaced."""
    X = X.copy()
    X[at] = body
    return X


def add_at(X, at, body):
    """Return a copy of X with entries added, each as often as it occurs."""
    X = X.copy()
    np.add.at(X, at, body)
    return X


def run(lines, **given):
    """Return the arrays after some lines."""
    names = {"np": np, "set_at": set_at, "add_at": add_at, **{name: np.copy(array) for name, array in given.items()}}
    for line in lines:
        exec(line, names)  # noqa: S102 - our own text
    return names


X = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(("adds", "order"), [*product([False, True], [(), (0, 2, 1), (1, 2, 0), (2, 0, 1), (2, 1, 0)])])
def test_whole_arrays(adds, order):
    write, seen = Write("X", "Y", adds=adds, order=order), X.transpose(order or (0, 1, 2))
    for Y in (np.random.default_rng(3).standard_normal(seen.shape), np.full((1, 1, seen.shape[2]), 2.0)):
        expected = np.zeros_like(X)
        for at in np.ndindex(*seen.shape):
            own = [0, 0, 0]
            for axis, k in zip(order or (0, 1, 2), at, strict=True):
                own[axis] = k
            expected[tuple(own)] = adds * X[tuple(own)] + np.broadcast_to(Y, seen.shape)[at]
        assert np.array_equal(run([in_place(write)], X=X, Y=Y)["X"], expected)
        assert np.array_equal(run(renewed(write), X=X, Y=Y)["X"], expected)


@pytest.mark.parametrize("adds", [False, True])
def test_a_matrix_that_is_transposed(adds):
    write, Y = Write("X", "Y", adds=adds, order=(1, 0)), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    expected = adds * X[:, 0, :3] + np.array([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])
    assert np.array_equal(run([in_place(write)], X=X[:, 0, :3], Y=Y)["X"], expected)
    assert np.array_equal(run(renewed(write), X=X[:, 0, :3], Y=Y)["X"], expected)


@pytest.mark.parametrize(
    ("at", "Y"),
    [(("1",), np.ones((3, 4))), (("0", "2"), np.arange(4.0)), (("1", "2", "0"), np.float64(7)),
     (("np.arange(2)", "i"), np.ones((2, 4))), (("i[0]",), np.ones((3, 4)))],
)  # fmt: skip
@pytest.mark.parametrize("adds", [False, True])
def test_entries(at, Y, adds):
    i = np.array([1, 2])
    write, expected = Write("X", "Y", at, adds), X.copy()
    index = tuple(eval(text, {"np": np, "i": i}) for text in at)  # noqa: S307 - our own text
    expected[index] = adds * expected[index] + Y
    assert np.array_equal(run([in_place(write)], X=X, Y=Y, i=i)["X"], expected)
    assert np.array_equal(run(renewed(write), X=X, Y=Y, i=i)["X"], expected)


def test_entries_that_occur_several_times():
    i, Y = np.array([1, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0])
    write = Write("x", "Y", ("i",), adds=True, repeats=True)
    for lines in ([in_place(write)], renewed(write)):
        assert np.array_equal(run(lines, x=np.ones(3), Y=Y, i=i)["x"], [3.0, 9.0, 1.0])


def test_several_results_of_a_call():
    places = (Place("a", is_new=True), Place("B"), Place("C", ("1",)), Place("D", ("0", "1")))
    statement, given = (
        assigned(places, "(p, q, r, s)"),
        {"B": np.zeros(2), "C": np.zeros((2, 2)), "D": np.zeros((2, 2))},
    )
    given |= {"p": np.ones(2), "q": np.full(2, 2.0), "r": np.full(2, 3.0), "s": np.float64(4)}
    for lines in ([in_place(statement)], renewed(statement)):
        found = run(lines, **given)
        assert np.array_equal(found["a"], [1, 1]) and np.array_equal(found["B"], [2, 2])
        assert np.array_equal(found["C"], [[0, 0], [3, 3]]) and np.array_equal(found["D"], [[0, 4], [0, 0]])


def test_arguments_of_the_caller_are_not_bound():
    """A result of one array in place keeps its memory; in the other spelling it is another array of its shape."""
    for body in ("np.float64(3)", "np.full(2, 3.0)"):
        statement = assigned((Place("B"),), body)
        assert in_place(statement) == f"B[...] = {body}"
        assert np.array_equal(run(renewed(statement), B=np.zeros(2))["B"], [3.0, 3.0])


def test_the_place_of_an_entry():
    assert place(Load(Name("X"), (Number(0), Name("i")))) == Place("X", ("0", "i"))
    assert place(Name("X"), True) == Place("X", (), True)
