"""Expands the forms of formulas that are planned, and joins their recurrences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from matcalc.compiler.lowering_entries import Lowerings
from matcalc.compiler.plan.expand import expand
from matcalc.compiler.plan.push_lookups_inward import lookups_pushed_inward
from matcalc.compiler.plan.recurrences.join_steps import joined
from matcalc.compiler.plan.recurrences.stored_products import StepProducts
from matcalc.errors import NotSupported
from matcalc.tensor.nodes.node import Node


def joined_forms(
    forms: Sequence[Sequence[Node]], lowerings: Lowerings, checkpoints: int | None, products: StepProducts
) -> Iterator[tuple[Sequence[Node], list[Node]]]:
    """Yield each form expanded, and the same with joined recurrences; a form that must store all states is left out.

    `products` plans steps, see `stored_products`.

    Raises: NotSupported if all of them must.
    """
    fault, found = None, False
    for form in _with_lookups(forms):
        expanded = expand(form, lowerings)
        try:
            roots = joined(expanded, checkpoints, products)
        except NotSupported as refused:
            fault = fault or refused
            continue
        found = True
        yield expanded, roots
    if fault is not None and not found:
        raise fault


def _with_lookups(forms: Sequence[Sequence[Node]]) -> dict[tuple[Node, ...], None]:
    """Return the forms to plan, each once, and each with its lookups moved into functions."""
    return dict.fromkeys(tuple(f) for form in forms for f in (form, lookups_pushed_inward(form)))
