"""Runs a part of a function, a statement or a call of a helper, once for each answer to the conditions in it.

k independent conditions one after the other need 2k runs of parts, and the function runs once. The values that a part
binds, and the arrays that it changes in place, are choices. A part whose values no formula chooses between (numbers
that may be lengths, arrays with a second name) is run as it is: then the function is run for each answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from matcalc.errors import NotSupported
from matcalc.expressions.loops.branches import WholeFunction, answered, merged, whole
from matcalc.expressions.loops.steps import alike, conditions_of, is_leaf, stepping
from matcalc.expressions.numpy_bridge.arguments import Compared, is_array
from matcalc.language.containers import items
from matcalc.tensor.lookups import can_index
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names

Make = Callable[[Node, Names], Any]
by_parts: ContextVar[bool] = ContextVar("by_parts", default=False)
"""Whether conditions are answered in parts of a function, not in the whole."""


class Unchosen(NotSupported):
    """Values of a part between which no formula chooses."""


class Outcome(NamedTuple):
    """The values of names after a part, and the arrays that existed before it."""

    values: dict[str, Any]
    arrays: list[Node]


class Part:
    """A part of a function; `given` are the values of names before it."""

    def __init__(self, make: Make, given: Mapping[str, Any]) -> None:
        self.make, self.given = make, given
        owners = {id(one.owner): one.owner for value in given.values() for one in _arrays(value)}
        self.before = [(one, one.node, one.names) for one in owners.values() if not one.argument]

    def outcome(self, run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return the values of names after the part."""
        outer = whole.get()
        if outer is None:
            return run()
        one = WholeFunction(outer=outer, depth=len(stepping.get()))

        def again() -> Outcome:
            self._restore()
            return Outcome(run(), [array.node for array, _, _ in self.before])

        token = whole.set(one)
        try:
            found = answered(one, again, self._merged)
        except Unchosen:
            found = None
        finally:
            whole.reset(token)
        self._restore()
        if found is None:
            return run()
        for (array, node, names), new in zip(self.before, found.arrays, strict=True):
            if new is not node:
                array.write(new, names)
        return found.values

    def _restore(self) -> None:
        for array, node, names in self.before:
            if array.node is not node:
                array.write(node, names)

    def _merged(self, condition: Compared, yes: Outcome, no: Outcome) -> Outcome:
        """Return the values after a branch.

        Raises: Unchosen.
        """
        arrays = [a if a is b else condition.choose(a, b) for a, b in zip(yes.arrays, no.arrays, strict=True)]
        names = [name for name in yes.values if name in no.values]  # another one has no value afterwards
        found: dict[str, Any] = {}
        for name in names:
            a, b = yes.values[name], no.values[name]
            if a is not b and (self._has_two_names(name, yes) or self._has_two_names(name, no)):
                raise Unchosen(f"a part of a function makes {name} another name of an array under a condition")
            found[name] = a if a is b else self._chosen(condition, self._as_left(a, yes), self._as_left(b, no))
        return Outcome(found, arrays)

    def _as_left(self, value: Any, outcome: Outcome) -> Any:
        """Return a value as the part left it: an array from before the part has its old entries again.

        Raises: Unchosen for a view, and for an array in a container.
        """
        at = {id(array): k for k, (array, _, _) in enumerate(self.before)}
        if not any(id(one.owner) in at for one in _arrays(value)):
            return value
        if id(value) not in at:
            raise Unchosen("a part of a function has a view of an array under a condition")
        return self.make(outcome.arrays[at[id(value)]], value.names)

    def _chosen(self, condition: Compared, yes: Any, no: Any) -> Any:
        if _are_equal(yes, no):
            return yes
        if not _can_be_chosen(yes, no):
            raise Unchosen("a part of a function has other numbers under a condition")
        names = Names({}, (), conditions=tuple(dict.fromkeys([*conditions_of(yes), *conditions_of(no)])))
        arguments = [one.owner.argument for one in (*_arrays(yes), *_arrays(no)) if one.owner.argument]

        def made(node: Node) -> Any:
            array = self.make(node, names)
            array.argument = arguments[0] if arguments and node.shape else ""  # it may not be written
            return array

        try:
            return merged(condition, yes, no, (), made)
        except NotSupported as refused:
            raise Unchosen(refused.message) from refused

    def _has_two_names(self, name: str, outcome: Outcome) -> bool:
        """Whether another name has an array of this name, which may be changed in place."""
        own = {id(one.owner) for one in _arrays(outcome.values[name]) if one.node.shape and not one.owner.argument}
        values = [*self.given.items(), *outcome.values.items()]
        return any(id(one.owner) in own for other, value in values if other != name for one in _arrays(value))


def _arrays(value: Any) -> list[Any]:
    """Return the arrays in a value that may be changed in place."""
    if hasattr(value, "owner") and hasattr(value, "write"):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [one for part in parts for one in _arrays(part)]


def is_plain(value: object) -> bool:
    """Whether an argument is an array of symbols, a number or a text, which a helper changes by its entries alone."""
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    return hasattr(value, "owner") or value is None or isinstance(value, (bool, int, float, str)) or is_leaf(value)


def _are_equal(yes: Any, no: Any) -> bool:
    return type(yes) is type(no) and isinstance(yes, (bool, int, float, str)) and yes == no


def _can_be_chosen(yes: Any, no: Any) -> bool:
    """Whether a formula may stand for one of two values: numbers alone may be lengths, and indices select."""
    if is_leaf(yes) and is_leaf(no):
        found = [one for one in (yes, no) if is_array(one)]
        return bool(found) and not any(can_index(one.node) or hasattr(one, "places") for one in found)
    if not alike(yes, no):
        return False
    return all(
        a is b or _are_equal(a, b) or _can_be_chosen(a, b)
        for (_, a), (_, b) in zip(items(yes) or (), items(no) or (), strict=True)
    )
