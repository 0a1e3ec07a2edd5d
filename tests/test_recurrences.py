"""Recurrences against their unrolled formulas, values of loops in NumPy, and facts of textbooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import matcalc as mc
from matcalc.errors import MatcalcError

LENGTHS = (0, 1, 2, 7)
Data = dict[str, Any]


def data(length: int, seed: int = 0) -> Data:
    """Return data of one length for all formulas of this file."""
    rng = np.random.default_rng(seed)
    n, m = 3, 2
    spd = [x @ x.T / 4 + np.eye(k) for k, x in ((n, rng.normal(size=(n, n))), (n, rng.normal(size=(n, n))))]
    r = rng.normal(size=(m, m))
    return {
        "A": rng.normal(size=(n, n)) / 2, "B": rng.normal(size=(n, m)), "U": rng.normal(size=(length, m)),
        "x0": rng.normal(size=n), "c": rng.normal(size=n), "b": rng.normal(size=n), "P0": spd[0], "Q": spd[1],
        "R": r @ r.T / 4 + np.eye(m), "H": rng.normal(size=(m, n)), "G": spd[0] + spd[1],
        "a": 0.3, "w": 0.2, "h": 0.7, "s": 1.1, "e": rng.normal(size=length), "g": rng.normal(size=length + 2),
    }  # fmt: skip


DECLARED = (
    "A, G, P0, Q: matrix(n, n); B: matrix(n, m); U: matrix(T, m); x0, c, b: vector(n); R: matrix(m, m); "
    "H: matrix(m, n); a, w, h, s: scalar; e: vector(T); g: vector(T + 2)"
).replace("A, G, P0, Q: matrix(n, n)", "A: matrix(n, n); P0, Q: matrix(n, n) spd; G: matrix(n, n) symmetric")
DECLARED = DECLARED.replace("R: matrix(m, m)", "R: matrix(m, m) spd")


def names_in(text: str) -> str:
    """Return the declarations of the names that a text uses."""
    import re

    found = []
    used = set(re.findall(r"[A-Za-z]\w*", text))
    for line in DECLARED.split("; "):
        names, kind = line.split(": ", 1)
        own = [name for name in names.split(", ") if name in used]
        found += [f"{', '.join(own)}: {kind}"] if own else []
    return "; ".join(found)


LINEAR = "c'*x[T] where x[0] = x0, x[t+1] = A*x[t] + B*U[t, :], t < T"
NETWORK = "c'*x[T] + norm2(x[T])^2 where x[0] = x0, x[t+1] = tanh(A*x[t] + B*U[t, :] + b), t < T"
LYAPUNOV = "tr(G*P[0]) where P[T] = Q, P[t] = Q + A'*P[t+1]*A, t < T"
LAGS = "g'*x where x[0] = w, x[1] = s, x[t+2] = a*x[t+1] + h*x[t]*e[t], t < T"
NUMBERS = "c'*x[T] where x[0] = x0, x[t+1] = (T - t)*A*x[t]/(t + 1) + b, t < T"
PAIR = "x[T] + y[T]^2 where x[0] = w, x[t+1] = a*x[t] + y[t], y[0] = s, y[t+1] = x[t]*y[t] - e[t], t < T"
KALMAN = (
    "z[T]'*c + tr(P[T]*G) where S[t] = H*P[t]*H' + R, K[t] = A*P[t]*H'*inv(S[t]), z[0] = x0, P[0] = P0, "
    "z[t+1] = A*z[t] + K[t]*(U[t, :] - H*z[t]), P[t+1] = A*P[t]*A' - K[t]*S[t]*K[t]' + Q, t < T"
)


def _linear(d: Data, length: int) -> str:
    x = "x0"
    for t in range(length):
        x = f"(A*({x}) + B*U[{t}, :])"
    return f"c'*({x})"


def _network(d: Data, length: int) -> str:
    x = "x0"
    for t in range(length):
        x = f"tanh(A*({x}) + B*U[{t}, :] + b)"
    return f"c'*({x}) + norm2({x})^2"


def _lyapunov(d: Data, length: int) -> str:
    p = "Q"
    for _ in range(length):
        p = f"(Q + A'*({p})*A)"
    return f"tr(G*{p})"


def _lags(d: Data, length: int) -> str:
    lines = ["z0 = w", "z1 = s"]
    lines += [f"z{t + 2} = a*z{t + 1} + h*z{t}*e[{t}]" for t in range(length)]
    total = " + ".join(f"g[{t}]*z{t}" for t in range(length + 2))
    return "; ".join([*lines, total])


def _numbers(d: Data, length: int) -> str:
    x = "x0"
    for t in range(length):
        x = f"({length - t}*A*({x})/{t + 1} + b)"
    return f"c'*({x})"


def _pair(d: Data, length: int) -> str:
    lines = ["z0 = w", "y0 = s"]
    for t in range(length):
        lines += [f"z{t + 1} = a*z{t} + y{t}", f"y{t + 1} = z{t}*y{t} - e[{t}]"]
    return "; ".join([*lines, f"z{length} + y{length}^2"])


def _kalman(d: Data, length: int) -> str:
    lines = ["m0 = x0", "V0 = P0"]
    for t in range(length):
        lines += [f"S{t} = H*V{t}*H' + R", f"K{t} = A*V{t}*H'*inv(S{t})"]
        lines += [f"m{t + 1} = A*m{t} + K{t}*(U[{t}, :] - H*m{t})", f"V{t + 1} = A*V{t}*A' - K{t}*S{t}*K{t}' + Q"]
    return "; ".join([*lines, f"m{length}'*c + tr(V{length}*G)"])


UNROLLED: list[tuple[str, Callable[[Data, int], str], str]] = [
    (LINEAR, _linear, "A x0 B U"),
    (NETWORK, _network, "A b x0 U"),
    (LYAPUNOV, _lyapunov, "A Q"),
    (LAGS, _lags, "a h s e"),
    (NUMBERS, _numbers, "A b"),
    (PAIR, _pair, "a w s e"),
    (KALMAN, _kalman, "A R x0 U"),
]
NAMES = ["linear", "network", "lyapunov", "lags", "numbers", "pair", "kalman"]


def _value(e: Any, d: Data, length: int) -> Any:
    sizes = {"T": length, "n": 3, "m": 2}
    return np.asarray(e(**{name: d.get(name, sizes.get(name)) for name in e.symbols}))


@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED[:3], ids=NAMES[:3])
@pytest.mark.sampled(3)
def test_gradient_equals_that_of_the_unrolled_formula(text: str, unrolled: Any, wrt: str) -> None:
    compare(text, unrolled, wrt.split()[:2], 2)


@pytest.mark.thinned(21)
@pytest.mark.whole
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED, ids=NAMES)
def test_gradients_equal_those_of_unrolled_formulas(text: str, unrolled: Any, wrt: str, length: int) -> None:
    compare(text, unrolled, wrt.split(), length)


def compare(text: str, unrolled: Any, wrt: list[str], length: int) -> None:
    """Compare value, gradient and Hessian along a direction with those of the unrolled formula."""
    d = data(length)
    e = mc.expression(text, names_in(text))
    plain_text = unrolled(d, length)
    plain = mc.expression(plain_text, names_in(plain_text).replace("(T, m)", f"({length}, m)").replace(
        "(T)", f"({length})").replace("T + 2", f"{length + 2}"))  # fmt: skip
    close(_value(e, d, length), _value(plain, d, length))
    for name in wrt:
        if name not in plain.symbols:
            continue
        close(_value(mc.gradient(e, name), d, length), _value(mc.gradient(plain, name), d, length))
        close(_second(e, name, d, length), _second(plain, name, d, length))


def _second(e: Any, name: str, d: Data, length: int) -> Any:
    """Return the Hessian times ones."""
    product = mc.hvp(e, name)
    along = [own for own in product.symbols if own not in (*e.symbols, "T")]
    return _value(product, {**d, **dict.fromkeys(along, np.ones_like(np.asarray(d[name], dtype=float)))}, length)


def close(found: Any, wanted: Any, bound: float = 1e-12) -> None:
    """Assert that two arrays agree, relative to the largest entry."""
    assert np.shape(found) == np.shape(wanted)
    assert np.abs(found - wanted).max(initial=0) <= bound * max(1, np.abs(wanted).max(initial=0))


PRINTED = [
    (LINEAR, "A", "l[1:]'*x[:-1] where x[0] = x0, x[t+1] = A*x[t] + B*U[t, :], l[T] = c, l[t] = A'*l[t+1], t < T"),
    (LINEAR, "B", "l[1:]'*U where l[T] = c, l[t] = A'*l[t+1], t < T"),
    (LINEAR, "x0", "l[0] where l[T] = c, l[t] = A'*l[t+1], t < T"),
    (LYAPUNOV, "A", "2*sum{t: P[t+1]*A*X[t]} where P[T] = Q, P[t] = A'*P[t+1]*A + Q, X[0] = G, "
     "X[t+1] = A*X[t]*A', t < T"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wrt", "printed"), PRINTED)
def test_the_adjoint_prints_as_a_recurrence(text: str, wrt: str, printed: str) -> None:
    g = mc.gradient(mc.expression(text, names_in(text)), wrt)
    found, _, equations = str(g).partition(" where ")
    formula, _, wanted = printed.partition(" where ")
    assert found == formula
    assert set(equations.split(", ")) == set(wanted.split(", "))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED[:4], ids=NAMES[:4])
def test_printed_forms_read_back(text: str, unrolled: Any, wrt: str) -> None:
    e = mc.expression(text, names_in(text))
    g = mc.gradient(e, wrt.split()[0])
    for one in (e, g):
        assert mc.expression(str(one), one.declarations).node is one.node


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x where x[0] = b, x[t+1] = A*x[t] + c, t < T", "y where y[k+1] = c + A*y[k], y[0] = b, k < T"),
        ("x[T] where x[0] = b, y[0] = c, x[t+1] = A*x[t], y[t+1] = A*y[t] + x[t], t < T",
         "x[T] where x[0] = b, x[t+1] = A*x[t], t < T"),
        ("x where x[0] = b, S[t] = A*x[t], x[t+1] = S[t] + c, t < T", "x where x[0] = b, x[t+1] = A*x[t] + c, t < T"),
        ("x[T] + y[T] where x[0] = b, x[t+1] = A*y[t], y[0] = c, y[t+1] = x[t], t < T",
         "q[T] + p[T] where p[0] = b, q[t+1] = p[t], q[0] = c, p[t+1] = A*q[t], t < T"),
        ("x[T] where x[0] = b, x[t+1] = A*x[t] + B*V[t, :], t < T; V = 2*U",
         "x[T] where x[0] = b, x[t+1] = A*x[t] + 2*B*U[t, :], t < T"),
    ],
)  # fmt: skip
def test_equal_recurrences_are_one_node(one: str, other: str) -> None:
    one = one if "V = " not in one else "V = 2*U; x[0] = b; x[t+1] = A*x[t] + B*V[t, :]; t < T; x[T]"
    assert mc.expression(one, names_in(one)).node is mc.expression(other, names_in(other)).node


def test_facts_hold_by_induction() -> None:
    e = mc.expression("P where P[0] = P0, P[t+1] = A*P[t]*A' + Q, t < T", names_in("A P0 Q"))
    assert e.node.states[0].facts >= {"spd"}
    other = mc.expression("P where P[0] = P0, P[t+1] = A*P[t] + Q, t < T", names_in("A P0 Q"))
    assert not other.node.states[0].facts & {"spd", "symmetric"}


def test_ar_likelihood_value() -> None:
    text = "sum{t: (x[t+1] - a*x[t] - e[t])^2} where x[0] = w, x[t+1] = a*x[t] + 2*e[t], t < T"
    d = data(5)
    close(_value(mc.expression(text, names_in(text)), d, 5), d["e"] @ d["e"], 1e-13)


def test_limit_from_the_data() -> None:
    e = mc.expression("x[-1] where x[0] = w, x[t+1] = a*x[t] + e[t]", names_in("w a e"))
    d = data(4)
    x = d["w"]
    for t in range(4):
        x = d["a"] * x + d["e"][t]
    close(_value(e, d, 4), x, 1e-14)


BAD = [
    ("x[T] where x[t+1] = A*x[t], t < T", "the state x has no start"),
    ("x[T] where x[0] = b, t < T", "no step"),
    ("P[0] where P[t] = A'*P[t+1]*A, t < T", "the state P has no start"),
    ("x[T] where x[0] = b, x[t+1] = A*x[t], x[t+1] = x[t], t < T", "x has two equations for one step"),
    ("x[T] where x[0] = b, x[0] = c, x[t+1] = A*x[t], t < T", "has two equations"),
    ("x[T] where x[0] = b, x[t+1] = A*x[t]*c', t < T", "has another shape"),
    ("x[T] where x[0] = b, x[t+1] = A*x[t+2], t < T", "not known at step t"),
    ("x[T] where x[0] = b, x[t+1] = S[t]*x[t], S[t] = R1[t] + A, R1[t] = S[t], t < T", "need each other in one step"),
    ("x[T] where x[0] = b, x[t+1] = A*x[t]", "the number of steps over t is not known"),
    ("x[T] where x[0] = b, x[t+1] = A*x[t], t < -1", "negative"),
    ("x[T] where x[0] = b, x[t+1] = A*x, t < T", "read as a whole"),
    ("x[T] where x[0] = b, x[t+1] = A*x[2*t], t < T", "not t plus a number"),
    ("x[T] where x[0] = b, x[t+1] = A*x[t], t < T, t < n", "two limits"),
    ("x[T] where x[0] = b, x[t+1] = A*x[t], s < T", "no equation has the step index 's'"),
    ("x[T] where x[0] = b, x[1] = c, x[t+1] = A*x[t], t < T", "a step defines it"),
    ("x[T] where x[0] = b, x[t+2] = A*x[t], t < T", "no start x[1]"),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_recurrences_are_refused(text: str, message: str) -> None:
    with pytest.raises(MatcalcError) as found:
        mc.expression(text, names_in(text))
    assert message in str(found.value)
    assert "^" in str(found.value)  # the place is marked


def test_lengths_that_the_data_contradict() -> None:
    e = mc.expression("x[T] where x[0] = w, x[t+1] = a*x[t] + e[t], t < T", "w, a: scalar; e: vector(k)")
    with pytest.raises(MatcalcError, match="read"):
        e(w=1.0, a=0.5, e=np.ones(3), T=4)


def test_latex_has_the_equations_behind_the_formula() -> None:
    g = mc.gradient(mc.expression(LINEAR, names_in(LINEAR)), "x0")
    steps = r"\mathbf{l}_{T} = \mathbf{c},\; \mathbf{l}_{t} = \mathbf{A}^\top \mathbf{l}_{t+1},\; t < T"
    assert g.latex() == rf"\mathbf{{l}}_{{0}} \quad\text{{where }} {steps}"
    whole = mc.expression(LINEAR, names_in(LINEAR)).latex()
    assert whole.count(r"\mathbf{x}_{0}") == 0  # the start x0 is the state x_0


def test_a_value_at_each_step_prints_as_a_quantity() -> None:
    text = "sum{t: e[t]*tr(inv(P[t]))} where P[0] = Q, P[t+1] = A'*P[t]*A + Q, t < T"
    g = mc.gradient(mc.expression(text, names_in(text)), "e")
    assert str(g) == "g where P[0] = Q, P[t+1] = A'*P[t]*A + Q, g[t] = tr(inv(P[t])), t < T"
    assert mc.expression(str(g), names_in(text)).node is g.node


STOPPED = {
    "in a step": (
        "c'*x[T] where x[0] = b, x[t+1] = A*x[t] + stop(sin(x[t])), t < T",
        "l[0] where l[T] = c, l[t] = A'*l[t+1], t < T",
    ),
    "in a quantity": (
        "c'*x[T] where x[0] = b, x[t+1] = A*x[t] + stop(g[t])/2, g[t] = cos(x[t]), t < T",
        "l[0] where l[T] = c, l[t] = A'*l[t+1], t < T",
    ),
    "in a sum": (
        "sum{t: stop(x[t])'*x[t]} where x[0] = b, x[t+1] = A*x[t], t < T",
        "l[0] where x[0] = b, x[t+1] = A*x[t], l[T] = zeros(n), l[t] = A'*l[t+1] + stop(x[t]), t < T",
    ),
    "backward": (
        "c'*P[0] where P[T] = b, P[t] = A*P[t+1].*stop(P[t+1]), t < T",
        "x[T] where P[T] = b, P[t] = stop(P[t+1]).*(A*P[t+1]), x[0] = c, x[t+1] = A'*(stop(P[t+1]).*x[t]), t < T",
    ),
    "in a recurrence of a step": (
        "c'*x[T] where x[0] = b, "
        "x[t+1] = (y[S] + stop(y[S]) where y[0] = x[t], y[s+1] = A*y[s] + stop(x[t]), s < S), t < T",
        "l[0] where l[T] = c, l[t] = (p[0] where p[S] = l[t+1], p[s] = A'*p[s+1], s < S), t < T",
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", STOPPED)
def test_a_stopped_state_is_a_constant_of_its_step(kind: str) -> None:
    """The gradient is that of the textbook, and passes its check against the text as written."""
    text, printed = STOPPED[kind]
    e = mc.expression(text, "A: matrix(n, n); b, c: vector(n)")
    assert mc.gradient(e, "b").node is mc.expression(printed, "A: matrix(n, n); b, c: vector(n)").node
    for name in ("A", "b"):
        for one in (e, e.substitute(c="A*c")):  # as written, and known by its node alone
            mc.gradient(one, name)
