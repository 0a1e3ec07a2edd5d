"""Second differentials of matrix functions, adjugate and products: sums over triples, one row at a time."""

import numpy as np

from matcalc.codegen.numpy.linalg import finite_svd, prod_without


def along_twice(w, R, D, T, E, F):
    """Y[i,j] = sum over k of f[w_i, w_k, w_j]*(E[i,k]*F[k,j] + F[i,k]*E[k,j]), with second divided differences.

    Across a gap wider than R of the middle point they are quotients of D, the first divided differences. Else they
    are those of the polynomial with values T, which are f''/2 at the Chebyshev points of [w - 2R, w + 2R]. NaN
    where R is NaN.
    """
    n, q = T.shape
    basis = np.polynomial.chebyshev.chebvander(np.cos(np.pi * (np.arange(q) + 0.5) / max(q, 1)), q - 1) if q else T
    C = T @ basis * (np.where(np.arange(q) == 0, 1.0, 2.0) / max(q, 1))
    powers = [np.pad(np.polynomial.chebyshev.cheb2poly(row), (0, q))[:q] for row in np.eye(q)]
    C = C @ np.array(powers).reshape(q, q)
    C = C * (2.0 / ((np.arange(q) + 1.0) * (np.arange(q) + 2.0)))
    Y = np.full((n, n), np.sum(0.0 * w))  # NaN where w is not finite
    for k in range(n):
        triple = np.stack([*np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), np.full((n, n), k)])
        low, middle, high = np.take_along_axis(triple, np.argsort(w[triple], axis=0, kind="stable"), axis=0)
        below, above = w[low] - w[middle], w[high] - w[middle]
        Q = (D[middle, high] - D[low, middle]) / (above - below)
        near = (above <= R[middle]) & (-below <= R[middle])
        if np.any(near):
            chosen = middle[near]
            width = np.where(R[chosen] > 0.0, 2.0 * R[chosen], 1.0)
            x, y, total, power, sums = below[near] / width, above[near] / width, 0.0, 1.0, 1.0
            for p in range(q):
                total = total + C[chosen, p] * sums
                power = power * y
                sums = x * sums + power
            Q[near] = total
        Q[np.isnan(R[middle])] = np.nan
        Y += Q * (np.outer(E[:, k], F[k]) + np.outer(F[:, k], E[k]))
    return Y


def adj_along_two(X, E, F):
    """Return the second derivative of the adjugate at X along E and F, in the bases of the singular vectors."""
    P, s, Q = finite_svd(X)
    H, K = P.T @ E @ Q.T, P.T @ F @ Q.T
    h, k = np.diagonal(H), np.diagonal(K)
    G = np.zeros(X.shape)
    for i in range(len(s)):
        others = s.copy()
        others[i] = 1.0
        W = prod_without(others)
        np.fill_diagonal(W, 0.0)
        W[i], W[:, i] = 0.0, 0.0
        G[i] = ((W * H[i]) * K.T).sum(1) + ((W * K[i]) * H.T).sum(1) - H[i] * (W @ k) - K[i] * (W @ h)
        G[i, i] = h @ W @ k - np.sum(W * H * K.T)
    return np.linalg.det(P) * np.linalg.det(Q) * (Q.T @ G @ P.T)


def prod_others_along_two(x, e, f):
    """Return the coefficient of t*u in the product of x[k] + t*e[k] + u*f[k] over all k except i."""

    def products(order):
        a, found = np.array([1.0, 0.0, 0.0, 0.0]), []
        for k in order:
            found.append(a)
            a = a * x[k] + np.array([0.0, a[0] * e[k], a[0] * f[k], a[1] * f[k] + a[2] * e[k]])
        return np.array(found).reshape(len(found), 4)

    before, after = products(range(x.size)), products(range(x.size - 1, -1, -1))[::-1]
    return (
        before[:, 0] * after[:, 3]
        + before[:, 1] * after[:, 2]
        + before[:, 2] * after[:, 1]
        + before[:, 3] * after[:, 0]
    )
