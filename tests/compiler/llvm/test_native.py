"""Generated text compiled by LLVM alone, against Python running the same text.

Every statement, operator and name of generated text is tested, at edges where Python, Numba and C differ: quotients and
remainders of negative numbers, NaN in comparisons and folds, slices beyond the end, indices from the end, memory.
"""

import itertools
import math
import os
from dataclasses import replace

import numpy as np
import pytest

from matcalc.compiler.code.code import Code
from matcalc.compiler.code.read_python import items_of
from matcalc.compiler.entry.call_slot import exact_call
from matcalc.compiler.entry.call_table import Taken
from matcalc.compiler.kernels.kernel_code import Part, is_there, placed
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.native_kinds import Kind, UnknownFormError
from matcalc.compiler.llvm.native import Linker, compiled_part
from matcalc.compiler.llvm.native_text import Module
from matcalc.compiler.machine.machine_code import Into

REALS = (0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 5e-324, 1e308)
INTEGERS = (0, 1, -1, 2, 7, -7, 3, -3, 2**62, -(2**63))
DTYPES = {"float64": np.float64, "int64": np.int64, "int32": np.int32}


def native(text, *taken):
    """Return the function `f` of a text: arguments are "float64", "int64[1]", results end in "!"."""
    linker = Linker()
    module = Module(load_library("numba").items, linker)
    *others, main = items_of(text)
    module.add(Code((*others, replace(main, wraps=False))))
    kinds = [_kind(word) for word in taken]
    symbol = f"test.{abs(hash((text, taken)))}"
    assembly = module.entered("f", kinds, [word.endswith("!") for word in taken], symbol)
    part = compiled_part(symbol, assembly, linker)
    assert isinstance(part, Part) and is_there(part)
    code, address = placed(part)
    given = [Taken(k.number, k.rank, w.endswith("!")) for k, w in zip(kinds, taken, strict=True)]
    return exact_call(Into(address, 0, code), given)


def _kind(word):
    number, _, rank = word.rstrip("!").rstrip("]").partition("[")
    return Kind(number, int(rank or 0))


def python(text, **names):
    """Return the function `f` of a text as Python runs it."""
    space = {"np": np, "math": math, **names}
    exec(text, space)
    return space["f"]


def same(one, other):
    return np.array_equal(one, other, equal_nan=True) and np.array_equal(np.signbit(one), np.signbit(other))


# ---- numbers


@pytest.mark.parametrize("op", ["+", "-", "*"])
def test_sums_and_products_of_integers(op):
    run = native(f"def f(a, b, y):\n    y[0] = a {op} b\n    return 0\n", "int64", "int64", "int64[1]!")
    for a, b in itertools.product(INTEGERS, repeat=2):
        y = np.empty(1, np.int64)
        assert run(a, b, y) == 0
        assert (int(y[0]) - eval(f"a {op} b")) % 2**64 == 0, (a, op, b)


@pytest.mark.parametrize("op", ["//", "%"])
def test_quotients_and_rests_are_those_of_python(op):
    run = native(f"def f(a, b, y):\n    y[0] = a {op} b\n    return 0\n", "int64", "int64", "int64[1]!")
    for a, b in itertools.product(INTEGERS, repeat=2):
        y = np.empty(1, np.int64)
        run(a, b, y)
        wanted = 0 if b == 0 else eval(f"a {op} b")  # Numba's result for the divisor 0
        assert (int(y[0]) - wanted) % 2**64 == 0, (a, op, b)


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_real_numbers(op):
    run = native(f"def f(a, b, y):\n    y[0] = a {op} b\n    return 0\n", "float64", "float64", "float64[1]!")
    with np.errstate(all="ignore"):
        for a, b in itertools.product(REALS, repeat=2):
            y = np.empty(1)
            run(a, b, y)
            wanted = eval(f"x {op} b", {"x": np.float64(a), "b": np.float64(b)})
            assert np.array_equal(y[0], wanted, equal_nan=True), (a, op, b)
            assert np.isnan(wanted) or np.signbit(y[0]) == np.signbit(wanted), (a, op, b)


@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">="])
@pytest.mark.parametrize("kind, values", [("float64", REALS), ("int64", INTEGERS)])
def test_comparisons(op, kind, values):
    run = native(f"def f(a, b, y):\n    y[0] = 1.0 if a {op} b else 0.0\n    return 0\n", kind, kind, "float64[1]!")
    for a, b in itertools.product(values, repeat=2):
        y = np.empty(1)
        run(a, b, y)
        assert y[0] == eval(f"a {op} b"), (a, op, b)


