"""Kernels tested by properties of their results: factors, parts, sign conventions, singular inputs."""

import numpy as np
import pytest
from codegen.oracles import FACTS, along, along_all, cofactors, pfaffian
from codegen.running import KERNELS, SIZES, both, compare, run_numba
from scipy import linalg

from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.oracle import oracle


@pytest.mark.whole
@pytest.mark.sampled(4)
@pytest.mark.parametrize("n", SIZES)
def test_eigenvectors(n, numba_names, numpy_names):
    S = FACTS["symmetric"](np.random.default_rng(n).standard_normal((n, n)))
    for got in both("eigh", {"S": S}, {"i": n}, numba_names, numpy_names):
        w, V = got["w"], got["V"]
        compare(V @ np.diag(w) @ V.T, S, n)
        compare(V.T @ V, np.eye(n), n)
        assert np.all(np.diff(w) >= 0)
        assert all(V[np.argmax(np.abs(V[:, j])), j] > 0 for j in range(n))
    for got in both("eigvalsh", {"S": S}, {"i": n}, numba_names, numpy_names):
        compare(got["w"], w, n)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", SIZES)
def test_schur_form(n, numba_names, numpy_names):
    X = np.random.default_rng(n).standard_normal((n, n))
    for got, turn in zip(both("schur", {"X": X}, {"i": n}, numba_names, numpy_names), (True, False), strict=True):
        T, Z = (got["T"].T, got["Z"].T) if turn else (got["T"], got["Z"])
        compare(Z @ T @ Z.T, X.T if turn else X, n)
        compare(Z.T @ Z, np.eye(n), n)
        assert np.all(np.tril(T, -2) == 0)


@pytest.mark.parametrize("size", [0.1, 1.0, 30.0, 1e40])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.whole
def test_parts_of_the_exponential(n, size, numba_names, numpy_names):
    X = size * np.random.default_rng(n).standard_normal((n, n)) / np.sqrt(max(n, 1))
    for got in both("pade", {"X": X}, {"i": n, "j": 7 * n, "k": 2}, numba_names, numpy_names):
        A2, A4, A6, over, F, R, A = got["P"].reshape(7, n, n)
        s, first = got["h"]
        compare(np.ldexp(A, int(first)), X, n)
        compare(A2, A @ A, n)
        compare(A4, A2 @ A2, n)
        compare(A6, A2 @ A4, n)
        compare(R, linalg.expm(np.ldexp(A, -int(max(s, 0)))), n)


@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (1, 1), (2, 5), (5, 2), (7, 7), (40, 9), (9, 40)])
@pytest.mark.whole
def test_singular_vectors_and_qr(m, n, numba_names, numpy_names):
    X = np.random.default_rng(m + n).standard_normal((m, n))
    sizes = {"m": m, "n": n, "k": min(m, n)}
    for got in both("svd", {"X": X}, sizes, numba_names, numpy_names):
        U, s, V = got["U"], got["s"], got["V"]
        compare(U @ np.diag(s) @ V.T, X, (m, n))
        compare(U.T @ U, np.eye(min(m, n)), (m, n))
        compare(V.T @ V, np.eye(min(m, n)), (m, n))
        assert np.all(np.diff(s) <= 0)
        assert all(U[np.argmax(np.abs(U[:, j])), j] > 0 for j in range(min(m, n)))
    for got in both("svdvals", {"X": X}, sizes, numba_names, numpy_names):
        compare(got["s"], s, (m, n))
    for got in both("qr", {"X": X}, sizes, numba_names, numpy_names):
        Q, R = got["Q"], got["R"]
        compare(Q @ R, X, (m, n))
        compare(Q.T @ Q, np.eye(min(m, n)), (m, n))
        assert np.all(np.tril(R, -1) == 0) and np.all(np.diagonal(R) >= 0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", SIZES)
def test_sign_and_logarithm_of_the_determinant(n, numba_names, numpy_names):
    X = np.random.default_rng(n).standard_normal((n, n))
    for name, want in zip(("lu_sign", "lu_logabsdet"), np.linalg.slogdet(X), strict=True):
        for got in both(name, {"X": X}, {"i": n}, numba_names, numpy_names):
            compare(next(iter(got.values())), want, n)


@pytest.mark.parametrize(("m", "n"), [(0, 3), (3, 0), (1, 1), (4, 6), (6, 2)])
def test_powers_in_columns(m, n, numba_names):
    x, V = np.random.default_rng(m).standard_normal(m), np.zeros((m, n))
    numba_names["vander"](x, V)
    compare(V, np.vander(x, n), (m, n))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("x", [[2.0, 1, 2, 5], [1, 1, 1], [3, np.inf, -np.inf, 1], [np.nan, 1, 2], [1e308, 1.5e308]])
def test_median_of_ties_and_of_what_is_not_finite(x, numba_names):
    x = np.array(x, float)
    want = x[0] / 2 + x[1] / 2 if len(x) == 2 else np.median(x)
    np.testing.assert_equal(numba_names["median"](x), want)
    y = np.zeros(len(x))
    numba_names["median_at"](x, y)
    book = default_rulebook()
    np.testing.assert_equal(y, oracle(book, book.get("median_at"))(x))


@pytest.mark.parametrize("rank", range(4))
@pytest.mark.whole
def test_adjugate_at_any_rank(rank, numba_names, numpy_names):
    rng = np.random.default_rng(rank)
    X = rng.integers(-3, 4, (4, rank)).astype(float) @ rng.integers(-3, 4, (rank, 4)).astype(float)
    X[:, 3] = X[:, 0]
    E = rng.standard_normal((4, 4))
    for got in both("adj", {"X": X}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], cofactors(X), rank, 1e-9)
    for got in both("adj_along", {"X": X, "E": E}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], along(cofactors, X, E), rank, 1e-9)
    F = rng.standard_normal((4, 4))
    for got in both("adj_along_two", {"X": X, "E": E, "F": F}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], along_all(cofactors, X, E, F), rank, 1e-8)


