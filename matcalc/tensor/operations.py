"""Makes canonical operations: rulebook entries applied to arguments that may carry leading batch axes.

Factors are extracted from an argument as its rule declares: coefficients by `degree`, a transposition by
`transpose = "same"`. From a slot declared linear, each factor that does not touch the slot's own axes is extracted with
its batch axes. So a batch of linear solves shrinks to the solves that differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from matcalc.language.read import read
from matcalc.tensor.nodes.canonical_labels import Factor, components
from matcalc.tensor.nodes.node import Indices, Node, Operand, Shape, tilt_of
from matcalc.tensor.nodes.signature import Binding, bind, core_rank, output_of, result_shape, size_of, tensors_of
from matcalc.tensor.product import simple_product, zeros
from matcalc.tensor.raw_nodes import op_node
from matcalc.tensor.sums import split_coef, transposed_rank

if TYPE_CHECKING:
    from matcalc.language.declare import Declaration
    from matcalc.rulebook.rule import Rule
    from matcalc.tensor.sizes.size import Size


class Slot(NamedTuple):
    """One tensor argument: its parameter, the node (batch axes first), and the batch positions it carries."""

    parameter: Declaration
    node: Node
    batch: Indices
    linear: bool

    @property
    def core(self) -> Shape:
        return self.node.shape[len(self.batch) :]


class Extracted(NamedTuple):
    """A coefficient and the factors extracted from slots, each with the batch positions of its axes."""

    coef: Fraction
    factors: list[Operand]


def operate(
    rule: Rule,
    args: Sequence[Node],
    params: tuple[Any, ...] = (),
    batches: Sequence[Indices] | None = None,
    output: str | None = None,
    batch_sizes: Sequence[Size] | None = None,
) -> Node:
    """Return an operation's result: leading batch axes, then the axes of the core result.

    `batches` contains for each argument the batch positions of its leading axes. `batch_sizes` are the lengths of the
    batch axes that no argument carries.
    """
    name = rule.outputs[0] if output is None else output
    carried = [tuple(b) for b in batches] if batches is not None else [()] * len(args)
    sizes = _batch_sizes(args, carried, batch_sizes)
    slots = _slots(rule, args, carried)
    shape_of_core = result_shape(output_of(rule.signature, name), _binding(rule, slots, params))
    extracted = Extracted(Fraction(1), [])
    reduced: list[Slot] = []
    for slot in slots:
        if slot.linear and slot.node.is_zero:
            return zeros((*sizes, *shape_of_core))
        slot, extracted = _extract_factors(_without_broadcast(slot), extracted)
        reduced.append(slot)
    reduced, extracted = _extract_content(rule, reduced, params, extracted)
    reduced = _sort_repeated(reduced)
    used = sorted({b for slot in reduced for b in slot.batch})
    node, swapped, extracted = _oriented(rule, reduced, params, name, used, sizes, shape_of_core, extracted)
    return _wrap(node, swapped, used, sizes, shape_of_core, extracted)


def _slots(rule: Rule, args: Sequence[Node], carried: Sequence[Indices]) -> list[Slot]:
    tensors = tensors_of(rule.signature)
    slots = []
    for position, (node, batch) in enumerate(zip(args, carried, strict=True)):
        parameter = tensors[min(position, len(tensors) - 1)]
        slots.append(Slot(parameter, node, batch, parameter.repeated or parameter.name in rule.linear))
    return slots


def _binding(rule: Rule, slots: Sequence[Slot], params: tuple[Any, ...]) -> Binding:
    for slot in slots:
        expected = core_rank(slot.parameter, len(slot.core))
        assert expected == len(slot.core), f"{rule.name}: {slot.parameter.name} has rank {len(slot.core)}"
    return bind(rule, rule.signature, [slot.core for slot in slots], params)


def _batch_sizes(args: Sequence[Node], carried: Sequence[Indices], lengths: Sequence[Size] | None) -> list[Size]:
    found: dict[int, Size] = dict(enumerate(lengths or ()))
    for node, batch in zip(args, carried, strict=True):
        for axis, position in enumerate(batch):
            found[position] = node.shape[axis]
    return [found[k] for k in range(len(found))]


def _without_broadcast(slot: Slot) -> Slot:
    """Drop batch axes along which an argument does not vary."""
    node = slot.node
    if not slot.batch or node.kind != "product":
        return slot
    measured = {i for at in node.indices for i in at}
    varying = [
        axis
        for axis in range(len(node.out))
        if axis >= len(slot.batch) or node.out[axis] in measured or node.out.count(node.out[axis]) > 1
    ]
    if len(varying) == len(node.out):
        return slot
    smaller = simple_product(node.coef, node.operands, tuple(node.out[a] for a in varying), node.sizes)
    return slot._replace(node=smaller, batch=tuple(slot.batch[a] for a in varying if a < len(slot.batch)))


def _extract_factors(slot: Slot, extracted: Extracted) -> tuple[Slot, Extracted]:
    """Extract from a linear slot its coefficient and the factors on batch axes alone."""
    node = slot.node
    if not slot.linear or node.kind != "product":
        return slot, extracted
    batch_count = len(slot.batch)
    position_of = {index: slot.batch[axis] for axis, index in enumerate(node.out[:batch_count])}
    free = {index: index for index in node.out}
    described = [Factor(arg.digest, at, len(at), position) for position, (arg, at) in enumerate(node.operands)]
    own: list[Operand] = []
    factors = list(extracted.factors)
    sizes = node.sizes
    for part in components(described, free):
        terms = [(node.args[o.place], node.indices[o.place]) for o in part]
        touched = tuple(dict.fromkeys(i for _, at in terms for i in at if i in free))
        if all(i in position_of for i in touched):
            factor = simple_product(1, terms, touched, sizes)
            factors.append((factor, tuple(position_of[i] for i in touched)))
        else:
            own += terms
    left = simple_product(1, own, node.out, sizes)
    return _without_broadcast(slot._replace(node=left)), Extracted(extracted.coef * node.coef, factors)


def _extract_content(
    rule: Rule, slots: list[Slot], params: tuple[Any, ...], extracted: Extracted
) -> tuple[list[Slot], Extracted]:
    """Extract the coefficient of the only nonlinear slot, to the power of the rule's degree."""
    positions = [k for k, slot in enumerate(slots) if not slot.linear]
    if rule.degree is None or len(positions) != 1:
        return slots, extracted
    slot = slots[positions[0]]
    coef, rest = split_coef(slot.node)
    allowed = coef > 0 or rule.parity is not None or rule.homogeneous
    if coef == 1 or not coef or not allowed:
        return slots, extracted
    degree = _degree(rule, slots, params)
    if degree is None or degree.denominator != 1:
        return slots, extracted
    factor = (abs(coef) if rule.parity is not None else coef) ** int(degree)
    if rule.parity == "odd" and coef < 0:
        factor = -factor
    slots = [*slots[: positions[0]], slot._replace(node=rest), *slots[positions[0] + 1 :]]
    return slots, Extracted(extracted.coef * factor, extracted.factors)


