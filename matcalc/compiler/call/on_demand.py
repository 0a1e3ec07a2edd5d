"""Collects the rarely used parts of compiled functions: running their text, plans, twins, fixed data, files.

It is imported on first use, so that a cached function is ready before these modules are read.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from matcalc.compiler.blas.blas_routines import DEFAULT
from matcalc.compiler.call.plan_text import Plan
from matcalc.compiler.call.precompute import bound
from matcalc.compiler.call.sparse import check_sparse_facts, check_stored, stored
from matcalc.compiler.entry.call_table import call_table
from matcalc.compiler.files.save import saved_text
from matcalc.compiler.files.write_file import write_text
from matcalc.compiler.kernels.kernels import part_of
from matcalc.compiler.kernels.library import free_names
from matcalc.compiler.kernels.modules import Lease, does_blas, keep, load_items, load_text
from matcalc.compiler.llvm.object_code_cache import Made
from matcalc.compiler.llvm.object_code_cache import keep as keep_code
from matcalc.compiler.llvm.word_call import into_numba, kinds_of
from matcalc.compiler.machine.array_layout import is_known
from matcalc.compiler.machine.linker_symbols import address_of
from matcalc.compiler.machine.machine_code import Ready
from matcalc.compiler.numba import njit_and_c_entries
from matcalc.compiler.numba.private_members import available, removed
from matcalc.compiler.spec.index_errors import check_indices
from matcalc.compiler.spec.module_text import header, into_name, numba_text, numpy_text
from matcalc.compiler.spec.reassociate import in_any_order
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.language.identifiers import file_path
from matcalc.store.events import count_built, note

__all__ = [
    "bound", "check_indices", "check_sparse_facts", "check_stored", "does_blas",
    "header", "keep", "njit_and_c_entries", "stored",
]  # fmt: skip

TEXTS = {"numba": numba_text, "numpy": numpy_text}


def has_table(spec: CompiledSpec) -> bool:
    """Whether machine code can take the calls of a function that is compiled by Numba."""
    return available() and call_table(spec) is not None


def natively(spec: CompiledSpec) -> tuple[Ready, dict[str, float]] | None:
    """Compile a function by LLVM alone. Result: as `native.natively`; None also if private members are gone."""
    if not available():
        return None
    from matcalc.compiler.llvm.native import natively

    return natively(spec, call_table(spec))


def text_of(spec: CompiledSpec) -> str:
    """Return the module text of a function."""
    return TEXTS[spec.target](spec)


def lease_of(spec: CompiledSpec, text: str) -> Lease:
    """Load the kernels that a module text needs, run the text, and return its lease."""
    load_items(spec.target, free_names(in_any_order(spec.source) if spec.target == "numba" else spec.numpy_source))
    return load_text(text, spec.name, stays=False).lease


def ready_of(spec: CompiledSpec, into: Any) -> Ready | None:
    """Return how a function that Numba has compiled is called by machine code, and cache its object code; None where
    Numba calls it.
    """
    if spec.target != "numba":
        return None
    if not available():
        count_built()
        note(f"{removed()[0]} is not there: compiled by public functions of Numba, so calls take longer")
        return None
    if not is_known():
        return None
    table = call_table(spec)
    keep_code(spec, Made(*part_of(into), takes_words=False), table)
    return Ready(into_numba(address_of(into), kinds_of(spec)), table)


def into_of(spec: CompiledSpec, module: ModuleType) -> Any:
    """Return the `_into` function of a module, which writes into arrays of the caller."""
    return getattr(module, into_name(spec.source if spec.target == "numba" else spec.numpy_source))


def plan_of(spec: CompiledSpec, source: str) -> Plan:
    """Return the plan; it names the BLAS library if one other than the default is used."""
    blas = does_blas(source)
    text = spec.plan if blas == DEFAULT else f"{spec.plan}\nblas: {blas}"
    return Plan(text, spec.costs, dict(spec.typical), spec.hinted)


def save(spec: CompiledSpec, path: Any) -> None:
    """Write a function as a stand-alone file. Raises: as `Compiled.save`."""
    write_text(file_path(path), saved_text(spec))
