"""No operation of the rulebook is named in the engine, which looks up operations by fields of rules.

A name counts where it is a string of its own, or is called in one: `"inv"`, `f"inv({x})"`. Docstrings, messages and
hints are prose and do not count. Words with another meaning are listed, each with the reason and its file.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import matcalc
from matcalc.rulebook import roles
from matcalc.rulebook.load import shipped_rulebook

PACKAGE = Path(matcalc.__file__).parent
BOOK = shipped_rulebook()
NAMES = {*BOOK.rules, *BOOK.spellings}
CALLED = re.compile(rf"(?<![\w.])({'|'.join(sorted(NAMES, key=len, reverse=True))})\(")
ANYWHERE = {
    "sum": "the kind of a node, and the head of a tree, that adds: the language's `+`",
    "skew": "a fact",
    "square": "what a fact can be of; a field of rules",
    "where": "a field of rules; the word that names parts of a formula",
    "radius": "a field of rules",
    "flip": "the kind of a selector, [i + j == n - 1]",
    "conv": "the kind of a selector, [i == j + k]",
}
"""Words of the engine itself, allowed as whole strings except as names of calls."""
CALLING_BY = ("call", "candidates", "operate", "apply")
"""Functions whose first argument names an operation."""
PLACES = {
    ("min", "max"): (
        "functions of sizes, which are part of the language",
        "tensor/sizes/size.py tensor/sizes/size_tree.py tensor/nodes/signature.py language/declare.py"
        " compiler/cost_formulas.py"
        " compiler/verify/expressions.py compiler/verify/integer_sets.py compiler/entry/call_table.py"
        " compiler/code/sizes.py expressions/sympy_bridge/values.py",
    ),
    ("abs", "max", "min"): ("functions of Python", "compiler/code/check.py"),
    ("min",): ("a function of Python", "compiler/emit/code_of.py compiler/emit/loops.py"),
    ("max",): ("a function of Python, a command of LaTeX", "compiler/emit/row_blocks.py"
               " language/latex/definitions/labels.py"),
    ("vec",): ("a layout of Jacobians", "calculus/derive/conventions.py api/check.py commands/cli.py"
               " evidence/explain/derivation.py"),
    ("solve", "inv", "kron"): ("ways to rewrite a formula, for the user", "expressions/forms.py commands/cli.py"),
    ("solve",): ("a verb in a message; what a saved file calls its minimiser",
                 "formula/elaborate/arithmetic.py compiler/files/save_test.py"),
    ("sqrt",): ("a number of checkpoints, for the user", "pipeline/checkpoints.py"),
    ("kron",): ("a kind of product that facts pass through", "tensor/facts/product_facts.py"),
    ("reshape",): (
        "NumPy's own name",
        "language/numpy_text/numpy_dialect.py language/numpy_names.py compiler/code/read_python.py"),
    ("ones",): ("the factor that states a limit of an index", "language/index_limits.py"),
    ("outer",): ("a method of NumPy's elementwise functions", "expressions/numpy_bridge/dispatch.py"),
    ("outer", "matmul"): ("NumPy's own names", "expressions/numpy_bridge/operators.py"),
    ("diag", "triu", "tril", "tile", "roll", "reshape"): ("NumPy's own names", "expressions/numpy_bridge/dispatch.py"),
    ("mean",): ("a kind of edge", "rulebook/fields.py"),
    ("root",): ("SciPy's own name", "solvers/__init__.py"),
    ("norm",): ("NumPy's own name, and the word of calls that entries list",
                "language/numpy_text/numpy_dialect.py language/signs.py"),
    ("lstsq",): ("NumPy's own name", "language/numpy_names.py"),
    ("cos", "sin", "tan", "sinh", "cosh", "tanh", "gamma"): (
        "SymPy's own classes, by which it rewrites others", "expressions/sympy_bridge/by_rule.py"),
    ("gamma", "iota", "psi"): (
        "Greek letters", "formula/inference/kinds_by_spelling.py language/latex/layout/latex_names.py"),
    ("arccos", "arcsin", "arctan", "cos", "cosh", "det", "exp", "log", "max", "min", "prod", "sin", "sinh", "tan",
     "tanh", "vec"): ("commands of LaTeX", "language/latex/layout/latex_names.py"),
    ("dot",): ("an accent, which is a derivative in time; a format of graphs",
               "expressions/sympy_bridge/sympy_objects.py language/latex/layout/latex_names.py commands/cli.py"),
    ("ln",): ("a command of LaTeX", "language/latex/layout/latex_names.py"),
    ("max", "min"): ("commands of LaTeX", "language/latex/definitions/statements.py language/latex/latex_bounds.py"),
    ("prod",): ("a command of LaTeX", "language/latex/definitions/numbered.py"),
    ("ln", "log"): ("commands of LaTeX", "language/latex/layout/latex_rows.py"),
    ("abs", "norm"): ("macros of LaTeX", "language/latex/signs/macros.py"),
    ("dot", "inner", "matmul"): ("NumPy's own names", "language/numpy_names.py"),
    ("diag", "matmul", "pow"): (
        "NumPy's own names, and names of Python's operators", "expressions/traced_array.py"),
    ("erfc",): ("the functions that SciPy's own are made of", "expressions/numpy_bridge/elementwise.py"),
    ("floor",): (
        "SymPy's own names, and a fence of LaTeX", "expressions/sympy_bridge/scalars.py"
        " expressions/sympy_bridge/values.py language/latex/latex_fences.py"),
    ("floor", "ceil"): ("fences of LaTeX", "language/latex/latex_meaning.py"),
    ("floordiv",): ("a term of plain source", "plain_source/terms/ranges.py"),
    ("floordiv", "mod"): ("terms of plain source", "plain_source/arithmetic.py plain_source/write.py"),
    ("dd",): ("the prefix of a second derivative", "rulebook/check_names.py"),
    ("eye", "inner", "matmul", "ones", "outer", "trace", "zeros"): (
         "constructors that the module exports", "tensor/constructors.py"),
}  # fmt: skip
"""Words with another meaning in some files: why, and where."""
CALLS = {
    "examples that the user is shown": "commands/cli.py commands/demo.py commands/rule_pages.py language/faults.py",
    "advice on what to write": "language/numpy_text/numpy_dialect.py",
    "Python text": "compiler/plan/products/orders_at_run_time.py compiler/files/array_test.py"
    " compiler/files/save_test.py compiler/files/save_solve.py",
    "a word that ends, then a parenthesis": "language/named_parts.py",
}
"""Files with strings that call something: why."""
OTHER_LANGUAGES = ("evidence/precise/", "expressions/user_code/", "expressions/loops/")
"""Rooms whose names are those of NumPy, SciPy and Python: high-precision twins, and their functions on symbols."""
LISTED = {(word, place) for words, (_, places) in PLACES.items() for place in places.split() for word in words}
CALLING = {place for places in CALLS.values() for place in places.split()}
PROSE = ("hint", "message", "help")
"""Keywords and variables whose strings are messages."""


class Found(NamedTuple):
    """A string of a module that is no docstring: its line, whether it is part of a message, whether it is called."""

    line: int
    word: str
    in_prose: bool
    called: bool


@cache
def strings(place: str) -> tuple[Found, ...]:
    """Return the strings of a module, from one walk of its tree."""
    found: list[Found] = []
    stack: list[tuple[ast.AST, bool, bool]] = [(ast.parse((PACKAGE / place).read_text(encoding="utf-8")), False, False)]
    while stack:
        node, in_prose, called = stack.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                found.append(Found(node.lineno, node.value, in_prose, called))
            continue
        if isinstance(node, ast.Name) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        in_prose = in_prose or _is_prose(node)
        first = node.args[0] if isinstance(node, ast.Call) and node.args and _name(node.func) in CALLING_BY else None
        for field in node._fields:
            value = getattr(node, field, None)
            for child in value if type(value) is list else (value,):
                if isinstance(child, ast.AST) and child._fields:
                    stack.append((child, in_prose, child is first))
    return tuple(found)


def _is_prose(node: ast.AST) -> bool:
    if isinstance(node, ast.Raise):
        return True
    if isinstance(node, ast.keyword):
        return node.arg in PROSE
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return any(isinstance(target, ast.Name) and target.id in PROSE for target in targets)


def leaks(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a module that name an operation, with the name."""
    place = path.relative_to(PACKAGE).as_posix()
    if place.startswith(OTHER_LANGUAGES):
        return
    for line, word, in_prose, called in strings(place):
        if word in NAMES:
            if called or (word not in ANYWHERE and (word, place) not in LISTED):
                yield line, word
        elif not in_prose and place not in CALLING:
            yield from ((line, f"{found}(...)") for found in CALLED.findall(word))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def words_at(place: str) -> set[str]:
    return {found.word for found in strings(place)}


@pytest.mark.whole
def test_what_is_listed_is_needed():
    assert [(word, place) for word, place in sorted(LISTED) if word not in words_at(place)] == []
    assert [place for place in sorted(CALLING) if not any(map(CALLED.search, words_at(place)))] == []
    everywhere = set().union(*(words_at(path.relative_to(PACKAGE).as_posix()) for path in MODULES))
    assert set(ANYWHERE) <= everywhere & NAMES


@pytest.mark.whole
def test_each_part_is_played_once_and_asked_for():
    """Each role is used by the engine and played by one entry; and no role is an operation's name."""
    asked = set().union(*(words_at(p.relative_to(PACKAGE).as_posix()) for p in MODULES if p.name != "roles.py"))
    assert [role for role in roles.ROLES if ("role", role) not in BOOK.claims] == []
    assert [role for role in roles.ROLES if role not in asked] == []
    assert not set(roles.ROLES) & NAMES


MODULES = sorted(PACKAGE.rglob("*.py"))


def test_no_operation_is_named():
    assert {str(path): found for path in MODULES if (found := list(leaks(path)))} == {}
