"""An LLVM engine for each compiled function, so that its memory goes when the function does.

Numba puts all code of a process into one engine and never takes any out. Here a function has a target of its own:
Numba's, with another engine. What it calls behind a symbol stays where it is, what is linked in is copied. Two
more things would stay behind with each compilation: llvmlite's pass managers, whose `_dispose` is hidden by that of
their first base, and the pass builders that Numba makes for mere declarations, 1.5 KB each. What llvmlite has no
way to free is the instrumentation of the builders that are needed, one for each run of passes: after a run it refers
to what is gone, so a builder is never used twice.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import ffi, newpassmanagers
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.cpu import CPUContext
from numba.core.registry import CPUDispatcher, cpu_target

from matcalc.compiler.runtime.unboxing import Unboxing


class _Disposed:
    _dispose = newpassmanagers.NewPassManager._dispose


class _ModulePasses(_Disposed, newpassmanagers.ModulePassManager):  # type: ignore[misc]
    pass


class _FunctionPasses(_Disposed, newpassmanagers.FunctionPassManager):  # type: ignore[misc]
    pass


def _disposed(made: Any, kind: type) -> Any:
    """Return a pass manager, alone or with its builder, that frees its passes, as llvmlite's own may not."""
    manager = made[0] if isinstance(made, tuple) else made
    if type(manager)._dispose is ffi.ObjectRef._dispose:
        manager.__class__ = kind
    return made


class _Definitions:
    """The functions of a module that have a body, for passes over functions."""

    def __init__(self, module: Any) -> None:
        self.functions = [function for function in module.functions if not function.is_declaration]


class _Library(JITCodeLibrary):  # type: ignore[misc]
    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        super()._optimize_functions(_Definitions(module))


class _Codegen(JITCPUCodegen):  # type: ignore[misc]
    _library_class = _Library

    def _module_pass_manager(self, **options: Any) -> Any:
        return _disposed(super()._module_pass_manager(**options), _ModulePasses)

    def _function_pass_manager(self, **options: Any) -> Any:
        return _disposed(super()._function_pass_manager(**options), _FunctionPasses)


class _Context(CPUContext):  # type: ignore[misc]
    def get_python_api(self, builder: Any) -> Unboxing:
        return Unboxing(self, builder)


class _Target:
    """Numba's CPU with an engine of its own and our way in from Python."""

    options = cpu_target.options

    def __init__(self) -> None:
        self.typing_context = cpu_target.typing_context
        self.target_context = cpu_target.target_context.subtarget(_internal_codegen=_Codegen("matcalc"))
        self.target_context.__class__ = _Context


class Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """Numba's dispatcher of a function whose code is freed with it."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.targetdescr = _Target()
        super().__init__(function, targetoptions=options)

    def release(self) -> None:
        """Let Numba forget the function: its tables lead through the globals of the function back to itself."""
        self._make_finalizer()()
        self._reset_overloads()
