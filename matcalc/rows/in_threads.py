"""Computes calls of compiled functions on large data in threads, each with a share of the rows.

A function that separates over its rows consists of totals and of results with rows. Totals are added in the order of
the shares; each share writes its own rows of the other results. The digits therefore depend only on the requested
number of threads. A function that does not separate uses the threads in BLAS. Small data are computed in one thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial, reduce
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from matcalc.cached import cached_property
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.call.function_for_target import check_on_numpy
from matcalc.compiler.machine.scipy_routines import count_of_threads
from matcalc.compiler.spec.result_shapes import new_result, output_shapes, solve_sizes
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.errors import NotSupported
from matcalc.expressions.expression import Expression
from matcalc.pipeline import build
from matcalc.pipeline.inputs import Inputs
from matcalc.pipeline.requests import Request
from matcalc.rows.blocks import counted
from matcalc.rows.separability import separated
from matcalc.rows.totals import RowTotals, Totals, sizes_of
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size

LEAST = 2**17
"""The number of entries in arguments with rows below which one thread is faster."""
Given = Mapping[str, Any]


class Shares(RowTotals):
    """A request separated by rows: totals over them, results computed from these, and results with rows."""

    @cached_property
    def has_rows(self) -> list[bool]:
        """For each result, whether it has rows."""
        return [Size.of(self.rows) in result.shape for result in self.whole.results]

    @cached_property
    def of_totals(self) -> Compiled | None:
        """The function that computes the results without rows from totals and shared arguments."""
        chosen = [r for r, has_rows in zip(self.whole.results, self.has_rows, strict=True) if not has_rows]
        return self._flat("finish", chosen, [total.symbol for total in self.whole.totals])

    @cached_property
    def of_rows(self) -> Compiled | None:
        """The function that computes some rows of the results with rows; its first results are `totals_beside`."""
        chosen = [r for r, has_rows in zip(self.whole.results, self.has_rows, strict=True) if has_rows]
        known = [] if self.totals_beside else [total.symbol for total in self.whole.totals]
        return self._flat("rows", [*self.totals_beside, *chosen], known) if chosen else None

    @cached_property
    def totals_beside(self) -> list[Node]:
        """The totals that are computed together with the results with rows: all, if no such result needs a total."""
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
    """A compiled function that computes large data in `threads` shares in parallel."""

    origin: tuple[Inputs, int]
    single = Compiled  # the class of functions with fixed data: computing parts once saves more than a second thread
    shares: Shares | None = None
    reason: str = ""
    _pool: tuple[int, ThreadPoolExecutor] | None = None

    def divide(self, origin: tuple[Inputs, int], request: Request) -> None:
        """Separate the request by rows and compile the functions of the shares."""
        self.origin = origin
        self.shares, self.reason = _shares(request, self.spec)
        if self.shares is not None:
            self.shares.ready()
            self._places = [k for k, name in enumerate(self.spec.names) if name in self.shares.split]

    @property
    def threads(self) -> int:
        """The number of shares."""
        return self.origin[1]

    @property
    def stats(self) -> dict[str, Any]:
        """The stats of a compiled function; `threads` reports how many shares there are, or why there are none."""
        shares = self.shares
        said = (
            f"{self.threads} shares of the rows {shares.rows}" if shares else f"{self.threads} in BLAS: {self.reason}"
        )
        return {**super().stats, "threads": said}

    def _exactly(self, inputs: Sequence[Any], out: Any) -> Any:
        if self.shares is None:
            with _blas_threads(self.threads):
                return super()._exactly(inputs, out)
        if self._is_large(inputs):
            raise TypeError  # the fallback calls `_fill`, which computes by shares
        return super()._exactly(inputs, out)

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
        """Write the results: totals first, then the results with rows, then those computed from totals."""
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
            outs = [out for out, has_rows in zip(results, shares.has_rows, strict=True) if has_rows]
            beside = self._each(
                partial(self._written, shares.of_rows, len(shares.totals_beside), outs),
                [(part, {**known, **block}) for part, block in zip(parts, blocks, strict=True)],
            )
            if shares.totals_beside:
                known |= shares.named(reduce(shares.combine, beside))
        if shares.of_totals is not None:
            fn = shares.of_totals
            without = [out for out, has_rows in zip(results, shares.has_rows, strict=True) if not has_rows]
            for out, value in zip(without, fn(*(known[name] for name in fn.args)), strict=True):
                out[...] = value

    def _written(self, fn: Compiled, count: int, outs: Sequence[Any], share: tuple[slice, Given]) -> Totals:
        """Write a share's rows of the results; return the first `count` results, which are totals.

        The arguments are exact: they were converted for the whole call and are not checked again.
        """
        part, known = share
        arrays = [np.asarray(known[name]) for name in fn.spec.entered]
        inputs = [array if array.ndim else array[()] for array in arrays]
        shapes = output_shapes(fn.spec, solve_sizes(fn.spec, [array.shape for array in arrays], {}))
        totals = [new_result(total, shape) for total, shape in zip(fn.spec.outputs, shapes[:count], strict=False)]
        own = [out[part] for out in outs]
        for operand, out in zip(fn.spec.outputs[count:], own, strict=True):
            if operand.zero_filled:
                out[...] = 0.0
        made = fn._finish(inputs, [*totals, *own])
        return Totals(tuple(map(np.asarray, made[:count])))

    def _each(self, one: Callable[[Any], Totals], items: Sequence[Any]) -> list[Totals]:
        """Return the results in order, the first computed in this thread; wait for all even after a failure."""
        if self._pool is None or self._pool[0] != os.getpid():  # a fork has no threads
            self._pool = os.getpid(), ThreadPoolExecutor(max(self.threads - 1, 1), "matcalc")
        others = [self._pool[1].submit(one, item) for item in items[1:]]
        try:
            return [one(items[0]), *(other.result() for other in others)]
        finally:
            wait(others)

    def __reduce__(self) -> tuple[object, ...]:
        return (in_threads, self.origin)


def in_threads(inputs: Inputs, threads: int, request: Request | None = None) -> Compiled:
    """Return the function that is built for these inputs (or their request), computed in threads.

    Raises: TypeError or ValueError for an invalid number of threads; NotSupported for a framework's target.
    """
    threads = counted("threads", threads)
    request = build.request_for(inputs) if request is None else request
    check_on_numpy(request.target)
    made = InThreads(build.build(request).spec)
    made.divide((inputs, threads), request)
    return made


def _shares(request: Request, spec: CompiledSpec) -> tuple[Shares | None, str]:
    """Return a request separated by the size that counts most axes of arguments, else None and the reasons."""
    if spec.sparse or spec.sizes:
        return None, "sparse matrices are not shared" if spec.sparse else f"{spec.sizes[0]} is not a size of an array"
    symbols = request.names.ordered()
    leading = {s.shape[0]: 0 for s in symbols if s.shape and s.shape[0].is_name}
    for symbol in symbols:
        for size in leading:
            leading[size] += len(symbol.shape) if size in symbol.shape else 0
    reasons = []
    for size in sorted(leading, key=lambda size: -leading[size]):
        if any(size in s.shape[1:] for s in symbols):
            reasons.append(f"{size} is not always a leading axis")
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
    """Set the thread count of SciPy's BLAS; the last of the nested or parallel users restores the previous count."""
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
