"""Prints a plan with the flops and bytes of each step as numbers at typical sizes, and with its least time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matcalc.compiler.listing import COLUMN, Cost
from matcalc.compiler.machine.machine import machine
from matcalc.pictures.plots import Bar, Bars
from matcalc.tensor.sizes.size import Size

LABEL = 34
"""Maximal characters of a step's label in a picture."""


class Plan(str):
    """The text of a plan in symbolic sizes. Printing adds numbers at the `sizes` at which costs were compared.

    `time` is the least time of a call at these sizes, in seconds. Each step takes its flops or its bytes at the peak
    rate of this machine, whichever takes longer.
    """

    sizes: dict[str, int]
    costs: Sequence[Cost]
    given: frozenset[str]

    def __new__(cls, text: str, costs: Sequence[Cost] = (), sizes: Mapping[str, int] | None = None,
                given: Sequence[str] = ()) -> Plan:  # fmt: skip
        made = super().__new__(cls, text)
        made.costs, made.sizes, made.given = tuple(costs), dict(sizes or {}), frozenset(given)
        return made

    def at(self, **sizes: int) -> Plan:
        """Return the plan with these sizes for printing.

        Raises: ValueError for a name that is not a size of the plan.
        """
        other = [name for name in sizes if name not in self.sizes]
        if other:
            known = f"; the sizes are {', '.join(self.sizes)}" if self.sizes else ""
            raise ValueError(f"{other[0]} is not a size of the plan{known}")
        return Plan(str.__str__(self), self.costs, {**self.sizes, **sizes}, [*self.given, *sizes])

    @property
    def time(self) -> float:
        """The least time of a call at the sizes, in seconds."""
        return sum(machine().seconds(*self._numbers(flops, moved)) for _, flops, moved in self.costs)

    def plot(self, measured: float | None = None) -> Bars:
        """Return a bar chart of the least time of each step, coloured by its bottleneck: arithmetic, cache or memory.

        `measured` is the time of a call in seconds; it is drawn below the sum of the steps. Each bar is labelled with
        the flops and bytes of the step at the sizes.
        """
        lines, roof = self.splitlines(), machine()
        bars = []
        for line_number, flops, moved in self.costs:
            count, size = self._numbers(flops, moved)
            seconds, waits = roof.seconds(count, size), roof.waits_for(count, size)
            note = f"{_time(seconds)}: {count:.3g} flops, {size:.3g} bytes"
            bars.append(Bar(_step(lines[line_number]), 1e6 * seconds, f"waits for {waits}", note))
        bars.append(Bar("all steps", 1e6 * self.time, "least of a call", _time(self.time)))
        if measured is not None:
            times = f", {measured / self.time:.3g} times the least" if self.time else ""
            bars.append(Bar("a call", 1e6 * measured, "measured", f"{_time(measured)}{times}"))
        where = ", ".join(f"{name} = {length}" for name, length in self.sizes.items())
        return Bars(bars, f"microseconds{f' at {where}' if where else ''}")

    def _numbers(self, flops: Size, moved: Size) -> tuple[float, float]:
        """Return flops and bytes as numbers at the sizes."""
        at = {name: Size.of(length) for name, length in self.sizes.items()}
        return tuple(max(float(size.substitute(at).constant), 0.0) for size in (flops, moved))  # type: ignore[return-value]

    def __str__(self) -> str:
        lines = self.splitlines()
        for line_number, flops, moved in self.costs:
            count, size = self._numbers(flops, moved)
            lines[line_number] += f": {count:.3g} flops, {size:.3g} bytes, {_time(machine().seconds(count, size))}"
        if not self.costs:
            return str.__str__(self)
        given = [f"{name} = {length}" for name, length in self.sizes.items() if name in self.given]
        assumed = [f"{name} = {length}" for name, length in self.sizes.items() if name not in self.given]
        where = [", ".join(given)] if given else []
        where += [f"{', '.join(assumed)} assumed (sizes= gives others)"] if assumed else []
        roof = machine()
        peak = f"{roof.near:.3g} bytes of cache and {roof.far:.3g} bytes of memory"
        rates = f"at most {roof.flops:.3g} flops, {peak} in a ns"
        at = f" where {'; '.join(where)}" if where else ""
        return "\n".join([*lines, f"at least {_time(self.time)} a call{at}: {rates}"])

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (str.__str__(self), self.costs, self.sizes, tuple(self.given))


def _step(line: str) -> str:
    """Return a line of the plan without its counts, cut to a label."""
    text = line[:COLUMN].strip()
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}…"


def _time(seconds: float) -> str:
    """Return a time with its unit."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
