"""Functions of numbers of `codegen/numba` as bitcode, which code that calls them links in.

Numba compiles each once for the kinds of its arguments; from then on LLVM alone is needed. What is kept is the function
as Numba left it, optimised, with the forms for vectors that it may have; the way in from Python is not.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Sequence
from typing import NamedTuple

import llvmlite.binding as llvm
from llvmlite.binding import context

from matcalc.compiler.lowering_entries import FIELD, load
from matcalc.compiler.runtime.library import load_library
from matcalc.compiler.runtime.llvm_passes import drop_unused
from matcalc.compiler.runtime.machine_code import host_machine
from matcalc.compiler.runtime.made_by import surroundings
from matcalc.compiler.runtime.modules import load_items, symbol_of
from matcalc.compiler.runtime.native_kinds import REAL, TRUTH, Kind, is_number
from matcalc.compiler.runtime.shipped import shipped
from matcalc.locks import loading
from matcalc.store import cache_entries
from matcalc.store.cache_entries import count_built
from matcalc.store.data_folders import data_folder

STEM = "linked"
PREFIX = "matcalc.linked."
RAISES = (b"picklebuf", b"NRT_", b"numba_unpickle", b"PyErr")
"""What only functions name that can raise or make arrays: those are not linked."""

SHARED = "matcalc_rarely_"
"""What functions for rare cases begin with: their forms for vectors are found by name."""


class Linked(NamedTuple):
    """The bitcode of a function, its name there, and the word for what it returns."""

    name: str
    result: str
    code: bytes


_known: dict[str, Linked | None] = {}


def linked(name: str, kinds: Sequence[Kind]) -> Linked | None:
    """Return a function of the sources for numbers of these kinds; None where it may raise."""
    key = _key(name, kinds)
    with loading:
        if key not in _known:
            _known[key] = _found(key) or _made(key, name, kinds)
        return _known[key]


def called_by_entries() -> dict[str, list[tuple[Kind, ...]]]:
    """Return which functions elementwise operations are made of, and the kinds that they are called with."""
    items, found = load_library("numba").items, dict[str, list[tuple[Kind, ...]]]()
    for entry in load(data_folder("codegen")).scalars.values():
        text = FIELD.sub("x", entry.templates.get("numba", ""))
        for call in ast.walk(ast.parse(text)):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            if call.func.id not in items or items[call.func.id].is_kernel:
                continue
            kinds = tuple(TRUTH if isinstance(arg, ast.Compare) else REAL for arg in call.args)
            if kinds not in found.setdefault(call.func.id, []):
                found[call.func.id].append(kinds)
    return found


def in_cache(name: str, kinds: Sequence[Kind]) -> tuple[str, bytes | None]:
    """Return the key of a function, and the function as it is written in the cache; None where it is not."""
    key = _key(name, kinds)
    return key, cache_entries.read(STEM, f"{key}\n{surroundings()[-1]}")


def _key(name: str, kinds: Sequence[Kind]) -> str:
    return f"{symbol_of('numba', name)}({', '.join(kind.number for kind in kinds)})"


def _found(key: str) -> Linked | None:
    for around in surroundings():
        content = shipped(key, around) or cache_entries.read(STEM, f"{key}\n{around}")
        if content is not None:
            return read(content)
    return None


def written(function: Linked) -> bytes:
    """Return a function as it is kept."""
    return json.dumps([function.name, function.result]).encode() + b"\n" + function.code


def read(content: bytes) -> Linked:
    """Return the function that was written."""
    head, _, code = content.partition(b"\n")
    name, result = json.loads(head)
    return Linked(name, result, code)


def _made(key: str, name: str, kinds: Sequence[Kind]) -> Linked | None:
    from numba import njit, types

    module = load_items("numba", [name])[name]
    given = ", ".join(f"x{k}" for k in range(len(kinds)))
    call = eval(f"lambda {given}: f({given})", {"f": getattr(sys.modules[module], name)})  # noqa: S307 - our own text
    dispatcher = njit(error_model="numpy", fastmath=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(call)
    signature = tuple(getattr(types, kind.number) for kind in kinds)
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    count_built()
    result = str(compiled.signature.return_type)
    symbol = PREFIX + hashlib.sha256(key.encode()).hexdigest()[:16]
    code = _alone(compiled.library._get_module_for_linking().as_bitcode(), compiled.fndesc.llvm_func_name, symbol)
    if not is_number(result) or any(word in code for word in RAISES):
        return None
    function = Linked(symbol, result, code)
    cache_entries.write(STEM, f"{key}\n{surroundings()[-1]}", written(function))
    return function


def _alone(code: bytes, name: str, symbol: str) -> bytes:
    """Return a module without what a function in it does not need; the function is called as a symbol then."""
    around = context.create_context()
    module = llvm.parse_bitcode(code, around)
    for value in [*module.functions, *module.global_variables]:
        if value.name == name:
            value.linkage, value.name = "external", symbol
        elif not value.is_declaration and not value.name.startswith(("llvm.", SHARED)):
            value.linkage = "internal"
    drop_unused(module, host_machine())
    found = bytes(module.as_bitcode())
    del module
    return found
