"""Defines `split`, which compiles a formula over data by rows as a sum over blocks of rows and evaluates it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from matcalc.cached import cached_property
from matcalc.calculus.simplify.sum_of_squares import squared
from matcalc.errors import NotSupported, UnknownName
from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Wrt
from matcalc.expressions.read_input import Readable, expressions, with_wrt
from matcalc.language.identifiers import by_name, nearest, shown
from matcalc.pipeline.build import gradient_request
from matcalc.pipeline.requests import Request, request_of
from matcalc.rows.blocks import ROWS
from matcalc.rows.separability import entries, separated
from matcalc.rows.statistics import Statistics, statistics_of
from matcalc.rows.totals import Block, RowTotals, from_npy, from_parquet, passes
from matcalc.tensor.constructors import add, product
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    import os

    import numpy.typing as npt


ALSO = ("hvp", "gauss_newton")


class Split(RowTotals):
    """The result of `split`: true if the formula separates over rows, else false with the `reason`.

    Attributes: `split`, the names of the arguments with rows; `shared`, those of the others; `args`, all in order;
    `rounds`, the number of passes over the rows; `bytes(n=...)`, the bytes that one block sends in all passes.
    """

    def __bool__(self) -> bool:
        return self.found is not None

    def __str__(self) -> str:
        if self.found is None:
            return f"not separable over {self.rows}: {self.reason}"
        lines = [f"separable over {self.rows}, in {passes(self.rounds)}"]
        lines.append(f"by rows: {', '.join(self.split)}; shared: {', '.join(self.shared) or 'nothing'}")
        return "\n".join([*lines, *self.listed()])

    __repr__ = __str__

    def __reduce__(self) -> tuple[object, ...]:
        return (split, (self.f, self.rows, self.wrt, "", "matrix", self.also))

    def bytes(self, **sizes: int) -> int:
        """Return how many bytes one block sends in all rounds, for these sizes.

        Raises: UnknownName for a size that is missing.
        """
        totals = self.whole.totals
        wanted = sorted({name for t in totals for size in t.node.shape for name in size.names})
        missing = [name for name in wanted if name not in sizes]
        if missing:
            hint = f"bytes({', '.join(f'{name}=...' for name in wanted)})"
            raise UnknownName(f"bytes needs the size {missing[0]}", hint=hint)
        return 8 * sum(entries(total.node, sizes) for total in totals)

    def precompute(self) -> Statistics:
        """Return the sufficient statistics, such as `X'*X` and `X'*y` of least squares: rows are read only once.

        `s.precompute().over(blocks)`, or `.npy`, `.parquet`, is a function of the shared arguments.

        Raises: NotSupported if there are none, naming a total that depends on a shared argument.
        """
        return statistics_of(self)

    # ---- all rows

    def over(
        self,
        blocks: Iterable[Block],
        given: Mapping[str, npt.ArrayLike] | None = None,
        /,
        *,
        threads: int = 1,
        hvp: bool = False,
        gauss_newton: bool = False,
        progress: bool = False,
        **shared: npt.ArrayLike,
    ) -> Any:
        """Return the result over all blocks: dictionaries of arrays by name, each with some of the rows.

        Shared arguments are passed by name or in a dictionary. With `hvp`, the third result is the Hessian times the
        argument `v` (`v_U` for several variables). With `gauss_newton` it is the matrix `2*J'*J` of a sum of squared
        residuals with Jacobian J, for several variables in rows of blocks. Blocks are computed in `threads` threads
        and added in their order, so the result does not depend on the number of threads. Several rounds iterate over
        the blocks several times, so `blocks` must be a list or another re-iterable. `progress` prints the number of
        read rows once a second.

        Raises: ValueError if there are no rows, or for an iterator with several rounds; ShapeError; UnknownName for an
        unknown or missing name; NotSupported for `gauss_newton` of a formula that is no sum of squares.
        """
        if hvp and gauss_newton:
            raise ValueError("hvp=True and gauss_newton=True exclude each other: choose one")
        whole = self.also_with(ALSO[bool(gauss_newton)]) if hvp or gauss_newton else self
        named = {**by_name({} if given is None else given, "over()"), **shared}
        return whole.result_over(blocks, named, threads, progress)

    def npy(
        self,
        paths: Mapping[str, str | os.PathLike[str]],
        given: Mapping[str, npt.ArrayLike] | None = None,
        /,
        *,
        block: int = ROWS,
        **options: Any,
    ) -> Any:
        """Return the result over `.npy` files, `{"X": "X.npy", "y": "y.npy"}`, `block` rows at a time.

        Shared arguments and options are those of `over`.

        Raises: OSError; what `over` raises.
        """
        return self.over(from_npy(self, paths, block), given, **options)

    def parquet(
        self,
        path: str | os.PathLike[str],
        columns: Mapping[str, str | Sequence[str]],
        given: Mapping[str, npt.ArrayLike] | None = None,
        /,
        *,
        block: int = ROWS,
        **options: Any,
    ) -> Any:
        """Return the result over a Parquet file; `columns` maps names to columns, `{"X": ["a", "b"], "y": "label"}`.

        Shared arguments and options are those of `over`.

        Raises: ImportError without pyarrow; OSError; UnknownName for an unknown column; what `over` raises.
        """
        return self.over(from_parquet(path, columns, block), given, **options)

    @cached_property
    def _with(self) -> dict[str, Split]:
        return {}

    def also_with(self, what: str) -> Split:
        """Return the split of value, gradient and "hvp" or "gauss_newton". Raises: NotSupported without `wrt`."""
        if self.wrt is None:
            raise NotSupported(f"{what}=True needs variables", hint='mc.split(f, over="m", wrt="w")')
        if what not in self._with:
            self._with[what] = split(self.f, self.rows, self.wrt, also=what)
        return self._with[what]


def split(
    f: Readable,
    over: str,
    wrt: Wrt | None = None,
    declarations: str = "",
    dialect: str = "matrix",
    also: str = "",
) -> Split:
    """Return a formula separated over the rows that the size `over` counts; with `wrt`, its value and gradient.

    `also` adds a third result: "hvp" the Hessian times `v`, "gauss_newton" the matrix `2*J'*J` of a sum of squared
    residuals. The returned object is true if the formula separates. Otherwise it is false, and its `reason` names the
    part that needs all rows at once.

    Raises: UnknownName if `over` is not a size of the formula; what reading the formula raises.
    """
    e = with_wrt(f, wrt, declarations, dialect) if wrt is not None else expressions([f], declarations, dialect)[0]
    request = request_of([e], ["value"], 0) if wrt is None else gradient_request(e, wrt, "", "matrix")
    if also and wrt is not None:
        request = _with_second(e, wrt, also)
    names = request.names
    if not isinstance(over, str) or over not in names.size_names:
        raise UnknownName(f"{shown(over)} is not a size of the formula{nearest(str(over), list(names.size_names))}")
    roots = [out.unfactored or out.node for out in request.outputs]
    try:
        found = separated(roots, Size.of(over), names)
    except NotSupported as fault:
        return Split(e, wrt, over, request, None, "; ".join(filter(None, (fault.message, fault.hint))), also)
    return Split(e, wrt, over, request, found, "", also)


def _with_second(e: Expression, wrt: Wrt, also: str) -> Request:
    """Return the request for value, gradient and the second derivative that `also` names.

    Raises: ValueError for another word than hvp or gauss_newton; NotSupported if the formula is no sum of squares.
    """
    if also not in ALSO:
        raise ValueError(f"also= is {' or '.join(map(repr, ALSO))}, not {shown(also)}")
    several = isinstance(wrt, (list, tuple))
    variables = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    first = e.gradient(variables)
    second = e.hvp(wrt) if also == "hvp" else gauss_newton(e, variables)
    flat: list[Expression] = [e, *first]

    def numbered(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(numbered, part))
        flat.append(part)
        return len(flat) - 1

    positions = tuple(range(1, len(flat)))
    third = numbered(second if several or also == "hvp" else second[0][0])
    labels = ["value", *(f"part_{k}" for k in range(1, len(flat)))]
    return request_of(flat, labels, (0, positions if several else 1, third))


def gauss_newton(e: Expression, variables: list[Any]) -> tuple[tuple[Expression, ...], ...]:
    """Return the blocks of 2*J'*J by variables, where J is the Jacobian of the residuals of a sum of squares.

    Raises: NotSupported if the scalar is no sum of squares.
    """
    terms = squared(e.node, frozenset(e.symbols_of(variables)))
    if terms is None:
        raise NotSupported("gauss_newton=True needs residuals, and this is not recognised as a sum of squares")
    names = e.names_with(variables)
    slopes = [(weight, r.rank, Expression(r, names).jacobian(variables)) for weight, r in terms]

    def block(a: int, b: int) -> Expression:
        parts = []
        for weight, rank, jacobian in slopes:
            left, right = jacobian[a].node, jacobian[b].node
            out = tuple(range(rank, left.rank + right.rank - rank))
            at = (*range(rank), *out[: left.rank - rank]), (*range(rank), *out[left.rank - rank :])
            parts.append((2 * Fraction(weight), product(1, [(left, at[0]), (right, at[1])], out, {})))
        return Expression(add(parts), names)

    positions = range(len(variables))
    return tuple(tuple(block(a, b) for b in positions) for a in positions)
