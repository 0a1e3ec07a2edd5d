"""Merges axes of a loop whose entries are contiguous in memory in all arrays that the loop reads and writes.

An inner loop over a short axis leaves most of a vector register empty, and starts anew for each row.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from matcalc.compiler.entrywise import Apply, At, Expr, Index, Literal, Read, Select, within
from matcalc.compiler.plan.values.values import rebuilt
from matcalc.compiler.program import Buffer, Loop, Program, Store, statements
from matcalc.tensor.sizes.size import Size, volume

Shape = tuple[Size, ...]


def merged(loop: Loop, program: Program) -> tuple[Loop, dict[str, Shape]]:
    """Return a loop with neighbouring axes merged where possible, and its buffers with their merged shapes."""
    local = {let.value for let in loop.lets}
    accesses = list(_accesses(loop, program, local))
    if len(loop.axes) < 2 or not accesses:
        return loop, {}
    otherwise_used = _other_axes(loop)
    groups: list[list[tuple[str, Size]]] = []
    for axis, size in loop.axes:
        if groups and _are_one(groups[-1][-1][0], axis, size, accesses, otherwise_used):
            groups[-1].append((axis, size))
        else:
            groups.append([(axis, size)])
    if len(groups) == len(loop.axes):
        return loop, {}
    dropped = {axis for group in groups for axis, _ in group[1:]}
    shapes = {buffer.name: _shape(buffer, at, dropped) for buffer, at in accesses if not dropped.isdisjoint(at)}
    if any(buffer.name in shapes and _shape(buffer, at, dropped) != shapes[buffer.name] for buffer, at in accesses):
        return loop, {}
    axes = tuple((group[0][0], volume([size for _, size in group])) for group in groups)
    lets = tuple(replace(let, expr=_without(let.expr, dropped)) for let in loop.lets)
    sums, stores = (tuple(_stored(s, dropped) for s in found) for found in (loop.sums, loop.stores))
    return replace(loop, axes=axes, lets=lets, sums=sums, stores=stores), shapes


def _accesses(loop: Loop, program: Program, local: Container[str]) -> Iterator[tuple[Buffer, At]]:
    """Yield the buffers that a loop reads and writes, with the index of each axis."""
    for statement in statements(loop):
        if isinstance(statement, Store):
            yield program.table[program.buffer_of[statement.value]], statement.at
        for part in within(statement.expr):
            if isinstance(part, Read) and part.value not in local:
                yield program.table[program.buffer_of.get(part.value, part.value)], part.at


def _other_axes(loop: Loop) -> set[str]:
    """Return the axes that a loop uses other than as a plain index of an entry."""
    found: list[Index] = [guard.size for guard in loop.guards]
    for statement in statements(loop):
        found += [index for index in statement.at if isinstance(index, Size)] if isinstance(statement, Store) else []
        for part in within(statement.expr):
            found += _numbers(part)
    return {name for size in found for name in Size.of(size).names}


def _numbers(part: Expr) -> list[Index]:
    """Return the sizes that a part of an expression uses as numbers, guards and index arithmetic."""
    if isinstance(part, Read):
        return [index for index in part.at if isinstance(index, Size)]
    if isinstance(part, Literal):
        return [part.value] if isinstance(part.value, Size) else []
    if isinstance(part, Apply):
        return [p for p in part.params if isinstance(p, Size)]
    return [guard.size for guard in part.guards] if isinstance(part, Select) else []


def _are_one(
    first: str, second: str, size: Size, accesses: list[tuple[Buffer, At]], otherwise_used: Container[str]
) -> bool:
    """Whether two axes are adjacent wherever either occurs, and the second always spans a whole axis of the array."""
    if first in otherwise_used or second in otherwise_used:
        return False
    for buffer, at in accesses:
        positions = [k for k, index in enumerate(at) if index in (first, second)]
        if not positions:
            continue
        if [at[k] for k in positions] != [first, second] or positions[1] != positions[0] + 1:
            return False
        if buffer.shape[positions[1]] != size:
            return False
    return True


def _shape(buffer: Buffer, at: At, dropped: Container[str]) -> Shape:
    shape: list[Size] = []
    for index, size in zip(at, buffer.shape, strict=True):
        if index in dropped:
            shape[-1] = shape[-1] * size
        else:
            shape.append(size)
    return tuple(shape)


def _without(expr: Expr, dropped: Container[str]) -> Expr:
    if isinstance(expr, Read):
        return Read(expr.value, tuple(index for index in expr.at if index not in dropped))
    return rebuilt(expr, lambda operand: _without(operand, dropped))


def _stored(store: Store, dropped: Container[str]) -> Store:
    at = tuple(index for index in store.at if index not in dropped)
    return replace(store, at=at, expr=_without(store.expr, dropped))