@pytest.mark.parametrize("gap", [1.0, 0.1, 1e-3, 1e-9, 1e-15, 0.0])
@pytest.mark.whole
def test_second_differentials_at_any_gap(gap, numba_names, numpy_names):
    """Along two tangents: by the first divided differences of x^5 for wide gaps, else from samples."""
    rng = np.random.default_rng(5)
    w = np.array([1.0, 1.0 + gap, 1.0 + 2 * gap, 3.0, 3.0, -2.0, 0.0])[rng.permutation(7)]
    near = np.abs(w[:, None] - w) <= 0.25
    R = np.max(np.where(near, np.abs(w[:, None] - w), 0.0), axis=1)
    a, b = np.meshgrid(w, w, indexing="ij")
    D = a**4 + a**3 * b + a**2 * b**2 + a * b**3 + b**4
    T = 10 * (w[:, None] + 2 * R[:, None] * np.cos(np.pi / 32 * (2 * np.arange(16) + 1))) ** 3
    E, F = rng.standard_normal((2, 7, 7))
    a, b, c = np.meshgrid(w, w, w, indexing="ij")
    Q = sum(a**i * b**j * c ** (3 - i - j) for i in range(4) for j in range(4 - i))
    wanted = np.einsum("ikj,ik,kj->ij", Q, E, F) + np.einsum("ikj,ik,kj->ij", Q, F, E)
    given = {"w": w, "R": R, "D": D, "T": T, "E": E, "F": F}
    for got in both("along_twice", given, {"i": 7, "q": 16}, numba_names, numpy_names):
        compare(got["Y"], wanted, gap, 1e-13)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 6, 7, 40])
@pytest.mark.whole
def test_pfaffian(n, numba_names, numpy_names):
    rng = np.random.default_rng(n)
    A, E = (M - M.T for M in rng.standard_normal((2, n, n)))
    want = np.sqrt(np.abs(np.linalg.det(A))) if n % 2 == 0 else 0.0
    adjoint = want * np.linalg.inv(A).T if n % 2 == 0 else np.zeros((n, n))
    second = adjoint * np.trace(adjoint.T @ E) / want / 2 + adjoint @ E @ adjoint / want if n % 2 == 0 else adjoint
    sign = np.sign(pfaffian(A)) if n < 7 else None
    for name, value, data in (("", want, {}), ("_adj", adjoint, {}), ("_adj_along", second, {"E": E})):
        for got in both(f"pfaffian{name}", {"A": A, **data}, {"i": n}, numba_names, numpy_names):
            (found,) = got.values()
            if n % 2 == 0:
                sign = sign or np.sign(found)
                value_here = sign * value
            else:
                value_here = value
            compare(found, value_here, (name, n))


