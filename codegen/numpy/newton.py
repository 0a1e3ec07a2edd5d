"""Newton's method for an equation passed as two functions, with the steps of codegen/numba/newton.py."""

import numpy as np


def all_finite(X):
    """Whether no entry of an array is NaN or infinite."""
    return bool(np.all(np.isfinite(X)))


def newton(known, residual, step, start, given, fault):
    """Return Y with residual(Y) = 0, from `start`; step(Y, R) is inv(residual'(Y))*R. NaN unless `known`."""
    Y = np.array(start, dtype=np.float64)
    if not (known and all_finite(Y)):
        return np.full_like(Y, np.nan)
    R, D = np.empty_like(Y), np.empty_like(Y)
    last, whole = np.inf, 0.0
    with np.errstate(all="ignore"):
        try:
            residual(R, Y, *given)
            for _ in range(200 if all_finite(R) else 0):
                step(D, Y, R, *given)
                size, now = np.max(np.abs(D), initial=0.0), np.max(np.abs(Y), initial=0.0)
                whole = max(whole, now)
                is_close = size <= 2.0**-26 * now
                if size <= 2.0**-51 * whole or (is_close and 2.0 * size >= last):
                    return Y - D if size < last else Y
                trial = damped(residual, Y, D, R, given, is_close)
                if trial is None and at_rounding(residual, Y, R, given):
                    return Y
                if trial is None:
                    break
                Y, R, damping = trial
                last = size if damping == 1.0 else np.inf
        except np.linalg.LinAlgError as singular:
            raise np.linalg.LinAlgError(fault) from singular
    raise np.linalg.LinAlgError(fault)


def damped(residual, Y, D, R, given, is_close):
    """Return the first of Y - D, Y - D/2, Y - D/4... with a smaller left side, and that side; None if none has."""
    before = scaled_norm(R)
    S = np.empty_like(R)
    damping = 1.0
    while damping >= 2.0**-40:
        T = Y - damping * D
        try:
            residual(S, T, *given)
            if all_finite(S) and (is_close or scaled_norm(S) <= (1.0 - 0.25 * damping) * before):
                return T, S, damping
        except np.linalg.LinAlgError:
            pass
        damping *= 0.5
    return None


def at_rounding(residual, Y, R, given):
    """Whether the left side is about as small as the change that rounding Y makes in it."""
    signs = np.resize([-1.0, 1.0], Y.size).reshape(Y.shape)
    S = np.empty_like(R)
    residual(S, Y * (1.0 + signs * 2.0**-51), *given)
    return scaled_norm(R) <= 16.0 * scaled_norm(S - R)


def scaled_norm(X):
    """Return the Euclidean norm of an array's entries, scaled so that no square overflows."""
    scale = np.max(np.abs(X), initial=0.0)
    return scale * np.sqrt(np.sum((X / scale) ** 2)) if 0.0 < scale < np.inf else scale
