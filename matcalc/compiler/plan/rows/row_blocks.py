"""Splits work on a large matrix that is read twice, as in `X'*f(X*w)`, into blocks of rows.

A value is *by rows* if its leading axis is the axis of rows and each of its rows depends on the same rows of others. It
is a *total* if it sums over rows. Index forms determine which: of kernels, whose pattern has a letter for rows, and of
loops. These values become one Program, `Part` of one kernel, which runs on blocks of rows; totals are added up block by
block. So X is read from memory once, and intermediate rows stay in cache. Values that need a total are computed
afterwards. The number of rows in a block depends on sizes alone, so sums are the same in each call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from matcalc.compiler.entrywise import Apply, Expr, Literal, Read, Select, within
from matcalc.compiler.listing import listing, operations
from matcalc.compiler.lowering_entries import Blocks, Kernel, Part, read_kernel
from matcalc.compiler.plan.values.precompute import values_read
from matcalc.compiler.plan.values.values import Graph, Item, Operand, Run, Value, rebuilt
from matcalc.compiler.program import Program
from matcalc.language.identifiers import free
from matcalc.tensor.sizes.size import Size, volume

WHOLE, ROWS, TOTAL, AFTER = "whole", "rows", "total", "after"


@dataclass(eq=False)
class Region:
    """The items computed by rows of the axis of length `rows`, and the kind of each value of the graph."""

    graph: Graph
    rows: Size
    kinds: dict[str, str] = field(default_factory=dict)
    items: list[Item] = field(default_factory=list)

    # ---- which values

    def add(self, item: Item) -> None:
        """Add an item if it can be computed by rows, and record the kind of its values."""
        names = [name for _, name in _made(item)]
        read = [self.kinds[name] for name in values_read(item)]
        kind = WHOLE
        if TOTAL in read or AFTER in read:
            kind = TOTAL if self._adds_to_total(item) and self._run(item) == TOTAL else AFTER
        elif isinstance(item, Run):
            kind = self._run(item)
        elif item.kind in ("point", "sum"):
            kind = self._entries(item)
        if kind in (ROWS, TOTAL):
            self.items.append(item)
        elif ROWS in read:
            kind = AFTER
        self.kinds.update(dict.fromkeys(names, kind))

    def _adds_to_total(self, item: Item) -> bool:
        """Whether an item needs no total except the one that it adds to."""
        if not isinstance(item, Run) or item.onto is None or self.kinds[item.onto.name] != TOTAL:
            return False
        return all(self.kinds[n] not in (TOTAL, AFTER) for n in values_read(item) if n != item.onto.name)

    def _is_by_rows(self, shape: Sequence[Size]) -> bool:
        """Whether an array has rows: its leading axis, and no other, is the axis of rows."""
        return bool(shape) and shape[0] is self.rows and not any(self._depends_on_rows(s) for s in shape[1:])

    def _depends_on_rows(self, size: object) -> bool:
        return isinstance(size, Size) and self.rows.key in size.names

    def _run(self, run: Item) -> str:
        """Return the kind of a kernel's results: rows if the letter of rows leads them, a total if it is summed."""
        assert isinstance(run, Run)
        kernel = run.kernel
        letters = [letter for letter, size in run.sizes if size is self.rows]
        if len(letters) != 1 or any(self._depends_on_rows(s) for x, s in run.sizes if x != letters[0]):
            return WHOLE
        onto = run.onto is None or self.kinds[run.onto.name] == TOTAL
        if run.batch or run.fault or kernel.parts or kernel.via or kernel.sizes or not onto:
            return WHOLE
        (letter,) = letters
        operands = {o.field: o for o in run.operands}
        terms = list(kernel.factors)
        if any(term.is_operation for term in terms):
            if len(terms) > 1 or kernel.rows != letter:
                return WHOLE
            terms = list(terms[0].args)
        for term in terms:
            operand = operands.get(term.name)
            at = term.letters or ()
            if operand is None or operand.lead or f"{term.name}.t" in dict(run.params):
                return WHOLE
            at = at[::-1] if operand.flip else at
            if letter in at[1:] or (letter in at) != self._is_by_rows(operand.value.shape):
                return WHOLE
        if not any(letter in (term.letters or ()) for term in terms):
            return WHOLE
        if any(self._depends_on_rows(s) for o in run.operands for s in o.value.shape[1:]):
            return WHOLE
        axes = {(term.letters or ()).index(letter) if letter in (term.letters or ()) else -1 for term in kernel.results}
        kind = {frozenset([0]): ROWS, frozenset([-1]): TOTAL}.get(frozenset(axes), WHOLE)
        return WHOLE if run.onto is not None and kind != TOTAL else kind

    def _entries(self, value: Value) -> str:
        """Return the kind of a loop's result."""
        if value.parts or value.expr is None or not self._is_by_rows(value.domain):
            return WHOLE
        row = self.graph.axes[0]
        for part in within(value.expr):
            if isinstance(part, Read):
                leads = self._is_by_rows(self.graph.values[part.value].shape)
                rest = part.at[1:] if leads else part.at
                if leads and part.at[0] != row or any(row in Size.of(k).names for k in rest):
                    return WHOLE
                if any(self._depends_on_rows(s) for s in self.graph.values[part.value].shape[leads:]):
                    return WHOLE
                if any(self._depends_on_rows(k) for k in part.at):
                    return WHOLE
            elif any(row in size.names for size in _numbers(part)):
                return WHOLE
        if value.kind == "point" or value.at[:1] == (row,):
            return ROWS
        return TOTAL if row not in value.at else WHOLE

    # ---- whether it pays

    def keep(self, requested: Iterable[str]) -> list[str]:
        """Drop the items that are not needed; return the names of the results of the others, in order."""
        self._leave_to_readers()
        inside = {name for item in self.items for _, name in _made(item)}
        results = {name for name in requested if name in inside}
        for item in self.graph.items:
            if not any(name in inside for _, name in _made(item)):
                results.update(name for name in values_read(item) if name in inside)
        needed, kept = set(results), list[Item]()
        for item in reversed(self.items):
            if any(name in needed for _, name in _made(item)):
                kept.append(item)
                needed.update(values_read(item))
        self.items = kept[::-1]
        return [name for item in self.items for _, name in _made(item) if name in results]

    def _leave_to_readers(self) -> None:
        """Drop entrywise values of other data that no item reads: their readers inline them without an array."""
        inside = {name for item in self.items for _, name in _made(item)}
        read: set[str] = set()
        for item in reversed(list(self.items)):
            own = set(values_read(item))
            if isinstance(item, Value) and item.kind == "point" and item.name not in read and not own & inside:
                self.items.remove(item)
                self.kinds[item.name] = AFTER
            else:
                read |= own

    def saves(self, results: Sequence[str]) -> bool:
        """Whether a matrix is read twice and something is summed, so that blocks save memory traffic."""
        if not any(self.kinds[name] == TOTAL for name in results):
            return False
        passes: dict[str, int] = {}
        loops: set[str] = set()
        for item in self.items:
            read = [n for n in set(values_read(item)) if len(self.graph.values[n].shape) > 1]
            for name in (n for n in read if self._is_by_rows(self.graph.values[n].shape)):
                if isinstance(item, Run):
                    passes[name] = passes.get(name, 0) + 1
                else:
                    loops.add(name)
        return any(count + (name in loops) > 1 for name, count in passes.items())


