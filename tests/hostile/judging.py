"""Allowed outcomes of a hostile text: an error of matcalc's own, or a correct result; no part of the text has run."""

import ast
import builtins
import linecache
import traceback
from pathlib import Path
from typing import Any

import numpy as np

import matcalc as mc
from hostile.parameters import FOREIGN, PATHS, Parameter, Printed
from hostile.texts import MARK
from matcalc.api.pullback import TwoPass
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.files.save import saved_text
from matcalc.errors import MatcalcError

PACKAGE = str(Path(mc.__file__).parent)
LONGEST = 20_000
"""Characters of a message: messages must not repeat a text of any length."""
MODULES = (
    "numpy",
    "scipy",
    "numba",
    "llvmlite",
    "math",
    "sys",
    "re",
    "ctypes",
    "functools",
    "importlib",
    "itertools",
    "matcalc",
)
FORBIDDEN = (
    "exec",
    "eval",
    "compile",
    "open",
    "__import__",
    "globals",
    "locals",
    "vars",
    "setattr",
    "delattr",
    "input",
)
NUMBA_COMPILES = "kernel.compile"
"""Numba's method by which a saved file compiles a kernel: no builtin of Python."""
STATEMENTS = (ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef, ast.If, ast.Try)


class Fault(AssertionError):
    """An outcome that hostile text must not cause."""


def judge(parameter: Parameter, text: str, way: int) -> str:
    """Write the text into the parameter; return "refused" or "accepted".

    Raises: Fault.
    """
    try:
        result = parameter.call(text, way)
    except Exception as error:
        _ran_nothing()
        _own(parameter, error)
        return "refused"
    _ran_nothing()
    for one in result if isinstance(result, tuple) else (result,):
        examine(one)
    _ran_nothing()
    return "refused" if isinstance(result, Printed) and result.status == 2 else "accepted"


def _ran_nothing() -> None:
    if getattr(builtins, MARK, None) is not None:
        delattr(builtins, MARK)
        raise Fault("the text ran")


def _own(parameter: Parameter, error: Exception) -> None:
    """Raise Fault for an error that is not matcalc's own: of another class, or raised by a library that it calls."""
    if parameter.label in FOREIGN and not isinstance(error, MatcalcError):
        return
    if len(str(error)) > LONGEST:
        raise Fault(f"a message of {len(str(error))} characters") from error
    if isinstance(error, MatcalcError):
        return
    if isinstance(error, OSError) and parameter.label.split(".")[-1] in PATHS:
        return
    if not isinstance(error, TypeError | ValueError | AttributeError | np.linalg.LinAlgError):
        raise Fault("an error of another class") from error
    frame = traceback.extract_tb(error.__traceback__)[-1]
    line = linecache.getline(frame.filename, frame.lineno or 0).strip()
    if not frame.filename.startswith(PACKAGE) or not line.startswith("raise"):
        raise Fault(f"a bare error, from {frame.filename}:{frame.lineno}: {line}") from error


def examine(result: Any) -> None:
    """Raise Fault for a wrong result: text that does not read back, foreign code in the source, numbers that differ."""
    if isinstance(result, mc.Expression):
        read = mc.expression(str(result), result.declarations)
        if read.node is not result.node:
            raise Fault(f"{result} reads back as {read}")
        _plain_text(result.latex(), repr(result), result.tree(), result.dot(), result.mermaid())
        return
    if isinstance(result, Compiled):
        examine_compiled(result)
    elif isinstance(result, TwoPass):
        examine_compiled(result.first)
        examine_compiled(result.second)
    elif isinstance(result, Printed):
        _plain_text(result.out, result.err)
        if "--as=python" in result.words and result.status == 0:
            check_source(result.out)
    elif isinstance(getattr(result, "__name__", None), str) and hasattr(result, "report"):
        examine_operation(result)


def examine_operation(operation: Any) -> None:
    """Raise Fault for an operation whose programs contain foreign code."""
    (X,) = mc.symbols("X: matrix(n, n)")
    examine_compiled(mc.compile(operation(X), target="numpy"))


def examine_compiled(function: Compiled) -> None:
    """Raise Fault for a function with foreign code in its source or file, or one that does not compute its formulas."""
    check_source(function.source)
    spec = function.spec
    rng = np.random.default_rng(0)
    sizes = dict.fromkeys({n for o in (*spec.arguments, *spec.outputs) for s in o.shape for n in s.names}, 3)
    sizes |= dict.fromkeys(spec.sizes, 3)
    given: dict[str, Any] = {
        o.name: rng.uniform(0.5, 1.5, [max(s.evaluate(sizes), 0) for s in o.shape]) for o in spec.arguments
    }
    given |= {name: sizes[name] for name in spec.sizes}
    try:
        found = function(given)
    except (MatcalcError, np.linalg.LinAlgError):
        found = None  # sizes of 3 do not fit, or the data is outside the domain
    if found is not None:
        for one, formula in zip(found if isinstance(found, tuple) else (found,), spec.formulas, strict=False):
            e = mc.expression(formula.text, spec.declarations)
            if set(e.symbols) <= given.keys() | sizes.keys() and not set(e.names.symbols) & sizes.keys():
                np.testing.assert_allclose(one, _wanted(e, {**sizes, **given}), rtol=1e-9, atol=1e-12)
    try:
        text = saved_text(spec)
    except MatcalcError:
        return
    check_source(text)
    space: dict[str, Any] = {"__name__": "saved"}
    exec(compile(text, "saved.py", "exec"), space)
    problems = space["self_test"]()
    if problems and found is not None and all(map(_is_finite, found if isinstance(found, tuple) else (found,))):
        raise Fault(f"the saved file: {problems}")


def _wanted(e: mc.Expression, given: dict[str, Any]) -> Any:
    """Return the value of a formula, for each row of data with a leading axis that the formula lacks."""
    own = {name: given[name] for name in e.symbols}
    ranks = {name: node.rank for name, node in e.names.symbols.items()}
    rows = [name for name in own if np.ndim(own[name]) > ranks.get(name, 0)]
    if not rows:
        return e(own)
    return np.array([e({**own, **{name: own[name][k] for name in rows}}) for k in range(len(own[rows[0]]))])


def _is_finite(value: Any) -> bool:
    return bool(np.all(np.isfinite(value)))


def check_source(text: str) -> None:
    """Raise Fault for Python that generated code never contains: other statements, imports or builtins."""
    tree = ast.parse(text)
    for statement in tree.body:
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not isinstance(statement, STATEMENTS) and not is_docstring:
            raise Fault(f"a statement at the top: {ast.unparse(statement)[:200]}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) == NUMBA_COMPILES:
            continue
        words = [getattr(node, name, None) for name in ("id", "arg", "attr", "name", "asname", "module")]
        if any(isinstance(word, str) and (MARK in word or word in FORBIDDEN) for word in words):
            raise Fault(f"the source says {ast.unparse(node)[:200]}")
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if any(module.split(".")[0] not in MODULES for module in modules):
            raise Fault(f"the source imports {modules}")


def _plain_text(*texts: str) -> None:
    for text in texts:
        if len(text) > 50 * LONGEST:
            raise Fault(f"{len(text)} characters are printed")
