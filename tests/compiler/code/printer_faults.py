"""Plants faults in what makes and prints Code, one at a time, and lets the built-in check judge what they write.

    python tests/compiler/code/printer_faults.py [code | python | llvm | c] [COUNT]

A fault is shown by a program of which something else is written: another syntax tree of its text, other assembly or
other C. Other Code and assembly are compiled and checked in a process of their own; other C is compiled with warnings
as errors, and runs its own test with sanitisers. The functions are replaced in memory.
"""

import ast
import random
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import NamedTuple
from unittest.mock import patch

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[k]) for k in (2, 3)]

import numpy as np
from c_files import CCall, gcc
from compiler.verify.judges import apart
from evidence.written.planted_mutants import Mutant, of_python, replacements

import matcalc as mc
from matcalc.compiler.call import compiled
from matcalc.compiler.code import compare_text
from matcalc.compiler.code.print_python import text
from matcalc.compiler.emit.code_of import code_of
from matcalc.compiler.files.c_text import c_text
from matcalc.compiler.llvm import native
from matcalc.pipeline import build
from matcalc.pipeline.requests import request_of

PRINTERS = {
    "code": ["emit.code_of", "emit.loops", "emit.row_blocks", "emit.step_loops", "emit.steps", "emit.spelling"],
    "python": ["code.print_python"],
    "llvm": ["llvm.native_expressions", "llvm.native_function", "llvm.native_text", "llvm.native_lines"],
    "c": [
        *("code.read_kernels", "files.c_expressions", "files.c_function", "files.c_kinds", "files.c_names"),
        *("files.c_places", "files.c_unit", "files.c_work", "files.c_text"),
    ],
}
WORDS = (
    ("another operation", r"\bfadd\b", "fsub"), ("another operation", r"\bfmul\b", "fadd"),
    ("another operation", r"\badd\b", "sub"), ("another operation", r"\bsub\b", "add"),
    ("another operation", r"\bmul\b", "add"), ("another operation", r"\bsext\b", "zext"),
    ("another operation", r"\bfneg\b", "fadd double 0.0,"), ("another operation", r"\bfdiv\b", "fmul"),
    ("another comparison", r"\bslt\b", "sle"), ("another comparison", r"\bsgt\b", "sge"),
    ("another comparison", r"\bicmp ne\b", "icmp eq"), ("another comparison", r"\bicmp eq\b", "icmp ne"),
    ("another comparison", r"\bfcmp o", "fcmp u"), ("another comparison", r"\bune\b", "oeq"),
    ("another separator", r"(?<=\")( *[,+*] *)(?=\")", r" - "), ("another operator", r" \{op\} ", " + "),
    ("another bracket", r"\[\{", "[1 + {"), ("a bracket dropped", r"\(\{(.*?)\}\)", r"{\1}"),
    ("another word", r"\bnull\b", "inttoptr (i64 8 to ptr)"), ("another number", r"\b0\b", "1"),
    ("another number", r"\b1\b", "2"), ("a word dropped", r"\b(?:while|if|el|not|return) ", ""),
    ("another word", r"\bleast\b", "most"), ("another word", r"\bint64_t\b", "double"),
    ("another operator", r"\+\+|\+=", "-="), ("another operator", r"\+", "-"), ("another operator", r"\*(?=\{)", "+"),
    ("another word", r"\bshape\[\{axis\}", "shape[0"), ("another word", r"\bfirst\b", "second"),
    ("a word dropped", r"\bnp\.", ""), ("a word dropped", r"\{store\.op\}", ""), ("a word dropped", r"\{let\.op\}", ""),
)  # fmt: skip
"""Faults in what a printer writes: what stands in a text, and what stands there then."""

COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
SANITISED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")

CAUGHT = ("found", "crashed")
FATES = (*CAUGHT, "unnoticed", "the same numbers", "nothing is printed")
"""The fates of faults. A fault that reads outside of arrays may be noticed in one program and not in another."""
LIMIT = 20
"""Seconds that a faulty function may take."""

