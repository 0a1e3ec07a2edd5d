"""The text of Code, read again, is the Code; a text with another meaning is reported."""

import pytest

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
    Let,
    Load,
    Name,
    Number,
    Op,
    Return,
    Store,
    View,
    While,
)
from matcalc.compiler.code.code_text import Printed
from matcalc.compiler.code.compare_text import difference
from matcalc.compiler.code.print_python import text
from matcalc.compiler.kernels.native_kinds import INTEGER, REAL, Kind

x, n, t, i, y = map(Name, "xntiy")
BODY = (
    Let("u", Op("*", (Op("-", (t,)), Op("+", (t, Number(-1.5))))), note="a product"),
    Let("y", Empty((n,), "int64")),
    For("i", n, (Store(y, (i,), Op("//", (i, Number(2))), "+"),), ONE, Number(2)),
    If(Op("and", (Op("<", (t, Number(-0.0))), Op("not", (n,)))), (Return(ONE),), (Let("u", Number(float("nan"))),)),
    While(Number(True), (Do(Call("dot", (x, View(x, (), ZERO, n)))), Return(Call("min", (n, Load(y, (ZERO,))))))),
)
CODE = Code(
    (
        Foreign("def value_of_rule(x):\n    return x\n\n\ndef other(x):\n    return -x"),
        Constants((Let("K1", Array((Number(1.0), Number(-2.0)))), Let("K2", Array((Number(float("inf")),))))),
        Function("inner", (("t", REAL),), (Return(t),), ("Return t.",), is_inner=True),
        Function("f_into", (("x", Kind("float64", 1)), ("n", INTEGER), ("t", REAL)), BODY),
    )
)
CHANGES = [
    ("-t*", "t*"), ("t + -1.5", "t - -1.5"), ("t*(t + -1.5)", "t*t + -1.5"), ("np.int64", "np.int32"),
    ("range(1, n, 2)", "range(n)"), ("y[i] += ", "y[i] = "), ("i//2", "i/2"), (" and ", " or "), ("not n", "n"),
    ("t < -0.0", "t < 0.0"), ("return 1", "return 1.0"), ("np.nan", "np.inf"), ("while True", "while 1"),
    ("dot(x, x[0:n])", "dot(x[0:n], x)"), ("x[0:n]", "x[0:n].reshape(-1)"), ("f_into(x, n, t)", "f_into(n, x, t)"),
    ("return -x", "return x"), ("-2.0", "2.0"), ("K2 = ", "K3 = "), ("@njit", "# @njit"), ("    return t", "    t"),
    ("        return 1\n", ""), ("f_into(x", "g_into(x"), ("y[i]", "y[i + 1]"), ("else:", "if True:"),
    ("        return min(n, y[0])", "        return min(n, y[0])\n\n\nx = 1.0"), ("y[0]", "y["),
]  # fmt: skip


def test_a_text_is_its_code():
    assert difference(text(CODE)) == ""
    assert difference("def f(x): return x") == ""  # without Code


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_of_meaning_is_reported(old, new):
    source = text(CODE)
    assert old in source
    k = next(k for k, part in enumerate(source.parts) if old in part)
    parts = [*source.parts[:k], source.parts[k].replace(old, new, 1), *source.parts[k + 1 :]]
    changed = Printed(parts, CODE)
    assert difference(changed)


def test_comments_have_no_meaning():
    parts = [part.replace("# a product", "# a sum").replace("Return t.", "Give t.") for part in text(CODE).parts]
    changed = Printed(parts, CODE)
    assert changed != text(CODE)
    assert difference(changed) == ""
