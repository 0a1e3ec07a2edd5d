"""Lifts formulas into larger tensors, to test rewrites and laws on arguments with further axes.

In a lift, some symbols become slices of larger tensors, by rows (the further axis first) or by columns (last), so that
operations have a batch axis. The result is then put next to plain or weighted reductions over every axis. In a crossed
lift, the user of one operand reads the further axis as one of the operand's own axes. The formula then sums or
normalises along an axis that is not one of the operation's; rewrites that ignore axes fail there. The truth is the
formula as written, evaluated slice by slice with plain NumPy, without any code for batch axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from matcalc.calculus.derive.differentiate import template_parameter
from matcalc.calculus.evaluate.constants import Given
from matcalc.calculus.evaluate.evaluate import EVALUATE, evaluate
from matcalc.evidence.numeric.sampling import Array
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import product, symbol
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.raw_nodes import parameter
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import INSTANTIATE, Batched, spread

FURTHER = Size.of("b_")
"""The length of the further axis if no axis of the formula determines it."""

BROAD = 2
"""The length `FURTHER` as a number."""

KEEP, SUM, WEIGH = "keep", "sum", "weigh"

Draw = Callable[[int], Mapping[str, Array]]
Step = Callable[[Sequence[Node]], Iterable[tuple[Node, Node]]]


class Crossing(NamedTuple):
    """A user that reads the further axis of an operand as the operand's axis `axis`."""

    user: Node
    operand: Node
    axis: int


class Lift(NamedTuple):
    """The symbols that are slices of larger tensors, whether by columns, and the crossing, if any."""

    length: Size
    names: frozenset[str]
    by_columns: bool = False
    crossing: Crossing | None = None

    def __str__(self) -> str:
        how = f"{', '.join(sorted(self.names))} by {'columns' if self.by_columns else 'rows'}"
        if self.crossing is None:
            return how
        user, operand, axis = self.crossing
        return f"{how}, {_called(user)} given {_called(operand)} with the further axis for axis {axis}"


def _called(node: Node) -> str:
    """Return the name of a node in a report: its own, that of its operation, or its kind."""
    return node.name if node.kind == "symbol" else node.rule.name if node.kind in ("op", "map") else node.kind


def symbols_of(root: Node) -> list[Node]:
    """Return the symbols of a formula that can be lifted, in a fixed order."""
    return [n for n in toposort(root) if n.kind == "symbol" and n is not parameter()]


def lifts(root: Node, crossed: bool = True) -> Iterator[Lift]:
    """Yield the lifts of a formula: of each symbol and of all, by rows and by columns; each crossing by rows."""
    symbols = symbols_of(root)
    names = [s.name for s in symbols]
    sizes = [size for s in symbols for size in s.shape]
    length = sizes[0] if sizes else FURTHER
    for chosen in dict.fromkeys([*(frozenset([name]) for name in names), frozenset(names)]):
        yield Lift(length, chosen)
        yield Lift(length, chosen, by_columns=True)
    for crossing in _crossings(root) if crossed else ():
        yield Lift(crossing.operand.shape[crossing.axis], frozenset(names), crossing=crossing)


def _crossings(root: Node) -> Iterator[Crossing]:
    """Yield every crossing under which operands keep the facts that operations require."""
    order = toposort(root)
    reached = {(user, arg): set(toposort(arg)) for user in order for arg in user.args if _is_asked(user, arg)}
    for user in order:
        above = any(user in below for below in reached.values())
        for operand in dict.fromkeys(user.args):
            varies = any(n.kind == "symbol" for n in toposort(operand))
            if varies and not above and (user, operand) not in reached:
                yield from (Crossing(user, operand, axis) for axis in range(operand.rank))


def _is_asked(user: Node, operand: Node) -> bool:
    """Whether an operation requires a fact of an operand that slices along another axis may lack."""
    if user.kind != "op" or user.rule.kind == "implicit":
        return False
    known = default_rulebook().facts
    slots = [template_parameter(user, k) for k, arg in enumerate(user.args) if arg is operand]
    return any(f in known and known[f].of != "any" for slot in slots for f in slot.facts)


