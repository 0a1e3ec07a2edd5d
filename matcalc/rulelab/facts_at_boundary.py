"""Tests a rule's facts at the ends of its arguments' sets: zero, the identity, the border, far out.

Rounding is large there. A value that seems to break a fact is computed again with many digits. If that is impossible,
it must break the fact clearly in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from matcalc.errors import MatcalcError, NotSupported
from matcalc.evidence.numeric.boundary import End, ends
from matcalc.evidence.numeric.samplers import CONES
from matcalc.evidence.numeric.sampling import Array, own_defect, sample
from matcalc.evidence.precise.values import evaluate_precisely
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulelab.finding import EXACT, REFUSED
from matcalc.rulelab.rule_point import Point
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

CLEAR = 1e-6
"""The distance beyond a bound at which a value clearly breaks a fact in doubles."""

BORDER = 1e-40
"""The part of the largest entry that counts as 0 at many digits."""

JITTER = 1e-12
"""The relative perturbation of arguments that estimates the effect of their rounding on a value."""

MOST_DOUBTS = 3
"""The number of values that break a fact only by rounding after which the search stops."""

FAR = 10.0
"""The size of entries above which the exponential of a matrix may have eigenvalues with a ratio below `BORDER`."""


def broken_at_ends(at: Point, given: Mapping[str, Sequence[str]], output: str, fact: str) -> tuple[float, str] | None:
    """Return the distance of a value from a fact at an end of its arguments, and the end; None if no end breaks it."""
    doubts = 0
    for changed, words in end_arguments(at, given):
        found = _value(at, changed, output)
        if found is None:
            continue
        for each in sorted(at.book.closure([fact])):
            if _has_own(at, found, each):
                continue
            error = _broken(at, changed, output, found, each)
            if error:
                return error, words
            doubts += 1
        if doubts >= MOST_DOUBTS:
            return None
    return None


def _value(at: Point, changed: Mapping[str, Array], output: str) -> Array | None:
    """Return a value; None if it raises, is empty or is not finite."""
    with np.errstate(all="ignore"):
        try:
            found = at.value(changed)[output]
        except REFUSED:
            return None
    return found if found.size and np.all(np.isfinite(found)) else None


def end_arguments(at: Point, given: Mapping[str, Sequence[str]]) -> Iterator[tuple[dict[str, Array], str]]:
    """Yield arguments at the ends of their sets, all together and then one by one, with descriptions."""
    facts = {name: (*at.facts[name], *given.get(name, given.get(name.partition("_")[0], ()))) for name in at.data}
    found = {name: _ends_of(at.data[name], facts[name], at) for name in at.data}
    for level in range(max(map(len, found.values()), default=0)):
        if all(found.values()):
            yield _chosen({name: some[level % len(some)] for name, some in found.items()}, {})
    rng = np.random.default_rng(53)
    others = {name: sample(rng, at.data[name].shape, facts[name]) for name in at.data}
    for name, end in chain.from_iterable([(name, end) for end in some] for name, some in found.items()):
        if len(found) > 1:
            yield _chosen({name: end}, others)


def _chosen(at_end: Mapping[str, End], others: Mapping[str, Array]) -> tuple[dict[str, Array], str]:
    words = ", ".join(f"{name} = {end.words}" for name, end in at_end.items())
    return {**others, **{name: end.array for name, end in at_end.items()}}, words


def _ends_of(array: Array, facts: Sequence[str], at: Point) -> tuple[End, ...]:
    is_square = array.shape == array.shape[::-1]
    if any(at.book.facts[f].of == "square" for f in facts) and not is_square:
        return ()
    return ends(array.shape, facts)


def _has_own(at: Point, found: Array, fact: str) -> bool:
    return own_defect(_scaled(at, found, fact), fact) <= EXACT


def _scaled(at: Point, found: Array, fact: str) -> Array:
    """Return a value scaled to entries up to 1 if the fact is a cone."""
    largest = float(np.max(np.abs(found)))
    return found / largest if largest and at.book.facts[fact].scaled in CONES else found


def _broken(at: Point, changed: Mapping[str, Array], output: str, found: Array, fact: str) -> float:
    """Return by how much a value breaks a fact's own requirements; 0 if it does not."""
    try:
        return _precisely_broken(at, changed, output, fact, _noise(at, changed, output, found))
    except (NotSupported, TypeError):
        return _clearly_broken(at, _scaled(at, found, fact), fact)
    except (*REFUSED, MatcalcError):
        return 0.0


