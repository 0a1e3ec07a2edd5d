"""Provides `mc.scan`: a recurrence of objects, in the manner of `jax.lax.scan`.

The step is called with symbols for the carry and the slices, so its result is the step of a recurrence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import reduce
from inspect import signature
from typing import Any

from matcalc.errors import NotSupported, ParseError, ShapeError
from matcalc.expressions.expression import Expression, as_expression
from matcalc.expressions.numpy_bridge.arguments import shape_text, size_of
from matcalc.language.containers import items, refilled
from matcalc.language.identifiers import shown
from matcalc.language.read import read
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes import signature as signatures
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.one_step import at_all_steps, entry_facts
from matcalc.tensor.steps.recurrence import PASSING, Steps, before_steps, recurrences
from matcalc.tensor.symbols import Names

CARRY, SLICE = "#carry", "#slice"
"""Names of symbols inside a step; no user's name begins so."""
_depth: ContextVar[int] = ContextVar("depth", default=0)
"""The number of steps that are being called: a scan inside the step of another has symbols of its own."""


@dataclass(slots=True)
class _Call:
    """One call of a step: the next carry, the outputs, and the symbols that it was called with."""

    carried: list[Expression]
    outputs: Any
    states: list[Node]
    slices: list[Node]


def scan(step: Callable[..., Any], start: Any, over: Any = None, length: Any = None) -> tuple[Any, Any]:
    """Return the states of a recurrence and the outputs of its steps: `step(carry)` or `step(carry, slice)`.

    A step returns the next carry, or the pair of the next carry and an output. A carry, the sequences `over` and an
    output are arrays, or tuples and dictionaries of arrays. Without outputs the second result is None.

    Shapes: states (T + 1, *carry), outputs (T, *output); `over` has the leading axis T, or T is `length`.
    Raises: ShapeError for sequences of different lengths, or a step that changes the shape of the carry.

    Example:
        >>> import matcalc as mc
        >>> A, x0 = mc.symbols("A: matrix(n, n); x0: vector(n)")
        >>> x, _ = mc.scan(lambda x: A @ x, x0, length="T")
        >>> str(x)
        'x where x[0] = x0, x[t+1] = A*x[t], t < T'
    """
    if not callable(step) or isinstance(step, Expression):
        raise ParseError(f"a step is a function of the carry, not {shown(step)}")
    _check_arguments(step, over is not None)
    starts, sequences = _leaves(start, "the start"), [] if over is None else _leaves(over, "the sequence")
    steps = _length(sequences, length)
    facts = [one.node.facts - PASSING for one in starts]
    while True:
        call = _called(step, start, starts, over, sequences, facts)
        kept = [own & one.node.facts for own, one in zip(facts, call.carried, strict=True)]
        if kept == facts:
            break
        facts = kept
    known = {own: e.node for own, e in zip(call.slices, sequences, strict=True)}
    nodes = [e.node for e in call.carried]
    made = recurrences(Steps(call.states, [e.node for e in starts], nodes, known, steps))
    known.update((own, before_steps(one, False)) for own, one in zip(call.states, made, strict=True))
    outputs = [] if call.outputs is None else _leaves(call.outputs, "the output")
    names = _names([*starts, *sequences, *call.carried, *outputs], steps)
    states = [Expression(one, names) for one in made]
    found = [Expression(at_all_steps(e.node, known, steps), names) for e in outputs]
    return _filled(start, states), None if call.outputs is None else _filled(call.outputs, found)


def _check_arguments(step: Callable[..., Any], has_slices: bool) -> None:
    """Raise ParseError for a step that cannot be called with the carry, or with the carry and a slice."""
    try:
        form = signature(step)
    except (TypeError, ValueError):
        return
    try:
        form.bind(*range(1 + has_slices))
    except TypeError:
        called = "a carry and a slice" if has_slices else "a carry"
        hint = "a step without over=... gets no slice" if not has_slices else "the slice is that of over=..."
        raise ParseError(f"scan calls the step with {called}, and it takes {form}", hint=hint) from None