def _degree(rule: Rule, slots: Sequence[Slot], params: tuple[Any, ...]) -> Fraction | None:
    """Return the degree of an operation's remaining argument, None if it depends on sizes."""
    if isinstance(rule.degree, str):
        size = size_of(read(rule.degree), _binding(rule, slots, params).sizes)
        if not size.is_integer:
            return None
        base = size.constant
    else:
        assert rule.degree is not None
        base = rule.degree
    return base - sum(1 for slot in slots if slot.parameter.repeated)


def _sort_repeated(slots: list[Slot]) -> list[Slot]:
    fixed = [slot for slot in slots if not slot.parameter.repeated]
    repeated = [slot for slot in slots if slot.parameter.repeated]
    return fixed + sorted(repeated, key=lambda slot: (slot.node.digest, slot.batch))


def _oriented(
    rule: Rule,
    slots: list[Slot],
    params: tuple[Any, ...],
    name: str,
    used: list[int],
    sizes: Sequence[Size],
    core: Shape,
    extracted: Extracted,
) -> tuple[Node, bool, Extracted]:
    """Intern the operation, its matrices transposed if that has fewer transposed leaves.

    A skew matrix in a linear slot then changes its sign, which is extracted.
    """

    def node_of(chosen: Sequence[Slot], shape: Shape) -> Node:
        batches = [tuple(used.index(b) for b in slot.batch) for slot in chosen]
        full = (*(sizes[b] for b in used), *shape)
        return op_node(rule, params, [s.node for s in chosen], batches, name, full, len(used))

    if not rule.transpose_same or not _leans(slots):
        return node_of(slots, core), False, extracted
    mirrored = []
    for slot in slots:
        slot, extracted = _extract_factors(_core_transposed(slot), extracted)
        mirrored.append(slot)
    return node_of(_sort_repeated(mirrored), core[::-1]), len(core) == 2, extracted


def _leans(slots: Sequence[Slot]) -> bool:
    matrices = [slot for slot in slots if len(slot.core) == 2]
    against, leaves = tilt_of(s.node for s in matrices if not s.batch)
    if 2 * against != leaves:
        return 2 * against > leaves
    if all("symmetric" in slot.node.facts for slot in matrices):
        return False
    mirrored = [_core_transposed(slot).node for slot in matrices]
    return sorted(map(transposed_rank, mirrored)) < sorted(transposed_rank(slot.node) for slot in matrices)


def _core_transposed(slot: Slot) -> Slot:
    if len(slot.core) != 2:
        return slot
    rank = len(slot.node.shape)
    out = (*range(rank - 2), rank - 1, rank - 2)
    return slot._replace(node=simple_product(1, [(slot.node, tuple(range(rank)))], out))


def _wrap(
    node: Node,
    swapped: bool,
    used: Sequence[int],
    sizes: Sequence[Size],
    core: Shape,
    extracted: Extracted,
) -> Node:
    """Put back the extracted coefficient and factors, broadcast batch axes and the transposition."""
    count = len(sizes)
    core_axes = tuple(range(count, count + len(core)))
    read_axes = core_axes[::-1] if swapped else core_axes
    operands = [(node, (*used, *read_axes)), *extracted.factors]
    out = (*range(count), *core_axes)
    return simple_product(extracted.coef, operands, out, dict(enumerate((*sizes, *core))))