@pytest.mark.parametrize("rank", [0, 2, 4])
@pytest.mark.whole
def test_pfaffian_at_low_rank(rank, numba_names, numpy_names):
    """The Pfaffian is a polynomial, so differences of it are exact."""
    rng = np.random.default_rng(rank)
    A, E, D = (M - M.T for M in rng.standard_normal((3, 6, 6)))
    Q = np.linalg.qr(rng.standard_normal((6, rank)))[0]
    A = Q @ Q.T @ A @ Q @ Q.T
    for got in both("pfaffian_adj", {"A": A}, {"i": 6}, numba_names, numpy_names):
        compare(np.sum(got["C"] * D) / 2, along(pfaffian, A, D), rank)
    for got in both("pfaffian_adj_along", {"A": A, "E": E}, {"i": 6}, numba_names, numpy_names):
        compare(np.sum(got["C"] * D) / 2, along(lambda M: along(pfaffian, M, D), A, E), rank)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("m", "n"), [(0, 0), (0, 3), (1, 1), (2, 5), (5, 2), (7, 7), (40, 9)])
def test_triangular_factors(m, n, numba_names, numpy_names):
    X = np.random.default_rng(m + n).standard_normal((m, n))
    k = min(m, n)
    for got in both("lu", {"X": X}, {"m": m, "n": n, "k": k}, numba_names, numpy_names):
        P, L, U = got["P"], got["L"], got["U"]
        compare(P @ L @ U, X, (m, n))
        compare(P.T @ P, np.eye(m), (m, n))
        assert np.all(np.triu(L, 1) == 0) and np.all(np.tril(U, -1) == 0) and np.all(np.diagonal(L) == 1)
        assert np.max(np.abs(L), initial=0.0) <= 1


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.whole
def test_real_eigenvectors(n, numba_names, numpy_names):
    X = np.random.default_rng(n).standard_normal((n, n)) / 10 + np.diag(np.arange(n, 0.0, -1))
    for got in both("eig", {"X": X}, {"i": n}, numba_names, numpy_names):
        w, V = got["w"], got["V"]
        compare(X @ V, V * w, n)
        compare(np.linalg.norm(V, axis=0), np.ones(n), n)
        assert np.all(np.diff(w) > 0)
        assert all(V[np.argmax(np.abs(V[:, j])), j] > 0 for j in range(n))
    for got in both("eigvals", {"X": X}, {"i": n}, numba_names, numpy_names):
        compare(got["w"], w, n)


@pytest.mark.whole
@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", SIZES)
def test_order_keeps_equal_entries_and_puts_nan_last(n, numba_names, numpy_names):
    x = np.random.default_rng(n).integers(0, 5, n).astype(float)
    x[: n // 3] = np.nan
    for got in both("sort_order", {"x": x}, {"i": n}, numba_names, numpy_names):
        np.testing.assert_array_equal(got["p"], np.argsort(x, kind="stable"))
    b = np.arange(1.0, n + 1)
    P = np.eye(n)[np.argsort(x, kind="stable")]
    sizes = {"i": n, "j": n}
    for name, data, want in (("sort_P", {}, P), ("permuted", {"b": b}, P @ b), ("unsort", {"b": b}, P.T @ b)):
        for got in both(name, {"x": x, **data}, sizes, numba_names, numpy_names):
            np.testing.assert_array_equal(next(iter(got.values())), want)


@pytest.mark.whole
def test_ties_and_low_rank(numba_names, numpy_names):
    for got in both("eig_top", {"S": np.diag([1.0, 3.0, 3.0, 4.0])}, {"i": 4}, numba_names, numpy_names):
        compare(got["C"], np.diag([0.0, 0.5, 0.5, 1.0]), "tie")
    for got in both("svd_top", {"X": 2 * np.eye(3, 2)}, {"m": 3, "n": 2}, numba_names, numpy_names):
        compare(got["C"], np.eye(3, 2) / 2, "tie")
    X = np.outer(np.arange(5.0), np.ones(3))
    for got in both("pinv", {"X": X}, {"m": 5, "n": 3}, numba_names, numpy_names):
        compare(got["C"], X.T / np.sum(X * X), "rank 1")


@pytest.mark.whole
def test_derivative_of_expm_is_linear_in_the_tangent(numba_names):
    rng = np.random.default_rng(1)
    X, E = rng.standard_normal((2, 6, 6))
    sizes = {"i": 6}
    unit = run_numba(KERNELS["expm_along"], {"X": 3 * X, "E": E}, (), sizes, numba_names)["C"]
    for scale in (1e-150, 1e-8, 1e16, 1e150):
        got = run_numba(KERNELS["expm_along"], {"X": 3 * X, "E": scale * E}, (), sizes, numba_names)["C"]
        compare(got / scale, unit, scale, 1e-12)