@pytest.mark.parametrize("word", ["min", "max"])
@pytest.mark.parametrize("kind, values", [("float64", REALS), ("int64", INTEGERS)])
def test_folds_keep_the_first_where_no_other_is_better(word, kind, values):
    text = f"def f(a, b, c, y):\n    y[0] = {word}(a, b, c)\n    return 0\n"
    run = native(text, kind, kind, kind, f"{kind}[1]!")
    for given in itertools.product(values, repeat=3):
        y = np.empty(1, DTYPES[kind])
        run(*given, y)
        assert same(y[0], DTYPES[kind](eval(f"{word}{given}", {"nan": math.nan, "inf": math.inf}))), (word, given)


EXPRESSIONS = (
    "a + k", "k/2", "k/a", "-a", "-k", "abs(a)", "abs(k)", "float(k)", "1.0 if a > 0.0 and k > 0 or not a < 1.0 else 2",
    "0.0 < a < 2.0", "k if a > 0.0 else a", "math.sqrt(abs(a))", "math.hypot(a, 3.0)", "math.atan2(a, 2.0)",
    "math.nan", "math.inf", "(a > 0.0) | (k > 0)", "(a > 0.0) & (k > 0)", "True", "3.0 - a", "min(a, k)",
    "max(k, a, 2)",
)  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(expression):
    text = f"def f(a, k, y):\n    y[0] = {expression}\n    return 0\n"
    run, wanted = native(text, "float64", "int64", "float64[1]!"), python(text)
    with np.errstate(all="ignore"):
        for a, k in itertools.product((*REALS, 0.7, 1.0), (1, 2, -5, 0)):
            x, y = np.empty(1), np.empty(1)
            run(a, k, x)
            wanted(np.float64(a), np.int64(k), y)
            np.testing.assert_allclose(x, y, rtol=4e-16, err_msg=f"{expression} at {a}, {k}")


# ---- statements

STATEMENTS = {
    "nested loops, steps": """
def f(X, y):
    m = X.shape[0]
    n = X.shape[1]
    for i in range(m):
        total = 0.0
        for j in range(1, n, 2):
            total += X[i, j]
        for j in range(n - 1, -1, -1):
            total -= 0.5*X[i, j]
        y[i] = total
    return 0
""",
    "blocks of rows, the last shorter": """
def f(X, y):
    width = 3
    for start in range(0, X.shape[0], width):
        rows = X[start:start + width]
        length = rows.shape[0]
        for i in range(length):
            y[start + i] = rows[i, 0] + length
    return 0
""",
    "parts and other shapes": """
def f(X, y):
    m = X.shape[0]
    n = X.shape[1]
    flat = X.reshape((m*n,))
    for i in range(m):
        row = X[m - 1 - i]
        y[i] = flat[i*n] + row[0] + X.reshape(-1).size
    return 0
""",
    "arrays that stand for one another": """
def f(X, y):
    m = X.shape[0]
    a = np.empty(m)
    b = np.empty(m)
    for i in range(m):
        a[i] = X[i, 0]
        b[i] = 2.0*X[i, 0]
    for k in range(5):
        c = a
        a = b
        b = c
        d = np.empty(m)
        for i in range(m):
            d[i] = a[i] + b[i]
        if k == 3:
            b = d
    for i in range(m):
        y[i] = a[i] - 10.0*b[i]
    return 0
""",
    "an array of one branch": """
def f(X, y):
    part = y
    if X.shape[0] > 2:
        part = np.empty(X.shape[0])
    for i in range(X.shape[0]):
        part[i] = X[i, 0]
    for i in range(X.shape[0]):
        y[i] = 1.0 + part[i]
    return 0
""",
    "guards before entries": """
def f(X, y):
    m = X.shape[0]
    for i in range(m):
        y[i] = X[i + 1, 0] if i + 1 < m and X[i + 1, 0] > 0.0 else -1.0
    return 0
""",
    "returns inside": """
def f(X, y):
    for i in range(X.shape[0]):
        y[i] = 0.0
    scratch = np.empty((X.shape[0], 2))
    if X.shape[0] == 2:
        return 7
    for i in range(X.shape[0]):
        scratch[i, 1] = X[i, 0]
        if X[i, 0] > 1e6:
            return i
        y[i] = scratch[i, 1]
    return 0
""",
    "a loop while something holds, one that returns": """
def f(X, y):
    copy = np.empty(X.shape)
    left = X.shape[0]
    while left > 0:
        left -= 1
        copy[left, 0] = X[left, 0]
        y[left] = copy[left, 0] + left
    for i in range(X.shape[0]):
        return 5
    while True:
        left += 1
        if left == 3:
            return left
        elif left > 3:
            return 9
        else:
            left = left + 0
    return 0
""",
    "constants and inner functions": """
f_K0 = np.array([1.0, -2.5, np.inf, 4.0]).reshape((2, 2))


def last(x, k):
    x[-1] = x[-k] + 1.0
    return k


def f(X, y):
    for i in range(X.shape[0]):
        y[i] = f_K0[i % 2, 1]*X[i, 0]
    if X.shape[0] > 1:
        k = last(y, 2)
        y[0] = k
    return 0
""",
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7, 8])
@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name, rows):
    text = STATEMENTS[name]
    run, wanted = native(text, "float64[2]", "float64[1]!"), python(text)
    X = np.random.default_rng(rows).standard_normal((rows, 3))
    x, y = np.full(rows, np.nan), np.full(rows, np.nan)
    with np.errstate(all="ignore"):
        assert run(X, x) == wanted(X, y)
    np.testing.assert_allclose(x, y, rtol=1e-14)  # products and sums may be fused


