"""The Levenberg-Marquardt method for sums of squares, as one compiled loop over many fits.

The iterates are those of MINPACK's lmder with its own scaling, as in SciPy's `lm`: pivoted QR of the Jacobian, and a
trust region whose radius is met by a search for the damping parameter. One call computes value and Jacobian.

Source: Moré, "The Levenberg-Marquardt algorithm: implementation and theory", 1978.
"""

from __future__ import annotations

import math

import numpy as np

from matcalc.solvers.loop_endings import BOTH_SMALL, GRADIENT_SMALL, MOST_CALLS, STEP_SMALL, TIGHT, VALUE_SETTLED
from matcalc.solvers.loop_pieces import EPSILON, advanced, copied, dot, evaluated, moved
from matcalc.solvers.packing import Integers, Matrix, Table, Vector

FACTOR = 100.0
TINY = 2.2250738585072014e-308


def norm(a: Vector) -> float:
    """|a|."""
    return math.sqrt(dot(a, a))


def gathered(results: Vector, layout: Table, roots: Vector, rows: int, J: Matrix) -> None:
    """J = the transposed Jacobian, from blocks (first entry, row, rows, column, columns) of the results of a call.

    Its last row contains the residuals.
    """
    n = J.shape[0] - 1
    for b in range(layout.shape[0]):
        first, row, height, column, width = layout[b, 0], layout[b, 1], layout[b, 2], layout[b, 3], layout[b, 4]
        for i in range(height):
            for j in range(width):
                J[column + j, row + i] = roots[row + i] * results[first + i * width + j]
    for i in range(rows):
        J[n, i] = roots[i] * results[i]


def length_of_residuals(results: Vector, roots: Vector, rows: int) -> float:
    """|r|."""
    total = 0.0
    for i in range(rows):
        total += (roots[i] * results[i]) ** 2
    return math.sqrt(total)


def factored(J: Matrix, order: Integers, lengths: Vector) -> None:
    """Householder's QR of J' in place, its columns in the order of their lengths; the last row becomes Q'*r."""
    m, n = J.shape[1], J.shape[0] - 1
    for j in range(n):
        order[j] = j
        lengths[j] = norm(J[j])
    for k in range(n):
        best, most = k, -1.0
        for j in range(k, n):
            squared = dot(J[j, k:], J[j, k:])
            if squared > most:
                best, most = j, squared
        if best != k:
            order[k], order[best] = order[best], order[k]
            for i in range(m):
                J[k, i], J[best, i] = J[best, i], J[k, i]
        size = math.copysign(math.sqrt(max(most, 0.0)), J[k, k])
        if size != 0.0:
            for i in range(k, m):
                J[k, i] /= size
            J[k, k] += 1.0
            for j in range(k + 1, n + 1):
                moved(J[j, k:], -dot(J[k, k:], J[j, k:]) / J[k, k], J[k, k:], J[j, k:])
        J[k, k] = -size


def damped(R: Matrix, order: Integers, scale: Vector, root: float, S: Matrix, diagonal: Vector, z: Vector) -> None:
    """Minimise |R*z - b|^2 + root^2*|D*z|^2 by rotations; S, below and on its diagonal, is the new R transposed.

    R is transposed, with b as its last row; z is in the order of the pivots.
    """
    n = scale.size
    row = S[n]
    for j in range(n):
        for i in range(j, n):
            S[i, j] = R[i, j]
        z[j] = R[n, j]
    for j in range(n):
        for k in range(j, n):
            row[k] = 0.0
        row[j] = root * scale[order[j]]
        extra = 0.0
        if row[j] != 0.0:
            for k in range(j, n):
                if row[k] != 0.0:
                    size = math.hypot(S[k, k], row[k])
                    c, s = S[k, k] / size, row[k] / size
                    S[k, k] = size
                    z[k], extra = c * z[k] + s * extra, c * extra - s * z[k]
                    for i in range(k + 1, n):
                        S[i, k], row[i] = c * S[i, k] + s * row[i], c * row[i] - s * S[i, k]
    singular = n
    for j in range(n):
        diagonal[j] = S[j, j]
        if diagonal[j] == 0.0 and singular == n:
            singular = j
        if singular < n:
            z[j] = 0.0
    for j in range(singular - 1, -1, -1):
        total = 0.0
        for i in range(j + 1, singular):
            total += S[i, j] * z[i]
        z[j] = (z[j] - total) / diagonal[j]


def scaled_length(z: Vector, order: Integers, scale: Vector) -> float:
    """|D*p| of a step in the order of the pivots."""
    total = 0.0
    for j in range(z.size):
        total += (scale[order[j]] * z[j]) ** 2
    return math.sqrt(total)


def chosen(
    R: Matrix, order: Integers, scale: Vector, radius: float, damping: float, S: Matrix, diagonal: Vector,
    w: Vector, z: Vector,
) -> float:  # fmt: skip
    """Find the damping whose step z, in the order of the pivots, has about the length of the radius."""
    n = scale.size
    damped(R, order, scale, 0.0, S, diagonal, z)
    length = scaled_length(z, order, scale)
    excess = length - radius
    if excess <= 0.1 * radius:
        return 0.0
    lower = 0.0
    full = True
    for j in range(n):
        full = full and R[j, j] != 0.0
    if full:
        lower = excess / radius / slope_of(S, diagonal, order, scale, z, length, w)
    for j in range(n):
        total = 0.0
        for i in range(j + 1):
            total += R[j, i] * R[n, i]
        w[j] = total / scale[order[j]]
    size = norm(w)
    upper = size / radius
    if upper == 0.0:
        upper = TINY / min(radius, 0.1)
    damping = min(max(damping, lower), upper)
    if damping == 0.0:
        damping = size / length
    for count in range(1, 11):
        if damping == 0.0:
            damping = max(TINY, 0.001 * upper)
        damped(R, order, scale, math.sqrt(damping), S, diagonal, z)
        length = scaled_length(z, order, scale)
        last, excess = excess, length - radius
        if abs(excess) <= 0.1 * radius or (lower == 0.0 and excess <= last < 0.0) or count == 10:
            break
        change = excess / radius / slope_of(S, diagonal, order, scale, z, length, w)
        if excess > 0.0:
            lower = max(lower, damping)
        elif excess < 0.0:
            upper = min(upper, damping)
        damping = max(lower, damping + change)
    return damping


