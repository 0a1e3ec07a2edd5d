"""Functions of general matrices and their derivatives along tangents, by arithmetic on jets.

A jet is X + e1*E1 + e2*E2 + ... with e1^2 = e2^2 = 0, stored as an array (2^k, n, n): matrix S is the coefficient of
the product of the e whose bits are set in S. The last matrix of a function of a jet is the k-th derivative along all
tangents. With products and solves on jets an algorithm also computes its derivatives, linear in each tangent whatever
its size; at order k one product becomes 3^k. Tangents are scaled by powers of two, which is exact.
Source: Higham 2008, chapters 3 and 6; Al-Mohy, Higham and Relton 2013; Al-Mohy and Higham 2009.
"""

import math

import numpy as np
from scipy import linalg

from matcalc.codegen.numpy.linalg import exponent_of, getrf, lu_solve


def jet(X, E, scale):
    """Return the jet of 2^scale*X and the tangents E, each scaled to size 1, and the exponent that undoes it."""
    n, k = len(X), len(E)
    J = np.zeros((2**k, n, n))
    J[0] = np.ldexp(X, scale)
    exponent = 0
    for bit, tangent in enumerate(E):
        size = exponent_of(tangent)
        J[2**bit] = np.ldexp(tangent, -size)
        exponent += size
    return J, exponent


def jet_product(A, B, first=None):
    """Return the product of two jets; its first matrix may be passed."""
    C = np.zeros(A.shape)
    if first is not None:
        C[0] = first
    for S in range(0 if first is None else 1, len(A)):
        for T in subsets(S):
            C[S] += A[T] @ B[S ^ T]
    return C


def subsets(S):
    """Return all subsets of a set of bits, itself first, the empty one last."""
    found, T = [S], S
    while T:
        T = (T - 1) & S
        found.append(T)
    return found


def jet_solve(D, B, fault=""):
    """inv(D)*B for jets."""
    F, p = getrf(D[0])
    return jet_quotient(F, p, D, B, fault)


def jet_quotient(F, p, D, B, fault="", first=None):
    """inv(D)*B for jets, from the factors F, p of the first matrix of D; its first matrix may be passed."""
    X = np.zeros(B.shape)
    if first is not None:
        X[0] = first
    for S in range(0 if first is None else 1, len(B)):
        X[S] = B[S] - sum(D[T] @ X[S ^ T] for T in subsets(S) if T)
        X[S] = lu_solve(0, F, p, X[S], fault)
    return X


def jet_identity(J):
    """Return the jet of the identity, shaped as J."""
    one = np.zeros(J.shape)
    one[0] = np.eye(J.shape[1])
    return one


def has_no_value(X, E):
    """Whether a function of X along E has no entries, or X is not finite."""
    return X.size == 0 or not np.all(np.isfinite(X)) or any(not np.all(np.isfinite(T)) for T in E)


PADE = (
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
)


def halvings(A2, A4, A6, radius):
    """Return how often A is halved for the [13/13] approximant, from the norms of its powers."""
    sizes = [np.linalg.norm(P, 1) ** (1 / d) for d, P in ((2, A2), (4, A4), (6, A6))]
    size = max(sizes[1:])
    if not math.isfinite(size):
        size = sizes[0]
    return max(0, math.ceil(math.log2(size / radius))) if size > radius else 0


def halve(A):
    """Return A halved until its powers are finite, and how often."""
    largest = np.linalg.norm(A[0], 1)
    excess = math.log2(largest / 1e30) if largest > 1e30 else 0.0
    s = math.ceil(min(excess, 960))  # the norm may be infinite where no entry is
    return np.ldexp(A, -s), s


def polynomials(A, A2, A4, A6, s, first=None):
    """Return even part, odd part, and odd part over A of the numerator of the [13/13] approximant of exp at 2^-s*A.

    The first matrix of the last one may be passed.
    """
    one = jet_identity(A)
    A, A2, A4, A6 = (np.ldexp(P, -d * s) for d, P in ((1, A), (2, A2), (4, A4), (6, A6)))
    b = PADE
    H = b[12] * A6 + b[10] * A4 + b[8] * A2
    even = jet_product(A6, H) + b[6] * A6 + b[4] * A4 + b[2] * A2 + b[0] * one
    H = b[13] * A6 + b[11] * A4 + b[9] * A2
    over = jet_product(A6, H) + b[7] * A6 + b[5] * A4 + b[3] * A2 + b[1] * one
    if first is not None:
        over[0] = first
    return even, jet_product(A, over), over


def pade_parts(A, sign, radius):
    """Return even and odd numerator of the [13/13] approximant of exp at 2^-s*A, and s; A2 = sign*A*A."""
    A, first = halve(A)
    A2 = sign * jet_product(A, A)
    A4 = jet_product(A2, A2)
    A6 = jet_product(A4, A2)
    s = halvings(A2[0], A4[0], A6[0], radius)
    even, odd, _ = polynomials(A, A2, A4, A6, s)
    return even, odd, s + first


