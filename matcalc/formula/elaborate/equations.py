"""Infers solutions of equations: `root(A*Y + Y*A' + tanh(Y) - C, Y, start=C)`.

The call binds its second argument, a name, in its first. The start is read before the equation and outside that scope;
it determines the shape of an undeclared unknown. Declared facts of an unknown are ignored here, since the equation
determines the solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from matcalc.errors import NotDifferentiable, NotSupported
from matcalc.formula.elaborate.callee import Callee
from matcalc.formula.inference.inference import Inference, Unknown, broadcast, shown
from matcalc.formula.inference.typed import Typed
from matcalc.language.declare import write_signature
from matcalc.language.named_parts import opened
from matcalc.language.recurrences import bound_by
from matcalc.language.syntax import BINDERS, Ast, call_name, children, definition

if TYPE_CHECKING:
    from matcalc.rulebook.load import Rulebook
    from matcalc.rulebook.rule import Rule

SCOPE = "scope"
"""Head of the tree that holds the start; after this tree is read, the unknown is bound."""


@dataclass(slots=True)
class Solving:
    """A solution being read. `before`: the symbols read earlier. `hidden`: the former meaning of the unknown's name."""

    rule: Rule
    name: Ast
    equation: Ast
    start: Ast
    unknown: Unknown
    before: frozenset[str] = frozenset()
    hidden: Unknown | None = None


def is_implicit(callee: Callee) -> bool:
    """Whether a call solves an equation."""
    return any(candidate.rule.kind == "implicit" for candidate in callee.candidates)


def enter(inference: Inference, ast: Ast, callee: Callee) -> Solving:
    """Return the equation of a call with its unknown and start.

    Raises: ShapeError for a wrong number of arguments, or an unknown that is not a name.
    """
    candidate = callee.candidates[0]
    signature = candidate.signature
    last = signature.parameters[-1].name
    if len(callee.args) != len(signature.parameters) or callee.keywords not in ([], [last]) or callee.axis is not None:
        hint = f"it is  {write_signature(signature)}, as in  root(Y*Y - A, Y, start=A)"
        raise inference.fault(f"'{callee.spelling}' takes an equation, its unknown and a start", ast, hint=hint)
    equation, name, start = callee.args
    if name.head != "name":
        raise inference.fault(f"{shown(name)} is not a name to solve for", name, hint="solve for a symbol that F holds")
    outside = {*inference.bound, *inference.parameters}
    if str(name.value) in outside or str(name.value) in inference.size_names:
        raise inference.fault(f"{name.value} is not a symbol to solve for", name)
    if inference.parameters:
        raise NotSupported(f"{callee.spelling} in a function is not supported", text=inference.text, at=ast.caret)
    for part in (equation, start):
        if inference.free.get(part):
            index = min(inference.free[part])
            message = f"{callee.spelling} over the outer index {index} is not supported"
            raise NotSupported(message, text=inference.text, at=part.caret, hint="solve for each one by itself")
    unknown = Unknown(str(name.value), ())
    equation = opened(equation, [unknown.name])
    return Solving(candidate.rule, name, equation, start, unknown, frozenset(inference.symbols))


def scope(solving: Solving) -> Ast:
    """Return the tree that reads the start, then binds the unknown."""
    return Ast(SCOPE, (solving.start,), solving, solving.start.span, solving.start.at)


def begin(inference: Inference, solving: Solving, start: Typed) -> Typed:
    """Bind the unknown and return the start, in the unknown's shape.

    Raises: ShapeError for a start of another shape, NotDifferentiable for an unknown declared constant.
    """
    name = solving.name
    known = inference.symbols.get(str(name.value))
    shape = start.shape
    if known is not None and known.declared:
        shape = known.shape
        if "constant" in known.facts:
            message = f"{known.name} is declared constant and cannot be solved for"
            raise NotDifferentiable(message, text=inference.text, at=name.caret)
        if not start.rank and shape:
            start = broadcast(inference, start, start.axes, tuple(inference.label(size) for size in shape))
        if not inference.same_shape(shape, start.shape):
            message = f"the start {inference.describe(start)} does not have the shape of {known.name}"
            hint = f"{known.name}: {inference.kind_text(known)}"
            raise inference.fault(message, solving.start, hint=hint, about=(solving.start,))
    solving.unknown.shape = shape
    solving.hidden = inference.unknowns.get(solving.unknown.name)
    inference.unknowns[solving.unknown.name] = solving.unknown
    return start


def meet(inference: Inference, name: str, ast: Ast) -> Typed:
    """Return the unknown at one of its occurrences in the equation."""
    unknown = inference.unknowns[name]
    unknown.met = True
    return Typed("unknown", ast, unknown.shape, data=unknown)


def infer_solution(inference: Inference, ast: Ast, solving: Solving, start: Typed, equation: Typed) -> Typed:
    """Return the solution and restore the former meaning of the unknown's name.

    Raises: ShapeError if the unknown does not occur, or if the equation has another shape.
    """
    unknown = solving.unknown
    if solving.hidden is None:
        del inference.unknowns[unknown.name]
    else:
        inference.unknowns[unknown.name] = solving.hidden
    if not unknown.met:
        message = f"{unknown.name} does not occur in {shown(solving.equation)}"
        raise inference.fault(message, solving.name, hint="the second argument is what the equation is solved for")
    if start.axes or equation.axes:
        raise NotSupported(f"{call_name(ast)} over outer indices is not supported", text=inference.text, at=ast.caret)
    if not inference.same_shape(equation.shape, unknown.shape):
        expected = inference.describe(Typed("unknown", solving.name, unknown.shape))
        message = f"one equation is needed for each entry of {expected}, and there is {inference.describe(equation)}"
        hint = "the shape of an undeclared unknown is that of the start"
        raise inference.fault(message, solving.equation, hint=hint, about=(solving.equation, solving.start))
    for symbol in names_of(ast, inference.rulebook)[0]:  # in written order, although the start was read first
        if symbol in inference.symbols and symbol not in solving.before:
            inference.symbols[symbol] = inference.symbols.pop(symbol)
    return Typed("solution", ast, unknown.shape, (start, equation), solving)


def names_of(root: Ast, book: Rulebook) -> tuple[list[str], set[str]]:
    """Return the names in a formula that refer to its scope, left to right, and the names that it solves for."""
    free: list[str] = []
    solved: set[str] = set()
    met: set[Ast] = set()
    stack: list[tuple[Ast, frozenset[str]]] = [(root, frozenset())]
    while stack:
        ast, hidden = stack.pop()
        if ast.head == "shared" and definition(ast) not in met:
            met.add(definition(ast))
            stack.append((definition(ast), frozenset()))
        if ast.head == "name" and ast.value not in hidden:
            free.append(str(ast.value))
        if ast.head in BINDERS:
            hidden |= frozenset(cast("tuple[str, ...]", ast.value))
        elif ast.head == "function":
            hidden |= {str(ast.value)}
        hidden |= bound_by(ast)
        inner = [(child, hidden) for child in children(ast)]
        if ast.head == "call" and _binds(ast, book):
            name = str(inner[1][0].value)
            solved.add(name)
            inner = [(opened(inner[0][0], [name]), hidden | {name}), *inner[2:]]
        stack.extend(reversed(inner))
    return free, solved


def _binds(ast: Ast, book: Rulebook) -> bool:
    candidates = book.spellings.get(call_name(ast), ())
    return any(c.rule.kind == "implicit" for c in candidates) and len(children(ast)) > 1
