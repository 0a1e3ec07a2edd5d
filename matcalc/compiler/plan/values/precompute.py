"""Computes values that depend on fixed inputs alone once, before the calls.

The graph of values is cut in two if that saves work. One Program runs when data are fixed. It computes kernels and sums
of fixed data, and functions of their entries that cost more than reading them. Its results are inputs of the other
Program, which each call runs. The cut is made in a plan and changes no formula. So a Gram matrix, a factor or a
log-determinant computed ahead equals the one that a call would compute.

A plan with fixed inputs counts such work as nearly free (`SHARE`). Two bounds keep its accuracy. Products of fixed
matrices are formed only if the result keeps one of their axes: `X'*(X*v)` becomes `(X'*X)*v`, which rounds as much.
`w'*(X'*X)*w` is not formed, since the square of a short `X*w` would cancel. Inverses are factorised, not formed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from matcalc.compiler.entrywise import Apply, Expr, Literal, Read, Select, within
from matcalc.compiler.plan.values.program_cost import work
from matcalc.compiler.plan.values.values import Graph, Item, Run, Value
from matcalc.language.identifiers import WORDS, free
from matcalc.tensor.sizes.size import Size

SHARE = 0.01
"""The share of the work ahead that is counted in a call: data are fixed for a hundred calls or more."""
READING = 4.0
"""The flops an entry must cost to be stored and read: reading its 8 bytes from memory takes as long."""


@dataclass(eq=False)
class Precomputed:
    """The values of a graph that are known from the inputs `fixed` and from `sizes`; the graph may still grow."""

    graph: Graph
    fixed: Set[str]
    sizes: frozenset[str]
    found: set[str] = field(default_factory=set)
    seen: int = 0

    def __contains__(self, value: object) -> bool:
        axes = {*self.graph.axes, *self.graph.batch_axes}
        for item in self.graph.items[self.seen :]:
            if self._is_known(item, axes):
                self.found.update(_made(item))
        self.seen = len(self.graph.items)
        return value in self.found

    def holds(self, exprs: Iterable[Expr]) -> bool:
        """Whether every value that expressions read is known."""
        return all(read.value in self for expr in exprs for read in within(expr) if isinstance(read, Read))

    def _is_known(self, item: Item, axes: Set[str]) -> bool:
        if isinstance(item, Value) and item.kind in ("input", "constant"):
            return item.kind == "constant" or item.name in self.fixed
        names = {name for size in sizes_of(item) for name in size.names}
        return names - axes <= self.sizes and all(name in self.found for name in values_read(item))


class Cut(NamedTuple):
    """A graph cut in two: `values` computed ahead, by the names of their inputs, and the `graph` of a call."""

    values: Mapping[str, Value]
    graph: Graph
    results: dict[str, Value]


def cut(ahead: Precomputed, results: dict[str, Value], words: Mapping[str, str]) -> Cut | None:
    """Return the graph cut in two, None if nothing is worth computing ahead; `words` are short names of values."""
    graph = ahead.graph
    chosen = _worth(ahead, {value.name for value in results.values()})
    if not chosen:
        return None
    taken = {*graph.reserved, *graph.values, *graph.axes, *graph.batch_axes, *WORDS}
    own = Graph(graph.reserved, [], dict(graph.values), graph.axes, graph.batch_axes)
    values: dict[str, Value] = {}
    for item in graph.items:
        for name in [name for name in _made(item) if name in chosen]:
            old = graph.values[name]
            label = free(words.get(name, "fixed"), taken)
            values[label] = old
            source = own.leaf(label, old.shape, dtype=old.dtype)
            own.add(Value(name, old.shape, "view", of=source, dtype=old.dtype, comment=old.comment))
        if not any(name in chosen for name in _made(item)):
            own.items.append(item)
    made = {name: _copied(own, value) if value.name in chosen else value for name, value in results.items()}
    return Cut(values, replace(own, reserved=own.reserved | values.keys()), made)


def _copied(graph: Graph, value: Value) -> Value:
    """Return a copy of a result that is known, so that each call returns an array of its own."""
    return graph.point(value.shape, Read(value.name, graph.axes[: len(value.shape)]), value.comment)


def _worth(ahead: Precomputed, needed: set[str]) -> dict[str, None]:
    """Return the known values that unknown ones read and that are worth storing."""
    chosen: dict[str, None] = {}
    added_to = {i.onto.name for i in ahead.graph.items if isinstance(i, Run) and i.onto and _made(i)[0] not in ahead}
    for item in reversed(ahead.graph.items):
        made = [name for name in _made(item) if name in needed]
        if not made:
            continue
        known = all(name in ahead and name not in added_to for name in made)
        if known and (isinstance(item, Run) or _is_costly(ahead.graph, item)):
            chosen.update(dict.fromkeys(made))
        else:
            needed.update(values_read(item))
    return chosen


def _is_costly(graph: Graph, value: Value) -> bool:
    """Whether an entry costs more to compute than to read from memory."""
    if value.kind == "sum":
        return True
    return value.kind == "point" and (any(part.domain for part in value.parts) or _work(graph, value) > READING)


def _work(graph: Graph, value: Value) -> float:
    """Return the flops of an entry, including those of the entries inlined into it."""
    total, stack, seen = 0.0, [value], {value.name}
    while stack:
        top = stack.pop()
        if top.kind != "point" or top.expr is None:
            continue
        total += work(top.expr)
        inside = {part.value for part in within(top.expr) if isinstance(part, Read)} - seen
        seen |= inside
        stack.extend(graph.values[name] for name in sorted(inside))
    return total


def _made(item: Item) -> list[str]:
    return [value.name for _, value in item.results] if isinstance(item, Run) else [item.name]


def values_read(item: Item) -> list[str]:
    """Return the names of the values that an item is computed from."""
    names = [part.value for expr in _exprs(item) for part in within(expr) if isinstance(part, Read)]
    if isinstance(item, Run):
        return [*names, *(o.value.name for o in item.operands), *([item.onto.name] if item.onto else [])]
    return [*names, *([item.of.name] if item.of is not None else [])]


def _exprs(item: Item) -> list[Expr]:
    if isinstance(item, Run):
        return [item.alpha]
    return [e for e in (item.expr, item.base, *(part.expr for part in item.parts)) if e is not None]


def sizes_of(item: Item) -> Iterator[Size]:
    """Yield the sizes and the arithmetic on axes in an item."""
    if isinstance(item, Run):
        found: list[object] = [s for _, s in (*item.sizes, *item.params, *item.batch)]
        yield from (size for _, value in item.results for size in value.shape)
    else:
        found = [*item.shape, *item.domain, *item.at, item.start]
        for part in item.parts:
            found += [*part.domain, *part.at, *(guard.size for guard in part.guards)]
    yield from (size for size in found if isinstance(size, Size))
    for expr in _exprs(item):
        for part_ in within(expr):
            yield from (size for size in _inside(part_) if isinstance(size, Size))


def _inside(expr: Expr) -> Sequence[object]:
    if isinstance(expr, Literal):
        return [expr.value]
    if isinstance(expr, Read):
        return expr.at
    if isinstance(expr, Apply):
        return expr.params
    return [guard.size for guard in expr.guards] if isinstance(expr, Select) else []
