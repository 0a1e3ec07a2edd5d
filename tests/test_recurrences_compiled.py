"""Compiled recurrences against plain evaluation and against loops in NumPy, on each target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_recurrences import (
    KALMAN,
    LAGS,
    LENGTHS,
    LINEAR,
    LYAPUNOV,
    NAMES,
    NETWORK,
    UNROLLED,
    Data,
    close,
    data,
    names_in,
)

import matcalc as mc

TARGETS = ("numba", "numpy")


def arguments(args: tuple[str, ...], length: int, like: str = "") -> Data:
    """Return the arguments of a function at one length; a direction has ones in the shape of `like`."""
    d, sizes = data(length), {"T": length, "n": 3, "m": 2}
    return {name: d.get(name, sizes.get(name, np.ones(np.shape(d.get(like))))) for name in args}


def agrees(e: Any, target: str, like: str = "") -> None:
    """Assert that an expression has its plain value when it is compiled, at all lengths."""
    fn = mc.compile(e, target=target)
    for length in LENGTHS:
        given = arguments(fn.args, length, like)
        close(np.asarray(fn(**given)), np.asarray(e(**{name: given[name] for name in e.symbols})))


def _filter(d: Data, length: int) -> float:
    """Return the value of KALMAN, by a loop."""
    z, P = d["x0"], d["P0"]
    for t in range(length):
        S = d["H"] @ P @ d["H"].T + d["R"]
        K = d["A"] @ P @ d["H"].T @ np.linalg.inv(S)
        z, P = d["A"] @ z + K @ (d["U"][t] - d["H"] @ z), d["A"] @ P @ d["A"].T - K @ S @ K.T + d["Q"]
    return float(z @ d["c"] + np.trace(P @ d["G"]))


def _lagged(d: Data, length: int) -> float:
    """Return the value of LAGS, by a loop."""
    x = [d["w"], d["s"]]
    for t in range(length):
        x.append(d["a"] * x[t + 1] + d["h"] * x[t] * d["e"][t])
    return float(d["g"] @ np.array(x))


def _sums(d: Data, length: int) -> float:
    """Return the value of LYAPUNOV, by a loop from the end."""
    P = d["Q"]
    for _ in range(length):
        P = d["Q"] + d["A"].T @ P @ d["A"]
    return float(np.trace(d["G"] @ P))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("text", "loop"), [(LAGS, _lagged), (LYAPUNOV, _sums), (KALMAN, _filter)])
@pytest.mark.sampled(6)
def test_values_are_those_of_a_loop(text: str, loop: Any, target: str) -> None:
    fn = mc.compile(mc.expression(text, names_in(text)), target=target)
    for length in LENGTHS:
        close(fn(**arguments(fn.args, length)), loop(data(length), length))


@pytest.mark.whole
def test_a_gradient_is_one_loop_forward_and_one_backward() -> None:
    e = mc.expression(NETWORK, names_in(NETWORK))
    g = mc.gradient(e, "A")
    agrees(g, "numba")
    text = mc.compile(g).source
    assert text.count(" in range(T):") == 2
    assert not any(line.startswith(8 * " ") and "np.empty" in line for line in text.splitlines())


@pytest.mark.thinned(6)
@pytest.mark.whole
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED, ids=NAMES)
def test_derivatives_have_their_plain_values(text: str, unrolled: Any, wrt: str, target: str) -> None:
    e = mc.expression(text, names_in(text))
    agrees(e, target)
    for name in wrt.split():
        agrees(mc.gradient(e, name), target)
    first = wrt.split()[0]
    agrees(mc.hvp(e, first), target, first)


def test_the_program_does_not_depend_on_the_number_of_steps() -> None:
    plans = {mc.compile(mc.expression(LINEAR, names_in(LINEAR)), sizes={"T": T}).source for T in (10, 100_000)}
    assert len(plans) == 1


@pytest.mark.parametrize("target", TARGETS)
def test_a_step_that_fails_raises(target: str) -> None:
    e = mc.expression(
        "x[T] where x[0] = s, x[t+1] = b'*inv(x[t]*R)*b, t < T", "s: scalar; b: vector(n); R: matrix(n, n)"
    )
    fn = mc.compile(e, target=target)
    assert np.isfinite(fn(s=2.0, b=np.ones(2), R=np.eye(2), T=3))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        fn(s=2.0, b=np.ones(2), R=np.zeros((2, 2)), T=3)


@pytest.mark.whole
def test_value_and_gradient_batch_and_saved_file(tmp_path: Any) -> None:
    e = mc.expression(NETWORK, names_in(NETWORK))
    fn = mc.value_and_gradient(e, ["A", "b"])
    given = arguments(fn.args, 5)
    value, (by_a, by_b) = fn(**given)
    close(value, e(**given))
    close(by_a, mc.gradient(e, "A")(**given))
    close(by_b, mc.gradient(e, "b")(**given))
    many = mc.batch(mc.compile(e), over=["b"])
    rows = np.random.default_rng(3).normal(size=(4, 3))
    close(many(**{**given, "b": rows}), np.array([e(**{**given, "b": row}) for row in rows]))


@pytest.mark.whole
@pytest.mark.parametrize("target", ["torch", "jax"])
def test_frameworks_run_the_loop(target: str) -> None:
    framework = pytest.importorskip(target)
    if target == "jax":
        framework.config.update("jax_enable_x64", True)
    e = mc.expression(NETWORK, names_in(NETWORK))
    fn = mc.compile([e, mc.gradient(e, "A")], target=target)
    for length in LENGTHS:
        given = arguments(fn.args, length)
        convert = framework.as_tensor if target == "torch" else framework.numpy.asarray
        value, by_a = fn(**{name: convert(array) for name, array in given.items()})
        close(np.asarray(value), np.asarray(e(**given)))
        close(np.asarray(by_a), np.asarray(mc.gradient(e, "A")(**given)))
