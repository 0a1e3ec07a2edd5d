"""Lowers operations without an entry in `codegen/`, or without one for NumPy: the rule's `value` becomes a function.

A rule's value is Python over np, sl and sp. So it is a lowering for NumPy, and for Numba if Numba compiles it. The
function's text precedes the program's, with the prelude functions that it calls. A function of the user whose text
needs other names is imported from the module `user_functions`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from matcalc.compiler.kernels import user_functions
from matcalc.compiler.lowering_entries import Kernel, Scalar, read_kernel
from matcalc.compiler.targets import ON_NUMPY
from matcalc.compiler.terms import letters_of
from matcalc.language.identifiers import free
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.oracle import IMPORTS, statements
from matcalc.rulebook.rule import Rule
from matcalc.tensor.facts.ranges import digits
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.nodes.signature import paired, tensors_of
from matcalc.tensor.sizes.size import Size

RESULT = "result_"
PLAIN = {"number": "{}", "integer": "int({})"}  # forms in which values take parameters that are no tensors
Entry = TypeVar("Entry", Kernel, Scalar)
COST = "10000"  # flops; no other lowering competes
DECORATOR = '@njit(error_model="numpy")'
IMPORTED = f"from {user_functions.__name__} import {{name}}"


def own_kernel(node: Node) -> Kernel | None:
    """Return a kernel that computes one output of an operation by its rule's value; None if that is impossible."""
    ranks = tuple(len(a.shape) - len(b) for a, b in zip(node.args, node.batches, strict=True))
    params = tuple(None if isinstance(p, Size) else p for p in node.params)
    core = len(node.shape) - node.batch_rank
    return _kernel(node.rule, node.output, ranks, params, core, default_rulebook())


@lru_cache(maxsize=1024)
def _kernel(
    rule: Rule, output: str, ranks: tuple[int, ...], params: tuple[Any, ...], core: int, book: Rulebook
) -> Kernel | None:
    if rule.value is None or any(isinstance(p, Node) for p in params):
        return None
    names = _operand_names(rule, len(ranks))
    args = ", ".join(f"{name}{letters_of(f'x{k}', r)}" for k, (name, r) in enumerate(zip(names, ranks, strict=True)))
    result = free(RESULT, {p.name for p in rule.signature.parameters})
    letters = letters_of("y", core)
    entry = {"pattern": f"{result}{letters} = {rule.name}({args}){letters if core else ''}", "flops": COST}
    for target in targets(rule, book):
        entry[target] = _template(rule, output, names, params, f"{{{result}}}{'[...]' if core else ''}", target, book)
    sources = {target: source(rule, target, book) for target in targets(rule, book)}
    return replace(read_kernel(f"value of {name_of(rule, output)}", entry, 0), sources=sources)


def name_of(rule: Rule, output: str) -> str:
    """Return the name of a result; kernels for different results are different runs."""
    return f"{rule.name}_{output}" if output else rule.name


def own_scalar(node: Node) -> Scalar | None:
    """Return an elementwise function that computes its rule's value; None if that is impossible."""
    if node.rule.value is None or any(isinstance(p, Node) for p in node.params):
        return None
    return _scalar(node.rule, len(node.args), default_rulebook())


@lru_cache(maxsize=1024)
def _scalar(rule: Rule, count: int, book: Rulebook) -> Scalar:
    templates = {}
    for target in targets(rule, book):
        plain = ("{p}", *(f"{{p{k}}}" for k in range(1, len(rule.parameters))))
        pairs = paired(rule.signature, (f"{{{k}}}" for k in range(count)), plain)
        arguments = [PLAIN[p.kind].format(text) if p.kind in PLAIN else text for p, text in pairs]
        templates[target] = f"{function_name(rule, target)}({', '.join(arguments)})"
    return Scalar(rule.name, templates, 20.0, {target: source(rule, target, book) for target in templates})


def with_value(entry: Entry, own: Callable[[Node], Entry | None], node: Node) -> Entry:
    """Return an entry; if it has no NumPy template, with that of the rule's value, which `own` returns."""
    value = own(node) if "numpy" not in entry.templates else None
    return entry if value is None else _completed(entry, value)


@lru_cache(maxsize=1024)
def _completed(entry: Entry, own: Entry) -> Entry:
    templates = {**entry.templates, "numpy": own.templates["numpy"]}
    return replace(entry, templates=templates, sources={"numpy": own.sources["numpy"]})


def targets(rule: Rule, book: Rulebook) -> tuple[str, ...]:
    """Return the targets that can run a value: Numba has no SciPy, lambdas or repeated parameters."""
    assert rule.value is not None
    if python_function(rule, book) is not None:
        return ON_NUMPY
    text = source(rule, "numba", book)
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    is_plain = not names & {"sl", "sp", "itertools"} and "lambda" not in text and "*" not in _parameters(rule)
    return ON_NUMPY if is_plain else ("numpy",)


def _parameters(rule: Rule) -> str:
    return ", ".join(f"*{p.name}" if p.repeated else p.name for p in rule.signature.parameters)


def function_name(rule: Rule, target: str) -> str:
    """Return the name of the value's function in generated code, one for each target: a saved file has both."""
    return f"{rule.name}_value" if target == "numba" else f"{rule.name}_value_{target}"


def _operand_names(rule: Rule, count: int) -> list[str]:
    tensors = tensors_of(rule.signature)
    single = [p.name for p in tensors if not p.repeated]
    slot = next((p.name for p in tensors if p.repeated), "")
    return [*single, *(f"{slot}_{k}" for k in range(count - len(single)))]