def _leaves(value: Any, role: str) -> list[Expression]:
    """Return the arrays of a container, or a single array, as expressions.

    Raises: NotSupported for anything else.
    """
    made = as_expression(value)
    if made is not None:
        return [made]
    parts = None if value is None else items(value)
    if parts is None:
        raise NotSupported(f"{role} {shown(value)} is no array, number or symbol")
    return [leaf for _, part in parts for leaf in _leaves(part, role)]


def _filled(like: Any, leaves: Sequence[Expression]) -> Any:
    """Return a container with these leaves."""
    rest = iter(leaves)

    def made(value: Any) -> Any:
        if as_expression(value) is not None:
            return next(rest)
        return refilled(value, [made(part) for _, part in items(value) or ()])

    return made(like)


def _length(sequences: Sequence[Expression], length: Any) -> Size:
    """Return the number of steps, by the sequences or as given."""
    given = None if length is None else _written(length) if isinstance(length, str) else size_of(_plain(length))
    for one in sequences:
        if not one.node.shape:
            raise ShapeError(f"the sequence {one} is a scalar: a sequence has a leading axis")
        own = one.node.shape[0]
        if given is not None and own is not given:
            raise ShapeError(f"the sequences have {given} and {own} entries")
        given = own
    if given is None:
        raise ShapeError("scan needs a sequence or a length", hint="pass over=U or length=T")
    if given.is_integer and given.constant < 0:
        raise ShapeError(f"the number of steps {given} is negative")
    return given


def _written(length: str) -> Size:
    """Return a number of steps that is written as text.

    Raises: ParseError, ShapeError for a text that is no expression of sizes.
    """
    return signatures.size_of(read(length), {})


def _plain(length: Any) -> Any:
    return length.node if isinstance(length, Expression) else length


def _called(
    step: Callable[..., Any],
    start: Any,
    starts: Sequence[Expression],
    over: Any,
    sequences: Sequence[Expression],
    facts: Sequence[frozenset[str]],
) -> _Call:
    """Return a call of the step with symbols that have these facts.

    Raises: ShapeError if the next carry has another form or other shapes than the carry.
    """
    depth = _depth.get()
    states = [
        symbol(f"{CARRY}{depth}.{k}", e.node.shape, sorted(own))
        for k, (e, own) in enumerate(zip(starts, facts, strict=True))
    ]
    slices = [symbol(f"{SLICE}{depth}.{k}", e.node.shape[1:], entry_facts(e.node)) for k, e in enumerate(sequences)]
    arguments = [_filled(start, [_alone(node) for node in states])]
    if over is not None:
        arguments.append(_filled(over, [_alone(node) for node in slices]))
    token = _depth.set(depth + 1)
    try:
        made, outputs = step(*arguments), None
    finally:
        _depth.reset(token)
    if not _alike(start, made):
        if not isinstance(made, tuple) or len(made) != 2 or not _alike(start, made[0]):
            hint = "return the next carry, or the pair (carry, output)"
            raise ShapeError("the step does not return a carry of the form of its start", hint=hint)
        made, outputs = made
    carried = _leaves(made, "the next carry")
    for node, e in zip(states, carried, strict=True):
        if e.node.shape != node.shape:
            raise ShapeError(f"the step changes the shape {shape_text(node.shape)} of a carry to "
                             f"{shape_text(e.node.shape)}")  # fmt: skip
    return _Call(carried, outputs, states, slices)


def _alone(node: Node) -> Expression:
    return Expression(node, Names({node.name: node}, (node.name,)))


def _alike(one: Any, other: Any) -> bool:
    """Whether two containers have the same form."""
    is_leaf = as_expression(one) is not None
    if is_leaf or as_expression(other) is not None:
        return is_leaf and as_expression(other) is not None
    mine, theirs = items(one), items(other)
    if mine is None or theirs is None or [key for key, _ in mine] != [key for key, _ in theirs]:
        return False
    return all(_alike(a, b) for (_, a), (_, b) in zip(mine, theirs, strict=True))


def _names(used: Sequence[Expression], steps: Size) -> Names:
    """Return the names of expressions, without the symbols of the step, and those of the length."""
    names = reduce(Names.joined, (e.names for e in used))
    for name in [name for name in names.symbols if name.startswith((CARRY, SLICE))]:
        names = names.without(name)
    sizes = tuple(name for name in steps.names if name not in names.size_names)
    return replace(names, sizes=(*names.sizes, *sizes))
