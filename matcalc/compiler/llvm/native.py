"""Compiles functions by LLVM alone: their Code is written as assembly without Numba.

Kernels are called by symbol, functions of numbers are linked in. Written so it takes LLVM half of what it takes for the
same function through Numba, and Numba's own half is saved. What Code does not express, such as values of a user's own
rules, Numba compiles from the text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from time import perf_counter

import llvmlite.binding as llvm

from matcalc.compiler.kernels.kernel_code import Part, is_there, kernel, placed
from matcalc.compiler.kernels.library import load_library
from matcalc.compiler.kernels.modules import load_items, symbol_of
from matcalc.compiler.kernels.native_kinds import Kind, UnknownFormError, kind_of_word
from matcalc.compiler.llvm.linked_functions import linked
from matcalc.compiler.llvm.native_function import has_loops
from matcalc.compiler.llvm.native_text import Module, Outside, outside_kernel
from matcalc.compiler.llvm.object_code_cache import Made, keep
from matcalc.compiler.llvm.word_call import kinds_of
from matcalc.compiler.machine.machine_code import Into, Ready, Table, add_symbols, host_machine
from matcalc.compiler.numba.llvm_passes import optimise, settle
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.store.events import count_built

PREFIX = "matcalc.function."


class Linker:
    """Finds kernels and functions of numbers, and keeps in mind what is to be linked in."""

    def __init__(self) -> None:
        self.codes: dict[str, bytes] = {}
        self.names: list[str] = []

    def __call__(self, name: str, kinds: Sequence[Kind]) -> Outside | None:
        """Return a kernel, or a function of numbers, that is compiled where it is not kept; None for others."""
        item = load_library("numba").items.get(name)
        if item is None or not item.is_function:
            return None
        if item.is_kernel:
            symbol = symbol_of("numba", name)
            found = kernel(symbol)
            if found is None:
                load_items("numba", [name])
                found = kernel(symbol)
            return None if found is None else outside_kernel(symbol, found.types)
        if any(kind.rank for kind in kinds):
            return None
        function = linked(name, kinds)
        if function is None:
            return None
        self.codes[function.name] = function.code
        self.names.append(name)
        return Outside(function.name, tuple(kinds), kind_of_word(function.result), can_fail=False)


def natively(spec: CompiledSpec, table: Table) -> tuple[Ready, dict[str, float]] | None:
    """Return a function, compiled now, and seconds by stage; None where its text has a form that only Numba knows.

    `table` is that of its calls, which is cached with it.
    """
    start = perf_counter()
    try:
        symbol, assembly, linker = assembly_of(spec)
    except UnknownFormError:
        return None
    middle = perf_counter()
    part = compiled_part(symbol, assembly, linker)
    if not is_there(part):  # routines that only an import of SciPy finds
        load_items("numba", linker.names)
        if not is_there(part):
            return None
    count_built()
    keep(spec, Made(part, True, True), table)
    code, address = placed(part)
    seconds = {"kernels": middle - start, "compile": perf_counter() - middle}
    return Ready(Into(address, 0, code), table), seconds


def assembly_of(spec: CompiledSpec) -> tuple[str, str, Linker]:
    """Return the symbol of a function, its assembly, and what is linked into it."""
    linker = Linker()
    module = Module(load_library("numba").items, linker)
    module.add(spec.code)
    symbol = PREFIX + hashlib.sha256(spec.source.encode()).hexdigest()[:16]
    kinds = kinds_of(spec)
    is_result = [k >= len(kinds) - len(spec.outputs) for k in range(len(kinds))]
    return symbol, module.entered(spec.code.main.name, kinds, is_result, symbol), linker


def compiled_part(symbol: str, assembly: str, linker: Linker) -> Part:
    add_symbols()
    machine, around = host_machine(), llvm.create_context()
    module = llvm.parse_assembly(assembly, around)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    for code in linker.codes.values():
        module.link_in(llvm.parse_bitcode(code, around))
    for function in module.functions:
        if not function.is_declaration and function.name != symbol and not function.name.startswith("llvm."):
            function.linkage = "internal"
    module.verify()
    passes = optimise if linker.codes or has_loops(assembly) else settle
    passes(module, machine)
    code = bytes(machine.emit_object(module))
    named = [*module.functions, *module.global_variables]
    needs = [value.name for value in named if value.is_declaration and not value.name.startswith("llvm.")]
    del module  # before its context
    return Part(symbol, code, tuple(needs))
