"""Computes a value with one reader inside that reader, in the order of the reader's axes, if that is cheap.

A value assembled from parts is assembled in the order of axes in which it is read. An entry that reads one transposed
array is inlined. So a Hessian in the order of its axes is written at once, without a second array of its size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import replace

from matcalc.compiler.entrywise import At, Expr, Product, Read, reads
from matcalc.compiler.plan.values.precompute import values_read
from matcalc.compiler.plan.values.values import ONE, Graph, Run, Value, moved, times


def inline_transposed(graph: Graph, results: Set[str]) -> None:
    """Inline values that are read once, with transposed axes, into their readers."""
    count = _readers(graph, results)
    for item in graph.items:
        if isinstance(item, Value) and item.kind == "point" and not item.parts and item.expr is not None:
            scale, of, at = _transposed_read(graph, item, item.expr)
            is_alone = of is not None and count[of.name] == 1 and of.name not in results
            if of is not None and of.parts and is_alone and _is_whole(item, of, at, graph.axes):
                _take_parts(item, of, scale, at, graph.axes, item.name in results)
    count = _readers(graph, results)
    for item in graph.items:
        if isinstance(item, Value) and item.kind == "point":
            whole = item.base if item.parts and item.name in results else item.expr
            scale, of, at = _transposed_read(graph, item, whole)
            if of is None or of.expr is None or of.parts or count[of.name] != 1 or of.name in results:
                continue
            if at != graph.axes[: len(at)] and sum(len(read.at) == len(at) for read in reads(of.expr)) <= 1:
                entry = _times(scale, moved(of.expr, dict(zip(graph.axes, at, strict=False))))
                item.base, item.expr = (entry, item.expr) if whole is item.base else (item.base, entry)


def _readers(graph: Graph, results: Set[str]) -> Counter[str]:
    """Return how often each value is read by values that results need."""
    count: Counter[str] = Counter()
    for item in reversed(graph.items):
        made = [value.name for _, value in item.results] if isinstance(item, Run) else [item.name]
        if not any(count[name] or name in results for name in made):
            continue
        is_stored = isinstance(item, Value) and item.parts and item.name in results
        count.update(values_read(replace(item, expr=None) if is_stored else item))  # type: ignore[arg-type]
    return count


def _transposed_read(graph: Graph, item: Value, expr: Expr | None) -> tuple[Expr, Value | None, At]:
    """Return `scale`, `of` and `at` if a value is `scale*of[at]` with reordered axes; else `of` is None."""
    scale = ONE if not isinstance(expr, Product) else replace(expr, factors=())
    read = expr.factors[0] if isinstance(expr, Product) and len(expr.factors) == 1 else expr
    axes = graph.axes[: len(item.shape)]
    at = tuple(map(str, read.at)) if isinstance(read, Read) else ()  # axes of type Size are compared by their text
    if not isinstance(read, Read) or sorted(at) != sorted(axes):
        return ONE, None, ()
    of = graph.values[read.value]
    return scale, of if of.kind == "point" else None, at


def _is_whole(item: Value, of: Value, at: At, axes: At) -> bool:
    """Whether `of[at]` reads all of a value, not only its first entries along some axis."""
    length = dict(zip(axes, item.shape, strict=False))
    return all(size is length[axis] for size, axis in zip(of.shape, at, strict=True))


def _take_parts(item: Value, of: Value, scale: Expr, at: At, axes: At, is_result: bool) -> None:
    """Define `item[axes] = scale*of[at]` by the parts of `of`; a result has parts only, no `expr`."""
    own = dict(zip(map(str, axes), at, strict=False))
    order = [at.index(axis) for axis in axes[: len(at)]]
    item.parts = tuple(
        replace(part, at=tuple(part.at[k] for k in order), expr=_times(scale, part.expr)) for part in of.parts
    )
    item.base = None if of.base is None else _times(scale, moved(of.base, own))
    item.expr = None if of.expr is None or is_result else _times(scale, moved(of.expr, own))


def _times(scale: Expr, expr: Expr) -> Expr:
    return times(scale.coef, (expr,)) if isinstance(scale, Product) else expr
