"""Reads what a step of a loop reads: the number of the step, slices of arrays, and the last entry of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from matcalc.errors import NotSupported, NoValue
from matcalc.expressions.numpy_bridge.arguments import Compared, bound_of, is_array, length_in
from matcalc.language.containers import items
from matcalc.tensor.constructors import symbol
from matcalc.tensor.leading_axis import cut, numbers
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.sizes_from_shapes import Condition
from matcalc.tensor.steps.one_step import entry_facts
from matcalc.tensor.symbols import Names

SCAN = "write  states, outputs = mc.scan(step, start, over=X), where step(carry, x) returns the next carry"
ZERO, ONE = Size.of(0), Size.of(1)
INNER = "#"
"""The first character of symbols inside a step; no user's name begins so."""


@dataclass(eq=False)
class Stepping:
    """A step that is being run on symbols: the number of steps, and sequences by the symbols of their slices.

    `first` is the number of steps of the loop before these, `assumed` the answers to conditions that have both, and
    `guards` those to the conditions under which the step is run. `counts` are numbers of entries of parts that a step
    decides: their largest value, and whether they are never 0.
    """

    length: Size
    depth: int
    sequences: dict[Node, Node] = field(default_factory=dict)
    states: list[Node] = field(default_factory=list)
    first: Size = ZERO
    is_guarded: bool = False
    assumed: dict[tuple[str, Node], bool] = field(default_factory=dict)
    guards: dict[tuple[str, Node], bool] = field(default_factory=dict)
    counts: dict[Node, tuple[Size, bool]] = field(default_factory=dict)

    def entry_of(self, sequence: Node) -> Node:
        """Return the symbol of the entry of a sequence of the whole loop."""
        whole = self.first is ZERO and sequence.shape[0] is self.length
        return self.slice_of(sequence if whole else cut(sequence, self.first, self.length))

    def slice_of(self, sequence: Node) -> Node:
        """Return the symbol of the entry of a sequence at the step."""
        own = next((s for s, known in self.sequences.items() if known is sequence), None)
        if own is None:
            label = f"{INNER}u{self.depth}.{len(self.sequences)}"
            own = symbol(label, sequence.shape[1:], entry_facts(sequence))
            self.sequences[own] = sequence
        return own

    @property
    def number(self) -> Node:
        """The symbol of the number of the step, from 0."""
        return self.slice_of(numbers(self.length))


stepping: ContextVar[tuple[Stepping, ...]] = ContextVar("stepping", default=())
"""The steps that are being run, outer ones first."""


@contextmanager
def running(one: Stepping) -> Iterator[None]:
    token = stepping.set((*stepping.get(), one))
    try:
        yield
    finally:
        stepping.reset(token)


def stepped_names(node: Node) -> Names:
    """Return the names of the symbols of steps in a node."""
    inner = {one.name: one for one in toposort([node]) if one.kind == "symbol" and one.name.startswith(INNER)}
    return Names(inner, tuple(inner))


class Arrays(Protocol):
    """The constructors of arrays and of lists of the function that is being traced."""

    def array(self, node: Node, names: Names | None = None) -> Any: ...

    def listed(self, array: Any) -> Any: ...


class Over(Protocol):
    """What a loop runs over."""

    @property
    def length(self) -> Size: ...

    @property
    def item(self) -> Callable[[Stepping], Any]: ...

    @property
    def guards(self) -> Callable[[Any], Sequence[Compared]]: ...

    @property
    def is_guarded(self) -> bool: ...

    @property
    def first(self) -> Size: ...

    @property
    def conditions(self) -> tuple[Condition, ...]: ...

    @property
    def loops(self) -> Arrays: ...


class Lost:
    """A value that a loop leaves without meaning; its use raises the reason."""

    def __init__(self, reason: str, hint: str) -> None:
        self._reason, self._hint = reason, hint

    def __getattr__(self, attribute: str) -> NoReturn:
        raise NoValue(self._reason, hint=self._hint)


class Appending:
    """A list inside a step: it can be appended to, and its last entry read."""

    def __init__(self, name: str, last: Any) -> None:
        self.name, self.added, self.last = name, list[Any](), last

    def append(self, value: Any) -> None:
        """Append the entry of the step."""
        self.added.append(value)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, int) and at == -1 and (self.added or self.last is not None):
            return self.added[-1] if self.added else self.last
        raise NotSupported(f"the loop reads the list {self.name} at an entry other than the last", hint=SCAN)

    def __getattr__(self, attribute: str) -> NoReturn:
        raise NotSupported(f"the loop uses the list {self.name}, to which it appends", hint=SCAN)

    def __iter__(self) -> NoReturn:
        raise NotSupported(f"the loop reads the list {self.name}, to which it appends", hint=SCAN)

    __len__ = __iter__


def is_leaf(value: object) -> bool:
    """Whether a value is an array or a number that a state can be."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return False
    return (
        is_array(value)
        or length_in(value) is not None
        or isinstance(value, (int, float))
        or (hasattr(value, "__array__") and getattr(getattr(value, "dtype", None), "kind", "") in "fiu")
    )


def leaves_of(value: object) -> list[Node] | None:
    """Return the arrays of a value as nodes; None if it has anything else."""
    if is_leaf(value):
        return [value.node if is_array(value) else bound_of(value)]  # type: ignore[attr-defined]
    parts = None if value is None or isinstance(value, (str, bool)) else items(value)
    if not parts:
        return None
    found: list[Node] = []
    for _, part in parts:
        inner = leaves_of(part)
        if inner is None:
            return None
        found += inner
    return found


def alike(one: Any, other: Any) -> bool:
    """Whether two values have arrays in the same places."""
    if is_leaf(one) or is_leaf(other):
        return is_leaf(one) and is_leaf(other)
    mine, theirs = items(one), items(other)
    if mine is None or theirs is None or [key for key, _ in mine] != [key for key, _ in theirs]:
        return False
    return all(alike(a, b) for (_, a), (_, b) in zip(mine, theirs, strict=True))


def conditions_of(value: Any) -> list[Condition]:
    """Return the conditions on sizes of the arrays in a value."""
    if is_array(value):
        return list(value.names.conditions)
    parts = items(value) if isinstance(value, (dict, list, tuple)) else None
    return [one for _, part in parts or () for one in conditions_of(part)]
