"""Lists the private members of Numba and llvmlite that compiled functions rely on.

Any new version may remove them. If one is gone, functions are compiled by the public members alone (`plain_jit.py`).
Private members are used only in this folder and in `locks.py`, which also works without them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import version

MEMBERS = {
    "llvmlite.binding": ("ffi.ObjectRef._dispose", "NewPassManager._dispose"),
    "numba._dynfunc": ("make_function",),
    "numba.core.caching": ("CompileResultCacheImpl.reduce",),
    "numba.core.ccallback": ("CFunc.compile",),
    "numba.core.cgutils": ("normalize_ir_text",),
    "numba.core.codegen": ("JITCodeLibrary._ensure_finalized", "JITCodeLibrary._get_module_for_linking",
        "JITCodeLibrary._raise_if_finalized", "JITCodeLibrary._optimize_functions",
        "JITCodeLibrary._finalize_dynamic_globals", "JITCodeLibrary._verify_declare_only_symbols",
        "JITCodeLibrary._finalize_final_module", "JITCodeLibrary.get_pointer_to_function",
        "JITCPUCodegen._library_class", "JITCPUCodegen._customize_tm_features",
        "JITCPUCodegen._module_pass_manager", "JITCPUCodegen._function_pass_manager",
        "JITCPUCodegen._scan_and_fix_unresolved_refs", "JITCPUCodegen.set_env", "JitEngine._load_defined_symbols"),
    "numba.core.compiler": ("CompileResult._rebuild",),
    "numba.core.compiler_lock": ("global_compiler_lock._lock",),
    "numba.core.cpu": ("CPUContext.subtarget", "CPUContext.get_executable"),
    "numba.core.imputils": ("impl_ret_borrowed",),
    "numba.core.registry": ("CPUDispatcher._make_finalizer", "CPUDispatcher._reset_overloads",
        "CPUDispatcher.disable_compile", "cpu_target"),
    "numba.core.serialize": ("dumps",),
    "numba.core.typeinfer": ("register_dispatcher",),
    "numba.np.arrayobj": ("make_array", "populate_array"),
}  # fmt: skip
"""Members by module."""

ATTRIBUTES = {
    "JITCPUCodegen": ("_data_layout", "_engine", "_tm"),
    "JITCodeLibrary": ("_codegen", "_final_module", "_finalized", "_linking_libraries", "_reload_init",
        "_shared_module"),
    "JitEngine": ("_defined_symbols", "_ee"),
}  # fmt: skip
"""Attributes that constructors set, by class of `numba.core.codegen`."""


TESTED = {"numba": ((0, 63), (0, 68)), "llvmlite": ((0, 46), (0, 50))}
"""The oldest and the newest version of each library that is known to have all members (`.ci/versions`)."""


def available() -> bool:
    """Whether the installed versions have all members."""
    return not removed()


@cache
def removed() -> tuple[str, ...]:
    """Return the members that are gone: none for tested versions, without the slow import of Numba."""
    return () if all(map(_is_tested, TESTED)) else tuple(missing())


def _is_tested(library: str) -> bool:
    oldest, newest = TESTED[library]
    major, minor, *_ = version(library).split(".")
    return oldest <= (int(major), int(minor)) <= newest


def missing() -> list[str]:
    """Return the members that the installed versions lack."""
    gone = [name for module, names in MEMBERS.items() for name in _gone(module, names)]
    return gone or list(_unset())


def _unset() -> Iterator[str]:
    """Yield the attributes that no constructor sets."""
    codegen = import_module("numba.core.registry").cpu_target.target_context.codegen()
    for made in (codegen, codegen.create_library("matcalc"), getattr(codegen, "_engine", None)):
        kinds = [kind.__name__ for kind in type(made).__mro__ if kind.__name__ in ATTRIBUTES]
        yield from (f"{kind}.{name}" for kind in kinds for name in ATTRIBUTES[kind] if not hasattr(made, name))


def _gone(module: str, names: tuple[str, ...]) -> Iterator[str]:
    try:
        found = import_module(module)
    except ImportError:
        yield module
        return
    for name in names:
        thing: object = found
        for part in name.split("."):
            thing = getattr(thing, part, None)
        if thing is None:
            yield f"{module}.{name}"
