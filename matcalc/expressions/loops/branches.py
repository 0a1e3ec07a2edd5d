"""Decides conditions: by declarations, by the range of a step's number, by splitting a loop, or by both branches.

`if t == 0` splits the loop: the first step is run by itself, and the others know the answer. `if i == j` in two loops
and `if y[t] > 0` have both answers; the step is run for each, and every value is a choice. So has `if sigma > 1`
outside of loops; the function is run for each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from matcalc.errors import MatcalcError, NotSupported
from matcalc.evidence.explain.size_conditions import conditions as conditions_on_sizes
from matcalc.expressions.loops.implications import MIRRORED, Key, decided, implied
from matcalc.expressions.loops.steps import ONE, SCAN, ZERO, Stepping, alike, is_leaf, leaves_of, stepping
from matcalc.expressions.loops.subscripts import place_of
from matcalc.expressions.numpy_bridge.arguments import Compared, size_in
from matcalc.expressions.numpy_bridge.length import declared_as_numbers
from matcalc.language.containers import items, refilled
from matcalc.tensor.constructors import add, scale, zeros
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size, is_nonnegative

T = TypeVar("T")
MOST_RUNS = 64
"""Most runs of a step or a function for the answers to its conditions."""
MOST_CONDITIONS = 12
"""Most conditions in one run."""
CHOICE = "write np.where(x > 0, a, b) for a choice"
FOR = "write a number of steps that is enough:  for _ in range(50): x = np.where(error > tol, step(x), x)"


class Answering(Protocol):
    """What is run for each answer to its conditions."""

    assumed: dict[Key, bool]


@dataclass(eq=False)
class WholeFunction:
    """A function that is run for each answer to conditions outside of loops."""

    assumed: dict[Key, bool] = field(default_factory=dict)


whole: ContextVar[WholeFunction | None] = ContextVar("whole", default=None)
"""The function whose conditions outside of loops have both answers; None where they have none."""


class Split(NotSupported):
    """A condition that some steps answer otherwise than those before: the number of steps before."""

    def __init__(self, one: Stepping, at: Size) -> None:
        super().__init__("a condition on the number of a step", hint=SCAN)
        self.one, self.position = one, at


class Fork(NotSupported):
    """A condition that has both answers."""

    def __init__(self, one: Answering, key: Key, compared: Compared) -> None:
        place = "a step of a loop" if isinstance(one, Stepping) else "the function"
        super().__init__(f"{place} has too many conditions on data", hint=CHOICE)
        self.one, self.key, self.compared = one, key, compared


def truth_of(compared: Compared) -> bool | None:
    """Return whether a condition holds; None if nothing decides it, and for the conditions of an array.

    Raises: Split, Fork if not all steps or data have the same answer.
    """
    active, function = stepping.get(), whole.get()
    if (indicator := compared.indicator).shape:
        return None
    key = ("!=", indicator) if compared.sides is None else key_of(*compared.sides)
    if (known := decided(key)) is not None:
        return known
    answers = [] if function is None else [function]
    if not active:
        return _answer(function, key, compared, answers) if function is not None else None
    inside = set(toposort([key[1]]))
    mine = [one for one in active if one.number in inside]
    if len(mine) == 1 and compared.sides is not None:
        place = place_of(key[1], mine[0])
        if place is not None and all(c.denominator == 1 for _, c in place.start.terms):
            position, relation = (place.start, MIRRORED[key[0]]) if place.is_backward else (-place.start, key[0])
            try:
                return _decided(mine[0], relation, position)
            except Split:
                if not mine[0].is_guarded:
                    raise
    is_of_numbers = mine and all(node.kind in _OF_NUMBERS for node in inside)
    return _answer(mine[-1] if is_of_numbers else active[-1], key, compared, [*answers, *active])


def _answer(one: Answering, key: Key, compared: Compared, every: Sequence[Answering]) -> bool:
    """Return an answer that is assumed, or that follows from those that are.

    Raises: Fork.
    """
    for other in every:
        if key in other.assumed:
            return other.assumed[key]
    for known in [known for other in every for known, answer in other.assumed.items() if answer]:
        if (follows := implied(key, known)) is not None:
            return follows
    raise Fork(one, key, compared)


def answered(one: Answering, run: Callable[[], T], merge: Callable[[Compared, T, T], T]) -> T:
    """Run a step or a function once for each combination of answers to its conditions; return the chosen values.

    Raises: Fork for too many conditions; NotSupported for an error of the user's under a condition.
    """
    runs = 0

    def branch(assumed: Mapping[Key, bool]) -> T:
        nonlocal runs
        one.assumed, runs = dict(assumed), runs + 1
        try:
            return run()
        except Fork as fault:
            if fault.one is not one or len(assumed) == MOST_CONDITIONS or runs >= MOST_RUNS:
                raise
            key, condition, line = fault.key, fault.compared, fault.__traceback__
        except Exception as fault:
            if isinstance(fault, MatcalcError) or not assumed or _of_matcalc(fault):
                raise
            raise _raised(fault, one).with_traceback(fault.__traceback__) from fault
        yes, no = (branch({**assumed, key: known}) for known in (True, False))
        try:
            return merge(condition, yes, no)
        except NotSupported as refused:
            raise refused.with_traceback(line) from None

    return branch({})


def _of_matcalc(fault: Exception) -> bool:
    """Whether a library replaced an error of matcalc's by its own."""
    return isinstance(fault.__cause__ or fault.__context__, MatcalcError)


