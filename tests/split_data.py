"""The data, declarations and cuts of the tests of formulas that separate over rows."""

import numpy as np

ROWS = 12
RNG = np.random.default_rng(5)
DATA = {
    "X": RNG.standard_normal((ROWS, 3)),
    "Z": RNG.standard_normal((ROWS, 2)),
    "Y": np.eye(2)[RNG.integers(0, 2, ROWS)],
    "y": RNG.standard_normal(ROWS),
    "k": RNG.poisson(2.0, ROWS).astype(float),
    "b": np.sign(RNG.standard_normal(ROWS)),
    "w": RNG.standard_normal(3),
    "W": RNG.standard_normal((3, 2)),
    "V": RNG.standard_normal((2, 3)),
    "M": RNG.standard_normal((4, 3)),
    "u": RNG.standard_normal(2),
    "c": 0.7,
    "S": np.array([[2.0, 0.3, 0.1], [0.3, 1.5, -0.2], [0.1, -0.2, 1.0]]),
}
LET = (
    "X: matrix(m, n); Z: matrix(m, p); Y: matrix(m, p); y: vector(m); k: vector(m); b: vector(m); w: vector(n); "
    "W: matrix(n, p); V: matrix(p, n); M: matrix(q, n); u: vector(p); c: scalar; S: matrix(n, n) spd"
)
CUTS = ([0, ROWS], [0, 5, ROWS], [0, 0, 1, 4, 4, ROWS], list(range(ROWS + 1)))


def cut(names, cuts):
    """Return the blocks of the rows between cuts."""
    return [{name: DATA[name][a:b] for name in names} for a, b in zip(cuts, cuts[1:], strict=False)]