def lifted(root: Node, lift: Lift) -> Node:
    """Return a formula over larger tensors, the further axis first."""
    made: dict[Node, Batched] = {}
    for node in toposort(root):
        if node.kind == "symbol" and node.name in lift.names:
            made[node] = Batched(_larger(node, lift), (0,))
            continue
        given: Mapping[Node, Batched] = made
        if lift.crossing is not None and lift.crossing.user is node:
            operand = lift.crossing.operand
            given = {**made, operand: Batched(_crossed(made[operand].node, lift.crossing.axis), (0,))}
        made[node] = INSTANTIATE[node.kind](node, given, {}, (lift.length,))
    return spread(made[root], (0,), (lift.length,))


def _larger(node: Node, lift: Lift) -> Node:
    if not lift.by_columns:
        return symbol(node.name, (lift.length, *node.shape), tuple(node.data[1]))
    known = default_rulebook().facts
    entrywise = [f for f in node.data[1] if f not in known or known[f].of == "any"]
    whole = symbol(node.name, (*node.shape, lift.length), entrywise)
    rank = node.rank
    return product(1, [(whole, tuple(range(rank + 1)))], (rank, *range(rank)))


def _crossed(node: Node, axis: int) -> Node:
    order = list(range(node.rank))
    order[0], order[axis + 1] = order[axis + 1], order[0]
    return product(1, [(node, tuple(range(node.rank)))], tuple(order))


def sliced_value(root: Node, lift: Lift, data: Mapping[str, Array], sizes: Mapping[str, int]) -> Array:
    """Return the value of a lifted formula, the further axis first, from that of the formula at each slice.

    `data` has, for each lifted symbol, its slices along the first axis.
    """
    values: dict[Node, Array] = {}
    varies: set[Node] = set()
    length = lift.length.evaluate(dict(sizes))
    with np.errstate(all="ignore"):
        for node in toposort(root):
            if (node.kind == "symbol" and node.name in lift.names) or any(a in varies for a in node.args):
                varies.add(node)
            given = values
            if lift.crossing is not None and lift.crossing.user is node:
                operand = lift.crossing.operand
                given = {**values, operand: np.swapaxes(values[operand], 0, lift.crossing.axis + 1)}
            if node not in varies:
                values[node] = EVALUATE[node.kind](node, given, Given(data), sizes)
                continue
            if node.kind == "symbol":
                values[node] = data[node.name]
                continue
            rows = []
            for k in range(length):
                row = {a: given[a][k] if a in varies else given[a] for a in node.args}
                rows.append(np.asarray(EVALUATE[node.kind](node, row, Given(data), sizes)))
            values[node] = np.stack(rows)
    found = values[root]
    return found if root in varies else np.broadcast_to(found, (length, *found.shape))


def contexts(rank: int) -> Iterator[tuple[str, ...]]:
    """Yield treatments of a result's axes: all unchanged; each summed alone; all summed, without and with weights."""
    yield (KEEP,) * rank
    for axis in range(rank if rank > 1 else 0):
        yield tuple(SUM if k == axis else KEEP for k in range(rank))
    yield (SUM,) * rank
    yield (WEIGH,) * rank


def in_context(node: Node, context: Sequence[str]) -> Node:
    """Return a node with reductions over its axes; weights are the vectors `weight_0_`, `weight_1_`, ..."""
    axes = tuple(range(node.rank))
    weights = [(symbol(weight(k), (node.shape[k],)), (k,)) for k in axes if context[k] == WEIGH]
    kept = tuple(k for k in axes if context[k] == KEEP)
    return product(1, [(node, axes), *weights], kept)


def value_in_context(value: Array, context: Sequence[str], weights: Mapping[str, Array]) -> Array:
    """Return an array with the reductions of `in_context`."""
    for k in reversed(range(value.ndim)):
        if context[k] == WEIGH:
            value = np.asarray(np.tensordot(value, weights[weight(k)], (k, 0)))
        elif context[k] == SUM:
            value = np.asarray(np.sum(value, axis=k))
    return value


