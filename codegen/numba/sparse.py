"""Matrices stored by rows as SciPy's CSR: values v, their columns c, and where each row starts.

Each index is tested when it is read; an out-of-range index gives status 1. Indices are unsigned, so a test is one
comparison and Numba does not handle negative ones. This is a third faster than SciPy's loops, which test nothing.
Entries that are not stored do not take part: no zero is multiplied by NaN or infinity.
"""

from numba import njit, types
from numba.types import int64, uint32, uint64

from matcalc.codegen.numba.call import EXACT, MATRIX, MATRIX_OUT, VECTOR, VECTOR_OUT

PLACES = types.Array(types.int32, 1, "C", readonly=True)


@njit(**EXACT)
def unsigned(place):
    """Return an unsigned index; a negative one becomes larger than any axis."""
    return uint64(uint32(place))


@njit(**EXACT)
def row_is_outside(starts, i, count):
    """Whether the bounds of a row do not delimit a range of stored entries."""
    return starts[i] < 0 or starts[i] > starts[i + 1] or starts[i + 1] > count


@njit(**EXACT)
def leaves_out(starts, count):
    """Return 1 if some stored entries are in no row."""
    return 1 if starts[0] != 0 or starts[starts.shape[0] - 1] != count else 0


@njit(int64(VECTOR, PLACES, PLACES, VECTOR, VECTOR_OUT), **EXACT)
def csr_mv(v, c, starts, w, y):
    """y = X*w, with two sums a row, because each addition waits for the previous one."""
    n, one, two = uint64(w.shape[0]), uint64(1), uint64(2)
    for i in range(y.shape[0]):
        if row_is_outside(starts, i, v.shape[0]):
            return 1
        first, second = 0.0, 0.0
        t, end = unsigned(starts[i]), unsigned(starts[i + 1])
        while t + one < end:
            j, k = unsigned(c[t]), unsigned(c[t + one])
            if j >= n or k >= n:
                return 1
            first += v[t] * w[j]
            second += v[t + one] * w[k]
            t += two
        if t < end:
            j = unsigned(c[t])
            if j >= n:
                return 1
            first += v[t] * w[j]
        y[i] = first + second
    return leaves_out(starts, v.shape[0])


@njit(int64(VECTOR, PLACES, PLACES, VECTOR, VECTOR_OUT), **EXACT)
def csr_tmv(v, c, starts, r, y):
    """y = X'*r."""
    n = uint64(y.shape[0])
    for j in range(y.shape[0]):
        y[j] = 0.0
    for i in range(r.shape[0]):
        if row_is_outside(starts, i, v.shape[0]):
            return 1
        e = r[i]
        for t in range(unsigned(starts[i]), unsigned(starts[i + 1])):
            j = unsigned(c[t])
            if j >= n:
                return 1
            y[j] += v[t] * e
    return leaves_out(starts, v.shape[0])


@njit(int64(VECTOR, PLACES, PLACES, MATRIX, MATRIX_OUT), **EXACT)
def csr_mm(v, c, starts, W, Y):
    """Y = X*W: for each row of X four columns of W at a time, with sums in registers."""
    n, width = uint64(W.shape[0]), uint64(Y.shape[1])
    one, two, three, four = uint64(1), uint64(2), uint64(3), uint64(4)
    for row in range(Y.shape[0]):
        if row_is_outside(starts, row, v.shape[0]):
            return 1
        i, k = uint64(row), uint64(0)
        begin, end = unsigned(starts[row]), unsigned(starts[row + 1])
        for t in range(begin, end):
            if unsigned(c[t]) >= n:
                return 1
        while k + four <= width:
            p = q = r = s = 0.0
            for t in range(begin, end):
                j, e = unsigned(c[t]), v[t]
                p += e * W[j, k]
                q += e * W[j, k + one]
                r += e * W[j, k + two]
                s += e * W[j, k + three]
            Y[i, k], Y[i, k + one], Y[i, k + two], Y[i, k + three] = p, q, r, s
            k += four
        while k < width:
            s = 0.0
            for t in range(begin, end):
                s += v[t] * W[unsigned(c[t]), k]
            Y[i, k] = s
            k += one
    return leaves_out(starts, v.shape[0])


@njit(int64(VECTOR, PLACES, PLACES, MATRIX, MATRIX_OUT), **EXACT)
def csr_tmm(v, c, starts, R, Y):
    """Y = X'*R: for each row of X four columns of R at a time."""
    n, width = uint64(Y.shape[0]), uint64(Y.shape[1])
    one, two, three, four = uint64(1), uint64(2), uint64(3), uint64(4)
    for j in range(n):
        for k in range(width):
            Y[j, k] = 0.0
    for row in range(R.shape[0]):
        if row_is_outside(starts, row, v.shape[0]):
            return 1
        i, k = uint64(row), uint64(0)
        begin, end = unsigned(starts[row]), unsigned(starts[row + 1])
        for t in range(begin, end):
            if unsigned(c[t]) >= n:
                return 1
        while k + four <= width:
            p, q, r, s = R[i, k], R[i, k + one], R[i, k + two], R[i, k + three]
            for t in range(begin, end):
                j, e = unsigned(c[t]), v[t]
                Y[j, k] += e * p
                Y[j, k + one] += e * q
                Y[j, k + two] += e * r
                Y[j, k + three] += e * s
            k += four
        while k < width:
            s = R[i, k]
            for t in range(begin, end):
                Y[unsigned(c[t]), k] += v[t] * s
            k += one
    return leaves_out(starts, v.shape[0])


