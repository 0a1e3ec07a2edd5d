"""Kernels on stored entries of sparse matrices, on both targets: against the dense matrix, and with damaged arrays."""

import numpy as np
import pytest
from codegen.running import KERNELS, fill

from matcalc.compiler.plan.sparse_data.sparse_forms import LINEAR, SIGNATURES

ORACLES = {  # the result of each; X and Z have the values v and u, `at` holds the indices of the stored entries
    "csr_mv": lambda X, w, **_: X @ w,
    "csr_tmv": lambda X, r, **_: X.T @ r,
    "csr_mm": lambda X, W, **_: X @ W,
    "csr_tmm": lambda X, R, **_: X.T @ R,
    "csr_rows": lambda at, d, **_: d[at[0]],
    "csr_columns": lambda at, e, **_: e[at[1]],
    "csr_entries": lambda at, M, **_: M[at],
    "csr_sampled": lambda at, U, V, **_: (U @ V.T)[at],
    "csr_gram": lambda X, Z, **_: X.T @ Z,
    "csr_outer": lambda X, Z, **_: X @ Z.T,
    "csr_forms": lambda X, Z, M, **_: np.einsum("ij,jk,ik->i", X, M, Z),
}
SIZES = [(4, 5, 1), (1, 1, 2), (5, 3, 4), (3, 4, 5), (2, 3, 11), (0, 3, 2), (3, 0, 2), (3, 4, 0)]


def operands(m, n, k, name, twice=False, seed=0):
    """Return operands by the letters of the patterns; with `twice`, store entries several times, in any order."""
    rng = np.random.default_rng([seed, m, n, k])
    counts = rng.integers(0, n + 1, m) if n else np.zeros(m, int)
    columns = [rng.integers(0, n, c) if twice else np.sort(rng.permutation(n)[:c]) for c in counts]
    c = np.concatenate([np.empty(0, int), *columns]).astype(np.int32)
    shapes = {"w": (n,), "r": (m,), "d": (m,), "e": (n,), "W": (n, k), "R": (m, k), "U": (m, k), "V": (n, k)}
    given = {letter: rng.standard_normal(shape) for letter, shape in shapes.items()}
    given["M"] = rng.standard_normal((n, n) if name == "csr_forms" else (m, n))
    given |= {"c": c, "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)}
    return given | {"v": rng.standard_normal(len(c)), "u": rng.standard_normal(len(c))}


def expected(name, given, m, n):
    at = np.repeat(np.arange(m), np.diff(given["starts"])), given["c"]
    X, Z = np.zeros((m, n)), np.zeros((m, n))
    np.add.at(X, at, given["v"])
    np.add.at(Z, at, given["u"])
    return ORACLES[name](**{**given, "X": X, "Z": Z, "at": at})


def run(name, target, given, shape, n, names):
    """Return the result, and the status of the form for Numba."""
    k = KERNELS[name]
    fields = {a.name: a.name for a in k.factors[0].args} | {"j": str(n), "fault": "'fault'"}
    out = k.results[0].name
    if target == "numpy":
        return eval(fill(k.templates["numpy"], fields), names | given)
    space = {name: names[name], **given, out: np.full(shape, np.nan)}
    status = eval(fill(k.templates["numba"], fields | {out: out}), space)
    if status:
        raise np.linalg.LinAlgError("fault")
    return space[out]


@pytest.fixture
def names(request):
    return {target: request.getfixturevalue(f"{target}_names") for target in ("numpy", "numba")}


def test_each_has_an_oracle():
    assert set(ORACLES) == set(SIGNATURES) == {n for n in KERNELS if n.startswith("csr_")}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", ORACLES)
def test_kernels(name, target, names):
    for m, n, k in SIZES:
        for twice in (False, True) if name in LINEAR else (False,):
            given = operands(m, n, k, name, twice)
            want = expected(name, given, m, n)
            for array in given.values():
                array.flags.writeable = False
            found = run(name, target, given, want.shape, n, names[target])
            np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-12, err_msg=f"{m} x {n}, {k}")


@pytest.mark.thinned(2)
@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", ORACLES)
def test_damaged_arrays(name, target, names):
    """An index outside the matrix is a fault before anything is read or written there."""
    m, n, k = 5, 6, 3
    for part, place, value in (
        ("c", 0, n), ("c", -1, -1), ("c", 1, 2**31 - 1), ("c", 1, -(2**31)), ("starts", 0, -1), ("starts", 2, 99),
        ("starts", -1, 999), ("starts", 1, -5), ("starts", 0, 1),
    ):  # fmt: skip
        given = operands(m, n, k, name, seed=3)
        assert len(given["c"]) > 3
        shape = expected(name, given, m, n).shape
        given[part][place] = value
        if name == "csr_outer" and part == "c":
            continue  # columns are only compared with each other
        if name == "csr_rows" and part == "c":
            continue  # columns are not read
        if name == "csr_columns" and part == "starts" and place not in (0, -1):
            continue  # starts of inner rows are not read
        with pytest.raises(np.linalg.LinAlgError, match="fault"):
            run(name, target, given, shape, n, names[target])
