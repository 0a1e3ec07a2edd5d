"""Infers the typed tree of a syntax tree, operands first, without recursion.

A tree is entered before its operands, which fixes the meaning of the names inside it, and left after them. Other
modules define the meaning of each form; this one only determines which operands are values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, cast

from matcalc.errors import MatcalcError, ParseError, UnknownName
from matcalc.formula.elaborate import (
    arithmetic,
    blocks,
    calls,
    equations,
    function_arguments,
    index_lists,
    index_numbers,
    indices,
    infinity,
    parts,
    powers,
)
from matcalc.formula.elaborate.callee import Callee, enter_call
from matcalc.formula.inference import index_ranges, sums
from matcalc.formula.inference.inference import Inference
from matcalc.formula.inference.typed import Labels, Typed, typed_exact
from matcalc.formula.recurrences import infer_systems
from matcalc.formula.recurrences.read_systems import AT_STEP
from matcalc.language import recurrences
from matcalc.language.identifiers import near
from matcalc.language.index_lists import is_list
from matcalc.language.index_sums import NONE, Names
from matcalc.language.kinds import INDEX
from matcalc.language.syntax import BINDERS, SUMS, Ast, call_name, definition, value_of_leaf
from matcalc.rulebook.notations import spelled
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


@dataclass(slots=True)
class Entered:
    """A tree being read: the operands that are values, the indices summed at it, and the bindings it hides."""

    operands: list[Ast]
    passed: list[Names] = field(default_factory=list)
    hidden: dict[str, int | None] = field(default_factory=dict)
    summed: Labels = ()
    listed: Labels = ()
    note: Any = None


Frame = tuple[Ast, Names, Entered | None]


def infer(inference: Inference, root: Ast) -> Typed:
    """Return the typed tree of a formula; lengths may still be unknown.

    Raises: ShapeError, UnknownName, NotSupported, with the position.
    """
    values: list[Typed] = []
    stack: list[Frame] = [(root, NONE, None)]
    while stack:
        ast, names, entered = stack.pop()
        if entered is not None:
            inference.sizes.current = ast
            try:
                values.append(_leave(inference, ast, entered, values))
            except MatcalcError as fault:
                raise inference.located(fault, ast) from None
            continue
        leaf = LEAVES.get(ast.head)
        if leaf is not None:
            values.append(leaf(inference, ast))
            continue
        if ast.head == "shared" and definition(ast) in inference.shared:
            values.append(inference.shared[definition(ast)])
            continue
        entered = _enter(inference, ast, names)
        stack.append((ast, names, entered))
        passed = entered.passed or [NONE] * len(entered.operands)
        pairs = list(zip(entered.operands, passed, strict=True))
        stack.extend((child, inner, None) for child, inner in reversed(pairs))
    return values.pop()


def _enter(inference: Inference, ast: Ast, names: Names) -> Entered:
    entered = ENTER[ast.head](inference, ast) if ast.head in ENTER else Entered(list(ast.args))
    if ast.head in BINDERS and not inference.depth:
        names = indices.open_indices(inference, ast)
    if ast.head in BINDERS:
        names |= inference.sums.get(ast, NONE)
        inference.depth += 1
    if names:
        summed_here, entered.passed = indices.assign_sums(inference, ast, names, entered.operands)
        entered.hidden = indices.bind(inference, sorted(summed_here), ast)
        entered.summed = tuple(inference.bound[name] for name in sorted(summed_here))
    if ast.head in BINDERS:
        listed = indices.listed_in(inference, ast)
        entered.hidden |= indices.bind(inference, listed, ast)
        entered.listed = tuple(inference.bound[name] for name in listed)
    if ast.head == "part":
        entered.note = len(entered.operands)
        numbers = parts.numeric_subscripts(inference, ast.args[1:])
        entered.operands += numbers
        entered.passed += [NONE] * len(numbers) if entered.passed else []
    return entered


def _leave(inference: Inference, ast: Ast, entered: Entered, values: list[Typed]) -> Typed:
    count = len(entered.operands)
    operands = values[len(values) - count :]
    del values[len(values) - count :]
    known = infinity.evaluated(inference, ast, operands, entered.note)
    if known is not None:
        return known
    index_ranges.close_ranges(inference, [inference.bound[name] for name in entered.hidden], ast)
    value = LEAVE[ast.head](inference, ast, operands, entered)
    if entered.summed:
        value = indices.summed(inference, value, entered.summed)
    indices.restore(inference, entered.hidden)
    if ast.head in BINDERS:
        inference.depth -= 1
        if not inference.depth:
            inference.free, inference.sums = {}, {}
    return value


def _enter_power(inference: Inference, ast: Ast) -> Entered:
    return Entered([ast.args[0]] if powers.is_inverse_transpose(inference, ast) else list(ast.args))


def _enter_shared(inference: Inference, ast: Ast) -> Entered:
    """Enter a tree that is read once for all its occurrences, so without the bindings at any of them."""
    return Entered([definition(ast)], note=inference.without_bounds())


def _leave_shared(inference: Inference, ast: Ast, values: list[Typed], entered: Entered) -> Typed:
    inference.bounds = entered.note
    value = replace(values[0], ast=ast)
    inference.shared[definition(ast)] = value
    return value


def _enter_step_sum(inference: Inference, ast: Ast) -> Entered:
    """Enter a sum over steps; inside an index form it is a part if it has no index of that."""
    before = inference.without_indices() if inference.depth and not inference.free.get(ast) else inference.bounds
    return Entered(infer_systems.sum_operands(inference, ast), note=before)


def _leave_step_sum(inference: Inference, ast: Ast, values: list[Typed], entered: Entered) -> Typed:
    inference.bounds = entered.note
    return infer_systems.infer_sum(inference, ast, values)


def _enter_call(inference: Inference, ast: Ast) -> Entered:
    if call_name(ast) in inference.functions:
        return Entered(list(ast.args), note=inference.functions[call_name(ast)])
    index_ranges.check_choice(inference, ast)
    parts.allow_comparisons(inference, ast)
    callee = enter_call(inference, ast)
    if equations.is_implicit(callee):
        solving = equations.enter(inference, ast, callee)
        return Entered([equations.scope(solving), solving.equation], note=solving)
    operands = [
        function_arguments.as_function(inference, arg) if function else arg
        for arg, function in zip(callee.args, callee.functions, strict=True)
    ]
    if callee.axis is not None:
        operands.append(callee.axis)
    return Entered(operands, note=callee)


def _enter_function(inference: Inference, ast: Ast) -> Entered:
    before = inference.parameters
    inference.parameters = {str(ast.value): Typed("parameter", ast)}
    return Entered(list(ast.args), note=before)


def _inverse(inference: Inference, ast: Ast, value: Typed) -> Typed:
    """Return the inverse of a matrix on the left of a division; the pseudoinverse if it is not square."""
    role = "inverse" if inference.same(*value.shape) else "pseudoinverse"
    return calls.call_rule(inference, ast, spelled(role), [value])


def _leave_power(inference: Inference, ast: Ast, values: list[Typed], entered: Entered) -> Typed:
    if len(values) == 1:
        return powers.infer_inverse_transpose(inference, ast, values[0], calls.call_rule)
    return powers.infer_power(inference, ast, values[0], values[1], calls.call_rule)


def _leave_part(inference: Inference, ast: Ast, values: list[Typed], entered: Entered) -> Typed:
    count: int = entered.note  # the base and the data among the subscripts
    read = index_lists.infer_listed if any(map(is_list, ast.args[1:])) else parts.infer_part
    return read(inference, ast, values[0], values[1:count], values[count:], infer)


def _leave_block(inference: Inference, ast: Ast, values: list[Typed], entered: Entered) -> Typed:
    rows, rest = [], iter(values)
    for row in ast.args:
        rows.append([next(rest) for _ in row.args])
    return blocks.infer_block(inference, ast, rows)


def _leave_call(inference: Inference, ast: Ast, values: list[Typed], entered: Entered) -> Typed:
    if isinstance(entered.note, equations.Solving):
        return equations.infer_solution(inference, ast, entered.note, values[0], values[1])
    if isinstance(entered.note, Callee):
        return calls.infer_call(inference, ast, entered.note, values)
    return function_arguments.infer_apply(inference, ast, entered.note, values)


def _leave_function(inference: Inference, ast: Ast, values: list[Typed], entered: Entered) -> Typed:
    inference.parameters = entered.note
    return function_arguments.infer_function(inference, ast, values[0])


def _name(inference: Inference, ast: Ast) -> Typed:
    name = str(ast.value)
    if name in inference.bound:
        return index_numbers.index_number(inference, ast, inference.bound[name])
    if name in inference.parameters:
        return inference.parameters[name]
    if name in inference.unknowns:
        function_arguments.check_name(inference, ast)
        return equations.meet(inference, name, ast)
    if name in inference.functions:
        return Typed("function", ast, data=inference.functions[name])
    if name in inference.symbols:
        function_arguments.check_name(inference, ast)
        _check_index(inference, ast, name, inference.symbols[name].facts)
        return Typed("symbol", ast, inference.symbols[name].shape, data=name)
    if name in inference.size_names:
        return typed_exact(inference.size_names[name], ast)
    if name in PI or (name == "inf" and not inference.strict):
        return Typed("constant", ast, data=PI.get(name, name))
    function_arguments.check_name(inference, ast)
    symbol = None if inference.strict else inference.infer_symbol(name, ast in inference.index_leaves)
    if symbol is None:
        raise unknown_name(inference, ast)
    return Typed("symbol", ast, symbol.shape, data=name)


PI = {"pi": "pi", "π": "pi"}


def _leaf(inference: Inference, ast: Ast) -> Typed:
    """Return an existing node; for a number or a size, its value."""
    node: Node = value_of_leaf(ast)
    if node.kind in ("number", "size"):
        return typed_exact(Size.of(node.value) if node.kind == "number" else node.size, ast)
    _check_index(inference, ast, str(node.data[0]), node.data[1] if node.kind == "symbol" else ())
    return Typed("leaf", ast, node.shape, data=node)


def _check_index(inference: Inference, ast: Ast, name: str, facts: Collection[str]) -> None:
    """Raise for an index, which is data, outside subscripts.

    Raises: ShapeError.
    """
    if INDEX in facts and ast not in inference.index_leaves:
        hint = (
            f"use it as a subscript, as in  x[{name}]; to compute with it, declare it a scalar or a vector\n"
            f"for the next entry write  x[1:][{name}]"
        )
        raise inference.fault(f"{name} is an index, not a number", ast, hint=hint)


def unknown_name(inference: Inference, ast: Ast) -> MatcalcError:
    """Return the error for an unknown name, with the nearest names."""
    name = str(ast.value)
    if name in ("Inf", "Infinity", "True", "False", "None"):
        hint = "write inf" if name.startswith("Inf") else "write a comparison, where(x > 0, a, b), or a number"
        return UnknownName(f"{name} is not in the language", text=inference.text, at=ast.caret, hint=hint)
    if name.lower() == "nan":
        hint = "leave such entries out, or choose others by where(m > 0, x, 0)"
        return UnknownName("nan is no number", text=inference.text, at=ast.caret, hint=hint)
    found = near(name, [*inference.symbols, *inference.size_names])
    hint = f"did you mean {' or '.join(found)}?" if found else f"declare it, as in  {name}: matrix(m, n)"
    return UnknownName(f"unknown name '{name}'", text=inference.text, at=ast.caret, hint=hint)


def _misplaced(inference: Inference, ast: Ast) -> Typed:
    raise ParseError(MISPLACED[ast.head], text=inference.text, at=ast.caret)


MISPLACED = {
    "slice": "a range is allowed only in a part, as in  A[1:3, 0]",
    "compare": "a comparison is allowed only as the first argument of where",
    "word": "a quoted word is not a value",
    "spread": "... is allowed only in the formulas of rules",
}


def _blank(inference: Inference, ast: Ast) -> Typed:
    """Return a size that is not written, as that of the identity I."""
    size = inference.sizes.fresh()
    inference.blocks.append((size, ast))
    return typed_exact(size, ast)


LEAVES: dict[str, Callable[[Inference, Ast], Typed]] = {
    "number": lambda inference, ast: typed_exact(Size.of(cast(Any, ast.value)), ast),
    "name": _name,
    "leaf": _leaf,
    "empty": _blank,
    **dict.fromkeys(MISPLACED, _misplaced),
}
ENTER: dict[str, Callable[[Inference, Ast], Entered]] = {
    "part": lambda inference, ast: Entered([ast.args[0], *parts.data_subscripts(inference, ast.args[1:])]),
    "condition": lambda inference, ast: Entered(parts.data_subscripts(inference, ast.args, are_shifted=False)),
    "power": _enter_power,
    "block": lambda inference, ast: Entered([entry for row in ast.args for entry in row.args]),
    "call": _enter_call,
    "function": _enter_function,
    "shared": _enter_shared,
    recurrences.SYSTEM: lambda inference, ast: Entered(infer_systems.operands(inference, ast)),
    recurrences.STEP_SUM: _enter_step_sum,
    recurrences.INNER: lambda inference, ast: Entered([infer_systems.of_inner(inference, ast)]),
}
LEAVE: dict[str, Callable[[Inference, Ast, list[Typed], Entered], Typed]] = {
    **dict.fromkeys(SUMS, lambda inference, ast, values, entered: sums.infer_sum(inference, ast, values)),
    "product": lambda inference, ast, values, entered: arithmetic.infer_product(
        inference, ast, values, powers.reciprocal, _inverse, calls.call_rule
    ),
    "negative": lambda inference, ast, values, entered: powers.infer_negative(inference, ast, values[0]),
    "transpose": lambda inference, ast, values, entered: powers.infer_transpose(inference, ast, values[0]),
    "power": _leave_power,
    "part": _leave_part,
    "block": _leave_block,
    "condition": lambda inference, ast, values, entered: index_numbers.infer_condition(inference, ast, values, infer),
    "index_form": lambda inference, ast, values, entered: indices.infer_index_form(
        inference, ast, values[0], entered.listed
    ),
    "index_sum": lambda inference, ast, values, entered: indices.infer_index_sum(
        inference, ast, values[0], entered.listed
    ),
    "call": _leave_call,
    "function": _leave_function,
    "shared": _leave_shared,
    recurrences.SYSTEM: lambda inference, ast, values, entered: infer_systems.finish(inference, ast),
    infer_systems.BEGIN: lambda inference, ast, values, entered: infer_systems.begin(inference, ast, values),
    infer_systems.DEFINE: lambda inference, ast, values, entered: infer_systems.define(inference, ast, values[0]),
    AT_STEP: lambda inference, ast, values, entered: infer_systems.read_at_step(inference, ast, values),
    recurrences.STATE: lambda inference, ast, values, entered: infer_systems.infer_state(inference, ast),
    recurrences.STEP_SUM: _leave_step_sum,
    recurrences.INNER: lambda inference, ast, values, entered: values[0],
    equations.SCOPE: lambda inference, ast, values, entered: equations.begin(
        inference, cast(equations.Solving, ast.value), values[0]
    ),
}