def pade(X):
    """Return P, p, h, which the [13/13] approximant of exp at 2^-(h[0] + h[1])*X shares with its derivatives.

    P is a stack: the even powers of A = 2^-h[1]*X, the odd part divided by A, the denominator factorised with
    pivots p, the approximant itself, and A.
    """
    n = len(X)
    if has_no_value(X, ()):
        return np.full((7 * n, n), np.nan), np.zeros(n, np.int32), np.zeros(2)
    A, first = halve(X[None])
    A2 = jet_product(A, A)
    A4 = jet_product(A2, A2)
    A6 = jet_product(A4, A2)
    s = halvings(A2[0], A4[0], A6[0], 4.25)
    even, odd, over = polynomials(A, A2, A4, A6, s)
    F, p = getrf((even - odd)[0])
    R = lu_solve(0, F, p, (even + odd)[0], "")
    return np.concatenate((A2[0], A4[0], A6[0], over[0], F, R, A[0])), p, np.array([s, first], float)


def expm(turned, P, p, h, *E):
    """Return the exponential of X, or of X' if `turned`, or its derivative along E; `pade` returned P, p, h."""
    n = P.shape[1]
    if has_no_value(P, E):
        return np.full((n, n), np.nan)
    A2, A4, A6, over, F, R, A = P.reshape(7, n, n)
    s, first = map(int, h)
    A, exponent = jet(A, [T.T if turned else T for T in E], first)
    A = np.ldexp(A, -first)
    A2 = jet_product(A, A, A2)
    A4 = jet_product(A2, A2, A4)
    A6 = jet_product(A4, A2, A6)
    even, odd, _ = polynomials(A, A2, A4, A6, s, over)
    R = jet_quotient(F, p, even - odd, even + odd, first=R)
    for _ in range(s + first):
        R = jet_product(R, R)
    C = np.ldexp(R[-1], exponent)
    return C.T if turned else C


def jet_cos_sin(A):
    """Return cosine and sine of a jet, from real and imaginary part of the approximant of exp(i*A), by doubling."""
    V, U, s = pade_parts(A, -1.0, 4.25)
    VV, UU = jet_product(V, V), jet_product(U, U)
    C = jet_solve(VV + UU, VV - UU)
    S = jet_solve(VV + UU, 2.0 * jet_product(U, V))
    for _ in range(s):
        C, S = jet_product(C, C) - jet_product(S, S), 2.0 * jet_product(C, S)
    return C, S


def cosm(sine, X, *E):
    """Return the cosine of X, or the sine if `sine`, or its derivative along the tangents E."""
    if has_no_value(X, E):
        return np.full(X.shape, np.nan)
    A, exponent = jet(X, E, 0)
    return np.ldexp(jet_cos_sin(A)[sine][-1], exponent)


# ---- in the basis of the real Schur form


def blocks(T):
    """Return start and width of the diagonal blocks of a real Schur form."""
    found, i = [], 0
    while i < len(T):
        width = 2 if i + 1 < len(T) and T[i + 1, i] != 0.0 else 1
        found.append((i, width))
        i += width
    return found


def is_triangular(X):
    """Whether X is upper or lower triangular, so that its eigenvalues are known without rounding."""
    return not np.any(np.tril(X, -1)) or not np.any(np.triu(X, 1))


def principal_schur(X, fault):
    """Return the real Schur form and vectors of X; raise LinAlgError unless all real eigenvalues are positive."""
    T, Q = linalg.schur(X, check_finite=False)
    least = 0.0 if is_triangular(X) else len(X) * np.finfo(float).eps * np.max(np.abs(T))
    if any(width == 1 and T[i, i] <= least for i, width in blocks(T)):
        raise np.linalg.LinAlgError(fault)
    return T, Q


def jet_schur(X, E, scale, fault):
    """Return the jet of 2^scale*X along E in the basis Q of the Schur form of X, Q, and the inverse exponent."""
    T, Q = principal_schur(np.ldexp(X, scale), fault)
    J, exponent = jet(X, E, scale)
    J[1:] = Q.T @ J[1:] @ Q
    J[0] = T
    return J, Q, exponent


def on_blocks(T, function, R):
    """Replace the diagonal blocks of R by a function of those of T."""
    for i, width in blocks(T):
        if width == 1:
            R[i, i] = function(T[i, i], 0.0)[0]
            continue
        b, c = T[i, i + 1], T[i + 1, i]
        turn = math.sqrt(abs(b)) * math.sqrt(abs(c))
        real, imaginary = function(T[i, i], turn)
        R[i : i + 2, i : i + 2] = [[real, b * (imaginary / turn)], [c * (imaginary / turn), real]]


def log_of(a, b):
    """Return real and imaginary part of log(a + b*i)."""
    return math.log(math.hypot(a, b)), math.atan2(b, a)


def sqrt_of(a, b):
    """Return real and imaginary part of the square root of a + b*i."""
    size = math.hypot(a, b)
    if b == 0.0:
        return math.sqrt(a), 0.0
    x = math.sqrt((size + abs(a)) / 2.0)
    return (x, b / (2.0 * x)) if a >= 0.0 else (b / (2.0 * x), x)