def _raised(fault: Exception, one: Answering) -> NotSupported:
    """Return the error for a step or a function that raises an error under a condition."""
    name = type(fault).__name__
    if isinstance(one, Stepping):
        return NotSupported(f"a step raises {name} under a condition", hint="check data before the loop")
    hint = "declare what excludes it, as in sigma: scalar positive;  or return np.inf;  or check data before the call"
    return NotSupported(f"{name} is raised under a condition on data", hint=hint)


def key_of(relation: str, left: Node, right: Node) -> Key:
    """Return a comparison of scalars as one of their difference to 0."""
    return relation, add([(1, left), (-1, right)])


_OF_NUMBERS = frozenset(("symbol", "number", "size", "sum", "product"))


def _decided(one: Stepping, relation: str, at: Size) -> bool:
    """Return whether `step relation at` holds in all steps, from 0 on.

    Raises: Split.
    """
    if relation == "!=":
        return not _decided(one, "==", at)
    if relation in (">", ">="):
        return not _decided(one, "<=" if relation == ">" else "<", at)
    if relation == "<=":
        return _decided(one, "<", at + 1)
    outside_front = is_nonnegative(-at) if relation == "<" else is_nonnegative(-at - 1)
    if outside_front:
        return False
    if is_nonnegative(at - one.length):
        return relation == "<"
    if relation == "==" and at is ZERO:
        if one.length is ONE:
            return True
        raise Split(one, ONE)
    raise Split(one, at)


def merged(condition: Compared, yes: Any, no: Any, states: Collection[Node], array: Any) -> Any:
    """Return the value after a branch, for values of arrays in the same places.

    Raises: NotSupported for values of other kinds or shapes, and for a branch on sizes that is singular elsewhere.
    """
    if is_leaf(yes) and is_leaf(no):
        (a,), (b,) = leaves_of(yes) or [], leaves_of(no) or []
        if a is b:
            return yes
        if a.shape != b.shape:
            raise _unchosen("a value has another shape where {} holds", condition)
        if sizes_in(condition) and (singular := conditions_on_sizes(a, b)):
            raise _unchosen(f"{singular[0].message} at some sizes, in a branch on {{}}", condition)
        return array(_chosen(condition, a, b, states))
    if not alike(yes, no):
        raise _unchosen("a value is of another kind where {} holds", condition)
    pairs = zip(items(yes) or (), items(no) or (), strict=True)
    return refilled(yes, [merged(condition, a, b, states, array) for (_, a), (_, b) in pairs])


def _unchosen(message: str, condition: Compared) -> NotSupported:
    """Return the error for branches between which no formula chooses."""
    sizes = sizes_in(condition)
    if not sizes:
        return NotSupported(message.format("a condition on data"), hint=CHOICE)
    relation = (condition.sides or ("",))[0]
    hint = f"declare {declared_as_numbers([*sizes[0].names, *sizes[1].names])}"
    return NotSupported(message.format(f"{sizes[0]} {relation} {sizes[1]}"), hint=hint)


def sizes_in(condition: Compared) -> tuple[Size, ...]:
    """Return the two sides of a comparison of sizes; none for another condition."""
    sides = [size_in(side) for side in (condition.sides or ())[1:]]
    found = tuple(size for size in sides if size is not None)
    return found if len(found) == 2 else ()


def _chosen(condition: Compared, yes: Node, no: Node, states: Collection[Node]) -> Node:
    """Return a choice; of two sums, of which one has all terms of the other, only the further terms are chosen.

    A state that a step adds to remains a total in this form.
    """
    gap = add([(1, yes), (-1, no)])
    if not set(states).isdisjoint(toposort([gap])):
        return condition.choose(yes, no)
    if _terms(no) <= _terms(yes):
        return add([(1, no), (1, condition.choose(gap, zeros(gap.shape)))])
    if _terms(yes) <= _terms(no):
        return add([(1, yes), (-1, condition.choose(zeros(gap.shape), gap))])
    return condition.choose(yes, no)


def _terms(node: Node) -> set[tuple[Any, Node]]:
    """Return the terms of a node with their coefficients; a common factor of a sum is multiplied out."""
    if node.kind == "sum":
        return set(node.terms)
    inner = node.args[0] if node.kind == "product" and len(node.args) == 1 else node
    if inner.kind == "sum" and scale(node.coef, inner) is node:
        return {(node.coef * coef, term) for coef, term in inner.terms}
    return {(1, node)}
