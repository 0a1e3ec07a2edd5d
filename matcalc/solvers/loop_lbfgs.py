"""L-BFGS with the line search of Moré and Thuente, as one compiled loop over many fits.

The iterates are those of L-BFGS-B without bounds: the same first step, line search, memory and tests.

Source: Nocedal and Wright 2006, algorithm 7.4; Moré and Thuente, ACM TOMS 20 (1994); Byrd, Lu, Nocedal and Zhu 1995.
"""

from __future__ import annotations

import math

import numpy as np

from matcalc.solvers.loop_endings import GRADIENT_SMALL, MOST_CALLS, MOST_STEPS, NO_DESCENT, VALUE_SETTLED
from matcalc.solvers.loop_pieces import EPSILON, advanced, copied, dot, evaluated, largest, moved
from matcalc.solvers.packing import Integers, Matrix, Table, Vector

SUFFICIENT = 1e-3
CURVATURE = 0.9
NARROW = 0.1
LONGEST = 1e10


def cubic(gap: float, fa: float, da: float, fb: float, db: float) -> tuple[float, float]:
    """Theta and gamma of the cubic through two points with slopes, b being `gap` behind a."""
    theta = 3.0 * (fa - fb) / gap + da + db
    s = max(abs(theta), abs(da), abs(db))
    if s == 0.0:
        return theta, 0.0
    return theta, s * math.sqrt(max(0.0, (theta / s) ** 2 - (da / s) * (db / s)))


def next_step(bracket: Vector, is_bracketed: bool, t: float, ft: float, dt: float, low: float, high: float) -> float:
    """Update the bracket (x, fx, dx, y, fy, dy) with a point; return the next point, a safeguarded cubic step."""
    x, fx, dx, y, fy, dy = bracket[0], bracket[1], bracket[2], bracket[3], bracket[4], bracket[5]
    new: float
    slopes_differ = dt * math.copysign(1.0, dx) < 0.0
    if ft > fx:
        theta, gamma = cubic(t - x, fx, dx, ft, dt)
        gamma = -gamma if t < x else gamma
        c = x + ((gamma - dx) + theta) / (((gamma - dx) + gamma) + dt) * (t - x)
        q = x + ((dx / ((fx - ft) / (t - x) + dx)) / 2.0) * (t - x)
        new = c if abs(c - x) < abs(q - x) else c + (q - c) / 2.0
    elif slopes_differ:
        theta, gamma = cubic(t - x, fx, dx, ft, dt)
        gamma = -gamma if t > x else gamma
        c = t + ((gamma - dt) + theta) / (((gamma - dt) + gamma) + dx) * (x - t)
        q = t + (dt / (dt - dx)) * (x - t)
        new = c if abs(c - t) > abs(q - t) else q
    elif abs(dt) < abs(dx):
        theta, gamma = cubic(t - x, fx, dx, ft, dt)
        gamma = -gamma if t > x else gamma
        r = ((gamma - dt) + theta) / ((gamma + (dx - dt)) + gamma)
        far = high if t > x else low
        c = t + r * (x - t) if r < 0.0 and gamma != 0.0 else far
        q = t + (dt / (dt - dx)) * (x - t)
        if is_bracketed:
            new = c if abs(c - t) < abs(q - t) else q
            new = min(t + 0.66 * (y - t), new) if t > x else max(t + 0.66 * (y - t), new)
        else:
            new = min(max(c if abs(c - t) > abs(q - t) else q, low), high)
    elif is_bracketed:
        theta, gamma = cubic(y - t, ft, dt, fy, dy)
        gamma = -gamma if t > y else gamma
        new = t + ((gamma - dt) + theta) / (((gamma - dt) + gamma) + dy) * (y - t)
    else:
        new = high if t > x else low
    if ft > fx:
        bracket[3], bracket[4], bracket[5] = t, ft, dt
    else:
        if slopes_differ:
            bracket[3], bracket[4], bracket[5] = x, fx, dx
        bracket[0], bracket[1], bracket[2] = t, ft, dt
    return new


def begun(bracket: Vector, f0: float, slope0: float) -> None:
    """Reset the bracket to the start of the line."""
    for k in range(2):
        bracket[3 * k], bracket[3 * k + 1], bracket[3 * k + 2] = 0.0, f0, slope0


def shifted(bracket: Vector, slope: float) -> None:
    """Add a linear function of this slope to the values in the bracket."""
    for k in range(2):
        bracket[3 * k + 1] += bracket[3 * k] * slope
        bracket[3 * k + 2] += slope


