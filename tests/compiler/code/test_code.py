"""Code: its printer against Python, its evaluator against plain evaluation, its types against planted faults."""

import random
import sys

import numba
import numpy as np
import pytest
from compiler.plan.running import SIZES, parse, sample

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.compiler.code.check import kinds_of
from matcalc.compiler.code.code import (
    ONE,
    ZERO,
    Array,
    Call,
    Code,
    Constants,
    Do,
    Empty,
    For,
    Foreign,
    Function,
    If,
    Length,
    Let,
    Load,
    Name,
    Number,
    Op,
    Return,
    Store,
    View,
    While,
    chain,
    within,
)
from matcalc.compiler.code.evaluate import Evaluator
from matcalc.compiler.code.print_python import expression, text
from matcalc.compiler.code.read_python import expression_of
from matcalc.compiler.emit.code_of import code_of
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import load_items
from matcalc.compiler.kernels.native_kinds import INTEGER, REAL, Kind, UnknownFormError
from matcalc.compiler.llvm.native import Linker
from matcalc.compiler.plan import plan
from matcalc.compiler.program import ProgramFault

VECTOR, MATRIX = Kind("float64", 1), Kind("float64", 2)
OPERATORS = ("+", "-", "*", "//", "%", "<", "<=", "==", "and", "or", "|", "&", "^", "if", "not", "**")
NAMES = {"a": 3, "b": -2, "c": 7}


def tree(rng, depth):
    """Return a random expression of integers."""
    if depth == 0:
        return rng.choice([Number(rng.randrange(5)), *map(Name, NAMES)])
    op = rng.choice([*OPERATORS, "-1", "min"])
    count = rng.choice([2, 3]) if op in ("and", "or") else 3 if op == "if" else 1 if op in ("not", "-1") else 2
    args = tuple(tree(rng, rng.randrange(depth)) for _ in range(count))
    if op in ("and", "or"):
        args = tuple(Op("<", (arg, ONE)) for arg in args)
    if op == "**":
        return Call("int", (Op(op, (args[0], Number(rng.randrange(3)))),))
    return Call(op, args) if op == "min" else Op(op.removesuffix("1"), args)


def test_printed_expressions_mean_in_python_what_they_are():
    rng = random.Random(7)
    judged = 0
    for _ in range(1500):
        expr = tree(rng, 4)
        printed = expression(expr)
        assert expression_of(printed) == expr
        code = Code((Function("f", tuple((n, INTEGER) for n in NAMES), (Return(expr),)),))
        try:
            expected = eval(printed, {}, dict(NAMES))  # noqa: S307
        except ZeroDivisionError:
            continue
        judged += 1
        assert Evaluator(code, {})(*NAMES.values()) == expected, printed
    assert judged > 1000


FORMULAS = {
    "sum(log(1 + exp(-y .* (X*w)))) + w'*w": "X: matrix(m, n); y: vector(m); w: vector(n)",
    "norm2(X*w - y)^2": "X: matrix(m, n); y: vector(m); w: vector(n)",
    "conv(x, y) + sum(x)": "x: vector(4); y: vector(3)",
    "A' .* B + ones(n)*ones(m)'": "A: matrix(m, n); B: matrix(n, m)",
    "y'*inv(S)*y": "S: matrix(n, n) spd; y: vector(n)",
    "x[p]'*x[p] + 1/n": "x: vector(m); p: index(n)",
}


def functions(code):
    """Return what Code calls in the library, as functions of Python."""
    bodies = [item.body for item in code.items if isinstance(item, Function)]
    called = {part.function for body in bodies for part in within(body) if isinstance(part, Call)}
    names = sorted(called & load_library("numba").items.keys())
    modules = load_items("numba", names)
    return {name: in_python(getattr(sys.modules[modules[name]], name)) for name in names}


def in_python(function):
    """Return a function that Python can call: kernels are called only from compiled code."""
    return function if hasattr(function, "py_func") else numba.njit(lambda *args: function(*args))


@pytest.mark.whole
@pytest.mark.parametrize("formula", FORMULAS)
def test_code_computes_its_formula_and_has_types(formula):
    root, symbols = parse(formula, FORMULAS[formula])
    program = plan([("value", root)], symbols, None)
    code = code_of(program, "fn")
    assert kinds_of(code, Linker())["fn_into"].names.items() >= dict(code.main.parameters).items()
    given = {s.name: sample(s, k) if s.name != "p" else np.arange(5) for k, s in enumerate(symbols)}
    (expected,) = evaluate([root], given, SIZES)
    result = np.full(np.shape(expected) or (1,), np.nan)
    assert Evaluator(code, functions(code))(*(given[name] for name in program.inputs), result) == 0
    np.testing.assert_allclose(result.reshape(np.shape(expected)), expected, rtol=1e-12)


def function(*body, result=ZERO):
    parameters = (("x", VECTOR), ("A", MATRIX), ("n", INTEGER), ("t", REAL))
    return Code((Function("f", parameters, (*body, Return(result))),))


