"""The forms of Code, printed as C, compute what Python computes; the workspace is as large as they need."""

import ctypes
import math

import numpy as np
import pytest
from c_files import gcc, marked, why_not
from compiler.code.test_read_kernels import FORMS, ROWS

from matcalc.compiler.code.code import (
    Call,
    Code,
    For,
    Function,
    Length,
    Let,
    Load,
    Name,
    Number,
    Op,
    Return,
    Store,
    View,
)
from matcalc.compiler.code.read_kernels import kernel_items
from matcalc.compiler.files.c_kinds import definition, word
from matcalc.compiler.files.c_text import PAIR_TYPE
from matcalc.compiler.files.c_unit import Unit
from matcalc.compiler.files.c_words import helpers_of
from matcalc.compiler.kernels.native_kinds import INTEGER, NOTHING, Kind
from matcalc.errors import NotSupported

KINDS = (Kind("float64", 2), Kind("float64", 1), INTEGER)
NOT_IN_C = {
    "entries of a constant": "the constant is not one of codegen",
    "lengths of a name that changes": "the workspace is a formula of names with one value",
}
A, X = np.arange(6.0).reshape(2, 3), np.array([1.5, -2.0, 9.0])

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not() or "nothing is missing")


def text_of(unit, names):
    """Return a file with functions of a unit, each with an entry `call_NAME`."""
    functions = [unit.function(name, KINDS) for name in names]
    for function in functions:
        unit.reach(function)
    entries = []
    for name, made in zip(names, functions, strict=True):
        arrays = f"({word(KINDS[0])}){{A, {{2, 3}}}}, ({word(KINDS[1])}){{x, {{3}}}}"
        call = f"{made.name_in_c}({arrays}, k{', work' if made.takes_work else ''})"
        need = "0"
        if made.takes_work:
            lengths = ((*A.shape,), (*X.shape,))
            sizes = ["k" if axis < 0 else str(lengths[place][axis]) for place, axis in made.workspace.ordered]
            need = f"{made.name_in_c}_work({', '.join(sizes)})"
        body = f"{call}; return 0.0;" if made.result == NOTHING else f"return (double){call};"
        head = f"double call_{name}(double *A, double *x, int64_t k, double *work)"
        entries += [f"{head} {{ (void)work; {body} }}", f"int64_t need_{name}(int64_t k) {{ (void)k; return {need}; }}"]
    texts = [f.text for f in unit.reached] + [f.work_definition for f in unit.reached if f.takes_work]
    arrays = [Kind(number, rank) for number in ("float64", "int64", "int32") for rank in (1, 2)]
    parts = ["#include <math.h>", "#include <stdint.h>", "#include <string.h>", *map(definition, arrays), PAIR_TYPE]
    return "\n\n".join([*parts, *unit.constants.values(), *helpers_of("\n".join(texts)), *texts, *entries]) + "\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return the forms as functions of one library."""
    unit, names = Unit(), {}
    for k, (form, body) in enumerate(FORMS.items()):
        if form not in NOT_IN_C:
            names[form] = f"form_{k}"
            lines = "\n".join(f"    {line}" for line in body.splitlines())
            unit.add(Code(kernel_items(f"def form_{k}(A, x, k):\n{lines}\n")))
    place = tmp_path_factory.mktemp("forms") / "forms.so"
    done = gcc(text_of(unit, names.values()), place, "-O1", "-shared", "-fPIC")
    assert not done.returncode, done.stderr
    return ctypes.CDLL(str(place)), names


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("form", [form for form in FORMS if form not in NOT_IN_C])
def test_a_form_means_what_it_means_in_python(library, form, k):
    loaded, names = library
    run, need = loaded[f"call_{names[form]}"], loaded[f"need_{names[form]}"]
    run.restype, need.restype = ctypes.c_double, ctypes.c_int64
    given = [marked(A.shape), marked(X.shape), marked((need(ctypes.c_int64(k)),))]
    given[0][0][...], given[1][0][...] = A, X
    at = [array.ctypes.data_as(ctypes.c_void_p) for array, _ in given]
    found = run(at[0], at[1], ctypes.c_int64(k), at[2])
    python = {"np": np, "math": math, "int64": int, "float64": float}
    body = "\n".join(f"    {line}" for line in FORMS[form].splitlines())
    exec(f"{ROWS}\ndef f(A, x, k):\n{body}\n", python)
    arrays = [A.copy(), X.copy()]
    wanted = python["f"](*arrays, k)
    assert wanted is None or found == wanted
    for (array, whole), right in zip(given, [*arrays, None], strict=True):
        assert right is None or np.array_equal(array, right)
        assert np.all(whole[array.size :] == 1.5e300), "an entry behind an array was written"


def printed(body, name="f", kinds=KINDS):
    """Return the text of a function of Code."""
    unit = Unit()
    parameters = tuple(zip(("A", "x", "k"), kinds, strict=True))
    unit.add(Code((Function(name, parameters, (*body, Return(Number(0)))),)))
    made = unit.function(name)
    unit.reach(made)
    return made.text


def test_a_view_ends_with_its_array():
    view = View(Name("x"), (), Name("k"), Op("+", (Name("k"), Number(2))))
    text = printed([Let("y", view), Store(Name("y"), (Number(0),), Number(1.0))])
    assert "{least(k + 2, x.shape[0]) - k}" in text
    whole = printed([Let("y", View(Name("x"), (), Number(0), Length(Name("x"), 0)))])
    assert "least" not in whole


def test_a_loop_computes_its_bounds_once():
    first = Load(Name("x"), (Number(0),))
    stop = Call("int", (first,))
    text = printed([For("i", stop, (Store(Name("x"), (Number(0),), Number(0.0)),))])
    assert "const int64_t end_1 = (int64_t)x.at[0];" in text and "i < end_1" in text
    text = printed([For("i", Name("k"), (Let("k", Number(0)),))])
    assert "const int64_t end_1 = k;" in text


def test_what_needs_memory_that_depends_on_data_is_refused():
    rounds = kernel_items("def f(A, x, k):\n    for i in range(k):\n        y = np.zeros(3)\n    return y[0]\n")
    length = kernel_items("def f(A, x, k):\n    y = np.zeros(int(x[0]))\n    return y[0]\n")
    for items in (rounds, length):
        unit = Unit()
        unit.add(Code(items))
        with pytest.raises(NotSupported, match=r"f has no form for the target c(: its workspace depends on data)?"):
            unit.reach(unit.function("f", KINDS))


def test_two_functions_of_one_name_are_refused():
    unit = Unit()
    unit.add(Code(kernel_items("def f(x):\n    return x\n")))
    unit.add(Code(kernel_items("def f(x):\n    return x  # again\n")))
    with pytest.raises(NotSupported, match="two functions of one file are called f"):
        unit.add(Code(kernel_items("def f(x):\n    return -x\n")))


@pytest.mark.parametrize("form", NOT_IN_C)
def test_other_forms_are_refused(form):
    lines = "\n".join(f"    {line}" for line in FORMS[form].splitlines())
    unit = Unit()
    unit.add(Code(kernel_items(f"def f(A, x, k):\n{lines}\n")))
    with pytest.raises(NotSupported, match="f has no form for the target c"):
        unit.reach(unit.function("f", KINDS))
