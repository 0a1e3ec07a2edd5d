"""The walk over a syntax tree that is evaluated: iterative, each form a generator that yields the operands it needs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from matcalc.errors import NoReference
from matcalc.evidence.written.calls import Argument, called
from matcalc.evidence.written.values import Array, Value
from matcalc.language.syntax import Ast
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.notations import spelled

Data = Mapping[str, Any]
Leaf = Callable[[Ast, Data, Mapping[str, int]], Array]
"""The value of a leaf that holds an object."""


@dataclass(frozen=True, slots=True)
class Place:
    """What names mean at a place of the tree: indices and parameters. `is_base` says that data are not moved there."""

    bound: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, Value] = field(default_factory=dict)
    is_base: bool = False


Steps = Generator[tuple[Ast, Place], Any, Value]
Form: TypeAlias = "Callable[[Evaluator, Ast, Place], Steps | Value]"
"""How a form is evaluated: its value, or a generator that yields operands with their places and returns the value."""


class Unmeasured(Exception):  # noqa: N818 - caught here
    """An index whose length is not known yet."""


@dataclass(slots=True)
class Evaluator:
    """An evaluation under way.

    `forms` say how each form of a tree is evaluated. `base` are the data before they were moved along a direction: an
    operation that takes its argument as a constant (its differential is 0) is evaluated at `base`.
    """

    data: Data
    sizes: Mapping[str, int]
    base: Data
    leaf: Leaf
    forms: Mapping[str, Form]
    numpy: bool = False
    broadcasts: bool = False
    book: Rulebook = field(default_factory=default_rulebook)
    lengths: dict[int, int] = field(default_factory=dict)
    labels: dict[Ast, dict[str, int]] = field(default_factory=dict)
    shared: dict[tuple[Ast, bool], Value] = field(default_factory=dict)
    measured: dict[Ast, Value] = field(default_factory=dict)

    def value(self, tree: Ast, place: Place | None = None) -> Value:
        """Return the value of a tree.

        Raises: NoReference for what cannot be evaluated; LinAlgError outside of a domain; IndexError for a place
            outside of an axis.
        """
        stack: list[Steps] = []
        answer = self._entered(tree, place or Place(), stack)
        while stack:
            try:
                asked = stack[-1].send(answer)
                answer = self._entered(*asked, stack)
            except StopIteration as done:
                stack.pop()
                answer = done.value
        assert answer is not None
        return answer

    def _entered(self, tree: Ast, place: Place, stack: list[Steps]) -> Value | None:
        """Return the value of a tree that is known at once; put the steps to any other on the stack."""
        known = self.measured.get(tree) if not place.parameters and not place.is_base else None
        if known is not None:
            return known
        if tree.head not in self.forms:
            raise NoReference(f"the form {tree.head}")
        found = self.forms[tree.head](self, tree, place)
        if isinstance(found, Value):
            return found
        stack.append(found)
        return None

    @property
    def expands(self) -> bool:
        return self.numpy or self.broadcasts

    def by_role(self, role: str, values: Sequence[Value]) -> Value:
        """Return the entry that plays a part in the language, applied to values."""
        return called(self.book, spelled(role), [Argument(value) for value in values], None, self.expands)

    def length(self, label: int) -> int:
        """Return the length of an index.

        Raises: Unmeasured where it is not known yet.
        """
        found = self.lengths.get(label)
        if found is None:
            raise Unmeasured
        return found
