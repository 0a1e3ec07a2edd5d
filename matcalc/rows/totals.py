"""Compiles the totals of a block of rows, their merging and the final result, and runs the passes over the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from matcalc.cached import cached_property
from matcalc.compiler.call.bind import bind
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Wrt
from matcalc.expressions.read_input import expressions
from matcalc.language.identifiers import by_name, file_path, nearest, shown
from matcalc.pipeline.build import build
from matcalc.pipeline.requests import Output, Request, as_computed
from matcalc.rows.blocks import FromFiles, FromParquet, Progress, computed
from matcalc.rows.separability import SUM, Separated, Total, short_text
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.sizes_from_shapes import solve
from matcalc.tensor.symbols import Names, free_sizes

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt

    from matcalc.compiler.call.compiled import Compiled

Block = Mapping[str, "npt.ArrayLike"]
Arrays = tuple["np.ndarray[Any, Any]", ...]


class Totals(NamedTuple):
    """Totals over some rows in one round (`values`), totals over all rows in earlier rounds, and sizes of the rows."""

    values: Arrays
    before: Arrays = ()
    sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class RowTotals:
    """Totals over the rows that the size `rows` counts, and the results of a request computed from them."""

    f: Expression
    wrt: Wrt | None
    rows: str
    request: Request
    found: Separated | None
    reason: str = ""
    also: str = ""

    def listed(self) -> list[str]:
        """Return a line for each total."""
        lines = []
        for total in self.whole.totals:
            how = "" if total.merge == SUM else f", merged by {total.merge}"
            how += "" if total.among is None else f", of blocks whose {total.among.name} is that of all"
            shape = " x ".join(map(str, total.node.shape)) or "a number"
            lines.append(f"pass {total.round + 1}: {total.symbol.name} = {short_text(total.node)}    ({shape}{how})")
        return lines

    @property
    def whole(self) -> Separated:
        """The totals and the results computed from them. Raises: NotSupported if the formula does not separate."""
        if self.found is None:
            raise NotSupported(f"this does not separate over {self.rows}: {self.reason}")
        return self.found

    @cached_property
    def args(self) -> tuple[str, ...]:
        """The names of the arguments of `partial`, in order; sizes that no array determines come last."""
        return (*(node.name for node in self.request.names.ordered()), *self.sizes)

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes that no argument determines."""
        roots = [out.unfactored or out.node for out in self.request.outputs] + [t.node for t in self.whole.totals]
        return tuple(name for name in free_sizes(roots, self.request.names) if name != self.rows)

    @cached_property
    def row_sizes(self) -> tuple[str, ...]:
        """The names of the sizes of the other axes of arguments with rows."""
        shapes = [self.request.names.symbols[name].shape for name in self.split]
        found = dict.fromkeys(name for shape in shapes for size in shape for name in size.names)
        return tuple(name for name in found if name != self.rows and name not in self.sizes)

    @cached_property
    def split(self) -> tuple[str, ...]:
        """The names of the arguments with rows."""
        return tuple(s.name for s in self.request.names.ordered() if Size.of(self.rows) in s.shape)

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The names of the arguments without rows, the same for all blocks."""
        return tuple(name for name in self.args if name not in self.split)

    @property
    def rounds(self) -> int:
        """The number of passes over the rows of an evaluation, at least one."""
        return max(self.whole.rounds, 1)

    # ---- blocks

    def partial(self, /, *args: npt.ArrayLike, after: Totals | None = None, **values: npt.ArrayLike) -> Totals:
        """Return the totals of one block of rows: arguments in the order of `args`, or by name.

        In a later round, `after` are the totals of all rows in the round before.
        """
        if not isinstance(after, (Totals, type(None))):
            raise TypeError(f"after= takes a result of partial or combine, not {shown(after)}")
        before = () if after is None else (*after.before, *after.values)
        number = self._round_after(before)
        given = dict(zip(self.args, bind("partial", self.args, args, values), strict=True))
        given |= {t.symbol.name: value for t, value in zip(self.whole.totals, before, strict=False)}
        sizes = sizes_of(self, given)
        if not self.whole.totals:
            return Totals((), (), sizes)
        fn = self.partials[number]
        return Totals(tuple(map(_array, fn(*(given[name] for name in fn.args)))), before, sizes)

    def combine(self, a: Totals, b: Totals) -> Totals:
        """Return the merged totals of two blocks in one round. Raises: ShapeError for blocks of different sizes."""
        if a.sizes != b.sizes:
            axes = zip(self.row_sizes, a.sizes, b.sizes, strict=True)
            name, one, other = next((name, one, other) for name, one, other in axes if one != other)
            raise ShapeError(f"the blocks do not fit together: {name} is {one} in one and {other} in another")
        totals = self._in_round(self._round_after(a.before))
        return Totals(merged(totals, a.values, b.values), a.before, a.sizes)

    def scaled(self, part: Totals, factor: float) -> Totals:
        """Return the totals of randomly drawn rows, scaled as estimates for `factor` times as many rows.

        Raises: NotSupported for totals that are no sums.
        """
        totals = self._in_round(self._round_after(part.before))
        for total in totals:
            if total.merge != SUM:
                raise NotSupported(f"rows cannot be drawn: {short_text(total.node)} of some is no estimate for all")
        return part._replace(values=tuple(value * factor for value in part.values))

    def finish(self, total: Totals, /, *args: npt.ArrayLike, **values: npt.ArrayLike) -> Any:
        """Return the result from the totals over all rows in the last round and the shared arguments."""
        given = dict(zip(self.shared, bind("finish", self.shared, args, values), strict=True))
        given |= self.named(total)
        return self.last(*(given[name] for name in self.last.args))

    def named(self, total: Totals) -> dict[str, Any]:
        """Return totals by the names of their symbols, and the sizes that rows determine."""
        known = (*total.before, *total.values)
        named = {t.symbol.name: value for t, value in zip(self.whole.totals, known, strict=bool(known))}
        return {**named, **dict(zip(self.row_sizes, total.sizes, strict=False))}

    # ---- all rows

    def result_over(
        self, blocks: Iterable[Block], shared: Mapping[str, npt.ArrayLike], threads: int, progress: bool = False
    ) -> Any:
        """Return the result over all blocks.

        Raises: as `totals_over`; UnknownName for an unknown or missing name.
        """
        self.whole  # noqa: B018  raises if the formula does not separate
        self.check_passed(shared, self.shared, "a shared argument")
        return self.finish(self.totals_over(blocks, shared, threads, progress), **shared)

    def totals_over(
        self, blocks: Iterable[Block], shared: Mapping[str, npt.ArrayLike], threads: int, progress: bool = False
    ) -> Totals:
        """Return the totals over all blocks, after all passes.

        Raises: ValueError if there are no rows, or for an iterator with several rounds.
        """
        rounds = self.rounds
        if rounds > 1 and iter(blocks) is blocks:
            hint = "give a list, or what can be iterated again"
            raise ValueError(f"{rounds} passes over the rows cannot be made over an iterator: {hint}")
        total: Totals | None = None
        for number in range(rounds):
            progress_line = Progress(f"pass {number + 1} of {rounds}", self.rows) if progress else None
            total = self._pass(blocks, shared, threads, total, progress_line)
        return Totals(()) if total is None else total

    def _pass(
        self,
        blocks: Iterable[Block],
        shared: Mapping[str, npt.ArrayLike],
        threads: int,
        after: Totals | None,
        progress_line: Progress | None,
    ) -> Totals:
        def one(block: Block) -> tuple[int, Totals | None]:
            self.check_passed(block, self.split, "an argument with rows")
            rows = rows_in(self, block)
            return rows, self.partial(after=after, **shared, **block) if rows else None

        whole: Totals | None = None
        for rows, part in computed(one, blocks, threads):
            if part is not None:
                whole = part if whole is None else self.combine(whole, part)
            if progress_line is not None:
                progress_line.add(rows)
        if whole is None:
            raise ValueError("there are no rows")
        if progress_line is not None:
            progress_line.end()
        return whole

    def check_passed(self, given: Mapping[str, object], expected: Sequence[str], what: str) -> None:
        """Raise UnknownName for an unexpected or missing name; `what` describes an expected one in the message."""
        for name in (name for name in given if name not in expected):
            known = "it is shared" if name in self.shared else "it has rows" if name in self.split else ""
            raise UnknownName(f"{name} is not {what}{f': {known}' if known else nearest(name, list(self.args))}")
        missing = next((name for name in expected if name not in given), None)
        if missing is not None:
            raise UnknownName(f"{missing} is missing: it is {what}")

    def _in_round(self, number: int) -> list[Total]:
        return self._by_round[number]

    @cached_property
    def _by_round(self) -> list[list[Total]]:
        return [[total for total in self.whole.totals if total.round == number] for number in range(self.rounds)]

    def _round_after(self, before: Arrays) -> int:
        count = len(before)
        for number, totals in enumerate(self._by_round):
            if count == 0:
                return number
            count -= len(totals)
        raise ValueError("these are the totals of the last round")

    # ---- compiled

    @cached_property
    def partials(self) -> list[Compiled]:
        """The functions of one block, one for each pass."""
        return [
            self._compiled(
                f"pass_{number + 1}",
                [(t.symbol.name, t.node) for t in self._in_round(number)],
                [t.symbol for t in self.whole.totals if t.round < number],
            )
            for number in range(self.whole.rounds)
        ]

    @cached_property
    def last(self) -> Compiled:
        """The function of the totals over all rows and of the shared arguments."""
        labels = [out.label for out in self.request.outputs]
        known = [t.symbol for t in self.whole.totals]
        return self._compiled("finish", list(zip(labels, self.whole.results, strict=True)), known, self.request.nesting)

    def _compiled(
        self, name: str, outputs: Sequence[tuple[str, Node]], known: Sequence[Node], nesting: Any = None
    ) -> Compiled:
        """Compile nodes over the symbols that they read, `known` totals included, and those that determine sizes."""
        roots = [node for _, node in outputs]
        read = {node for node in toposort(roots) if node.kind == "symbol"}
        without = self.split if name == "finish" else ()
        symbols = [s for s in self.request.names.ordered() if s.name not in without]
        symbols += known
        row_sizes = {n for s in read for size in s.shape for n in size.names}
        required = {n for node in toposort(roots) for size in sizes_in(node) for n in size.names} - row_sizes
        kept = [s for s in symbols if s in read or required & {n for size in s.shape for n in size.names}]
        tangents = tuple(s.name for s in kept if s.name in self.request.names.tangents)
        conditions = self.request.names.conditions
        names = Names({s.name: s for s in kept}, tuple(s.name for s in kept), tangents, conditions)
        made = [output(f"{label}_sum", node, names) for label, node in outputs]
        return build(Request(made, names, tuple(range(len(made))) if nesting is None else nesting, name))


def output(label: str, node: Node, names: Names) -> Output:
    """Return a node as an output with a label."""
    return Output(label, node, None, as_computed(node, names))


def sizes_of(made: RowTotals, given: Block) -> tuple[int, ...]:
    """Return the lengths of the sizes `row_sizes`. Raises: ShapeError if the shapes of the arguments disagree."""
    import numpy as np

    if not made.row_sizes:
        return ()
    declared = tuple((node.name, node.shape) for node in made.request.names.ordered())
    return _lengths(made.row_sizes, declared, tuple(np.shape(given[name]) for name, _ in declared))


@lru_cache(maxsize=64)
def _lengths(
    required: tuple[str, ...], declared: tuple[tuple[str, tuple[Size, ...]], ...], shapes: tuple[tuple[int, ...], ...]
) -> tuple[int, ...]:
    """Return the lengths of sizes from the shapes of arguments. Raises: ShapeError if these disagree."""
    known = solve(declared, {name: shape for (name, _), shape in zip(declared, shapes, strict=True)}, {})
    return tuple(known[name] for name in required)


def passes(count: int) -> str:
    """Return a number of passes as text."""
    return f"{count} {'pass' if count == 1 else 'passes'}"


def from_npy(made: RowTotals, paths: Mapping[str, str | os.PathLike[str]], block: int) -> FromFiles:
    """Return blocks of rows of `.npy` files, by name."""
    places = {name: axis_of(made, name) for name in made.split}
    return FromFiles({name: file_path(path) for name, path in by_name(paths, "npy()").items()}, places, block)


def from_parquet(path: str | os.PathLike[str], columns: Mapping[str, str | Sequence[str]], block: int) -> FromParquet:
    """Return blocks of rows of a Parquet file, its columns by name."""
    return FromParquet(file_path(path), columns, block)


def axis_of(made: RowTotals, name: str) -> int:
    """Return the number of an argument's axis of rows."""
    return made.request.names.symbols[name].shape.index(Size.of(made.rows))


