"""`split`: a formula over data by rows as a sum over blocks of them, compiled, and its evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from matcalc.building import gradient_request
from matcalc.calculus.simplify.sum_of_squares import squared
from matcalc.errors import NotSupported, UnknownName
from matcalc.expressions.expression import Expression
from matcalc.expressions.handle import Wrt
from matcalc.expressions.read_input import Readable, expressions, with_wrt
from matcalc.expressions.requests import Request, request_of
from matcalc.language.identifiers import by_name, nearest, shown
from matcalc.rows.blocks import ROWS
from matcalc.rows.separating import entries, separated
from matcalc.rows.statistics import Statistics, statistics_of
from matcalc.rows.totals import Block, RowTotals, from_npy, from_parquet, passes
from matcalc.tensor.constructors import add, product
from matcalc.tensor.size import Size

if TYPE_CHECKING:
    import os

    import numpy.typing as npt


ALSO = ("hvp", "gauss_newton")


class Split(RowTotals):
    """What `split` found: true where the formula separates over rows, else false with the `reason`.

    Attributes: `split`, the names of the arguments that have rows; `shared`, those of the others; `args`, all in order;
    `rounds`, passes over the rows; `bytes(n=...)`, what one block sends in all of them.
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

    def precompute(self) -> Statistics:
        """Return the totals of rows alone that suffice, `X'*X` and `X'*y` of least squares: rows are read once for all.

        `s.precompute().over(blocks)`, or `.npy`, `.parquet`, is a function of the shared arguments.

        Raises: NotSupported where none suffice, with the total that changes with a shared argument.
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

        Shared arguments are given by name, or in a dictionary. With `hvp` the Hessian times the argument `v` (`v_U` of
        several variables) comes third, with `gauss_newton` the matrix `2*J'*J` of a sum of squared residuals with
        Jacobian J, of several variables rows of such blocks. Blocks are computed in `threads` threads and added in
        their order, so that the result is the same for any number of them. In several rounds blocks are gone through
        several times: a list, or what can be iterated again. `progress` prints how many rows were read, once a second.

        Raises: ValueError for no rows at all, or an iterator where there are several rounds; ShapeError; UnknownName
        for a name that is none or missing; NotSupported with `gauss_newton` for no sum of squares.
        """
        if hvp and gauss_newton:
            raise ValueError("hvp=True and gauss_newton=True are two ways to a second derivative: choose one")
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
        """Return the result over a Parquet file whose columns are bound by name, `{"X": ["a", "b"], "y": "label"}`.

        Shared arguments and options are those of `over`.

        Raises: ImportError without pyarrow; OSError; UnknownName for a column that is none; what `over` raises.
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
    """Return whether a formula separates over the rows that the size `over` counts, and into what; with `wrt` its value
    and gradient; `also` "hvp", the Hessian times `v`, or "gauss_newton", `2*J'*J` of a sum of squared residuals.

    The result is true or false; false has the `reason`, the part that needs all rows at once.

    Raises: UnknownName where `over` is no size of the formula; what reading it raises.
    """
    e = with_wrt(f, wrt, declarations, dialect) if wrt is not None else expressions([f], declarations, dialect)[0]
    request = request_of([e], ["value"], 0) if wrt is None else gradient_request(e, wrt, "", "matrix")
    if also and wrt is not None:
        request = _with_second(e, wrt, also)
    names = request.names
    if not isinstance(over, str) or over not in names.size_names:
        raise UnknownName(f"{shown(over)} is no size here{nearest(str(over), list(names.size_names))}")
    roots = [out.unfactored or out.node for out in request.outputs]
    try:
        found = separated(roots, Size.of(over), names)
    except NotSupported as fault:
        return Split(e, wrt, over, request, None, "; ".join(filter(None, (fault.message, fault.hint))), also)
    return Split(e, wrt, over, request, found, "", also)


def _with_second(e: Expression, wrt: Wrt, also: str) -> Request:
    """Return the request for value, gradient and what is asked for of the second derivative.

    Raises: ValueError for what is neither hvp nor gauss_newton; NotSupported for no sum of squares.
    """
    if also not in ALSO:
        raise ValueError(f"also= is {' or '.join(map(repr, ALSO))}, not {shown(also)}")
    several = isinstance(wrt, (list, tuple))
    variables = list(wrt) if isinstance(wrt, (list, tuple)) else [wrt]
    first = e.gradient(variables)
    second = e.hvp(wrt) if also == "hvp" else gauss_newton(e, variables)
    flat: list[Expression] = [e, *first]

    def placed(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(placed, part))
        flat.append(part)
        return len(flat) - 1

    places = tuple(range(1, len(flat)))
    third = placed(second if several or also == "hvp" else second[0][0])
    labels = ["value", *(f"part_{k}" for k in range(1, len(flat)))]
    return request_of(flat, labels, (0, places if several else 1, third))


def gauss_newton(e: Expression, variables: list[Any]) -> tuple[tuple[Expression, ...], ...]:
    """Return 2*J'*J by variables, J the Jacobian of the residuals whose squares a scalar adds up.

    Raises: NotSupported where it is no sum of squares.
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

    places = range(len(variables))
    return tuple(tuple(block(a, b) for b in places) for a in places)
