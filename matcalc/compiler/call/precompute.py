"""Binds data to functions and computes the parts that depend on these data alone once, at the time of binding.

Such a function is a pair. The first takes the fixed arguments and is called once. The second takes all arguments and
the results of the first, and is called each time. A pair is compiled when these names are fixed for the first time,
for sizes rounded up to powers of two. The function caches it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from matcalc.compiler.call.bound import Bound
from matcalc.compiler.call.plan_text import Plan
from matcalc.compiler.entry.call_slot import with_call_slot
from matcalc.compiler.spec.result_shapes import output_shapes, solve_sizes
from matcalc.compiler.spec.spec import CompiledSpec
from matcalc.errors import ParseError, UnknownName
from matcalc.locks import loading
from matcalc.tensor.sizes.sizes_from_shapes import solve

Key = tuple[tuple[str, ...], tuple[tuple[str, int], ...]]
Pair = tuple[Any, Any]
MOST = 8
"""The number of pairs cached for one function; each is for certain fixed names and sizes."""


class BoundAhead(Bound):
    """A function of the remaining arguments `args`; `computed` are the values derived from the fixed ones, by name.

    Derived values belong to the data at the time of binding. Bind again after the data change.
    """

    def __new__(cls, pair: Pair, fixed: Mapping[str, Any], whole: Any) -> BoundAhead:
        """Return an object with a call slot if the second function is machine code."""
        return object.__new__(CALLED if pair[1].ready is not None and cls is BoundAhead and CALLED is not None else cls)

    def __init__(self, pair: Pair, fixed: Mapping[str, Any], whole: Any) -> None:
        before, function = pair
        spec = before.spec
        arguments = [fixed[operand.name] for operand in spec.arguments]
        given = {name: fixed[name] for name in spec.sizes}
        sizes = solve_sizes(spec, [np.shape(a) for a in arguments], given)
        shapes = output_shapes(spec, sizes)
        results = [np.empty(s or (1,), o.dtype) for s, o in zip(shapes, spec.outputs, strict=True)]
        values = before._finish([*arguments, *given.values()], results)
        self.computed = {operand.name: value for operand, value in zip(spec.outputs, values, strict=True)}
        super().__init__(function, function.spec, {**fixed, **self.computed}, function.ready)
        self.fixed = dict(fixed)
        self.pair, self.whole = pair, whole

    def __reduce__(self) -> tuple[object, ...]:
        return BoundAhead, (self.pair, self.fixed, self.whole)

    @property
    def plan(self) -> Plan:
        """The plan of the computation at binding, then the plan of each call; printing adds the least times."""
        spec = self.spec
        head = f"computed once, from {', '.join(self.fixed)}:\n\n{self.pair[0].plan}\n\neach call:\n\n"
        costs = [(line + head.count("\n"), flops, moved) for line, flops, moved in spec.costs]
        return Plan(head + spec.plan, costs, dict(spec.typical), spec.hinted)


CALLED = with_call_slot(BoundAhead)


def bound(function: Any, kept: dict[Key, Pair | None], given: Mapping[str, Any]) -> Bound:
    """Return a function with fixed arguments; parts that depend on these alone are computed now if that saves work.

    Raises: as `Bound` does; LinAlgError and ShapeError from the computation at binding.
    """
    plain = Bound(function, function.spec, given, function.ready)
    pair = _pair(function, kept, plain.fixed)
    return plain if pair is None else BoundAhead(pair, plain.fixed, function)


def _pair(function: Any, kept: dict[Key, Pair | None], fixed: Mapping[str, Any]) -> Pair | None:
    """Return the pair of functions for fixed arguments of these names and sizes; None if it would save nothing."""
    spec: CompiledSpec = function.spec
    if spec.with_fixed is None or not fixed:
        return None
    operands = [(a.name, a.shape) for a in spec.arguments if a.name in fixed]
    given = {name: fixed[name] for name in spec.sizes if name in fixed}
    sizes = solve(operands, {name: np.shape(fixed[name]) for name, _ in operands}, given)
    typical = {name: 1 << max(length - 1, 0).bit_length() for name, length in sizes.items()}
    key = tuple(fixed), tuple(sorted(typical.items()))
    with loading:
        if key not in kept:
            if len(kept) >= MOST:
                kept.pop(next(iter(kept)))
            try:
                made = spec.with_fixed(spec, key[0], typical)
            except (ParseError, UnknownName):  # the text is incomplete: it contains data, or a rule is gone
                made = spec
            fits = made.ahead is not None and _is_same(spec, made)
            make = getattr(function, "single", type(function))
            kept[key] = (make(made.ahead), make(made)) if fits else None
    return kept[key]


def _is_same(spec: CompiledSpec, made: CompiledSpec) -> bool:
    """Whether a function rebuilt from the text of another has the same arguments, results and formulas."""
    given = [(a.name, a.shape, a.dtype, a.facts, a.known) for a in spec.arguments]
    taken = [(a.name, a.shape, a.dtype, a.facts, a.known) for a in made.arguments[: len(given)]]
    returned = [[(o.name, o.shape, o.dtype) for o in each.outputs] for each in (spec, made)]
    texts = [[formula.text for formula in each.formulas] for each in (spec, made)]
    return (given, spec.sizes, texts[0]) == (taken, made.sizes, texts[1]) and returned[0] == returned[1]
