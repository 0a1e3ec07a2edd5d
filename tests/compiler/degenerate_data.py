"""Draws degenerate data for declared arguments, and judges the results of compiled functions on them."""

import inspect
import re

import numpy as np
from compiler.degenerate_formulas import LET, Trick

USUAL = {"m": 7, "n": 5, "p": 3, "q": 4, "r": 2}
SIZES = [
    {}, {"m": 1}, {"n": 1}, dict.fromkeys("mnpqr", 1), {"m": 0}, {"n": 0}, {"p": 0}, {"q": 0}, {"m": 2, "n": 7},
    dict.fromkeys("mnpqr", 6), {"m": 33, "n": 17, "p": 5},
]  # fmt: skip
SCALES = (0.0, -0.0, 1e-310, 1e-160, 1e155, 1e300)
ENTRIES = {
    "first": np.nan,
    "middle": np.nan,
    "last": np.nan,
    "a middle": np.inf,
    "a last": -np.inf,
    "one middle": 1e300,
}
GAPS = (1e-2, 3e-5, 1e-5, 1e-6, 1e-10, 1e-14, 0.0)
"""Relative gaps of the two largest eigenvalues or singular values, on both sides of the top-pair kernel's limit."""
LONG = np.longdouble


def names_of(trick: Trick):
    return list(inspect.signature(trick.truth).parameters)


def shape_of(name, sizes):
    inside = re.search(r"\((.*)\)", LET[name])
    return tuple(sizes[size.strip()] for size in inside[1].split(",")) if inside else ()


def fitted(name, a):
    """Return an array with the declared facts of a name, from one triangle of it."""
    if re.search("symmetric|spd", LET[name]):
        return np.tril(a) + np.tril(a, -1).T
    if "lower" in LET[name]:
        return np.tril(a)
    return np.abs(a) if "nonnegative" in LET[name] else a


def drawn(name, sizes, rng):
    a = rng.standard_normal(shape_of(name, sizes))
    if "spd" in LET[name]:
        return a @ a.T + len(a) * np.eye(len(a))
    if a.ndim == 2 and a.shape[0] == a.shape[1]:
        a += 3 * np.diag(rng.choice([-1.0, 1.0], len(a)))
    return np.asarray(fitted(name, a))


