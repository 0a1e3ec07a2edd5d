"""Infers functions as arguments: a name of the rulebook, `x -> log(x)^2`, or a function parameter of a rule.

A function is stored as its body over one scalar symbol, so that functions equal up to renaming are one node. The body
may hold only that symbol, numbers and elementwise functions; derivatives in other symbols would be lost.
"""

from __future__ import annotations

from matcalc.errors import NotSupported
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import Typed
from matcalc.language.syntax import Ast, call, name

PARAMETER = "x"
"""The parameter's name when `exp` is used as a function: it becomes `x -> exp(x)`."""


def as_function(inference: Inference, ast: Ast) -> Ast:
    """Return the tree of an argument that is a function; a name `exp` becomes `x -> exp(x)`.

    Raises: ShapeError for an argument that is no function.
    """
    if ast.head == "function" or (ast.head == "name" and str(ast.value) in inference.functions):
        return ast
    if ast.head != "name":
        hint = "write a name such as exp, or x -> x^2"
        raise inference.fault(f"{shown(ast)} is no function", ast, hint=hint)
    body = call(str(ast.value), name(PARAMETER))
    return Ast("function", (Ast(body.head, body.args, body.value, ast.span),), PARAMETER, ast.span)


def infer_function(inference: Inference, ast: Ast, body: Typed) -> Typed:
    """Return the function whose body is the scalar `body`."""
    if body.rank or body.axes:
        raise inference.fault(f"the body of a function is a number, not {inference.describe(body)}", ast)
    return Typed("function", ast, args=(body,))


def check_name(inference: Inference, ast: Ast) -> None:
    """Raise for a symbol in the body of a function.

    Raises: NotSupported.
    """
    if not inference.parameters:
        return
    parameter = next(iter(inference.parameters))
    hint = f"a function holds {parameter}, numbers and elementwise functions alone"
    raise NotSupported(
        f"{ast.value} cannot occur in a function of {parameter}", text=inference.text, at=ast.caret, hint=hint
    )


def infer_apply(inference: Inference, ast: Ast, function: object, values: list[Typed]) -> Typed:
    """Return a function parameter of a rule applied to each entry of a value."""
    if len(values) != 1 or values[0].form == "function":
        raise inference.fault(f"{shown(ast)}: a function takes one argument", ast)
    value = values[0]
    return Typed("apply", ast, value.shape, (value,), function, value.axes, value.row)
