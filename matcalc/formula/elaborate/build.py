"""Builds nodes from typed trees, through the constructors of the normal form, operands first.

All lengths are known here. `expand` returns the template of a rulebook definition: a node over the symbols of its
parameters. Nothing here decides the meaning of a formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import pi
from typing import Any, NamedTuple

from matcalc.errors import MatcalcError, NotSupported, ShapeError
from matcalc.formula.elaborate.calls import DOES_NOT_FIT, MUST_HAVE, Call
from matcalc.formula.elaborate.equations import Solving
from matcalc.formula.inference.conditions import Condition, Lengths, not_supported, operands
from matcalc.formula.inference.inference import Inference, Unknown, shown
from matcalc.formula.inference.typed import Einsum, Labels, Typed
from matcalc.formula.recurrences.build_systems import Built, Stepping, read_at_step, step_sum, whole_state
from matcalc.formula.recurrences.read_systems import AT_STEP, System
from matcalc.language.recurrences import STATE, STEP_SUM
from matcalc.language.syntax import call_name, operands_first
from matcalc.tensor.constructors import (
    add,
    apply,
    constant,
    number,
    operate,
    power,
    product,
    selector_alone,
    size_number,
    symbol,
)
from matcalc.tensor.exchanged_axes import is_symmetric
from matcalc.tensor.facts.ranges import as_float
from matcalc.tensor.lookups import looked_up
from matcalc.tensor.nodes.node import Node, Operand, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import Batched, instantiate, solution, spread

INSIDE = {DOES_NOT_FIT: DOES_NOT_FIT, MUST_HAVE: " does not fill the shape "}
"""Words about a part of a definition, and those about the arguments of its call."""


class Template(NamedTuple):
    """A compiled definition: its node, the symbols of its tensor parameters, and the values of its size names."""

    node: Node
    symbols: tuple[Node, ...]
    sizes: Mapping[str, Size]


Expand = Callable[[Call, Mapping[str, Any], Mapping[str, Size]], Template]
"""Compiles a definition for a call, its built parameters and the values of the signature's size names."""


@dataclass(slots=True)
class Builder:
    """The state of building: solved sizes, nodes of symbols, templates of definitions, and the nodes built so far."""

    inference: Inference
    nodes: Mapping[str, Node]
    expand: Expand
    made: dict[Typed, Node] = field(default_factory=dict)
    steps: dict[System, Stepping] = field(default_factory=dict)
    systems: dict[System, Built] = field(default_factory=dict)
    inner: dict[System, Built] = field(default_factory=dict)

    def within(self, system: System, stepping: Stepping) -> Builder:
        """Return the builder of one step of a system; what it builds stays inside."""
        steps = {**self.steps, system: stepping}
        return Builder(self.inference, self.nodes, self.expand, dict(self.made), steps, self.systems)

    def node(self, value: Typed) -> Node:
        return build(self, value)

    def size(self, size: Size) -> Size:
        return self.inference.sizes.resolve(size)

    def length(self, label: int) -> Size:
        return self.inference.sizes.resolve(self.inference.lengths[label])

    def lengths(self, labels: Labels) -> tuple[Size, ...]:
        return tuple(self.length(label) for label in labels)


def build(builder: Builder, root: Typed) -> Node:
    """Return the node of a typed tree: its named axes in front, then its core.

    Raises: ShapeError if an argument lacks a required fact, NotSupported for a condition.
    """
    made = builder.made
    for value in operands_first(root, _built_operands, made):
        try:
            made[value] = BUILD[value.form](builder, value, [made[arg] for arg in _built_operands(value)])
        except MatcalcError as fault:
            raise builder.inference.located(fault, value.ast) from None
    return made[root]


def _built_operands(value: Typed) -> list[Typed]:
    """Return the operands that become nodes; the conditions of a product are built together instead."""
    if value.form == "condition":
        return []
    return [arg for arg in value.args if value.form != "einsum" or arg.form != "condition"]


def _constant(builder: Builder, value: Typed, args: list[Node]) -> Node:
    import numpy as np

    if isinstance(value.data, str):
        return constant(np.asarray(pi if value.data == "pi" else float(value.data)))
    entries = np.array([[as_float(entry) for entry in row] for row in value.data])
    if np.isinf(entries).any():
        raise NotSupported(
            "an entry larger than 1.8e308 is not supported", text=builder.inference.text, at=value.ast.caret
        )
    return constant(entries.reshape([int(size) for size in value.shape]))