def region_of(graph: Graph, results: Iterable[str]) -> tuple[Region, list[str]] | None:
    """Return the part of a graph worth computing by rows, and the names of its results; None if there is none."""
    requested = set(results)
    live = _live(graph, requested)
    axes = {v.shape[0]: None for v in live if isinstance(v, Value) and v.kind == "input" and len(v.shape) > 1}
    for size in axes:
        if size.names != (size.key,):
            continue
        region = Region(Graph(graph.reserved, live, graph.values, graph.axes, graph.batch_axes), size)
        for item in live:
            region.add(item)
        outputs = region.keep(requested)
        if region.saves(outputs):
            return region, outputs
    return None


def _live(graph: Graph, requested: set[str]) -> list[Item]:
    needed, kept = set(requested), list[Item]()
    for item in reversed(graph.items):
        if any(name in needed for _, name in _made(item)) or isinstance(item, Value) and item.kind == "input":
            kept.append(item)
            needed.update(values_read(item))
    return kept[::-1]


def _made(item: Item) -> list[tuple[str, str]]:
    return [(f, v.name) for f, v in item.results] if isinstance(item, Run) else [("", item.name)]


def _numbers(part: Expr) -> Iterator[Size]:
    """Yield the sizes that an expression uses as numbers or in guards."""
    found: Sequence[object] = ()
    if isinstance(part, Literal):
        found = (part.value,)
    elif isinstance(part, Apply):
        found = part.params
    elif isinstance(part, Select):
        found = tuple(guard.size for guard in part.guards)
    yield from (size for size in found if isinstance(size, Size))


