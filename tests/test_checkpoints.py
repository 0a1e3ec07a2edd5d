"""Gradients of recurrences that store few states: values, memory, the schedule, accesses, refusals."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tracemalloc
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from c_files import CCall, why_not
from compiler.code.test_code import functions
from test_recurrence_facts import DATA, DECLARED, KALMAN
from test_recurrences import NAMES, NETWORK, UNROLLED, close, names_in
from test_recurrences_compiled import arguments

import matcalc as mc
from matcalc.compiler.code.evaluate import Evaluator
from matcalc.compiler.emit.code_of import code_of
from matcalc.compiler.kernels.modules import load_items
from matcalc.compiler.plan import plan
from matcalc.errors import NotSupported
from matcalc.store.data_folders import data_folder

LENGTHS = (0, 1, 2, 7, 100)


def agrees(text: str, wrt: str, target: str, checkpoints: Any, lengths: tuple[int, ...] = LENGTHS) -> None:
    """Assert that a value and its gradients do not depend on checkpoints."""
    e = mc.expression(text, names_in(text))
    names = wrt.split()
    few = mc.value_and_gradient(e, names, target=target, checkpoints=checkpoints)
    every = mc.value_and_gradient(e, names, target="numpy")
    for length in lengths:
        given = arguments(few.args, length)
        (value, found), (expected, wanted) = few(**given), every(**given)
        close(value, expected)
        for one, other in zip(found, wanted, strict=True):
            close(one, other)


@pytest.mark.whole
def test_a_network_with_three_stored_states() -> None:
    agrees(NETWORK, "A", "numba", 3)


@pytest.mark.thinned(3)
@pytest.mark.whole
@pytest.mark.parametrize("target", ["numba", "numpy"])
@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED, ids=NAMES)
def test_values_and_gradients_are_those_with_all_states(text: str, unrolled: Any, wrt: str, target: str) -> None:
    is_stable = "y[t+1] = x[t]*y[t]" not in text
    for checkpoints in (1, 4, "sqrt"):
        agrees(text, wrt, target, checkpoints, LENGTHS if checkpoints != 1 and is_stable else LENGTHS[:-1])


@pytest.mark.thinned(3)
@pytest.mark.whole
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("target", ["torch", "jax"])
@pytest.mark.parametrize(("text", "unrolled", "wrt"), UNROLLED, ids=NAMES)
def test_frameworks_store_few_states(text: str, unrolled: Any, wrt: str, target: str, dtype: Any) -> None:
    framework = pytest.importorskip(target)
    if target == "jax":
        framework.config.update("jax_enable_x64", True)
    convert = framework.as_tensor if target == "torch" else framework.numpy.asarray
    e = mc.expression(text, names_in(text))
    every = mc.value_and_gradient(e, wrt.split(), target="numpy")
    for checkpoints in (1, 4, "sqrt") if dtype is np.float64 else (4,):
        few = mc.value_and_gradient(e, wrt.split(), target=target, checkpoints=checkpoints)
        for length in (0, 1, 7) if dtype is np.float64 else (2,):
            given = arguments(few.args, length)
            arrays = {k: x if isinstance(x, int) else convert(np.asarray(x, dtype)) for k, x in given.items()}
            (value, found), (expected, wanted) = few(**arrays), every(**given)
            for one, other in zip((value, *found), (expected, *wanted), strict=True):
                scale = max(1, np.abs(other).max(initial=0))
                one = np.asarray(one)
                assert one.dtype == dtype
                assert np.abs(one - other).max(initial=0) <= 2e3 * np.finfo(dtype).eps * scale


@pytest.mark.whole
def test_the_traced_schedule_is_that_of_revolve() -> None:
    jax = pytest.importorskip("jax")
    traced, plain = (
        runpy.run_path(str(data_folder("codegen") / folder / "checkpoints.py"))[word]
        for folder, word in (("jax", "next_row"), ("array", "next_stored"))
    )
    for rows in (1, 2, 3, 7, 50):
        found = jax.vmap(partial(traced, rows=rows))(jax.numpy.arange(41, dtype="int32"))
        assert found.tolist() == [plain(span, rows) for span in range(41)]
    assert int(traced(jax.numpy.int32(100_000), 50_000)) == plain(100_000, 50_000)


REGULATOR = (
    "x0'*P[0]*x0 where P[T] = Q, K[t] = inv(R + B'*P[t+1]*B)*B'*P[t+1]*A, "
    "P[t] = Q + A'*P[t+1]*A - A'*P[t+1]*B*K[t], t < T"
)
OTHERS = {
    KALMAN: "R Q x0",
    REGULATOR: "B Q",
    "sum(x.^2) + b'*x[T] where x[0] = x0, x[t+1] = tanh(A*x[t] + B*U[t, :]), t < T": "A x0 U",
    "sum(h) + norm2(sum(x, axis=0)) where h[0] = w, h[t+1] = w + a*e[t]^2 + g*sin(h[t]), x[0] = x0, "
    "x[t+1] = tanh(h[t]*A*x[t]), t < T": "A a e",
    "b'*z[T] where x[0] = x0, x[t+1] = tanh(A*x[t]), z[0] = x0, z[t+1] = sin(W*z[t]) + x[t], t < T": "A W",
}


@pytest.mark.whole
@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.thinned(3)
def test_filters_regulators_and_sums_over_states(text: str) -> None:
    few_agree(text, "numpy")


@pytest.mark.thinned(3)
@pytest.mark.whole
@pytest.mark.parametrize("target", ["numba", "c"])
@pytest.mark.parametrize("text", OTHERS)
def test_filters_regulators_and_sums_over_states_compiled(text: str, target: str) -> None:
    few_agree(text, target)


def few_agree(text: str, target: str) -> None:
    """Assert that values and gradients with two checkpoints are those with all states."""
    if target == "c" and why_not():
        pytest.skip(why_not())
    e, names = mc.expression(text, DECLARED), OTHERS[text].split()
    few = mc.value_and_gradient(e, names, target=target, checkpoints=2)
    every = mc.value_and_gradient(e, names, target="numpy")
    given = {**DATA, "n": 3, "m": 2}
    call = CCall(few) if target == "c" else few
    found = call(**{name: given[name] for name in few.args})
    wanted = every(**{name: given[name] for name in every.args})
    close(found[0], wanted[0])
    for one, other in zip(found[1], wanted[1], strict=True):
        close(one, other)


# ---- accesses and memory


@pytest.mark.whole
@pytest.mark.parametrize("text", [NETWORK, UNROLLED[NAMES.index("pair")][0], UNROLLED[NAMES.index("lyapunov")][0]])
def test_all_accesses_are_inside_their_arrays(text: str) -> None:
    e = mc.expression(text, names_in(text))
    wrt = {"c": "A", "x": "a", "t": "Q"}[text[0]]
    g = mc.gradient(e, wrt)
    for checkpoints in (0, 1, 3):
        symbols = list(g.symbols.values()) if isinstance(g.symbols, dict) else list(g.symbols)
        names = [s if isinstance(s, str) else s.name for s in symbols]
        nodes = {n.name: n for n in _leaves(g.node)}
        inputs = [nodes[name] for name in names if name in nodes]
        program = plan([("g", g.node)], inputs, None, checkpoints=checkpoints)
        code = code_of(program, "fn")
        for length in (0, 1, 2, 9):
            given = arguments(tuple(names), length)
            values = [
                np.asarray(given[name], float) if np.ndim(given[name]) else given[name] for name in program.inputs
            ]
            sizes = [{"T": length, "n": 3, "m": 2}[name] for name in program.size_args]
            result = np.full(np.shape(given[wrt]) or (1,), np.nan)
            assert Evaluator(code, functions(code))(*values, *sizes, result) == 0
            close(result.reshape(np.shape(given[wrt])), np.asarray(g(**given)))


def _leaves(root: Any) -> list[Any]:
    from matcalc.tensor.nodes.node import everything

    return [node for node in everything([root]) if node.kind == "symbol" and not node.name.startswith("#")]


def _data(length: int, n: int = 20) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = {"A": (n, n), "B": (n, 2), "U": (length, 2), "x0": (n,), "c": (n,), "b": (n,)}
    return {name: rng.normal(size=shape) / 5 for name, shape in shapes.items()}


@pytest.mark.whole
def test_peak_memory_of_arrays() -> None:
    e = mc.expression(NETWORK, names_in(NETWORK))
    peaks = {}
    for checkpoints in (None, "sqrt", 5):
        fn = mc.value_and_gradient(e, "A", target="numpy", checkpoints=checkpoints)
        given = {name: _data(2000, 60)[name] for name in fn.args}
        fn(**given)
        tracemalloc.start()
        fn(**given)
        peaks[checkpoints] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    states = 2001 * 60 * 8
    assert peaks[None] - peaks["sqrt"] > 0.8 * states
    assert peaks[None] - peaks[5] > 0.9 * states


@pytest.mark.whole
def test_peak_memory_of_a_compiled_function() -> None:
    script = """
