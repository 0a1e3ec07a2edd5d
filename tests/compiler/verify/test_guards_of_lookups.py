"""Guards that look up data are tested after the guards of the index at which they look it up."""

import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.entrywise import Guard, Literal, Select, select
from matcalc.compiler.verify.entries import entry
from matcalc.tensor.sizes.size import Size

AT, K, J, P = (Size.of(name) for name in "ikjp")
TEXT = """sum{t: tr(M[t]*A)*e[t]} + sum(w.^2) where v[0] = c, v[1] = x0, v[2] = x0, v[t+3] = sin(a*eye(n)[j[t], :]/3),
M[0] = Q, M[t+1] = v[t+2]*v[t+1]' + A*M[t]*A' + b*M[t], w[t] = b*v[t+1] + softmax(v[t+1]), t < 7"""
DECLARED = "A, Q: matrix(n, n); x0, c: vector(n); e: vector(7); a, b: scalar; j: index(7)"


@pytest.mark.parametrize("order", [1, -1])
def test_guards_are_ordered_by_their_lookups(order):
    guards = [Guard(">=", AT - 2), Guard("==", entry(J, AT - 2) - K), Guard("==", entry(P, entry(J, AT - 2)) - K)]
    assert select([*guards, *guards][::order], Literal(1)) == Select(tuple(guards), Literal(1))
    assert select([], Literal(1)) == Literal(1)


def loss(a, A, Q, x0, c, e, b, j):
    steps, n = len(e), len(c)
    v = np.array([c, x0, x0, *(np.sin(a * np.eye(n)[k] / 3) for k in j)])
    M, total = Q, 0.0
    for t in range(steps):
        total += np.trace(M @ A) * e[t]
        u = np.exp(v[t + 1])
        total += np.sum((b * v[t + 1] + u / u.sum()) ** 2)
        M = np.outer(v[t + 2], v[t + 1]) + A @ M @ A.T + b * M
    return total


@pytest.mark.whole
@pytest.mark.parametrize("target", ["numba", "numpy"])
def test_second_derivatives_of_lags_with_data_as_indices(target):
    """The term of `j[i - 2]` exists from i = 2 on."""
    rng = np.random.default_rng(7)
    n, steps, a = 3, 7, 0.4
    A, Q = rng.normal(size=(2, n, n)) / 2
    x0, c = rng.normal(size=(2, n))
    data = {"A": A, "Q": Q, "x0": x0, "c": c, "e": rng.normal(size=steps), "b": 0.3, "j": rng.integers(0, n, steps)}
    second = mc.compile(mc.hvp(mc.expression(TEXT, DECLARED), "a", vector="d"), target=target)
    found = second(**{name: {**data, "a": a, "d": 1.0}[name] for name in second.args})
    step = 1e-100
    slopes = [np.imag(loss(a + h + 1j * step, **data)) / step for h in (-1e-3, -5e-4, 5e-4, 1e-3)]
    wanted = (slopes[0] - 8 * slopes[1] + 8 * slopes[2] - slopes[3]) / 6e-3
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


BLOCK = "[tr(A)*eye(n)[:, j], A*x0]"
PARTS = [
    (f"v'*diag({BLOCK}[j, 1:])", lambda B, d: d["v"] @ np.diag(B[d["j"], 1:])),
    (f"v.*diag({BLOCK}[j, 1:])", lambda B, d: d["v"] * np.diag(B[d["j"], 1:])),
    (f"diag({BLOCK}[j, 1:])*x0'", lambda B, d: np.outer(np.diag(B[d["j"], 1:]), d["x0"])),
    (f"sum{{t: (diag({BLOCK}[j, 1:]).*(U*x0))[t]}}", lambda B, d: np.diag(B[d["j"], 1:]) @ d["U"] @ d["x0"]),
    (f"(diag({BLOCK}[j, :-1]) + diag({BLOCK}[j, 1:]))'*v",
     lambda B, d: (np.diag(B[d["j"], :-1]) + np.diag(B[d["j"], 1:])) @ d["v"]),
    (f"[diag({BLOCK}[j, 1:]); v.*diag({BLOCK}[j, 1:])]",
     lambda B, d: np.kron([1, 0], np.diag(B[d["j"], 1:])) + np.kron([0, 1], d["v"] * np.diag(B[d["j"], 1:]))),
]  # fmt: skip


@pytest.mark.sampled(36)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize(("n", "steps"), [(3, 5), (3, 1), (3, 0), (1, 3), (4, 4)])
@pytest.mark.parametrize(("text", "truth"), PARTS, ids=[text for text, _ in PARTS])
def test_parts_of_blocks_that_look_up_shifted_indices(text, truth, n, steps, target):
    """The entries `j[i + 1]` exist up to the last but one."""
    rng = np.random.default_rng(n + steps)
    data = {
        "A": rng.normal(size=(n, n)), "x0": rng.normal(size=n), "v": rng.normal(size=steps),
        "j": rng.integers(0, n, steps), "U": rng.normal(size=(steps, n)),
    }  # fmt: skip
    block = np.hstack([np.trace(data["A"]) * np.eye(n)[:, data["j"]], (data["A"] @ data["x0"])[:, None]])
    e = mc.expression(text, "A: matrix(n, n); x0: vector(n); v: vector(T); j: index(T); U: matrix(T, n)")
    function = mc.compile(e, target=target)
    found = function(**{name: data[name] for name in function.args})
    np.testing.assert_allclose(
        found, truth(block, data) if steps else np.zeros(np.shape(found)), rtol=1e-12, atol=1e-12
    )