def rows_in(made: RowTotals, block: Block) -> int:
    """Return the number of rows of a block. Raises: ShapeError if its arrays have different numbers."""
    import numpy as np

    places = {name: (np.shape(block[name]), axis_of(made, name)) for name in made.split}
    counts = {name: shape[axis] for name, (shape, axis) in places.items() if len(shape) > axis}
    if len(set(counts.values())) > 1:
        counted_rows = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ShapeError(f"the arrays of a block have different numbers of rows: {counted_rows}")
    return next(iter(counts.values()), 1)


def sizes_in(node: Node) -> tuple[Size, ...]:
    """Return the sizes that a node itself contains, without its operands."""
    own = (node.size,) if node.kind == "size" else node.index_sizes if node.kind == "product" else ()
    return (*node.shape, *own)


def _array(value: object) -> np.ndarray[Any, Any]:
    import numpy as np

    array: np.ndarray[Any, Any] = np.asarray(value)
    return array


def merged(totals: Sequence[Total], a: Arrays, b: Arrays) -> Arrays:
    """Return the merged totals of two blocks in one round, in order."""
    if all(t.merge == SUM and t.among is None for t in totals):
        return tuple(_array(x + y) for x, y in zip(a, b, strict=True))
    first, other = ({t.symbol: value for t, value in zip(totals, part, strict=True)} for part in (a, b))
    made = {t.symbol: _merged(t, first[t.symbol], other[t.symbol]) for t in totals if t.among is None}
    for t in totals:
        if t.among is not None:
            parts = (_where_equal(part[t.among], made[t.among], part[t.symbol]) for part in (first, other))
            made[t.symbol] = _merged(t, *parts)
    return tuple(made[t.symbol] for t in totals)


def _merged(total: Total, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a total of two blocks merged entry by entry."""
    if total.merge == SUM:
        return _array(a + b)
    (formula,) = expressions([total.merge], "a: vector(n); b: vector(n)")
    return _array(formula(a=a.ravel(), b=b.ravel())).reshape(a.shape)


def _where_equal(
    own: np.ndarray[Any, Any], whole: np.ndarray[Any, Any], value: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Return a block's value where its extreme equals that of all rows, else 0; axes of extremes come first."""
    import numpy as np

    return np.where((own == whole).reshape(own.shape + (1,) * (value.ndim - own.ndim)), value, 0.0)
