"""Evaluates a syntax tree iteratively.

A plain form computes its value from those of all its operands, in its own scope. Another form is a generator that
yields the operands it needs, each with a scope. Plain forms that are operands of each other are a region: its order is
computed once, for the evaluations at all points.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

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
    """The meaning of names in a subtree: indices and parameters. With `is_base` data are unmoved.

    `unmoved` are the values at unmoved data of parameters that depend on data: the states of a recurrence.
    """

    bound: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, Value] = field(default_factory=dict)
    is_base: bool = False
    unmoved: Mapping[str, Value] = field(default_factory=dict)

    def at_base(self) -> Scope:
        """Return the scope in which data and states are unmoved."""
        return replace(self, is_base=True, parameters={**self.parameters, **self.unmoved})


NOWHERE = Scope()
"""The scope outside all forms."""

Steps = Generator[tuple[Ast, Scope], Any, Value]
Form: TypeAlias = "Callable[[Evaluator, Ast, Scope], Steps]"
"""Evaluates a form: returns a generator that yields operands with scopes and returns the value."""

Plain: TypeAlias = "Callable[[Evaluator, Ast, Scope, Sequence[Value]], Value]"
"""Evaluates a form from the values of its operands."""


@dataclass(frozen=True, slots=True, eq=False)
class Forms:
    """The evaluation of forms by head: `plain`, and `others`, of which each form that `is_other` selects is one too."""

    plain: Mapping[str, Plain]
    others: Mapping[str, Form]
    is_other: Callable[[Ast, Rulebook], bool]

    def plain_form(self, tree: Ast, book: Rulebook) -> Plain | None:
        """Return the evaluation of a plain form; None for another form.

        Raises: NoReference for a form that cannot be evaluated.
        """
        form = self.plain.get(tree.head)
        if form is not None and not (tree.head in self.others and self.is_other(tree, book)):
            return form
        if tree.head not in self.others:
            raise NoReference(f"the form {tree.head}")
        return None


class Step(NamedTuple):
    """A step of a region: a plain form of so many operands, the last values; or another form, evaluated alone."""

    tree: Ast
    form: Plain | None
    operands: int


@lru_cache(maxsize=256)
def region(tree: Ast, forms: Forms, book: Rulebook) -> tuple[Step, ...]:
    """Return the plain forms that a tree consists of, operands first, down to other forms.

    Raises: as `Forms.plain_form`.
    """
    order: list[Step] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        form = forms.plain_form(node, book)
        order.append(Step(node, form, len(node.args) if form is not None else 0))
        stack += node.args if form is not None else ()
    return tuple(reversed(order))


class Unmeasured(Exception):  # noqa: N818 - caught here
    """Raised for an index whose length is not known yet."""


@dataclass(slots=True)
class Evaluator:
    """The state of one evaluation.

    `base` are the data before they were moved along a direction. An
    operation that takes its argument as a constant (its differential is 0) is evaluated at `base`. `lengths` and
    `starts` are those of indices, `starts` only where subscripts compute with the index.
    """

    data: Data
    sizes: Mapping[str, int]
    base: Data
    leaf: Leaf
    forms: Forms
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

    def value(self, tree: Ast, scope: Scope = NOWHERE) -> Value:
        """Return the value of a tree.

        Raises: NoReference for a form that cannot be evaluated; LinAlgError outside a domain; IndexError for an
            out-of-range index.
        """
        stack = [self._values(tree, scope)]
        answer: Value | None = None
        while stack:
            try:
                operand, inner = stack[-1].send(answer)
                answer = self.measured.get(operand) if not inner.parameters and not inner.is_base else None
                if answer is None:
                    stack.append(self._values(operand, inner))
            except StopIteration as done:
                stack.pop()
                answer = done.value
        assert answer is not None
        return answer

    def _values(self, tree: Ast, scope: Scope) -> Steps:
        """Evaluate a tree: step by step if it is plain."""
        steps = region(tree, self.forms, self.book)
        if steps[-1].form is None:
            return self.forms.others[tree.head](self, tree, scope)
        return self._region(steps, scope)

    def _region(self, steps: Sequence[Step], scope: Scope) -> Steps:
        values: list[Value] = []
        for tree, form, count in steps:
            if form is None:
                values.append((yield tree, scope))
            elif not count:
                values.append(form(self, tree, scope, ()))
            else:
                values[-count:] = (form(self, tree, scope, values[-count:]),)
        return values[0]

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
