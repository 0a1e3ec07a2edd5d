"""Presents kernels to generated code: each is a function whose call compiles to a call of its linker symbol.

Numba copies a linked callee into each caller and optimises it there. A kernel behind a symbol is compiled once and
costs its callers one call instruction. If its object code is cached, neither its text nor that of the kernels below
it is run: Numba needs only its signature.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

from matcalc.compiler.kernels.kernel_code import Part, cache_kernel
from matcalc.compiler.kernels.kernel_code import kernel as kept_kernel
from matcalc.compiler.machine.generated_modules import PACKAGE
from matcalc.compiler.machine.linker_symbols import calling_symbol
from matcalc.store.events import count_built

TYPE = re.compile(r"(\w+)(?:\[(\d)\](!?)|\*(\d+))?")
"""A type: a number, an array `float64[2]` (with `!` a writable one), or a tuple of numbers `float64*2`."""


def kernel(module: str) -> Callable[[Any], Any]:
    """Return a decorator that caches the code of a compiled njit function and replaces it by a call of its symbol."""

    def decorate(dispatcher: Any) -> Any:
        count_built()
        symbol = f"{module}.{dispatcher.__name__}"
        part, is_for_all = part_of(dispatcher)
        found = cache_kernel(symbol, part, is_for_all)
        dispatcher.release()
        return calling_symbol(symbol, signature(found.types))

    return decorate


def module_of_cached(module: str, name: str) -> ModuleType | None:
    """Return the module of a kernel whose code is cached; None if it must be compiled."""
    symbol = f"{module}.{name}"
    found = kept_kernel(symbol)
    if found is None:
        return None
    made = ModuleType(module, f"{name}, of which the object code is kept.")
    made.__package__ = PACKAGE
    made.__dict__[name] = calling_symbol(symbol, signature(found.types))
    return made


def part_of(dispatcher: Any) -> tuple[Part, bool]:
    """Return the code of a compiled function, and whether other processes can use it: it contains no address."""
    compiled = dispatcher.overloads[dispatcher.signatures[0]]
    library, kinds = compiled.library, compiled.signature
    types = tuple(_word(kind) for kind in (kinds.return_type, *kinds.args))
    part = Part(compiled.fndesc.llvm_func_name, library.code, library.needs, types)
    return part, not library.has_dynamic_globals


def signature(words: tuple[str, ...]) -> Any:
    """Return Numba's signature from the words of the result and the arguments."""
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
