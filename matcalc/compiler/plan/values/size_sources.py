"""Finds where a function reads its sizes: on an axis of an input, or on several axes together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from matcalc.compiler.program import Source
from matcalc.language.identifiers import free
from matcalc.tensor.nodes.node import Node, everything
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.size_equations import Equation, eliminate, linear_part, solved_for


def size_sources(inputs: Sequence[Node], nodes: Sequence[Node]) -> tuple[list[str], list[Source]]:
    """Return the size names that must be arguments, and the sources of the others.

    A size name is read from an axis that is linear in it and otherwise known, plain axes first; or from several
    axes that determine it together. Arguments are in the order of the inputs' shapes, then sorted.
    """
    needed: dict[str, None] = {}
    for node in everything(nodes):
        shapes = [*node.shape, *(node.index_sizes if node.kind == "product" else ())]
        if node.kind == "size":
            shapes.append(node.size)
        if node.kind == "selector":
            shapes += [*node.selector.shape, node.selector.offset]
        if node.kind == "recurrence":
            shapes.append(node.steps)
        if node.kind in ("map", "op"):
            shapes += [p for p in node.params if isinstance(p, Size)]
        for size in shapes:
            needed.update(dict.fromkeys(size.names))
    sources: dict[str, Source] = {}
    progress = True
    while progress:
        progress = False
        for node in inputs:
            for axis, size in enumerate(node.shape):
                found = solved_for(size, sources)
                if found is not None and found[0] not in sources:
                    name, factor, offset = found
                    sources[name] = Source(name, node.name, axis, factor, offset)
                    progress = True
        if not progress:
            progress = _solve_together(inputs, sources)
    shown = dict.fromkeys(n for node in inputs for size in node.shape for n in size.names)
    return [n for n in (shown | dict.fromkeys(sorted(needed))) if n in needed and n not in sources], [*sources.values()]


def _solve_together(inputs: Sequence[Node], sources: dict[str, Source]) -> bool:
    """Add sources for names that several axes determine together, as `m + n` and `m - n`; return whether any exist."""
    taken = {*sources, *(n.name for n in inputs), *(n for i in inputs for size in i.shape for n in size.names)}
    axes: dict[str, tuple[str, int]] = {}
    rows: list[Equation[str]] = []
    for node in inputs:
        for axis, size in enumerate(node.shape):
            name = free(f"{node.name}_{axis}", taken)
            axes[name] = node.name, axis
            linear = linear_part(size, [n for n in size.names if n not in sources])
            if linear is not None and linear[0]:
                rows.append(Equation(linear[0], Size.of(name) - linear[1]))
    found = False
    for coefficients, value, _ in eliminate(rows):
        scale = lcm(*(c.denominator for _, c in value.terms))
        scaled = value * scale
        isolated = linear_part(scaled, axes)
        if len(coefficients) != 1 or isolated is None:
            continue
        first = next((name for name, c in isolated[0].items() if c == 1), None)
        if first is None:
            continue
        offset = Size.of(first) - scaled
        for name in (n for n in offset.names if n in axes):
            sources[name] = Source(name, *axes[name], Fraction(1), Size.of(0))
        (unknown,) = coefficients
        sources[unknown] = Source(unknown, *axes[first], Fraction(scale), offset)
        found = True
    return found
