"""Translates NumPy text to the names of a framework, by a table of names and the target's own functions.

`codegen/<target>/words.toml` maps the names of NumPy and SciPy to those of the framework; the target lacks any name
that is missing there. Helper functions come from `codegen/<target>/*.py`, unchanged, and from `codegen/array/*.py`.
The latter are written in NumPy's names for all such targets and change no array in place.
"""

from __future__ import annotations

import ast
import builtins
import tomllib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from matcalc.compiler.code.code_text import ModuleText
from matcalc.compiler.kernels.library import Item, Library, closure, free_names, global_names, load_library
from matcalc.compiler.lowering_entries import FIELD
from matcalc.compiler.targets import ON_NUMPY
from matcalc.errors import NotSupported
from matcalc.store.data_folders import data_folder

MODULES = frozenset({"np", "sl", "sp", "linalg", "special", "math", "itertools"})
LIKE = "like"
"""The variable with the type and device of a function's arguments, passed to functions that create arrays."""
BRANCHES = (
    ast.If,
    ast.While,
    ast.IfExp,
    ast.BoolOp,
    ast.For,
    ast.AugAssign,
    ast.ListComp,
    ast.GeneratorExp,
    ast.Lambda,
)


@dataclass(frozen=True, slots=True)
class Words:
    """A target's names for NumPy's; `creates` are the functions that create an array without an array argument."""

    target: str
    imports: Mapping[str, str]
    names: Mapping[str, str]
    creates: Mapping[str, str]
    methods: Mapping[str, str]
    array: str
    says: str
    literal: str


@cache
def load_words(target: str) -> Words:
    """Read `codegen/<target>/words.toml`."""
    table = tomllib.loads((data_folder("codegen") / target / "words.toml").read_text(encoding="utf-8"))
    tables = (table[name] for name in ("imports", "names", "creates", "methods"))
    return Words(target, *tables, *(table["file"][word] for word in ("array", "says", "literal")))


@cache
def array_library(target: str) -> Library:
    """Return the functions of a target: its own, and the shared ones translated to its names."""
    own, shared = load_library(target), load_library("array")
    words = load_words(target)
    items: dict[str, Item] = {}
    for name, item in shared.items.items():
        if name not in own.items:
            text = respelled(item.text, words, name)
            items[name] = replace(item, text=text)
    items |= own.items
    imports = {**words.imports, **own.imports}
    for name, item in items.items():
        used = free_names(item.text)
        uses = tuple(u for u in used if u in items and u != name)
        items[name] = replace(item, uses=uses, imports=tuple(imports[u] for u in used if u in imports))
    return Library(items, imports)


def reserved_words(target: str) -> frozenset[str]:
    """Return the names that generated code must not use for its variables."""
    return frozenset({*array_library(target).items, *array_library(target).imports, LIKE})


def needed(target: str, text: str) -> tuple[Item, ...]:
    """Return the functions that a text calls, with their dependencies."""
    return closure(array_library(target), free_names(text))


