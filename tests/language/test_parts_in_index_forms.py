"""Named parts in index forms: an index that a part sums by itself is not that of the form around it.

A part with data of kind index among its subscripts is written out in an index form, since they might be indices there.
The index forms and recurrences in it keep the meaning that they have in the part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import matcalc as mc

LET = "A, B: matrix(n, n); j: index(n); Q, W: matrix(n, n); x0: vector(n)"
INNER: dict[str, tuple[str, Any]] = {
    "a product": ("{{a,b: A[a,{s}]*B[{s},b]}} + eye(n)[:, j]*Q", lambda A, B, j, Q, x: A @ B + np.eye(3)[:, j] @ Q),
    "a sum": (
        "{{a,b: sum{{{s}: A[a,{s}]*B[b,{s}]}}}} + W[j, :]",
        lambda A, B, j, Q, x: A @ B.T + np.arange(9.0).reshape(3, 3)[j],
    ),
    "under a function": (
        "eye(n)[:, j]*tanh({{a,b: A[{s},a]*B[{s},b]}})",
        lambda A, B, j, Q, x: np.eye(3)[:, j] @ np.tanh(A.T @ B),
    ),
    "two forms": (
        "{{{s},b: A[b,{s}]}} + {{a,b: A[a,{s}]*B[{s},b]}}*eye(n)[:, j]",
        lambda A, B, j, Q, x: A.T + A @ B @ np.eye(3)[:, j],
    ),
    "a recurrence": (
        "{{a,b: A[a,{s}]*X[1][{s},b]}} + W[j, :]",
        lambda A, B, j, Q, x: A @ (A @ np.outer(x, x) + np.eye(3)[j[0]][:, None]) + np.arange(9.0).reshape(3, 3)[j],
    ),
}
"""Parts with an index {s} of their own, and their values."""
OUTER: dict[str, tuple[str, Any]] = {
    "listed": ("{i,p: K[i,p]*A[p,i]}", lambda K, A: K * A.T),
    "listed second": ("{p,i: K[i,p]*A[p,i]}", lambda K, A: (K * A.T).T),
    "summed": ("{i,k: K[i,p]*A[p,k]}", lambda K, A: K @ A),
    "summed by name": ("sum{i,p: K[i,p]*A[i,p]}", lambda K, A: np.sum(K * A)),
    "nested": ("{i,k: exp(sum{p: K[i,p]*A[k,p]}/50)}", lambda K, A: np.exp(K @ A.T / 50)),
    "with the inner names": ("{a,b: K[b,a]*A[a,p]*A[p,b]}", lambda K, A: K.T * (A @ A)),
}
SYSTEM = "X[0] = x0*x0', X[t+1] = A*X[t] + eye(n)[j[t], :]*ones(n)', t < n"


@pytest.mark.sampled(72)
@pytest.mark.parametrize("letter", ["p", "i", "k", "q"])
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("inner", INNER)
def test_a_part_keeps_its_own_indices(inner: str, outer: str, letter: str) -> None:
    rng = np.random.default_rng(3)
    A, B, Q = rng.normal(size=(3, 3, 3))
    x, j = rng.normal(size=3), np.array([2, 0, 0])
    (part, value), (form, result) = INNER[inner], OUTER[outer]
    e = mc.expression(f"{form} where K = {part.format(s=letter)}, {SYSTEM}", LET)
    data = {"A": A, "B": B, "Q": Q, "W": np.arange(9.0).reshape(3, 3), "x0": x, "j": j, "n": 3}
    found = e(**{name: data[name] for name in e.symbols})
    np.testing.assert_allclose(found, result(value(A, B, j, Q, x), A), rtol=1e-12)
    again = mc.expression(str(e), e.declarations)
    np.testing.assert_allclose(again(**{name: data[name] for name in again.symbols}), found, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{i,p: K[i]*A[p,i]} where K = {a: A[a,p]*x0[p] + A[i,a]} + x0[j]", "the part 'K' sums over p"),
        ("{i,t: K[i]*A[t,i]} where K = X[1][:, i] + x0[j], X[0] = A, X[t+1] = A[i,i]*X[t], t < n", "contains i"),
    ],
)
def test_a_name_with_two_meanings_is_refused(text: str, message: str) -> None:
    with pytest.raises(mc.MatcalcError) as fault:
        mc.expression(text, LET)
    assert message in str(fault.value)
    assert "^" in str(fault.value)


def test_sums_over_steps_of_parts_with_data_as_subscripts() -> None:
    """The recurrence in the part is that of the sum around it."""
    let = "A: matrix(n, n); j: index(n); x0: vector(n)"
    e = mc.expression(f"sum{{t: {{k: T1[k, j[k]]*x0[k]}}[t]}} where T1 = tanh(X[1][:, j]), {SYSTEM}", let)
    rng = np.random.default_rng(4)
    A, x, j = rng.normal(size=(3, 3)), rng.normal(size=3), np.array([1, 2, 0])
    T1 = np.tanh((A @ np.outer(x, x) + np.eye(3)[j[0]][:, None])[:, j])
    assert np.isclose(float(e(A=A, j=j, x0=x)), sum(T1[k, j[k]] * x[k] for k in range(3)), rtol=1e-12)
