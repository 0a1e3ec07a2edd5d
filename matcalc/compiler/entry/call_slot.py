"""A class of Python whose objects are called by machine code, each by its own.

Python calls an object of such a class at an address that stands in the object: nothing of Python lies between. The
class is derived from one with a `__call__`, the slow way, which takes what the machine code does not; where the
interpreter is not known to be laid out so (a build without its global lock, another Python), there is no such class,
and `__call__` is the way for all.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from matcalc.compiler.machine.array_layout import WORDS, Array, Class, Dtype, Fields, Object, is_known
from matcalc.compiler.machine.machine_code import ENTRY, Into, MachineCode, Ready, add_symbols, address
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.store import artefacts

if TYPE_CHECKING:
    from matcalc.compiler.entry.call_table import Taken

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


_kept: list[Any] = []
_called: set[type] = set()


def with_call_slot(base: type) -> type | None:
    """Return the class derived from `base` whose objects machine code calls; None where there can be none."""
    if not is_known():
        return None
    start = base.__basicsize__
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", SIZE_TYPE, start, READ_ONLY, None))
    call = address(ctypes.pythonapi.PyVectorcall_Call)
    slots = (_Slot * 3)(_Slot(MEMBERS, ctypes.addressof(members)), _Slot(CALL, call), _Slot(0, None))
    name = f"{base.__module__}.{base.__qualname__}".encode()
    size = start + ctypes.sizeof(ctypes.c_void_p) * len(WORDS)
    described = _Class(name, size, 0, PLAIN_CLASS, ctypes.addressof(slots))
    _kept.append((members, slots, name, described))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)
    made: type = make(("PyType_FromSpecWithBases", ctypes.pythonapi))(ctypes.addressof(described), (base,))
    if Class.from_address(id(made)).call != start:  # the entry would look for the fields elsewhere
        return None
    _called.add(made)
    return made


def is_called(thing: object) -> bool:
    """Whether an object is of a class that machine code calls."""
    return type(thing) in _called


def connect(
    thing: Any, ready: Ready, spec: CompiledSpec, slow: Callable[..., Any], fixed: Sequence[Any] | None = None
) -> Any:
    """Let machine code take the calls of an object made by `with_call_slot`; return what has to live as long.

    `fixed` has the object for each argument, None where it is open.
    """
    words = [sys.intern(name) for name in (*spec.entered, "out")]
    names = (ctypes.c_void_p * len(words))(*map(id, words))
    given = None
    if fixed is not None:
        given = (ctypes.c_void_p * len(words))(*(None if value is None else id(value) for value in fixed), None)
    rows = None if given is None else ctypes.addressof(given), ctypes.addressof(names)
    return _fill(thing, ready, slow, *rows), ready, words, names, given, fixed, slow


def _fill(thing: Any, ready: Ready, slow: Any, *fields: int | None) -> Any:
    """Write all fields; the address that is called comes last, for then all else is there. Return the tables."""
    assert ready.table is not None
    into, (words, *given) = ready.into, ready.table
    tables = [(ctypes.c_int64 * (len(rows) * len(rows[0]) if rows else 1))(*chain(*rows)) for rows in given]
    places = [word for rows, at in zip(given, tables, strict=True) for word in (len(rows), ctypes.addressof(at))]
    head = (ctypes.c_int64 * (len(words[0]) + len(places)))(*words[0], *places)
    kind = type(thing)
    start = kind.__basicsize__ - ctypes.sizeof(ctypes.c_void_p) * len(WORDS)
    place = (ctypes.c_void_p * len(WORDS)).from_address(id(thing) + start)
    place[1:] = [into.address, into.function, id(slow), *fields, ctypes.addressof(head)]
    place[0] = entry().address(ENTRY)
    return head, tables


@cache
def entry() -> MachineCode:
    """Return the entry of all functions, from the disk or compiled now."""
    layout = [(s.__name__, [(n, getattr(s, n).offset, getattr(s, n).size) for n, *_ in s.__dict__["_fields_"]])
              for s in (Object, Array, Dtype, Class)]  # fmt: skip
    add_symbols()
    return MachineCode(artefacts.kept("entry", [layout], _compiled))


def _compiled() -> bytes:
    from matcalc.compiler.entry.entry_code import object_code

    return object_code()


class Exact:
    """Machine code that is called with exact arguments alone."""

    machine: Any

    def __call__(self, *args: Any, **_: Any) -> int:
        """Raise what machine code cannot: that arguments are not exact, or what Numba's code has raised."""
        if len(args) == 2 and args[0] is self:
            raise raised_at(args[1])
        raise TypeError("compiled code takes arrays and numbers of its own types alone, results among them")


EXACT = with_call_slot(Exact)


def exact_call(into: Into, taken: Sequence[Taken]) -> Any:
    """Return machine code as a function of exact arguments, results among them, that returns the status."""
    from matcalc.compiler.entry.call_table import exact_table

    assert EXACT is not None
    made, ready = EXACT(), Ready(into, exact_table(taken))
    made.machine = ready, _fill(made, ready, Exact.__call__, None, None)
    return made


def exact_object(ready: Ready, spec: CompiledSpec) -> Any:
    """Return machine code as a function of exact arguments and `out`; TypeError is raised for others and for faults."""
    assert EXACT is not None
    made = EXACT()
    made.machine = connect(made, ready, spec, Exact.__call__)
    return made


class Exactly:
    """Calls the machine code of a function; the call is made at first use, since few functions need it."""

    def __init__(self, spec: CompiledSpec, into: Into) -> None:
        self.spec, self.into = spec, into
        self.run: Any = None

    def __call__(self, *args: Any) -> int:
        if self.run is None:
            from matcalc.compiler.entry.call_table import taken_by

            self.run = exact_call(self.into, taken_by(self.spec))
        status: int = self.run(*args)
        return status


class _Raised(ctypes.Structure):
    """What Numba's code leaves behind a pointer where it raises: a pickle of class, arguments and place."""

    _fields_: ClassVar[Fields] = (
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_int32),
        ("digest", ctypes.c_void_p),
        ("made_by", ctypes.c_void_p),
        ("is_own", ctypes.c_int32),
    )


def raised_at(address: int) -> BaseException:
    """Return the exception that Numba's code has raised: the pickle is part of the code that ran."""
    found = _Raised.from_address(address) if address else _Raised()
    if not found.data or found.made_by:
        return RuntimeError("compiled code has failed, and does not say why")
    kind, given, *_ = pickle.loads(ctypes.string_at(found.data, found.length))
    made: BaseException = kind(*(given or ()))
    return made
