"""Computes the expected results of functions, with which a saved file tests itself.

Formulas are read from their text and evaluated with many digits, by the rules' values; if a rule has no such value,
in double precision. No derivation, simplification or compiled code is involved. Data have their declared facts, and
are rounded to few digits if the rounded data have them too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import MatcalcError, NotSupported, RuleError
from matcalc.evidence.numeric.sampling import MODES, ROUNDING, Array, defect, drawn, projected, random_indices, shape_at
from matcalc.evidence.precise.arithmetic import doubles
from matcalc.evidence.precise.values import evaluate_precisely
from matcalc.formula.elaborate.texts import elaborate
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

Sizes = Mapping[str, int]
Numbers = tuple[dict[str, Array], dict[str, Array]]
"""Data by name, and results by name."""
DIGITS = 4
FACTORS = (1.0, -1.0, 5.0, -5.0, 0.2)
MIXED = 60
"""Attempts in which each argument has a mode of drawing of its own, after those in which all have the same."""
AGREES = 1e-10
"""The relative error of double precision up to which data are well conditioned."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument to draw data for; an index argument has the `lengths` of its axes.

    `hull` are the linear facts of a tangent. Functions project a tangent, so its data need not have these facts.
    """

    name: str
    shape: tuple[Size, ...]
    facts: tuple[str, ...]
    lengths: tuple[Size, ...] | None = None
    hull: tuple[str, ...] = ()


def reference_numbers(
    formulas: Sequence[Mapping[str, str]], declarations: Sequence[str], arguments: Sequence[Argument], sizes: Sizes
) -> Numbers | None:
    """Return data of these sizes with the values of formulas; None if no data with finite values are found.

    Each mapping of formulas has its own declarations. Results are keyed by the names of the formulas.
    """
    nodes: dict[str, Node] = {}
    for texts, declared in zip(formulas, declarations, strict=True):
        try:
            read = elaborate(list(texts.values()), declared, default_rulebook()).nodes
        except MatcalcError:  # the text cannot be read back
            return None
        nodes |= dict(zip(texts, read, strict=True))
    for attempt in range(len(MODES) + MIXED):
        data = {argument.name: _drawn(argument, sizes, attempt) for argument in arguments}
        try:
            meant = {a.name: projected(data[a.name], a.hull) if a.hull else data[a.name] for a in arguments}
            values = _values(list(nodes.values()), meant, sizes)
        except RuleError:  # the value of a rule is broken
            raise
        except (np.linalg.LinAlgError, ValueError, ArithmeticError, IndexError, MatcalcError):
            continue
        if all(np.all(np.isfinite(value)) for value in values):
            return data, dict(zip(nodes, values, strict=True))
    return None


def projection_text(facts: Sequence[str]) -> str:
    """Return the NumPy text of the projection of M on the linear set of facts; M itself without linear facts."""
    book, text = default_rulebook(), "M"
    for fact in book.strongest(book.hull(facts)):
        text = re.sub(r"\bM\b", text, book.facts[fact].projection or "M")
    return text


def _values(nodes: Sequence[Node], data: Mapping[str, Array], sizes: Sizes) -> list[Array]:
    """Return the values of formulas, with many digits if possible.

    Raises: ValueError if values in double precision differ from them, or if they are not finite or not real.
    """
    plain = [np.asarray(value) for value in evaluate(nodes, data, sizes)]
    if not all(np.all(np.isfinite(value)) for value in plain):
        raise ValueError
    try:
        precise = [doubles(value) for value in evaluate_precisely(nodes, data, sizes)]
    except NotSupported:
        precise = plain
    for rough, value in zip(plain, precise, strict=True):
        scale = float(np.max(np.abs(value), initial=0.0)) + 1e-3
        with np.errstate(invalid="ignore"):  # inf - inf
            off = np.max(np.abs(rough - value), initial=0.0)
        if np.iscomplexobj(value) or not off <= AGREES * scale:
            raise ValueError
    return precise


def _drawn(argument: Argument, sizes: Sizes, attempt: int) -> Any:
    """Return data of an argument, rounded if the rounded data have its facts.

    The first attempts are the modes of drawing; later ones choose a mode, a scale and, without facts, a sign.
    """
    rng = np.random.default_rng([7, attempt, *argument.name.encode()])
    shape = shape_at(argument.shape, sizes)
    if argument.lengths is not None:
        return random_indices(rng, shape, argument.lengths, sizes)
    facts = tuple(f for f in argument.facts if f != "constant")
    mode, factor = attempt, 1.0
    if attempt >= len(MODES):
        mode, factor = int(rng.integers(len(MODES))), 1.0 if facts else float(rng.choice(FACTORS))
    found = factor * drawn(rng, shape, facts, mode)
    rounded = np.round(found, DIGITS)
    return rounded if all(defect(rounded, fact) <= ROUNDING for fact in facts) else found