def _template(
    rule: Rule, output: str, names: list[str], params: tuple[Any, ...], target_field: str, target: str, book: Rulebook
) -> str:
    copied = ".copy()" if python_function(rule, book) is not None and target == "numba" else ""
    arguments = []
    for p, value in paired(rule.signature, names, params):
        if p.kind in PLAIN:
            arguments.append(digits(value) if isinstance(value, Fraction) else f"{{{p.name}}}")
        else:
            is_array = p.kind in ("vector", "matrix", "tensor") and not p.repeated
            arguments.append(f"{{{value}}}{copied if is_array else ''}")
    text = f"{function_name(rule, target)}({', '.join(arguments)})"
    if output:
        text += f"[{rule.outputs.index(output)}]"
    return text if target == "numpy" else f"{target_field} = {text}"


# ---- the text of a value


def source(rule: Rule, target: str, book: Rulebook) -> str:
    """Return the text that defines the value as a function, with all functions that it calls."""
    name, function = function_name(rule, target), python_function(rule, book)
    mark = f"{DECORATOR}\n" if target == "numba" else ""
    if function is not None:
        text = text_of(function)
        if text is None:
            key = next(k for k, f in book.functions.items() if f is function)
            return f"{IMPORTED.format(name=key if target == 'numpy' else key + '_njit')} as {name}\n"
        return f"{mark}{_renamed(text, name)}\n"
    assert rule.value is not None
    head = f"{mark}def {name}({_parameters(rule)}):"
    parts = [*_called(rule.value, book, mark), f"{head}\n    return {rule.value.strip()}"]
    return "\n\n\n".join(parts) + "\n"


def python_function(rule: Rule, book: Rulebook) -> Callable[..., Any] | None:
    """Return the Python function that is a rule's value, None if the value is not a call of one."""
    head, _, rest = (rule.value or "").partition("(")
    return book.functions.get(head) if rest.endswith(")") else None


def text_of(function: Callable[..., Any]) -> str | None:
    """Return the text of a function that needs nothing but np, sl, sp and math; None for any other."""
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain) or plain.__closure__ or plain.__defaults__ or plain.__kwdefaults__:
        return None
    import math

    import numpy as np
    import scipy.linalg as sl
    import scipy.special as sp

    known = {"np": np, "sl": sl, "sp": sp, "math": math}
    try:
        text = textwrap.dedent(inspect.getsource(plain))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return None
    if not isinstance(tree, ast.FunctionDef):
        return None
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set(plain.__globals__)
    if any(known.get(name) is not plain.__globals__[name] for name in names - _decorators(tree)):
        return None
    return "\n".join(text.splitlines()[tree.lineno - 1 :])


def _decorators(tree: ast.FunctionDef) -> set[str]:
    return {n.id for d in tree.decorator_list for n in ast.walk(d) if isinstance(n, ast.Name)}


def _renamed(text: str, name: str) -> str:
    head, bracket, rest = text.partition("(")
    return f"def {name}{bracket}{rest}"


def _called(value: str, book: Rulebook, mark: str) -> list[str]:
    """Return the statements of the book's preludes that a value needs, in their order."""
    found = _definitions(tuple(book.prelude.items()))
    needed: dict[str, None] = {}
    pending = [n.id for n in ast.walk(ast.parse(value.strip(), mode="eval")) if isinstance(n, ast.Name)]
    while pending:
        name = pending.pop()
        if name in found and name not in needed:
            needed[name] = None
            pending.extend(sorted(found[name].uses))
    ordered = sorted((found[name] for name in needed if found[name].text != IMPORTS.get(name)), key=lambda d: d.number)
    return list(dict.fromkeys(mark + d.text if d.is_function else d.text for d in ordered))


class Definition(NamedTuple):
    """A statement of a prelude that defines a name: its number, its text without types, and the names that it uses."""

    number: int
    text: str
    uses: frozenset[str]
    is_function: bool


@lru_cache(maxsize=8)
def _definitions(prelude: tuple[tuple[str, str], ...]) -> Mapping[str, Definition]:
    """Return the definitions of all preludes by name."""
    found: dict[str, Definition] = {}
    for address, text in prelude:
        lines = [line.encode() for line in text.split("\n")]
        for statement in statements(text, address).body:
            segment = _without_types(statement, lines)
            uses = frozenset(n.id for n in ast.walk(statement) if isinstance(n, ast.Name))
            for name in _bound(statement):
                found[name] = Definition(len(found), segment, uses, isinstance(statement, ast.FunctionDef))
    return found


def _without_types(statement: ast.stmt, text: Sequence[bytes]) -> str:
    """Return a statement of a text without the types of arguments and results; they are removed from its tree too."""
    first = statement.lineno - 1
    lines = list(text[first : statement.end_lineno])
    cuts = []
    for node in ast.walk(statement):
        if isinstance(node, ast.arg) and node.annotation is not None:
            cuts.append((node.annotation, node.col_offset + len(node.arg.encode())))
            node.annotation = None
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            line = lines[node.returns.lineno - 1 - first]
            cuts.append((node.returns, line.rindex(b")", 0, node.returns.col_offset) + 1))
            node.returns = None
    for kind, start in sorted(cuts, key=lambda cut: -cut[1]):
        line = lines[kind.lineno - 1 - first]
        rest = line[kind.end_col_offset :]
        lines[kind.lineno - 1 - first] = line[:start] + (b"=" + rest[3:] if rest.startswith(b" = ") else rest)
    return b"\n".join(lines).decode()


def _bound(statement: ast.stmt) -> Iterable[str]:
    """Return the names that a top-level statement of a prelude binds."""
    if isinstance(statement, ast.FunctionDef):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name for alias in statement.names]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return []
