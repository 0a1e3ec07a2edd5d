"""`split`: a formula over data by rows as a sum over blocks of them, compiled, and its evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from matcalc.compiler.runtime.bind import bind
from matcalc.compiling import Output, Request, build, gradient_request, request_of
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.expressions.expression import Expression
from matcalc.expressions.handle import Wrt
from matcalc.expressions.read_input import Readable, expressions, with_wrt
from matcalc.expressions.written import formula_in
from matcalc.language.identifiers import by_name, file_path, shown
from matcalc.row_blocks import FromFiles, FromParquet, computed
from matcalc.rulebook.fields import nearest
from matcalc.separating import SUM, Separated, Total, entries, said, separated
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.size import Size
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    import os

    import numpy as np
    import numpy.typing as npt

    from matcalc.compiler.runtime.compiled import Compiled

Block = Mapping[str, "npt.ArrayLike"]
Arrays = tuple["np.ndarray[Any, Any]", ...]
ROWS = 65_536
"""Rows of a block that is read from a file, unless another number is asked for."""


class Totals(NamedTuple):
    """Totals over some rows in one round, `values`, and those over all rows of the rounds before."""

    values: Arrays
    before: Arrays = ()


@dataclass(frozen=True)
class Split:
    """What `split` found: true where the formula separates over rows, else false with the `reason`.

    Attributes: `split`, the names of the arguments that have rows; `shared`, those of the others; `args`, all in order;
    `rounds`, passes over the rows; `bytes(n=...)`, what one block sends in all of them.
    """

    f: Expression
    wrt: Wrt | None
    rows: str
    request: Request
    found: Separated | None
    reason: str = ""
    with_product: bool = False

    def __bool__(self) -> bool:
        return self.found is not None

    def __str__(self) -> str:
        if self.found is None:
            return f"not separable over {self.rows}: {self.reason}"
        lines = [f"separable over {self.rows}, in {self.rounds} {'pass' if self.rounds == 1 else 'passes'}"]
        lines.append(f"by rows: {', '.join(self.split)}; shared: {', '.join(self.shared) or 'nothing'}")
        for total in self.found.totals:
            how = "" if total.merge == SUM else f", merged by {total.merge}"
            shape = " x ".join(map(str, total.node.shape)) or "a number"
            lines.append(f"pass {total.round + 1}: {total.symbol.name} = {said(total.node)}    ({shape}{how})")
        return "\n".join(lines)

    __repr__ = __str__

    def __reduce__(self) -> tuple[object, ...]:
        return (split, (self.f, self.rows, self.wrt, "", "matrix", self.with_product))

    @property
    def whole(self) -> Separated:
        """What was found. Raises: NotSupported where the formula does not separate."""
        if self.found is None:
            raise NotSupported(f"this does not separate over {self.rows}: {self.reason}")
        return self.found

    @property
    def args(self) -> tuple[str, ...]:
        """The names of the arguments of `partial`, in order."""
        return tuple(node.name for node in self.request.names.ordered())

    @property
    def split(self) -> tuple[str, ...]:
        """The names of the arguments that have rows."""
        return tuple(s.name for s in self.request.names.ordered() if Size.of(self.rows) in s.shape)

    @property
    def shared(self) -> tuple[str, ...]:
        """The names of the arguments that have none, the same for all blocks."""
        return tuple(name for name in self.args if name not in self.split)

    @property
    def rounds(self) -> int:
        """How many passes over the rows an evaluation takes."""
        return self.whole.rounds

    def bytes(self, **sizes: int) -> int:
        """Return how many bytes one block sends in all rounds, at given sizes.

        Raises: UnknownName for a size that is missing.
        """
        totals = self.whole.totals
        wanted = sorted({name for t in totals for size in t.node.shape for name in size.names})
        missing = [name for name in wanted if name not in sizes]
        if missing:
            hint = f"bytes({', '.join(f'{name}=...' for name in wanted)})"
            raise UnknownName(f"bytes needs the size {missing[0]}", hint=hint)
        return 8 * sum(entries(total.node, sizes) for total in totals)

    # ---- blocks

    def partial(self, /, *args: npt.ArrayLike, after: Totals | None = None, **values: npt.ArrayLike) -> Totals:
        """Return the totals of one block of rows: arguments in the order of `args`, or by name.

        In a later round `after` are the totals of all rows in the round before.
        """
        if not isinstance(after, (Totals, type(None))):
            raise TypeError(f"after= takes what partial or combine gave, not {shown(after)}")
        before = () if after is None else (*after.before, *after.values)
        number = self._round_after(before)
        given = dict(zip(self.args, bind("partial", self.args, args, values), strict=True))
        given |= {t.symbol.name: value for t, value in zip(self.whole.totals, before, strict=False)}
        fn = self._partials[number]
        return Totals(tuple(map(_array, fn({name: given[name] for name in fn.args}))), before)

    def combine(self, a: Totals, b: Totals) -> Totals:
        """Return the totals of two blocks together, both of one round."""
        totals = self._in_round(self._round_after(a.before))
        return Totals(tuple(merged(t, x, y) for t, x, y in zip(totals, a.values, b.values, strict=True)), a.before)

    def finish(self, total: Totals, /, *args: npt.ArrayLike, **values: npt.ArrayLike) -> Any:
        """Return the result from the totals over all rows in the last round, and the shared arguments."""
        given = dict(zip(self.shared, bind("finish", self.shared, args, values), strict=True))
        known = (*total.before, *total.values)
        given |= {t.symbol.name: value for t, value in zip(self.whole.totals, known, strict=True)}
        return self._finish({name: given[name] for name in self._finish.args})

    # ---- all rows

    def over(
        self,
        blocks: Iterable[Block],
        given: Mapping[str, npt.ArrayLike] | None = None,
        /,
        *,
        threads: int = 1,
        hvp: bool = False,
        **shared: npt.ArrayLike,
    ) -> Any:
        """Return the result over all blocks: dictionaries of arrays by name, each with some of the rows.

        Shared arguments are given by name, or in a dictionary. With `hvp` the Hessian times the argument `v` (`v_U` of
        several variables) comes third. Blocks are computed in `threads` threads and added in their order, so that the
        result is the same for any number of them. In several rounds blocks are gone through several times: a list, or
        what can be iterated again.

        Raises: ValueError for no rows at all, or an iterator where there are several rounds; ShapeError; UnknownName
        for a name that is none or missing.
        """
        whole = self.second if hvp else self
        return whole._over(blocks, {**by_name({} if given is None else given, "over()"), **shared}, threads)

    def npy(
        self,
        paths: Mapping[str, str | os.PathLike[str]],
        given: Mapping[str, npt.ArrayLike] | None = None,
        /,
        *,
        block: int = ROWS,
        threads: int = 1,
        hvp: bool = False,
        **shared: npt.ArrayLike,
    ) -> Any:
        """Return the result over `.npy` files, `{"X": "X.npy", "y": "y.npy"}`, `block` rows at a time, as `over` does.

        Raises: OSError; what `over` raises.
        """
        places = {name: axis_of(self, name) for name in self.split}
        paths = {name: file_path(path) for name, path in by_name(paths, "npy()").items()}
        return self.over(FromFiles(paths, places, block), given, threads=threads, hvp=hvp, **shared)

    def parquet(
        self,
        path: str | os.PathLike[str],
        columns: Mapping[str, str | Sequence[str]],
        given: Mapping[str, npt.ArrayLike] | None = None,
        /,
        *,
        block: int = ROWS,
        threads: int = 1,
        hvp: bool = False,
        **shared: npt.ArrayLike,
    ) -> Any:
        """Return the result over a Parquet file whose columns are bound by name, `{"X": ["a", "b"], "y": "label"}`.

        Raises: ImportError without pyarrow; OSError; UnknownName for a column that is none; what `over` raises.
        """
        return self.over(FromParquet(file_path(path), columns, block), given, threads=threads, hvp=hvp, **shared)

    def _over(self, blocks: Iterable[Block], shared: Mapping[str, npt.ArrayLike], threads: int) -> Any:
        rounds = self.rounds
        self._check(shared, self.shared, "is shared")
        if rounds > 1 and iter(blocks) is blocks:
            hint = "give a list, or what can be iterated again"
            raise ValueError(f"{rounds} passes over the rows cannot be made over an iterator: {hint}")
        total: Totals | None = None
        for _ in range(rounds):
            total = self._pass(blocks, shared, threads, total)
        return self.finish(Totals(()) if total is None else total, **shared)

    def _pass(
        self, blocks: Iterable[Block], shared: Mapping[str, npt.ArrayLike], threads: int, after: Totals | None
    ) -> Totals:
        def one(block: Block) -> Totals | None:
            self._check(block, self.split, "has rows")
            return self.partial(after=after, **shared, **block) if rows_in(self, block) else None

        whole: Totals | None = None
        for part in computed(one, blocks, threads):
            if part is not None:
                whole = part if whole is None else self.combine(whole, part)
        if whole is None:
            raise ValueError("there are no rows")
        return whole

    @cached_property
    def second(self) -> Split:
        """The split of value, gradient and the product of the Hessian with `v`. Raises: NotSupported without `wrt`."""
        if self.wrt is None:
            raise NotSupported("hvp=True needs variables", hint='mc.split(f, over="m", wrt="w")')
        return split(self.f, self.rows, self.wrt, with_product=True)

    def _check(self, given: Mapping[str, object], wanted: Sequence[str], what: str) -> None:
        for name in (name for name in given if name not in wanted):
            known = "it is shared" if name in self.shared else "it has rows" if name in self.split else ""
            raise UnknownName(f"{name} is not what {what}{f': {known}' if known else nearest(name, list(self.args))}")
        missing = next((name for name in wanted if name not in given), None)
        if missing is not None:
            raise UnknownName(f"{missing} is missing: it {what}")

    def _in_round(self, number: int) -> list[Total]:
        return [total for total in self.whole.totals if total.round == number]

    def _round_after(self, before: Arrays) -> int:
        count = len(before)
        for number in range(self.rounds):
            if count == 0:
                return number
            count -= len(self._in_round(number))
        raise ValueError("these are the totals of the last round")

    # ---- compiled

    @cached_property
    def _partials(self) -> list[Compiled]:
        return [
            self._compiled(f"pass_{number + 1}", [(t.symbol.name, t.node) for t in self._in_round(number)])
            for number in range(self.rounds)
        ]

    @cached_property
    def _finish(self) -> Compiled:
        labels = [out.label for out in self.request.outputs]
        return self._compiled("finish", list(zip(labels, self.whole.results, strict=True)), self.request.nesting)

    def _compiled(self, name: str, outputs: Sequence[tuple[str, Node]], nesting: Any = None) -> Compiled:
        """Compile nodes over the symbols that they read, and those that tell their sizes."""
        roots = [node for _, node in outputs]
        read = {node for node in toposort(roots) if node.kind == "symbol"}
        symbols = [*self.request.names.ordered(), *(t.symbol for t in self.whole.totals)]
        told = {n for s in read for size in s.shape for n in size.names}
        wanted = {n for node in toposort(roots) for size in sizes_in(node) for n in size.names} - told
        kept = [s for s in symbols if s in read or wanted & {n for size in s.shape for n in size.names}]
        names = Names({s.name: s for s in kept}, tuple(s.name for s in kept))
        made = [Output(f"{label}_sum", node, None, partial(formula_in, node, names)) for label, node in outputs]
        return build(Request(made, names, tuple(range(len(made))) if nesting is None else nesting, name))


def axis_of(made: Split, name: str) -> int:
    """Return which axis of an argument is that of the rows."""
    return made.request.names.symbols[name].shape.index(Size.of(made.rows))


def rows_in(made: Split, block: Block) -> int:
    """Return the number of rows of a block. Raises: ShapeError where its arrays differ."""
    import numpy as np

    places = {name: (np.shape(block[name]), axis_of(made, name)) for name in made.split}
    counts = {name: shape[axis] for name, (shape, axis) in places.items() if len(shape) > axis}
    if len(set(counts.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise ShapeError(f"the arrays of a block have different numbers of rows: {said}")
    return next(iter(counts.values()), 1)


def sizes_in(node: Node) -> tuple[Size, ...]:
    """Return the sizes that a node itself holds."""
    own = (node.size,) if node.kind == "size" else node.index_sizes if node.kind == "product" else ()
    return (*node.shape, *own)


def _array(value: object) -> np.ndarray[Any, Any]:
    import numpy as np

    array: np.ndarray[Any, Any] = np.asarray(value)
    return array


def merged(total: Total, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a total of two blocks together, entry by entry."""
    if total.merge == SUM:
        return _array(a + b)
    (formula,) = expressions([total.merge], "a: vector(n); b: vector(n)")
    return _array(formula(a=a.ravel(), b=b.ravel())).reshape(a.shape)


