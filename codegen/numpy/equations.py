"""Linear and Riccati matrix equations by Schur forms, which values and adjoints share: that of A serves A'."""

import numpy as np
from scipy import linalg

from matcalc.codegen.numpy.functions import is_triangular
from matcalc.codegen.numpy.linalg import exponent_of, getrf, lu_solve


def schur(X):
    """Return T, Z with X = Z*T*Z', T the real Schur form; NaN where X is not finite."""
    if X.size == 0 or not np.all(np.isfinite(X)):
        return np.full(X.shape, np.nan), np.full(X.shape, np.nan)
    return linalg.schur(X, check_finite=False)


def has_no_solution(C, *forms):
    """Whether a solution has no entries, or an argument is not finite."""
    return C.size == 0 or not all(np.all(np.isfinite(M)) for M in (C, *forms))


def sylvester(ta, T, Z, tb, S, W, C, fault):
    """Return X with op(A)*X + X*op(B) = C for A = Z*T*Z', B = W*S*W'; op transposes where its flag is 1."""
    if has_no_solution(C, T, S):
        return np.full(C.shape, np.nan)
    Y, scale, info = linalg.lapack.dtrsyl(T, S, Z.T @ C @ W, trana="NT"[ta], tranb="NT"[tb])
    if info != 0:
        raise np.linalg.LinAlgError(fault)
    return Z @ (Y / scale) @ W.T


def dlyapunov(t, T, Z, C, fault):
    """Return X with op(A)*X*op(A)' - X + C = 0 for A = Z*T*Z', column by column of the complex Schur form."""
    if has_no_solution(C, T):
        return np.full(C.shape, np.nan)
    n = len(C)
    U, Q = linalg.rsf2csf(T, Z, check_finite=False)
    if t:  # the adjoint of U is lower, and upper in reverse order
        U, Q = U.conj().T[::-1, ::-1], Q[:, ::-1]
    Y = -(Q.conj().T @ C @ Q)
    for j in range(n - 1, -1, -1):
        K = U * U[j, j].conj() - np.eye(n)
        if np.min(np.abs(np.diagonal(K))) <= n * np.finfo(float).eps * max(1.0, np.max(np.abs(K))):
            raise np.linalg.LinAlgError(fault)
        r = Y[:, j] - U @ (Y[:, j + 1 :] @ U[j, j + 1 :].conj())
        Y[:, j] = linalg.solve_triangular(K, r, check_finite=False)
    return np.real(Q @ Y @ Q.conj().T)


def signm(X, fault):
    """Return the sign of X: -1 on the invariant subspace of eigenvalues with negative real part, 1 on the other."""
    if X.size == 0 or not np.all(np.isfinite(X)):
        return np.full(X.shape, np.nan)
    T, Z, m = linalg.schur(X, sort="lhp", check_finite=False)
    close = 0.0 if is_triangular(X) else len(X) * np.finfo(float).eps * np.linalg.norm(T, 1)
    if np.min(np.abs(np.diagonal(T))) <= close:
        raise np.linalg.LinAlgError(fault)
    S = np.diag(np.where(np.arange(len(X)) < m, -1.0, 1.0))
    if 0 < m < len(X):
        U, scale, info = linalg.lapack.dtrsyl(T[:m, :m], T[m:, m:], -2.0 * T[:m, m:], isgn=-1)
        if info != 0:
            raise np.linalg.LinAlgError(fault)
        S[:m, m:] = U / scale
    return Z @ S @ Z.T


def input_weight(B, R, fault):
    """2^-e*B*inv(R)*B' of size 1, and e."""
    b, r = exponent_of(B), exponent_of(R)
    S = np.ldexp(R, -r)
    L, info = linalg.lapack.dpotrf((S + S.T) / 2.0, lower=1, clean=1)
    if info != 0:
        raise np.linalg.LinAlgError(fault)
    K = linalg.solve_triangular(L, np.ldexp(B, -b).T, lower=True) if B.size else np.zeros((0, len(B)))
    G = K.T @ K
    g = exponent_of(G)
    return np.ldexp(G, -g), g + 2 * b - r


def care(A, B, Q, R, fault):
    """Return the stabilising Y of A'*Y + Y*A - Y*B*inv(R)*B'*Y + Q = 0, by a stable subspace and Newton."""
    if has_no_solution(A, B, Q, R):
        return np.full(A.shape, np.nan)
    n = len(A)
    G, g = input_weight(B, R, fault)
    s = (exponent_of(Q) - g) // 2
    top = max(exponent_of(A), exponent_of(Q) - s, g + s)
    A, G, Q = np.ldexp(A, -top), np.ldexp(G, g + s - top), np.ldexp((Q + Q.T) / 2.0, -s - top)
    _, Z, count = linalg.schur(np.block([[A, -G], [-Q, -A.T]]), sort="lhp", check_finite=False)
    if count != n or np.any(np.diagonal(getrf(Z[:n, :n])[0]) == 0.0):
        raise np.linalg.LinAlgError(fault)
    Y = np.linalg.solve(Z[:n, :n].T, Z[n:, :n].T)
    Y = (Y + Y.T) / 2.0
    for _ in range(2):
        F = A - G @ Y
        E = Y @ (A + F)
        T, Z = schur(F)
        if not np.max(np.diagonal(T)) < -n * np.finfo(float).eps * np.linalg.norm(F, 1):
            raise np.linalg.LinAlgError(fault)
        Y = Y - sylvester(1, T, Z, 0, T, Z, (E + E.T) / 2.0 + Q, fault)
        Y = (Y + Y.T) / 2.0
    return np.ldexp(Y, s)


def dare(A, B, Q, R, fault):
    """Return the stabilising Y of A'*Y*A - Y - A'*Y*B*inv(R + B'*Y*B)*B'*Y*A + Q = 0, by doubling and Newton."""
    if has_no_solution(A, B, Q, R):
        return np.full(A.shape, np.nan)
    n = len(A)
    G, g = input_weight(B, R, fault)
    s = (exponent_of(Q) - g) // 2
    G, Q = np.ldexp(G, g + s), np.ldexp((Q + Q.T) / 2.0, -s)
    Y = doubled(A, G, Q, fault)
    for _ in range(2):
        F = lu_solve(0, *getrf(np.eye(n) + G @ Y), A, fault)
        E = A.T @ Y @ F - Y
        T, Z = schur(F)
        if not np.max(np.abs(np.linalg.eigvals(T))) < 1.0 - n * np.finfo(float).eps:
            raise np.linalg.LinAlgError(fault)
        Y = Y + dlyapunov(1, T, Z, (E + E.T) / 2.0 + Q, fault)
        Y = (Y + Y.T) / 2.0
    return np.ldexp(Y, s)


def doubled(A, G, Q, fault):
    """Return the solution of A'*Y*inv(1 + G*Y)*A - Y + Q = 0, to the accuracy of the doubling."""
    Y = Q
    for _ in range(60):
        F, p = getrf(np.eye(len(A)) + G @ Y)
        K, M = lu_solve(0, F, p, A, fault), lu_solve(0, F, p, G, fault)
        D = (Y @ A).T @ K
        Y = Y + (D + D.T) / 2.0
        if not np.all(np.isfinite(Y)):
            break
        if np.linalg.norm(D, 1) <= np.finfo(float).eps * np.linalg.norm(Y, 1):
            return Y
        G = G + A @ (M @ A.T)
        A, G = A @ K, (G + G.T) / 2.0
    raise np.linalg.LinAlgError(fault)