def respelled(text: str, words: Words, about: str, others: Container[str] = ()) -> str:
    """Return functions translated from NumPy's names to a target's; `about` is named in error messages.

    `others` are functions of the same module in other texts.

    Raises: NotSupported for a name that the target lacks.
    """
    lines = text.encode().split(b"\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    edits: dict[int, tuple[int, bytes]] = {}
    creating: set[ast.FunctionDef] = set()
    tree = ast.parse(text)
    defined = {s.name for s in tree.body if isinstance(s, ast.FunctionDef)}
    for function in (s for s in tree.body if isinstance(s, ast.FunctionDef)):
        inner = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Attribute)}
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                new = words.creates.get(_dotted(node.func))
                if new is not None:
                    end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 1) - 1
                    edits[end] = (end, f"{', ' if node.args or node.keywords else ''}**{LIKE}".encode())
                    creating.add(function)
                is_own = isinstance(node.func, ast.Name) and (node.func.id in defined or node.func.id in others)
                numbers = [a for a in node.args if _is_float(a)]
                for number in numbers:
                    if words.literal and (is_own or (_dotted(node.func) and len(numbers) in (2, len(node.args)))):
                        first = starts[number.lineno - 1] + number.col_offset
                        end = starts[number.lineno - 1] + (number.end_col_offset or 0)
                        edits[first] = (end, f"{words.literal}({ast.unparse(number)}, **{LIKE})".encode())
                        creating.add(function)
                if isinstance(node.func, ast.Attribute) and not _dotted(node.func):
                    word = node.func.attr
                    if word not in words.methods:
                        raise _lacking(about, words.target, f".{word}()")
                    end = starts[(node.func.end_lineno or 1) - 1] + (node.func.end_col_offset or 0)
                    edits[end - len(word)] = (end, words.methods[word].encode())
            if isinstance(node, ast.Attribute) and id(node) not in inner and (dotted := _dotted(node)):
                spelled = words.creates.get(dotted) or words.names.get(dotted)
                if spelled is None:
                    raise _lacking(about, words.target, dotted)
                first = starts[node.lineno - 1] + node.col_offset
                edits[first] = (first + len(dotted), spelled.encode())
        if function in creating:
            at = next((s for s in function.body if not _is_docstring(s)), function.body[-1])
            first = starts[at.lineno - 1]
            indent = " " * at.col_offset
            given = [a.arg for a in (*function.args.args, *([function.args.vararg] if function.args.vararg else []))]
            edits[first] = (first, f"{indent}{LIKE} = kind({', '.join(given)})\n".encode())
    data = text.encode()
    for first in sorted(edits, reverse=True):
        end, new_bytes = edits[first]
        data = data[:first] + new_bytes + data[end:]
    return data.decode()


def check_functional(text: str, target: str, about: str) -> None:
    """Raise NotSupported if the helper functions of a rule change arrays or branch on the values of entries."""
    tree = ast.parse(text)
    stores = (s for s in ast.walk(tree) if isinstance(s, ast.Subscript) and isinstance(s.ctx, ast.Store))
    if any(isinstance(node, BRANCHES) for node in ast.walk(tree)) or any(True for _ in stores):
        raise _lacking(about, target, "")


def check_entry(name: str, template: str, brought: str, parts: Iterable[str], target: str) -> None:
    """Raise NotSupported if an entry of `codegen/` uses something that a target lacks.

    `brought` is the text of the functions that the entry defines, `parts` the names of those written for it.
    """
    plain = f"def entry():\n    return {FIELD.sub('x', template)}"
    respelled(plain, load_words(target), name)
    for text in filter(None, [brought]):
        in_words(text, target, name)
    known = {*array_library(target).items, *global_names(brought), *parts, *MODULES, *dir(builtins), "x", "entry"}
    for word in free_names(plain):
        if word not in known:
            raise _lacking(name, target, word)


def in_words(text: str, target: str, about: str = "") -> str:
    """Return functions translated from NumPy's names to a target's; `about` is the rule that brings them along.

    Raises: NotSupported if the target lacks a name, or if functions of a rule change arrays.
    """
    if about:
        check_functional(text, target, about)
    return respelled(text, load_words(target), about or target)


def module_in_words(module: ModuleText, target: str) -> ModuleText:
    """Return a module translated from NumPy's names to a target's, part by part. Raises: as `in_words`."""
    words, others = load_words(target), module.companions
    return module.changed(lambda part: respelled(part, words, target, others))


def _lacking(about: str, target: str, word: str) -> NotSupported:
    others = " and ".join(f'target="{t}"' for t in ON_NUMPY)
    missing = f": it has no {word}" if word else ""
    return NotSupported(f"{about} has no form for the target {target}{missing}", hint=f"{others} have one")


def _dotted(node: ast.expr) -> str:
    """Return the dotted name of a module's attribute, such as `np.linalg.inv`; otherwise ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) and node.id in MODULES and parts else ""


def _is_float(node: ast.expr) -> bool:
    plain = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(plain, ast.Constant) and isinstance(plain.value, float)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
