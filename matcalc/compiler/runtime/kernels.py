"""Kernels as generated code sees them: a name that stands for a call of their symbol.

A callee that Numba links into its callers is copied and optimised in each; a kernel behind a symbol is compiled once,
and costs its callers one call instruction. Where its object code is kept, neither its text nor that of any kernel below
it is run: all that Numba is told is its signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from matcalc.compiler.runtime.generated import PACKAGE
from matcalc.compiler.runtime.kernel_code import Part, keep_kernel
from matcalc.compiler.runtime.kernel_code import kernel as kept_kernel
from matcalc.compiler.runtime.linker_symbols import calling_symbol
from matcalc.compiler.runtime.made_by import own, surroundings
from matcalc.store.cache_entries import count_built

TYPE = re.compile(r"(\w+)(?:\[(\d)\](!?)|\*(\d+))?")
"""A type: a number, an array with its rank, which is written with `!`, or a row of numbers, `float64*2`."""


def kernel(module: str) -> Callable[[Any], Any]:
    """Return a decorator that keeps the code of a compiled njit function, and makes it a call of its symbol."""

    def decorate(dispatcher: Any) -> Any:
        count_built()
        symbol = f"{module}.{dispatcher.__name__}"
        part, is_for_all = part_of(dispatcher)
        found = keep_kernel(symbol, part, own(), is_for_all)
        dispatcher.release()
        return calling_symbol(symbol, signature(found.types))

    return decorate


def module_of_kept(module: str, name: str) -> ModuleType | None:
    """Return the module of a kernel whose code is kept; None where it has to be compiled."""
    symbol = f"{module}.{name}"
    found = kept_kernel(symbol, surroundings())
    if found is None:
        return None
    made = ModuleType(module, f"{name}, of which the object code is kept.")
    made.__package__ = PACKAGE
    made.__dict__[name] = calling_symbol(symbol, signature(found.types))
    return made


def part_of(dispatcher: Any) -> tuple[Part, bool]:
    """Return the code of a compiled function, and whether other processes may have it: no address is in it."""
    compiled = dispatcher.overloads[dispatcher.signatures[0]]
    library, kinds = compiled.library, compiled.signature
    types = tuple(_word(kind) for kind in (kinds.return_type, *kinds.args))
    part = Part(compiled.fndesc.llvm_func_name, library.code, library.needs, types)
    return part, not library.has_dynamic_globals


def signature(words: tuple[str, ...]) -> Any:
    """Return Numba's signature."""
    result, *arguments = map(_type, words)
    return result(*arguments)


def _word(kind: Any) -> str:
    from numba import types

    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{kind.ndim}]{'!' * kind.mutable}"
    if isinstance(kind, types.UniTuple):
        return f"{kind.dtype}*{kind.count}"
    return "void" if kind == types.void else str(kind)


def _type(word: str) -> Any:
    from numba import types

    found = TYPE.fullmatch(word)
    assert found is not None, word
    kind = getattr(types, found[1])
    if found[2]:
        return types.Array(kind, int(found[2]), "C", readonly=not found[3])
    return types.UniTuple(kind, int(found[4])) if found[4] else kind
