"""Runs a loop of a traced function once, on symbols: a loop over a symbolic number of steps is a recurrence.

A name that the body binds and that has a value before the loop is a state. A list to which the body appends becomes an
array of all steps. What is read at the number of the step, `U[t]`, is a slice of a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NoReturn

from matcalc.errors import NotSupported, NoValue, ShapeError
from matcalc.expressions.numpy_bridge.arguments import length_in, node_of, shape_text, size_in
from matcalc.expressions.user_code.python_calls import is_array
from matcalc.language.containers import items, refilled
from matcalc.tensor.broadcasting import broadcast_nodes
from matcalc.tensor.constructors import add, product, selector_alone, size_number, symbol, zeros
from matcalc.tensor.leading_axis import cut, leading, numbers
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.one_step import entry_facts
from matcalc.tensor.recurrence import PASSING, Steps, at_all_steps, before_steps, over_all_steps, recurrences
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative
from matcalc.tensor.symbols import Names

Make = Callable[[Node, Names], Any]
"""Returns a node as an array of the traced function."""
SCAN = "write  states, outputs = mc.scan(step, start, over=X), where step(carry, x) returns the next carry"
ZERO, ONE = Size.of(0), Size.of(1)
INNER = "#"
"""The first character of symbols inside a step; no user's name begins so."""


@dataclass(eq=False)
class Stepping:
    """A step that is being run on symbols: the number of steps, and sequences by the symbols of their slices."""

    length: Size
    depth: int
    sequences: dict[Node, Node] = field(default_factory=dict)
    states: list[Node] = field(default_factory=list)

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
def _running(one: Stepping) -> Iterator[None]:
    token = stepping.set((*stepping.get(), one))
    try:
        yield
    finally:
        stepping.reset(token)


def at_step(node: Node, at: object) -> tuple[Node, object] | None:
    """Return the slice of an array at the number of a step, and the subscripts that remain; None without a number.

    Raises: NotSupported for a subscript that is not the number plus a size; ShapeError for entries that do not exist.
    """
    if not stepping.get():
        return None
    parts = at if isinstance(at, tuple) else (at,)
    for k, part in enumerate(parts):
        if is_array(part) and not part.node.shape:
            for one in reversed(stepping.get()):
                if one.number in toposort([part.node]):
                    found = _slice(one, node, part.node, k, parts)
                    rest = tuple(x for j, x in enumerate(parts) if j != k)
                    return found, rest
    return None


def stepped_names(node: Node) -> Names:
    """Return the names of the symbols of steps in a node."""
    inner = {one.name: one for one in toposort([node]) if one.kind == "symbol" and one.name.startswith(INNER)}
    return Names(inner, tuple(inner))


def _slice(one: Stepping, node: Node, place: Node, axis: int, parts: Sequence[object]) -> Node:
    forward = size_in(add([(1, place), (-1, one.number)]))
    backward = size_in(add([(1, place), (1, one.number)])) if forward is None else None
    start = forward if forward is not None else backward
    if start is None:
        raise NotSupported("a subscript is the number of the step plus a number", hint=SCAN)
    if any(x is None or x is Ellipsis for x in parts[:axis]) or axis >= node.rank:
        raise NotSupported("the number of a step behind an ellipsis or a new axis", hint="write all subscripts")
    if any(x.kind == "symbol" and x.name.startswith(INNER) and x not in _outer(one) for x in toposort([node])):
        raise NotSupported("the number of the step selects from an array that the loop computes", hint=SCAN)
    sequence = leading(node, axis)
    count = sequence.shape[0]
    if forward is None:
        sequence, start = _reversed(sequence), count - ONE - start
    if not is_nonnegative(start) or not is_nonnegative(count - start - one.length):
        hint = "declare the lengths so that every step has an entry; index -1 is the last entry in NumPy"
        raise ShapeError(f"an axis of {count} entries is read {one.length} times from entry {start} on", hint=hint)
    return one.slice_of(cut(sequence, start, one.length))


