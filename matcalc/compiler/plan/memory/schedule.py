"""Schedules values as steps: assigns levels, fuses loops and decides which values become arrays.

Entrywise values and sums of equal axes and level share one loop. The level is the number of barriers before it:
kernels, finished sums, entries read at another index. A value is an array only if a kernel, another loop or the caller
reads it; else it is a local number of its loop. What takes little work from entries of smaller arrays, such as the
differences of all pairs of rows, is computed again in each loop that reads it. A few passes over the values: linear
time.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from matcalc.compiler.entrywise import Apply, At, Expr, Literal, Read, Sum, reads, within
from matcalc.compiler.plan.values.describe import scaled
from matcalc.compiler.plan.values.values import Graph, Item, Part, Run, Shape, Value, plus, times
from matcalc.compiler.program import Argument, Call, Each, Let, Loop, Step, Store

CHEAP = 2  # flops of a function that is computed again rather than stored


@dataclass(slots=True)
class Cluster:
    """The values that share a loop."""

    level: int
    domain: Shape
    points: list[Value] = field(default_factory=list)
    sums: list[Value] = field(default_factory=list)


@dataclass(slots=True)
class Schedule:
    """The steps of a plan in terms of values; `same` maps views to the values that they show."""

    steps: list[Step]
    same: dict[str, Value]
    views: dict[str, Value]
    faults: tuple[str, ...]


class Scheduler:
    def __init__(self, graph: Graph, outputs: Sequence[Value]) -> None:
        self.graph = graph
        self.outputs = outputs
        self.live: list[Item] = []
        self.hard: set[str] = {v.name for v in outputs}
        self.in_parts: set[str] = set()
        self.readers: dict[str, list[Value]] = {}
        self.level: dict[str, int] = {}
        self.available: dict[str, int] = {}
        self.run_level: dict[int, int] = {}
        self.again: dict[str, set[int]] = {}

    # ---- readers

    def find_live(self) -> None:
        """Drop the items that no output needs; record values that must be in memory and readers within loops."""
        needed = set(self.hard)
        kept: list[Item] = []
        for item in reversed(self.graph.items):
            if isinstance(item, Run):
                if not any(v.name in needed for _, v in item.results):
                    continue
                self.hard.update(names_read(item))
                needed.update(names_read(item))
            elif item.name not in needed:
                continue
            elif item.kind == "view":
                assert item.of is not None
                needed.add(item.of.name)
                self.hard.add(item.of.name)
            elif item.kind in ("point", "sum"):
                self._note(item, needed)
            kept.append(item)
        self.live = kept[::-1]

    def _note(self, item: Value, needed: set[str]) -> None:
        if item.parts and (item.name in self.hard or item.expr is None):
            self.in_parts.add(item.name)
            self.hard.add(item.name)
            for part in item.parts:
                for read in reads(part.expr):
                    needed.add(read.value)
                    self.hard.add(read.value)
        for read in reads(self.whole(item)):
            needed.add(read.value)
            if self.is_local(item, read):
                self.readers.setdefault(read.value, []).append(item)
            else:
                self.hard.add(read.value)

    def whole(self, value: Value) -> Expr:
        """Return the expression that is computed at each point of a value."""
        if value.name in self.in_parts:
            return value.base if value.base is not None else Literal(0)
        assert value.expr is not None
        return value.expr

    def is_local(self, reader: Value, read: Read) -> bool:
        """Whether a read is at the loop's own point, so that one loop may compute both values."""
        value = self.graph.values[read.value]
        if value.kind != "point" or value.name in self.in_parts or (value.parts and value.expr is None):
            return False
        return value.shape == reader.domain and read.at == self.graph.axes[: len(reader.domain)]

    # ---- levels

    def find_levels(self) -> None:
        for item in self.live:
            if isinstance(item, Run):
                level = max((self.available[n] for n in names_read(item)), default=0)
                self.run_level[item.order] = level
                for _, value in item.results:
                    self.available[value.name] = level + 1
            elif item.kind in ("input", "constant"):
                self.available[item.name] = 0
            elif item.kind == "view":
                assert item.of is not None
                self.available[item.name] = self.available[item.of.name]
            else:
                self._assign_level(item)
        self._sink()

    def _assign_level(self, value: Value) -> None:
        level = 0
        for read in reads(self.whole(value)):
            local = self.is_local(value, read) and read.value not in self.in_parts
            level = max(level, self.level[read.value] if local else self.available[read.value])
        self.level[value.name] = level
        after = level + 1
        if value.name in self.in_parts:
            for part in value.parts:
                after = max([after, *(self.available[r.value] for r in reads(part.expr))]) + 1
        self.available[value.name] = after

    def _sink(self) -> None:
        """Move a value whose readers are all in one later loop into that loop, so that it is not stored."""
        for item in reversed(self.live):
            if isinstance(item, Run) or item.kind != "point" or item.name in self.hard or item.name in self.in_parts:
                continue
            own = [r for r in reads(self.whole(item)) if self.is_local(item, r)]
            if any(len(self.readers.get(r.value, ())) > 1 or r.value in self.hard for r in own):
                continue
            levels = {self.level[v.name] for v in self.readers.get(item.name, ())}
            if len(levels) == 1:
                self.level[item.name] = levels.pop()

    def find_recomputed(self) -> None:
        """Find the values that each loop computes again, with the levels of these loops."""
        light: list[Value] = []
        names: set[str] = set()
        for item in self.live:
            if isinstance(item, Value) and self._is_light(item, names):
                light.append(item)
                names.add(item.name)
        for value in reversed(light):
            levels = {level for v in self.readers.get(value.name, ()) for level in self._levels(v)}
            if len(levels) > 1:
                self.again[value.name] = levels

    def _is_light(self, value: Value, light: Container[str]) -> bool:
        """Whether a value is little work from entries of smaller arrays, and from light values at the same point."""
        if value.kind != "point" or value.name in self.hard or value.expr is None:
            return False
        if any(isinstance(part, Apply) and part.function.cost > CHEAP for part in within(value.expr)):
            return False
        return all(
            read.value in light
            if self.is_local(value, read)
            else len(self.graph.values[read.value].shape) < len(value.shape)
            for read in reads(value.expr)
        )

    def _levels(self, value: Value) -> set[int]:
        """Return the levels of the loops that compute a value."""
        return self.again.get(value.name, {self.level[value.name]})

    # ---- steps

    def steps(self) -> Schedule:
        self.find_live()
        self.find_levels()
        self.find_recomputed()
        clusters: dict[tuple[int, Shape], Cluster] = {}
        timed: list[tuple[int, int, int, Cluster | Run | tuple[Value, int]]] = []
        same: dict[str, Value] = {}
        views: dict[str, Value] = {}
        for number, item in enumerate(self.live):
            if isinstance(item, Run):
                timed.append((self.run_level[item.order], 0, number, item))
            elif item.kind == "view":
                assert item.of is not None
                same[item.name] = item.of
                views[item.name] = item
            elif item.kind in ("point", "sum"):
                if item.name in self.in_parts:
                    timed += self._part_times(item, number)
                    if self._is_covered(item):
                        continue
                for level in sorted(self._levels(item)):
                    key = (level, item.domain)
                    if key not in clusters:
                        clusters[key] = Cluster(*key)
                        timed.append((level, 1, number, clusters[key]))
                    cluster = clusters[key]
                    (cluster.points if item.kind == "point" else cluster.sums).append(item)
        timed.sort(key=lambda t: t[:3])
        faults: dict[str, int] = {}
        steps: list[Step] = []
        for _, _, _, what in timed:
            if isinstance(what, Run):
                steps.append(self._call(what, faults))
            elif isinstance(what, Cluster):
                steps.append(self._loop(what))
            else:
                step = self._part(*what)
                together = _together(steps[-1], step, same) if steps else None
                steps[-1:] = [together] if together is not None else [*steps[-1:], step]
        return Schedule(steps, same, views, tuple(faults))

    def _part_times(self, value: Value, number: int) -> Iterable[tuple[int, int, int, tuple[Value, int]]]:
        level = self.level[value.name] + 1
        for k, part in enumerate(value.parts):
            level = max([level, *(self.available[r.value] for r in reads(part.expr))])
            yield level, 0, number, (value, k)
            level += 1

    def _call(self, run: Run, faults: dict[str, int]) -> Step:
        kept = tuple(a for a, _ in run.batch if a in run.kept)
        call = Call(
            run.kernel,
            tuple((name, Argument(v.name, kept)) for name, v in run.results),
            tuple((o.field, Argument(o.value.name, o.lead, o.flip)) for o in run.operands),
            run.sizes,
            run.params,
            run.alpha,
            run.onto.name if run.onto else "",
            faults.setdefault(run.fault, len(faults) + 1) if run.fault else 0,
        )
        step: Step = call
        for axis, size in reversed(run.batch):
            step = Each(axis, size, (step,))
        return step

    def _loop(self, cluster: Cluster) -> Loop:
        axes = self.graph.axes[: len(cluster.domain)]
        inside = {v.name for v in cluster.points}
        read_here: set[str] = set()
        for value in (*cluster.points, *cluster.sums):
            for r in reads(self.whole(value)):
                if r.value in inside and r.at == axes:
                    read_here.add(r.value)
        stored = [v for v in cluster.points if self._is_stored(v)]
        bind_all = len(stored) > 1
        lets: list[Let] = []
        stores: list[Store] = []
        for value in cluster.points:
            expr = self.whole(value)
            name = self.first_name(value)
            if value not in stored:
                lets.append(Let(value.name, expr))
            elif value.name in read_here or (bind_all and not self._is_there(expr, inside, axes)):
                lets.append(Let(value.name, expr))
                stores.append(Store(name, axes, Read(value.name, axes)))
            else:
                stores.append(Store(name, axes, expr))
        sums = tuple(Store(v.name, v.at, self.whole(v)) for v in cluster.sums)
        return Loop(tuple(zip(axes, cluster.domain, strict=True)), tuple(lets), sums, tuple(stores))

    def _is_there(self, expr: Expr, inside: set[str], axes: At) -> bool:
        """Whether the value to store is available without further work: a number, or one that the loop computes."""
        return isinstance(expr, Literal) or (isinstance(expr, Read) and expr.value in inside and expr.at == axes)

    def _is_stored(self, value: Value) -> bool:
        """Whether a value is an array: one that a loop reads which does not compute it."""
        if value.name in self.hard:
            return True
        return any(not self._levels(r) <= self._levels(value) for r in self.readers.get(value.name, ()))

    def first_name(self, value: Value) -> str:
        """Return the name of the value that a loop stores; adding parts to it yields the final value."""
        return f"{value.name}_0" if value.name in self.in_parts else value.name

    def _part(self, value: Value, k: int) -> Loop:
        part: Part = value.parts[k]
        axes = self.graph.axes[: len(part.domain)]
        before = f"{value.name}_{k}"
        after = value.name if k == len(value.parts) - 1 else f"{value.name}_{k + 1}"
        if self._is_covered(value):
            store = Store(after, part.at, part.expr)
        elif k == 0 and value.base is None and part.once:
            store = Store(after, part.at, part.expr, over=before)
        else:
            store = Store(after, part.at, part.expr, before)
        return Loop(tuple(zip(axes, part.domain, strict=True)), (), (), (store,), part.guards)

    def _is_covered(self, value: Value) -> bool:
        """Whether the parts of a value write all its entries, so that it need not be zero-filled first."""
        return value.base is None and len(value.parts) == 1 and value.parts[0].covers


