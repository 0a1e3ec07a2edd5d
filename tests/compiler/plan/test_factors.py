"""Factorised matrices may be transposed, even twice: every use of a factorisation, in every notation of its matrix.

A matrix that is an operation's result is oriented with its operands, so `inv(sqrtm(T*S)')` keeps its transpose inside.
The product around it may read it transposed again.
"""

import re

import numpy as np
import pytest
import scipy.linalg as sl

import matcalc as mc

LET = """A: matrix(n, n); S: matrix(n, n) spd; T: matrix(n, n) spd; B: matrix(n, n); C: matrix(n, k)
D: matrix(k, n); b: vector(n)"""
MATRICES = {
    "A": lambda v: v["A"], "A'": lambda v: v["A"].T,
    "A*T": lambda v: v["A"] @ v["T"], "(A*T)'": lambda v: (v["A"] @ v["T"]).T,
    "sqrtm(T*S)": lambda v: sl.sqrtm(v["T"] @ v["S"]), "sqrtm(T*S)'": lambda v: sl.sqrtm(v["T"] @ v["S"]).T,
    "expm(T*S/100)": lambda v: sl.expm(v["T"] @ v["S"] / 100),
    "expm(S*T/100)'": lambda v: sl.expm(v["S"] @ v["T"] / 100).T,
    "S": lambda v: v["S"], "sqrtm(S)'": lambda v: sl.sqrtm(v["S"]).T,
}  # fmt: skip
USES = {
    "inv({})*b": lambda M, v: np.linalg.inv(M) @ v["b"], "inv({})'*b": lambda M, v: np.linalg.inv(M).T @ v["b"],
    "inv({})*C": lambda M, v: np.linalg.inv(M) @ v["C"], "inv({})'*C": lambda M, v: np.linalg.inv(M).T @ v["C"],
    "D*inv({})": lambda M, v: v["D"] @ np.linalg.inv(M), "D*inv({})'": lambda M, v: v["D"] @ np.linalg.inv(M).T,
    "C'*inv({})": lambda M, v: v["C"].T @ np.linalg.inv(M), "inv({})*D'": lambda M, v: np.linalg.inv(M) @ v["D"].T,
    "inv({})'*D'": lambda M, v: np.linalg.inv(M).T @ v["D"].T,
    "C'*inv({})'": lambda M, v: v["C"].T @ np.linalg.inv(M).T,
    "T*inv({})": lambda M, v: v["T"] @ np.linalg.inv(M), "T*inv({})'": lambda M, v: v["T"] @ np.linalg.inv(M).T,
    "inv({})": lambda M, v: np.linalg.inv(M), "det({})": lambda M, v: np.linalg.det(M),
    "adj({})": lambda M, v: np.linalg.det(M) * np.linalg.inv(M), "logdet({})": lambda M, v: np.linalg.slogdet(M)[1],
    "sylvester({}, S, B)": lambda M, v: sl.solve_sylvester(M, v["S"], v["B"]),
    "sylvester(S, {}, B)": lambda M, v: sl.solve_sylvester(v["S"], M, v["B"]),
    "lyapunov({}, B)": lambda M, v: sl.solve_continuous_lyapunov(M, v["B"]),
    "dlyapunov({}/20, B)": lambda M, v: sl.solve_discrete_lyapunov(M / 20, v["B"]),
    "expm({}/5)": lambda M, v: sl.expm(M / 5), "expm({}/5, B)": lambda M, v: sl.expm_frechet(M / 5, v["B"])[1],
}  # fmt: skip


def data(n, k):
    rng = np.random.default_rng(10 * n + k)

    def spd():
        X = rng.normal(size=(n, n))
        return X @ X.T / n + 2 * np.eye(n)

    return {
        "A": rng.normal(size=(n, n)) / 2 + 3 * np.eye(n), "S": spd(), "T": spd(), "B": rng.normal(size=(n, n)),
        "C": rng.normal(size=(n, k)), "D": rng.normal(size=(k, n)), "b": rng.normal(size=n),
    }  # fmt: skip


def check(fn, uses, sizes):
    for n, k in sizes:
        v = data(n, k)
        found = fn(*[v[name] for name in fn.args])
        for value, (matrix, use) in zip(found, uses, strict=True):
            wanted = USES[use](MATRICES[matrix](v), v)
            assert np.allclose(value, wanted, rtol=1e-9, atol=1e-9 * np.max(np.abs(wanted))), (matrix, use, n, k)


@pytest.mark.parametrize("matrix", MATRICES)
@pytest.mark.sampled(10)
def test_every_use_of_every_matrix(matrix):
    for use in USES:
        fn = mc.compile([mc.expression(use.format(f"({matrix})"), LET)], target="numpy")
        check(fn, [(matrix, use)], [(1, 1), (2, 3), (3, 3), (5, 2)])


@pytest.mark.whole
def test_uses_that_share_a_factorisation():
    """All uses of one matrix in one function, which factorises it once."""
    uses = [("sqrtm(T*S)'", use) for use in USES]
    fn = mc.compile([mc.expression(use.format(f"({matrix})"), LET) for matrix, use in uses])
    assert len(re.findall(r"^ *getrf\(", fn.source, re.M)) == 1
    check(fn, uses, [(1, 1), (2, 3), (3, 3), (5, 2)])