# ---- the part of a block, and the graph round it


@dataclass(frozen=True, eq=False)
class Block:
    """The graph of the work on a block of rows, with named arguments and results.

    `all_rows` is the name in it for the number of all rows.
    """

    graph: Graph
    arguments: Mapping[str, Value]
    results: Mapping[str, Value]
    all_rows: str


def block_of(region: Region, results: Sequence[str], words: Mapping[str, str]) -> Block:
    """Return the graph of the work on a block of rows; `words` are short names of values."""
    outer = region.graph
    made = {name for item in region.items for _, name in _made(item)}
    read = dict.fromkeys(n for item in region.items for n in values_read(item) if n not in made)
    taken = {*outer.reserved, *outer.values, *outer.axes, *outer.batch_axes}
    all_rows = free(f"{region.rows.key}_all", taken)
    taken.add(all_rows)
    labels = {name: _label(words.get(name, ""), "given", taken, outer, name) for name in read}
    labels |= {name: _label(words.get(name, ""), "total", taken, outer, "") for name in results}
    reserved = outer.reserved | set(labels.values()) | {all_rows}
    graph = Graph(reserved, [], dict(outer.values), outer.axes, outer.batch_axes)
    arguments = {}
    for name in read:
        old, label = outer.values[name], labels[name]
        arguments[label] = old
        leaf = graph.leaf(label, old.shape, dtype=old.dtype)
        if label != name:
            graph.add(Value(name, old.shape, "view", of=leaf, dtype=old.dtype, comment=old.comment))
    whole = {region.rows.key: Size.of(all_rows)}
    for item in region.items:
        own = _counting_all(copy(item), whole)
        graph.items.append(own)
        if isinstance(own, Value):
            graph.values[own.name] = own
        else:
            own.results = [(f, copy(v)) for f, v in own.results]
            graph.values.update((v.name, v) for _, v in own.results)
    return Block(graph, arguments, {labels[name]: graph.values[name] for name in results}, all_rows)


def _label(word: str, otherwise: str, taken: set[str], graph: Graph, name: str) -> str:
    """Return the name of an argument or a result; an input retains its own."""
    if name and graph.values[name].kind == "input":
        return name
    label = free(word or otherwise, taken)
    taken.add(label)
    return label


def _counting_all(item: Item, whole: Mapping[str, Size]) -> Item:
    """Return an item in which numbers refer to all rows, not to those of a block."""
    if isinstance(item, Run):
        item.alpha = _with_sizes(item.alpha, whole)
        item.params = tuple((n, v.substitute(whole) if isinstance(v, Size) else v) for n, v in item.params)
    elif item.expr is not None:
        item.expr = _with_sizes(item.expr, whole)
    return item


def _with_sizes(expr: Expr, values: Mapping[str, Size]) -> Expr:
    if isinstance(expr, Literal) and isinstance(expr.value, Size):
        return Literal(expr.value.substitute(values))
    if isinstance(expr, Apply):
        params = tuple(p.substitute(values) if isinstance(p, Size) else p for p in expr.params)
        return Apply(expr.function, tuple(_with_sizes(a, values) for a in expr.args), params)
    if isinstance(expr, Select):
        guards = tuple(replace(g, size=g.size.substitute(values)) for g in expr.guards)
        return Select(guards, _with_sizes(expr.body, values))
    return rebuilt(expr, lambda operand: _with_sizes(operand, values))


