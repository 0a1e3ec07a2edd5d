"""Loads generated Python source as a module.

The name of a module ends in the hash of its text, and the text contains the names of the modules it imports. A change
in any of them changes the name, so a stale cache entry is never found. A module is in `sys.modules` while it runs,
where Numba looks for it. Modules of kernels stay there. The module of a formula is freed with its function, together
with the lines that Python caches for tracebacks. The text in memory is run; the file on disk is for debuggers and
profilers and is never read.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakValueDictionary, finalize

from matcalc.compiler.blas import blas_choice
from matcalc.compiler.kernels.kernels import module_of_cached
from matcalc.compiler.kernels.library import Item, closure, free_names, import_block, load_library
from matcalc.compiler.machine.array_layout import is_known
from matcalc.compiler.machine.generated_modules import COMPILED, ENTERED, PACKAGE, TEXT_DIGEST
from matcalc.locks import loading
from matcalc.store import artefacts
from matcalc.store.events import recording

STEM = 40  # maximal characters of a function's name in its file name
NUMBA = "from numba import njit"
OURS = "from matcalc.compiler.numba.jit import njit"
ADDRESSES = "import get_cython_function_address"
HERE = {
    NUMBA: OURS,
    f"from numba.extending {ADDRESSES}": f"from matcalc.compiler.machine.scipy_routines {ADDRESSES}",
}
"""Replacements of imports. Unchanged kernel sources use Numba's cache and import SciPy. Here they use matcalc's cache,
and find routines without SciPy."""

KERNEL = "@kernel(__name__)"
"""The decorator of a kernel."""


class Lease:
    """Owns a module and releases it at the end of its own life; otherwise Numba's tables would refer to it forever."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.end = finalize(self, _end, module.__dict__)
        self.end.atexit = False

    @property
    def stays(self) -> bool:
        """Whether the module outlives the lease."""
        return not self.end.alive


_leases: WeakValueDictionary[str, Lease] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A module that has run; `hit` states that nothing was compiled for it."""

    lease: Lease
    hit: bool
    note: str = ""

    @property
    def module(self) -> ModuleType:
        """The module itself."""
        return self.lease.module


def module_name(text: str, stem: str) -> str:
    """Return the full name of the module made of `text`."""
    plain = re.sub(r"\W", "", stem, flags=re.ASCII)[:STEM]
    return f"{PACKAGE}.{plain}_{_digest(text)[:16]}"


def load_text(text: str, stem: str, stays: bool = True) -> Loaded:
    """Run `text` as a module, or return its existing module. Without `stays`, it is freed with its lease.

    Raises: any exception of running the text; the module is not registered then.
    """
    name = module_name(text, stem)
    with loading, recording() as record:
        lease = _leases.get(name)
        if lease is None or (lease.stays and name not in sys.modules):
            lease = _leases[name] = Lease(_run(text, name, not stays))
        if stays:
            keep(lease)
        return Loaded(lease, hit=not record.built, note=record.note)


def keep(lease: Lease) -> None:
    """Make a module permanent, since its machine code is called by address, where no references are counted."""
    lease.end.detach()
    lease.module.__dict__["__lease__"] = lease
    sys.modules[lease.module.__name__] = lease.module


def _end(module: dict[str, Any]) -> None:
    for function in module.get(COMPILED, ()):
        function.release()
    name = Path(module["__file__"]).name  # the hash makes it unique; Numba also uses the relative path
    for path in [path for path in linecache.cache if path.endswith(name)]:
        linecache.cache.pop(path, None)


def load_items(target: str, names: Iterable[str]) -> dict[str, str]:
    """Load the functions of these names from the sources of a target; return the module name of each.

    Every function is a module of its own, so only used functions are compiled. If the object code of a kernel is
    cached, its text and its dependencies are not loaded.
    """
    items = load_library(target).items
    with loading:
        return {name: _loaded(target, name) for name in names if name in items and items[name].is_function}


def modules_of(target: str, names: Iterable[str]) -> dict[str, str]:
    """Return the module names of the functions of these names, loaded or not."""
    items = load_library(target).items
    return {name: _module_of(target, name)[0] for name in names if name in items and items[name].is_function}


def symbol_of(target: str, name: str) -> str:
    """Return the symbol of a kernel of the sources."""
    return f"{_module_of(target, name)[0]}.{name}"


def _loaded(target: str, name: str) -> str:
    item, (module, text, uses) = load_library(target).items[name], _module_of(target, name)
    if module in sys.modules:
        return module
    kept = module_of_cached(module, name) if item.is_kernel else None
    if kept is not None:
        sys.modules[module] = kept
        return module
    for used in uses:
        _loaded(target, used)
    load_text(text, name)
    if not item.is_kernel:
        blas_choice.bind(name)
    return module


def does_blas(text: str) -> str:
    """Return the libraries that compute the BLAS and LAPACK routines which the kernels of a text call, as text."""
    return blas_choice.blas_in_use(item.name for item in closure(load_library("numba"), free_names(text)))


def generated_imports(modules: dict[str, str], names: Iterable[str]) -> list[str]:
    """Return the statements that import these functions from their modules."""
    return [f"from {modules[name]} import {name}" for name in names if name in modules]


@cache
def _module_of(target: str, name: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the module name of one function, its text (imports, constants, the function), and the functions that it
    imports."""
    library = load_library(target)
    item = library.items[name]
    constants = [i for i in closure(library, item.uses) if not i.is_function and _is_near(target, item, i)]
    statements = [*item.imports, *(s for c in constants for s in c.imports)]
    statements = [HERE.get(statement, statement) for statement in statements]
    named = sorted({*item.uses, *(u for c in constants for u in c.uses)})
    uses = tuple(u for u in named if library.items[u].is_function)
    statements += generated_imports({u: _module_of(target, u)[0] for u in uses}, uses)
    if item.is_kernel:
        statements.append("from matcalc.compiler.numba.jit import kernel")
    decorated = f"{KERNEL}\n{item.text}" if item.is_kernel else item.text
    parts = [f'"""{item.name}, from codegen/{item.origin}."""', import_block(statements)]
    parts += ["\n".join(c.text for c in constants)] if constants else []
    text = "\n\n".join(part for part in parts if part) + f"\n\n\n{decorated}\n"
    return module_name(text, name), text, uses


def _is_near(target: str, item: Item, constant: Item) -> bool:
    """Whether `item` reaches the constant without passing through another function."""
    items = load_library(target).items
    waiting, seen = list(item.uses), set()
    while waiting:
        name = waiting.pop()
        if name == constant.name:
            return True
        if name not in seen and not items[name].is_function:
            seen.add(name)
            waiting.extend(items[name].uses)
    return False


def _run(text: str, name: str, is_entered: bool) -> ModuleType:
    module = ModuleType(name)
    stem = name.rpartition(".")[2]
    module.__file__ = str(artefacts.write_text(f"{stem}.py", text) or f"<{stem}>")
    module.__package__ = PACKAGE
    is_kernel = f"\n{KERNEL}\n" in text
    if not is_kernel:
        module.__dict__[TEXT_DIGEST] = _digest(text)
    module.__dict__[ENTERED] = is_kernel or (is_entered and is_known())
    code = compile(text, module.__file__, "exec")
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - our own text
    finally:
        del sys.modules[name]
    return module


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
