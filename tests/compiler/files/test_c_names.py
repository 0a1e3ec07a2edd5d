"""Names in files of C never collide with keywords, macros, types or functions of the headers, whatever users choose."""

import re
import subprocess
from functools import cache

import c_files
import numpy as np
import pytest

import matcalc as mc
from matcalc.compiler.files.c_words import load_c_words

needs_gcc = pytest.mark.skipif(bool(c_files.why_not()), reason=c_files.why_not() or "-")
HEADERS = ("cblas", "lapacke", "math", "stdint", "string", "stdio", "stdlib", "float")
OFTEN = ("I", "_Bool", "M_PI", "complex", "NULL", "EOF", "INT64_MAX", "LAPACK_dgemm", "cblas_dgemv", "_Complex_I")
OFTEN += ("linux", "unix", "y0", "gamma", "index", "read", "NAN", "bool", "PRId64", "dgemm_", "DBL_MAX", "signgam")
GROUP = 24


@cache
def macros():
    """Return the macros of the headers under each standard of C, and the functions that they declare."""
    text = "".join(f"#include <{header}.h>\n" for header in HEADERS)
    found = set()
    for standard in ("c99", "gnu99", "gnu17"):
        command = ["gcc", f"-std={standard}", "-dM", "-E", "-xc", "-"]
        listed = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
        found |= set(re.findall(r"#define (\w+)", listed))
    return sorted(found)


@needs_gcc
@pytest.mark.whole
def test_each_macro_of_the_headers_is_taken():
    taken = load_c_words().reserved_for(macros())
    assert [name for name in macros() if name not in taken] == []


def check(names, function):
    """Compile a sum of squares of vectors and of sizes that have these names, and run it."""
    half = len(names) // 2
    vectors, sizes = names[:half], names[half : 2 * half]
    declared = "; ".join(f"{v}: vector({n})" for v, n in zip(vectors, sizes, strict=True))
    text = " + ".join(f"{k}*norm2({v})^2*{n}" for k, (v, n) in enumerate(zip(vectors, sizes, strict=True), 1))
    made = mc.compile(text, declarations=declared, target="c", name=function)
    call = c_files.CCall(made, ("-O0",))
    data = {v: np.arange(k % 3 + 1.0) for k, v in enumerate(vectors)}
    wanted = sum(k * np.sum(x**2) * len(x) for k, x in enumerate(data.values(), 1))
    np.testing.assert_allclose(call(**data), wanted, rtol=1e-13)


@needs_gcc
def test_names_of_c_that_occur_often():
    check(OFTEN, "I")


@needs_gcc
@pytest.mark.whole
@pytest.mark.parametrize("name", OFTEN)
def test_a_function_of_such_a_name(name):
    check(["x", "n"], name)


@needs_gcc
@pytest.mark.long
def test_every_word_as_the_name_of_a_symbol_and_of_a_size():
    words = sorted({*load_c_words().reserved, *macros()})
    words = [word for word in words if word.isascii() and not word.startswith("__")]
    for start in range(0, len(words) - 1, GROUP):
        check(words[start : start + GROUP], "f")


@needs_gcc
@pytest.mark.parametrize("standard", ["c99", "gnu17"])
def test_constants_of_kernels_are_no_macros(standard, tmp_path):
    made = mc.value_and_gradient("norm(A, 2)", "A", "A: matrix(m, n)", target="c")
    command = ["gcc", f"-std={standard}", "-O0", "-Wall", "-Werror", "-c", "-o", str(tmp_path / "f.o"), "-xc", "-"]
    done = subprocess.run(command, input=made.source, capture_output=True, text=True)
    assert not done.returncode, done.stderr
