"""Finds Python text for operations that a language's table does not name: the values of the rulebook.

A value is an expression in the operation's parameters. Functions that it calls are helper functions of the result, with
the functions that they call; one whose helpers are long is not plain.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cache

from matcalc.errors import NotSupported
from matcalc.plain_source.language import Entry
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.rule import Rule

MOST_LINES = 45
"""The most lines of the helper functions of one operation."""

SKIPPED = ("finite_",)
"""Functions of the rulebook that test data, which plain source does not."""

ALIASES = {"sp": "scipy.special", "sl": "scipy.linalg"}


@cache
def value_entry(rule: Rule, index: int, count: int) -> tuple[Entry, tuple[str, ...]]:
    """Return the entry of an operation from its value, and the names of the functions that it calls.

    Raises: NotSupported if it has none, or needs long functions.
    """
    texts = rule.values
    if not texts:
        raise NotSupported(f"{rule.name} has no plain source")
    text = texts[index if len(texts) > 1 else 0]
    for name in SKIPPED:
        text = re.sub(rf"\b{name}\((\w+)\)", r"\1", text)
    tree = ast.parse(text, mode="eval").body
    parameters = [p.name for p in rule.signatures[index if len(rule.signatures) > index else 0].parameters]
    template = _template(text, tree, parameters, count)
    helpers = _helpers({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)})
    lines = sum(len(_definitions()[name].splitlines()) for name in helpers)
    if lines > MOST_LINES:
        raise NotSupported(f"{rule.name} has no plain source: it needs {lines} lines of code")
    level = "atom" if isinstance(tree, ast.Call | ast.Name | ast.Subscript | ast.Constant) else "any"
    return Entry(template, level), helpers


def _template(text: str, tree: ast.expr, parameters: Sequence[str], count: int) -> str:
    """Return a value's text with slots for its parameters, with the library's names, spelled as a table spells them."""
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    changes: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name) and node.value.id in parameters:
            first = parameters.index(node.value.id)
            slots = ", ".join(f"{{{k}}}" for k in range(first, count))
            changes.append((node.col_offset, node.end_col_offset or 0, slots))
        elif isinstance(node, ast.Name) and node.id in parameters:
            parent = parents.get(node)
            if isinstance(parent, ast.Starred):
                continue
            is_whole = parent is None or isinstance(parent, ast.Call | ast.keyword | ast.Tuple)
            slot = f"{{{parameters.index(node.id)}{'' if is_whole else ':atom'}}}"
            changes.append((node.col_offset, node.end_col_offset or 0, slot))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ALIASES:
            changes.append((node.value.col_offset, (node.value.end_col_offset or 0) + 1, ""))
        elif isinstance(node, ast.Name) and node.id.endswith("_"):
            changes.append((node.col_offset, node.end_col_offset or 0, plain_name(node.id)))
    for start, stop, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[stop:]
    return re.sub(r", (?=\))", "", text)


def plain_name(name: str) -> str:
    """Return the name of a function of the rulebook in plain source."""
    return name.rstrip("_")


@cache
def _definitions() -> dict[str, str]:
    """Return the functions and constants of the rulebook's values, by name."""
    book: Rulebook = default_rulebook()
    found: dict[str, str] = {}
    for text in book.prelude.values():
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = "\n".join(lines[node.lineno - 1 : node.end_lineno])
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = "\n".join(lines[node.lineno - 1 : node.end_lineno])
    return found


def _helpers(names: set[str]) -> tuple[str, ...]:
    """Return the functions that names need, operands before their users, sorted."""
    known = _definitions()
    found: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in known or name in found or name == "Array":
            return
        for node in ast.walk(ast.parse(known[name])):
            if isinstance(node, ast.Name) and node.id != name and not _is_annotation(node.id):
                add(node.id)
        found[name] = None

    for name in sorted(names):
        add(name)
    return tuple(found)


def _is_annotation(name: str) -> bool:
    return name in ("Array", "Function", "Series", "Any")


def helper_text(name: str) -> str:
    """Return the source of a helper function, without type annotations and trailing underscores."""
    text = _definitions()[name]
    tree = ast.parse(text).body[0]
    if isinstance(tree, ast.FunctionDef):
        text = _without_annotations(text, tree)
    return re.sub(r"\b([a-zA-Z]\w*?)_(?=\()", lambda m: m[1] if m[0] in _definitions() else m[0], text)


def _without_annotations(text: str, tree: ast.FunctionDef) -> str:
    lines = text.splitlines()
    body = lines[tree.body[0].lineno - 1 :]
    for arg in ast.walk(tree):
        if isinstance(arg, ast.arg):
            arg.annotation = None
    head = f"def {tree.name}({ast.unparse(tree.args)}):"
    return "\n".join([head, *body])