@njit(int64(PLACES, PLACES, VECTOR, VECTOR_OUT), **EXACT)
def csr_rows(c, starts, d, y):
    """y = d at the row of each stored entry."""
    for i in range(d.shape[0]):
        if row_is_outside(starts, i, c.shape[0]):
            return 1
        for t in range(unsigned(starts[i]), unsigned(starts[i + 1])):
            y[t] = d[i]
    return leaves_out(starts, c.shape[0])


@njit(int64(PLACES, PLACES, VECTOR, VECTOR_OUT), **EXACT)
def csr_columns(c, starts, e, y):
    """y = e at the column of each stored entry."""
    n = uint64(e.shape[0])
    for t in range(c.shape[0]):
        j = unsigned(c[t])
        if j >= n:
            return 1
        y[t] = e[j]
    return leaves_out(starts, c.shape[0])


@njit(int64(PLACES, PLACES, MATRIX, VECTOR_OUT), **EXACT)
def csr_entries(c, starts, M, y):
    """y = M at the row and column of each stored entry."""
    n = uint64(M.shape[1])
    for i in range(M.shape[0]):
        if row_is_outside(starts, i, c.shape[0]):
            return 1
        for t in range(unsigned(starts[i]), unsigned(starts[i + 1])):
            j = unsigned(c[t])
            if j >= n:
                return 1
            y[t] = M[i, j]
    return leaves_out(starts, c.shape[0])


@njit(int64(PLACES, PLACES, MATRIX, MATRIX, VECTOR_OUT), **EXACT)
def csr_sampled(c, starts, U, V, y):
    """y = U*V' at the row and column of each stored entry."""
    n, width = uint64(V.shape[0]), uint64(U.shape[1])
    for row in range(U.shape[0]):
        if row_is_outside(starts, row, c.shape[0]):
            return 1
        i = uint64(row)
        for t in range(unsigned(starts[row]), unsigned(starts[row + 1])):
            j = unsigned(c[t])
            if j >= n:
                return 1
            s = 0.0
            for k in range(width):
                s += U[i, k] * V[j, k]
            y[t] = s
    return leaves_out(starts, c.shape[0])


@njit(int64(VECTOR, PLACES, PLACES, VECTOR, MATRIX_OUT), **EXACT)
def csr_gram(v, c, starts, u, C):
    """C = X'*Z, where Z has the structure of X and the values u."""
    n = uint64(C.shape[0])
    for j in range(C.shape[0]):
        for k in range(C.shape[0]):
            C[j, k] = 0.0
    for i in range(starts.shape[0] - 1):
        if row_is_outside(starts, i, v.shape[0]):
            return 1
        begin, end = unsigned(starts[i]), unsigned(starts[i + 1])
        for t in range(begin, end):
            if unsigned(c[t]) >= n:
                return 1
        for t in range(begin, end):
            j, e = unsigned(c[t]), v[t]
            for s in range(begin, end):
                C[j, unsigned(c[s])] += e * u[s]
    return leaves_out(starts, v.shape[0])


@njit(int64(VECTOR, PLACES, PLACES, VECTOR, MATRIX_OUT), **EXACT)
def csr_outer(v, c, starts, u, C):
    """C = X*Z', where Z has the structure of X and the values u, by merging rows, whose columns ascend."""
    for i in range(C.shape[0]):
        if row_is_outside(starts, i, v.shape[0]):
            return 1
    for i in range(C.shape[0]):
        for k in range(C.shape[0]):
            s, t, end, last = starts[i], starts[k], starts[i + 1], starts[k + 1]
            total = 0.0
            while s < end and t < last:
                if c[s] == c[t]:
                    total += v[s] * u[t]
                    s += 1
                    t += 1
                elif c[s] < c[t]:
                    s += 1
                else:
                    t += 1
            C[i, k] = total
    return leaves_out(starts, v.shape[0])


@njit(int64(VECTOR, PLACES, PLACES, VECTOR, MATRIX, VECTOR_OUT), **EXACT)
def csr_forms(v, c, starts, u, M, y):
    """y = x'*M*z for each row x of X and z of Z, which has the structure of X and the values u."""
    n = uint64(M.shape[0])
    for i in range(y.shape[0]):
        if row_is_outside(starts, i, v.shape[0]):
            return 1
        begin, end = unsigned(starts[i]), unsigned(starts[i + 1])
        for t in range(begin, end):
            if unsigned(c[t]) >= n:
                return 1
        total = 0.0
        for t in range(begin, end):
            j, s = unsigned(c[t]), 0.0
            for k in range(begin, end):
                s += M[j, unsigned(c[k])] * u[k]
            total += v[t] * s
        y[i] = total
    return leaves_out(starts, v.shape[0])
