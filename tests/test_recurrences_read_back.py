"""Printed derivatives of the textbook's recurrences, read back with their declarations: the same node, or equal values.

Where the node is another one, values and slopes along a direction are compared by plain evaluation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_recurrence_facts import DATA, DECLARED, KALMAN, M, N, close

import matcalc as mc

TEXTS = {
    "b'*x[T] where x[0] = x0, x[t+1] = A*x[t] + B*U[t, :], t < T": "A B U x0 b",
    "sum(C.*X[T]) where X[0] = eye(n), X[t+1] = A*X[t], t < T": "A C",
    "sum{t: X[t]} where X[0] = eye(n), X[t+1] = A*X[t], t < T": "A",
    "x0'*P[0]*x0 where P[T] = Q, K[t] = inv(R + B'*P[t+1]*B)*B'*P[t+1]*A, "
    "P[t] = Q + A'*P[t+1]*A - A'*P[t+1]*B*K[t], t < T": "A B Q R x0",
    KALMAN: "A H R Q Y x0 P0",
    "b'*x[T] where x[0] = x0, x[t+1] = tanh(W*x[t] + B*U[t, :]), t < T": "W B U x0",
    "tr(C*X[T]) where X[0] = eye(n)/4, X[t+1] = 2*X[t] - X[t]*S*X[t], t < T": "S C",
    "b'*x[T] where x[0] = x0, x[t+1] = x[t] - a*(S*x[t] + b), t < T": "a b x0",
    "s[T] where s[0] = w, s[t+1] = a*e[t] + (1 - a)*s[t], t < T": "a e w",
    "s[1:] where s[0] = 1, s[t+1] = s[t]*e[t], t < T": "e",
    "sum{t: log(h[t]) + e[t]^2/h[t]} where h[0] = w, h[t+1] = w + a*e[t]^2 + g*h[t], t < T": "a g w",
    "P[T] where P[0] = P0, P[t+1] = P[t] - P[t]*V[t, :]*V[t, :]'*P[t]/(1 + V[t, :]'*P[t]*V[t, :]), t < T": "V",
    "logsumexp(x[T]) where x[0] = x0, x[t+1] = log(exp(W)'*exp(x[t])) + V[t, :], t < T": "W V x0",
    "y[T+1]^2 where y[0] = a, y[1] = w, y[t+2] = g*y[t+1] + sin(y[t])*e[t], t < T": "a w g e",
}
CASES = [(text, name) for text, names in TEXTS.items() for name in names.split()]
RNG = np.random.default_rng(5)


def derivatives(text: str, name: str) -> Iterator[Any]:
    """Yield the derivatives of a recurrence: gradient, vjp, jvp and hvp of a number; vjp and jvp of an array."""
    e = mc.expression(text, DECLARED)
    if not e.shape:
        yield mc.gradient(e, name, check=False)
        yield mc.hvp(e, name, vector="towards", check=False)
    yield mc.vjp(e, name, cotangent="weights", check=False)
    yield mc.jvp(e, name, tangent="towards", check=False)


def arguments(e: Any, name: str, shape: tuple[int, ...]) -> dict[str, Any]:
    towards, weights = RNG.normal(size=np.shape(DATA[name])), RNG.normal(size=shape)
    towards = towards + towards.T if name in ("Q", "R", "P0", "S") else towards
    every = {**DATA, "n": N, "m": M, "towards": towards, "weights": weights}
    return {own: every[own] for own in e.symbols}


def assert_reads_back(text: str, name: str) -> None:
    shape = np.shape(mc.expression(text, DECLARED)(**arguments(mc.expression(text, DECLARED), name, ())))
    for e in derivatives(text, name):
        again = mc.expression(str(e), e.declarations)
        if again.node is e.node:
            continue
        given = arguments(e, name, shape)
        close(np.asarray(again(**{own: given[own] for own in again.symbols})), np.asarray(e(**given)), 1e-11)
        slopes = [mc.jvp(one, name, tangent="along", check=False) for one in (e, again)]
        given["along"] = arguments(e, name, shape).get("towards", DATA[name])
        values = [np.asarray(one(**{own: given[own] for own in one.symbols})) for one in slopes]
        close(values[1], values[0], 1e-10)


@pytest.mark.parametrize("case", [0, 20, 34])
@pytest.mark.sampled(3)
def test_a_linear_system_a_network_and_a_product_read_back(case: int) -> None:
    assert_reads_back(*CASES[case])


@pytest.mark.parametrize(
    ("text", "name"),
    [pytest.param(*case, marks=pytest.mark.long if k % 9 else pytest.mark.whole) for k, case in enumerate(CASES)],
)
def test_derivatives_read_back(text: str, name: str) -> None:
    assert_reads_back(text, name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("term", ["inv(3*eye(n) + M[t+1]*M[t+1]')", "A*M[t]*A'", "M[t]"])
def test_a_multiple_of_transposed_states_beside_others_keeps_their_axes(term: str) -> None:
    """The sum may be written in either order of its axes, and its multiples in the same."""
    system = "M[0] = Q, M[1] = A'*Q, M[2] = Q, M[t+3] = b*M[t+2], t < T"
    e = mc.expression(f"K where K[t] = (M[t+1]' + {term})/3, {system}", "A, Q: matrix(n, n); b: scalar")
    again = mc.expression(str(e), e.declarations)
    assert again.node is e.node, str(e)
    rng = np.random.default_rng(0)
    A, Q = rng.normal(size=(2, 3, 3))
    states = [Q, A.T @ Q, Q]
    others = {
        "M[t]": lambda now, _: now,
        "A*M[t]*A'": lambda now, _: A @ now @ A.T,
        "inv(3*eye(n) + M[t+1]*M[t+1]')": lambda _, after: np.linalg.inv(3 * np.eye(3) + after @ after.T),
    }
    expected = [(states[t + 1].T + others[term](states[t], states[t + 1])) / 3 for t in range(2)]
    data = {"A": A, "Q": Q, "b": 0.5, "T": 2}
    assert np.allclose(again(**{k: data[k] for k in again.symbols}), expected)


@pytest.mark.parametrize(
    "read", ["V[t][k]", "V[t+1][k]", "g[t][k]", "U[t, :][k]", "M[t][k,i]", "(V[t] + c)[k]", "x0[k]"]
)
@pytest.mark.sampled(15)
@pytest.mark.parametrize("form", ["{{i,j: P[j,i,k]*{}}}", "{{i,j: exp(sum{{k: P[j,i,k]*{}}})}}"])
def test_entries_at_the_step_in_index_forms(form: str, read: str) -> None:
    """An entry of what is read at the step has the step and the index as subscripts of their own."""
    let = "P: tensor(m, n, n); Q: matrix(n, n); c, x0: vector(n); U: matrix(T, n)"
    e = mc.expression(
        f"sum(W[T]) where V[0] = x0, V[t+1] = tanh(Q*V[t]), g[t] = Q*V[t], M[0] = Q, M[t+1] = Q*M[t]/3, W[0] = x0, "
        f"W[t+1] = W[t]/2 + logsumexp({form.format(read)}, axis=1), t < T",
        let,
    )
    for one in (e, mc.gradient(e, "Q", check=False), mc.gradient(e, "P", check=False)):
        again = mc.expression(str(one), one.declarations)
        if again.node is not one.node:
            rng = np.random.default_rng(2)
            data = {"P": rng.normal(size=(2, 3, 3)), "Q": rng.normal(size=(3, 3)), "c": rng.normal(size=3)}
            data |= {"x0": rng.normal(size=3), "U": rng.normal(size=(4, 3)), "T": 4, "n": 3, "m": 2}
            close(again(**{k: data[k] for k in again.symbols}), one(**{k: data[k] for k in one.symbols}), 1e-11)
