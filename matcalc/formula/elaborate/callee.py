"""Finds the candidates of a call before its arguments are inferred.

The rulebook lists the candidates of a spelling. They determine which arguments are functions (and so no values), and
which names can only be sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matcalc.errors import MatcalcError
from matcalc.formula.inference.inference import Inference
from matcalc.formula.inference.typed import Typed
from matcalc.language.syntax import Ast, call_keywords, call_name, names_in, number, renamed, value_of_leaf, with_order

if TYPE_CHECKING:
    from matcalc.rulebook.load import Candidate


@dataclass(slots=True)
class Callee:
    """A call being read: its spelling, candidates, arguments, and which of these are functions.

    is_over_all: the notation of the text reads the call, without `axis`, as one over all entries.
    """

    spelling: str
    candidates: Sequence[Candidate]
    args: list[Ast]
    keywords: list[str]
    functions: list[bool]
    axis: Ast | None
    is_over_all: bool = False


def enter_call(inference: Inference, ast: Ast) -> Callee:
    """Return the candidates and arguments of a call.

    Raises: UnknownName with the nearest names.
    """
    spelling = call_name(ast)
    args = [tree for arg in ast.args for tree in _repeated(inference, arg)]
    if args and args[0].head == "compare":
        spelling += str(args[0].value)
        args[:1] = args[0].args
    if len(args) == 2:
        ordered = with_order(spelling, _literal(inference, args[1]))
        spelling, args = (ordered, args[:1]) if ordered in inference.rulebook.spellings else (spelling, args)
    candidates = _candidates(inference, ast, spelling)
    keywords = [key for key, _ in call_keywords(ast) if key != "axis"]
    positional = len(args)
    args += [value for key, value in call_keywords(ast) if key != "axis"]
    axis = next((value for key, value in call_keywords(ast) if key == "axis"), None)
    is_over_all = axis is not None and axis.head == "empty"
    axis = None if is_over_all else axis
    functions = [k < positional and _has_kind(candidates, k, "function") for k in range(len(args))]
    return Callee(spelling, candidates, args, keywords, functions, axis, is_over_all)


def _literal(inference: Inference, ast: Ast) -> Ast:
    """Return an argument; a node that is a number becomes the number, a symbol becomes a tree that is no literal."""
    if ast.head == "leaf" and value_of_leaf(ast).kind == "number":
        return number(value_of_leaf(ast).value)
    return Ast("empty") if ast.head == "name" and ast.value in inference.symbols else ast


def integer_arguments(inference: Inference, ast: Ast) -> list[tuple[Ast, bool]]:
    """Return the arguments of a call, each with whether it can only be a size."""
    candidates = inference.rulebook.spellings.get(call_name(ast), ())
    found = [(arg, _has_kind(candidates, k, "integer")) for k, arg in enumerate(ast.args)]
    for key, value in call_keywords(ast):
        kinds = {p.kind for c in candidates for p in c.signature.parameters if p.name == key}
        found.append((value, key == "axis" or "integer" in kinds))
    return found


def _has_kind(candidates: Sequence[Candidate], k: int, kind: str) -> bool:
    return any(k < len(c.signature.parameters) and c.signature.parameters[k].kind == kind for c in candidates)


def _repeated(inference: Inference, ast: Ast) -> list[Ast]:
    """Return an argument; for `E'...` in a rule's formula, one tree for each tangent in the slot E."""
    if ast.head != "spread":
        return [ast]
    slots = [name for name in names_in(ast) if name in inference.slots]
    if len(slots) != 1:
        raise inference.fault("... must follow one repeated parameter of a rule", ast)
    return [renamed(ast.args[0], {slots[0]: member}) for member in inference.slots[slots[0]]]


def _candidates(inference: Inference, ast: Ast, spelling: str) -> Sequence[Candidate]:
    """Return the candidates of a spelling.

    Raises: the errors of the rulebook, with their position; for a symbol that is called, with a hint.
    """
    book, name = inference.rulebook, call_name(ast)
    if spelling != name and name in book and spelling not in book.spellings:
        raise inference.fault(f"'{name}' takes no comparison", ast)
    try:
        return book.candidates(spelling)
    except MatcalcError as fault:
        fault.text, fault.at = inference.text, ast.span[0]
        if name in inference.symbols or len(name.rstrip("_0123456789")) == 1:
            fault.hint = f"{name} is read as a symbol: write {name}*(...) for a product, {_part(ast)} for a part"
        raise


def _part(ast: Ast) -> str:
    """Return the part `A[0, 1]` that a call `A(1, 2)` denotes in MATLAB, which counts from 1."""
    indices = [
        int(str(arg.value)) - 1 if arg.head == "number" and str(arg.value).isdecimal() else -1 for arg in ast.args
    ]
    if not indices or min(indices) < 0:
        return f"{call_name(ast)}[...]"
    return f"{call_name(ast)}[{', '.join(map(str, indices))}], counted from 0,"


def check_axis(inference: Inference, ast: Ast, callee: Callee, arguments: Sequence[Typed]) -> None:
    """Raise for a function of a matrix whose axis must be named, in a formula of a user.

    Raises: ShapeError.
    """
    rank = max((v.rank for v in arguments[:1] if v.form != "function"), default=0)
    if (
        callee.axis is not None
        or callee.is_over_all
        or inference.strict
        or rank < 2
        or not any(c.rule.per_axis for c in callee.candidates)
    ):
        return
    every = ", ".join(map(str, range(rank)))
    name = call_name(ast)
    raise inference.fault(
        f"'{name}' of a matrix needs its axis",
        ast,
        hint=f"write {name}(..., axis=1) along each row, {name}(..., axis=0) down each column,\n  "
        f"{name}(..., axis=[{every}]) over all entries",
    )
