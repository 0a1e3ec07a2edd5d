"""Adjoint recurrences print as in textbooks, and equal the derivatives of the unrolled formulas."""

from __future__ import annotations

from typing import Any

import pytest
from test_recurrences import LENGTHS, Data, compare, names_in

import matcalc as mc

TRACKING = "sum{t: norm2(x[t+1] - U[t, :])^2}/2 where x[0] = B'*x0, x[t+1] = tanh(R*x[t] + B'*c), t < T"
SIGMOIDS = "sum{t: norm2(x[t+1] - U[t, :])^2}/2 where x[0] = B'*x0, x[t+1] = sigmoid(R*x[t] + B'*c), t < T"
EXPONENTIALS = "c'*x[T] where x[0] = x0, x[t+1] = exp(-A*x[t]), t < T"
ONLINE = (
    "o[T]/d[T] where m[0] = w, d[0] = 1, o[0] = 0, m[t+1] = max(m[t], e[t]), "
    "d[t+1] = d[t]*exp(m[t] - m[t+1]) + exp(e[t] - m[t+1]), "
    "o[t+1] = o[t]*exp(m[t] - m[t+1]) + exp(e[t] - m[t+1])*e[t], t < T"
)
LIKELIHOOD = (
    "sum{t: logdet(S[t]) + v[t]'*inv(S[t])*v[t]}/2 where z[0] = x0, P[0] = P0, v[t] = U[t, :] - H*z[t], "
    "S[t] = H*P[t]*H' + R, K[t] = A*P[t]*H'*inv(S[t]), z[t+1] = A*z[t] + K[t]*v[t], "
    "P[t+1] = A*P[t]*A' + Q - K[t]*S[t]*K[t]', t < T"
)


def _tracked(function: str, length: int) -> str:
    x, total = "(B'*x0)", ["0*a"]
    for t in range(length):
        x = f"{function}(R*({x}) + B'*c)"
        total.append(f"norm2({x} - U[{t}, :])^2/2")
    return " + ".join(total)


def _exponentials(d: Data, length: int) -> str:
    x = "x0"
    for _ in range(length):
        x = f"exp(-A*({x}))"
    return f"c'*({x})"


def _online(d: Data, length: int) -> str:
    lines = ["m0 = w", "d0 = 1", "o0 = 0*w"]
    for t in range(length):
        lines.append(f"m{t + 1} = max(m{t}, e[{t}])")
        for state, value in (("d", "1"), ("o", f"e[{t}]")):
            lines.append(f"{state}{t + 1} = {state}{t}*exp(m{t} - m{t + 1}) + exp(e[{t}] - m{t + 1})*{value}")
    return "; ".join([*lines, f"o{length}/d{length}"])


def _likelihood(d: Data, length: int) -> str:
    lines, total = ["m0 = x0", "V0 = P0"], ["0*a"]
    for t in range(length):
        lines += [f"S{t} = H*V{t}*H' + R", f"K{t} = A*V{t}*H'*inv(S{t})", f"v{t} = U[{t}, :] - H*m{t}"]
        lines += [f"m{t + 1} = A*m{t} + K{t}*v{t}", f"V{t + 1} = A*V{t}*A' - K{t}*S{t}*K{t}' + Q"]
        total.append(f"(logdet(S{t}) + v{t}'*inv(S{t})*v{t})/2")
    return "; ".join([*lines, " + ".join(total)])


UNROLLED: list[tuple[str, Any, str]] = [
    (TRACKING, lambda d, length: _tracked("tanh", length), "R c U"),
    (SIGMOIDS, lambda d, length: _tracked("sigmoid", length), "R c"),
    (EXPONENTIALS, _exponentials, "A x0"),
    (ONLINE, _online, "e w"),
    (LIKELIHOOD, _likelihood, "A H U R Q P0 x0"),
]
NAMES = ["tracking", "sigmoids", "exponentials", "online", "likelihood"]


@pytest.mark.whole
@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED[:1], ids=NAMES[:1])
def test_gradient_equals_that_of_the_unrolled_formula(text: str, unrolled: Any, wrt: str) -> None:
    compare(text, unrolled, wrt.split()[:1], 2)


@pytest.mark.thinned(18)
@pytest.mark.whole
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED, ids=NAMES)
def test_gradients_equal_those_of_unrolled_formulas(text: str, unrolled: Any, wrt: str, length: int) -> None:
    compare(text, unrolled, wrt.split(), length)


FILTER = LIKELIHOOD.partition(" where ")[2].replace("K[t]*S[t]*K[t]'", "K[t]*H*P[t]*A'").replace(", t < T", "")
BACKWARD = "l[T] = zeros(n), l[t] = (A - K[t]*H)'*l[t+1] - H'*inv(S[t])*v[t]"
TEXTBOOK = [
    (TRACKING, "x0", "B*l[0]", "l[T] = zeros(m), l[t] = R*((x[t+1] - U[t, :] + l[t+1]).*(1 - x[t+1].^2))"),
    (SIGMOIDS, "x0", "B*l[0]", "l[T] = zeros(m), l[t] = R*(x[t+1].*(1 - x[t+1]).*(x[t+1] - U[t, :] + l[t+1]))"),
    (EXPONENTIALS, "x0", "l[0]", "l[T] = c, l[t] = -A'*(l[t+1].*x[t+1])"),
    (LIKELIHOOD, "x0", "l[0]", BACKWARD),
    (LIKELIHOOD, "U", "g", f"{BACKWARD}, g[t] = inv(S[t])*v[t] + K[t]'*l[t+1]"),
]


@pytest.mark.parametrize(("text", "wrt", "formula", "backward"), TEXTBOOK)
@pytest.mark.sampled(8)
def test_adjoints_are_those_of_textbooks(text: str, wrt: str, formula: str, backward: str) -> None:
    """The gradient is the textbook's formula, is not longer, and reads back."""
    forward = FILTER if text is LIKELIHOOD else text.partition(" where ")[2].replace(", t < T", "")
    g = mc.gradient(mc.expression(text, names_in(text)), wrt)
    wanted = f"{formula} where {forward}, {backward}, t < T"
    assert mc.expression(str(g), g.declarations).node is g.node
    assert mc.expression(wanted, g.declarations).node is g.node
    assert len(str(g)) <= len(wanted)


@pytest.mark.thinned(4)
@pytest.mark.whole
@pytest.mark.parametrize("wrt", ["A", "H", "R", "P0"])
def test_gradients_of_a_likelihood_keep_the_names_of_the_step(wrt: str) -> None:
    g = mc.gradient(mc.expression(LIKELIHOOD, names_in(LIKELIHOOD)), wrt)
    assert str(g).count("inv(H*P[t]*H' + R)") == 0
    assert {f"{name}[t] =" in str(g) for name in "SKv"} == {True}
    assert mc.expression(str(g), g.declarations).node is g.node


@pytest.mark.parametrize("name", ["l", "p", "t", "g"])
@pytest.mark.sampled(4)
def test_names_of_quantities_are_no_others(name: str) -> None:
    """States, step indices and quantities that the printer names differ from the quantities of the user."""
    text = f"c'*x[T] where x[0] = b, {name}[i] = tanh(A*x[i]), x[i+1] = x[i] + A*{name}[i] + V[i, :], i < T"
    e = mc.expression(text, "A: matrix(n, n); b, c: vector(n); V: matrix(T, n)")
    for wrt in ("A", "b", "V"):
        g = mc.gradient(e, wrt)
        assert mc.expression(str(g), g.declarations).node is g.node, str(g)
        assert mc.expression(g.latex(), g.declarations, dialect="latex").node is g.node, g.latex()
