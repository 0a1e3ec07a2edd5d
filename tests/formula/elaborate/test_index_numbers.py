"""Indices as numbers, and conditions on them: values, gradients and Hessians against loops over NumPy arrays."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(8)
LET = "x: vector(n); A: matrix(n, n); r: scalar"
Loop = Callable[..., complex]


def loop(term: Callable[..., complex], axes: int = 1) -> Loop:
    """Return the sum of a term over all indices below n."""

    def total(n: int, **data: np.ndarray) -> complex:
        return sum((term(*at, n, **data) for at in np.ndindex(*[n] * axes)), 0.0)

    return total


CASES: list[tuple[str, str, Loop]] = [
    ("sum{i: i*x[i]^2}", "x", loop(lambda i, n, x: i * x[i] ** 2)),
    ("sum{i: exp(-i/2)*x[i]^3/(i + 1)}", "x", loop(lambda i, n, x: np.exp(-i / 2) * x[i] ** 3 / (i + 1))),
    ("sum{i,j: i*x[j]*x[i]}", "x", loop(lambda i, j, n, x: i * x[j] * x[i], 2)),
    ("sum{k: sum{j: x[j]*cos(2*pi*j*k/n)}^2*ones(n)[k]}", "x",
     loop(lambda k, n, x: sum(x[j] * np.cos(2 * np.pi * j * k / n) for j in range(n)) ** 2)),
    ("sum{i,j: r^abs(i - j)*A[i,j]^2}", "A", loop(lambda i, j, n, A, r: r ** abs(i - j) * A[i, j] ** 2, 2)),
    ("sum{i,j: where(i < j, A[i,j]^2, sin(A[i,j]))}", "A",
     loop(lambda i, j, n, A: A[i, j] ** 2 if i < j else np.sin(A[i, j]), 2)),
    ("sum{i,j: A[i,j]^2*[i != j]}", "A", loop(lambda i, j, n, A: A[i, j] ** 2 * (i != j), 2)),
    ("sum{i,j: A[i,j]^2*[i < j + 2]}", "A", loop(lambda i, j, n, A: A[i, j] ** 2 * (i < j + 2), 2)),
    ("sum{i,j: A[i,j]^2*[abs(i - j) <= 1]}", "A", loop(lambda i, j, n, A: A[i, j] ** 2 * (abs(i - j) <= 1), 2)),
    ("sum{i,j: A[i,j]^2*[i*j >= 2]*[i <= j]}", "A", loop(lambda i, j, n, A: A[i, j] ** 2 * (i * j >= 2 and i <= j), 2)),
    ("sum{i: x[i]^2*[i == 1]}", "x", loop(lambda i, n, x: x[i] ** 2 * (i == 1))),
    ("sum{i: x[i]^2*[i/2 < 1]}", "x", loop(lambda i, n, x: x[i] ** 2 * (i / 2 < 1))),
    ("sum{k: {j: A[j,i]*x[i]*i}[k]^2}", "x",
     loop(lambda j, n, x, A: sum(A[j, i] * x[i] * i for i in range(n)) ** 2)),
]  # fmt: skip


def data_for(n: int) -> dict[str, np.ndarray]:
    return {"x": RNG.uniform(0.5, 2, n), "A": RNG.uniform(0.5, 2, (n, n)), "r": np.asarray(0.7)}


def used(e: mc.Expression, data: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: data[name] for name in e.symbols}


def gradient_of(total: Loop, n: int, data: dict[str, np.ndarray], wrt: str) -> np.ndarray:
    """Return the gradient of a loop by complex steps, which do not cancel."""
    found = np.zeros(data[wrt].shape)
    for at in np.ndindex(*data[wrt].shape):
        moved = data[wrt].astype(complex)
        moved[at] += 1e-30j
        found[at] = np.imag(total(n, **{**data, wrt: moved})) / 1e-30
    return found


def hessian_of(total: Loop, n: int, data: dict[str, np.ndarray], wrt: str) -> np.ndarray:
    """Return the Hessian of a loop by differences of its gradient."""
    shape = data[wrt].shape
    found = np.zeros((*shape, *shape))
    for at in np.ndindex(*shape):
        step = np.zeros(shape)
        step[at] = 1e-5
        up, down = (gradient_of(total, n, {**data, wrt: data[wrt] + side * step}, wrt) for side in (1, -1))
        found[at] = (up - down) / 2e-5
    return found


def agree(text: str, wrt: str, total: Loop, sizes: Sequence[int], target: str) -> None:
    e = mc.expression(text, LET)
    outputs = [e, e.gradient(wrt), e.hessian(wrt)]
    assert [mc.expression(str(o), o.declarations) for o in outputs] == outputs
    f = mc.compile(outputs, target=target, args=list(e.symbols)) if target else None
    for n in sizes:
        data = used(e, data_for(n))
        found = f(**data) if f else [o(**(used(o, data) or {"n": n})) for o in outputs]
        np.testing.assert_allclose(found[0], total(n, **data), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found[1], gradient_of(total, n, data, wrt), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found[2], hessian_of(total, n, data, wrt), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("text", "wrt", "total"), CASES, ids=[case[0] for case in CASES])
def test_values_and_derivatives_are_those_of_a_loop(text: str, wrt: str, total: Loop) -> None:
    agree(text, wrt, total, (0, 1, 2, 5), "")