def width_of(region: Region, block: Block, program: Program) -> Size:
    """Return the number of entries of a row, in the arguments and in the arrays that `program` allocates."""
    shapes = [value.shape for value in block.arguments.values()]
    shapes += [buffer.shape for buffer in program.buffers if buffer.role == "temporary"]
    return sum((volume(shape[1:]) for shape in shapes if region.rows in shape[:1]), Size.of(0))


def without(region: Region, results: Sequence[str], block: Block, program: Program) -> Graph:
    """Return the graph with one kernel for the work by rows, whose `program` is that of a block."""
    outer = region.graph
    kernel = _kernel(region, block, program, [region.kinds[name] for name in results])
    run = Run(kernel, [], [Operand(f"a_{k}", value) for k, value in enumerate(block.arguments.values())])
    shapes = [s for v in (*block.arguments.values(), *block.results.values()) for s in v.shape]
    run.sizes = tuple((f"n_{k}", size) for k, size in enumerate(dict.fromkeys(shapes)))
    own = Graph(outer.reserved, [], dict(outer.values), outer.axes, outer.batch_axes)
    sizes = {block.all_rows: region.rows}
    run.params = tuple((f"size_{k}", sizes.get(n, Size.of(n))) for k, n in enumerate(program.size_args))
    before = [i for i in outer.items if region.kinds[_made(i)[0][1]] == WHOLE]
    after = [i for i in outer.items if region.kinds[_made(i)[0][1]] == AFTER]
    own.items = [*before, run, *after]
    run.order = max((i.order for i in outer.items if isinstance(i, Run)), default=0) + 1
    for number, name in enumerate(results):
        old = outer.values[name]
        value = Value(name, old.shape, "kernel", run=run, dtype=old.dtype, comment=old.comment)
        own.values[name] = value
        run.results.append((f"r_{number}", value))
    run.comment = f"by blocks of rows: {', '.join(block.results)}"
    return own


def _kernel(region: Region, block: Block, program: Program, kinds: Sequence[str]) -> Kernel:
    """Return the entry of the kernel, in the form of one in kernels.toml."""
    name = f"by_rows_{blake2b(listing(program).encode(), digest_size=3).hexdigest()}"
    arrays = [*block.arguments.values(), *block.results.values()]
    letters = {size: f"n_{k}" for k, size in enumerate(dict.fromkeys(s for v in arrays for s in v.shape))}
    names = [f"a_{k}" for k in range(len(block.arguments))]
    made = [f"r_{k}" for k in range(len(block.results))]
    shapes = [[letters[s] for s in value.shape] for value in arrays]
    terms = [f"{name_}[{', '.join(x)}]" if x else name_ for name_, x in zip([*names, *made], shapes, strict=True)]
    fields = [f"{{{n}}}" for n in (*names, *(f"size_{k}" for k in range(len(program.size_args))))]
    result_shapes = ", ".join(f"({''.join(f'{{{x}}}, ' for x in s)})" for s in shapes[len(names) :])
    part = Part(f"{name}_block", program, (*block.results, *block.arguments, *program.size_args))
    entry = {
        "pattern": f"{', '.join(terms[len(names) :])} = {name}({', '.join(terms[: len(names)])})",
        "numpy": f"all_rows(({result_shapes},), {part.spelled('numpy')}, {', '.join(fields)})",
        "words": f"blocks of rows, one after another, by {part.name}",
    }
    sliced = [label for label, value in block.arguments.items() if region.rows in value.shape[:1]]
    flops, moved = operations(program)[0], sum((volume(v.shape) * 8 for v in arrays), Size.of(0))
    totals = tuple(label for label, kind in zip(block.results, kinds, strict=True) if kind == TOTAL)
    of_row = flops.substitute({region.rows.key: Size.of(1)}).substitute({block.all_rows: region.rows})
    besides = sum((volume(v.shape) for v in arrays if region.rows not in v.shape[:1]), Size.of(0))
    blocks = Blocks(tuple(sliced), totals, region.rows, width_of(region, block, program), of_row, besides)
    return replace(
        read_kernel(name, entry, 0), parts=(part,), blocks=blocks, flops=lambda _: flops, bytes=lambda _: moved
    )
