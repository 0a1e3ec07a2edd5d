"""Load generated Python source as a module that Numba can cache, and keep it on disk.

The name of a module ends in the hash of its text, and that text names the modules it imports: a change
anywhere below is another name, so a stale entry cannot be met. A module is in `sys.modules` before it runs
(Numba's cache needs it there). Source is written whole or not at all; a list of checksums, written last, says
which of Numba's files belong to it. What does not agree with that list is deleted and built again, so a
damaged or half-written entry costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from types import ModuleType

from matcalc.runtime.folder import Folder, cache_folder
from matcalc.runtime.library import Item, closure, import_block, load_library

PACKAGE = "matcalc.runtime.generated"
STEM = 40  # characters of a function's name that its file is called after, plain ones
DAMAGED = (pickle.UnpicklingError, EOFError)

_lock = RLock()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A module that has run. `hit`: its compiled code came from the cache."""

    module: ModuleType
    hit: bool
    note: str = ""


def module_name(text: str, stem: str) -> str:
    """Return the full name of the module made of `text`."""
    plain = re.sub(r"\W", "", stem, flags=re.ASCII)[:STEM]
    return f"{PACKAGE}.{plain}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def load_text(text: str, stem: str) -> Loaded:
    """Run `text` as a module, or return the module that it already is.

    Raises: whatever running the text raises; nothing stays registered then.
    """
    name = module_name(text, stem)
    folder = cache_folder()
    with _lock:
        if name in sys.modules:
            return Loaded(sys.modules[name], hit=True, note=folder.note)
        try:
            return _run(text, name, folder)
        except DAMAGED:  # Numba's files, kept elsewhere (NUMBA_CACHE_DIR): a new path has none yet
            return _run(text, name, Folder(Path(tempfile.mkdtemp(dir=folder.path)), lasting=False))


def load_items(target: str, names: Iterable[str]) -> dict[str, str]:
    """Load the functions of these names from the sources of a target; return the module name of each.

    Every function is a module of its own, so that one is compiled only when it is used.
    """
    modules: dict[str, str] = {}
    for item in closure(load_library(target), names):
        if item.is_function:
            text = _item_text(target, item, modules)
            loaded = load_text(text, item.name)
            modules[item.name] = loaded.module.__name__
    return modules


def generated_imports(modules: dict[str, str], names: Iterable[str]) -> list[str]:
    """Return the statements that import these functions from their modules."""
    return [f"from {modules[name]} import {name}" for name in names if name in modules]


def _item_text(target: str, item: Item, modules: dict[str, str]) -> str:
    """Return the module of one function: imports, the constants that it uses, the function."""
    library = load_library(target)
    constants = [i for i in closure(library, item.uses) if not i.is_function and _is_near(target, item, i)]
    statements = [*item.imports, *(s for c in constants for s in c.imports)]
    uses = sorted({*item.uses, *(u for c in constants for u in c.uses)})
    statements += generated_imports(modules, [u for u in uses if library.items[u].is_function])
    if item.is_kernel:
        statements.append("from matcalc.runtime.symbols import linked")
    decorated = f"@linked(__name__)\n{item.text}" if item.is_kernel else item.text
    parts = [f'"""{item.name}, from codegen/{item.origin}."""', import_block(statements)]
    parts += ["\n".join(c.text for c in constants)] if constants else []
    return "\n\n".join(part for part in parts if part) + f"\n\n\n{decorated}\n"


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


def _run(text: str, name: str, folder: Folder) -> Loaded:
    stem = name.rpartition(".")[2]
    path = folder.path / f"{stem}.py"
    _write_source(path, text)
    hit = _verify(folder.path, stem)
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__package__ = PACKAGE
    code = compile(text, str(path), "exec")
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - our own text
    except BaseException:
        del sys.modules[name]
        raise
    if not hit:
        write_whole(_sums_path(folder.path, stem), json.dumps(_sums(folder.path, stem)))
    return Loaded(module, hit, folder.note)


def _write_source(path: Path, text: str) -> None:
    """Leave the text at `path`; a file that holds it keeps its time, which Numba's index remembers."""
    try:
        if path.read_text(encoding="utf-8") == text:
            return
    except (OSError, UnicodeDecodeError):
        pass
    write_whole(path, text)


def write_whole(path: Path, text: str) -> None:
    """Write a file such that others see all of it or none."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _verify(folder: Path, stem: str) -> bool:
    """Return whether Numba's files are exactly those that were listed; delete them where they are not."""
    try:
        listed = json.loads(_sums_path(folder, stem).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        listed = None
    if listed is not None and listed == _sums(folder, stem):
        return True
    _sums_path(folder, stem).unlink(missing_ok=True)
    for path in _compiled_files(folder, stem):
        path.unlink(missing_ok=True)
    return False


def _sums(folder: Path, stem: str) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in _compiled_files(folder, stem)}


def _sums_path(folder: Path, stem: str) -> Path:
    return folder / f"{stem}.sums"


def _compiled_files(folder: Path, stem: str) -> list[Path]:
    return sorted((folder / "__pycache__").glob(f"{stem}.*.nb[ic]"))
