"""Lists the private members of Numba and llvmlite that compiled functions rely on.

Any new version may remove them. `missing` returns the removed ones, so that a failed compilation names them.
`.ci/versions` checks the oldest and the newest supported versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

MEMBERS = {
    "llvmlite.binding": ("context.create_context", "context.ContextRef", "object_file.ObjectFileRef.from_data",
        "create_mcjit_compiler", "parse_assembly", "parse_bitcode", "ffi.ObjectRef._dispose", "ffi.lib",
        "newpassmanagers.NewPassManager._dispose", "newpassmanagers.ModulePassManager",
        "newpassmanagers.FunctionPassManager", "newpassmanagers.create_new_module_pass_manager",
        "newpassmanagers.create_pipeline_tuning_options", "newpassmanagers.create_pass_builder",
        "newpassmanagers.ModulePassManager.add_always_inliner_pass", "newpassmanagers.ModulePassManager.add_sroa_pass",
        "newpassmanagers.ModulePassManager.add_instruction_combine_pass",
        "newpassmanagers.ModulePassManager.add_simplify_cfg_pass",
        "newpassmanagers.ModulePassManager.add_global_dead_code_eliminate_pass",
        "newpassmanagers.PassBuilder.getModulePassManager"),
    "numba._dynfunc": ("make_function",),
    "numba.core.caching": ("CompileResultCacheImpl.reduce",),
    "numba.core.ccallback": ("CFunc.compile",),
    "numba.core.cgutils": ("normalize_ir_text", "create_struct_proxy", "pack_array", "get_or_insert_function"),
    "numba.core.codegen": ("JITCodeLibrary._ensure_finalized", "JITCodeLibrary._get_module_for_linking",
        "JITCodeLibrary._raise_if_finalized", "JITCodeLibrary._optimize_functions",
        "JITCodeLibrary._finalize_dynamic_globals", "JITCodeLibrary._verify_declare_only_symbols",
        "JITCodeLibrary._finalize_final_module", "JITCodeLibrary.get_pointer_to_function",
        "JITCPUCodegen._library_class", "JITCPUCodegen._customize_tm_features",
        "JITCPUCodegen._module_pass_manager", "JITCPUCodegen._function_pass_manager",
        "JITCPUCodegen._scan_and_fix_unresolved_refs", "JITCPUCodegen.set_env", "JitEngine._load_defined_symbols"),
    "numba.core.compiler": ("CompileResult._rebuild",),
    "numba.core.compiler_lock": ("global_compiler_lock._lock",),
    "numba.core.cpu": ("CPUContext.subtarget", "CPUContext.get_executable", "CPUContext.get_python_api"),
    "numba.core.imputils": ("impl_ret_borrowed",),
    "numba.core.pythonapi": ("PythonAPI.to_native_value", "NativeValue"),
    "numba.core.registry": ("CPUDispatcher._make_finalizer", "CPUDispatcher._reset_overloads",
        "CPUDispatcher.disable_compile", "cpu_target"),
    "numba.core.serialize": ("dumps",),
    "numba.core.typeinfer": ("register_dispatcher",),
    "numba.extending": ("get_cython_function_address", "intrinsic", "overload"),
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
