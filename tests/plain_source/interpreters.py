"""Runs plain source of other languages in their interpreters: one process for many formulas.

Arguments and results are text with 17 digits, arrays in column-major order. Index data count from 1 there.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

SECONDS = 600
"""The longest time that an interpreter may take."""


def octave_number(x):
    """Return a number as a literal of 17 digits."""
    return f"{float(x):.17g}".replace("inf", "Inf").replace("nan", "NaN")


def octave_array(value):
    """Return an array as an expression of Octave: a vector is a column."""
    array = np.asarray(value)
    if not array.ndim:
        return octave_number(array)
    shape = array.shape if array.ndim > 1 else (*array.shape, 1)
    return f"reshape([{' '.join(map(octave_number, array.ravel(order='F')))}], [{' '.join(map(str, shape))}])"


def octave_call(label, name, arguments, count):
    """Return the statements that call a function and print its results."""
    results = [f"r{k}" for k in range(count)]
    lines = ["try", f"[{', '.join(results)}] = {name}({', '.join(map(octave_array, arguments))});"]
    lines += [f'printf("= {label}\\n");']
    lines += [f'printf("%d ", size({r})); printf("\\n"); printf("%.17g ", {r}); printf("\\n");' for r in results]
    return "\n".join([*lines, "catch err", f'printf("! {label} %s\\n", err.message);', "end"])


def r_array(value):
    """Return an array as an expression of R: a vector is a plain vector, never a matrix of one column."""
    array = np.asarray(value)
    if not array.ndim:
        return octave_number(array)
    entries = f"c({', '.join(map(octave_number, array.ravel(order='F')))})" if array.size else "numeric(0)"
    return entries if array.ndim == 1 else f"array({entries}, c({', '.join(map(str, array.shape))}))"


def r_call(label, name, arguments, count):
    """Return the statements that call a function and print its results, with the sizes of each."""
    call = f"{name}({', '.join(map(r_array, arguments))})"
    return (
        f"tryCatch({{ r <- {call}\n"
        f"r <- if (is.list(r)) r else list(r)\nstopifnot(length(r) == {count})\n"
        f'cat("= {label}\\n")\n'
        'for (x in r) cat(if (is.null(dim(x))) length(x) else dim(x), "\\n", sprintf("%.17g", x), "\\n")\n'
        f'}}, error = function(e) cat("! {label}", gsub("\\n", " ", conditionMessage(e)), "\\n"))'
    )


LANGUAGES = {
    "octave": ("octave", ["octave-cli", "--norc", "--quiet"], ".m", octave_call, "1;\n"),
    "r": ("R", ["Rscript", "--vanilla"], ".R", r_call, ""),
}


def needs(language):
    """Skip if the interpreter of a language is missing."""
    name, command, *_ = LANGUAGES[language]
    if not shutil.which(command[0]):
        packages = {"octave": "octave", "r": "r-base-core"}[language]
        pytest.skip(f"{name} is not installed: apt-get install --no-install-recommends {packages}")


@dataclass(frozen=True, eq=False)
class Call:
    """A call of a function: a label, the function's name and source, its arguments, and the shapes of its results."""

    label: str
    name: str
    source: str
    arguments: Sequence[object]
    shapes: Sequence[tuple[int, ...]]


def run(language, calls):
    """Run calls in one process.

    Returns the results of each by its label, a tuple of arrays, or the message of its error.
    """
    _, command, ending, text_of_call, head = LANGUAGES[language]
    parts = [head]
    for call in calls:
        parts += [call.source, text_of_call(call.label, call.name, call.arguments, len(call.shapes))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"calls{ending}"
        path.write_text("\n".join(parts) + "\n", encoding="utf-8")
        done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=SECONDS)
    found = {}
    for block in re.split(r"^(?=[=!] )", done.stdout, flags=re.MULTILINE)[1:]:
        first, *lines = block.splitlines()
        mark, label, *message = first.split(" ", 2)
        found[label] = " ".join(message) if mark == "!" else arrays(lines)
    assert set(found) == {call.label for call in calls}, done.stderr[-2000:]
    return {call.label: placed(found[call.label], call.shapes) for call in calls}


def arrays(lines):
    """Return the printed arrays: a line of sizes and a line of entries for each."""
    printed = []
    for sizes, entries in zip(lines[::2], lines[1::2], strict=True):
        shape = tuple(map(int, sizes.split()))
        printed.append(np.array([float(x.replace("NA", "nan")) for x in entries.split()]).reshape(shape, order="F"))
    return tuple(printed)


def placed(results, shapes):
    """Return results with the expected shapes, where the language has none such: scalars, vectors, last axes of 1."""
    if isinstance(results, str):
        return results
    changed = []
    for array, shape in zip(results, shapes, strict=True):
        own = shape if shape else (1,)
        columns = (*own, 1) if len(own) == 1 else own
        trimmed = tuple(columns)
        while len(trimmed) > 2 and trimmed[-1] == 1:
            trimmed = trimmed[:-1]
        fits = array.shape in (own, columns, trimmed) and not (
            array.ndim == 2 and len(own) == 1 and array.shape[1] != 1
        )
        changed.append(array.reshape(shape, order="F") if fits else array)
    return tuple(changed)
