"""Recurrences with `stop`: each evaluator that differentiates by numbers keeps the stopped parts where they are.

The truth is a loop in NumPy whose stopped parts drop their imaginary parts, so that a complex step does not move them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import c_files
import numpy as np
import pytest

import matcalc as mc
from matcalc.api.plain_tests import plain_test
from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import NoReference
from matcalc.evidence.precise.values import evaluate_precisely

Array = Any
LET = "A: matrix(n, n); b, c: vector(n)"


def step(A: Array, b: Array, c: Array, T: int) -> Array:
    x = b
    for _ in range(T):
        x = A @ x + np.sin(x).real
    return c @ x


def quantity(A: Array, b: Array, c: Array, T: int) -> Array:
    x = b
    for _ in range(T):
        x = A @ x + np.cos(x).real / 2
    return c @ x


def summed(A: Array, b: Array, c: Array, T: int) -> Array:
    x, total = b, 0.0
    for _ in range(T):
        total, x = total + x.real @ x, A @ x
    return total


def backward(A: Array, b: Array, c: Array, T: int) -> Array:
    P = b
    for _ in range(T):
        P = (A @ P) * P.real
    return c @ P


def inner(A: Array, b: Array, c: Array, T: int) -> Array:
    x = b
    for _ in range(T):
        y = x
        for _ in range(2):
            y = A @ y + x.real
        x = y + y.real
    return c @ x


def start(A: Array, b: Array, c: Array, T: int) -> Array:
    x = b.real * b
    for _ in range(T):
        x = A @ x
    return c @ x


def data(A: Array, b: Array, c: Array, T: int) -> Array:
    x = b
    for _ in range(T):
        x = A.real @ x + A @ b
    return c @ x


def around(A: Array, b: Array, c: Array, T: int) -> Array:
    x, y = b, c
    for _ in range(T):
        x, y = A @ x, A @ y
    return b @ y + x.real @ y


FORMS: dict[str, tuple[str, Callable[..., Array]]] = {
    "in a step": ("c'*x[T] where x[0] = b, x[t+1] = A*x[t] + stop(sin(x[t])), t < T", step),
    "in a quantity": (
        "c'*x[T] where x[0] = b, x[t+1] = A*x[t] + stop(g[t])/2, g[t] = cos(x[t]), t < T",
        quantity,
    ),
    "in a sum": ("sum{t: stop(x[t])'*x[t]} where x[0] = b, x[t+1] = A*x[t], t < T", summed),
    "backward": ("c'*P[0] where P[T] = b, P[t] = A*P[t+1].*stop(P[t+1]), t < T", backward),
    "in a recurrence of a step": (
        "c'*x[T] where x[0] = b, "
        "x[t+1] = (y[2] + stop(y[2]) where y[0] = x[t], y[s+1] = A*y[s] + stop(x[t]), s < 2), t < T",
        inner,
    ),
    "of a start": ("c'*x[T] where x[0] = stop(b).*b, x[t+1] = A*x[t], t < T", start),
    "of data": ("c'*x[T] where x[0] = b, x[t+1] = stop(A)*x[t] + A*b, t < T", data),
    "of a last state": (
        "b'*y[T] + stop(x[T])'*y[T] where x[0] = b, x[t+1] = A*x[t], y[0] = c, y[t+1] = A*y[t], t < T",
        around,
    ),
}
KINDS = pytest.mark.parametrize("kind", FORMS)


def at(steps: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    return {"A": rng.normal(size=(3, 3)) / 2, "b": rng.normal(size=3), "c": rng.normal(size=3), "T": steps}


def slope(f: Callable[..., Array], given: dict[str, Any], name: str) -> Array:
    found = np.zeros(np.shape(given[name]))
    for k in np.ndindex(found.shape):
        moved = np.array(given[name], complex)
        moved[k] += 1e-30j
        found[k] = np.imag(f(**{**given, name: moved})) / 1e-30
    return found


def by_node(e: Any) -> Any:
    """Return the formula as one that is known by its node alone."""
    return type(e)(e.node, e.names)


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind in FORMS for name in ("A", "b")])
def test_values_and_gradients_are_those_of_loops(kind: str, name: str) -> None:
    text, f = FORMS[kind]
    e = mc.expression(text, LET)
    gradient = mc.gradient(e, name)
    assert gradient.checked.startswith("at ")
    assert mc.gradient(by_node(e), name).checked.startswith("at ")
    for steps in (0, 1, 3):
        given = at(steps)
        np.testing.assert_allclose(e(**{k: given[k] for k in e.symbols}), f(**given), rtol=1e-12)
        found = gradient(**{k: given[k] for k in gradient.symbols})
        np.testing.assert_allclose(found, slope(f, given, name), rtol=1e-11, atol=1e-13)


@pytest.mark.whole
@pytest.mark.parametrize(("kind", "form"), [(kind, form) for form in ("text", "node") for kind in FORMS])
def test_check_keeps_them(kind: str, form: str) -> None:
    """The gradient without `stop` is wrong."""
    name = "A" if kind == "of data" else "b"
    e = mc.expression(FORMS[kind][0], LET)
    e = by_node(e) if form == "node" else e
    report = mc.check(e, name)
    assert report, str(report)
    moving = mc.gradient(mc.expression(FORMS[kind][0].replace("stop(", "("), LET), name)
    assert not mc.check(e, name, against=moving)


@KINDS
def test_the_plain_evaluator_keeps_them_along_a_direction(kind: str) -> None:
    text, f = FORMS[kind]
    node, base = mc.expression(text, LET).node, at(3)
    sizes = {"n": 3, "T": 3}
    E = np.random.default_rng(6).normal(size=(3, 3))
    wanted = np.imag(f(**{**base, "A": base["A"] + 1e-30j * E})) / 1e-30
    found = np.imag(evaluate([node], {**base, "A": base["A"] + 1e-30j * E}, sizes, base)[0]) / 1e-30
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-13)
    ahead, behind = (evaluate([node], {**base, "A": base["A"] + h * E}, sizes, base)[0] for h in (1e-5, -1e-5))
    np.testing.assert_allclose((ahead - behind) / 2e-5, wanted, rtol=1e-6, atol=1e-8)


@KINDS
def test_many_digits_have_this_value(kind: str) -> None:
    text, f = FORMS[kind]
    given = at(3)
    precise = {k: v for k, v in given.items() if k != "T"}
    import mpmath

    exact = {k: np.vectorize(mpmath.mpf, otypes=[object])(v) for k, v in precise.items()}
    found = evaluate_precisely([mc.expression(text, LET).node], exact, {"n": 3, "T": 3})[0]
    np.testing.assert_allclose(float(np.asarray(found).item()), f(**given), rtol=1e-13)


@pytest.mark.whole
def test_objects_and_functions_keep_them() -> None:
    A, b, c = mc.symbols(LET)
    states, _ = mc.scan(lambda x: A @ x + mc.stop(mc.sin(x)), b, length="T")
    assert mc.check(c @ states[-1], "b")

    def f(A: Any, b: Any, c: Any, T: int) -> Any:
        x = b
        for _ in range(T):
            x = A @ x + mc.stop(np.sin(x))
        return c @ x

    e = mc.expression(f, f"{LET}; T: size")
    assert e.node is (c @ states[-1]).node
    assert mc.check(e, "b")


@pytest.mark.whole
def test_plain_formulas_keep_them_too() -> None:
    assert mc.check("stop(s)*s + x'*stop(x)", ["s", "x"], "s: scalar; x: vector(n)")
    assert mc.check("stop(x).*sin(x)", "x", "x: vector(n)")
    assert not mc.check("stop(x)'*x", "x", "x: vector(n)", against="2*x")


def test_an_equation_that_holds_a_part_is_refused() -> None:
    e = mc.expression("sum(root(w + stop(x).*w.^3 - x, w, start=x))", "x: vector(n)")
    x = np.array([0.2, 0.5])
    with pytest.raises(NoReference, match="takes a part as a constant"):
        evaluate([e.node], {"x": x + 1e-30j}, {"n": 2}, {"x": x})


@pytest.mark.whole
@KINDS
def test_compiled_code_is_compared_with_the_same_slopes(kind: str) -> None:
    report = mc.check(FORMS[kind][0], "b", LET, compiled=True)
    assert report, str(report)
    assert not report.untested


@pytest.mark.whole
@KINDS
@pytest.mark.parametrize("target", ["numba", "numpy", "c"])
def test_saved_files_test_the_values_alone(kind: str, target: str, tmp_path: Path) -> None:
    """Difference quotients move what is stopped, so these files do not take them."""
    text, f = FORMS[kind]
    if target == "c" and kind == "in a recurrence of a step":
        with pytest.raises(mc.NotSupported, match="its workspace depends on data"):
            mc.value_and_gradient(mc.expression(text, LET), "A", target=target)
        return
    fn = mc.value_and_gradient(mc.expression(text, LET), "A", target=target)
    given = at(3)
    if target == "c":
        if c_files.why_not():
            pytest.skip(c_files.why_not())
        fn.save(tmp_path / "saved.c")
        built = c_files.gcc((tmp_path / "saved.c").read_text(), tmp_path / "saved", "-O1", "-DMATCALC_TEST")
        assert built.returncode == 0, built.stderr
        run = partial(subprocess.run, [str(tmp_path / "saved")])
    else:
        value, gradient = fn(**{k: given[k] for k in fn.args})
        np.testing.assert_allclose(value, f(**given), rtol=1e-12)
        np.testing.assert_allclose(gradient, slope(f, given, "A"), rtol=1e-11)
        fn.save(tmp_path / "saved.py")
        assert "DERIVATIVES" not in (tmp_path / "saved.py").read_text()
        run = partial(subprocess.run, [sys.executable, str(tmp_path / "saved.py")])
    done = run(capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == "all right"


@pytest.mark.whole
@KINDS
def test_tests_of_plain_source_compare_values_alone(kind: str) -> None:
    e = mc.expression(FORMS[kind][0], LET)
    text = plain_test([("f", [e, mc.gradient(e, "A")])], "f.py")
    assert "approx_fprime" not in text
    assert text.count("expected = ") == 2