DECLARED = """A, B: matrix(m, n); M, N: matrix(n, n); S: matrix(n, n) spd; x, z: vector(n); y: vector(m); c: scalar;
p: vector(n) positive; k: index(m); T: tensor(m, n, n)"""
CASES = (
    ("norm2(A*x - y)^2 + c*x'*x", "x"), ("sum(log(1 + exp(-y.*(A*x)))) + c^2", "x"), ("logdet(S) + x'*inv(S)*x", "x"),
    ("sum(where(x > z, x.^2, sin(x)))/n", "x"), ("sum{i,j: log((x[i] - z[j])^2 + 1)*[i <= j]}", "x"),
    ("sum{i: x[k[i]]^2}*n", "x"), ("sum{i,j: T[i,j,j]*x[j]}*c", "x"), ("x'*M*x/(x'*x)", "x"),
    ("sum(cumsum(x).*z) + x[0]*z[n - 1]", "x"), ("sum([A; x'*M; z']*x)", "x"), ("sum(max(x, z)) - min(x)", "x"),
    ("{i,j: T[i,j,j]*x[j] + A[i,j]}", ""), ("M*x*z'*N - N'*x*z'", ""), ("A.*y .- x'", ""), ("M' - 2*N + x*z'", ""),
    ("kron(x, z)[1:]", ""), ("tril(M) + triu(N, 1)'", ""), ("[1, 2; 3, 4; 5, -6]*M[:2, :2]", ""), ("M^3 + 2*M", ""),
    ("z'*s[m] where s[0] = x, s[t+1] = N*s[t] + A[t, :], t < m", "x"),
    ("sum(root(z - c.*tanh(z) - x, z, start=x))", ""), ("M*N*A'*y", ""), ("A[:, ::-1]*x + y", ""),
)  # fmt: skip
"""Formulas, and the variable of a gradient: loops, sums, tiles, guards, views, constants, data as indices, kernels."""


class Case(NamedTuple):
    """A program: its request, its specs, what is printed of it without a fault, and its results at fixed data."""

    label: str
    request: object
    spec: object
    in_c: object
    program: object
    printed: dict
    numbers: list


@cache
def cases():
    """Return the programs; all that they call is compiled."""
    found = []
    for formula, name in CASES:
        if name:
            request = build.gradient_request(formula, name, DECLARED, "matrix", check=False)
        else:
            request = request_of([mc.expression(formula, DECLARED)], ["result"], 0)
        function = build.build(request)
        program = build.planned(request).program
        spec, _ = build.specified(request, "f")
        in_c, _ = build.specified(replace(request, target="c"), "f")
        case = Case(formula, request, spec, in_c, program, {}, numbers(function))
        case.printed.update((printer, printed(printer, case)) for printer in PRINTERS)
        found.append(case)
    return found


class Entry(NamedTuple):
    """Another value in a table of a module."""

    path: str
    table: str
    key: str
    value: object


def printed(printer, case):
    """Return what is written of a program, without what has no meaning."""
    if printer == "llvm":
        return native.assembly_of(case.spec)[1]
    if printer == "c":
        return COMMENT.sub("", c_text(case.in_c, has_test=False))
    code = code_of(case.program, "f") if printer == "code" else case.spec.code
    try:
        return ast.dump(ast.parse(text(code)))
    except SyntaxError as error:
        return str(error)


def functions(module):
    """Return the functions and methods of a module by qualified name and line."""
    found = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    for one in [value for value in found if isinstance(value, type)]:
        found += [getattr(value, "fget", value) for value in vars(one).values()]
    tables = [value for value in vars(module).values() if isinstance(value, dict)]
    found += [value for table in tables for value in table.values()]
    plain = [getattr(value, "__wrapped__", value) for value in found]
    return [value for value in plain if isinstance(value, FunctionType) and value.__module__ == module.__name__]


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


@contextmanager
def planted(mutant):
    """Plant a fault; yield whether a function has it."""
    module = import_module(f"matcalc.compiler.{mutant.path}")
    if isinstance(mutant, Entry):
        with patch.dict(getattr(module, mutant.table), {mutant.key: mutant.value}):
            yield True
        return
    changed = mutant.applied(Path(module.__file__).read_text(encoding="utf-8"))
    new = {(code.co_qualname, code.co_firstlineno): code for code in codes(compile(changed, module.__file__, "exec"))}
    before = []
    for function in functions(module):
        code = new.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
        if code is not None and code != function.__code__:
            before.append((function, function.__code__))
            function.__code__ = code
    cached = [value for value in vars(module).values() if hasattr(value, "cache_clear")]
    try:
        for value in cached:
            value.cache_clear()
        yield bool(before)
    finally:
        for function, code in before:
            function.__code__ = code
        for value in cached:
            value.cache_clear()


