"""Tests data drawn for a declared fact, by evaluating the formulas of the fact as written.

matcalc itself evaluates the sampler of a fact. So a fault in matcalc may draw data outside the domain, where nothing
would be compared.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from matcalc.errors import InternalError, NoReference
from matcalc.evidence.numeric.sampling import facts_of
from matcalc.evidence.written.reference import Reference, of_tree
from matcalc.evidence.written.values import Array, largest
from matcalc.language.read import read
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node

CLOSE = 1e-8
"""The largest violation of a fact by rounding, relative to the largest entry."""


def check_drawn(x: Node, drawn: Array) -> None:
    """Raise InternalError if the data of a symbol with one declared fact do not have it.

    Symbols with several facts are not tested, because their samplers may undo each other.
    """
    declared = facts_of(x)
    if len(declared) != 1 or not drawn.size:
        return
    known: dict[str | None, Array | None] = {None: None}
    for fact in dict.fromkeys([*declared, *sorted(default_rulebook().closure(declared))]):
        if _is_lacking(drawn, fact, known):
            raise InternalError(f"the data failed their check: the data drawn for {x.name} are not {fact}")


def _is_lacking(drawn: Array, name: str, known: dict[str | None, Array | None]) -> bool:
    """Whether data do not have a fact; `known` are the values of tests, which several facts share."""
    fact = default_rulebook().facts[name]
    scale = max(1.0, float(np.max(np.abs(drawn))) ** 2)
    tests = fact.zero, fact.nonnegative, fact.positive
    known.update((text, _value(text, drawn)) for text in tests if text is not None and text not in known)
    zero, least, positive = map(known.__getitem__, tests)
    return (
        (zero is not None and largest(zero) > CLOSE * scale)
        or (least is not None and float(np.min(least, initial=np.inf)) < -CLOSE * scale)
        or (positive is not None and float(np.min(positive, initial=np.inf)) <= 0)
    )


def _value(text: str, drawn: Array) -> Array | None:
    """Return the value of a test of a fact at data; None if it has none."""
    sizes = dict(zip(("m", "n"), drawn.shape, strict=True)) if drawn.ndim == 2 else {}
    try:
        return np.asarray(_test(text).value({"X": drawn}, sizes), dtype=float)
    except (NoReference, np.linalg.LinAlgError):
        return None


@cache
def _test(text: str) -> Reference:
    return of_tree(read(text))