@pytest.mark.parametrize("word", DTYPES)
def test_entries_of_each_type(word):
    text = "def f(x, y):\n    for k in range(x.size):\n        y[k] += x[k]*2 - x[0]/2\n    return 0\n"
    run, wanted = native(text, f"{word}[1]", "float64[1]!"), python(text)
    x = np.array([3, -7, 0, 2**31 - 1], DTYPES[word])
    y, z = np.ones(4), np.ones(4)
    run(x, y)
    wanted(x.astype(object), z)
    np.testing.assert_array_equal(y, z)


FORMS = (
    "y[0] = x[0]**2", "y[0] = x[0] // 2.0", "y[0] = len(x)", "y[0] = np.sum(x)", "y[0] = unheard_of(x[0])",
    "y[0] = 'a'",
    "x = x[::2]", "y[0] = x[0] if x[0] else x", "while x[0] > 0.0:\n        break", "y[0] = [1.0][0]",
    "a, b = x[0], x[1]", "y[0] = ~1", "z = np.zeros(3)", "z = np.empty(3, np.float32)", "y[0] = x[0] << 1",
    "y[0] = math.exp(x[0])", "for a in x:\n        y[0] = a", "raise ValueError", "del x", "y[0] = int(x[0])",
    "global z", "y[0] = unset", "z = x.T", "y[0] = x.copy()[0]", "y[0] = x[0, 0]", "y[0] = 1 << 70",
)  # fmt: skip


@pytest.mark.parametrize("statement", FORMS)
def test_another_form_is_left_to_numba(statement):
    with pytest.raises(UnknownFormError):
        native(f"def f(x, y):\n    {statement}\n    return 0\n", "float64[1]", "float64[1]!")


# ---- memory

TAKES = """
def f(n, m, y):
    for k in range(3):
        a = np.empty((n, m))
        b = a.reshape(-1)
        c = np.empty(n)
        if n > 5:
            return 1
        y[0] = b[0] + c[0]
    return 0
"""


def test_there_is_an_error_where_there_is_no_memory():
    run = native(TAKES, "int64", "int64", "float64[1]!")
    for n, m in ((2**59, 1), (2**40, 2**40), (2**62, 2**62), (2**33, 2**31), (1, 2**61)):
        with pytest.raises(MemoryError, match="no memory"):
            run(n, m, np.empty(1))
    assert run(1, 1, np.empty(1)) == 0


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_each_array_lets_go_of_its_memory():
    """Calls that return early, raise, or pass arrays on would take 100 MB and more if one array were not freed."""
    runs = [native(text, "float64[2]", "float64[1]!") for text in STATEMENTS.values()]
    X, y = np.ones((400, 3)), np.empty(400)
    early = native(TAKES, "int64", "int64", "float64[1]!")

    def many():
        for _ in range(4000):
            for run in runs:
                run(X, y)
            early(200, 40, y)
        for _ in range(200):
            with pytest.raises(MemoryError):
                early(3, 2**61, y)

    many()
    before = resident()
    many()
    assert resident() - before < 4


def resident():
    """Return the resident memory of this process in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