def trsyl(F, G, C):
    """Return X with F*X + X*G = C for Schur forms F and G."""
    X, scale, _ = linalg.lapack.dtrsyl(F, G, C)
    return X / scale


def jet_sqrt(T):
    """Return the principal square root of a jet whose first entry is a real Schur form."""
    R = np.zeros(T.shape)
    on_blocks(T[0], sqrt_of, R[0])
    for j, width in blocks(T[0])[1:]:
        columns = slice(j, j + width)
        R[0, :j, columns] = trsyl(R[0, :j, :j], R[0, columns, columns], T[0, :j, columns])
    for S in range(1, len(T)):
        cross = sum(R[B] @ R[S ^ B] for B in subsets(S) if B not in (0, S))
        R[S] = trsyl(R[0], R[0], T[S] - cross)
    return R


def sqrtm(X, fault):
    """Return the principal square root of X."""
    if has_no_value(X, ()):
        return np.full(X.shape, np.nan)
    scale = -2 * (exponent_of(X) // 2)
    J, Q, _ = jet_schur(X, (), scale, fault)
    return np.ldexp(Q @ jet_sqrt(J)[0] @ Q.T, -scale // 2)


NODES = (0.025446043828620736, 0.12923440720030277, 0.2970774243113014, 0.5)
WEIGHTS = (0.06474248308443482, 0.1398526957446383, 0.19091502525255943, 0.2089795918367347)
MOST_ROOTS = 100


def jet_log(T):
    """Return the logarithm of a jet whose first entry is a real Schur form: inverse scaling and squaring."""
    A, roots, one = T.copy(), 0, jet_identity(T)
    while roots < MOST_ROOTS:
        Z = A[0] - one[0]
        sizes = [np.linalg.norm(np.linalg.matrix_power(Z, d), 1) ** (1 / d) for d in (1, 2, 3)]
        if min(sizes[0], max(sizes[1:])) <= 0.264:
            break
        A = jet_sqrt(A)
        roots += 1
    A -= one

    def root_less_one(a, b):
        x, y = (part * 0.5**roots for part in log_of(a, b))
        return math.expm1(x) * math.cos(y) - 2.0 * math.sin(y / 2.0) ** 2, math.exp(x) * math.sin(y)

    on_blocks(T[0], root_less_one, A[0])
    # log(1 + a) by a Gauss-Legendre sum for the integral of a/(1 + t*a), the [7/7] approximant
    C = np.zeros(T.shape)
    for x, w in zip(NODES, WEIGHTS, strict=True):
        for t in (x, 1.0 - x) if x != 0.5 else (x,):
            C += w * jet_solve(one + t * A, A)
    C *= 2.0**roots
    on_blocks(T[0], log_of, C[0])
    return C


def logm(X, fault, *E):
    """Return the principal logarithm of X, or its derivative along the tangents E."""
    if has_no_value(X, E):
        return np.full(X.shape, np.nan)
    scale = -exponent_of(X)
    J, Q, exponent = jet_schur(X, E, scale, fault)
    C = Q @ jet_log(J)[-1] @ Q.T
    if E:
        return np.ldexp(C, exponent + len(E) * scale)
    return C - scale * math.log(2.0) * np.eye(len(X))


def powm(X, p, fault, *E):
    """X^p for a real p, or its derivative along the tangents E: the exponential of p times the logarithm.

    After each squaring the eigenvalues are replaced by their exact powers.
    """
    if has_no_value(X, E):
        return np.full(X.shape, np.nan)
    scale = -exponent_of(X)
    T, Q, exponent = jet_schur(X, E, scale, fault)
    even, odd, s = pade_parts(p * jet_log(T), 1.0, 4.25)
    R = jet_solve(even - odd, even + odd)
    for step in range(s + 1):
        R = jet_product(R, R) if step else R

        def power(a, b, share=p * 0.5 ** (s - step)):
            size, turn = math.hypot(a, b) ** share, share * math.atan2(b, a)
            return size * math.cos(turn), size * math.sin(turn)

        on_blocks(T[0], power, R[0])
    high = float(np.float32(p))  # scale*high is exact
    whole = math.floor(-scale * high)
    factor = 2.0 ** ((-scale * high - whole) - scale * (p - high))
    return np.ldexp((Q @ R[-1] @ Q.T) * factor, exponent + whole + scale * len(E))


def powm_whole(X, p, fault, *E):
    """X^p for an integer p, or its derivative along the tangents E, by repeated squaring."""
    if X.size == 0:
        return np.empty(X.shape)
    A, exponent = jet(X, E, 0)
    if p < 0:
        if not np.all(np.isfinite(X)):
            return np.full(X.shape, np.nan)
        A = jet_solve(A, jet_identity(A), fault)
    C, rest = jet_identity(A), abs(p)
    while rest:
        C = jet_product(C, A) if rest % 2 else C
        rest //= 2
        A = jet_product(A, A) if rest else A
    return np.ldexp(C[-1], exponent)
