"""Every name that generated code uses, as the name of a symbol, a size and a function: compiled, saved and tested."""

import keyword

import numpy as np
import pytest

import matcalc as mc
from hostile.names import generated_names
from matcalc.identifiers import MAX_BYTES, WORDS
from matcalc.runtime.save import saved_text
from matcalc.runtime.source import TAKEN

GREEK = ["λ", "ν", "变", "ħ", "é"]
INSIDE = ["v0", "v1_0", "v3_sum", "r1", "s1", "x1", "K0", "i0", "ii", "i", "j", "k", "here", "drawn", "M", "X_0", "a0_"]
LABELS = [
    "value",
    "gradient_A",
    "result",
    "result1",
    "saved1",
    "cotangent_A",
    "f_K0",
    "f_numpy_K0",
    "f_into",
    "f_shapes",
]
NAMES = sorted({*generated_names(), *WORDS, *TAKEN, *keyword.softkwlist, *GREEK, *INSIDE, *LABELS, "x" * MAX_BYTES})
GROUPS = [NAMES[k : k + 12] for k in range(0, len(NAMES), 12)]
QUICK = [
    sorted(TAKEN)[:10],
    sorted(TAKEN)[10:24],
    ["lambda", "range", "min", "float", "gemv", *GREEK, *INSIDE[:9]],
    LABELS,
]
"""What the target numba, which takes seconds to compile, is tried with here; `python tests/hostile names` tries all."""

RNG = np.random.default_rng(0)


def saved(function):
    """Return the module that a saved file is, after its test of itself."""
    space = {"__name__": "saved"}
    exec(compile(saved_text(function.spec), "saved.py", "exec"), space)
    assert space["self_test"]() == []
    return space


def check_symbols(names, target):
    """Compile a sum over pairs of symbols of these names, and its gradient in the first."""
    pairs = list(zip(names[::2], [*names[1::2], *["last_"] * (len(names) % 2)], strict=True))
    declared = "; ".join(f"{A}: matrix(m, n); {v}: vector(n)" for A, v in pairs if A not in "mn" and v not in "mn")
    pairs = [(A, v) for A, v in pairs if A not in "mn" and v not in "mn"]
    text = " + ".join(f"{k}*norm2({A}*{v})^2" for k, (A, v) in enumerate(pairs, 1))
    function = mc.value_and_gradient(text, pairs[0][0], declared, target=target)
    data = {A: RNG.standard_normal((2, 3)) for A, _ in pairs} | {v: RNG.standard_normal(3) for _, v in pairs}
    value = sum(k * np.sum((data[A] @ data[v]) ** 2) for k, (A, v) in enumerate(pairs, 1))
    A, v = (data[name] for name in pairs[0])
    ordered = [data[name] for name in function.args]
    for got in (function(data), function(*ordered), saved(function)[function.spec.name](*ordered)):
        np.testing.assert_allclose(got[0], value, rtol=1e-12)
        np.testing.assert_allclose(got[1], 2 * np.outer(A @ v, v), rtol=1e-12)
    np.testing.assert_allclose(mc.expression(text, declared)(data), value, rtol=1e-12)


def check_sizes(names, target):
    """Compile a sum over matrices whose sizes have these names, and stand for numbers too."""
    names = [name for name in names if name not in ("A0_", "b")]
    declared = "; ".join(f"A{k}_: matrix({name}, 2*{name} - 1)" for k, name in enumerate(names))
    text = " + ".join(f"sum(tanh(A{k}_))*{name} + sum(eye({name})*A{k}_)" for k, name in enumerate(names))
    function = mc.value_and_gradient(text, "A0_", f"{declared}", target=target)
    data = [RNG.standard_normal((k % 3 + 1, 2 * (k % 3) + 1)) for k in range(len(names))]
    value = sum(np.sum(np.tanh(A)) * A.shape[0] + np.sum(A) for A in data)
    gradient = (1 - np.tanh(data[0]) ** 2) * data[0].shape[0] + 1
    for got in (function(*data), saved(function)[function.spec.name](*data)):
        np.testing.assert_allclose(got[0], value, rtol=1e-12)
        np.testing.assert_allclose(got[1], gradient, rtol=1e-12)


def check_function(name, target):
    """Compile a function of this name."""
    function = mc.value_and_gradient("norm2(X*w - y)^2 + sum([1, 2; 3, 4])", "w", target=target, name=name)
    X, w, y = RNG.standard_normal((4, 3)), RNG.standard_normal(3), RNG.standard_normal(4)
    wanted = np.sum((X @ w - y) ** 2) + 10, 2 * X.T @ (X @ w - y)
    for got in (function(X, w, y), saved(function)[function.spec.name](X, w, y)):
        np.testing.assert_allclose(got[0], wanted[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], wanted[1], rtol=1e-12)
    assert function.spec.name.rstrip("_") == name.rstrip("_") or name.startswith("__")


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group[0][:20]}..")
def test_symbols(group):
    check_symbols(group, "numpy")


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group[0][:20]}..")
def test_sizes(group):
    check_sizes(group, "numpy")


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group[0][:20]}..")
def test_functions(group):
    for name in group:
        check_function(name, "numpy")
