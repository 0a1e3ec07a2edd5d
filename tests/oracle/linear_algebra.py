"""Operations of matrices in plain NumPy, analytic as written where possible (see functions.py)."""

import numpy as np
import scipy.linalg as sl

from oracle.arrays import NotAnalytic, column, integer, real_only, scalar


def determinant(X):
    return scalar(np.linalg.det(X)) if X.shape[0] else scalar(1.0)


def logdet(X):
    value = np.linalg.det(X)
    return scalar(np.log(value * np.sign(value.real)))


def adjugate(X):
    n = X.shape[0]
    cofactors = np.ones_like(X)
    for i in range(n):
        for j in range(n):
            minor = np.delete(np.delete(X, i, 0), j, 1)
            cofactors[j, i] = (-1) ** (i + j) * (np.linalg.det(minor) if n > 1 else 1.0)
    return cofactors


def pinv(X):
    if not np.iscomplexobj(X):
        return np.linalg.pinv(X)
    if X.shape[0] >= X.shape[1]:
        return np.linalg.solve(X.T @ X, X.T)
    return np.linalg.solve(X @ X.T, X).T


def cholesky(S):
    L = np.zeros_like(S)
    for j in range(S.shape[0]):
        L[j, j] = np.sqrt(S[j, j] - L[j, :j] @ L[j, :j])
        for i in range(j + 1, S.shape[0]):
            L[i, j] = (S[i, j] - L[i, :j] @ L[j, :j]) / L[j, j]
    return L


def qr(X):
    """Return thin QR with positive diagonal of R, from the normal equations of the leading square part."""
    k = min(X.shape)
    if np.iscomplexobj(X):
        R1 = cholesky(X[:, :k].T @ X[:, :k]).T
        Q = np.linalg.solve(R1.T, X[:, :k].T).T
        return Q, Q.T @ X
    Q, R = np.linalg.qr(X)
    signs = np.where(np.diag(R) < 0, -1.0, 1.0)
    return Q * signs, signs[:, None] * R


def lu_inverse(X):
    """Return the inverse of U with zeros for the last row of X, by which LU does not divide."""
    used = min(X.shape[0] - 1, X.shape[1])
    T = np.zeros((min(X.shape),) * 2)
    T[:used, :used] = np.linalg.inv(sl.lu(X)[2][:used, :used])
    return T


def eigh(S):
    if not np.all(np.isfinite(S)):  # LAPACK may return numbers for entries that it does not read
        raise np.linalg.LinAlgError("a matrix with infs or NaNs")
    w, V = np.linalg.eigh(real_only((S + S.T) / 2))
    return w, fix_signs(V)


def fix_signs(V):
    """Make the entry of largest magnitude in each column positive."""
    return V * np.where(V[np.argmax(np.abs(V), 0), np.arange(V.shape[1])] < 0, -1.0, 1.0)


def svd(X):
    U, s, Vt = np.linalg.svd(real_only(X), full_matrices=False)
    signs = np.where(U[np.argmax(np.abs(U), 0), np.arange(U.shape[1])] < 0, -1.0, 1.0)
    return U * signs, s, Vt.T * signs


def sylvester(A, B, C):
    m, n = C.shape
    system = np.kron(np.eye(n), A) + np.kron(B.T, np.eye(m))
    return np.linalg.solve(system, C.reshape(-1, 1, order="F")).reshape(m, n, order="F")


def phi(M):
    return np.tril(M) - np.diag(np.diag(M)) / 2


def spectral(f, S):
    if np.iscomplexobj(S):
        raise NotAnalytic
    w, V = eigh(S)
    return (V * f(w)) @ V.T


def signm(X):
    """Return the sign of a matrix by its eigenvectors: each eigenvalue becomes the sign of its real part."""
    w, V = np.linalg.eig(X)
    if np.any(np.abs(w.real) <= 1e-12 * np.max(np.abs(w), initial=0.0)):
        raise np.linalg.LinAlgError("an eigenvalue on the imaginary axis")
    found = (V * np.sign(w.real)) @ np.linalg.inv(V)
    return found if np.iscomplexobj(X) else found.real


def matfun(f, S, *E):
    """Return a function of a symmetric matrix, or its derivative along E; equal eigenvalues take the slope."""
    w, V = eigh(S)
    value = np.asarray(f(w.reshape(1, -1))).reshape(-1)
    if not E:
        return (V * value) @ V.T
    if len(E) > 1:
        raise NotImplementedError("matfun along several directions")
    slope = np.asarray(f(w.reshape(1, -1) + 1e-30j)).imag.reshape(-1) / 1e-30
    gaps = w[:, None] - w
    is_tied = np.abs(gaps) <= 1e-9 * np.max(np.abs(w), initial=0.0)
    slopes = (slope[:, None] + slope) / 2
    divided = np.where(is_tied, slopes, (value[:, None] - value) / np.where(is_tied, 1.0, gaps))
    return V @ (divided * (V.T @ E[0] @ V)) @ V.T


def divided_difference(f, a, *points):
    """Return f(a), or (f(a) - f(b))/(a - b), the derivative where a is b."""
    if not points:
        return f(a)
    (b,) = points
    slope = np.asarray(f(a.real + 1e-30j)).imag / 1e-30
    gap = np.where(a == b, 1.0, a - b)
    return np.where(a == b, slope, (f(a) - f(b)) / gap)


