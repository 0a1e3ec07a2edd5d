"""Writes the text of a program for a target, under a name that collides with nothing in its file."""

from __future__ import annotations

from typing import NamedTuple

from matcalc.compiler.emit.functional import array_source
from matcalc.compiler.emit.module import companions, emit
from matcalc.compiler.files.c_words import load_c_words
from matcalc.compiler.files.save_test import TEST_NAMES
from matcalc.compiler.program import Program
from matcalc.compiler.spec.module_text import function_name
from matcalc.compiler.targets import ON_NUMPY, SAVED, SPELLINGS


class Texts(NamedTuple):
    """The name of a function, its text, and its NumPy text if the target has both."""

    name: str
    source: str
    numpy_source: str


def texts_of(program: Program, name: str, target: str) -> Texts:
    """Return the texts of a program.

    Raises: NotSupported with the name of the word or form that the target lacks.
    """
    if target in ON_NUMPY:
        targets = ("numba", "numpy") if target == "numba" else ("numpy",)
        name = function_name(name, [companions(program, used) for used in targets], TEST_NAMES)
        source = emit(program, name, "numba") if target == "numba" else ""
        return Texts(name, source, emit(program, name, "numpy"))
    if target in SAVED:
        (whose,) = SPELLINGS[target]
        name = function_name(name, [companions(program, whose)], load_c_words().reserved_for([name]))
        return Texts(name, emit(program, name, whose), "")
    return Texts(*array_source(program, name, target), "")
