"""Products of some operands of a product: found wherever they occur, and stored by a loop for later loops."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from benchmarks.recurrences import by_hand
from benchmarks.recurrences.models import MODELS
from matcalc.compiler.plan.recurrences.stored_products import has_part, with_part
from matcalc.tensor.constructors import add, product, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate_all

N, M = Size.of("n"), Size.of("m")
A, B, C = symbol("A", (N, N), ()), symbol("B", (N, M), ()), symbol("C", (M, M), ())
P, u, x = symbol("P", (N, N), ["symmetric"]), symbol("u", (N,), ()), symbol("x", (M,), ())
ONE_INDEX = {k: N for k in range(9)}


def chain(*factors: tuple[Node, bool]) -> Node:
    """Return the product of matrices, transposed where the flag is set, and at its ends of vectors."""
    operands: list[tuple[Node, tuple[int, ...]]] = []
    place = 0
    for node, turned in factors:
        at = (place,) if node.rank == 1 else (place + 1, place) if turned else (place, place + 1)
        operands.append((node, at))
        place += node.rank - 1
    free = [i for i in range(place + 1) if sum(i in at for _, at in operands) == 1]
    return product(1, operands, tuple(free), {})


CHAINS = {
    "step of a Riccati recurrence": chain(
        (A, True), (P, False), (B, False), (C, False), (B, True), (P, False), (A, False)
    ),
    "repeated matrix": chain((A, False), (A, False), (A, False)),
    "matrix beside its transpose": chain((A, False), (A, True), (A, False)),
    "vectors at the ends": chain((u, False), (A, False), (B, False), (x, False)),
    "entrywise factors": product(1, [(A, (0, 1)), (P, (0, 1)), (u, (1,))], (0,), {}),
    "three matrices meet in one index": product(1, [(A, (0, 3)), (P, (1, 3)), (A, (2, 3))], (0, 1, 2), {}),
    "trace": product(1, [(A, (0, 1)), (B, (1, 2)), (C, (2, 3)), (B, (0, 3))], (), {}),
}


def parts_of(whole: Node) -> list[Node]:
    """Return all products of two or more of the operands, not of all."""
    found = []
    for count in range(2, len(whole.args)):
        for chosen in combinations(range(len(whole.args)), count):
            inside = [whole.operands[k] for k in chosen]
            around = {i for k, (_, at) in enumerate(whole.operands) if k not in chosen for i in at}.union(whole.out)
            out = tuple(dict.fromkeys(i for _, at in inside for i in at if i in around))
            found.append(product(1, inside, out, {}))
    return found


@pytest.mark.parametrize("name", CHAINS)
def test_every_part_is_found_and_replaced(name: str) -> None:
    """With its product put back, the product is again the node that it was."""
    whole = CHAINS[name]
    bodies = [whole, add([(2, whole), (1, symbol("Z", whole.shape, ()))])]
    parts = parts_of(whole)
    assert parts
    for part in parts:
        own = symbol("K", part.shape, ())
        found = with_part(bodies, part, own)
        assert has_part(bodies, part)
        assert all(own in toposort(body) for body in found)
        back = [made.node for made in instantiate_all(found, {own: Batched(part)}, {}, ())]
        assert [one is other for one, other in zip(back, bodies, strict=True)] == [True, True], part.operands


@pytest.mark.parametrize(
    ("whole", "other"),
    [
        (chain((A, False), (A, False), (u, False)), chain((A, False), (A, True))),
        (chain((A, False), (P, False), (u, False)), chain((A, True), (P, False))),
        (chain((A, False), (B, False), (x, False)), chain((A, True), (B, False))),
        (product(1, [(A, (0, 1)), (A, (0, 1)), (u, (1,))], (0,), {}), chain((A, False), (A, False))),
        (chain((A, False), (u, False)), chain((A, False), (P, False))),
    ],
)
def test_other_products_of_the_same_operands_are_no_part(whole: Node, other: Node) -> None:
    assert not has_part([whole], other)
    assert with_part([whole], other, symbol("K", other.shape, ())) == [whole]


def loops_of(name: str) -> tuple[Any, list[str]]:
    """Return a compiled function and the text of its loops over the steps."""
    model = MODELS[name]
    fn = mc.value_and_gradient(model.text, list(model.wrt), model.declarations, sizes=model.sizes)
    return fn, re.split(r"\n    for \w+ in range\(T\):", fn.source)[1:]


@pytest.mark.whole
def test_the_gain_of_a_regulator_is_stored() -> None:
    """The adjoint reads the gain `inv(B'*P*B + R)*B'*P*A`, and computes no product with the inverse again."""
    fn, (_, backward) = loops_of("lqr")
    assert len(re.findall(r"gemm\(", backward)) == 7
    for n, steps in ((2, 7), (5, 3), (3, 1), (1, 4)):
        data = MODELS["lqr"].data(n, steps)
        value, gradients = fn(*(data[k] for k in fn.args))
        expected = by_hand.lqr(*data.values())
        for found, want in zip((value, *gradients), expected, strict=True):
            found, want = np.asarray(found), np.asarray(want)
            if found.shape == (n, n) or found.shape == (max(1, n // 4),) * 2:
                found, want = found + found.T, want + want.T
            np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-11)


@pytest.mark.whole
def test_the_gain_of_a_filter_is_stored() -> None:
    _, (_, backward) = loops_of("kalman")
    assert len(re.findall(r"gemm\(", backward)) <= 14
