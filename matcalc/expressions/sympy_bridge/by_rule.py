"""Compiles the fields `sympy` and `from_sympy` of rules to functions, for writing and for reading.

A rule's `sympy` is the class with the same meaning, or a formula in its parameters, SymPy's classes and the functions
of SCOPE for matrices. `from_sympy` holds the formulas of further classes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import cast

import sympy
from sympy import Basic

from matcalc.errors import NotSupported, RuleError, ShapeError
from matcalc.expressions.sympy_bridge import calls
from matcalc.expressions.sympy_bridge.values import Make, Reader, Value, common, is_matrix
from matcalc.language import syntax
from matcalc.language.read import read
from matcalc.language.syntax import Ast
from matcalc.rulebook.fields import read_pattern
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.rulebook.rule import Rule
from matcalc.rulebook.sympy_text import names_in, read_sympy

# SymPy's class -> the function by which SymPy rewrites it.
REWRITTEN = {
    "sec": "cos", "csc": "sin", "cot": "tan", "sech": "cosh", "csch": "sinh", "coth": "tanh",
    "factorial": "gamma", "binomial": "gamma", "MatrixPermute": "MatMul",
}  # fmt: skip

OF_MATRICES = {"exponential": "matrix_exponential", "logarithm": "matrix_logarithm"}
"""Functions that SymPy applies to a matrix as a whole: our role for numbers -> that for matrices."""


def writer(rule: Rule) -> Callable[..., Basic] | None:
    """Return a rule as a function of SymPy objects, in the order of its parameters; None without a SymPy form."""
    return None if rule.sympy is None else _compiled(rule.sympy, tuple(p.name for p in rule.parameters))


def scalar_writer(name: str, count: int) -> tuple[Rule, Callable[..., Basic]] | None:
    """Return the elementwise rule of a call with `count` arguments, and its function of SymPy's scalars."""
    for candidate in default_rulebook().spellings.get(name, ()):
        rule = candidate.rule
        fits = len(rule.parameters) == count or (rule.associative and count > len(rule.parameters))
        made = writer(rule) if rule.operands and fits else None
        if made is not None:
            return rule, made
    return None


@lru_cache(maxsize=1024)
def _compiled(text: str, parameters: tuple[str, ...]) -> Callable[..., Basic]:
    if text.isidentifier():
        return cast("Callable[..., Basic]", _resolved(text))
    tree = read_sympy(text)
    scope = {name: _resolved(name) for name in names_in(tree) if name not in parameters}
    arguments = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
    function = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, tree.body)))
    return cast("Callable[..., Basic]", eval(compile(function, "<sympy>", "eval"), {"__builtins__": {}, **scope}))


def _resolved(name: str) -> object:
    """Return the object of a name in a field `sympy`.

    Raises: RuleError unless it is a class, a number or an elementary function.
    """
    found = SCOPE.get(name, getattr(sympy, name, None))
    is_class = isinstance(found, type) and issubclass(found, sympy.Basic)
    is_function = str(getattr(found, "__module__", "")).startswith("sympy.functions.")
    if not (name in SCOPE or is_class or is_function or isinstance(found, sympy.Basic)):
        raise RuleError(f"'{name}' in a field `sympy` is no class of SymPy")
    return found


def _derivative(function: Callable[..., Basic], orders: Sequence[Basic], *args: Basic) -> Basic:
    """Return the derivative of these orders in each argument, by SymPy.

    Raises: NotSupported if SymPy lacks this derivative of its own function.
    """
    names = [sympy.Dummy(f"t{k}", positive=True) for k in range(len(args))]
    found = function(*names)
    for name, order in reversed(list(zip(names, orders, strict=True))):
        found = sympy.diff(found, (name, int(order))) if int(order) else found
    if found.has(sympy.Derivative):
        shown_orders = ", ".join(map(str, orders))
        raise NotSupported(
            f"a derivative of orders ({shown_orders}) has no SymPy form: SymPy has none of its own function"
        )
    return found.subs(dict(zip(names, args, strict=True)))