def slope_of(S: Matrix, diagonal: Vector, order: Integers, scale: Vector, z: Vector, length: float, w: Vector) -> float:
    """|inv(S')*D*(D*z/|D*z|)|^2, the rate at which the length of the step decreases with the damping."""
    n = z.size
    for j in range(n):
        w[j] = scale[order[j]] * (scale[order[j]] * z[j] / length)
    for j in range(n):
        for i in range(j):
            w[j] -= S[j, i] * w[i]
        w[j] /= diagonal[j]
    return dot(w, w)


def fits(
    address: int, inputs: Integers, strides: Integers, sizes: Integers, outputs: Integers, x: Vector,
    results: Vector, layout: Table, roots: Vector,
    X: Matrix, F: Vector, G: Matrix, counts: Table, options: Vector,
) -> None:  # fmt: skip
    """Minimise from each row of X, in place; counts are status, steps, calls, Jacobians.

    Options: ftol, xtol, gtol, most calls.
    """
    n, m = x.size, roots.size
    J, S = np.empty((n + 1, m)), np.empty((n + 1, n))
    order = np.empty(n, np.int64)
    lengths, scale, diagonal, w, z = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    at, g = np.empty(n), np.empty(n)
    for fit in range(X.shape[0]):
        copied(X[fit], x)
        copied(x, at)
        status = evaluated(address, inputs, sizes, outputs, results)
        steps, calls, jacobians = 0, 1, 0
        length = length_of_residuals(results, roots, m)
        radius, damping, size, gradient = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            g[j] = math.nan
        is_new = status == 0
        while status == 0 or is_new:
            if is_new:
                is_new = False
                gathered(results, layout, roots, m, J)
                for j in range(n):
                    g[j] = 2.0 * dot(J[j], J[n])
                jacobians += 1
                if status != 0:
                    break
                factored(J, order, lengths)
                if jacobians == 1:
                    for j in range(n):
                        scale[j] = lengths[j] if lengths[j] != 0.0 else 1.0
                gradient = 0.0
                for j in range(n):
                    if length != 0.0 and lengths[j] != 0.0:
                        gradient = max(gradient, abs(g[j]) / 2.0 / length / lengths[j])
                    scale[j] = max(scale[j], lengths[j])
                if jacobians == 1:
                    total = 0.0
                    for j in range(n):
                        total += (scale[j] * at[j]) ** 2
                    size = math.sqrt(total)
                    radius = FACTOR * size if size != 0.0 else FACTOR
                if gradient <= options[2]:
                    status = GRADIENT_SMALL
                    break
            damping = chosen(J, order, scale, radius, damping, S, diagonal, w, z)
            far = scaled_length(z, order, scale)
            for j in range(n):
                x[order[j]] = at[order[j]] - z[j]
            if steps == 0:
                radius = min(radius, far)
            calls += 1
            fails = evaluated(address, inputs, sizes, outputs, results) != 0
            new = math.inf if fails else length_of_residuals(results, roots, m)
            fall = 1.0 - (new / length) ** 2 if 0.1 * new < length else -1.0
            total = 0.0
            for i in range(n):
                part = 0.0
                for j in range(i, n):
                    part += J[j, i] * z[j]
                total += part * part
            linear = total / length / length
            bent = damping * (far / length) ** 2
            promised = linear + 2.0 * bent
            slope = -(linear + bent)
            ratio = fall / promised if promised != 0.0 else 0.0
            if ratio <= 0.25:
                cut = 0.5 if fall >= 0.0 else 0.5 * slope / (slope + 0.5 * fall)
                if 0.1 * new >= length or cut < 0.1:
                    cut = 0.1
                radius = cut * min(radius, far / 0.1)
                damping /= cut
            elif damping == 0.0 or ratio >= 0.75:
                radius = far / 0.5
                damping *= 0.5
            is_new = ratio >= 1e-4
            if is_new:
                copied(x, at)
                total = 0.0
                for j in range(n):
                    total += (scale[j] * x[j]) ** 2
                size = math.sqrt(total)
                length = new
                steps += 1
            settled = abs(fall) <= options[0] and promised <= options[0] and 0.5 * ratio <= 1.0
            if settled and radius <= options[1] * size:
                status = BOTH_SMALL
            elif settled:
                status = VALUE_SETTLED
            elif radius <= options[1] * size:
                status = STEP_SMALL
            elif calls >= options[3]:
                status = MOST_CALLS
            elif (abs(fall) <= EPSILON and promised <= EPSILON and 0.5 * ratio <= 1.0) or radius <= EPSILON * size:
                status = TIGHT
        copied(at, X[fit])
        copied(g, G[fit])
        F[fit] = length * length
        counts[fit, 0], counts[fit, 1], counts[fit, 2], counts[fit, 3] = status, steps, calls, jacobians
        advanced(inputs, strides)
