"""Writes structured matrices by their names, as nodes and as factors: `toeplitz(c)`, `hankel(c)*x`, `duplication(n)*v`.

A factor is one operand with the selectors at its indices. It is replaced by a symbol that reads as the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import cast

from matcalc.formula.forms import form as forms
from matcalc.formula.forms.form import Form
from matcalc.formula.notation.context import Context
from matcalc.formula.notation.named_structures import structure_of
from matcalc.formula.notation.node_reading import Reading, scaled
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import product, symbol, transpose
from matcalc.tensor.nodes.node import Indices, Node
from matcalc.tensor.sums import split_coef

Read = Callable[[Context, Node], Reading]


def by_structure(context: Context, node: Node, reading: Reading, read: Read) -> Reading:
    """Return a reading of a node that names structured matrices instead of an index form, if there is one."""
    is_index_form = reading.form.body is not None
    if node.rank == 2 and (node.kind == "sum" or node.kind == "product" and is_index_form):
        coef, core = split_coef(node)
        forward, backward = _call(context, core)
        if forward is not None and backward is not None:
            named = Reading(scaled(forward, coef), transposed=scaled(backward, coef))
            if is_index_form or named.form.tokens < reading.form.tokens:
                return named
    if node.kind == "product" and is_index_form:
        for positions, outer in _factors(node):
            found = _with_factor(context, node, positions, outer, read)
            if found is not None and found.form.tokens < reading.form.tokens:
                return found
    return reading


def _call(context: Context, matrix: Node) -> tuple[Form | None, Form | None]:
    """Return the call that produces a matrix, and that of its transpose, each perhaps transposed."""
    for turned in (False, True):
        found = structure_of(transpose(matrix) if turned else matrix)
        if found is not None:
            rule, arguments = found
            shown = [context.readings[a].form if isinstance(a, Node) else context.size(a) for a in arguments]
            call = forms.call(rule.spelling, *shown)
            other = call if "symmetric" in matrix.facts else forms.transposed(call)
            return (other, call) if turned else (call, other)
    return None, None


def _factors(node: Node) -> Iterator[tuple[list[int], Indices]]:
    """Yield the positions of operands that may form a matrix in a larger product, with its two indices."""
    for position, (arg, at) in enumerate(node.operands):
        if arg.kind == "selector" or not at:
            continue
        own = [k for k, (a, t) in enumerate(node.operands) if a.kind == "selector" and not a.args and {*t} & {*at}]
        chosen = [position, *own]
        beyond = {i for k, t in enumerate(node.indices) if k not in chosen for i in t}.union(node.out)
        outer = tuple(sorted({i for k in chosen for i in node.indices[k]} & beyond))
        if own and len(outer) == 2 and len(chosen) < len(node.args):
            yield chosen, outer


def _with_factor(context: Context, node: Node, chosen: list[int], outer: Indices, read: Read) -> Reading | None:
    """Return the reading of a product in which some operands are a structured matrix; None if they are none."""
    sizes = dict(enumerate(node.index_sizes))
    own = {i for k in chosen for i in node.indices[k]}
    matrix = product(1, [node.operands[k] for k in chosen], outer, {i: sizes[i] for i in own})
    forward, backward = _call(context, matrix)
    if forward is None:
        return None
    facts = default_rulebook().strongest(sorted(matrix.facts))
    stand = symbol(f"#{len(node.args)}", matrix.shape, facts)
    cast("MutableMapping[Node, Reading]", context.readings)[stand] = Reading(forward, transposed=backward)
    others = [operand for k, operand in enumerate(node.operands) if k not in chosen]
    left = {*outer, *node.out, *(i for _, at in others for i in at)}
    made = product(node.coef, [*others, (stand, outer)], node.out, {i: sizes[i] for i in left})
    return by_structure(context, made, read(context, made), read)
