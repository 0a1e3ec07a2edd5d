"""Kernels read as Code compute what Python computes: each form that they are written in, run by the evaluator."""

import math

import numpy as np
import pytest

from matcalc.compiler.code.code import Code
from matcalc.compiler.code.evaluate import Evaluator
from matcalc.compiler.code.read_kernels import kernel_items
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.native_kinds import UnknownFormError

FORMS = {
    "lengths of an array": "m, n = A.shape\nshape = A.shape\nreturn m + 10*n + 100*shape[1]",
    "lengths of a tuple": "n = A.shape[0]\nshape = (n, n + 1)\nB = np.zeros(shape)\nreturn B.shape[1] + shape[0]",
    "lengths of a name that changes": "n = A.shape[0]\nshape = (n, 1)\nn = 7\nreturn np.zeros(shape).shape[0] + n",
    "values exchanged": "a, b = x[0], x[1]\na, b = b, a + b\nreturn a - 2.0*b",
    "entries exchanged": "x[0], x[1] = x[1], x[0]\nreturn x[0]",
    "values that need no order": "a, b = x[0], 2.0\nreturn a*b",
    "a choice of values": "a, b = (x[0], 1.0) if k > 2 else (2.0, x[1])\nreturn a - 3.0*b",
    "a choice of shapes": "B = np.ones((2, 3) if k > 2 else A.shape)\nreturn B.shape[0] + 10*B.shape[1]",
    "filled arrays": "B, p = np.zeros((2, 2)), np.arange(4)\nB[0, 1] = np.ones(3)[2]\nreturn B[0, 1] + B[1, 0] + p[3]",
    "an array filled anew": "B = np.ones(3)\nB[:] = x[1]\nreturn B[0] + B[2]",
    "slices": "y, z = x[1:], x[:2]\nw = x[1:3]\nreturn y[0] + 10.0*z[1] + 100.0*w[1] + y.shape[0] + z.shape[0]",
    "an array in an expression": "return np.ones(4).reshape((2, 2))[1, 1] + x.size",
    "a loop that is left": "s = 0.0\nfor i in range(5):\n    if i == k:\n        break\n    s += i\nreturn s",
    "rounds that end early": "s = 0\nfor i in range(6):\n    if i % 2 == 0:\n        continue\n    s += i\nreturn s",
    "an endless loop": "i = 0\nwhile True:\n    i += 1\n    if i > k:\n        break\nreturn i",
    "an inner loop": "for i in range(3):\n    while True:\n        if k > i: break\n        k += 2\nreturn k",
    "entries of a constant": "s = 0.0\nfor c in ROWS:\n    s = 2.0*s + c\nreturn s",
    "a chain of comparisons": "return 1 if 0 < k < 4 < 9 else 0",
    "bits": "return (k << 3) + (k >> 1) + (k & 2) + (k | 8) + (k ^ 1)",
    "a part of a result": "return math.frexp(x[2])[1]",
    "numbers of other kinds": "return int64(x[2]) + float64(k)",
    "no result": "x[1] = 5.0\nif k > 0:\n    return\nx[1] = 6.0",
    "a result that is left out": "x[1] = 5.0",
}  # fmt: skip
ROWS = "ROWS = (1.0, 0.25, -3.0)"


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("form", FORMS)
def test_a_form_means_what_it_means_in_python(form, k):
    body = "\n".join(f"    {line}" for line in FORMS[form].splitlines())
    text = f"def f(A, x, k):\n{body}\n"
    names = {"np": np, "math": math, "int64": int, "float64": float}
    exec(f"{ROWS}\n{text}", names)
    A, x = np.arange(6.0).reshape(2, 3), np.array([1.5, -2.0, 9.0])
    given = [A.copy(), x.copy()]
    frexp = {"math.frexp[1]": lambda value: math.frexp(value)[1]}
    found = Evaluator(Code((*kernel_items(ROWS), *kernel_items(text))), frexp)(*given, k)
    wanted = names["f"](A, x, k)
    assert found == (wanted if wanted is not None else found)
    np.testing.assert_array_equal(given[0], A)
    np.testing.assert_array_equal(given[1], x)


def test_a_pair_of_results():
    text = "def g(a):\n    return a + 1.0, a*2.0\n\n\ndef f(a):\n    s, t = g(a)\n    return s*10.0 + t + g(t)[0]\n"
    names = {}
    exec(text, names)
    assert Evaluator(Code(kernel_items(text)), {})(3.0) == names["f"](3.0)


@pytest.mark.parametrize(
    "text",
    ["return [a for a in x]", "x[0:4:2] = 1.0", "with x:\n        pass", "return f(*x)"],
)
def test_other_forms_are_refused(text):
    with pytest.raises(UnknownFormError):
        kernel_items(f"def f(x):\n    {text}\n")


def test_comments_and_docstrings_are_kept():
    text = 'def f(x):\n    """Return x."""\n    # a comment of its own\n    y = x  # a copy\n    return y\n'
    (function,) = kernel_items(text)
    assert function.doc == ("Return x.",)
    assert [statement.note for statement in function.body] == ["a copy", ""]


def test_kernels_are_read_with_the_kinds_that_they_state():
    """All kernels but those that call LLVM or SciPy by address; `sparse.py` has kinds of its own."""
    items = [item for item in load_library("numba").items.values() if item.is_kernel and "sparse" not in item.origin]
    assert len(items) > 150
    unread = [item.name for item in items if not _kinds(item)]
    assert not unread


def _kinds(item):
    try:
        (function,) = kernel_items(item.text)
    except UnknownFormError:
        return False
    return function.result is not None and all(kind is not None for _, kind in function.parameters)
