"""Compiled functions whose calls on large data are done by shares of the rows, each in a thread.

A function that separates over its rows is totals over them, added up in the order of the shares, and results that have
rows themselves, each share written in its place. So the digits depend on how many threads were asked for, and on
nothing else. What does not separate has its threads in BLAS; what is small is computed as without.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cached_property, partial, reduce
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from matcalc import building
from matcalc.compiler.runtime.compiled import Compiled
from matcalc.compiler.runtime.loaded import check_on_numpy
from matcalc.compiler.runtime.result_shapes import new_result
from matcalc.compiler.runtime.scipy_routines import count_of_threads
from matcalc.compiler.runtime.spec import CompiledSpec
from matcalc.errors import NotSupported
from matcalc.expressions.expression import Expression
from matcalc.expressions.requests import Request
from matcalc.rows.blocks import counted
from matcalc.rows.separating import separated
from matcalc.rows.totals import RowTotals, Totals, sizes_of
from matcalc.tensor.node import Node, toposort
from matcalc.tensor.size import Size

LEAST = 2**17
"""Entries of arguments with rows, below which a call is not worth its threads."""
Given = Mapping[str, Any]


class Shares(RowTotals):
    """A request by rows: totals over them, results made of these, and results with rows."""

    @cached_property
    def has_rows(self) -> list[bool]:
        """Of each result, whether it has rows."""
        return [Size.of(self.rows) in result.shape for result in self.whole.results]

    @cached_property
    def of_totals(self) -> Compiled | None:
        """The function of the results without rows, from totals and what is shared."""
        chosen = [r for r, has_rows in zip(self.whole.results, self.has_rows, strict=True) if not has_rows]
        return self._flat("finish", chosen, [total.symbol for total in self.whole.totals])

    @cached_property
    def of_rows(self) -> Compiled | None:
        """The function of the results with rows, for some of them, behind the totals that are computed beside them."""
        chosen = [r for r, has_rows in zip(self.whole.results, self.has_rows, strict=True) if has_rows]
        known = [] if self.totals_beside else [total.symbol for total in self.whole.totals]
        return self._flat("rows", [*self.totals_beside, *chosen], known) if chosen else None

    @cached_property
    def totals_beside(self) -> list[Node]:
        """The totals that are computed with the results that have rows: all, where these need none."""
        chosen = [r for r, has_rows in zip(self.whole.results, self.has_rows, strict=True) if has_rows]
        symbols = {total.symbol for total in self.whole.totals}
        waits = self.rounds > 1 or any(node in symbols for node in toposort(chosen))
        return [] if waits or not chosen else [total.node for total in self.whole.totals]

    def _flat(self, name: str, results: Sequence[Node], known: Sequence[Node]) -> Compiled | None:
        labelled = [(f"{name}{k}", result) for k, result in enumerate(results)]
        return self._compiled(name, labelled, known, tuple(range(len(results)))) if results else None

    def ready(self) -> None:
        """Compile all functions."""
        _ = self.of_totals, self.of_rows, [] if self.totals_beside else self.partials


class InThreads(Compiled):
    """A compiled function, `threads` of whose shares run side by side where there is enough to do."""

    asked: tuple[str, Given, int]
    single = Compiled  # what functions with data fixed are: what is computed once saves more than a second thread does
    shares: Shares | None = None
    reason: str = ""
    _pool: tuple[int, ThreadPoolExecutor] | None = None

    def divide(self, asked: tuple[str, Given, int], request: Request) -> None:
        """Find the shares of what was asked for, and compile what computes them."""
        self.asked = asked
        self.shares, self.reason = _shares(request, self.spec)
        self._alone, self._quick = self._entry, self._exact
        if self.shares is not None:
            self.shares.ready()
            self._places = [k for k, name in enumerate(self.spec.names) if name in self.shares.split]

    @property
    def threads(self) -> int:
        """How many shares there are."""
        return self.asked[2]

    @property
    def stats(self) -> dict[str, Any]:
        """Those of any compiled function; `threads` says what is shared among how many, or why nothing is."""
        shares = self.shares
        said = (
            f"{self.threads} shares of the rows {shares.rows}" if shares else f"{self.threads} in BLAS: {self.reason}"
        )
        return {**super().stats, "threads": said}

    def _exact(self, *values: Any) -> Any:
        if self.shares is None:
            with _blas_threads(self.threads):
                return self._alone(*values)
        if self._is_large(values):
            raise ValueError  # the polite way, which fills results by shares
        return self._alone(*values)

    def _filled(self, values: Sequence[Any], out: Any) -> Any:
        if self.shares is None:
            with _blas_threads(self.threads):
                return super()._filled(values, out)
        if self._is_large(values):
            raise ValueError
        return super()._filled(values, out)

    def _is_large(self, values: Sequence[Any]) -> bool:
        return sum(np.size(values[k]) for k in self._places) >= LEAST

    def _fill(self, inputs: Sequence[Any], results: Sequence[Any]) -> int:
        if self.shares is None:
            with _blas_threads(self.threads):
                return super()._fill(inputs, results)
        if not self._is_large(inputs):
            return super()._fill(inputs, results)
        given = dict(zip(self.spec.entered, inputs, strict=True))
        with _blas_threads(1):
            self._by_shares(self.shares, given, results)
        return 0

    def _by_shares(self, shares: Shares, given: Given, results: Sequence[Any]) -> None:
        """Write results: totals first, then what is made of them, then what has rows."""
        count = len(given[shares.split[0]])
        ends = [count * k // self.threads for k in range(self.threads + 1)]
        parts = [slice(a, b) for a, b in pairwise(ends) if a < b]
        shared = {name: given[name] for name in shares.shared}
        blocks = [{name: given[name][part] for name in shares.split} for part in parts]
        whole = Totals(())
        for _ in range(0 if shares.totals_beside else shares.rounds):
            whole = reduce(shares.combine, self._each(partial(_of_block, shares, whole, shared), blocks))
        known = {**shared, **shares.named(whole._replace(sizes=sizes_of(shares, given)))}
        if shares.of_rows is not None:
            places = [place for place, has_rows in zip(results, shares.has_rows, strict=True) if has_rows]
            beside = self._each(
                partial(self._written, shares.of_rows, len(shares.totals_beside), places),
                [(part, {**known, **block}) for part, block in zip(parts, blocks, strict=True)],
            )
            if shares.totals_beside:
                known |= shares.named(reduce(shares.combine, beside))
        if shares.of_totals is not None:
            fn = shares.of_totals
            without = [place for place, has_rows in zip(results, shares.has_rows, strict=True) if not has_rows]
            for place, value in zip(without, fn(*(known[name] for name in fn.args)), strict=True):
                place[...] = value

    def _written(self, fn: Compiled, count: int, places: Sequence[Any], share: tuple[slice, Given]) -> Totals:
        """Write the results of a share of rows in their places; return the so many totals before them.

        All is exact: what was converted for the whole is not looked at again.
        """
        part, known = share
        arrays = [np.asarray(known[name]) for name in fn.spec.entered]
        inputs = [array if array.ndim else array[()] for array in arrays]
        shapes = fn._output_shapes(arrays, {}, inputs)
        totals = [new_result(total, shape) for total, shape in zip(fn.spec.outputs, shapes[:count], strict=False)]
        own = [place[part] for place in places]
        for operand, place in zip(fn.spec.outputs[count:], own, strict=True):
            if operand.blank:
                place[...] = 0.0
        made = fn._finish(inputs, [*totals, *own])
        return Totals(tuple(map(np.asarray, made[:count])))

    def _each(self, one: Callable[[Any], Totals], items: Sequence[Any]) -> list[Totals]:
        """Return what is made of each, in order, the first in this thread; all are done when one has failed."""
        if self._pool is None or self._pool[0] != os.getpid():  # a fork has no threads
            self._pool = os.getpid(), ThreadPoolExecutor(max(self.threads - 1, 1), "matcalc")
        others = [self._pool[1].submit(one, item) for item in items[1:]]
        try:
            return [one(items[0]), *(other.result() for other in others)]
        finally:
            wait(others)

    def __reduce__(self) -> tuple[object, ...]:
        return (in_threads, self.asked)


def in_threads(way: str, given: Given, threads: int) -> Compiled:
    """Return the function that was asked for in a way of `building`, computed in threads.

    Raises: TypeError and ValueError for what is no number of threads; NotSupported for a target of another library.
    """
    threads = counted("threads", threads)
    request: Request = getattr(building, way)(**given)
    check_on_numpy(request.target)
    made = InThreads(building.build(request).spec)
    made.divide((way, given, threads), request)
    return made


def _shares(request: Request, spec: CompiledSpec) -> tuple[Shares | None, str]:
    """Return a request by rows: over the size that counts them in most arguments' axes; else why there is none."""
    if spec.sparse or spec.sizes:
        return None, "sparse matrices are not shared" if spec.sparse else f"{spec.sizes[0]} is no size of an array"
    symbols = request.names.ordered()
    leading = {s.shape[0]: 0 for s in symbols if s.shape and s.shape[0].is_name}
    for symbol in symbols:
        for size in leading:
            leading[size] += len(symbol.shape) if size in symbol.shape else 0
    reasons = []
    for size in sorted(leading, key=lambda size: -leading[size]):
        if any(size in s.shape[1:] for s in symbols):
            reasons.append(f"{size} is no leading axis everywhere")
            continue
        roots = [out.unfactored or out.node for out in request.outputs]
        try:
            found = separated(roots, size, request.names, by_rows=True)
        except NotSupported as fault:
            reasons.append(fault.message)
            continue
        return Shares(Expression(roots[0], request.names), None, size.key, request, found), ""
    return None, "; ".join(reasons) or "no argument has rows"


def _of_block(shares: Shares, after: Totals, shared: Given, block: Given) -> Totals:
    return shares.partial(after=after, **shared, **block)


_lock, _inside, _before = Lock(), 0, 0


@contextmanager
def _blas_threads(count: int) -> Iterator[None]:
    """Let SciPy's BLAS take so many threads, and as many as before when the last of those that asked for it is done."""
    global _inside, _before
    with _lock:
        before = count_of_threads(count)
        _before = _before if _inside else before
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _before:
                count_of_threads(_before)