x, A, n, t, i = map(Name, "xAnti")
UNTYPED = {
    "a name without a value": [Let("u", Name("v"))],
    "a value on one way only": [If(Op("<", (n, ONE)), (Let("u", ONE),)), Let("v", Name("u"))],
    "a value from a loop that may not run": [For("i", n, (Let("u", ONE),)), Let("v", Name("u"))],
    "the index of a loop after it": [For("i", n, ()), Let("v", i)],
    "a number and an array of one name": [Let("u", ONE), Let("u", x)],
    "a number as an array": [Let("u", Load(t, (ZERO,)))],
    "an array as a number": [Let("u", Op("+", (x, t)))],
    "a real index": [Let("u", Load(x, (t,)))],
    "too many indices": [Let("u", Load(x, (ZERO, ZERO)))],
    "a row stored as an entry": [Store(A, (ZERO,), t)],
    "a real length": [Let("u", Empty((t,)))],
    "an axis that is not there": [Let("u", Length(x, 1))],
    "a view of a number": [Let("u", View(t, (n,)))],
    "bits of a real": [Let("u", Op("|", (t, n)))],
    "a real loop": [For("i", t, ())],
    "an unknown function": [Do(Call("nothing", (x,)))],
    "a missing argument": [Do(Call("gemv", (ZERO, t, A, x, t)))],
    "a vector for a matrix": [Do(Call("gemv", (ZERO, t, x, x, t, x)))],
    "a statement as a value": [Let("u", Call("gemv", (ZERO, t, A, x, t, x)))],
    "a statement after the result": [Return(ZERO), Let("u", ONE)],
}


@pytest.mark.parametrize("fault", UNTYPED)
def test_faults_have_no_type(fault):
    with pytest.raises(UnknownFormError):
        kinds_of(function(*UNTYPED[fault]), Linker())


def test_kinds_of_names():
    row, half = Let("row", Load(A, (ZERO,))), Let("half", Op("/", (n, Number(2))))
    part = Let("part", View(x, (Number(2), Number(2)), ONE, Number(5)))
    loop = While(Op("<", (Name("count"), n)), (Let("count", ONE, "+"),))
    choice = If(Op("<", (t, n)), (Let("u", t),), (Let("u", Op("-", (t,))),))
    is_one = Let("is_one", Op("==", (Name("u"), Load(Name("c"), (ZERO,)))))
    constants = Constants((Let("c", Array((Number(1.0),))),))
    code = Code(
        (
            constants,
            *function(
                row, half, part, Let("count", ZERO), Let("wide", ZERO), Let("wide", t), loop, choice, is_one
            ).items,
        )
    )
    kinds = kinds_of(code, Linker())["f"].names
    found = {name: (kind.number, kind.rank) for name, kind in kinds.items() if name not in ("x", "A", "n", "t")}
    assert found == {
        "row": ("float64", 1),
        "half": ("float64", 0),
        "part": ("float64", 2),
        "count": ("int64", 0),
        "wide": ("float64", 0),
        "u": ("float64", 0),
        "is_one": ("boolean", 0),
    }


def test_foreign_functions_have_no_types():
    with pytest.raises(UnknownFormError):
        kinds_of(Code((Foreign("def g(x): ..."), *function().items)), Linker())


@pytest.mark.parametrize(
    "body",
    [
        [Let("u", Load(x, (n,)))],
        [Let("u", Load(x, (Number(-1),)))],
        [Store(A, (ZERO, Number(3)), t)],
        [Let("u", View(x, (), Number(4), Number(5)))],
        [Let("u", View(x, (Number(2),)))],
        [Let("u", Name("v"))],
    ],
)
def test_accesses_outside_are_faults(body):
    with pytest.raises(ProgramFault):
        Evaluator(function(*body), {})(np.zeros(3), np.zeros((2, 3)), 3, 1.0)


def test_memory_is_shared_by_views_and_new_memory_is_not_written():
    rows = Let("rows", View(A, (), ONE, Number(9)))
    flat = Let("flat", View(Name("rows"), (Number(-1),)))
    body = [rows, flat, Store(Name("flat"), (ONE,), t), Store(Name("flat"), (ONE,), t, "+")]
    data = np.zeros((2, 3))
    code = function(*body, Let("new", Empty((n,))), result=Load(Name("new"), (ZERO,)))
    assert np.isnan(Evaluator(code, {})(np.zeros(3), data, 3, 2.0))
    assert data[1, 1] == 4


def test_text_of_statements():
    body = [
        If(Op("or", (Op("<", (n, ONE)), Op(">", (t, n)))), (Return(ONE, "why"),), (If(t, (Let("u", n),)),)),
        For("i", n, (Store(A, (i, ZERO), chain("*", [t, Op("+", (t, t))]), "+"),), ZERO, Number(2), "rows"),
        While(Name("u"), (Do(Call("g", (x,))),)),
    ]
    assert text(function(*body)).splitlines() == [
        "def f(x, A, n, t):",
        "    if n < 1 or t > n:",
        "        return 1                                # why",
        "    elif t:",
        "        u = n",
        "    for i in range(0, n, 2):                    # rows",
        "        A[i, 0] += t*(t + t)",
        "    while u:",
        "        g(x)",
        "    return 0",
    ]