def along_block(f):
    """Return a function of a matrix with its derivative along E: the upper right block of f([X, E; 0, X])."""

    def of(X, *E):
        if not E:
            return f(X)
        if len(E) > 1:
            raise NotImplementedError("along several directions")
        n = X.shape[0]
        return f(np.block([[X, E[0]], [np.zeros_like(X), X]]))[:n, n:]

    return of


def along_step(f):
    """Return a function with its derivative along E by a complex step."""

    def of(X, *E):
        if len(E) > 1:
            raise NotImplementedError("along several directions")
        return f(real_only(X) + 1e-30j * real_only(E[0])).imag / 1e-30 if E else f(X)

    return of


def gapdiv(w, K):
    gaps = w.reshape(1, -1) - w.reshape(-1, 1)
    return np.where(gaps == 0, 0.0, K / np.where(gaps == 0, 1.0, gaps))


def matrix_power(A, p):
    if p == round(p):
        return np.linalg.matrix_power(A, round(p))
    if np.iscomplexobj(A) or not np.allclose(A, A.T):
        return real_where_real(lambda X: sl.expm(p * sl.logm(X)), A)
    return spectral(lambda w: w**p, A)


def real_where_real(f, X):
    """Return a matrix function that must be real at a real matrix; it is undefined for a negative eigenvalue."""
    value = f(X)
    if np.iscomplexobj(X):
        return value
    if np.max(np.abs(value.imag), initial=0.0) > 1e-9 * (1 + np.max(np.abs(value), initial=0.0)):
        raise np.linalg.LinAlgError("not real")
    return value.real


def square_root(X):
    """Return the square root of a matrix; a singular one has none in general, unless it is symmetric."""
    if np.isrealobj(X) and not np.allclose(X, X.T) and np.linalg.cond(X) > 1e13:
        raise np.linalg.LinAlgError("singular")
    return real_where_real(sl.sqrtm, X)


LINEAR_ALGEBRA = {
    "inv": np.linalg.inv,
    "pinv": pinv,
    "det": determinant,
    "logdet": logdet,
    "adj": along_step(adjugate),
    "solve": lambda A, B: np.linalg.solve(A, B) if A.shape[0] == A.shape[1] else pinv(A) @ B,
    "sylvester": sylvester,
    "lyapunov": lambda A, Q: sylvester(A, A.T, Q),
    "dlyapunov": lambda A, Q: sl.solve_discrete_lyapunov(real_only(A), real_only(Q)),
    "chol": cholesky,
    "qr_Q": lambda X: qr(X)[0],
    "qr_R": lambda X: qr(X)[1],
    "lu_P": lambda X: sl.lu(real_only(X))[0],
    "lu_L": lambda X: sl.lu(real_only(X))[1],
    "lu_U": lambda X: sl.lu(real_only(X))[2],
    "svd_U": lambda X: svd(X)[0],
    "svd_s": lambda X: column(svd(X)[1]),
    "svd_V": lambda X: svd(X)[2],
    "eigvalsh": lambda S, *B: column(sl.eigvalsh(real_only(S), *map(real_only, B))),
    "eigh_V": lambda S: eigh(S)[1],
    "lambda_max": lambda S: scalar(eigh(S)[0][-1]),
    "lambda_min": lambda S: scalar(eigh(S)[0][0]),
    "spectral_norm": lambda X: scalar(svd(X)[1][0]),
    "nuclear_norm": lambda X: scalar(svd(X)[1].sum()),
    "polar_U": lambda X: svd(X)[0] @ svd(X)[2].T,
    "polar_P": lambda X: (svd(X)[2] * svd(X)[1]) @ svd(X)[2].T,
    "expm": along_block(sl.expm),
    "logm": along_block(lambda X: real_where_real(sl.logm, X)),
    "sqrtm": square_root,
    "powm": lambda X, p, *E: along_block(lambda M: matrix_power(M, p.reshape(()).item().real))(X, *E),
    "sinm": along_block(sl.sinm),
    "cosm": along_block(sl.cosm),
    "signm": signm,
    "phi": phi,
    "gapdiv": gapdiv,
    "gapsum": lambda w, K: np.where(np.eye(len(w)) == 1, 0.0, K / np.add.outer(w.ravel(), w.ravel())),
    "columndiv": lambda w, K: K / w.ravel(),
    "tie_mean": lambda w, g: g,
    "tie_same": lambda w, g: g,
    "tie_share": lambda w, g: g,
    "lu_inverse": lambda X: lu_inverse(real_only(X)),
    "regular": lambda R: R,
    "pivoted": lambda R, k: np.where(np.arange(len(R)) < integer(k) - 1, R, np.eye(len(R))),
    "pivots_used": lambda R, k: np.where(np.arange(len(R)) < integer(k) - 1, 1.0, 0.0),
    "real_values": lambda y, w: y,
    "sym": lambda X: (X + X.T) / 2,
    "skew": lambda X: (X - X.T) / 2,
    "eig_top": lambda S, k: eigh(S)[1][:, -integer(k) :] @ eigh(S)[1][:, -integer(k) :].T,
}
