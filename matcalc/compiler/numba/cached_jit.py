"""Defines the decorators of generated code: Numba's, with matcalc's cache and an engine for each function.

Numba's own cache reads unverified pickles, and its one index is overwritten by each processor and version in turn.
Here the key of an entry contains the source text, the build settings and the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core import sigutils, typeinfer
from numba.core.caching import CompileResultCacheImpl
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from matcalc.compiler.machine.generated_modules import COMPILED, ENTERED, TEXT_DIGEST
from matcalc.compiler.numba.engine import Dispatcher
from matcalc.store import artefacts
from matcalc.store.events import count_built

SETTLED = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True}
"""Options of every function compiled on its own. The C wrapper is left out: nobody calls it, and it takes time."""


def njit(*signature: Any, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return `numba.njit` with matcalc's cache.

    With a signature, the function is compiled or read from the cache at once, and its memory is freed with its lease.
    Without one, it is linked into its callers.
    """

    def decorate(function: Any) -> Any:
        settled = SETTLED | {"no_cpython_wrapper": bool(function.__globals__.get(ENTERED))}
        made = Dispatcher(function, settled | options) if signature else numba.njit(**options)(function)
        if cache and TEXT_DIGEST in function.__globals__:
            made._cache = DiskCache(function)
        if signature:
            with typeinfer.register_dispatcher(made):
                made.compile(signature[0])
                made.disable_compile()
            function.__globals__.setdefault(COMPILED, []).append(made)
        return made

    return decorate


def cfunc(signature: Any, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return `numba.cfunc` with matcalc's cache."""

    def decorate(function: Any) -> Any:
        made: Any = CFunc(function, sigutils.normalize_signature(signature), locals={}, options=options)
        if cache and TEXT_DIGEST in function.__globals__:
            made._cache = DiskCache(function)
        made.compile()
        return made

    return decorate


class DiskCache:
    """The cache object of a Numba dispatcher: the entries of one function of a generated module."""

    cache_path = None

    def __init__(self, function: Any) -> None:
        module = function.__globals__
        self._text = module[TEXT_DIGEST], function.__qualname__, bool(module.get(ENTERED))

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled function for a signature; None if it must be compiled."""
        target.refresh()
        parts = artefacts.read("overload", self._inputs(signature, target.codegen()))
        if parts is not None:
            return CompileResult._rebuild(target, *parts)
        count_built()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Cache a compiled function, unless it contains addresses of this process."""
        if compiled.library.has_dynamic_globals or any(not part.can_cache for part in compiled.lifted):
            return
        inputs = self._inputs(signature, compiled.library.codegen)
        artefacts.write("overload", inputs, dumps(CompileResultCacheImpl.reduce(self, compiled)))

    def _inputs(self, signature: Any, codegen: Any) -> list[object]:
        return [*self._text, str(signature), tuple(map(str, codegen.magic_tuple()))]
