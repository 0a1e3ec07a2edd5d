"""Evaluates calls: their arguments, which may be functions, and solutions of equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import compress
from typing import NamedTuple

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.numeric.differences import Line, by_complex_step
from matcalc.evidence.written.calls import Argument, called
from matcalc.evidence.written.evaluator import Evaluator, Scope, Steps
from matcalc.evidence.written.plain_forms import as_integer
from matcalc.evidence.written.values import STEP_AXIS, Array, Value, largest
from matcalc.language.syntax import Ast, call, call_keywords, call_name, name, number, value_of_leaf, with_order
from matcalc.rulebook.load import Candidate, Rulebook
from matcalc.rulebook.oracle import reference
from matcalc.rulebook.rule import Rule

STEP, ROUGH = 2.0**-17, 1e-3
"""The step of a difference inside an equation, and the relative error up to which it confirms a complex step."""


def plain_call(at: Evaluator, tree: Ast, scope: Scope, operands: Sequence[Value]) -> Value:
    found = called(at.book, call_name(tree), [Argument(value) for value in operands], None, at.expands)
    meaning = _meaning(at.book, call_name(tree), len(operands))
    decides = meaning.decides if meaning is not None else ()
    return _without_value(found) if any(_holds_nan(value) for value in compress(operands, decides)) else found


def is_other(tree: Ast, book: Rulebook) -> bool:
    """Whether a call has arguments by name or that are no values, or takes some as constants."""
    word, args = call_name(tree), tree.args
    if call_keywords(tree) or (args and args[0].head == "compare"):
        return True
    if len(args) == 2 and with_order(word, _as_literal(args[1])) in book.spellings:
        return True
    meaning = _meaning(book, word, len(args))
    if meaning is None:
        return True
    return meaning.rule.kind == "implicit" or any(meaning.are_base) or any(meaning.are_functions)


def call_value(at: Evaluator, tree: Ast, scope: Scope) -> Steps:
    word, args = call_name(tree), list(tree.args)
    compares = bool(args) and args[0].head == "compare"
    if compares:
        word += str(args[0].value)
        args[:1] = args[0].args
    if len(args) == 2:
        ordered = with_order(word, _literal(at, args[1]))
        word, args = (ordered, args[:1]) if ordered in at.book.spellings else (word, args)
    meaning = _meaning(at.book, word, len(args))
    if meaning is None:
        raise NoReference(f"the function {word}")
    if meaning.rule.kind == "implicit":
        return (yield from _solution(at, tree, meaning.rule, args, scope))
    outside = scope
    arguments: list[Argument] = []
    for arg, is_base, is_function in zip(args, meaning.are_base, meaning.are_functions, strict=True):
        scope = outside.at_base() if is_base else outside
        if is_function:
            arguments.append(Argument(partial(_function_value, at, _as_function(arg), scope)))
        else:
            arguments.append(Argument((yield arg, scope)))
    axis: int | None = None
    scope = outside.at_base() if meaning.takes_constants else outside
    for key, arg in call_keywords(tree):
        if arg.head == "empty":
            continue
        value = yield arg, scope
        if key == "axis":
            axis = as_integer(value) if arg.head != "block" else None
        else:
            arguments.append(Argument(value, key))
    found = called(at.book, word, arguments, axis, at.expands)
    if compares and any(_holds_nan(argument.value) for argument in arguments[:2]):
        return _without_value(found)
    return found


def _without_value(found: Value) -> Value:
    return found._replace(array=np.full(found.array.shape, np.nan), exact=None)


def _holds_nan(value: object) -> bool:
    """Whether what decides a choice has no value: the data are outside its domain and tell nothing."""
    return isinstance(value, Value) and bool(np.any(np.isnan(value.array)))


class Meaning(NamedTuple):
    """How the arguments of a call are evaluated; `rule` is the first candidate.

    `are_base` marks arguments evaluated at the unmoved data, as `takes_constants` does for all those passed by name.
    `are_functions` marks arguments that are functions. `decides` marks those that only choose a value, as the sides of
    a comparison do: if one of them has no value, neither has the call.
    """

    rule: Rule
    are_base: tuple[bool, ...]
    are_functions: tuple[bool, ...]
    takes_constants: bool
    decides: tuple[bool, ...]


@lru_cache(maxsize=256)
def _meaning(book: Rulebook, word: str, count: int) -> Meaning | None:
    """Return how a call of a function with some arguments is evaluated; None if there is no such function."""
    candidates = book.spellings.get(word, ())
    if not candidates:
        return None
    are_base = [all(c.rule.takes_constants and not _is_moved(c.rule, k) for c in candidates) for k in range(count)]
    are_functions = [_takes_function(candidates, k) for k in range(count)]
    takes_constants = all(c.rule.takes_constants for c in candidates)
    rule, parameters = candidates[0].rule, candidates[0].signature.parameters
    decides = tuple(
        rule.derivative.get(p.name) == "0" or (rule.role == "choice" and not k) for k, p in enumerate(parameters)
    )
    return Meaning(rule, tuple(are_base), tuple(are_functions), takes_constants, decides)


def _takes_function(candidates: Sequence[Candidate], position: int) -> bool:
    """Whether some candidate takes a function at this position."""
    parameters = [c.signature.parameters for c in candidates]
    return any(position < len(own) and own[position].kind == "function" for own in parameters)


def _is_moved(rule: Rule, position: int) -> bool:
    """Whether an operation is linear in the argument at a position, which is then no constant."""
    return rule.parameters[min(position, len(rule.parameters) - 1)].name in rule.linear


def _literal(at: Evaluator, tree: Ast) -> Ast:
    """Return an argument as a literal if it holds a number; a name with data becomes a tree that is no literal."""
    return Ast("empty") if tree.head == "name" and tree.value in at.data else _as_literal(tree)


def _as_literal(tree: Ast) -> Ast:
    is_number = tree.head == "leaf" and value_of_leaf(tree).kind == "number"
    return number(value_of_leaf(tree).value) if is_number else tree


def _as_function(tree: Ast) -> Ast:
    if tree.head == "function":
        return tree
    if tree.head != "name":
        raise NoReference("an argument that is not a function")
    return Ast("function", (call(str(tree.value), name("x")),), "x")


def _function_value(at: Evaluator, tree: Ast, scope: Scope, x: Array, k: int = 0) -> Array:
    """Return the value of a function argument at each entry of an array.

    Raises: NoReference for its derivatives (k > 0).
    """
    if k:
        raise NoReference("the derivative of a function argument")
    entries = np.asarray(x)
    label = -1 - len(scope.parameters)
    inside = replace(scope, parameters={**scope.parameters, str(tree.value): Value(entries.reshape(-1), (label,))})
    value = at.value(tree.args[0], inside)
    if STEP_AXIS in value.axes:
        raise NoReference("a function argument at several steps")
    found = value.array
    return np.broadcast_to(found, (entries.size,)).reshape(entries.shape) if entries.size else entries


def _solution(at: Evaluator, tree: Ast, rule: Rule, args: Sequence[Ast], scope: Scope) -> Steps:
    """Evaluate the solution of an equation. Newton's matrix is computed column by column, as slopes."""
    last = dict(call_keywords(tree))
    equation, unknown, *rest = args
    start = yield (rest[0] if rest else next(iter(last.values()))), scope
    word = str(unknown.value)

    def left(y: Array, k: int = 0) -> Array:
        def at_point(z: Array) -> Array:
            inside = replace(scope, parameters={**scope.parameters, word: Value(z)})
            found = at.value(equation, inside).array
            if found.shape != z.shape:
                raise NoReference("an equation whose shape differs from its unknown's")
            return found

        if not k:
            return at_point(y)
        here = at_point(y)
        units = np.eye(y.size).reshape(y.size, *y.shape)

        def moved(unit: Array, t: complex) -> Array:
            return at_point(y + t * unit) - here

        columns = [_slope(partial(moved, unit), y.shape) for unit in units]
        return np.stack([column.reshape(-1) for column in columns], axis=-1)

    left.known = True  # type: ignore[attr-defined]
    left.fault = "no solution near its start"  # type: ignore[attr-defined]
    function = reference(at.book, rule)
    if function is None or start.axes:
        raise NoReference("this equation")
    arguments = {"equation": left, "unknown": word}
    return Value(np.asarray(function(*(arguments.get(p.kind, start.array) for p in rule.signature.parameters))))


def _slope(f: Line, shape: tuple[int, ...]) -> Array:
    """Return f'(0), where f(0) = 0, by a complex step. Return a difference instead if the two disagree.

    Some functions reject complex numbers or drop small imaginary parts. Newton's method converges with either slope.
    """
    exact = by_complex_step(f, shape)
    rough = np.real(f(STEP) - f(-STEP)) / (2 * STEP)
    if exact is None:
        return rough
    size = largest(exact)
    is_other = bool(np.all(np.isfinite(rough))) and largest(rough - exact) > ROUGH * size
    return rough if is_other else exact
