"""Chains of matrices of unknown sizes: each call chooses an order of multiplication that is close to the best."""

import itertools
import random

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.listing import operations
from matcalc.compiler.plan.products import orders_at_run_time
from matcalc.compiler.plan.products.orders_at_run_time import orders
from matcalc.expressions.read_input import expressions
from matcalc.pipeline.build import planned, request_of

NAMES = "abcdefgh"


def text(count):
    """Return a chain and its declarations."""
    let = "; ".join(f"M{k}: matrix({NAMES[k]}, {NAMES[k + 1]})" for k in range(count))
    return "*".join(f"M{k}" for k in range(count)), let


def all_orders(first, last):
    """Return every parenthesisation, as products of three sizes, by enumeration."""
    if first == last:
        return [()]
    found = []
    for cut in range(first, last):
        for left, right in itertools.product(all_orders(first, cut), all_orders(cut + 1, last)):
            found.append((*left, *right, (first, cut + 1, last + 1)))
    return found


def program_of(f, let, sizes=None):
    return planned(request_of(expressions([f], let), ["result"], 0, sizes=sizes)).program


@pytest.mark.parametrize("count", range(3, 8))
def test_close_to_the_best_of_all_orders_for_nearly_all_sizes(count):
    """Costs are within 15% of the optimum for 95% of random chains with sizes 1 to 1000, as in arXiv 2511.20198."""
    chosen = orders(tuple(NAMES[: count + 1]))
    assert 2 <= len(chosen) <= count + 1
    every = all_orders(0, count - 1)
    rng, close, rounds = random.Random(77), 0, 300
    for _ in range(rounds):
        n = [rng.randint(1, 1000) for _ in range(count + 1)]
        best = min(sum(n[a] * n[b] * n[c] for a, b, c in order) for order in every)
        taken = min(sum(n[a] * n[b] * n[c] for a, b, c in order) for order, _ in chosen)
        assert taken >= best
        close += taken <= 1.15 * best
    assert close >= 0.95 * rounds


@pytest.mark.parametrize("count", [3, 4])
def test_the_functions_are_those_orders(count):
    """The steps of each branch take the flops of its cost formula, at any sizes."""
    program = program_of(*text(count))
    (kernel,) = program.kernels
    assert len(kernel.parts) == len(kernel.choice.costs) == len(orders(tuple(NAMES[: count + 1])))
    rng = random.Random(1)
    for _ in range(20):
        n = [rng.randint(1, 1000) for _ in range(count + 1)]
        sizes = dict(zip(NAMES, n, strict=False))
        letters = {f"n_{k}": length for k, length in enumerate(n)}
        for part, cost in zip(kernel.parts, kernel.choice.costs, strict=True):
            assert operations(part.program)[0].evaluate(sizes) == eval(cost, {}, letters)


@pytest.mark.parametrize("f, let", [
    ("A'*B*C", "A: matrix(b, a); B: matrix(b, c); C: matrix(c, d)"),
    ("A*B'*C'", "A: matrix(a, b); B: matrix(c, b); C: matrix(d, c)"),
    ("exp(A)*B*C*D", "A: matrix(a, b); B: matrix(b, c); C: matrix(c, d); D: matrix(d, e)"),
    ("2*A*B*C", "A: matrix(a, b); B: matrix(b, c); C: matrix(c, d)"),
    ("A*B*C", "A: matrix(least, n_0); B: matrix(n_0, cost_1); C: matrix(cost_1, a_0)"),
])  # fmt: skip
def test_values(f, let):
    fn = mc.compile(f, declarations=let, target="numpy")
    rng = np.random.default_rng(2)
    for n in ([3, 4, 2, 5, 6], [1, 1, 1, 1, 1], [9, 1, 9, 1, 9], [2, 0, 3, 2, 2], [0, 2, 3, 0, 2], [40, 2, 30, 3, 20]):
        known = {}
        data = [rng.standard_normal([known.setdefault(str(s), n[len(known) % 5]) for s in a.shape])
                for a in fn.spec.arguments]  # fmt: skip
        names = {a.name: value for a, value in zip(fn.spec.arguments, data, strict=True)}
        truth = eval(
            f.replace("'", ".T").replace("*", "@").replace("2@", "2*").replace("exp", "np.exp"), {"np": np}, names
        )
        np.testing.assert_allclose(fn(*data), truth, rtol=1e-12, atol=1e-12)


@pytest.mark.whole
@pytest.mark.parametrize("count", [3, 5, 7])
def test_machine_code_and_saved_files(count, tmp_path):
    fn = mc.compile(text(count)[0], declarations=text(count)[1])
    assert fn.spec.source.count("least:") == len(orders(tuple(NAMES[: count + 1])))
    rng = np.random.default_rng(3)
    for _ in range(10):
        n = rng.integers(0, 12, count + 1)
        data = [rng.standard_normal((n[k], n[k + 1])) for k in range(count)]
        truth = data[0]
        for matrix in data[1:]:
            truth = truth @ matrix
        np.testing.assert_allclose(fn(*data), truth, rtol=1e-9, atol=1e-9)
    fn.save(tmp_path / "chain.py")
    space = {"__name__": "chain"}
    exec(compile((tmp_path / "chain.py").read_text("utf-8"), "chain.py", "exec"), space)
    np.testing.assert_allclose(space["f"](*data), truth, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("f, let, sizes", [
    ("A*B*C", "A: matrix(a, b); B: matrix(b, c); C: matrix(c, d)", {"a": 5, "b": 6, "c": 7, "d": 8}),
    ("A*B*C*x", "A: matrix(a, b); B: matrix(b, c); C: matrix(c, d); x: vector(d)", None),
    ("A*B*C", "A: matrix(n, n); B: matrix(n, n); C: matrix(n, n)", None),
    ("A*B*C", "A: matrix(n, n); B: matrix(n, n); C: matrix(n, d)", None),
    ("A*B", "A: matrix(a, b); B: matrix(b, c)", None),
    ("X'*X*B*C", "X: matrix(m, n); B: matrix(n, p); C: matrix(p, n)", {"m": 5}),
])  # fmt: skip
def test_one_order_where_it_serves(f, let, sizes):
    assert all(kernel.choice is None for kernel in program_of(f, let, sizes).kernels)


def test_orders_are_the_same_in_every_process():
    orders.cache_clear()
    first = orders(("a", "b", "c", "d", "e"))
    random.seed(5)
    orders.cache_clear()
    assert orders(("a", "b", "c", "d", "e")) == first
    assert orders_at_run_time.best_order([10, 1, 10, 1]) == ((0, 1, 3), (1, 2, 3))
