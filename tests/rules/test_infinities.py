"""Elementwise rules at NaN, infinities and zeros, alone and together: one value on every path, and the limit.

Plain evaluation, the NumPy target and the kernels of Numba are written independently. The tests compare every order of
every rule at every combination of special arguments. These include divided differences of functions with kinks, jumps
and poles. The limit is the value at a huge argument, by mpmath.
"""

import itertools
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from rules.compiled import both, made, rules, with_entry
from rules.compiled_check import groups

import matcalc as mc
from matcalc.rulebook import default_rulebook

RULES = {rule.name: rule for rule in default_rulebook().rules.values() if rule.kind == "map"}
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0)
POINTS = {
    1: (*SPECIAL, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e-308, 800.0, -800.0, 1e5, -1e5, 1e-9),
    2: (*SPECIAL, 1.0, -1.0, 0.5, -1.5, 2.0, -800.0),
    3: (*SPECIAL[:4], 1.0, -1.0, 0.5, 2.0),
    4: (*SPECIAL[:4], 1.0, -1.0),
}
"""Special arguments by number of arguments of a rule, in all combinations."""
POWERS = ("-1", "-2", "-3", "1/2", "-1/2", "3/2", "-3/2", "5/2", "1/3", "-1/3", "13", "-13")
FUNCTIONS = (
    "exp", "log", "log1p", "log10", "tanh", "sigmoid", "softplus", "relu", "abs", "huber", "sign", "step", "sinh",
    "cosh", "atan", "erf", "sin", "x -> x^3", "x -> x^(1/2)", "x -> x^(-1/2)", "x -> x^(-1)", "x -> x^(5/2)",
    "x -> x*tanh(x)",
)  # fmt: skip
ROUNDING = 2e-14
"""Additional points: where a function crosses 0 (`sinc`) and where terms cancel (`betainc_diff`)."""


def texts(name):
    """Yield the calls of a rule, at each order that it may have, each with its number of entries."""
    if name == "dd":
        for f, count in itertools.product(FUNCTIONS, (1, 2, 3)):
            yield f"dd({f}, {', '.join('abc'[:count])})", count
        return
    parameters = RULES[name].parameters
    entries = iter("abcd")
    given = {"integer": ("0", "1", "2"), "number": POWERS}
    choices = [[next(entries)] if p.kind == "entry" else given[p.kind] for p in parameters]
    count = sum(p.kind == "entry" for p in parameters)
    for arguments in itertools.product(*choices):
        orders = [(int(a), p.facts) for a, p in zip(arguments, parameters, strict=True) if p.kind == "integer"]
        if sum(k for k, _ in orders) <= 2 and all(k > 0 for k, facts in orders if "positive" in facts):
            yield f"{name}({', '.join(arguments)})", count


def data(count, is_plain_zero):
    """Return all combinations of special arguments by name; without -0, which a divided difference equates with 0."""
    points = POINTS[count]
    if is_plain_zero:
        points = [x for x in POINTS[4 if count == 3 else count] if x != 0 or not np.signbit(x)]
    grid = np.meshgrid(*[points] * count, indexing="ij")
    return {name: x.ravel() for name, x in zip("abcd", grid, strict=False)}


def called(functions, at):
    """Return the values of expressions or a compiled function, the arguments by their names."""
    with np.errstate(all="ignore"):
        if isinstance(functions, list):
            return [f(**{str(s): at[str(s)] for s in f.symbols}) for f in functions]
        found = functions(**{name: at[name] for name in functions.args})
        return found if isinstance(found, tuple | list) else [found]


def is_same(one, other):
    """Return whether two arrays are equal: both NaN, the same infinity, or numbers within rounding."""
    finite = np.isfinite(one) & np.isfinite(other)
    with np.errstate(all="ignore"):
        near = np.abs(one - other) <= 1e-9 * np.abs(one) + ROUNDING
    return (np.isnan(one) & np.isnan(other)) | (one == other) | (finite & near)