def searched(
    address: int, inputs: Integers, sizes: Integers, outputs: Integers, x: Vector, both: Vector,
    start: Vector, f0: float, slope0: float, d: Vector, step: float, calls: int, bracket: Vector,
) -> tuple[float, float, int]:  # fmt: skip
    """Search along d; return the step (0 if none is found), the slope there and the number of calls."""
    stage, is_bracketed, longest = 1, False, LONGEST
    decrease = SUFFICIENT * slope0
    width, last_width = longest, 2.0 * longest
    low, high = 0.0, 5.0 * step
    begun(bracket, f0, slope0)
    for count in range(1, calls + 1):
        moved(start, step, d, x)
        if evaluated(address, inputs, sizes, outputs, both) != 0:  # restart with a shorter step
            stage, is_bracketed, longest, step = 1, False, step / 2.0, step / 10.0
            width, last_width = longest, 2.0 * longest
            low, high = 0.0, 5.0 * step
            begun(bracket, f0, slope0)
            continue
        f, slope = both[0], dot(both[1:], d)
        enough = f0 + step * decrease
        if stage == 1 and f <= enough and slope >= 0.0:
            stage = 2
        if (
            (is_bracketed and (step <= low or step >= high or high - low <= NARROW * high))
            or (step == longest and f <= enough and slope <= decrease)
            or (step == 0.0 and (f > enough or slope >= decrease))
            or (f <= enough and abs(slope) <= CURVATURE * -slope0)
        ):
            return step, slope, count
        line = decrease if stage == 1 and bracket[1] >= f > enough else 0.0  # stage 1: f minus the sufficient decrease
        shifted(bracket, -line)
        ft, dt = f - step * line, slope - line
        turns = ft > bracket[1] or dt * math.copysign(1.0, bracket[2]) < 0.0
        new = next_step(bracket, is_bracketed, step, ft, dt, low, high)
        shifted(bracket, line)
        is_bracketed = is_bracketed or turns
        near, far = bracket[0], bracket[3]
        if is_bracketed:
            if abs(far - near) >= 0.66 * last_width:
                new = near + 0.5 * (far - near)
            last_width, width = width, abs(far - near)
            low, high = min(near, far), max(near, far)
        else:
            low, high = new + 1.1 * (new - near), new + 4.0 * (new - near)
        step = min(max(new, 0.0), longest)
        if is_bracketed and (step <= low or step >= high or high - low <= NARROW * high):
            step = near
    return 0.0, 0.0, calls


def direction(g: Vector, S: Matrix, Y: Matrix, rho: Vector, alpha: Vector, kept: int, d: Vector) -> None:
    """d = -H*g by the last `kept` pairs; pair k is in row k mod memory (Nocedal and Wright, algorithm 7.4)."""
    memory = S.shape[0]
    held = min(kept, memory)
    for k in range(g.size):
        d[k] = -g[k]
    for k in range(kept - 1, kept - held - 1, -1):
        at = k % memory
        alpha[at] = rho[at] * dot(S[at], d)
        moved(d, -alpha[at], Y[at], d)
    if kept > 0:
        at = (kept - 1) % memory
        scale = 1.0 / (rho[at] * dot(Y[at], Y[at]))
        for k in range(g.size):
            d[k] *= scale
    for k in range(kept - held, kept):
        at = k % memory
        moved(d, alpha[at] - rho[at] * dot(Y[at], d), S[at], d)


def fits(
    address: int, inputs: Integers, strides: Integers, sizes: Integers, outputs: Integers, x: Vector, both: Vector,
    X: Matrix, F: Vector, G: Matrix, counts: Table, options: Vector,
) -> None:  # fmt: skip
    """Minimise from each row of X, in place; counts are status, steps, calls.

    Options: memory, ftol, gtol, most steps, most calls, most calls in a search.
    """
    n = x.size
    memory = int(options[0])
    S, Y = np.empty((memory, n)), np.empty((memory, n))
    rho, alpha = np.empty(memory), np.empty(memory)
    d, at, g, bracket = np.empty(n), np.empty(n), np.empty(n), np.empty(6)
    for fit in range(X.shape[0]):
        copied(X[fit], x)
        status = evaluated(address, inputs, sizes, outputs, both)
        if status == 0 and largest(both[1:]) <= options[2]:
            status = GRADIENT_SMALL
        steps, calls, kept, f = 0, 1, 0, both[0]
        copied(x, at)
        copied(both[1:], g)
        while status == 0:
            direction(g, S, Y, rho, alpha, kept, d)
            slope = dot(g, d)
            step = 1.0
            if steps == 0:
                step = min(1.0 / math.sqrt(dot(d, d)), LONGEST)
            used, new_slope = 0, 0.0
            if slope < 0.0:
                step, new_slope, used = searched(
                    address, inputs, sizes, outputs, x, both, at, f, slope, d, step, int(options[5]), bracket
                )
                calls += used
            if not slope < 0.0 or step == 0.0:
                if kept == 0:
                    status = NO_DESCENT
                kept = 0
                continue
            steps += 1
            last = f
            f = both[0]
            curvature = step * (new_slope - slope)
            if curvature > EPSILON * -slope * step:
                row = kept % memory
                for k in range(n):
                    S[row, k] = step * d[k]
                    Y[row, k] = both[1 + k] - g[k]
                rho[row] = 1.0 / curvature
                kept += 1
            copied(x, at)
            copied(both[1:], g)
            if largest(g) <= options[2]:
                status = GRADIENT_SMALL
            elif last - f <= options[1] * max(abs(last), abs(f), 1.0):
                status = VALUE_SETTLED
            elif steps >= options[3]:
                status = MOST_STEPS
            elif calls > options[4]:
                status = MOST_CALLS
        copied(at, X[fit])
        copied(g, G[fit])
        F[fit] = f
        counts[fit, 0], counts[fit, 1], counts[fit, 2] = status, steps, calls
        advanced(inputs, strides)
