"""A class of Python whose objects are called by machine code, each by its own.

Python calls an object of such a class at an address that stands in the object: nothing of Python lies between. The
class is derived from one with a `__call__`, the slow way, which takes what the machine code does not; where the
interpreter is not known to be laid out so (a build without its global lock, another Python), there is no such class,
and `__call__` is the way for all.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from matcalc.compiler.runtime.array_layout import Fields
from matcalc.compiler.runtime.entry_code import ENTRY, entry_assembly
from matcalc.compiler.runtime.entry_words import FIELDS
from matcalc.compiler.runtime.machine_code import address, machine_code
from matcalc.compiler.runtime.spec import CompiledSpec

CALL, MEMBERS = 50, 72
"""The numbers of two slots of a class in Python's stable interface: how it is called, and its members."""
SIZE_TYPE, READ_ONLY = 19, 1
PLAIN_CLASS = 1 << 18 | 1 << 10 | 1 << 11
"""The flags of a class: as all are, may be derived from, and with an address to call in each object."""


class _Member(ctypes.Structure):
    _fields_: ClassVar[Fields] = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Slot(ctypes.Structure):
    _fields_: ClassVar[Fields] = (("number", ctypes.c_int), ("value", ctypes.c_void_p))


class _Class(ctypes.Structure):
    _fields_: ClassVar[Fields] = (
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_int),
        ("entry_size", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    )


def is_known() -> bool:
    """Whether this interpreter has objects as machine code expects them."""
    return platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")


_kept: list[Any] = []


def with_call_slot(base: type) -> type | None:
    """Return the class derived from `base` whose objects machine code calls; None where there can be none."""
    if not is_known():
        return None
    start = base.__basicsize__
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", SIZE_TYPE, start, READ_ONLY, None))
    call = address(ctypes.pythonapi.PyVectorcall_Call)
    slots = (_Slot * 3)(_Slot(MEMBERS, ctypes.addressof(members)), _Slot(CALL, call), _Slot(0, None))
    name = f"{base.__module__}.{base.__qualname__}".encode()
    size = start + ctypes.sizeof(ctypes.c_void_p) * len(FIELDS)
    described = _Class(name, size, 0, PLAIN_CLASS, ctypes.addressof(slots))
    _kept.append((members, slots, name, described))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)
    made: type = make(("PyType_FromSpecWithBases", ctypes.pythonapi))(ctypes.addressof(described), (base,))
    return made


def connect(
    thing: Any,
    spec: CompiledSpec,
    into: int,
    slow: Callable[..., Any],
    fixed: Sequence[Any] | None = None,
) -> Any:
    """Let machine code take the calls of an object made by `with_call_slot`; return what has to live as long.

    `into` is the address of the function that computes; `fixed` has the object for each argument, None where
    it is open. Returned is None where the function has no such entry: it is not connected then.
    """
    start = type(thing).__basicsize__ - ctypes.sizeof(ctypes.c_void_p) * len(FIELDS)
    assembly = entry_assembly(spec, start)
    if not assembly:
        return None
    code = machine_code(assembly)
    words = [sys.intern(name) for name in (*spec.entered, "out")]
    names = (ctypes.c_void_p * len(words))(*map(id, words))
    given = None
    if fixed is not None:
        given = (ctypes.c_void_p * len(words))(*(None if value is None else id(value) for value in fixed), None)
    fields = {
        "into": into,
        "slow": id(slow),
        "given": None if given is None else ctypes.addressof(given),
        "names": ctypes.addressof(names),
        "vectorcall": code.address(ENTRY),
    }
    place = (ctypes.c_void_p * len(FIELDS)).from_address(id(thing) + start)
    for name, value in fields.items():  # the address that is called comes last: then all else is there
        place[FIELDS.index(name)] = value
    return code, words, names, given, fixed, slow
