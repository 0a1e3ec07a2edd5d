"""Leaves zeros of results to the caller, who passes results that are zero-filled: the Program writes the other entries.

Fresh zero pages of the operating system cost nothing until they are written, and most entries of a derivative as an
array are zeros. So a loop that fills such a result with zeros, before anything else is written to it, is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from matcalc.compiler.entrywise import Literal
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.program import Loop, Program, Step, Store, values_written, walk, walk_inside
from matcalc.tensor.sizes.size import Size, volume

MOST = 0.5
"""The largest share of a result that may be written if its zeros are left to the caller."""


def with_zeroed_results(program: Program, estimate: Estimate) -> Program:
    """Return a Program without the loops that fill results with zeros; its `zero_filled` names these results."""
    candidates = _few_written(program, estimate)
    zero_filled: dict[str, str] = {}
    steps: list[Step] = []
    for step in program.steps:
        if isinstance(step, Loop) and not step.guards:
            filled = {program.buffer_of[s.value]: s for s in step.stores if _is_zero(s)}
            found = {name: store.value for name, store in filled.items() if name in candidates}
            left = tuple(s for s in step.stores if s.value not in found.values())
            if found:
                zero_filled |= found
                step = replace(step, stores=left)
        candidates -= {program.memory[program.buffer_of.get(v, v)] for s in walk([step]) for v in values_written(s)}
        candidates -= zero_filled.keys()
        steps.append(step)
    kept = tuple(s for s in steps if not isinstance(s, Loop) or s.sums or s.stores)
    return replace(program, steps=kept, zero_filled=zero_filled) if zero_filled else program


def _few_written(program: Program, estimate: Estimate) -> set[str]:
    """Return the results of which only a small share is written with anything but zeros."""
    written: dict[str, Size] = {name: Size.of(0) for name in program.outputs if program.table[name].shape}
    for step, around in walk_inside(program.steps):
        filled = {s.value for s in step.stores if _is_zero(s)} if isinstance(step, Loop) else set()
        for value in values_written(step):
            name = program.memory[program.buffer_of.get(value, value)]
            if name in written and value not in filled:
                axes = [size for _, size in step.axes] if isinstance(step, Loop) else program.table[name].shape
                written[name] += volume([*(each.size for each in around), *axes])
    whole = {name: volume(program.table[name].shape) for name in written}
    return {name for name, size in written.items() if estimate(size) <= MOST * estimate(whole[name])}


def _is_zero(store: Store) -> bool:
    """Whether a store writes zeros over the whole array; a store that leaves other entries has `onto` or `over`."""
    return store.expr == Literal(0) and not store.onto and not store.over
