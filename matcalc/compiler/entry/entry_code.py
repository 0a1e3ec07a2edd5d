"""Compiles the entry of all functions, `codegen/llvm/entry.py`, by LLVM alone: once for an installation.

It is read as Code and printed as assembly like any function. Here stand the functions outside that it calls: those of
Python and NumPy, fields of their objects, and the objects that it compares with.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.code.code import Code, Function
from matcalc.compiler.code.read_kernels import kernel_items
from matcalc.compiler.kernels.native_kinds import INTEGER, REAL, Kind, Value
from matcalc.compiler.llvm.native_lines import Lines
from matcalc.compiler.llvm.native_text import Inside, Module
from matcalc.compiler.llvm.native_words import load_llvm_words
from matcalc.compiler.machine.array_layout import (
    ALIGNED,
    CONTIGUOUS,
    DOUBLE,
    SWAPPED,
    WRITABLE,
    Array,
    Class,
    Dtype,
    Object,
)
from matcalc.compiler.machine.machine_code import ENTRY, OBJECTS, PREFIX, target_machine
from matcalc.compiler.numba.llvm_passes import optimise
from matcalc.store.data_folders import data_folder

TABLE = Kind("int64", 2)
GIVEN = [*[INTEGER] * 6, Kind("int64", 1), *[TABLE] * 4]
"""The parameters of the entry."""
OUTSIDE = {
    "PyFloat_FromDouble": ("i64", "double"), "PyFloat_AsDouble": ("double", "i64"), "PyLong_AsLongLong": ("i64", "i64"),
    "PyLong_FromLongLong": ("i64", "i64"), "PyErr_Occurred": ("i64",), "PyErr_Clear": ("void",),
    "PyErr_NoMemory": ("i64",), "PyTuple_New": ("i64", "i64"), "PyTuple_Size": ("i64", "i64"),
    "PyTuple_GetItem": ("i64", "i64", "i64"), "PyTuple_SetItem": ("i32", "i64", "i64", "i64"),
    "PyObject_Vectorcall": ("i64", "i64", "i64", "i64", "i64"), "PyEval_SaveThread": ("i64",),
    "PyEval_RestoreThread": ("void", "i64"), "Py_IncRef": ("void", "i64"), "Py_DecRef": ("void", "i64"),
    "PyMem_Malloc": ("i64", "i64"), "PyMem_Free": ("void", "i64"),
    "empty": ("i64", "i32", "i64", "i64", "i32"), "blank": ("i64", "i32", "i64", "i64", "i32"),
}  # fmt: skip
"""The functions of Python and NumPy: the types of their results and arguments. Addresses are passed as integers."""
HELPERS = {
    "word": ("i64", "i64", "i64"), "put": ("void", "i64", "i64", "i64"), "real": ("double", "i64", "i64"),
    "put_real": ("void", "i64", "i64", "double"), "call": ("i64", "i64", "i64"), "clear": ("void", "i64", "i64"),
    "product": ("i64", "i64", "i64"),
}  # fmt: skip
"""The functions of `entry.ll` and `helpers.ll`."""
NUMBERS = {"double": DOUBLE, "writable": ALIGNED | CONTIGUOUS["C"] | WRITABLE, "swapped": SWAPPED}
"""The number of the type float64, the flags of an array that can be written, the byte order that is not this one."""
STRUCTURES: Sequence[type[ctypes.Structure]] = (Object, Array, Dtype, Class)


class Plain(NamedTuple):
    """A function in the calling convention of C."""

    symbol: str
    types: Sequence[str]

    @property
    def kinds(self) -> Sequence[Kind]:
        return [REAL if word == "double" else INTEGER for word in self.types[1:]]

    @property
    def result(self) -> Kind | None:
        return {"double": REAL, "i64": INTEGER}.get(self.types[0])

    def written(self, lines: Lines, args: Sequence[Value], result: str) -> str:
        given = []
        for word, arg in zip(self.types[1:], args, strict=True):
            text = getattr(arg, "text", "")
            given.append(f"{word} {lines.new(f'trunc i64 {text} to i32') if word == 'i32' else text}")
        call = f'call {self.types[0]} @"{self.symbol}"({", ".join(given)})'
        if self.result is None:
            lines.do(call)
        else:
            lines.do(f"store {self.types[0]} {lines.new(call)}, ptr {result}")
        return ""


class _Entry(Module):
    """The functions of the entry, and those outside."""

    def callee(self, name: str, kinds: Sequence[Kind]) -> Any:
        found = FUNCTIONS.get(name)
        return super().callee(name, kinds) if found is None else found


def object_code() -> bytes:
    """Return the object code of the entry, for any processor of this kind."""
    around = llvm.create_context()
    machine = target_machine()
    module = llvm.parse_assembly(assembly(), around)
    module.verify()
    optimise(module, machine)
    code = bytes(machine.emit_object(module))
    del module  # before its context
    return code


def assembly() -> str:
    """Return the assembly of the entry."""
    folder = data_folder("codegen") / "llvm"
    functions = kernel_items((folder / "entry.py").read_text(encoding="utf-8"))
    module = _Entry({}, lambda name, kinds: None)
    module.add(Code(tuple(replace(f, wraps=False) for f in functions if isinstance(f, Function))))
    own = module.callee("entry", GIVEN)
    assert isinstance(own, Inside)
    head = (
        (folder / "entry.ll")
        .read_text(encoding="utf-8")
        .replace("@ENTRY", f"@{ENTRY}")
        .replace("@OWN", f"@{own.symbol}")
    )
    return "\n".join([load_llvm_words().helpers, *_written(), *module.texts, head])


def _written() -> Iterator[str]:
    """Yield the declarations of functions outside, and functions that return numbers, objects and fields of objects."""
    for name, (result, *words) in OUTSIDE.items():
        yield f'declare {result} @"{PREFIX}{name}"({", ".join(words)})'
    for name, number in NUMBERS.items():
        yield f"define internal i64 @{name}() alwaysinline {{\n  ret i64 {number}\n}}"
    for name in OBJECTS:
        yield f'@"{PREFIX}{name}" = external global i8'
        place = f'ptrtoint (ptr @"{PREFIX}{name}" to i64)'
        yield f"define internal i64 @{_of_object(name)}() alwaysinline {{\n  ret i64 {place}\n}}"
    for structure, field in _fields():
        part = getattr(structure, field)
        word = f"i{8 * part.size}"
        text = f"load {word}, ptr %place"
        yield (
            f"define internal i64 @{structure.__name__}_{field}(i64 %thing) alwaysinline {{\n"
            f"  %at = add i64 %thing, {part.offset}\n  %place = inttoptr i64 %at to ptr\n  %found = {text}\n"
            + ("  ret i64 %found\n}" if word == "i64" else f"  %long = sext {word} %found to i64\n  ret i64 %long\n}}")
        )


def _fields() -> Iterator[tuple[type[ctypes.Structure], str]]:
    for structure in STRUCTURES:
        for name, kind, *_ in structure.__dict__["_fields_"]:
            if not issubclass(kind, ctypes.Array):
                yield structure, name


def _of_object(name: str) -> str:
    return f"the_{name.replace('.', '_')}"


FUNCTIONS = {
    **{name: Plain(f"{PREFIX}{name}", words) for name, words in OUTSIDE.items()},
    **{name: Plain(name, words) for name, words in HELPERS.items()},
    **{name: Plain(name, ("i64",)) for name in (*NUMBERS, *map(_of_object, OBJECTS))},
    **{f"{s.__name__}_{field}": Plain(f"{s.__name__}_{field}", ("i64", "i64")) for s, field in _fields()},
}
"""The functions that the entry calls."""
