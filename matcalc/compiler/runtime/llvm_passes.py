"""LLVM's passes over a module, whose memory goes when they are done.

llvmlite's pass managers do not free their passes: their `_dispose` is hidden by that of their first base. What it has
no way to free is the instrumentation of a builder: after a run it refers to what is gone, so none is used twice.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import ffi, newpassmanagers

LEVEL = 3


class _Disposed:
    _dispose = newpassmanagers.NewPassManager._dispose


class ModulePasses(_Disposed, newpassmanagers.ModulePassManager):  # type: ignore[misc]
    """Passes over a module, which are freed."""


class FunctionPasses(_Disposed, newpassmanagers.FunctionPassManager):  # type: ignore[misc]
    """Passes over a function, which are freed."""


def disposed(made: Any, kind: type) -> Any:
    """Return a pass manager, alone or with its builder, that frees its passes, as llvmlite's own may not."""
    manager = made[0] if isinstance(made, tuple) else made
    if type(manager)._dispose is ffi.ObjectRef._dispose:
        manager.__class__ = kind
    return made


def optimise(module: Any, machine: Any) -> None:
    """Run what LLVM runs for speed, loops over vectors among it."""
    builder = _builder(machine)
    passes = disposed(builder.getModulePassManager(), ModulePasses)
    passes.run(module, builder)


def settle(module: Any, machine: Any) -> None:
    """Run what is of use to calls of kernels alone, without loops: places on the stack become registers."""
    builder = _builder(machine)
    passes = disposed(newpassmanagers.create_new_module_pass_manager(), ModulePasses)
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)


def drop_unused(module: Any, machine: Any) -> None:
    """Take out what nothing in a module refers to."""
    builder = _builder(machine)
    passes = disposed(newpassmanagers.create_new_module_pass_manager(), ModulePasses)
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)


def _builder(machine: Any) -> Any:
    options = newpassmanagers.create_pipeline_tuning_options(speed_level=LEVEL)
    options.loop_vectorization = True
    options.slp_vectorization = False
    return newpassmanagers.create_pass_builder(machine, options)
