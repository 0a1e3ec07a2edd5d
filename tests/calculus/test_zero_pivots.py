"""Derivatives of LU factors whose pivots are zero by the form of the argument: copied rows, zero columns, low rank.

The reference is elimination in fractions, with differences in the variables. The data are such that doubles eliminate
exactly.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import matcalc as mc

exact = np.vectorize(Fraction, otypes=[object])
HALF = Fraction(1, 2)
STEP = HALF**40

MATRIX = "A: matrix(n, m)"


def zeros(*shape):
    return np.zeros(shape, dtype=object)


def tiled(*counts):
    return f"tile(A, {counts[0]}, {counts[1]})", MATRIX, lambda A: np.tile(A, counts)


ARGUMENTS = [
    ("A", MATRIX, lambda A: A),
    *(tiled(*counts) for counts in ((2, 3), (2, 1), (1, 2), (2, 2), (3, 1), (1, 3), (3, 2))),
    ("[A; zeros(1, m)]", MATRIX, lambda A: np.vstack([A, zeros(1, A.shape[1])])),
    ("[zeros(1, m); A]", MATRIX, lambda A: np.vstack([zeros(1, A.shape[1]), A])),
    ("[A, zeros(n, 1)]", MATRIX, lambda A: np.hstack([A, zeros(len(A), 1)])),
    ("[zeros(n, 1), A]", MATRIX, lambda A: np.hstack([zeros(len(A), 1), A])),
    ("[A, zeros(n, 2), A]", MATRIX, lambda A: np.hstack([A, zeros(len(A), 2), A])),
    (
        "[zeros(n, 2), A; zeros(2, m + 2)]",
        MATRIX,
        lambda A: np.vstack([np.hstack([zeros(len(A), 2), A]), zeros(2, 2 + A.shape[1])]),
    ),
    ("[A; A[:1, :]]", MATRIX, lambda A: np.vstack([A, A[:1]])),
    ("[A, A[:, :1]]", MATRIX, lambda A: np.hstack([A, A[:, :1]])),
    ("[A[:, :1], A]", MATRIX, lambda A: np.hstack([A[:, :1], A])),
    ("kron(A, ones(2, 2))", MATRIX, lambda A: np.kron(A, exact(np.ones((2, 2))))),
    ("triu(A)", MATRIX, lambda A: np.where(np.tri(*A.shape, -1) > 0, Fraction(0), A)),
    ("B*C", "B: matrix(n, r); C: matrix(r, m)", lambda B, C: B.dot(C)),
    ("diag(x)", "x: vector(n)", lambda x: np.where(np.eye(len(x)) > 0, x[:, None], Fraction(0))),
]
FIRST = ("tile(A, 2, 3)", "[zeros(n, 1), A]")
PATHS = ("plain", "numpy", "numba")


def eliminated(X):
    """Return the order of the rows, L, U and which pivots with rows below them are zero, in fractions."""
    S, order = X.copy(), np.arange(len(X))
    k = min(X.shape)
    L = exact(np.eye(len(X), k))
    for j in range(k):
        p = j + int(np.argmax(np.abs(S[j:, j])))
        for rows in (S, order):
            rows[[j, p]] = rows[[p, j]]
        L[[j, p], :j] = L[[p, j], :j]
        if S[j, j] != 0:
            L[j + 1 :, j] = S[j + 1 :, j] / S[j, j]
            S[j + 1 :] = S[j + 1 :] - L[j + 1 :, j : j + 1] * S[j]
    U = np.where(np.tri(k, X.shape[1], -1) > 0, Fraction(0), S[:k])
    return tuple(order), L, U, tuple(U[j, j] == 0 for j in range(min(k, len(X) - 1)))


def nearby(build, data, steps, part):
    """Return L or U at 0 and one step to each side; None where the row order changes, or a pivot is zero only at 0."""
    if 0 in build(*data.values()).shape:
        return None
    found = [eliminated(build(*(data[s] + t * steps[s] for s in data))) for t in (0, STEP, -STEP)]
    if any((order, empty) != (found[0][0], found[0][3]) for order, _, _, empty in found):
        return None
    return [L if part == "L" else U for _, L, U, _ in found]


def slope(build, data, steps, part):
    """Return the derivative of L or U along steps; None where it does not exist."""
    found = nearby(build, data, steps, part)
    return None if found is None else np.asarray((found[1] - found[2]) / (2 * STEP), dtype=float)


def in_fractions(arrays):
    return {name: exact(x) if x.size else zeros(*x.shape) for name, x in arrays.items()}


def drawn(text, n, m, rank):
    """Return data by name, as fractions with few digits."""
    rng = np.random.default_rng([n, m, rank])
    k = rank if text == "B*C" else min(n, m)
    L = (np.tril(rng.integers(-2, 3, (n, k)) / 4, -1) + np.eye(n, k))[rng.permutation(n)]
    U = np.triu(rng.integers(-4, 5, (k, m)) / 2, 1) + np.eye(k, m) * rng.choice([-2, -1, 1, 2], k)[:, None]
    if text == "B*C":
        return {"B": L, "C": U}
    if text == "diag(x)":
        return {"x": rng.choice([-2.0, 0.0, 1.0], n)}
    if text == "triu(A)":
        return (
            {"A": np.triu(U) * (np.arange(k) != k // 2)[:, None] + np.triu(np.ones((k, m)), 1)}
            if n <= m
            else {"A": L @ U}
        )
    return {"A": L @ U if rank == k else L[:, :rank] @ U[:rank]}


def ranks(text, n, m):
    """Return the ranks to test: all for a product; for a single matrix, the one at which its last pivot is zero."""
    k = min(n, m)
    return range(k + 1) if text == "B*C" else (k - 1, k) if text == "A" else (k,)


def functions(text, declarations, part):
    """Return the pullbacks, the pushforward and the gradients of a scalar, as one list, and the variables' names."""
    e = mc.expression(f"lu_{part}({text})", declarations)
    names = list(e.symbols)
    scalar = mc.expression(f"sum(lu_{part}({text}).*K.*K)", declarations)
    tangents = [f"d{name}" for name in names]
    pulled, slopes = e.vjp(names, cotangent="G_", check=False), scalar.gradient(names, check=False)
    return [*pulled, *slopes, e.jvp(names, tangent=tangents, check=False)], names