def with_entry(name, a, place, value):
    """Return an array with one entry replaced, in both triangles of a symmetric array."""
    a = a.copy()
    if a.size and not (value < 0 and "nonnegative" in LET[name]):
        at = np.unravel_index({"first": 0, "last": a.size - 1}.get(place, a.size // 2), a.shape)
        if "matrix(n, n) " in LET[name]:
            at = max(at), min(at)
        a[at] = value
    return np.asarray(fitted(name, a))


def with_gap(name, a, gap):
    """Return a matrix whose two largest eigenvalues or singular values have this gap."""
    if "symmetric" in LET[name]:
        w, Q = np.linalg.eigh(a)
        w[-1] = w[-2] * (1 + gap)
        return fitted(name, (Q * w) @ Q.T)
    U, s, V = np.linalg.svd(a, full_matrices=False)
    s[1] = s[0] * (1 - gap)
    return (U * s) @ V


def spoilt(base, is_large=False):
    """Yield a description of the special values, and data with one argument or all arguments changed."""
    yield "nothing", base
    for name, a in base.items():
        for what, value in ENTRIES.items():
            yield f"{name} {what} {value}", {**base, name: with_entry(name, a, what.split()[-1], value)}
        if is_large:
            continue
        for scale in SCALES:
            yield f"{name} times {scale}", {**base, name: a * (abs(scale) if "nonnegative" in LET[name] else scale)}
        yield f"{name} least", {**base, name: np.sign(a) * 5e-324}
        yield f"{name} equal", {**base, name: fitted(name, np.ones_like(a))}
        if name in "SX" and min(a.shape) > 1:
            for gap in GAPS:
                yield f"{name} gap {gap}", {**base, name: with_gap(name, a, gap)}
    if not is_large:
        for scale in (0.0, 1e-310, 1e-100, 1e155):
            yield f"all times {scale}", {name: a * scale for name, a in base.items()}
        yield "all equal", {name: fitted(name, np.ones_like(a)) for name, a in base.items()}
    noise = np.random.default_rng(9).standard_normal
    if {"X", "w", "y"} <= base.keys():
        near = base["X"] @ base["w"]
        yield "what cancels", {**base, "y": near * (1 + 1e-9 * noise(near.shape))}
    if {"X", "U", "V"} <= base.keys():
        near = base["U"] @ base["V"].T
        yield "what cancels", {**base, "X": near * (1 + 1e-9 * noise(near.shape))}


def datasets(trick):
    """Yield a name and data, at each set of sizes once."""
    seen, rng = set(), np.random.default_rng(0)
    for sizes in (*SIZES[: -1 if trick.is_small else None], *trick.large):
        shapes = tuple(shape_of(name, USUAL | sizes) for name in names_of(trick))
        if shapes not in seen:
            seen.add(shapes)
            base = {name: drawn(name, USUAL | sizes, rng) for name in names_of(trick)}
            for what, data in spoilt(base, sizes in trick.large):
                yield f"{what} at {shapes}", data


def flat(results):
    if isinstance(results, tuple):
        return [one for part in results for one in flat(part)]
    return [None if results is None else np.asarray(results)]


def true(trick, data, kind):
    """Return the value of a formula by definition; None where a matrix has no inverse."""
    try:
        return flat(trick.truth(**{name: np.asarray(a).astype(kind) for name, a in data.items()}))
    except np.linalg.LinAlgError:
        return None


class Judge:
    """The expected value of a formula on some data: in doubles, in long doubles, and at slightly perturbed data."""

    def __init__(self, trick, data):
        self.trick, self.overflows = trick, False
        rng = np.random.default_rng(1)
        moved = {k: a * (1 + LONG(1e-14) * fitted(k, rng.uniform(-1, 1, np.shape(a)))) for k, a in data.items()}
        with np.errstate(all="ignore", over="call", call=self.overflow):
            self.plain = true(trick, data, float)
        with np.errstate(all="ignore"):
            self.long, self.moved = true(trick, data, LONG), true(trick, moved, LONG)
        sizes = np.abs(np.concatenate([np.ravel(a) for a in data.values()]))
        self.is_finite = bool(np.all(np.isfinite(sizes)))
        self.is_empty = any(0 in np.shape(a) for a in data.values())
        wide = np.any(((sizes < 1e-150) & (sizes > 0)) | ((sizes > 1e150) & np.isfinite(sizes)))
        self.is_wide = bool(wide) and not trick.is_robust

    def overflow(self, *_):
        self.overflows = True

    def fault(self, found, spreads):
        """Return the reason why a result (None for a LinAlgError) is wrong; an empty text where it is right."""
        if self.plain is None or self.long is None or self.moved is None:
            is_number = found is not None and all(np.all(np.isfinite(f)) and f.size for f in found)
            return "a number where there is none" if is_number else ""
        known = [one for one in (*self.plain, *self.long) if one is not None]
        if found is None:
            is_excused = self.overflows or not self.is_finite or not all(np.all(np.isfinite(one)) for one in known)
            return "" if is_excused else "an error where there is a number"
        for k, (f, *due) in enumerate(zip(found, self.plain, self.long, self.moved, strict=True)):
            if any(one is None for one in due):
                continue
            if f.shape != due[0].shape:
                return f"result {k} has the shape {f.shape}, not {due[0].shape}"
            wrong = np.argwhere(~self.is_right(f, *due, spreads))
            if len(wrong):
                at = tuple(map(int, wrong[0])) if f.ndim else ()
                return f"result {k}{list(at)} is {f[at]}, not {due[1][at]} (by doubles {due[0][at]})"
        return ""

    def is_right(self, found, plain, long, moved, spreads):
        """Return of each entry whether it is right; NaN and infinities must match too."""
        short = long.astype(float)
        scale = np.max(np.abs(short), where=np.isfinite(short), initial=0)
        error = np.fmin(np.abs(found - long), np.abs(found - plain))
        lost = np.fmax(np.abs(moved - long), 0) + np.where(
            np.isfinite(plain) & np.isfinite(short), abs(plain - long), 0
        )
        near = error <= (1e-2 if self.is_wide else 1e-9) * scale + 10 * lost + 1e-318
        near |= (found == short) | (found == plain)
        may_be_lost = self.overflows or self.is_wide or (spreads or self.is_empty) and not self.is_finite
        excused = ~np.isfinite(plain) | ~np.isfinite(short) | may_be_lost
        due = np.where(np.isfinite(long), near | excused & ~np.isfinite(found), ~np.isfinite(found))
        return due | np.isfinite(long) & ~np.isfinite(moved) | (self.is_empty and not self.is_finite)
