"""Special functions that SciPy does not have, or not accurate to rounding."""

import numpy as np
from scipy import special


def lambertw(x):
    """Return the w >= -1 with w*exp(w) = x, NaN below -1/e; near -1/e by a series in sqrt(2*(e*x + 1))."""
    x = np.asarray(x, dtype=float)
    excess = 2.718281828459045 * ((x + 0.36787944117144233) - 1.2428753672788363e-17)
    near = excess < 3e-4
    p = np.sqrt(np.maximum(2.0 * np.where(near, excess, 0.0), 0.0))
    tail = 769.0 / 17280.0 - p * (221.0 / 8505.0 - p * (680863.0 / 43545600.0 - p * 1963.0 / 204120.0))
    series = -1.0 + p * (1.0 - p * (1.0 / 3.0 - p * (11.0 / 72.0 - p * (43.0 / 540.0 - p * tail))))
    return np.where(x < -0.36787944117144233, np.nan, np.where(near, series, special.lambertw(x).real))