def _together(one: Step, other: Loop, same: Mapping[str, Value]) -> Loop | None:
    """Return one loop for two that only add to arrays, None if one reads arrays that the other writes."""
    if not isinstance(one, Loop) or one.lets or one.sums or (one.axes, one.guards) != (other.axes, other.guards):
        return None
    stores = (*one.stores, *other.stores)
    written = {name for store in stores for name in (store.value, store.onto)}
    if not all(store.onto for store in stores):
        return None
    if any(_stored_as(r.value, same) in written for s in stores for r in reads(s.expr)):
        return None
    return replace(one, stores=stores) if len(written) == 2 * len(stores) else None


def _stored_as(value: str, same: Mapping[str, Value]) -> str:
    while value in same:
        value = same[value].name
    return value


def accumulate(graph: Graph, ahead: Container[str] = (), results: Iterable[str] = ()) -> None:
    """Make kernels accumulate: a sum of several kernels' results without other readers becomes one array.

    The first kernel writes it, the others add to it by beta, and coefficients become alpha. Values known `ahead` are
    added only to others known ahead. The caller reads `results`, so nothing is added to them.
    """
    count: dict[str, int] = dict.fromkeys(results, 1)
    for item in graph.items:
        for name in names_read(item):
            count[name] = count.get(name, 0) + 1
    for item in graph.items:
        if isinstance(item, Value) and item.kind == "point" and item.expr is not None:
            _chain(graph, item, count, ahead if item.name not in ahead else ())


