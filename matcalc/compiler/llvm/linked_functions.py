"""Compiles and caches the scalar functions of `codegen/numba` as bitcode, which callers link in.

Numba compiles each function once for the kinds of its arguments; later only LLVM is needed. The cached bitcode is
Numba's optimised function with its vector forms, without the wrapper for Python. It is inlined at every call: LLVM
would leave the second call of a long function as a call, and the loop scalar.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import load_items, symbol_of
from matcalc.compiler.kernels.native_kinds import REAL, TRUTH, Kind, is_number
from matcalc.compiler.llvm.native_words import load_llvm_words
from matcalc.compiler.lowering_entries import FIELD, load
from matcalc.compiler.machine.machine_code import host_machine
from matcalc.compiler.numba.llvm_passes import drop_unused
from matcalc.locks import loading
from matcalc.store import artefacts
from matcalc.store.data_folders import data_folder
from matcalc.store.events import count_built

PREFIX = "matcalc.linked."
RAISES = (b"picklebuf", b"NRT_", b"numba_unpickle", b"PyErr")
"""Names that occur only in functions which can raise or allocate arrays: such functions are not linked."""

RARE = "rare"
"""The function of the sources that gives a routine vector forms, which call it for each lane."""

SHARED = "matcalc_rarely_"
"""The prefix of functions for rare cases, which keep external linkage: their vector forms are found by name."""


class Linked(NamedTuple):
    """The bitcode of a function, its name in it, and the word for its result type."""

    name: str
    result: str
    code: bytes


_known: dict[str, Linked | None] = {}


def linked(name: str, kinds: Sequence[Kind]) -> Linked | None:
    """Return a scalar function of the sources for these kinds of arguments; None if it may raise."""
    key = _key(name, kinds)
    with loading:
        if key not in _known:
            found = artefacts.read("linked", [key])
            _known[key] = Linked(*found) if found is not None else _made(key, name, kinds)
        return _known[key]


def called_by_entries() -> dict[str, list[tuple[Kind, ...]]]:
    """Return the functions that elementwise operations call, each with the kinds of its arguments."""
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


def _key(name: str, kinds: Sequence[Kind]) -> str:
    return f"{symbol_of('numba', name)}({', '.join(kind.number for kind in kinds)})"


def _made(key: str, name: str, kinds: Sequence[Kind]) -> Linked | None:
    modules = load_items("numba", [name, RARE])
    function, rare = (getattr(sys.modules[modules[n]], n) for n in (name, RARE))
    given = ", ".join(f"x{k}" for k in range(len(kinds)))
    whole = _inlined(f"lambda {given}: f({given})", function)
    made = _compiled(key, whole, kinds)
    count_built()
    if made is not None and all(kind == REAL for kind in kinds) and _calls(made):
        by_lanes = _inlined(f"lambda {given}: f(True, 0.0, {given})", rare(whole, len(kinds), named=name))
        made = _compiled(key, by_lanes, kinds)
    if made is not None:
        artefacts.write("linked", [key], made)
    return made


def _inlined(text: str, function: Any) -> Any:
    """Return Numba's function of a text that calls `f`, inlined at every call."""
    from numba import njit

    options = {"fastmath": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    return njit(error_model="numpy", **options)(eval(text, {"f": function}))  # noqa: S307 - our own text


def _compiled(key: str, dispatcher: Any, kinds: Sequence[Kind]) -> Linked | None:
    """Return a function compiled for these kinds of arguments; None if it may raise or returns no number."""
    from numba import types

    signature = tuple(getattr(types, kind.number) for kind in kinds)
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    result = str(compiled.signature.return_type)
    symbol = PREFIX + hashlib.sha256(key.encode()).hexdigest()[:16]
    code = _alone(compiled.library._get_module_for_linking().as_bitcode(), compiled.fndesc.llvm_func_name, symbol)
    if not is_number(result) or any(word in code for word in RAISES):
        return None
    return Linked(symbol, result, code)


def _calls(function: Linked) -> bool:
    """Whether a function calls others that have no vector form, so that no loop with it would be a vector loop."""
    around = llvm.create_context()
    module = llvm.parse_bitcode(function.code, around)
    own = module.get_function(function.name)
    called = [
        list(instruction.operands)[-1].name
        for block in own.blocks
        for instruction in block.instructions
        if instruction.opcode == "call"
    ]
    del own, module
    return any(not name.startswith(("llvm.", SHARED)) and name not in load_llvm_words().vectors for name in called)


def _alone(code: bytes, name: str, symbol: str) -> bytes:
    """Return a module reduced to one function and its callees; the function is renamed to `symbol`."""
    around = llvm.create_context()
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