def _size(size: Size) -> Node:
    return number(size.constant) if size.is_integer else size_number(size)


def _selector(builder: Builder, value: Typed, args: list[Node]) -> Node:
    kind, offset = value.data
    if args:
        axes, count = tuple(range(1, args[0].rank + 1)), len(value.axes)
        out = (*axes[:count], 0, *axes[count:])
        return product(1, [looked_up(args[0], builder.size(value.shape[0]), 0, axes)], out)
    return selector_alone(Selector(kind, tuple(map(builder.size, value.shape)), builder.size(offset)))


def _einsum(builder: Builder, value: Typed, args: list[Node]) -> Node:
    data: Einsum = value.data
    conditions = [arg for arg in value.args if arg.form == "condition"]
    labels = [own for arg, own in zip(value.args, data.operands, strict=True) if arg.form != "condition"]
    return _product(builder, data.coef, list(zip(args, labels, strict=True)), conditions, data.out)


def _as_condition(builder: Builder, value: Typed) -> Condition:
    relation, difference = value.data
    return Condition(relation, builder.size(difference), value.axes, shown(value.ast))


def _product(
    builder: Builder, coef: Fraction, factors: list[Operand], conditions: Sequence[Typed], out: Labels
) -> Node:
    labels = {*out, *(label for _, at in factors for label in at), *(label for c in conditions for label in c.axes)}
    known = {label: builder.length(label) for label in sorted(labels)}
    if conditions:
        factors = factors + _conditions(builder, conditions, known)
    return product(coef, factors, out, known)


def _conditions(builder: Builder, conditions: Sequence[Typed], known: dict[int, Size]) -> list[Operand]:
    """Return conditions as factors: selectors, and arrays of 0 and 1 for those of another form.

    Raises: NotSupported.
    """
    asked = {_as_condition(builder, c): c for c in conditions if c.data[1] is not None}
    found, others = operands(list(asked), Lengths(known, len(builder.inference.lengths)))
    for value in [*(c for c in conditions if c.data[1] is None), *(asked[other] for other in others)]:
        if not value.args:
            raise not_supported(shown(value.ast))
        found.append((build(builder, value.args[0]), value.args[0].axes))
    return found


def apply_function(body: Node, node: Node) -> Node:
    """Return a function, defined by its body, applied to each entry of a node."""
    axes = tuple(range(len(node.shape)))
    made = instantiate(body, {parameter(): Batched(node, axes)}, {}, node.shape)
    return spread(made, axes, node.shape)


def _call(builder: Builder, value: Typed, args: list[Node]) -> Node:
    call: Call = value.data
    rule = call.candidate.rule
    tensors = args[: len(call.parameters)]
    functions = iter(args[len(call.parameters) :])
    params = {
        name: next(functions) if isinstance(p, Typed) else _plain(builder, call, name, p)
        for name, p in call.params.items()
    }
    if not builder.inference.trusted:
        _check_facts(builder, value, tensors)
    if rule.kind == "map":
        return apply(rule, tensors, tuple(params.values()))
    sizes = builder.lengths(value.axes)
    carried = [_carried(node, typed.axes, value.axes) for node, typed in zip(tensors, value.args, strict=False)]
    if rule.kind == "op":
        ordered = tuple(params[p.name] for p in call.candidate.signature.parameters if p.name in params)
        nodes, batches = [node for node, _ in carried], [batch for _, batch in carried]
        return operate(rule, nodes, ordered, batches, call.candidate.output, sizes)
    return _expanded(builder, value, params, carried, sizes)


def _unknown(builder: Builder, unknown: Unknown) -> Node:
    return symbol(f"#{unknown.name}", tuple(map(builder.size, unknown.shape)))


def _solution(builder: Builder, value: Typed, args: list[Node]) -> Node:
    solving: Solving = value.data
    unknown = _unknown(builder, solving.unknown)
    if unknown not in toposort(args[1]):
        raise builder.inference.fault(f"{solving.unknown.name} cancels in {shown(solving.equation)}", value.ast)
    return solution(solving.rule, args[1], unknown, args[0])


def _plain(builder: Builder, call: Call, name: str, value: Size) -> Any:
    """Return a parameter: a size for an integer, a fraction for a number."""
    kinds = {p.name: p.kind for p in call.candidate.signature.parameters}
    return builder.size(value) if kinds[name] == "integer" else value.constant


