"""Runs LLVM's passes over a module and frees their memory afterwards.

llvmlite's pass managers do not free their passes: the `_dispose` of their first base class hides their own. llvmlite
cannot free the instrumentation of a pass builder. After a run it refers to freed memory, so no builder is used twice.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi

LEVEL = 3


class _Disposed:
    _dispose = llvm.NewPassManager._dispose


class ModulePasses(_Disposed, llvm.ModulePassManager):  # type: ignore[misc]
    """Passes over a module, freed with this object."""


class FunctionPasses(_Disposed, llvm.FunctionPassManager):  # type: ignore[misc]
    """Passes over a function, freed with this object."""


def disposed(made: Any, kind: type) -> Any:
    """Make a pass manager, alone or in a tuple with its builder, free its passes; return the argument."""
    manager = made[0] if isinstance(made, tuple) else made
    if type(manager)._dispose is ffi.ObjectRef._dispose:
        manager.__class__ = kind
    return made


def optimise(module: Any, machine: Any) -> None:
    """Run LLVM's optimisations for speed, including loop vectorization."""
    builder = _builder(machine)
    passes = disposed(builder.getModulePassManager(), ModulePasses)
    passes.run(module, builder)


def settle(module: Any, machine: Any) -> None:
    """Run the passes that help code without loops, which only calls kernels: stack slots become registers."""
    builder = _builder(machine)
    passes = disposed(llvm.create_new_module_pass_manager(), ModulePasses)
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)


def drop_unused(module: Any, machine: Any) -> None:
    """Remove the functions and variables that nothing in the module refers to."""
    builder = _builder(machine)
    passes = disposed(llvm.create_new_module_pass_manager(), ModulePasses)
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)


def _builder(machine: Any) -> Any:
    options = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    options.loop_vectorization = True
    options.slp_vectorization = False
    return llvm.create_pass_builder(machine, options)
