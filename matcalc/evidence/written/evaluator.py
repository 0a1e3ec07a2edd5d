"""Evaluates a syntax tree iteratively: each form is a generator that yields the operands it needs."""

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
"""Returns the value of a leaf that holds an object."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The meaning of names in a subtree: indices and parameters. With `is_base` data are unmoved."""

    bound: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, Value] = field(default_factory=dict)
    is_base: bool = False


Steps = Generator[tuple[Ast, Scope], Any, Value]
Form: TypeAlias = "Callable[[Evaluator, Ast, Scope], Steps | Value]"
"""Evaluates a form: returns its value, or a generator that yields operands with scopes and returns the value."""


class Unmeasured(Exception):  # noqa: N818 - caught here
    """Raised for an index whose length is not known yet."""


@dataclass(slots=True)
class Evaluator:
    """The state of one evaluation.

    `forms` evaluate the forms of a tree by head. `base` are the data before they were moved along a direction. An
    operation that takes its argument as a constant (its differential is 0) is evaluated at `base`. `lengths` and
    `starts` are those of indices, `starts` only where subscripts compute with the index.
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
    starts: dict[int, int] = field(default_factory=dict)
    labels: dict[Ast, dict[str, int]] = field(default_factory=dict)
    shared: dict[tuple[Ast, bool], Value] = field(default_factory=dict)
    measured: dict[Ast, Value] = field(default_factory=dict)
    steps: dict[tuple[Ast, bool], int] = field(default_factory=dict)
    tables: dict[tuple[Ast, bool], dict[str, Array]] = field(default_factory=dict)
    explicit: dict[Ast, Ast] = field(default_factory=dict)

    def value(self, tree: Ast, scope: Scope | None = None) -> Value:
        """Return the value of a tree.

        Raises: NoReference for a form that cannot be evaluated; LinAlgError outside a domain; IndexError for an
            out-of-range index.
        """
        stack: list[Steps] = []
        answer = self._entered(tree, scope or Scope(), stack)
        while stack:
            try:
                operand, inner = stack[-1].send(answer)
                answer = self._entered(operand, inner, stack)
            except StopIteration as done:
                stack.pop()
                answer = done.value
        assert answer is not None
        return answer

    def _entered(self, tree: Ast, scope: Scope, stack: list[Steps]) -> Value | None:
        """Return the value of a tree if it needs no operands; else push its generator on the stack and return None."""
        if self.measured and not scope.parameters and not scope.is_base:
            known = self.measured.get(tree)
            if known is not None:
                return known
        form = self.forms.get(tree.head)
        if form is None:
            raise NoReference(f"the form {tree.head}")
        found = form(self, tree, scope)
        if isinstance(found, Value):
            return found
        stack.append(found)
        return None

    @property
    def expands(self) -> bool:
        """Whether shapes expand by NumPy's rules."""
        return self.numpy or self.broadcasts

    def by_role(self, role: str, values: Sequence[Value]) -> Value:
        """Return the value of the rule with this role, applied to values."""
        return called(self.book, spelled(role), [Argument(value) for value in values], None, self.expands)

    def length(self, label: int) -> int:
        """Return the length of an index.

        Raises: Unmeasured if it is not known yet.
        """
        found = self.lengths.get(label)
        if found is None:
            raise Unmeasured
        return found