SCOPE: Mapping[str, Callable[..., Basic]] = {
    "derivative": _derivative,
    "multiply": calls.multiply,
    "total": calls.total,
    "count": calls.count,
    "length": calls.length,
    "entries": calls.entries,
}
"""Functions for fields `sympy`, in addition to SymPy's classes."""


def reader(kind: str) -> Make | None:
    """Return the function that reads a class of SymPy, by the rule that has it; None if no rule has."""
    rule = default_rulebook().claims.get(("sympy", kind))
    return None if rule is None else _reader(rule, kind)


@lru_cache(maxsize=1024)
def _reader(rule: Rule, kind: str) -> Make:
    if rule.sympy != kind:
        patterns = read_pattern(rule.from_sympy[kind], [p.name for p in rule.parameters])
        return _by_pattern(patterns, bool(rule.operands))
    if rule.operands:
        return _logarithm(rule) if rule.role == "logarithm" else _function(rule)
    return _of_matrix(rule)


def of_a_matrix(name: str, node: Basic) -> str:
    return f"{name} of a matrix of SymPy, {node}: write .applyfunc({name}) for its entries"


def _function(rule: Rule) -> Make:
    def make(reader: Reader, node: Basic, args: list[Value]) -> Value:
        if not any(map(is_matrix, node.args, args)):
            return Value(syntax.call(rule.spelling, *(a.ast for a in args)), common(args))
        whole = OF_MATRICES.get(rule.role or "")
        if whole is None:
            raise NotSupported(of_a_matrix(type(node).__name__, node))
        return Value(syntax.call(spelled(whole), args[0].ast), args[0].shape)

    return make


def _logarithm(rule: Rule) -> Make:
    """Return the function that reads a logarithm; that of the absolute value of a determinant is one operation."""

    def make(reader: Reader, node: Basic, args: list[Value]) -> Value:
        (ast,) = (a.ast for a in args)
        for role in ("magnitude", "determinant"):
            if ast.head != "call" or syntax.call_name(ast) != spelled(role):
                return _function(rule)(reader, node, args)
            (ast,) = ast.args
        return Value(syntax.call(spelled("log_determinant"), ast))

    return make


def _of_matrix(rule: Rule) -> Make:
    """Return the function that reads a scalar of a square matrix; for a 1 x 1 matrix it is the matrix itself."""

    def make(reader: Reader, node: Basic, args: list[Value]) -> Value:
        return args[0] if args[0].shape is None else Value(syntax.call(rule.spelling, args[0].ast))

    return make


def _by_pattern(patterns: Sequence[tuple[tuple[str, ...], str]], is_entrywise: bool) -> Make:
    """Return the function that reads a class by its formula, of entries or of a square matrix."""

    def make(reader: Reader, node: Basic, args: list[Value]) -> Value:
        if is_entrywise and any(map(is_matrix, node.args, args)):
            raise NotSupported(of_a_matrix(type(node).__name__, node))
        if not is_entrywise and (args[0].shape is None or args[0].shape[0] is not args[0].shape[1]):
            raise ShapeError(f"{type(node).__name__} of SymPy takes a square matrix here")
        for left, formula in patterns:
            if len(left) == len(args) and all(_is(word, arg) for word, arg in zip(left, node.args, strict=True)):
                values = {word: value.ast for word, value in zip(left, args, strict=True)}
                return Value(_substituted(read(formula), values), common(args) if is_entrywise else args[0].shape)
        known = " or ".join(f"({', '.join(left)})" for left, _ in patterns)
        raise NotSupported(f"{node} of SymPy: {type(node).__name__} is read with the arguments {known}")

    return make


def _is(word: str, arg: Basic) -> bool:
    """Whether an argument matches a pattern's word: any argument for a name, an equal one for a number."""
    return word.isidentifier() or bool(arg == sympy.Rational(word))


def _substituted(formula: Ast, values: Mapping[str, Ast]) -> Ast:
    """Return a formula with its names replaced by their values."""
    return syntax.rebuild(formula, lambda node: values.get(str(node.value), node) if node.head == "name" else node)
