"""Loops of a fixed number of steps are recurrences from eight steps on, or are run step by step, with equal results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from expressions.test_traced_loops import difference

import matcalc as mc
from matcalc.tensor.nodes.node import toposort

LET = "W: matrix(2, 2); h: vector(2)"
RNG = np.random.default_rng(0)
DATA = {"W": RNG.random((2, 2)) * 0.6, "h": RNG.random(2) + 0.2}


def network(n: int) -> Callable[..., Any]:
    def f(W, h):
        for _ in range(n):
            h = np.tanh(W @ h)
        return np.sum(h)

    return f


def powers(n: int) -> Callable[..., Any]:
    def f(W, h):
        s = np.sum(W)
        for k in range(n):
            s = s + h[0] ** k * h[1] / (k + 1)
        return s

    return f


def adam(n: int) -> Callable[..., Any]:
    def f(W, h):
        m, v = np.zeros(2), np.zeros(2)
        for k in range(1, n + 1):
            g = W @ h
            m = 0.9 * m + 0.1 * g
            v = 0.99 * v + 0.01 * g**2
            h = h - 0.1 * (m / (1 - 0.9**k)) / (np.sqrt(v / (1 - 0.99**k)) + 1e-3)
        return h @ h

    return f


def states_in_a_list(n: int) -> Callable[..., Any]:
    def f(W, h):
        hs = [h]
        for k in range(n):
            hs.append(np.tanh(W @ hs[-1]) + 0.1 * k)
        return np.sum(hs[-1]) + np.sum(np.array(hs) ** 2) + sum(hs)[0] + hs[2][0] + len(hs)

    return f


def joined_lists(n: int) -> Callable[..., Any]:
    def f(W, h):
        hs = []
        for _ in range(n):
            h = np.tanh(W @ h)
            hs.append(h)
        return np.sum(np.stack(hs[2:] + hs[:2]) * np.arange(n)[:, None])

    return f


def even_steps(n: int) -> Callable[..., Any]:
    def f(W, h):
        for k in range(n):
            h = W @ h if k % 2 == 0 else np.tanh(h)
        return np.sum(h)

    return f


def first_step(n: int) -> Callable[..., Any]:
    def f(W, h):
        z = np.zeros(n)
        for k in range(n):
            if k == 0:
                z[k] = h[0]
            else:
                z[k] = 0.5 * z[k - 1] + h[1] * k
        return np.sum(z**2) + np.sum(W)

    return f


def from_the_end(n: int) -> Callable[..., Any]:
    def f(W, h):
        z = np.ones(n)
        for k in range(n):
            z[k] = 0.5 * z[k - 1] + h[1] * k
        return np.sum(z**2) + np.sum(W)

    return f


def table(n: int) -> Callable[..., Any]:
    def f(W, h):
        numbers = [0.1 * i for i in range(n)]
        for k in range(n):
            h = W @ h + numbers[k]
        return np.sum(h)

    return f


def after_the_loop(n: int) -> Callable[..., Any]:
    def f(W, h):
        for k in range(n):  # noqa: B007 - read after the loop
            g = W @ h
            h = g * 0.5
        return np.sum(g) * k

    return f


def pairs(n: int) -> Callable[..., Any]:
    def f(W, h):
        s = np.sum(W)
        for i in range(n):
            for j in range(n):
                if i != j:
                    s += np.sin(h[0] * i - h[1] * j)
        return s

    return f


def leaves_early(n: int) -> Callable[..., Any]:
    def f(W, h):
        for k in range(n):
            h = W @ h
            if k == 3:
                break
        return np.sum(h)

    return f


def dictionary(n: int) -> Callable[..., Any]:
    def f(W, h):
        cache = {}
        for k in range(n):
            h = W @ h
            cache[f"h{k}"] = h
        return np.sum(cache["h1"]) + np.sum(h)

    return f


def noted(n: int) -> Callable[..., Any]:
    def f(W, h):
        seen = []

        def note(x):
            seen.append(x)
            return x

        for _ in range(n):
            h = note(W @ h)
        return np.sum(seen[0]) + np.sum(seen[-1])

    return f


def rows(n: int) -> Callable[..., Any]:
    def f(W, h):
        total = 0.0
        X = np.outer(np.arange(n) / n, h)
        for k, (x, w) in enumerate(zip(X, X[:, 0], strict=True)):
            total = 0.5 * total + np.sum(W @ x) * w + k
        return total

    return f


def iterators(n: int) -> Callable[..., Any]:
    def f(W, h):
        for _, w in list(zip(range(n), range(n), strict=True)):
            h = W @ h + 0.1 * w
        for k in reversed(range(n)):
            h = np.tanh(h) + 0.1 * k
        for k in list(range(n))[::2]:
            h = h + k
        return np.sum(h)

    return f


def conditions_on_data(n: int) -> Callable[..., Any]:
    def f(W, h):
        s, z = 0.0, np.zeros(n)
        for k in range(n):
            h = np.tanh(W @ h) if h[0] > 0.3 else h + 0.1 * k
            for i in range(2):
                if W[i, 0] * k > h[i]:
                    s += W[i, 1] * h[i]
            if s > 0.1:
                z[k] = s**2
        return s + np.sum(z) + sum(v if v > 0.4 else v * v for v in h)

    return f


def written_in_vain(n: int) -> Callable[..., Any]:
    def f(W, h):
        z, out = np.zeros(n), [h]
        numbers = list(range(n))
        for k in range(n):
            z[k] = h[0] * numbers[k]
            out.append(z[k])
        return np.sum(z) + np.sum(W) + out[3] * len(out)

    return f


RECURRENCES = (network, adam, states_in_a_list, first_step, rows)
OTHERS = (powers, joined_lists, even_steps, from_the_end, table, after_the_loop, pairs, leaves_early, dictionary, noted,
          iterators, written_in_vain, conditions_on_data)  # fmt: skip
CASES = [
    pytest.param(make, n, id=f"{make.__name__}-{n}", marks=() if n == 8 else pytest.mark.whole)
    for make in (*RECURRENCES, *OTHERS)
    for n in (7, 8, 9, 40)
]


@pytest.mark.parametrize(("make", "n"), CASES)
@pytest.mark.sampled(18)
@pytest.mark.thinned(6)
def test_fixed_loops(make: Callable[[int], Callable[..., Any]], n: int) -> None:
    f = make(n)
    e = mc.expression(f, LET)
    assert np.allclose(e(**DATA), f(**DATA), rtol=1e-12)
    for name in ("W", "h"):
        found = np.asarray(mc.gradient(e, name)(**DATA))
        assert np.allclose(found, difference(f, DATA, name), rtol=1e-5, atol=1e-6)
    if make in RECURRENCES:
        assert any(node.kind == "recurrence" for node in toposort([e.node])) == (n >= 8)


def test_the_formula_does_not_grow_with_the_steps() -> None:
    sizes = {n: len(toposort([mc.expression(adam(n), LET).node])) for n in (8, 40)}
    assert sizes[8] == sizes[40]