def split(
    f: Readable,
    over: str,
    wrt: Wrt | None = None,
    declarations: str = "",
    dialect: str = "matrix",
    with_product: bool = False,
) -> Split:
    """Return whether a formula separates over the rows that the size `over` counts, and into what; with `wrt` its value
    and gradient, `with_product` the Hessian times `v` too.

    The result is true or false; false has the `reason`, the part that needs all rows at once.

    Raises: UnknownName where `over` is no size of the formula; what reading it raises.
    """
    e = with_wrt(f, wrt, declarations, dialect) if wrt is not None else expressions([f], declarations, dialect)[0]
    request = request_of([e], ["value"], 0) if wrt is None else gradient_request(e, wrt, "", "matrix")
    if with_product and wrt is not None:
        request = _with_product(e, wrt)
    names = request.names
    if not isinstance(over, str) or over not in names.size_names:
        raise UnknownName(f"{shown(over)} is no size here{nearest(str(over), list(names.size_names))}")
    roots = [out.unfactored or out.node for out in request.outputs]
    try:
        found = separated(roots, Size.of(over), {*names.symbols, *names.size_names})
    except NotSupported as fault:
        return Split(e, wrt, over, request, None, fault.message, with_product)
    return Split(e, wrt, over, request, found, "", with_product)


def _with_product(e: Expression, wrt: Wrt) -> Request:
    """Return the request for value, gradient and the product of the Hessian with a direction."""
    several = isinstance(wrt, (list, tuple))
    gradient, product = e.gradient(wrt), e.hvp(wrt)
    parts = [*gradient, *product] if several else [gradient, product]
    labels = ["value", *(f"part_{k}" for k in range(1, len(parts) + 1))]
    places = tuple(range(1, len(parts) + 1))
    half = len(parts) // 2
    nesting = (0, places[:half], places[half:]) if several else (0, 1, 2)
    return request_of([e, *parts], labels, nesting)
