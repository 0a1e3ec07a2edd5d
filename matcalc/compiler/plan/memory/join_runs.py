"""Merges several kernels on the same operands into one run that computes all their results."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.lowering_entries import Kernel
from matcalc.compiler.plan.values.describe import Describer
from matcalc.compiler.plan.values.values import Graph, Run


def join_runs(graph: Graph, entries: Sequence[Kernel], describe: Describer) -> None:
    """Replace the runs of all kernels that an entry joins by one run, at the position of the first."""
    for entry in entries:
        found: dict[tuple[object, ...], dict[str, Run]] = {}
        for item in graph.items:
            if isinstance(item, Run) and item.kernel.name in entry.joins:
                found.setdefault(_arguments_of(item), {})[item.kernel.name] = item
        for runs in found.values():
            if len(runs) == len(entry.joins):
                _join(graph, entry, [runs[name] for name in entry.joins], describe)


def _arguments_of(run: Run) -> tuple[object, ...]:
    """Return the arguments of a run: its operands, sizes and loops."""
    operands = [(operand.field, operand.value.name, operand.flip, operand.lead) for operand in run.operands]
    return (*operands, run.sizes, run.params, run.batch, run.kept)


def _join(graph: Graph, entry: Kernel, runs: Sequence[Run], describe: Describer) -> None:
    first = min(runs, key=graph.items.index)
    whole = Run(entry, [], first.operands, first.sizes, first.params, batch=first.batch, kept=first.kept)
    whole.fault = next((run.fault for run in runs if run.fault), first.fault)
    whole.comment, whole.order = ", ".join(describe(run.comment) for run in runs), first.order
    for term, (_, value) in zip(entry.results, (result for run in runs for result in run.results), strict=True):
        value.run = whole
        whole.results.append((term.name, value))
    graph.items[graph.items.index(first)] = whole
    graph.items[:] = [item for item in graph.items if not any(item is run for run in runs)]