import resource, sys
import matcalc as mc
from test_checkpoints import NETWORK, _data, names_in
fn = mc.value_and_gradient(mc.expression(NETWORK, names_in(NETWORK)), "A", checkpoints="sqrt")
given = _data(200_000)
fn(**{**given, "U": given["U"][:10]})
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
fn(**given)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True, env=given)
    assert int(done.stdout) * 1024 < 200_000 * 20 * 8 / 4


# ---- the schedule


@cache
def fewest(steps: int, rows: int) -> int:
    """Return the least number of steps that are run to reach all states in reverse, by trying all distances."""
    if steps < 2:
        return 0
    if rows < 2:
        return steps * (steps - 1) // 2
    return min(k + fewest(steps - k, rows - 1) + fewest(k, rows) for k in range(1, steps))


def test_the_schedule_runs_the_fewest_steps() -> None:
    load_items("numpy", ["all_steps_again"])
    run = sys.modules[load_items("numpy", ["all_steps_again"])["all_steps_again"]].all_steps_again
    for steps in (1, 2, 5, 12, 31):
        for rows in (1, 2, 3, 5, 40):
            count = 0

            def advance(out: Any, x: Any) -> None:
                nonlocal count
                count += 1
                out[0] = x + 1

            def step(out: Any, x: Any) -> None:
                out[0] = x

            again = (advance, rows, 1, 1, 0, (1,), ((0, False),), ())
            total = run(step, steps, True, ("total",), ((),), (0.0, 0.0), 0, (2,), again)
            assert total == steps * (steps - 1) // 2
            assert count - 1 <= fewest(steps, min(rows, steps)) + steps


# ---- refusals


def test_refusals_name_the_reason() -> None:
    e = mc.expression("logsumexp(x) where x[0] = x0, x[t+1] = tanh(A*x[t]), t < T", DECLARED)
    with pytest.raises(NotSupported, match="reads all states of a recurrence at once"):
        mc.value_and_gradient(e, "A", checkpoints=3)
    with pytest.raises(NotSupported, match="the target c allocates"):
        mc.compile(mc.gradient(e, "A"), target="c", checkpoints="sqrt")
    with pytest.raises(NotSupported, match="these formulas have none"):
        mc.compile("x'*x", checkpoints="sqrt")
    for wrong in (0, -1, 2.5, "half", True):
        with pytest.raises(ValueError, match="a positive integer or"):
            mc.compile(e, checkpoints=wrong)  # type: ignore[arg-type]
