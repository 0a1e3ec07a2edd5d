"""Plans again in blocks of rows if `row_blocks` finds a matrix that is read twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from matcalc.compiler.listing import operations
from matcalc.compiler.lowering_entries import BUSY, ONCE
from matcalc.compiler.plan.memory.allocate import Allocator
from matcalc.compiler.plan.memory.name_values import name_values, words_of
from matcalc.compiler.plan.memory.schedule import Scheduler
from matcalc.compiler.plan.rows.row_blocks import Block, block_of, region_of, width_of, without
from matcalc.compiler.plan.values.describe import Describer
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.plan.values.precompute import sizes_of
from matcalc.compiler.plan.values.values import Graph, Value
from matcalc.compiler.program import Program, Source
from matcalc.compiler.verify.accesses import proved
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

SURELY = 1
"""A plan has no blocks if its estimated flops for an entry exceed this multiple of BUSY."""


class Planned(NamedTuple):
    """A Program, the values that it computes, its results among these, and the formulas that its comment shows."""

    program: Program
    graph: Graph
    results: Mapping[str, Value]
    shown: Sequence[tuple[str, Node]] = ()


def by_blocks(found: Planned, describe: Describer, estimate: Estimate) -> Planned:
    """Return a plan that processes a matrix that is read twice in blocks of rows.

    Return the plan unchanged if nothing is read twice, if all rows fit one block at known sizes, or if arithmetic
    dominates, as in products of wide matrices in networks.
    """
    program, graph, results, shown = found
    region = region_of(graph, [value.name for value in results.values()]) if not program.data else None
    if region is None:
        return found
    block = block_of(*region, words_of(graph, describe))
    part = _part(block, describe, program)
    if part.proof is None or part.proof.hoisted:  # each call would have to test the sizes of a block
        return found
    entries = region[0].rows * width_of(region[0], block, part)
    fits_one = estimate.hints.keys() >= set(entries.names) and entries.evaluate(estimate.hints) <= ONCE
    if fits_one or estimate(operations(part)[0]) > SURELY * BUSY * estimate(entries):
        return found
    own = without(*region, block, part)
    made = {name: own.values[value.name] for name, value in results.items()}
    schedule = Scheduler(own, list(made.values())).steps()
    whole = Allocator(own, schedule, made).program(program.inputs, program.size_args, program.sources)
    return Planned(replace(whole, assumed=program.assumed), own, made, shown)


def _part(block: Block, describe: Describer, program: Program) -> Program:
    """Return the Program that processes one block."""
    graph, arguments = block.graph, block.arguments
    plain = [(s.key, n, k) for n, v in arguments.items() for k, s in enumerate(v.shape) if s.names == (s.key,)]
    sources = {name: Source(name, of, axis, Fraction(1), Size.of(0)) for name, of, axis in reversed(plain)}
    known = {*graph.axes, *graph.batch_axes, *sources}
    names = dict.fromkeys(n for item in graph.items for size in sizes_of(item) for n in size.names)
    comment = "; ".join(f"{name} = {describe(value.comment)}" for name, value in block.results.items())
    schedule = Scheduler(graph, list(block.results.values())).steps()
    allocator = Allocator(graph, schedule, block.results)
    made = allocator.program(list(arguments), [n for n in names if n not in known], list(sources.values()), comment)
    return proved(name_values(replace(made, assumed=program.assumed), graph, describe))
