"""The names of symbols do not affect a plan: a formula with other names has the same cost.

Derivatives order their operands by name. A plan that follows this order transposes arrays that it could compute in the
order in which they are read. Then a call can take three times as long for no visible reason.
"""

import itertools
import re

import pytest

import matcalc as mc
from matcalc.pipeline import build
from matcalc.tensor.sizes.size import Size

SIZES = {"m": 2000, "n": 700, "k": 40, "p": 300}
FORMULAS = {
    "divergence": ("sum(U*V' - T.*log(U*V'))", "U V", "U: matrix(m, k); V: matrix(n, k); T: matrix(m, n)"),
    "masked": ("norm2(M.*(T - U*V'))^2", "U V", "M: matrix(m, n); T: matrix(m, n); U: matrix(m, k); V: matrix(n, k)"),
    "layer": ("norm2(tanh(X*A)*B - Y)^2", "A B", "X: matrix(m, n); A: matrix(n, p); B: matrix(p, k); Y: matrix(m, k)"),
    "layers": (
        "norm2(tanh(tanh(X*A)*B)*c - y)^2",
        "A B c",
        "X: matrix(m, n); A: matrix(n, p); B: matrix(p, k); c: vector(k); y: vector(m)",
    ),
    "gates": (
        "norm2(sigmoid(X*A).*tanh(X*B)*c - y)^2",
        "A B c",
        "X: matrix(m, n); A: matrix(n, k); B: matrix(n, k); c: vector(k); y: vector(m)",
    ),
    "softmax": (
        "sum(logsumexp(X*W, axis=1)) - sum(Y.*(X*W))",
        "W",
        "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k)",
    ),
    "poisson": ("sum(exp(X*W)) - sum(Y.*(X*W))", "W", "X: matrix(m, n); W: matrix(n, k); Y: matrix(m, k)"),
    "distances": ("sum(exp(-(X*Y' - D).^2))", "X Y", "X: matrix(m, k); Y: matrix(n, k); D: matrix(m, n)"),
    "attention": (
        "sum(C.*(softmax(Q*K', axis=1)*V))",
        "Q K V",
        "Q: matrix(m, k); K: matrix(n, k); V: matrix(n, p); C: matrix(m, p)",
    ),
}
OTHERS = ["Aa", "Bb", "Cc", "Dd", "Ee", "Ff"]


class PlannedError(Exception):
    """Raised once a function is planned, so that it is not compiled."""


def stop(spec, own):
    raise PlannedError(spec)


def cost(text, wrt, let):
    """Return flops and bytes of value and gradient at the sizes."""
    with pytest.raises(PlannedError) as found:
        mc.value_and_gradient(text, wrt.split(), let)
    (spec,) = found.value.args
    at = {name: Size.of(length) for name, length in SIZES.items()}
    counts = zip(*((flops, moved) for _, flops, moved in spec.costs), strict=True)
    return [sum(max(float(size.substitute(at).constant), 0.0) for size in column) for column in counts]


def renamed(text, names):
    return re.sub(rf"\b({'|'.join(names)})\b(?!\()", lambda found: names[found[1]], text)


def namings(let):
    """Yield every order of names that the symbols of a formula can have."""
    symbols = [part.partition(":")[0].strip() for part in let.split(";")]
    for order in itertools.permutations(range(len(symbols))):
        yield {name: OTHERS[place] for name, place in zip(symbols, order, strict=True)}


@pytest.mark.thinned(3)
@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.whole)])
def test_a_plan_does_not_depend_on_names(name, part, monkeypatch):
    monkeypatch.setattr(build, "loaded", stop)
    text, wrt, let = FORMULAS[name]
    ways = list(namings(let))
    chosen = ways[:: max(1, len(ways) // 4)] if part == 0 else ways
    found = [
        cost(renamed(text, names), renamed(wrt, names), "; ".join(renamed(p, names) for p in let.split(";")))
        for names in chosen
    ]
    flops, moved = zip(*found, strict=True)
    assert max(flops) <= 1.01 * min(flops)
    assert max(moved) <= 1.05 * min(moved)