def _outer(one: Stepping) -> set[Node]:
    """Return the symbols of the steps around a step."""
    active = stepping.get()
    return {s for other in active[: active.index(one)] for s in (*other.sequences, *other.states)}


def _reversed(sequence: Node) -> Node:
    """Return a sequence in the opposite order."""
    length = sequence.shape[0]
    rule = selector_alone(Selector("flip", (length, length)))
    rest = tuple(range(2, sequence.rank + 1))
    return product(1, [(sequence, (1, *rest)), (rule, (0, 1))], (0, *rest), {})


class Lost:
    """The value of a name after a loop that gives it another shape."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        raise NoValue(f"{self._name} has another shape in the loop than before it", hint="give it a new name inside")


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

    __len__ = __iter__  # type: ignore[assignment]


@dataclass
class Symbolic:
    """What a loop over a symbolic number of steps runs over: the number, and the item at a step."""

    loops: Loops
    length: Size
    item: Callable[[Stepping], Any]

    def __iter__(self) -> NoReturn:
        raise NotSupported(f"a loop over {self.length} steps is not read here", hint=SCAN)

    def run(
        self, step: Callable[[Any, Mapping[str, Any]], Mapping[str, Any]], values: Mapping[str, Any],
        names: Sequence[str], lists: Sequence[str],
    ) -> dict[str, Any]:  # fmt: skip
        """Return the values of names and lists after the loop.

        Raises: NotSupported, ShapeError for a step that is no step of a recurrence.
        """
        given = {name: values[name] for name in names if name in values}
        own = {name: values[name] for name in lists if name in values}
        for name, value in own.items():
            if type(value) is not list:
                raise NotSupported(f"the loop appends to {name}, which is no list of this function", hint=SCAN)
        return _Run(self, step, given, own).result()


class Loops:
    """The functions that rewritten loops call; `make` returns an array of the function, `listed` one as a list."""

    def __init__(self, make: Make, listed: Callable[[Any], Any]) -> None:
        self.make, self.listed = make, listed

    @staticmethod
    def is_steps(value: object) -> bool:
        """Whether a loop over a value is symbolic."""
        return isinstance(value, Symbolic)

    def over(self, value: Any) -> Any:
        """Return an array of a symbolic number of entries as steps, anything else unchanged."""
        if is_array(value) and value.node.shape and not value.node.shape[0].is_integer:
            node, names = value.node, value.names
            return Symbolic(self, node.shape[0], lambda one: self.array(one.slice_of(node), names))
        return value

    def plain(self, value: Any, reason: str) -> Any:
        """Return what a loop runs over that is no recurrence.

        Raises: NotSupported if the number of steps is symbolic.
        """
        found = self.over(value)
        if isinstance(found, Symbolic):
            raise NotSupported(f"a loop over {found.length} steps is read as a recurrence; {reason}", hint=SCAN)
        return value

    @staticmethod
    def instead(theirs: Any, ours: Callable[..., Any]) -> Callable[..., Any]:
        """Return our function for Python's, and the user's own function of the same name unchanged."""
        import builtins

        return ours if theirs is getattr(builtins, getattr(theirs, "__name__", ""), None) else theirs

    def array(self, node: Node, names: Names | None = None) -> Any:
        """Return a node as an array; the symbols of steps are among its names."""
        own = stepped_names(node)
        return self.make(node, own if names is None else names.joined(own))

    def range(self, *args: Any) -> Any:
        """Return Python's range, or steps if a bound is a size.

        Raises: NotSupported for a stride other than 1 and -1.
        """
        sizes = [length_in(one) for one in args]
        if all(one is None for one in sizes):
            return range(*args)
        bounds = [size if size is not None else Size.of(int(one)) for size, one in zip(sizes, args, strict=True)]
        start, stop = (ZERO, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        by = bounds[2] if len(bounds) == 3 else ONE
        if by is not ONE and by is not Size.of(-1):
            raise NotSupported("a loop over a range of sizes has the stride 1 or -1", hint=SCAN)
        sign = 1 if by is ONE else -1
        length = stop - start if sign == 1 else start - stop
        return Symbolic(
            self, length, lambda one: self.array(add([(sign, one.number), (1, size_number(start))]))
        )  # fmt: skip

    def zip(self, *args: Any, **options: Any) -> Any:
        """Return Python's zip, or steps if an argument has a symbolic number of entries."""
        found = [self.over(one) for one in args]
        length = self._common(found)
        if length is None:
            return zip(*args, **options)  # noqa: B905 - as the function calls it
        return Symbolic(self, length, lambda one: tuple(x.item(one) for x in found))

    def enumerate(self, value: Any, start: Any = 0) -> Any:
        """Return Python's enumerate, or steps if the argument has a symbolic number of entries."""
        found = self.over(value)
        if not isinstance(found, Symbolic):
            return enumerate(value, start)
        first = node_of(start)
        return Symbolic(
            self, found.length, lambda one: (self.array(add([(1, one.number), (1, first)])), found.item(one))
        )

    def reversed(self, value: Any) -> Any:
        """Return Python's reversed, or steps over an array in the opposite order."""
        found = self.over(value)
        if not isinstance(found, Symbolic):
            return reversed(value)
        if not is_array(value):
            raise NotSupported("reversed of a symbolic range", hint="write range(T - 1, -1, -1)")
        return self.over(value[::-1])

    def _common(self, found: Sequence[Any]) -> Size | None:
        lengths = {one.length for one in found if isinstance(one, Symbolic)}
        if not lengths:
            return None
        if len(lengths) > 1 or not all(isinstance(one, Symbolic) for one in found):
            shown = " and ".join(sorted(str(one.length) if isinstance(one, Symbolic) else "a number" for one in found))
            raise ShapeError(f"zip of {shown} entries stops with the shorter", hint="declare one length for all")
        return lengths.pop()


