"""Loops that call functions several times are vector loops, so that each function costs what it costs alone.

LLVM's own optimised text of the loop is read.
"""

import re

import llvmlite.binding as llvm
import pytest

from matcalc.compiler.code.code import Code
from matcalc.compiler.code.read_python import items_of
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.native_kinds import REAL, Kind
from matcalc.compiler.llvm import native
from matcalc.compiler.llvm.linked_functions import PREFIX, called_by_entries
from matcalc.compiler.llvm.native_text import MAIN, Module

INLINED = {
    name: len(kinds)
    for name, (kinds, *_) in called_by_entries().items()
    if "**INLINED" in load_library("numba").items[name].text and all(kind == REAL for kind in kinds)
}
"""The elementwise functions without branches, with their numbers of arguments."""
BY_WIDE_VECTORS = {"powlog", "sinc1", "tanhc", "logdiffexp"}
"""Those of which LLVM makes no vector loop with AVX2 if three are in it."""


def optimised_loop(calls, names, monkeypatch):
    """Return LLVM's text of a loop over the entries of arrays, each call with its own arrays."""
    texts = []
    optimise = native.optimise

    def noted(module, machine):
        optimise(module, machine)
        texts.append(str(module))

    monkeypatch.setattr(native, "optimise", noted)
    source = f"""
def f({", ".join(names)}, value):
    n = value.shape[0]
    for i in range(n):
        value[i] = {" + ".join(calls)}
    return 0
"""
    linker = native.Linker()
    module = Module(load_library("numba").items, linker)
    module.add(Code(items_of(source)))
    kinds = [Kind("float64", 1)] * (len(names) + 1)
    native.compiled_part("test.loop", module.entered("f", kinds, [False] * len(names) + [True], "test.loop"), linker)
    return texts[0][texts[0].index(f"@{MAIN}(") :]


def is_vector_loop(text):
    """Whether entries are loaded and stored as vectors, and every function is inlined."""
    is_called = re.search(rf'call [^@\n]*@"?{PREFIX}', text)
    return not is_called and all(re.search(rf"{word} <\d+ x double>", text) for word in ("load", "store"))


@pytest.mark.sampled(64)
@pytest.mark.parametrize("name", INLINED)
def test_a_loop_with_three_calls_of_a_function_is_a_vector_loop(name, monkeypatch):
    if name in BY_WIDE_VECTORS and not llvm.get_host_cpu_features().get("avx512f"):
        pytest.skip("LLVM makes vectors of this function's choices only with the masks of AVX-512")
    count = INLINED[name]
    names = [f"x{k}" for k in range(3 * count)]
    calls = [f"{name}({', '.join(f'{x}[i]' for x in names[k::3])})" for k in range(3)]
    assert is_vector_loop(optimised_loop(calls, names, monkeypatch))


@pytest.mark.whole
def test_a_loop_with_different_functions_is_a_vector_loop(monkeypatch):
    calls = ["vgammaln(x[i])", "vdigamma(y[i])", "verf(z[i])", "vsin(u[i])", "powr(v[i], x[i])", "vgammaln(y[i])"]
    assert is_vector_loop(optimised_loop(calls, list("xyzuv"), monkeypatch))


@pytest.mark.parametrize(
    "name", ["gamma(x[i])", "besselj(0.0, x[i])", "vbesseli(1.0, x[i])", "lambertw(x[i])", "betaln(x[i], y[i])"]
)
@pytest.mark.sampled(6)
def test_a_routine_beside_vector_functions_leaves_the_loop_a_vector_loop(name, monkeypatch):
    """The routine is called for each lane."""
    assert is_vector_loop(optimised_loop([name, "vgammaln(y[i])"], list("xy"), monkeypatch))
