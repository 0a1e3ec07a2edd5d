"""The names that generated code uses itself, read from sources of programs of every kind."""

import ast
import keyword
from dataclasses import replace
from functools import cache

import matcalc as mc
from matcalc.compiler.emit.module import emit
from matcalc.compiler.files.save import saved_text
from matcalc.compiler.files.save_test import TEST_NAMES
from matcalc.compiler.kernels.library import global_names, load_library
from matcalc.compiler.spec.call_names import TAKEN
from matcalc.language.identifiers import MAX_BYTES, WORDS
from matcalc.pipeline.build import planned, request_of

OTHERS = ["λ", "ν", "变", "ħ", "é", "_", "out", "self", "check_facts", "x" * MAX_BYTES]
VARIABLES = ["v0", "v1_0", "v3_sum", "r1", "s1", "x1", "K0", "i0", "ii", "i", "k", "here", "drawn", "M", "X_0", "a0_"]
FORMS = [
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

PROGRAMS = [
    ("sum(log(1 + exp(X*w))) + w'*w", "w", "X: matrix(m, n); w: vector(n)"),
    ("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n)"),
    ("sum(tanh(X*w)[1:]) + X[0, 0]", "w", "X: matrix(m, n); w: vector(n)"),
    ("sum(softmax(X*W, axis=1).^2)", "W", "X: matrix(m, n); W: matrix(n, k)"),
    ("sum(conv(z, w).^2)", "z", "z: vector(n); w: vector(n)"),
    ("norm2(root(A*Y + Y*A' + tanh(Y) - C, Y, start=C))^2", "A", "A: matrix(n, n); C: matrix(n, n); Y: matrix(n, n)"),
    ("sum(kron(A, B)*x)", "x", "A: matrix(m, n); B: matrix(p, q); x: vector(n*q)"),
    ("sum(where(x > 0, x, exp(x))) + sum([1, 2; 3, 4]*x[:2])", "x", "x: vector(n)"),
    ("sum(eigvalsh(S).^3) + sum(x)/n", "S", "S: matrix(n, n) symmetric; x: vector(2*n + 1)"),
]


def numba_source(formula: str, wrt: str, declarations: str) -> str:
    """Return the source emitted for the target numba, without compiling it."""
    value = mc.expression(formula, declarations)
    program = planned(request_of([value, value.gradient(wrt)], ["value", f"gradient_{wrt}"])).program
    return emit(program, "f", "numba")


@cache
def texts() -> tuple[str, ...]:
    """Return sources and saved files of the programs, with the forms of both targets."""
    found = []
    for formula, wrt, declarations in PROGRAMS:
        function = mc.value_and_gradient(formula, wrt, declarations, target="numpy")
        found += [function.source, saved_text(replace(function.spec, source=numba_source(formula, wrt, declarations)))]
        passes = mc.pullback(formula, wrt, declarations, target="numpy")
        found += [passes.first.source, passes.second.source]
    return tuple(found)


@cache
def generated_names() -> list[str]:
    """Return every identifier of these texts, and every name of `codegen/`."""
    found = {name for target in ("numpy", "numba") for name in load_library(target).items}
    for text in texts():
        for node in ast.walk(ast.parse(text)):
            words = [getattr(node, name, None) for name in ("id", "arg", "attr", "name", "asname")]
            found.update(word for word in words if isinstance(word, str) and word.isidentifier())
    return sorted(found)


def all_names() -> list[str]:
    """Return every name to try: those of generated code, of Python, of other scripts."""
    own = {*TAKEN, *TEST_NAMES, *OTHERS, *VARIABLES, *FORMS}
    return sorted({*generated_names(), *WORDS, *keyword.softkwlist, *own})


@cache
def risky_names() -> list[str]:
    """Return the names that users' names can meet: at the top of modules, in tests, in functions."""
    at_top = {name for text in texts() for name in global_names(text)}
    own = {*TAKEN, *TEST_NAMES, *OTHERS, *VARIABLES, *FORMS, "lambda", "True", "match", "exec"}
    return sorted({*at_top, *own})
