"""Newton's method by reverse communication: the caller evaluates the equation and solves its linearisation.

Steps are damped if the left side does not decrease, until only rounding is left: there is no absolute threshold. The
search is a kernel that returns its next request, so it is compiled once for all equations.
"""

import math

from numba import njit
from numba.types import boolean, float64, int64, void

from matcalc.codegen.numba.call import EXACT, VECTOR, VECTOR_OUT
from matcalc.codegen.numba.gaps import largest_of
from matcalc.codegen.numba.reductions import norm2

DONE = 0
FAILED = 1
EVALUATE = 2
SOLVE = 3
MOST_STEPS = 200
ROUNDING = 2.0**-51
CLOSE = 2.0**-26
LEAST_DAMPING = 2.0**-40
# Indices of `state`: the phase, then numbers.
STATES = 7
PHASE = 0
COUNT = 1
LAST = 2
WHOLE = 3
SIZE = 4
DAMPING = 5
NEAR = 6
# Phases: the last request.
BEGIN = 0
AT_START = 1
SOLVED = 2
AT_TRIAL = 3
AT_ROUNDED = 4


@njit(**EXACT)
def finite_number(x):
    """Whether a number is neither NaN nor infinite."""
    return abs(x) < math.inf


@njit(boolean(VECTOR), **EXACT)
def all_finite(x):
    """Whether no entry is NaN or infinite."""
    count = 0
    for k in range(x.size):
        count += abs(x[k]) < math.inf
    return count == x.size


@njit(int64(boolean, VECTOR, VECTOR_OUT), **EXACT)
def newton_begin(known, start, y):
    """Copy the start to y and return 1; NaN and 0 if the data are not all finite."""
    usable = known and all_finite(start)
    for k in range(y.size):
        y[k] = start[k] if usable else math.nan
    return 1 if usable else 0


@njit(void(VECTOR, float64, VECTOR, VECTOR_OUT), **EXACT)
def stepped(y, damping, d, t):
    """t = y - damping*d."""
    for k in range(y.size):
        t[k] = y[k] - damping * d[k] if damping != 0.0 else y[k]


@njit(int64(VECTOR_OUT, int64, VECTOR_OUT, VECTOR_OUT, VECTOR), **EXACT)
def solved(state, status, y, t, d):
    """Stop if the step d is within rounding, or no longer shrinks near the solution; else try the full step."""
    size, now = largest_of(d), largest_of(y)
    state[COUNT] += 1.0
    state[WHOLE] = max(state[WHOLE], now)
    if status != 0 or not (size < math.inf) or state[COUNT] > MOST_STEPS:
        return FAILED
    near = size <= CLOSE * now
    if size <= ROUNDING * state[WHOLE] or (near and 2.0 * size >= state[LAST]):
        if size < state[LAST]:
            stepped(y, 1.0, d, y)
        return DONE
    state[SIZE], state[DAMPING], state[NEAR] = size, 1.0, 1.0 if near else 0.0
    stepped(y, 1.0, d, t)
    state[PHASE] = AT_TRIAL
    return EVALUATE


@njit(int64(VECTOR_OUT, int64, VECTOR_OUT, VECTOR_OUT, VECTOR, VECTOR_OUT, VECTOR), **EXACT)
def tried(state, status, y, t, s, r, d):
    """Accept the trial t if the left side has decreased there, else try half the step."""
    damping = state[DAMPING]
    usable = status == 0 and all_finite(s)
    if usable and (state[NEAR] != 0.0 or norm2(s) <= (1.0 - 0.25 * damping) * norm2(r)):
        state[LAST] = state[SIZE] if damping == 1.0 else math.inf
        stepped(t, 0.0, t, y)
        stepped(s, 0.0, s, r)
        state[PHASE] = SOLVED
        return SOLVE
    state[DAMPING] = 0.5 * damping
    if state[DAMPING] >= LEAST_DAMPING:
        stepped(y, state[DAMPING], d, t)
        return EVALUATE
    for k in range(y.size):
        t[k] = y[k] * (1.0 + (2.0 * (k % 2) - 1.0) * ROUNDING)
    state[PHASE] = AT_ROUNDED
    return EVALUATE


@njit(int64(VECTOR_OUT, int64, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT, VECTOR_OUT), **EXACT)
def newton(state, status, y, t, s, r, d):
    """Return the next request: EVALUATE the left side s at t, or SOLVE for the step d at y with left side r.

    `state` is all zero at first; `status` is the status of the last request. DONE: y is the solution.
    """
    phase = int(state[PHASE])
    if phase == BEGIN:
        state[LAST] = math.inf
        stepped(y, 0.0, y, t)
        state[PHASE] = AT_START
        return EVALUATE
    if phase == AT_START:
        if status != 0 or not all_finite(s):
            return FAILED
        stepped(s, 0.0, s, r)
        state[PHASE] = SOLVED
        return SOLVE
    if phase == SOLVED:
        return solved(state, status, y, t, d)
    if phase == AT_TRIAL:
        return tried(state, status, y, t, s, r, d)
    for k in range(y.size):
        s[k] -= r[k]
    return DONE if status == 0 and norm2(r) <= 16.0 * norm2(s) else FAILED
