"""Infers the kind of an undeclared name from its spelling: `alpha` is a scalar, `x` a vector, `A` a matrix."""

import re

GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota",
    "kappa", "lam", "lambda", "mu", "nu", "xi", "omicron", "rho", "sigma", "tau", "upsilon", "phi", "varphi",
    "chi", "psi", "omega",
}  # fmt: skip

NO_NUMBERS = frozenset(("inf", "Inf", "Infinity", "nan", "NaN", "NAN", "True", "False", "None"))
"""Names of other languages' constants; they are no symbols unless declared."""


def inferred_rank(name: str) -> int | None:
    """Return the rank of an undeclared name: Greek 0, lower case 1, capital 2; None without a case, and for `inf`."""
    if name in NO_NUMBERS:
        return None
    stem = re.sub(r"[_\d]+$", "", name)
    first = stem[:1]
    if first.isupper():
        return 2
    if stem in GREEK or (first.islower() and "\u0370" <= first <= "\u03ff"):
        return 0
    return 1 if first.islower() else None