def _noise(at: Point, changed: Mapping[str, Array], output: str, found: Array) -> float:
    """Return the change of a value under rounding of its arguments."""
    rng = np.random.default_rng(59)
    moved = {name: a * (1 + JITTER * rng.standard_normal(a.shape)) for name, a in changed.items()}
    there = _value(at, moved, output)
    return float("inf") if there is None else float(np.max(np.abs(there - found)))


def _tests(at: Point, fact: str, shape: Sequence[int]) -> Iterator[tuple[str, Node]]:
    """Yield the tests of a fact: the field and its node over X."""
    record, lengths = at.book.facts[fact], [Size.of(n) for n in shape]
    sizes = dict(zip(("m", "n") if len(shape) == 2 else ("n",), lengths, strict=False))
    x = symbol("X", lengths)
    for which in ("zero", "nonnegative", "positive"):
        text = getattr(record, which)
        if text is not None:
            yield which, build_formula(text, (), at.book, {"X": x}, sizes=sizes)


def _precisely_broken(at: Point, changed: Mapping[str, Array], output: str, fact: str, noise: float) -> float:
    value = at.precise(changed)[output]
    size = float(max((abs(x) for x in np.asarray(value).flat), default=0))
    scale = max(size, 1.0) if at.book.facts[fact].scaled not in CONES else size
    for which, node in _tests(at, fact, np.shape(value)):
        (result,) = evaluate_precisely([node], {"X": value}, {})
        entries = [x.item() if isinstance(x, np.ndarray) else x for x in result.flat]
        if which == "zero" and max(map(abs, entries)) > EXACT * scale + noise:
            return float(max(map(abs, entries)) / max(scale, 1e-300))
        if which == "nonnegative" and min(entries) < -EXACT * scale - noise:
            return float(-min(entries) / scale)
        if which == "positive" and _is_at_border(at, changed, fact, min(entries), scale, noise):
            return 1.0
    return 0.0


def _is_at_border(at: Point, changed: Mapping[str, Array], fact: str, least: Any, scale: float, noise: float) -> bool:
    """Whether the least of the numbers that must be positive is not: an entry exactly, an eigenvalue up to rounding.

    Far out, the ratio of eigenvalues may exceed the digits, so there the least must be clearly negative.
    """
    if at.book.facts[fact].of == "any":
        return bool(least <= 0)
    is_far = any(float(np.max(np.abs(a), initial=0.0)) > FAR for a in changed.values())
    return bool(least < -EXACT * scale - noise or (not is_far and least <= BORDER * scale))


def _clearly_broken(at: Point, scaled: Array, fact: str) -> float:
    """Return by how much a scaled value breaks a fact beyond rounding; 1 if it must be positive and is not."""
    record = at.book.facts[fact]
    if record.positive is None:
        error = own_defect(scaled, fact)
        return error if error > CLEAR else 0.0
    return 1.0 if not np.any(scaled) or _least(at, scaled, fact) < -CLEAR else 0.0


def _least(at: Point, scaled: Array, fact: str) -> float:
    nodes = [node for which, node in _tests(at, fact, scaled.shape) if which == "positive"]
    return min((float(np.min(a, initial=np.inf)) for a in at.evaluate(nodes, {"X": scaled})), default=np.inf)


__all__ = ["broken_at_ends", "end_arguments"]
