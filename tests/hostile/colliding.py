"""Programs whose symbols, sizes and functions have chosen names, against their expected values."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import matcalc as mc
from hostile.names import all_names
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.files.save import saved_text


def groups(names: Sequence[str], count: int) -> list[list[str]]:
    """Return names in groups, each for one program."""
    return [list(names[k : k + count]) for k in range(0, len(names), count)]


def check_symbols(names: Sequence[str], target: str) -> None:
    """Compile a sum over pairs of symbols of these names."""
    rng = np.random.default_rng(0)
    pairs = list(zip(names[::2], [*names[1::2], *["last_"] * (len(names) % 2)], strict=True))
    declared = "; ".join(f"{A}: matrix(m_, n_); {v}: vector(n_)" for A, v in pairs)
    text = " + ".join(f"{k}*norm2({A}*{v})^2" for k, (A, v) in enumerate(pairs, 1))
    function = mc.compile(text, declarations=declared, target=target)
    data = {A: rng.standard_normal((2, 3)) for A, _ in pairs} | {v: rng.standard_normal(3) for _, v in pairs}
    ordered = [data[name] for name in function.args]
    wanted = sum(k * np.sum((data[A] @ data[v]) ** 2) for k, (A, v) in enumerate(pairs, 1))
    for got in (function(data), function(*ordered), saved(function)(*ordered), mc.expression(text, declared)(data)):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def check_sizes(names: Sequence[str], target: str) -> None:
    """Compile a sum over matrices whose sizes have these names, and are numbers in the formula too."""
    rng = np.random.default_rng(0)
    declared = "; ".join(f"A{k}_: matrix({name}, 2*{name} - 1)" for k, name in enumerate(names))
    text = " + ".join(f"sum(tanh(A{k}_))*{name} + sum(eye({name})*A{k}_)" for k, name in enumerate(names))
    function = mc.compile(text, declarations=declared, target=target)
    data = [rng.standard_normal((k % 3 + 1, 2 * (k % 3) + 1)) for k in range(len(names))]
    wanted = sum(np.sum(np.tanh(A)) * A.shape[0] + np.sum(A) for A in data)
    for got in (function(*data), saved(function)(*data)):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def check_function(name: str, target: str) -> None:
    """Compile a function of this name, with a constant and a gradient."""
    rng = np.random.default_rng(0)
    function = mc.value_and_gradient(LOSS, "w", target=target, name=name)
    X, w, y = rng.standard_normal((4, 3)), rng.standard_normal(3), rng.standard_normal(4)
    wanted = np.sum((X @ w - y) ** 2) + 10, 2 * X.T @ (X @ w - y)
    for got in (function(X, w, y), saved(function)(X, w, y)):
        np.testing.assert_allclose(got[0], wanted[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], wanted[1], rtol=1e-12)
    assert function.spec.name.replace("_", "") in (name.replace("_", ""), "f")


LOSS = mc.expression("norm2(X*w - y)^2 + sum([1, 2; 3, 4])")


def saved(function: Compiled) -> Any:
    """Return the function of a saved file, after running the file's test of itself."""
    space: dict[str, Any] = {"__name__": "saved"}
    exec(compile(saved_text(function.spec), "saved.py", "exec"), space)
    assert space["self_test"]() == []
    return space[function.spec.name]


def try_names(targets: Sequence[str]) -> int:
    """Try every name as symbol, size and function; return the number of failing groups."""
    wrong = 0
    names = all_names()
    for target in targets:
        checks = [partial(check, group) for group in groups(names, 12) for check in (check_symbols, check_sizes)]
        for check in [*checks, *(partial(check_function, name) for name in names)]:
            try:
                check(target)
            except Exception as fault:
                wrong += 1
                print(f"{target} {check.args}: {type(fault).__name__}: {str(fault)[:300]}", file=sys.stderr)
        print(f"{len(names)} names as symbols, sizes and functions, target {target}: {wrong} wrong")
    return wrong
