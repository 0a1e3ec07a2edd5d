"""Reused orders of contraction equal those of a new search; parts are found by their names."""

import random
from collections import Counter
from itertools import combinations

import pytest

from matcalc.compiler.plan.products import contraction_memo
from matcalc.compiler.plan.products.contraction_memo import Parts
from matcalc.pipeline import build

NETWORK = "norm2(tanh(W2*tanh(W1*tanh(W0*x))) - y)^2"
LAYERS = "; ".join(f"W{k}: matrix(n, n)" for k in range(3)) + "; x: vector(n); y: vector(n)"
CASES = [
    (NETWORK, ["W0", "W1", "W2"], LAYERS),
    ("tr(A*B*A*B*C)^2", ["A", "B"], "A: matrix(n, n); B: matrix(n, n); C: matrix(n, n)"),
    ("tr(A*A*A*A*B)", "A", "A: matrix(n, n); B: matrix(n, n)"),
    ("norm2(X*w - y)^2 + sum((X*w).^3)", ["w", "X"], "X: matrix(m, n); w: vector(n); y: vector(m)"),
    ("y'*inv(S)*X*inv(S)*y + logdet(S)", ["S", "y"], "S: matrix(n, n) spd; X: matrix(n, n); y: vector(n)"),
    ("norm2(M.*(T - U*V'))^2", ["U", "V"], "M: matrix(m, n); T: matrix(m, n); U: matrix(m, k); V: matrix(n, k)"),
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(("text", "wrt", "let"), CASES)
def test_orders_found_again_are_those_of_a_search(text, wrt, let, monkeypatch):
    def made():
        return build.specified(build.gradient_request(text, wrt, let, "matrix"), "f")[0]

    kept = made()
    monkeypatch.setattr(contraction_memo.Orders, "plan", lambda _, contraction: contraction.plan())
    searched = made()
    assert (kept.source, kept.plan) == (searched.source, searched.plan)


def test_some_orders_are_found_again(monkeypatch):
    counts = Counter()
    plan = contraction_memo.Orders.plan

    def counted(self, contraction):
        before = self.searches
        found = plan(self, contraction)
        counts["searched" if self.searches > before else "found"] += len(contraction.factors) > 1
        return found

    monkeypatch.setattr(contraction_memo.Orders, "plan", counted)
    build.specified(build.gradient_request(NETWORK, ["W0", "W1", "W2"], LAYERS, "matrix"), "f")
    assert counts["found"] > 0


def test_parts_are_found_by_the_names_of_their_operands():
    rng = random.Random(5)
    for _ in range(200):
        names = [rng.choice("abcdefg") for _ in range(rng.randint(1, 6))]
        known = {tuple(sorted(rng.choice("abcdefg") for _ in range(rng.randint(1, 4)))) for _ in range(12)}
        parts = Parts()
        for part in sorted(known):
            parts.add(part)
        wanted = {
            sum(1 << k for k in chosen)
            for size in range(2, len(names) + 1)
            for chosen in combinations(range(len(names)), size)
            if tuple(sorted(names[k] for k in chosen)) in known
        }
        found = list(parts.within(names))
        assert set(found) == wanted
        assert len(found) == len(wanted)