def differences(calls, target):
    """Yield where calls of one number of entries differ between plain evaluation and a target."""
    for count in sorted({count for _, count in calls}):
        chosen = [text for text, number in calls if number == count]
        e = [mc.expression(text, "; ".join(f"{x}: vector(n)" for x in "abcd"[:count])) for text in chosen]
        at = data(count, chosen[0].startswith("dd("))
        for text, one, other in zip(chosen, called(e, at), called(mc.compile(e, target=target), at), strict=True):
            for k in np.flatnonzero(~is_same(one, other))[:3]:
                yield f"{text} at {[float(at[x][k]) for x in at]}: plain {one[k]}, {target} {other[k]}"


@pytest.mark.parametrize("name", [n for n, r in RULES.items() if r.values and n != "radius"])
@pytest.mark.sampled(12)
def test_plain_and_numpy_agree(name):
    calls = list(texts(name))
    assert calls
    assert not list(differences(calls, "numpy"))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.whole
def test_plain_and_numba_agree(count):
    """The rules whose kernels are short; divided differences are formulas of these."""
    names = [n for n, r in RULES.items() if r.values and n not in ("radius", "dd", "betainc_diff", "gammainc_diff")]
    calls = [call for name in names for call in texts(name) if call[1] == count]
    assert len(calls) > 30
    assert not list(differences(calls, "numba"))


LIMITS = (
    "exp", "expm1", "log", "log1p", "log2", "log10", "sigmoid", "softplus", "tanh", "atan", "asinh", "acosh", "erf",
    "erfc", "sinh", "cosh", "gammaln", "digamma", "lambertw",
)  # fmt: skip
WORDS = {
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)), "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "log2": lambda x: mpmath.log(x, 2), "gammaln": mpmath.loggamma, "erfc": lambda x: 1 - mpmath.erf(x),
}  # fmt: skip
FAR, BOUND = mpmath.mpf(10) ** 300, 50
"""An argument so large that every growing function, even a logarithm, is beyond the bound."""


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", LIMITS)
def test_limits(name):
    """Value and slope at the infinities are those at huge arguments, and NaN outside the domain."""
    f = WORDS.get(name) or getattr(mpmath, name)
    e = mc.expression(f"{name}(x)", "x: scalar")
    for sign in (1,) if name in ("gammaln", "digamma") else (1, -1):
        with mpmath.workdps(700):
            value = f(sign * FAR)
            far = [value, f(sign * FAR + 1) - value]
        with np.errstate(all="ignore"):
            found = e(x=sign * np.inf), e.gradient("x")(x=sign * np.inf)
        if isinstance(value, mpmath.mpc):
            assert np.isnan(found[0])
            continue
        wanted = [float(y) if abs(y) < BOUND else float(mpmath.sign(y)) * np.inf for y in far]
        assert found == pytest.approx(wanted, abs=1e-30)


OPERATIONS = (
    "along_twice",
    "matfun_at",
    "tie_same",
    "tie_mean",
    "gapdiv",
    "gapsum",
    "columndiv",
    "pfaffian",
    "qr",
    "powi",
)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore")
def test_values_of_operations_agree(name):
    """The separate forms for evaluation and for NumPy are finite in the same entries, and equal there."""
    compared = 0
    chosen = [replace(c, outputs=tuple(o for o in c.outputs if "the value" in o[0])) for c, _, _ in made(rules([name]))]
    for group in groups(chosen, "numpy", 1):
        case = group.cases[0]
        whole = case.data(case.at)
        for argument, node in case.at.symbols.items():
            array = whole[node.name]
            for bad, place in itertools.product(SPECIAL, {(0,) * array.ndim, tuple(n - 1 for n in array.shape)}):
                given = {**whole, node.name: with_entry(case, argument, array, place, bad)}
                with np.errstate(all="ignore"):
                    plain, found = both(group, case, case.at, given)
                assert (plain is None) == (found is None), (argument, place, bad)
                for one, other in zip(plain or (), found or (), strict=True):
                    compared += 1
                    finite = np.isfinite(one)
                    np.testing.assert_array_equal(np.isfinite(other), finite, err_msg=f"{argument}{place} is {bad}")
                    np.testing.assert_allclose(other[finite], one[finite], rtol=1e-8, atol=1e-10)
    assert compared
