"""Finds Python text for operations that a language's table does not name: the values of the rulebook.

A value is an expression in the operation's parameters. Functions that it calls are helper functions of the result, with
the functions that they call; one whose helpers are long is not plain.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from textwrap import wrap

from matcalc.errors import NotSupported
from matcalc.plain_source.language import Entry, language
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.rule import Rule

MOST_LINES = 45
"""The most lines of the helper functions of one operation."""

WIDTH = 88
MOST_REPEATED = 60
"""The most characters of a value that writes a parameter several times; a longer one is a function."""
_SPELLED = re.compile(r"\b(?:sp|sl)\.(\w+)")
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
    helpers = _helpers({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)})
    lines = sum(len(_definitions()[name].splitlines()) for name in helpers)
    if lines > MOST_LINES:
        raise NotSupported(f"{rule.name} has no plain source: it needs {lines} lines of code")
    is_fixed = not any(isinstance(node, ast.Starred) for node in ast.walk(tree))
    if is_fixed and len(text) > MOST_REPEATED and any(n > 1 for n in _counts(tree, parameters).values()):
        made = _function_of(rule.name, tree, parameters)
        called = ", ".join(f"{{{k}}}" for k in range(count))
        return Entry(f"{plain_name(rule.name)}({called})"), (*helpers, made)
    level = "atom" if isinstance(tree, ast.Call | ast.Name | ast.Subscript | ast.Constant) else "any"
    return Entry(_template(tree, parameters, count), level), helpers


def _counts(tree: ast.expr, parameters: Sequence[str]) -> Counter[str]:
    """Return how often each parameter occurs in a value."""
    return Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in parameters)


def _function_of(name: str, tree: ast.expr, parameters: Sequence[str]) -> str:
    """Return the source of a function that computes a value."""
    made = ast.parse(_SPELLED.sub(lambda found: found[1], ast.unparse(tree)), mode="eval").body
    laid = laid_out(made, 4, len("return "))
    return f"def {plain_name(name)}({', '.join(parameters)}):\n    return {laid}"


def laid_out(node: ast.expr, indent: int, used: int = 0) -> str:
    """Return an expression on one line, or as a call with an argument on each line where that is too long."""
    text = ast.unparse(node).replace("'", '"')
    if indent + used + len(text) < WIDTH or not isinstance(node, ast.Call) or node.keywords:
        return text
    inner = "".join(f"\n{' ' * (indent + 4)}{laid_out(arg, indent + 4)}," for arg in node.args)
    return f"{ast.unparse(node.func)}({inner}\n{' ' * indent})"


class _Slots(ast.NodeTransformer):
    """Replaces parameters by names of slots, and the library's functions by the names that are imported."""

    def __init__(self, parameters: Sequence[str], count: int) -> None:
        self.parameters, self.count = parameters, count

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802 - the name that ast calls
        if node.id in self.parameters:
            return ast.Name(f"SLOT_{self.parameters.index(node.id)}_", node.ctx)
        return ast.Name(plain_name(node.id), node.ctx) if node.id.endswith("_") else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: N802
        if isinstance(node.value, ast.Name) and node.value.id in ALIASES:
            return ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802
        args: list[ast.expr] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred) and isinstance(arg.value, ast.Name) and arg.value.id in self.parameters:
                first = self.parameters.index(arg.value.id)
                args += [ast.Name(f"SLOT_{k}_", ast.Load()) for k in range(first, self.count)]
            else:
                args.append(self.visit(arg))
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        return ast.Call(self.visit(node.func), [_whole(arg) for arg in args], keywords)


def _whole(arg: ast.expr) -> ast.expr:
    """Return an argument of a call; a slot alone needs no parentheses."""
    if isinstance(arg, ast.Name) and arg.id.startswith("SLOT_"):
        return ast.Name(f"WHOLE{arg.id[4:]}", arg.ctx)
    return arg


def _template(tree: ast.expr, parameters: Sequence[str], count: int) -> str:
    """Return a value's text with slots for its parameters."""
    made = ast.unparse(_Slots(parameters, count).visit(tree)).replace("'", '"')
    made = re.sub(r"\bWHOLE_(\d+)_", r"{\1}", made)
    return re.sub(r"\bSLOT_(\d+)_", r"{\1:atom}", made)


def plain_name(name: str) -> str:
    """Return the name of a function of the rulebook in plain source: without its underscore, if that is free."""
    table = language("python")
    short = name.rstrip("_")
    return name if short in table.imports or short in table.helpers else short


@cache
def helper_names() -> frozenset[str]:
    """Return the names that functions of the rulebook have in plain source."""
    return frozenset(map(plain_name, _definitions()))


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
    """Return the source of a helper function, a name or a source, without annotations and trailing underscores."""
    text = _definitions().get(name, name)
    tree = ast.parse(text).body[0]
    if isinstance(tree, ast.FunctionDef):
        text = "\n".join(line for long in _without_annotations(text, tree).splitlines() for line in _narrow(long))
    return re.sub(r"\b([a-zA-Z]\w*?)_(?=\()", lambda m: plain_name(m[0]) if m[0] in _definitions() else m[0], text)


def _narrow(line: str) -> list[str]:
    """Return a line; a docstring of one line that is too long is divided."""
    inner = line.strip()
    if len(line) <= WIDTH or not (inner.startswith('"""') and inner.endswith('"""')):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    lines = wrap(inner[:-3], WIDTH - len(indent), break_long_words=False)
    return [*(indent + part for part in lines), indent + '"""']


def _without_annotations(text: str, tree: ast.FunctionDef) -> str:
    """Return the source of a function without type annotations, those of functions inside it too."""
    lines = text.splitlines()
    for node in sorted(_functions_in(tree), key=lambda node: -node.lineno):
        for arg in ast.walk(node.args):
            if isinstance(arg, ast.arg):
                arg.annotation = None
        head = " " * node.col_offset + f"def {node.name}({ast.unparse(node.args)}):"
        lines[node.lineno - 1 : node.body[0].lineno - 1] = [head]
    return "\n".join(lines)


def _functions_in(tree: ast.FunctionDef) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