def _carried(node: Node, axes: Labels, order: Labels) -> tuple[Node, Labels]:
    """Return a node with its named axes in the result's order, and their positions in the result."""
    positions = [order.index(label) for label in axes]
    if positions == sorted(positions):
        return node, tuple(positions)
    order_of_axes = sorted(range(len(axes)), key=positions.__getitem__)
    out = (*order_of_axes, *range(len(axes), len(node.shape)))
    transposed = product(1, [(node, tuple(range(len(node.shape))))], out)
    return transposed, tuple(sorted(positions))


def _expanded(
    builder: Builder,
    value: Typed,
    params: Mapping[str, Any],
    carried: list[tuple[Node, Labels]],
    sizes: tuple[Size, ...],
) -> Node:
    """Return a definition's template with the arguments substituted; entries are batched along all their axes."""
    call: Call = value.data
    names = {name: builder.size(size) for name, size in call.sizes.items()}
    for name, shape in call.arrays.items():
        names.update({f"{name}_{k}": builder.size(size) for k, size in enumerate(shape)})
    try:
        template = builder.expand(call, params, names)
    except ShapeError as fault:
        raise _in_users_terms(builder, value, fault) from None
    batch_sizes = sizes
    if any(p.kind == "entry" for p in call.parameters):
        batch_sizes = (*sizes, *map(builder.size, value.shape))
        everything = tuple(range(len(batch_sizes)))
        carried = [(node, everything) for node, _ in carried]
    bound = {s: Batched(node, batch) for s, (node, batch) in zip(template.symbols, carried, strict=True)}
    made = instantiate(template.node, bound, template.sizes, batch_sizes)
    return spread(made, tuple(range(len(batch_sizes))), batch_sizes)


def _in_users_terms(builder: Builder, value: Typed, fault: ShapeError) -> ShapeError:
    """Return the error of a definition as one of its call: an operation inside is not the user's."""
    given = ", ".join(builder.inference.describe(arg) for arg in value.args)
    parts = [(fault.message.partition(inside)[2], said) for inside, said in INSIDE.items() if inside in fault.message]
    message = f"{given}{parts[0][1]}{parts[0][0]}" if parts and given else fault.message
    return builder.inference.fault(f"{shown(value.ast)}: {message}", value.ast, about=[arg.ast for arg in value.args])


def _check_facts(builder: Builder, value: Typed, tensors: list[Node]) -> None:
    """Check that arguments have the linear facts that the signature requires.

    Raises: ShapeError.
    """
    call: Call = value.data
    for parameter_, node, typed in zip(call.parameters, tensors, value.args, strict=False):
        for fact in builder.inference.rulebook.hull(parameter_.facts):
            if fact in node.facts or (fact == "symmetric" and is_symmetric(node, len(typed.axes))):
                continue
            written = shown(typed.ast)
            name = call_name(value.ast) if value.ast.head == "call" else call.candidate.rule.spelling
            message = f"{name} takes a {fact} matrix, and {written} is not known to be {fact}"
            hint = f"declare it, as in  {written}: matrix(n, n) {fact}"
            if typed.form != "symbol":
                hint = f"write sym({written})" if fact == "symmetric" else f"declare its symbols so that it is {fact}"
            raise builder.inference.fault(message, value.ast, hint=hint, about=(typed.ast,))


BUILD: dict[str, Callable[[Builder, Typed, list[Node]], Node]] = {
    "number": lambda builder, value, args: number(value.data.constant),
    "size": lambda builder, value, args: _size(builder.size(value.data)),
    "symbol": lambda builder, value, args: builder.nodes[value.data],
    "leaf": lambda builder, value, args: value.data,
    "parameter": lambda builder, value, args: parameter(),
    "constant": _constant,
    "selector": _selector,
    "einsum": _einsum,
    "condition": lambda builder, value, args: _product(builder, Fraction(1), [], [value], value.axes),
    "sum": lambda builder, value, args: add(list(zip(value.data, args, strict=True))),
    "power": lambda builder, value, args: power(args[0], value.data),
    "function": lambda builder, value, args: args[0] if args else value.data,
    "apply": lambda builder, value, args: apply_function(value.data, args[0]),
    "call": _call,
    "unknown": lambda builder, value, args: _unknown(builder, value.data),
    "solution": _solution,
    AT_STEP: read_at_step,
    STATE: lambda builder, value, args: whole_state(builder, value),
    STEP_SUM: lambda builder, value, args: step_sum(builder, value),
}
