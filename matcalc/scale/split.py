"""`split`: a formula over data by rows as a sum over blocks of them, compiled, and its evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from matcalc.compiling import Output, Request, build, gradient_request, request_of
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.expressions.handle import Wrt
from matcalc.expressions.read_input import Readable, expressions
from matcalc.expressions.written import formula_in
from matcalc.rulebook.fields import nearest
from matcalc.scale.separate import SUM, Separated, Total, entries, said, separated
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.size import Size
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from matcalc.compiler.runtime.compiled import Compiled

Block = Mapping[str, "npt.ArrayLike"]
Values = tuple["np.ndarray[Any, Any]", ...]


@dataclass(frozen=True)
class Split:
    """What `split` found: true where the formula separates over rows, else false with the `reason`.

    Attributes: `split`, names of the arguments that have rows; `shared`, those of the others; `rounds`, passes over the
    rows; `names`, all arguments in order.
    """

    request: Request
    rows: str
    found: Separated | None
    reason: str = ""

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

    @property
    def whole(self) -> Separated:
        """What was found. Raises: NotSupported where the formula does not separate."""
        if self.found is None:
            raise NotSupported(self.reason)
        return self.found

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(node.name for node in self.request.names.ordered())

    @property
    def split(self) -> tuple[str, ...]:
        """The names of the arguments that have rows."""
        return tuple(s.name for s in self.request.names.ordered() if Size.of(self.rows) in s.shape)

    @property
    def shared(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in self.split)

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
            raise UnknownName(
                f"bytes() needs the size {missing[0]}", hint=f"bytes({', '.join(f'{n}=...' for n in wanted)})"
            )
        return 8 * sum(entries(total.node, sizes) for total in totals)

    def partial(self, block: Block, shared: Mapping[str, npt.ArrayLike], before: Values = ()) -> Values:
        """Return the totals of one block of rows in the round that follows `before`, the totals of earlier rounds."""
        number = self._round_after(before)
        fn = self._partials[number]
        named = {t.symbol.name: value for t, value in zip(self.whole.totals, before, strict=False)}
        values = {**shared, **block, **named}
        made = fn({name: values[name] for name in fn.args})
        return tuple(map(_array, made))

    def combine(self, a: Values, b: Values, before: Values = ()) -> Values:
        """Return the totals of two blocks together."""
        totals = self._in_round(self._round_after(before))
        return tuple(merged(t, x, y) for t, x, y in zip(totals, a, b, strict=True))

    def finish(self, totals: Values, shared: Mapping[str, npt.ArrayLike]) -> Any:
        """Return the result over all rows from the totals of all rounds."""
        named = {t.symbol.name: value for t, value in zip(self.whole.totals, totals, strict=True)}
        values = {**shared, **named}
        return self._finish({name: values[name] for name in self._finish.args})

    def over(self, blocks: Iterable[Block], **shared: npt.ArrayLike) -> Any:
        """Return the result over all blocks, dictionaries of arrays by name that have the same names of rows.

        In several rounds `blocks` are gone through several times: a list, or what can be iterated again.

        Raises: ValueError for no rows at all, or an iterator that is used up; ShapeError; UnknownName for a name that is
        none or missing.
        """
        self._check(shared, self.shared, "is shared")
        if self.rounds > 1 and iter(blocks) is blocks:
            raise ValueError(
                f"{self.rounds} passes over the rows need blocks that can be gone through again, such as a list"
            )
        totals: Values = ()
        for _ in range(self.rounds):
            total: Values | None = None
            for block in blocks:
                self._check(block, self.split, "has rows")
                if self._rows_of(block):
                    part = self.partial(block, shared, totals)
                    total = part if total is None else self.combine(total, part, totals)
            if total is None:
                raise ValueError("there are no rows")
            totals += total
        return self.finish(totals, shared)

    def _check(self, given: Mapping[str, object], wanted: Sequence[str], what: str) -> None:
        for name in given:
            if name not in wanted:
                other = (
                    "it is shared"
                    if name in self.shared
                    else "it has rows"
                    if name in self.split
                    else nearest(name, self.names)
                )
                raise UnknownName(f"{name} is not what {what}: {other or 'there is no such name'}")
        missing = [name for name in wanted if name not in given]
        if missing:
            raise UnknownName(f"{missing[0]} is missing: it {what}")

    def _rows_of(self, block: Block) -> int:
        import numpy as np

        lengths = {}
        for name in self.split:
            axis = self.request.names.symbols[name].shape.index(Size.of(self.rows))
            shape = np.shape(block[name])
            if len(shape) > axis:
                lengths[name] = shape[axis]
        if len(set(lengths.values())) > 1:
            raise ShapeError(
                f"a block has different numbers of rows: {', '.join(f'{n} {k}' for n, k in lengths.items())}"
            )
        return next(iter(lengths.values()), 1)

    def _in_round(self, number: int) -> list[Total]:
        return [total for total in self.whole.totals if total.round == number]

    def _round_after(self, before: Values) -> int:
        count = len(before)
        for number in range(self.rounds):
            if count == 0:
                return number
            count -= len(self._in_round(number))
        raise ValueError("these are the totals of all rounds")

    @cached_property
    def _partials(self) -> list[Compiled]:
        return [
            self._compiled(f"round{k + 1}", [(t.symbol.name, t.node) for t in self._in_round(k)])
            for k in range(self.rounds)
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
        wanted = {n for node in toposort(roots) for size in (*node.shape, *_sizes(node)) for n in size.names} - told
        kept = [s for s in symbols if s in read or wanted & {n for size in s.shape for n in size.names}]
        names = Names({s.name: s for s in kept}, tuple(s.name for s in kept))
        made = [
            Output(f"{label}_" if label in names.symbols else label, node, None, partial(formula_in, node, names))
            for label, node in outputs
        ]
        return build(Request(made, names, tuple(range(len(made))) if nesting is None else nesting, name))


def _sizes(node: Node) -> tuple[Size, ...]:
    return (node.size,) if node.kind == "size" else node.index_sizes if node.kind == "product" else ()


def _array(value: object) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.asarray(value)


def merged(total: Total, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a total of two blocks together, entry by entry."""
    if total.merge == SUM:
        return a + b
    (formula,) = expressions([total.merge], "a: vector(n); b: vector(n)")
    return _array(formula(a=a.ravel(), b=b.ravel())).reshape(a.shape)


def split(f: Readable, over: str, wrt: Wrt | None = None, declarations: str = "", dialect: str = "matrix") -> Split:
    """Return whether a formula separates over the rows that the size `over` counts, and into what; with `wrt` its
    value and gradient.

    The result is true or false; false has the `reason`, the part that needs all rows at once.

    Raises: UnknownName where `over` is no size of the formula; what reading it raises.
    """
    if wrt is None:
        read = expressions([f], declarations, dialect)
        request = request_of(read, ["value"], 0)
    else:
        request = gradient_request(f, wrt, declarations, dialect)
    names = request.names
    if over not in names.size_names:
        raise UnknownName(f"{over} is no size here{nearest(over, list(names.size_names))}")
    roots = [out.unfactored or out.node for out in request.outputs]
    try:
        found = separated(roots, Size.of(over), {*names.symbols, *names.size_names})
    except NotSupported as fault:
        return Split(request, over, None, fault.message)
    return Split(request, over, found)
