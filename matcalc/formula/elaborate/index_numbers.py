"""Reads a bound index as a number, and conditions on indices.

The value of an index counts from 0, so index i of length n is an entry of 0, 1, ..., n - 1. A condition is a selector
if it has the form of one. Any other condition on indices and sizes is an array of 0 and 1. It depends on no data, so
it switches off what it excludes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matcalc.errors import MatcalcError, NotSupported
from matcalc.formula.elaborate import calls
from matcalc.formula.inference import index_ranges, sums
from matcalc.formula.inference.inference import Inference, einsum, shown
from matcalc.formula.inference.typed import ZERO, Typed, typed_exact
from matcalc.language.syntax import Ast, names_in, walk
from matcalc.rulebook.notations import spelled
from matcalc.tensor.nodes.signature import size_of
from matcalc.tensor.sizes.size import Size

Infer = Callable[[Inference, Ast], Typed]
"""Returns the value of a tree."""

SWITCHES = {
    ">": ("condition", ">", False), ">=": ("condition", ">=", False), "==": ("condition", "==", False),
    "<": ("condition", ">", True), "<=": ("condition", ">=", True), "!=": ("negation", "==", False),
}  # fmt: skip
"""For each relation, the role of the operation that is 1 where it holds, its own relation, and if sides change."""


def index_number(inference: Inference, ast: Ast, label: int) -> Typed:
    """Return a bound index as a number that depends on the index."""
    length = typed_exact(inference.lengths[label], ast)
    count = len(inference.checks)
    positions = calls.call_rule(inference, ast, spelled("positions"), [length])
    del inference.checks[count:]  # the length of an axis is not negative
    position = einsum(inference, ast, [(positions, (label,))], (), axes=(label,))
    if label not in inference.ranges:
        return position
    start = Typed("size", ast, data=inference.ranges[label].start)
    return sums.infer_sum(inference, Ast("sum", (ast, ast), (1, 1), ast.span, ast.at), [position, start])


def infer_condition(inference: Inference, ast: Ast, data: Sequence[Typed], infer: Infer) -> Typed:
    """Return a condition over its indices: as a selector and as an array, as far as it has these forms.

    The selector has the payload (relation, left - right over `@label`), the array is the operand. `data` are its
    indices from data; a condition with data is a lookup.
    """
    if data:
        return _lookup(inference, ast, data)
    named = names_in(ast)
    for name in named:
        if name not in inference.bound and name not in inference.size_names:
            message = f"a condition is over indices and sizes, and {name} is neither"
            raise inference.fault(message, ast, hint="a condition on values is  where(x[i] > 0, a, b)")
    labels = {name: inference.bound[name] for name in named if name in inference.bound}
    index_ranges.check_order(inference, ast, labels)
    difference, fault = _difference(inference, ast, labels)
    array = _array(inference, ast, fault, infer)
    axes = tuple(sorted(set(labels.values())))
    return Typed("condition", ast, (), array, (ast.value, difference), axes)


def _difference(inference: Inference, ast: Ast, labels: dict[str, int]) -> tuple[Size | None, MatcalcError | None]:
    """Return left - right as a size over `@label`, or the error if a side is none."""
    positions = {name: Size.of(f"@{k}") + index_ranges.start_of(inference, k) for name, k in labels.items()}
    values = {**inference.size_names, **positions}
    if any(node.head == "product" and "/" in node.value for node in walk(ast)):  # type: ignore[operator]
        return None, inference.fault("a quotient of indices", ast)
    try:
        return size_of(ast.args[0], values) - size_of(ast.args[1], values), None
    except MatcalcError as fault:
        return None, fault


def _array(inference: Inference, ast: Ast, fault: MatcalcError | None, infer: Infer) -> tuple[Typed, ...]:
    """Return a condition as an array of 0 and 1, as a tuple of one; empty if it can only be a selector.

    Raises: NotSupported for a condition that is neither.
    """
    if inference.strict and fault is None:
        return ()
    role, relation, changes = SWITCHES[str(ast.value)]
    try:
        sides = [infer(inference, side) for side in ast.args]
        for side in sides:
            if side.rank:
                raise inference.fault(f"{inference.describe(side)} is no number", side.ast)
        switch = spelled(role).rstrip("<>=!") + relation
        return (calls.call_rule(inference, ast, switch, sides[::-1] if changes else sides),)
    except MatcalcError as other:
        if fault is None:
            return ()
        message = f"the condition {shown(ast)} is not supported: {other.message}"
        raise NotSupported(message, text=inference.text, at=ast.caret, hint=other.hint) from None


def _lookup(inference: Inference, ast: Ast, data: Sequence[Typed]) -> Typed:
    """Return the condition that an index equals an index from data, `[a == i[t]]`, as a lookup.

    Raises: NotSupported for another condition on data.
    """
    sides = [side for side in ast.args if side is not data[0].ast]
    names = [str(side.value) for side in sides if side.head == "name"]
    if ast.value != "==" or len(data) != 1 or len(names) != 1 or names[0] not in inference.bound or data[0].rank:
        hint = f"a condition on data is  [a == {shown(data[0].ast)}]  of an index a"
        raise NotSupported(f"the condition {shown(ast)} is not supported", text=inference.text, at=ast.caret, hint=hint)
    label = inference.bound[names[0]]
    value = data[0]
    selector = Typed("selector", ast, (inference.lengths[label],), (value,), ("lookup", ZERO), value.axes)
    return einsum(inference, ast, [(selector, (label,))], (), axes=tuple(sorted({*value.axes, label})))