def mutants(printer, seed):
    """Yield the mutants of a printer in a random order."""
    found = []
    for name in PRINTERS[printer]:
        source = Path(import_module(f"matcalc.compiler.{name}").__file__).read_text(encoding="utf-8")
        found += of_python(printer, name, source, None)
        for number, line in enumerate(source.split("\n"), 1):
            if '"' in line and '"""' not in line:
                rows = replacements(line, line.index('"'), WORDS)
                found += [Mutant(printer, name, number, kind, line, after) for kind, after in rows]
        found += entries(name)
    random.Random(seed).shuffle(found)
    return found


def entries(name):
    """Yield the tables of a module with one value in the place of another."""
    for table, rows in vars(import_module(f"matcalc.compiler.{name}")).items():
        if isinstance(rows, dict) and all(isinstance(value, (str, int, tuple)) for value in rows.values()):
            for key, value in rows.items():
                yield from (Entry(name, table, key, other) for other in sorted({*rows.values()} - {value}))


def judged(printer, mutant):
    """Return the fate of a fault: the first of FATES that it has in some program; "" if no program shows it."""
    fates = set()
    with planted(mutant) as is_planted:
        for case in cases() if is_planted else ():
            try:
                if printed(printer, case) != case.printed[printer]:
                    fate = of_text(case) if printer == "python" else apart(JUDGES[printer], printer, case)
                    fates.add(fate if fate in FATES else "crashed")
            except Exception:  # noqa: BLE001 - whatever it is, the printer does not print
                fates.add("nothing is printed")
            if fates & set(CAUGHT):
                break
    return next((fate for fate in FATES if fate in fates), "")


def of_text(case):
    """Return the fate of a fault in a text, by the built-in check."""
    found = text(case.spec.code)
    return "found" if compare_text.difference(found) else "unnoticed"


def of_code(printer, case):
    """Return the fate of a fault in Code or machine code, which no cache has, by the built-in check."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIMIT)
    compiled.object_code_cache.recalled = lambda spec: None
    native.keep = lambda *_: None
    source = text(code_of(case.program, "f")) if printer == "code" else case.spec.source
    try:
        made = build.loaded(replace(case.spec, source=source), [])
        build._checked(made, case.request)
    except RuntimeError:
        return "nothing is printed"
    except mc.InternalError:
        return "found"
    same = all(np.allclose(*pair, rtol=1e-9, equal_nan=True) for pair in zip(numbers(made), case.numbers, strict=True))
    return "the same numbers" if same else "unnoticed"


def of_file(_, case):
    """Return the fate of a fault in a file of C, by gcc and by the test of the file."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "test.out"
        if gcc(c_text(case.in_c), place, "-O1", "-DMATCALC_TEST", *SANITISED).returncode:
            return "crashed"
        try:
            ran = subprocess.run([str(place)], capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return "found"
    if ran.returncode:
        return "crashed" if ran.stderr else "found"
    made = CCall(SimpleNamespace(spec=case.in_c, args=case.in_c.names, source=c_text(case.in_c, has_test=False)))
    found = numbers(lambda *args: made(**dict(zip(made.args, args, strict=True))), case.in_c)
    same = all(np.allclose(*pair, rtol=1e-9, equal_nan=True) for pair in zip(found, case.numbers, strict=True))
    return "the same numbers" if same else "unnoticed"


JUDGES = {"code": of_code, "llvm": of_code, "c": of_file}


def numbers(function, spec=None):
    """Return the results of a function at fixed data, at sizes that the check does not use."""
    rng, sizes, given = np.random.default_rng(6), {"m": 9, "n": 7}, []
    spec = spec or function.spec
    for operand in spec.arguments:
        shape = [size.evaluate(sizes) for size in operand.shape]
        array = rng.uniform(0.3, 1.5, shape)
        array = array @ array.T + np.eye(len(array)) if operand.name == "S" else array
        given.append(rng.integers(0, 7, shape) if operand.name == "k" else array)
    return flat(function(*given, *(sizes[name] for name in spec.sizes)))


def flat(found):
    return [part for one in found for part in flat(one)] if isinstance(found, tuple) else [np.asarray(found)]


def run(printer, count, seed=3):
    """Yield (mutant, fate) of the faults that some program shows, until so many are caught."""
    cases()
    tried, caught = set(), 0
    for mutant in mutants(printer, seed):
        if caught == count:
            return
        if mutant in tried:
            continue
        tried.add(mutant)
        try:
            fate = judged(printer, mutant)
        except SyntaxError:
            continue
        caught += fate in CAUGHT
        if fate:
            yield mutant, fate


if __name__ == "__main__":
    for mutant, fate in run(sys.argv[1], int(sys.argv[2])):
        print(f"{fate:18} {': '.join(map(str, mutant))}", flush=True)