def run(made, path):
    if path == "plain":
        return lambda **data: [f(**{name: data[name] for name in f.symbols}) for f in made]
    return mc.compile(made, target=path, check=False)


def faults(argument, part, path, longest=4):
    """Return the differences between derivatives and slopes, and the number of comparisons."""
    text, declarations, build = argument
    made, names = functions(text, declarations, part)
    f, wrong, count = run(made, path), [], 0
    for n, m in product(range(1, longest + 1), repeat=2):
        for rank in ranks(text, n, m):
            data = drawn(text, n, m, rank)
            rng = np.random.default_rng([n, m, rank, 1])
            steps = {s: rng.integers(-8, 9, x.shape) / 8 for s, x in data.items()}
            wanted = slope(build, in_fractions(data), in_fractions(steps), part)
            if wanted is None:
                continue
            G = rng.integers(-8, 9, wanted.shape) / 8
            found = f(**data, **{f"d{s}": E for s, E in steps.items()}, G_=G, K=G)
            pulled, slopes = found[: len(names)], found[len(names) : -1]
            errors = (
                sum(np.sum(g * steps[s]) for g, s in zip(pulled, names, strict=True)) - np.sum(G * wanted),
                sum(np.sum(g * steps[s]) for g, s in zip(slopes, names, strict=True)) - np.sum(G * G * wanted),
                np.max(np.abs(found[-1] - wanted)),
            )
            count += 1
            wrong += [(n, m, rank, errors)] if not np.max(np.abs(errors)) < 1e-11 else []
    return wrong, count


def cases():
    """Yield path, argument, part and the longest side: a few in the first tier, more in the whole suite."""
    for path, (k, argument), part in product(PATHS, enumerate(ARGUMENTS), "LU"):
        is_plain, is_first = path == "plain", argument[0] in FIRST
        some = is_plain and k % 3 == 0 or is_first and part == "L"
        mark = () if is_plain and is_first else pytest.mark.whole if some else pytest.mark.long
        longest = 2 if mark == () else 3 if some else 4
        yield pytest.param(path, argument, part, longest, marks=mark, id=f"{path}-{argument[0]}-{part}")


@pytest.mark.parametrize(("path", "argument", "part", "longest"), list(cases()))
def test_derivatives_keep_the_form(path, argument, part, longest):
    wrong, count = faults(argument, part, path, longest)
    assert not wrong
    assert count >= 2


@pytest.mark.whole
@pytest.mark.parametrize("part", ["L", "U"])
@pytest.mark.parametrize("text", FIRST)
def test_second_derivatives_keep_the_form(text, part):
    declarations, build = {of: rest for of, *rest in ARGUMENTS}[text]
    f = mc.expression(f"sum(lu_{part}({text}).*K)", declarations).hvp("A", vector="E_")
    rng, count = np.random.default_rng(5), 0
    for n, m in product(range(1, 4), repeat=2):
        data, steps = drawn(text, n, m, min(n, m)), {"A": rng.integers(-8, 9, (n, m)) / 8}
        found = nearby(build, in_fractions(data), in_fractions(steps), part)
        if found is not None:
            K = rng.integers(-8, 9, found[0].shape) / 8
            wanted = np.sum(K * np.asarray((found[1] + found[2] - 2 * found[0]) / STEP**2, dtype=float))
            given = {"A": data["A"], "K": K, "E_": steps["A"]}
            along = np.sum(steps["A"] * f(**{name: given[name] for name in f.symbols}))
            np.testing.assert_allclose(along, wanted, rtol=1e-10, atol=1e-10)
            count += 1
    assert count >= 4


@pytest.mark.whole
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_pivot_of_the_last_row_may_be_within_rounding(n):
    """No entry is divided by it."""
    rng = np.random.default_rng(n)
    X, E = rng.standard_normal((n, n - 1)) @ rng.standard_normal((n - 1, n)), rng.standard_normal((n, n))
    for part in "LU":
        f = mc.expression(f"lu_{part}(X)", "X: matrix(n, n)").jvp(["X"], tangent=["E_"])
        wanted = slope(lambda X: X, {"X": exact(X)}, {"X": exact(E)}, part)
        np.testing.assert_allclose(f(X=X, E_=E), wanted, rtol=1e-10, atol=1e-10)