def _joined(name: str, before: Sequence[Any], arrays: Sequence[Any]) -> Any:
    """Return the entries of a list as one array: those before the loop, then one for each step.

    Raises: NotSupported for entries that are containers.
    """
    import numpy as np

    if len(arrays) != 1 or not all(map(_is_leaf, before)):
        raise NotSupported(f"the entries of the list {name} are containers", hint="append to one list for each array")
    (last,) = arrays
    return last if not before else np.concatenate([np.stack(list(before)), last])


class _Run:
    """One loop: its states, lists and other values, and the results."""

    def __init__(self, over: Symbolic, step: Any, given: Mapping[str, Any], lists: Mapping[str, Any]) -> None:
        self.over, self.step, self.lists = over, step, lists
        self.carried = {name: value for name, value in given.items() if _leaves(value) is not None}
        self.fixed = {name: value for name, value in given.items() if name not in self.carried}
        self.lost: set[str] = set()
        self.starts = {name: _leaves(value) or [] for name, value in self.carried.items()}
        for name, value in lists.items():
            self.starts[INNER + name] = (_leaves(value[-1]) or []) if value else []
        self.depth = len(stepping.get())

    def result(self) -> dict[str, Any]:
        """Return the values after the loop."""
        facts = {name: [n.facts - PASSING for n in nodes] for name, nodes in self.starts.items()}
        while True:
            states = {
                name: [symbol(f"{INNER}x{self.depth}.{name}.{k}", n.shape, sorted(own))
                       for k, (n, own) in enumerate(zip(nodes, facts[name], strict=True))]
                for name, nodes in self.starts.items()
            }  # fmt: skip
            one, bodies, added = self._called(states)
            if self._broadcast(bodies):
                facts = {name: [n.facts - PASSING for n in nodes] for name, nodes in self.starts.items()}
                continue
            self._check_shapes(states, bodies, added)
            kept = {name: [own & b.facts for own, b in zip(facts[name], bodies[name], strict=True)] for name in facts}
            if kept == facts:
                break
            facts = kept
        again, others, more = self._called(states)
        if (others, list(map(_leaves, more.values()))) != (bodies, list(map(_leaves, added.values()))):
            raise NotSupported("a step of the loop gives another formula each time", hint=SCAN)
        return self._after(one, states, bodies, added)

    def _called(self, states: Mapping[str, Sequence[Node]]) -> tuple[Stepping, dict[str, list[Node]], dict[str, Any]]:
        """Return one call of the step: its slices, the new states, and what it appends."""
        one = Stepping(self.over.length, self.depth)
        one.states = [node for nodes in states.values() for node in nodes]
        given = {name: self._filled(value, states[name]) for name, value in self.carried.items()}
        lists = {
            name: Appending(name, self._filled(value[-1], states[INNER + name]) if states[INNER + name] else None)
            for name, value in self.lists.items()
        }
        with _running(one):
            end = self.step(self.over.item(one), {**self.fixed, **given, **lists})
        bodies: dict[str, list[Node]] = {}
        for name, value in self.carried.items():
            found = _leaves(end.get(name))
            if found is None or len(found) != len(states[name]) or not _alike(value, end[name]):
                raise NotSupported(f"{name} is another kind of value after a step of the loop", hint=SCAN)
            bodies[name] = found
        for name, value in self.fixed.items():
            if end.get(name) is not value:
                raise NotSupported(f"the loop changes {name}, which is no array or number before it", hint=SCAN)
        added: dict[str, Any] = {}
        for name, own in lists.items():
            if end.get(name) is not own or len(own.added) != 1:
                count = len(own.added)
                raise NotSupported(f"a step of the loop appends {count} entries to {name}, not one", hint=SCAN)
            added[name] = own.added[0]
            leaves = _leaves(own.added[0])
            if leaves is None:
                raise NotSupported(f"the loop appends to {name} what is no array or number", hint=SCAN)
            bodies[INNER + name] = leaves if states[INNER + name] else []
        return one, bodies, added

    def _filled(self, like: Any, nodes: Sequence[Node]) -> Any:
        rest = iter(nodes)

        def made(value: Any) -> Any:
            if _is_leaf(value):
                return self.over.loops.array(next(rest))
            return refilled(value, [made(part) for _, part in items(value) or ()])

        return made(like)

    def _broadcast(self, bodies: Mapping[str, Sequence[Node]]) -> bool:
        """Give numbers that become arrays in the first step the shape of these arrays; return whether there are any."""
        found = False
        for name, starts in self.starts.items():
            for k, (start, body) in enumerate(zip(starts, bodies[name], strict=False)):
                if not start.shape and body.shape and size_in(start) is not None:
                    self.starts[name][k] = broadcast_nodes([start, zeros(body.shape)])[0]
                    found = True
        return found

    def _check_shapes(
        self, states: Mapping[str, list[Node]], bodies: Mapping[str, list[Node]], added: Mapping[str, Any]
    ) -> None:
        """Note the names whose shape changes and that no step reads.

        Raises: ShapeError for a state that changes its shape.
        """
        outputs = [n for value in added.values() for n in _leaves(value) or ()]
        used = set(toposort([*(n for nodes in bodies.values() for n in nodes), *outputs]))
        for name, nodes in states.items():
            for own, body in zip(nodes, list(bodies[name]), strict=False):
                if own.shape == body.shape:
                    continue
                if own in used:
                    shown = name.removeprefix(INNER)
                    message = f"a step of the loop changes the shape {shape_text(own.shape)} of {shown} to "
                    raise ShapeError(message + shape_text(body.shape))
                self.lost.add(name)
            if len(bodies[name]) != len(nodes):
                self.lost.add(name)
        for name in self.lost:
            states[name].clear()
            bodies[name].clear()
            self.starts[name] = []

    def _after(
        self,
        one: Stepping,
        states: Mapping[str, list[Node]],
        bodies: Mapping[str, list[Node]],
        added: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Return the last values of the states, and arrays for the lists."""
        length, known = self.over.length, dict(one.sequences)
        outputs = {name: _leaves(value) or [] for name, value in added.items()}
        totals = self._totals(states, bodies, outputs)
        flat = [(own, start, body) for name in states for own, start, body in
                zip(states[name], self.starts[name], bodies[name], strict=True) if own not in totals]  # fmt: skip
        made: dict[Node, Node] = {}
        if flat:
            own, starts, steps = (list(x) for x in zip(*flat, strict=True))
            made = dict(zip(own, recurrences(Steps(own, starts, steps, known, length)), strict=True))
        known.update((own, before_steps(trajectory, False)) for own, trajectory in made.items())
        names = Names({}, ())
        found: dict[str, Any] = {name: Lost(name) for name in self.lost}
        for name, value in self.carried.items():
            if name in self.lost:
                continue
            last: list[Node] = []
            for own, start in zip(states[name], self.starts[name], strict=True):
                if own in totals:
                    last.append(add([(1, start), (1, over_all_steps(totals[own], known, length))]))
                else:
                    last.append(self.over.loops.array(made[own], names)[-1].node)
            found[name] = self._with_names(value, last, names)
        for name, value in self.lists.items():
            arrays = [self.over.loops.array(at_all_steps(n, known, length), names) for n in outputs[name]]
            found[name] = self.over.loops.listed(_joined(name, list(value), arrays))
            value[:] = [Lost(name)]  # another name of the list is not read by mistake
        return found

    def _totals(
        self, states: Mapping[str, list[Node]], bodies: Mapping[str, list[Node]], outputs: Mapping[str, list[Node]]
    ) -> dict[Node, Node]:
        """Return what each step adds to states that are only totals."""
        found: dict[Node, Node] = {}
        others = [n for nodes in outputs.values() for n in nodes]
        pairs = [(own, body) for name in states for own, body in zip(states[name], bodies[name], strict=True)]
        for own, body in pairs:
            rest = add([(1, body), (-1, own)])
            elsewhere = [b for o, b in pairs if o is not own] + others
            if own not in toposort([rest, *elsewhere]):
                found[own] = rest
        return found

    def _with_names(self, like: Any, nodes: Sequence[Node], names: Names) -> Any:
        rest = iter(nodes)

        def made(value: Any) -> Any:
            if _is_leaf(value):
                return self.over.loops.array(next(rest), names)
            return refilled(value, [made(part) for _, part in items(value) or ()])

        return made(like)


def _is_leaf(value: object) -> bool:
    """Whether a value is an array or a number that a state can be."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return False
    return (
        is_array(value)
        or length_in(value) is not None
        or isinstance(value, (int, float))
        or (hasattr(value, "__array__") and getattr(getattr(value, "dtype", None), "kind", "") in "fiu")
    )


def _leaves(value: object) -> list[Node] | None:
    """Return the arrays of a value as nodes; None if it has anything else."""
    if _is_leaf(value):
        return [value.node if is_array(value) else node_of(value)]  # type: ignore[attr-defined, arg-type]
    parts = None if value is None or isinstance(value, (str, bool)) else items(value)
    if not parts:
        return None
    found: list[Node] = []
    for _, part in parts:
        inner = _leaves(part)
        if inner is None:
            return None
        found += inner
    return found


def _alike(one: Any, other: Any) -> bool:
    """Whether two values have arrays in the same places."""
    if _is_leaf(one) or _is_leaf(other):
        return _is_leaf(one) and _is_leaf(other)
    mine, theirs = items(one), items(other)
    if mine is None or theirs is None or [key for key, _ in mine] != [key for key, _ in theirs]:
        return False
    return all(_alike(a, b) for (_, a), (_, b) in zip(mine, theirs, strict=True))
