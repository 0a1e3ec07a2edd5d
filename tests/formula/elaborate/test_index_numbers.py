"""Indices as numbers, and conditions on them: values, gradients and Hessians against loops over NumPy arrays."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import matcalc as mc

RNG = np.random.default_rng(8)
LET = "x: vector(n); A: matrix(n, n); r: scalar; u: vector(2*n - 1)"
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
    ("sum{i: (i % 3)*x[i]^2}", "x", loop(lambda i, n, x: i % 3 * x[i] ** 2)),
    ("sum{i: (-i % 3)*(i // 2)*x[i]^2}", "x", loop(lambda i, n, x: -i % 3 * (i // 2) * x[i] ** 2)),
    ("sum{i,j: A[i,j]^2*[(i + j) % n == 0]}", "A", loop(lambda i, j, n, A: A[i, j] ** 2 * ((i + j) % n == 0), 2)),
    ("sum{i,j: A[i,j]^2*[i // 2 == j // 2]}", "A", loop(lambda i, j, n, A: A[i, j] ** 2 * (i // 2 == j // 2), 2)),
    ("sum{i,j: A[i,j]^2*[(i - j) % 2 > 0]*[i % 3 != j]}", "A",
     loop(lambda i, j, n, A: A[i, j] ** 2 * ((i - j) % 2 > 0 and i % 3 != j), 2)),
    ("sum{i: where(i % 2 == 0, x[i]^2, sin(x[i]))}", "x",
     loop(lambda i, n, x: x[i] ** 2 if i % 2 == 0 else np.sin(x[i]))),
    ("sum{i: where((i // 3) % 2 == 1, x[i], -x[i])*x[i]}", "x",
     loop(lambda i, n, x: (x[i] if i // 3 % 2 == 1 else -x[i]) * x[i])),
    ("sum{i,j: (i*j % n)*A[i,j]^2}", "A", loop(lambda i, j, n, A: i * j % n * A[i, j] ** 2, 2)),
    ("sum{i: x[i]^3*cos(pi*((i + n)//2))}", "x", loop(lambda i, n, x: x[i] ** 3 * np.cos(np.pi * ((i + n) // 2)))),
    ("sum{i: x[i]^(i % 4)*((2*i + 1) % n)}", "x", loop(lambda i, n, x: x[i] ** (i % 4) * ((2 * i + 1) % n))),
    ("sum{i: x[i // 2]^2*x[i]*i}", "x", loop(lambda i, n, x: x[i // 2] ** 2 * x[i] * i)),
    ("sum{i,j: x[(i + j) // 2]^2*A[i,j]}", "x", loop(lambda i, j, n, x, A: x[(i + j) // 2] ** 2 * A[i, j], 2)),
    ("sum{i: round(i/3)*floor(i/2)*ceil(i/2)*x[i]^2}", "x",
     loop(lambda i, n, x: round(i / 3) * (i // 2) * -(-i // 2) * x[i] ** 2)),
]  # fmt: skip


def data_for(n: int) -> dict[str, np.ndarray]:
    return {
        "x": RNG.uniform(0.5, 2, n),
        "A": RNG.uniform(0.5, 2, (n, n)),
        "r": np.asarray(0.7),
        "u": RNG.uniform(0.5, 2, max(2 * n - 1, 0)),
    }


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
        found = f(**data) if f else [o(**(used(o, data) or {"n": np.asarray(n)})) for o in outputs]
        np.testing.assert_allclose(found[0], total(n, **data), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found[1], gradient_of(total, n, data, wrt), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found[2], hessian_of(total, n, data, wrt), rtol=1e-7, atol=1e-7)


def inside(term: Callable[..., complex], first: int, last: int) -> Loop:
    """Return the sum of a term over an index from `first` to n - 1 - `last`."""

    def total(n: int, **data: np.ndarray) -> complex:
        return sum((term(i, n, **data) for i in range(first, n - last)), 0.0)

    return total


RANGES: list[tuple[str, str, Loop, int]] = [
    ("sum{i: x[i+1]*x[i]^2}", "x", inside(lambda i, n, x: x[i + 1] * x[i] ** 2, 0, 1), 1),
    ("sum{i: i*x[i-1]*x[i]^2}", "x", inside(lambda i, n, x: i * x[i - 1] * x[i] ** 2, 1, 0), 1),
    ("sum{i: (x[i+1] - 2*x[i] + x[i-1])^2*[i != 3]}", "x",
     inside(lambda i, n, x: (x[i + 1] - 2 * x[i] + x[i - 1]) ** 2 * (i != 3), 1, 1), 2),
    ("sum{i: max(x[i+1], x[i])^2*r^i}", "x",
     inside(lambda i, n, x, r: (x[i + 1] if x[i + 1].real > x[i].real else x[i]) ** 2 * r**i, 0, 1), 1),
    ("sum{i: x[n-1-i]^2*x[i]}", "x", inside(lambda i, n, x: x[n - 1 - i] ** 2 * x[i], 0, 0), 0),
    ("sum{i: x[n-2-i]^2*x[i]*i}", "x", inside(lambda i, n, x: x[n - 2 - i] ** 2 * x[i] * i, 0, 1), 1),
    ("sum{i: A[i,i+1]^2}", "A", inside(lambda i, n, A: A[i, i + 1] ** 2, 0, 1), 1),
    ("sum{i: x[(i+1)%n]*x[i]^2}", "x", inside(lambda i, n, x: x[(i + 1) % n] * x[i] ** 2, 0, 0), 1),
    ("sum{i: x[2*i]^2*(i + 1)}", "x",
     lambda n, x: sum((x[2 * i] ** 2 * (i + 1) for i in range((n + 1) // 2)), 0.0), 0),
    ("sum{i: x[2*i+1]^3*i}", "x", lambda n, x: sum((x[2 * i + 1] ** 3 * i for i in range(n // 2)), 0.0), 0),
    ("sum{i: x[2*i+1]*x[2*i]^2}", "x", lambda n, x: sum((x[2 * i + 1] * x[2 * i] ** 2 for i in range(n // 2)), 0.0), 0),
    ("sum{i: x[2*i]*x[i]^2}", "x", lambda n, x: sum((x[2 * i] * x[i] ** 2 for i in range((n + 1) // 2)), 0.0), 0),
    ("sum{j,k: A[j,(j+k)%n]^2*x[k]}", "A", loop(lambda j, k, n, A, x: A[j, (j + k) % n] ** 2 * x[k], 2), 1),
    ("sum{j,k: x[(j-k)%n]^2*A[j,k]}", "x", loop(lambda j, k, n, A, x: x[(j - k) % n] ** 2 * A[j, k], 2), 1),
    ("sum{i,j: A[i+1,j]^2*A[i,j+1]*[i < j]}", "A",
     lambda n, A: sum((A[i + 1, j] ** 2 * A[i, j + 1] for i in range(n - 1) for j in range(i + 1, n - 1)), 0.0), 1),
    ("sum{i,j: u[i+j]^2*A[i,j]}", "u", loop(lambda i, j, n, A, u: u[i + j] ** 2 * A[i, j], 2), 1),
    ("sum{i,j: u[(i + 3*j) // 2]^2*A[i,j]}", "u", loop(lambda i, j, n, u, A: u[(i + 3 * j) // 2] ** 2 * A[i, j], 2), 1),
    ("sum{i,j: u[i-j+n-1]^2*A[i,j]}", "u", loop(lambda i, j, n, A, u: u[i - j + n - 1] ** 2 * A[i, j], 2), 1),
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("text", "wrt", "total"), CASES[:4], ids=[case[0] for case in CASES[:4]])
def test_values_and_derivatives_are_those_of_a_loop(text: str, wrt: str, total: Loop) -> None:
    agree(text, wrt, total, (0, 1, 2, 5), "")


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("text", "wrt", "total", "least"), RANGES[:4], ids=[case[0] for case in RANGES[:4]])
def test_an_index_runs_over_the_numbers_inside(text: str, wrt: str, total: Loop, least: int) -> None:
    agree(text, wrt, total, [n for n in (0, 1, 2, 5) if n >= least], "")


@pytest.mark.thinned(6)
@pytest.mark.whole
@pytest.mark.parametrize("target", ["", "numpy", "numba"])
@pytest.mark.parametrize(
    ("text", "wrt", "total", "least"),
    [*((*case, 0) for case in CASES), *RANGES],
    ids=[*(case[0] for case in CASES), *(case[0] for case in RANGES)],
)
def test_every_path_agrees_with_a_loop(text: str, wrt: str, total: Loop, least: int, target: str) -> None:
    agree(text, wrt, total, [n for n in (0, 1, 2, 5) if n >= least], target)


@pytest.mark.whole
@pytest.mark.parametrize(("text", "wrt"), [case[:2] for case in [*CASES, *RANGES]])
def test_the_reference_agrees(text: str, wrt: str) -> None:
    assert mc.check(text, wrt, LET)


def test_an_empty_range_is_refused() -> None:
    e = mc.expression("sum{i: x[i+1]*x[i]}", LET)
    assert e.needs == ("n >= 1, or no number of index i is inside all its axes",)
    with pytest.raises(mc.ShapeError, match="no number of index i"):
        e(x=np.zeros(0))
    with pytest.raises(mc.ShapeError, match="no number of index i"):
        mc.expression("sum{i: v[i+3]}", "v: vector(2)")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("target", ["", "numpy"])
@pytest.mark.parametrize("text", ["sum{i: log(x[i])*[i != 1]}", "sum{i: log(x[i])*[i/2 > 1]}"])
def test_a_condition_switches_off_infinite_entries(text: str, target: str) -> None:
    outputs = [mc.expression(text, LET), mc.gradient(text, "x", LET)]
    x = np.array([1.0, 0.0, 2.0, 3.0]) if "!=" in text else np.array([0.0, 0.0, 0.0, 3.0])
    f = mc.compile(outputs, target=target) if target else None
    value, gradient = f(x=x) if f else [o(x=x) for o in outputs]
    kept = np.array([1, 0, 1, 1]) if "!=" in text else np.array([0, 0, 0, 1])
    np.testing.assert_allclose(value, np.log(x[kept == 1]).sum(), rtol=1e-14)
    np.testing.assert_allclose(gradient, np.where(kept, 1 / np.where(kept, x, 1), 0), rtol=1e-14)


def test_data_plus_a_number_is_a_subscript() -> None:
    e = mc.expression("sum{t: c[y[t] + 1]^2*w[t]} + sum(c[y + 1])", "c: vector(n); w: vector(m); y: index(m)")
    c, w, y = RNG.normal(size=5), RNG.normal(size=3), np.array([3, 0, 3])
    data = {"c": c, "w": w, "y": y}
    assert e(**data) == pytest.approx(np.sum(c[y + 1] ** 2 * w) + np.sum(c[y + 1]), rel=1e-13)
    expected = np.zeros(5)
    np.add.at(expected, y + 1, 2 * c[y + 1] * w + 1)
    np.testing.assert_allclose(e.gradient("c")(**data), expected, rtol=1e-13)
    with pytest.raises((mc.ShapeError, IndexError)):
        e(**{**data, "y": np.array([4, 0, 1])})


REFUSED = [
    ("x[y - 1]", "the subscript y - 1 is not supported"),
    ("sum{i: x[-1-i]*x[i]}", "the subscript -1 - i is negative"),
    ("sum{i: x[i+1]*z[i]}", "the end of index i is n - 1 or m"),
    ("sum{i: x[i+1]*x[i]*z[i]}", "the end of index i is n - 1 or m"),
    ("{i,j: x[i*j]*A[i,j]}", "the subscript i*j is not supported"),
    ("{i: x[i//2 + 1]*x[i]}", "the subscript i//2 + 1 is not supported"),
    ("{i: x[i//i]*x[i]}", "the size 0 is divided by zero"),
    ("{i: x[i/2]*x[i]}", "the subscript i/2 is not supported"),
    ("{k: sum{j: x[k+j]*z[j]}}", "the length of index k is not known"),
    ("{k: x[k+j]*z[j]*ones(3)[k]}", "the subscript k + j is not supported"),
    ("{: x[i+1]*x[i]}", "a subscript is an integer or a size, not i + 1"),
    ("{i: where(i > 0, x[i-1], 0)}", "(i > 0) bounds i, and so do the subscripts that compute with i"),
    ("sum{i: x[i-1]*[i > 0]}", "[i > 0] bounds i, and so do the subscripts that compute with i"),
    ("{j: A[j,i]*i}", "index i is not listed, and not repeated within one product"),
    ("sum{i: i}", "the length of index i is not known"),
    ("x % 3", "% takes numbers, and x (vector of n) is none"),
    ("A // 2", "// takes numbers, and A (n x n) is none"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_ambiguous_is_refused(text: str, message: str) -> None:
    with pytest.raises(mc.MatcalcError) as caught:
        mc.expression(text, "x: vector(n); A: matrix(n, n); y: index(p); z: vector(m)")
    assert caught.value.message.startswith(message)
