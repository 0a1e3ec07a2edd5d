"""Second differentials of matrix functions, adjugate and products: sums over triples, without a rank-3 array."""

import math

import numpy as np
from numba import njit, types
from numba.types import int64

from matcalc.codegen.numba.adjugate import orthogonal_sign, prod_without
from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT
from matcalc.codegen.numba.products import gemm
from matcalc.codegen.numba.spectral import gesdd


@njit(types.void(MATRIX, MATRIX_OUT), **EXACT)
def powers_from_samples(T, C):
    """C[i,:] = the coefficients of the polynomial with values T[i,:] at the Chebyshev points of [-1, 1]."""
    n, q = T.shape
    step = math.pi / (2.0 * max(q, 1))
    table = np.zeros((q, q))
    for j in range(q):
        if j < 2:
            table[j, j] = 1.0
        else:
            for p in range(j + 1):
                table[j, p] = (2.0 * table[j - 1, p - 1] if p > 0 else 0.0) - table[j - 2, p]
    for i in range(n):
        for p in range(q):
            C[i, p] = 0.0
        for j in range(q):
            total = 0.0
            for s in range(q):
                total += T[i, s] * math.cos(j * (2 * s + 1) * step)
            total *= (1.0 if j == 0 else 2.0) / q
            for p in range(j + 1):
                C[i, p] += total * table[j, p]


@njit(types.void(VECTOR, VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def along_twice(w, R, D, T, E, F, Y):
    """Y[i,j] = sum over k of f[w_i, w_k, w_j]*(E[i,k]*F[k,j] + F[i,k]*E[k,j]), with second divided differences.

    Across a gap wider than R of the middle point they are quotients of D, the first divided differences. Else they
    are those of the polynomial with values T, which are f''/2 at the Chebyshev points of [w - 2R, w + 2R]. NaN
    where R is NaN.
    """
    n, q = T.shape
    C = np.empty((n, q))
    powers_from_samples(T, C)
    start = 0.0  # NaN where w is not finite
    for i in range(n):
        start += 0.0 * w[i]
    for i in range(n):
        for p in range(q):
            C[i, p] *= 2.0 / ((p + 1.0) * (p + 2.0))
        for j in range(n):
            Y[i, j] = start
    for i in range(n):
        for k in range(i, n):
            for j in range(k, n):
                low, middle, high = i, k, j
                if w[low] > w[middle]:
                    low, middle = middle, low
                if w[middle] > w[high]:
                    middle, high = high, middle
                if w[low] > w[middle]:
                    low, middle = middle, low
                below = w[low] - w[middle]
                above = w[high] - w[middle]
                if above <= R[middle] and -below <= R[middle]:
                    width = 2.0 * R[middle]
                    x = below / width if below < 0.0 else 0.0
                    y = above / width if above > 0.0 else 0.0
                    power = 1.0
                    sum_of_powers = 1.0
                    Q = 0.0
                    for p in range(q):
                        Q += C[middle, p] * sum_of_powers
                        power *= y
                        sum_of_powers = x * sum_of_powers + power
                elif R[middle] != R[middle]:
                    Q = math.nan
                else:
                    Q = (D[middle, high] - D[low, middle]) / (above - below)
                Y[i, j] += Q * (E[i, k] * F[k, j] + F[i, k] * E[k, j])
                if i != k or k != j:
                    Y[k, i] += Q * (E[k, j] * F[j, i] + F[k, j] * E[j, i])
                    Y[j, k] += Q * (E[j, i] * F[i, k] + F[j, i] * E[i, k])
                if i != k and k != j:
                    Y[j, i] += Q * (E[j, k] * F[k, i] + F[j, k] * E[k, i])
                    Y[k, j] += Q * (E[k, i] * F[i, j] + F[k, i] * E[i, j])
                    Y[i, k] += Q * (E[i, j] * F[j, k] + F[i, j] * E[j, k])


@njit(int64(MATRIX, MATRIX, MATRIX, MATRIX_OUT), **EXACT)
def adj_along_two(X, E, F, C):
    """C = the second derivative of adj at X along E and F: a closed form in the singular bases of X."""
    n = X.shape[0]
    P = np.empty((n, n))
    Q = np.empty((n, n))
    W = np.empty((n, n))
    G = np.empty((n, n))
    H = np.empty((n, n))
    K = np.empty((n, n))
    s = np.empty(n)
    status = gesdd(1, X, P, s, Q)
    sign = orthogonal_sign(P) * orthogonal_sign(Q)
    gemm(1, 0, 1.0, P, E, 0.0, G)
    gemm(0, 1, 1.0, G, Q, 0.0, H)
    gemm(1, 0, 1.0, P, F, 0.0, G)
    gemm(0, 1, 1.0, G, Q, 0.0, K)
    for i in range(n):
        kept = s[i]
        s[i] = 1.0
        prod_without(s, W)  # product of all singular values except the i-th and two others
        s[i] = kept
        for j in range(n):
            total = 0.0
            if i == j:
                for a in range(n):
                    for b in range(n):
                        if a != b and a != i and b != i:
                            total += W[a, b] * (H[a, a] * K[b, b] - H[a, b] * K[b, a])
            else:
                for k in range(n):
                    if k != i and k != j:
                        crossed = H[i, k] * K[k, j] + K[i, k] * H[k, j]
                        total += W[j, k] * (crossed - H[i, j] * K[k, k] - K[i, j] * H[k, k])
            G[i, j] = sign * total
    gemm(1, 0, 1.0, Q, G, 0.0, H)
    gemm(0, 1, 1.0, H, P, 0.0, C)
    return status


@njit(types.void(VECTOR, VECTOR, VECTOR, VECTOR_OUT), **EXACT)
def prod_others_along_two(x, e, f, y):
    """y[i] = the coefficient of t*u in the product of x[k] + t*e[k] + u*f[k] over all k except i."""
    n = x.shape[0]
    tails = np.zeros((4, n + 1))
    tails[0, n] = 1.0
    for i in range(n - 1, -1, -1):
        one, t, u = tails[0, i + 1], tails[1, i + 1], tails[2, i + 1]
        tails[0, i] = one * x[i]
        tails[1, i] = t * x[i] + one * e[i]
        tails[2, i] = u * x[i] + one * f[i]
        tails[3, i] = tails[3, i + 1] * x[i] + t * f[i] + u * e[i]
    one = 1.0
    t = 0.0
    u = 0.0
    both = 0.0
    for i in range(n):
        y[i] = one * tails[3, i + 1] + t * tails[2, i + 1] + u * tails[1, i + 1] + both * tails[0, i + 1]
        both = both * x[i] + t * f[i] + u * e[i]
        u = u * x[i] + one * f[i]
        t = t * x[i] + one * e[i]
        one *= x[i]
