"""Properties of rules that random data do not show: the domain of a rule, and sizes that fit together."""

import numpy as np
from rulebook.samples import DOMAINS

DRAWS = {
    **DOMAINS,
    "psd_part": {},
    "reshape": {"p": 6, "q": 2},
    "pivoted": {**DOMAINS["pivoted"], "k": 9},  # more rows than pivots
    # rows in a cycle, so that the permutation is not its own inverse
    "lu": {"X": lambda rng, shape: np.roll(0.5 * rng.standard_normal(shape) + 2 * np.eye(*shape), 1, axis=0)},
}
# Rules whose differential is not that of their value, by intent.
DELIBERATE = {
    "stop": "takes its argument as a constant",
    "gap_middle": "a threshold inside a gap, which may be anywhere there",
    "svd_gap": "a threshold inside a gap, which may be anywhere there",
}
# Points at which a rule has a kink whatever the data, so no second derivative.
KINKS = {"std": {" at x: 1", " at x: 1x1"}}
# The dot test of adjoints, relative to |G||dY| + |Xbar||dX|, and the rules whose values round off more.
ADJOINT = 1e-13
ROUGH = {"expm": "SciPy's expm of the block matrix that is its oracle squares up to ten times"}
