"""Reads the kernel sources of a target, cut into functions, so that only used functions are loaded or saved.

A source file of `codegen/<target>/` contains only imports, assignments to one name, and functions. Names are unique
in the whole target. A function with an explicit signature is a kernel (called by symbol); others are linked in. An
assignment whose value uses a function, `dgemm = external("blas", "dgemm", 13)`, counts as a function.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import MappingProxyType

from matcalc.errors import RuleError
from matcalc.rulebook.oracle import IMPORTS
from matcalc.store import artefacts
from matcalc.store.data_folders import data_folder

SIBLINGS = "matcalc.codegen."
STANDARD = ("ctypes", "functools", "importlib", "itertools", "math", "re", "sys")


@dataclass(frozen=True, slots=True)
class Item:
    """A function or a constant of the sources, with the items and the imports that it uses."""

    name: str
    text: str
    uses: tuple[str, ...]
    imports: tuple[str, ...]
    is_function: bool
    is_kernel: bool
    origin: str


@dataclass(frozen=True, slots=True)
class Library:
    """All items of a target by name, in file order, and all imports by the name that they bind."""

    items: Mapping[str, Item]
    imports: Mapping[str, str]


@cache
def load_library(target: str) -> Library:
    """Read the sources of `codegen/<target>/`."""
    folder = data_folder("codegen") / target
    library: Library = artefacts.kept("form", [f"library_{target}"], lambda: read_library(folder))
    return library


def read_library(folder: Path) -> Library:
    """Read the sources in a folder.

    Raises: RuleError naming the file, for a statement of another kind or a name defined twice.
    """
    imports = dict(IMPORTS)
    found: dict[str, tuple[str, str, bool, bool]] = {}
    for path in sorted(folder.glob("*.py")):
        origin = f"{folder.name}/{path.name}"
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.Import | ast.ImportFrom):
                imports |= _bindings(statement)
            elif not _is_docstring(statement):
                name = _name(statement, origin)
                if name in found:
                    raise RuleError(f"codegen/{origin}:{statement.lineno}: {name} is also in {found[name][1]}")
                is_function = isinstance(statement, ast.FunctionDef)
                found[name] = (_segment(statement, lines), origin, is_function, _has_signature(statement))
    items = {}
    for name, (text, origin, is_defined, is_kernel) in found.items():
        used = free_names(text)
        is_function = is_defined or any(u in found and found[u][2] for u in used)
        items[name] = Item(
            name,
            text,
            tuple(u for u in used if u in found and u != name),
            tuple(imports[u] for u in used if u in imports and u not in found),
            is_function,
            is_kernel,
            origin,
        )
    return Library(MappingProxyType(items), MappingProxyType(imports))


def free_names(text: str) -> tuple[str, ...]:
    """Return the global names that Python source refers to, sorted."""
    names: set[str] = set()
    tables = [symtable.symtable(text, "<source>", "exec")]
    while tables:
        table = tables.pop()
        at_top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (at_top or symbol.is_global()):
                names.add(symbol.get_name())
        tables.extend(table.get_children())
    return tuple(sorted(names))


def global_names(text: str) -> frozenset[str]:
    """Return the global names that Python source binds or refers to."""
    return frozenset({*free_names(text), *symtable.symtable(text, "<source>", "exec").get_identifiers()})


def closure(library: Library, names: Iterable[str]) -> tuple[Item, ...]:
    """Return the items of these names and all that they use, dependencies first, otherwise in file order."""
    needed: dict[str, Item] = {}
    waiting = [name for name in names if name in library.items]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed[name] = library.items[name]
            waiting.extend(library.items[name].uses)
    ranked = [name for name in library.items if name in needed]
    order = TopologicalSorter({name: sorted(needed[name].uses, key=ranked.index) for name in ranked})
    return tuple(needed[name] for name in order.static_order())


def import_block(statements: Iterable[str]) -> str:
    """Return import statements merged and sorted: the standard library, then the rest."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for statement in statements:
        if statement.startswith("import "):
            plain.add(statement)
        else:
            module, _, binding = statement.removeprefix("from ").partition(" import ")
            named.setdefault(module, set()).add(binding)
    sections: list[list[str]] = [[], []]
    for statement in sorted(plain):
        sections[statement.split()[1].split(".")[0] not in STANDARD].append(statement)
    for module in sorted(named):
        bindings = ", ".join(sorted(named[module], key=_isort_key))
        sections[module.split(".")[0] not in STANDARD].append(f"from {module} import {bindings}")
    return "\n\n".join("\n".join(section) for section in sections if section)


def _isort_key(name: str) -> tuple[int, str]:
    """Return isort's sort key of a name: constants first, then classes, then the rest."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2, name)


def _bindings(statement: ast.Import | ast.ImportFrom) -> dict[str, str]:
    bound = {}
    for alias in statement.names:
        shown = f"{alias.name} as {alias.asname}" if alias.asname else alias.name
        binding = alias.asname or alias.name
        if isinstance(statement, ast.Import):
            bound[binding] = f"import {shown}"
        elif not (statement.module or "").startswith(SIBLINGS):
            bound[binding] = f"from {statement.module} import {shown}"
    return bound


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _name(statement: ast.stmt, origin: str) -> str:
    if isinstance(statement, ast.FunctionDef):
        return statement.name
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            return target.id
    raise RuleError(f"codegen/{origin}:{statement.lineno}: only imports, constants and functions are allowed here")


def _has_signature(statement: ast.stmt) -> bool:
    """Whether a decorator has a positional argument: `@njit(float64(MATRIX), **EXACT)`."""
    return isinstance(statement, ast.FunctionDef) and any(
        isinstance(decorator, ast.Call) and bool(decorator.args) for decorator in statement.decorator_list
    )


def _segment(statement: ast.stmt, lines: list[str]) -> str:
    """Return the source of a statement with its decorators and the comment above it."""
    first = statement.lineno
    if isinstance(statement, ast.FunctionDef) and statement.decorator_list:
        first = statement.decorator_list[0].lineno
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    return "\n".join(lines[first - 1 : statement.end_lineno])