def names_read(item: Item) -> list[str]:
    """Return the values that an item of a graph reads, once for each read."""
    if isinstance(item, Run):
        names = [o.value.name for o in item.operands] + [r.value for r in reads(item.alpha)]
        return names + ([item.onto.name] if item.onto else [])
    if item.kind == "view":
        assert item.of is not None
        return [item.of.name]
    return [r.value for r in reads(item.expr)] if item.expr is not None else []


def _chain(graph: Graph, value: Value, count: dict[str, int], apart: Container[str]) -> None:
    expr = value.expr
    if not isinstance(expr, Sum) or not value.shape:
        return
    axes = graph.axes[: len(value.shape)]
    chosen: list[tuple[int, Run]] = []
    for k, (_, term) in enumerate(expr.terms):
        if not isinstance(term, Read) or term.at != axes or count[term.value] != 1 or term.value in apart:
            continue
        run = graph.values[term.value].run
        if run is not None and run.kernel.scales and run.onto is None and not run.batch:
            chosen.append((k, run))
    if len(chosen) < 2 or value.parts:
        return
    chosen.sort(key=lambda c: c[1].order)
    previous: Value | None = None
    for k, run in chosen:
        run.alpha = times(expr.terms[k][0], (run.alpha,))
        run.onto, run.comment = previous, scaled(expr.terms[k][0], run.comment)
        previous = run.results[0][1]
    assert previous is not None
    rest = [t for k, t in enumerate(expr.terms) if k not in {p for p, _ in chosen}]
    value.expr = plus([(1, Read(previous.name, axes)), *rest])