def weight(axis: int) -> str:
    return f"weight_{axis}_"


class Tensors(NamedTuple):
    """A lifted formula with its data and value: `slices` by symbol, with the further axis first, and `weights`."""

    lift: Lift
    node: Node
    slices: Mapping[str, Array]
    weights: Mapping[str, Array]
    sizes: Mapping[str, int]
    value: Array

    @property
    def data(self) -> dict[str, Array]:
        """The data in the layout of the lifted formula."""
        return {**{name: self.laid_out(name, a) for name, a in self.slices.items()}, **self.weights}

    def laid_out(self, name: str, array: Array) -> Array:
        """Return slices in the layout of a symbol's larger tensor."""
        return np.moveaxis(array, 0, -1) if self.lift.by_columns and name in self.lift.names else array

    def sliced(self, name: str, array: Array) -> Array:
        """Return an array in the layout of a larger tensor as slices, with the further axis first."""
        return np.moveaxis(array, -1, 0) if self.lift.by_columns and name in self.lift.names else array


def in_tensors(root: Node, draw: Draw, sizes: Mapping[str, int], crossed: bool = True) -> Iterator[Tensors]:
    """Yield every lift of a formula with data for which its slices have finite values.

    `draw(k)` returns the data of the k-th slice by name; symbols that are not lifted have the data of the first.
    """
    lengths = {str(FURTHER): BROAD, **sizes}
    drawn: list[Mapping[str, Array]] = []
    for lift in lifts(root, crossed):
        length = lift.length.evaluate(lengths)
        drawn += [draw(k) for k in range(len(drawn), max(1, length))]
        rows = drawn[: max(1, length)]
        slices = {s.name: rows[0][s.name] for s in symbols_of(root)}
        slices.update({name: np.stack([row[name] for row in rows]) for name in lift.names})
        try:
            value = sliced_value(root, lift, slices, lengths)
        except (np.linalg.LinAlgError, ValueError):  # a crossed operation may have no value
            continue
        if np.isrealobj(value) and np.all(np.isfinite(value)):
            rng = np.random.default_rng(5)
            weights = {weight(k): np.asarray(rng.uniform(0.5, 1.5, n)) for k, n in enumerate(value.shape)}
            yield Tensors(lift, lifted(root, lift), slices, weights, lengths, value)


def error(at: Tensors, step: Step) -> float:
    """Return the largest error of a lifted formula against its slices, with reductions over every axis, and of a step.

    `step` maps nodes to pairs of nodes that must be equal.
    """
    chosen = [in_context(at.node, context) for context in contexts(at.value.ndim)]
    expected = [value_in_context(at.value, context, at.weights) for context in contexts(at.value.ndim)]
    pairs = list(step(chosen))
    try:
        found = [np.asarray(a) for a in evaluate([*chosen, *(n for pair in pairs for n in pair)], at.data, at.sizes)]
    except np.linalg.LinAlgError:
        return np.inf
    scale = max(1.0, float(np.max(np.abs(at.value), initial=0.0)) * at.value.size)
    steps = found[len(chosen) :]
    errors = [_distance(a, b) / scale for a, b in zip(found, expected, strict=False)]
    errors += [_distance(b, a) / max(1.0, _largest(a)) for a, b in zip(steps[::2], steps[1::2], strict=True)]
    return max(errors)


def _distance(a: Array, b: Array) -> float:
    """Return the largest difference from finite entries of `b`; infinite if `a` is not finite there."""
    if a.shape != b.shape:
        return np.inf
    off = np.abs(a - b)[np.isfinite(b)]
    return float(np.max(off, initial=0.0)) if np.all(np.isfinite(off)) else np.inf


def _largest(a: Array) -> float:
    return float(np.max(np.abs(a), initial=0.0, where=np.isfinite(a)))
