"""Compiles LLVM assembly to object code, loads it, and frees it with its last owner.

It needs only `llvmlite.binding`, not Numba. Code refers to functions and objects of the C interfaces of Python and
NumPy by symbols, which are registered under matcalc's own names.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import llvmlite.binding as llvm
import numpy as np

from matcalc.locks import loading
from matcalc.store import artefacts
from matcalc.store.provenance import features_of_host, name_of_host, widest

PREFIX = "matcalc."
"""The prefix of symbols registered here. Code uses symbols, since cached code must not contain addresses."""
PYTHON = (
    "PyFloat_FromDouble", "PyFloat_AsDouble", "PyLong_AsLongLong", "PyErr_Occurred", "PyErr_Clear", "PyTuple_New",
    "PyTuple_SetItem", "PyTuple_GetItem", "PyTuple_Size", "PyLong_FromLongLong", "PyObject_Vectorcall",
    "PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef", "Py_DecRef", "PyErr_SetNone",
    "PyErr_NoMemory", "PyMem_Malloc", "PyMem_Free",
)  # fmt: skip
"""The functions of Python's C interface that machine code calls."""
OBJECTS = {
    "ndarray": np.ndarray,
    "float64": np.dtype(np.float64),
    "None": None,
    "tuple": tuple,
    "float": float,
    "int": int,
    "np.float64": np.float64,
    "TypeError": TypeError,
}
"""The Python objects that machine code refers to; they live as long as the process."""
MAKERS = {"blank": 183, "empty": 184}
"""The indices of PyArray_Zeros and PyArray_Empty in NumPy's function table, part of its stable interface."""


ENTRY = "entry"
"""The name of the function in machine code that Python calls."""


class MachineCode:
    """Loaded object code, freed with this object. `digest` is the digest of its assembly, if known."""

    def __init__(self, *codes: bytes, digest: str = "") -> None:
        self.digest = digest
        # The module uses LLVM's global context: a freed engine releases its own context and then uses it once more.
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target_machine())
        for code in codes:
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Return the address of a function."""
        return int(self._engine.get_function_address(name))


class Into(NamedTuple):
    """The address of machine code that takes a row of words, and of the function that it calls by address, if any."""

    address: int
    function: int = 0
    owner: Any = None


Table = Sequence[Sequence[Sequence[int]]] | None
"""The tables of a call, by rows (`call_table.py`); None if Python finds the sizes."""


class Ready(NamedTuple):
    """A loaded function: how it is called, and the table of its calls."""

    into: Into
    table: Table


_loaded: WeakValueDictionary[str, MachineCode] = WeakValueDictionary()


def machine_code(assembly: str) -> MachineCode:
    """Return the loaded code of LLVM assembly: already in memory, from the disk, or compiled now."""
    digest = hashlib.sha256(assembly.encode()).hexdigest()
    with loading:
        found = cached_code(digest)
        if found is None:
            found = _loaded[digest] = MachineCode(object_code(assembly), digest=digest)
        return found


def cached_code(digest: str) -> MachineCode | None:
    """Return the loaded code of the assembly with this digest: in memory or from the disk; None if there is none."""
    with loading:
        found = _loaded.get(digest)
        if found is None:
            add_symbols()
            code = artefacts.read("assembled", [digest])
            if code is not None:
                found = _loaded[digest] = MachineCode(code, digest=digest)
        return found


def object_code(assembly: str) -> bytes:
    """Return the object code of LLVM assembly: from the disk, or compiled now."""
    digest = hashlib.sha256(assembly.encode()).hexdigest()
    code: bytes = artefacts.kept("assembled", [digest], lambda: _compiled(assembly))
    return code


def _compiled(assembly: str) -> bytes:
    around = llvm.create_context()
    module = llvm.parse_assembly(assembly, around)
    module.verify()
    code = bytes(target_machine().emit_object(module))
    del module  # before its context
    return code


def target_machine() -> Any:
    """Return a new target machine for any processor of this kind; each engine needs its own, which it frees."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(opt=2, codemodel="jitdefault", jit=True)


def host_machine() -> Any:
    """Return a target machine with all features of this processor, as compiled functions use it."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = host()
    reloc = {"x86": "static", "ppc": "pic"}.get(target.name[:3], "default")
    options = {"cpu": name, "features": features, "reloc": reloc, "codemodel": "jitdefault", "jit": True}
    return target.create_target_machine(opt=3, **options)


def host() -> tuple[str, str]:
    """Return the name and the features of this processor, as passed to LLVM."""
    return name_of_host(), widest(features_of_host())


@cache
def add_symbols() -> None:
    """Register the addresses of the functions and objects of Python and NumPy with LLVM."""
    MachineCode()  # LLVM searches the symbols of this process once it has an engine
    for name in PYTHON:
        llvm.add_symbol(PREFIX + name, address(getattr(ctypes.pythonapi, name)))
    for name, thing in OBJECTS.items():
        llvm.add_symbol(PREFIX + name, id(thing))
    for name, place in MAKERS.items():
        llvm.add_symbol(PREFIX + name, numpy_function(place))


def address(function: Any) -> int:
    """Return the address of a ctypes function."""
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


def numpy_function(place: int) -> int:
    """Return the address of the function at an index of NumPy's C function table."""
    kind = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    table = kind(("PyCapsule_GetPointer", ctypes.pythonapi))(np._core._multiarray_umath._ARRAY_API, None)  # type: ignore[attr-defined]
    return int(ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[place] or 0)
