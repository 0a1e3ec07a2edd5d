"""Requires sizes of a call: integers that are large enough, and entries where an empty argument has no value.

Sizes may be unknown while reading. They are checked when they are known, at the latest by a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.typed import Typed
from matcalc.language.declare import Declaration, size_names
from matcalc.language.syntax import Ast, call_name
from matcalc.tensor.nodes.signature import PLAIN

if TYPE_CHECKING:
    from matcalc.rulebook.load import Candidate

Pair = tuple[Declaration, Typed]


def require(inference: Inference, ast: Ast, candidate: Candidate, pairs: Sequence[Pair], axis: int | None) -> None:
    """Require the conditions of a call's entry on its integers, its lengths and its arguments."""
    _require_integers(inference, ast, candidate, pairs)
    if candidate.rule.nonempty:
        _require_entries(inference, ast, pairs, axis, candidate.rule.nonempty)


def _require_integers(inference: Inference, ast: Ast, candidate: Candidate, pairs: Sequence[Pair]) -> None:
    """Require declared bounds of integers, and that lengths of the results are not negative."""
    lengths = {name for output in candidate.signature.outputs for name in size_names(output)}
    for parameter, value in pairs:
        counts = parameter.name in lengths or {"positive", "nonnegative"}.intersection(parameter.facts)
        if parameter.kind != "integer" or not counts or value.exact is None:
            continue
        least = int("positive" in parameter.facts)
        message = partial(_too_small, ast, parameter.name, least, value.ast)
        inference.check_least(value.exact - least, value.ast, message)


def _require_entries(
    inference: Inference, ast: Ast, pairs: Sequence[Pair], axis: int | None, sizes: bool | Sequence[str]
) -> None:
    """Require at least one entry of each argument, of each of its rows or columns along an axis, or of some sizes."""
    for parameter, value in pairs:
        if parameter.kind not in PLAIN:
            lengths = value.shape if axis is None else value.shape[axis : axis + 1]
            if not isinstance(sizes, bool):
                pairs_of_sizes = zip(parameter.sizes, value.shape, strict=False)
                lengths = tuple(length for size, length in pairs_of_sizes if size.value in sizes)
            for length in lengths:
                message = partial(_no_entries, ast, value.ast)
                inference.check_least(length - 1, ast, message)


def _no_entries(call: Ast, value: Ast) -> str:
    return f"{call_name(call)} of nothing: {shown(value)} has no entries"


def _too_small(call: Ast, name: str, least: int, value: Ast) -> str:
    return f"{call_name(call)}: {name} must be at least {least}, and {shown(value)} is less"
