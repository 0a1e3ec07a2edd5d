"""NumPy's text in the words of a framework: a table of names, and the functions that a target has of its own.

`codegen/<target>/words.toml` says what a name of NumPy and SciPy is called there; what it does not say the target
lacks. Functions are those of `codegen/<target>/*.py`, as they stand, and those of `codegen/array/*.py`, which are
spelled in NumPy's words for all such targets and change no array.
"""

from __future__ import annotations

import ast
import builtins
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from matcalc.compiler.lowering_entries import FIELD
from matcalc.compiler.runtime.library import Item, Library, closure, free_names, global_names, load_library
from matcalc.compiler.targets import ON_NUMPY
from matcalc.errors import NotSupported
from matcalc.store.data_folders import data_folder

MODULES = frozenset({"np", "sl", "sp", "linalg", "special", "math", "itertools"})
LIKE = "like"
"""The type and the device of a function's arguments, which new arrays get."""
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
    """What a target calls NumPy's names; `creates` are those that make an array of no other."""

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
    """Return the functions of a target: its own, and those for all arrays in its words."""
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
    """Return the names that generated code leaves alone."""
    return frozenset({*array_library(target).items, *array_library(target).imports, LIKE})


def needed(target: str, text: str) -> tuple[Item, ...]:
    """Return the functions that a text calls, and what they need."""
    return closure(array_library(target), free_names(text))


def respelled(text: str, words: Words, about: str) -> str:
    """Return functions in NumPy's words in those of a target; `about` is what a refusal names.

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
                is_own = isinstance(node.func, ast.Name) and node.func.id in defined
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
    """Refuse what a rule brings along where it changes arrays or asks for the values of their entries.

    Raises: NotSupported.
    """
    tree = ast.parse(text)
    stores = (s for s in ast.walk(tree) if isinstance(s, ast.Subscript) and isinstance(s.ctx, ast.Store))
    if any(isinstance(node, BRANCHES) for node in ast.walk(tree)) or any(True for _ in stores):
        raise _lacking(about, target, "")


def check_entry(name: str, template: str, brought: str, parts: Iterable[str], target: str) -> None:
    """Refuse an entry of `codegen/` that says something which a target has not; `brought` is what the entry defines,
    `parts` the functions that are written for it.

    Raises: NotSupported with the name of the entry.
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
    """Return functions that NumPy's words define in those of a target; with `about` they are what that brings along.

    Raises: NotSupported.
    """
    if about:
        check_functional(text, target, about)
    return respelled(text, load_words(target), about or target)


def _lacking(about: str, target: str, word: str) -> NotSupported:
    others = " and ".join(f'target="{t}"' for t in ON_NUMPY)
    missing = f": it has no {word}" if word else ""
    return NotSupported(f"{about} has no form for the target {target}{missing}", hint=f"{others} have one")


def _dotted(node: ast.expr) -> str:
    """Return `np.linalg.inv` of an attribute of a module, else nothing."""
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
