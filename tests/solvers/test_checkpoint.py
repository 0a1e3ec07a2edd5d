"""Files of evaluations: truncated anywhere, or of other data with entries that are not finite."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import matcalc as mc
from matcalc.solvers.checkpoint import CHECK, MARK, Journal

POINT = np.array([1.0, 2.0])
ENTRIES = (1.0, 0.0, np.inf, -np.inf, np.nan)


def test_a_file_that_is_cut_anywhere_is_resumed(tmp_path: Path) -> None:
    """A kill or a full disk can end the file at any byte, even in its head: complete entries are used."""
    path, value = tmp_path / "fit", np.array([3.0, 4.0])
    Journal(path, "a formula").get("f", POINT, lambda: value)
    content = path.read_bytes()
    for end in range(len(content)):
        path.write_bytes(content[:end])
        assert np.array_equal(Journal(path, "a formula").get("f", POINT, lambda: value), value), end
        assert path.read_bytes() == content, end


def test_a_head_of_another_formula_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    Journal(path, "a formula")
    for size in range(len(MARK) + 1, len(MARK) + CHECK + 1):
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(ValueError, match="another formula"):
            Journal(path, "another")
        path.unlink()
        Journal(path, "a formula")


@pytest.mark.parametrize(("kept", "other"), list(product(ENTRIES, ENTRIES)))
def test_results_are_compared_where_others_are_not_finite(tmp_path: Path, kept: float, other: float) -> None:
    """Besides entries that are not finite, the rest decides whether the data are the same."""
    path, value = tmp_path / "fit", np.array([3.0, kept, 5.0])
    Journal(path, "a formula").get("f", POINT, lambda: value)
    same = Journal(path, "a formula").get("f", POINT, value.copy)
    assert np.array_equal(same, value, equal_nan=True)
    changed = [np.array([3.1, kept, 5.0]), np.array([3.0, kept, 5.1])]
    if not np.array_equal(kept, other, equal_nan=True):
        changed.append(np.array([3.0, other, 5.0]))
    for data in changed:
        with pytest.raises(ValueError, match="of other data"):
            Journal(path, "a formula").get("f", POINT, data.copy)


def loss(X, y, **more):
    """Return a fit with the same value and gradient at the start for all data: weights are 0, the loss is even."""
    return mc.solvers.rows("sum(cos(X*w))", "w", {"X": X}, start={"w": np.zeros(3)}, declarations=LET, **more)


LET = "X: matrix(m, n); w: vector(n)"
X = np.arange(12.0).reshape(4, 3)


def changes():
    """Yield arrays that differ from X in one respect each."""
    for at in np.ndindex(X.shape):
        yield X + 1e-9 * (np.indices(X.shape) == np.reshape(at, (2, 1, 1))).all(0)
    yield X[::-1]
    yield X[:3]
    yield np.vstack([X, X[:1]])


@pytest.mark.whole
def test_a_checkpoint_of_other_data_is_refused_though_the_start_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    first = loss(X, None, checkpoint=path, block=2)
    known = first.value_and_gradient(first.x0)
    for other in changes():
        with pytest.raises(ValueError, match="of other data"):
            loss(other, None, checkpoint=path)
    np.save(tmp_path / "X.npy", X)
    for same in (X.copy(), np.asfortranarray(X), X.astype(np.float32), X.tolist(), tmp_path / "X.npy"):
        for block in (1, 3, 100):
            again = loss(same, None, checkpoint=path, block=block)
            assert np.array_equal(again.value_and_gradient(again.x0)[1], known[1])


def test_shared_data_are_in_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "fit"

    def made(c):
        data = {"X": X, "c": c}
        return mc.solvers.rows(
            "sum(cos(X*w))*exp(c'*w)^2", "w", data, start={"w": np.zeros(3)}, declarations=f"{LET}; c: vector(n)",
            checkpoint=path,
        )  # fmt: skip

    made(np.ones(3))
    made(np.ones(3))
    with pytest.raises(ValueError, match="of other data"):
        made(np.full(3, 2.0))
