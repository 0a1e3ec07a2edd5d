"""Estimates the time of a Program from the costs of its kernels and loops."""

from __future__ import annotations

from math import fsum

from matcalc.compiler.entrywise import Apply, Expr, Product, Read, Sum, parts, within
from matcalc.compiler.lowering_entries import PLAIN, TRAFFIC
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.program import Call, Loop, Program, accessed_entries, statements, walk_inside

ALLOCATION = 60.0
COLUMN = 0.8  # ns for an entry that is read along a column: one cache line for each


def price(program: Program, estimate: Estimate) -> float:
    """Return the estimated time of a call in ns, summed exactly, so that equal plans have equal times."""
    table = program.table
    times = [ALLOCATION for b in program.buffers if b.role == "temporary"]
    for step, around in walk_inside(program.steps):
        rounds = estimate.volume(each.size for each in around)
        if isinstance(step, Call):
            times.append(rounds * step.kernel.time({letter: estimate(size) for letter, size in step.sizes}))
        elif isinstance(step, Loop):
            volume = estimate.volume(size for _, size in step.axes)
            flops = sum(work(x.expr) + 1 for x in statements(step))
            moved = sum(estimate.volume(table[program.buffer_of[s.value]].shape) for s in step.stores)
            times.append(rounds * ((PLAIN * flops + COLUMN * _columns(step)) * volume + 8 * TRAFFIC * moved))
    return fsum(times)


def _columns(loop: Loop) -> int:
    """Return the number of entries that one iteration of a loop reads or writes along columns."""
    if not loop.axes:
        return 0
    fast, _ = loop.axes[-1]
    return sum(fast in at[:-1] and at[-1] != fast for at in accessed_entries(loop))


def work(expr: Expr) -> float:
    """Return the flops of one evaluation of an expression."""
    total = 0.0
    for top in within(expr):
        if isinstance(top, Apply):
            total += top.function.cost
        elif isinstance(top, (Sum, Product)):
            total += len(parts(top)) - 1 + int(isinstance(top, Product) and top.coef != 1)
        elif isinstance(top, Read):
            total += 0.5
    return total
