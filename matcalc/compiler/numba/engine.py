"""Gives each compiled function its own LLVM engine, so that its memory is freed with the function.

Numba puts all code of a process into one engine and never removes any. Here each function has its own copy of Numba's
target with its own engine, which receives object code. Callees behind symbols stay in their engines; linked callees
are copied. Three more leaks of a compilation are avoided: the types and constants of LLVM's context, by a context for
each function; llvmlite's pass managers (`llvm_passes.py`); and the pass builders that Numba creates for mere
declarations, 1.5 KB each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, cpu_target

from matcalc.compiler.machine.machine_code import ENTRY, PREFIX, machine_code
from matcalc.compiler.numba.llvm_passes import FunctionPasses, ModulePasses, disposed
from matcalc.compiler.numba.reshaping import is_reshape, is_rows, reshaped, rows_of
from matcalc.store.provenance import widest

REFUSAL = f"""
@"{PREFIX}TypeError" = external global i8
declare void @"{PREFIX}PyErr_SetNone"(ptr)
define ptr @{ENTRY}(ptr %self, ptr %args, i64 %count, ptr %names) {{
  call void @"{PREFIX}PyErr_SetNone"(ptr @"{PREFIX}TypeError")
  ret ptr null
}}
"""
"""A function that Python calls, and that raises TypeError: this code has another way in."""


class _Definitions:
    """The functions of a module that have a body, as input of function passes."""

    def __init__(self, module: Any) -> None:
        self.functions = [function for function in module.functions if not function.is_declaration]


@dataclass(frozen=True)
class _Copied:
    """A linked library, copied into the LLVM context of the code that links it."""

    library: Any
    into: llvm.ContextRef

    @property
    def _reload_init(self) -> set[Any]:
        return self.library._reload_init  # type: ignore[no-any-return]

    def _get_module_for_linking(self) -> Any:
        return llvm.parse_bitcode(self.library._get_module_for_linking().as_bitcode(), self.into)


@dataclass(frozen=True)
class _Global:
    """The name of a global variable; Numba reads nothing else of it once there is object code."""

    name: str


@dataclass(frozen=True)
class _Loaded:
    """The remainder of a module after its compilation to object code: its global variables."""

    global_variables: tuple[_Global, ...]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Code built in an LLVM context of its own, which is freed as soon as there is object code.

    `code` is the object code, `needs` are its undefined symbols.
    """

    _final_module: Any
    _shared_module: Any

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self._context = llvm.create_context()
        self._final_module = llvm.parse_assembly(str(self._final_module), self._context)
        self.code = b""
        self.needs: tuple[str, ...] = ()

    def add_linking_library(self, library: Any) -> None:
        library._ensure_finalized()
        self._linking_libraries.append(_Copied(library, self._context))

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:  # Numba links it into others, in its own context
            self._shared_module = llvm.parse_bitcode(super()._get_module_for_linking().as_bitcode())
        return self._shared_module

    def add_ir_module(self, ir_module: Any) -> None:
        self._raise_if_finalized()
        module = llvm.parse_assembly(cgutils.normalize_ir_text(str(ir_module)), self._context)
        module.name = ir_module.name
        module.verify()
        self.add_llvm_module(module)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        super()._optimize_functions(_Definitions(module))

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if not self.code:
            self.needs = tuple(_undefined(self._final_module))
            self._load(self._codegen._tm.emit_object(self._final_module))
        return super().get_pointer_to_function(name)  # type: ignore[no-any-return]

    def _load(self, code: bytes) -> None:
        """Add object code to the engine, and release the module and the context that it was compiled from."""
        engine, module = self._codegen._engine, self._final_module
        self.code = code
        engine._ee.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine._load_defined_symbols(module)
        self._codegen._scan_and_fix_unresolved_refs(module)
        engine.finalize_object()
        self._final_module = _Loaded(tuple(_Global(variable.name) for variable in module.global_variables))
        self._linking_libraries.clear()
        del self._context

    def serialize_using_object_code(self) -> tuple[str, str, tuple[Any, ...]]:
        names = tuple(variable.name for variable in self._final_module.global_variables)
        return self.name, "object", (self.code, frozenset(self._codegen._engine._defined_symbols), names, self.needs)

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> _Library:
        name, _, (code, defined, names, needs) = state
        self: _Library = codegen.create_library(name)
        self._finalized = True
        self.needs = needs
        self._load(code)
        codegen._engine._defined_symbols |= defined
        self._final_module = _Loaded(tuple(map(_Global, names)))
        return self


def _undefined(module: Any) -> list[str]:
    """Return the undefined symbols of a module, without LLVM's intrinsics."""
    named = [*module.functions, *module.global_variables]
    return [value.name for value in named if value.is_declaration and not value.name.startswith("llvm.")]


class _Codegen(JITCPUCodegen):  # type: ignore[misc]
    _library_class = _Library

    def _customize_tm_features(self) -> str:
        return widest(super()._customize_tm_features())

    def _module_pass_manager(self, **options: Any) -> Any:
        return disposed(super()._module_pass_manager(**options), ModulePasses)

    def _function_pass_manager(self, **options: Any) -> Any:
        return disposed(super()._function_pass_manager(**options), FunctionPasses)


class _Context(CPUContext):  # type: ignore[misc]
    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        """Return the function that writes the code of a call: ours for `reshape` and row slices, else Numba's."""
        whole = sig.as_function()
        if is_reshape(fn, whole):
            return lambda builder, args, loc=None: reshaped(self, builder, whole, args)
        if is_rows(fn, whole):
            return lambda builder, args, loc=None: rows_of(self, builder, whole, args)
        return super().get_function(fn, sig, _firstcall)

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        """Return the function that Python calls; for code without a Python wrapper, one that raises TypeError."""
        if library.get_pointer_to_function(fndesc.llvm_cpython_wrapper_name):
            return super().get_executable(library, fndesc, env)
        library.refuse = machine_code(REFUSAL)
        library.codegen.set_env(self.get_env_name(fndesc), env)
        module, name = fndesc.lookup_module(), fndesc.qualname.split(".")[-1]
        return _dynfunc.make_function(module, name, "", library.refuse.address(ENTRY), env, (library,))


class _Target:
    """Numba's CPU target with its own engine."""

    options = cpu_target.options

    def __init__(self) -> None:
        self.typing_context = cpu_target.typing_context
        self.target_context = cpu_target.target_context.subtarget(_internal_codegen=_Codegen("matcalc"))
        self.target_context.__class__ = _Context


class Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """A Numba dispatcher of a function whose code is freed with it."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.targetdescr = _Target()
        super().__init__(function, targetoptions=options)

    def release(self) -> None:
        """Remove the function from Numba's tables, which refer back to it through its globals."""
        self._make_finalizer()()
        self._reset_overloads()
