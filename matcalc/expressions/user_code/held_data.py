"""Makes symbols of the arrays of numbers that a traced function reads: from its closure, globals and objects.

The function runs on its real arrays. An array with more than a few entries becomes a symbol where it first meets a
symbol. The symbol has the name of the user's variable and a copy of the entries, so that later changes of the array
have no effect. Arrays are compared by their entries, never by identity alone: a function may write to them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from itertools import chain, count
from types import CodeType, FrameType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from matcalc.expressions.user_code.array_views import part_of_symbol, view_of
from matcalc.language.identifiers import MAX_BYTES, normalised
from matcalc.language.kinds import INDEX
from matcalc.tensor.constructors import constant, scale, symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.generic]

MOST_WRITTEN = 16
"""The most entries of an array that a formula holds as numbers; a larger one is a symbol."""

DEPTH = 2
"""The number of containers or objects around an array within which its name is searched."""

MOST_PARTS = 64
"""The most parts of a container in which a name is searched."""

UNNAMED = "data"
"""The name of an array that no variable of the user holds, as `X - X.mean(0)`."""


class Record(NamedTuple):
    """An array of the user, a copy of its entries, and its symbol."""

    source: Array
    entries: npt.NDArray[Any]
    node: Node


class HeldData:
    """The data of traced functions, which share names: equal arrays are one symbol, others have different names."""

    def __init__(self, taken: Collection[str], is_theirs: Callable[[str], bool], until: CodeType) -> None:
        """`is_theirs` tells the user's files from others; `until` is the code that calls the traced function."""
        self.taken, self.is_theirs, self.until = {normalised(name) for name in taken}, is_theirs, until
        self.nodes: dict[tuple[object, ...], Node] = {}
        self.records: dict[str, Record] = {}

    def node(self, array: Array) -> Node | None:
        """Return an array as a symbol or a part of one; None for an array with few entries."""
        import numpy as np

        if array.size <= MOST_WRITTEN or array.dtype.kind not in "fiub":
            return None
        entries = np.array(array, dtype=np.float64, order="C")
        key = _key(entries)
        found = self.nodes.get(key)
        if found is None:
            found = self.nodes[key] = self._negative(entries) or self._part(array, entries) or self._new(array, entries)
        return found

    def index(self, numbers: Sequence[int]) -> Node | None:
        """Return nonnegative integers as a symbol of kind `index`; None for a few, which a formula writes."""
        import numpy as np

        if len(numbers) <= MOST_WRITTEN:
            return None
        entries = np.array(numbers, dtype=np.int64)
        key = (INDEX, *_key(entries))
        if key not in self.nodes:
            self.nodes[key] = self._symbol(self._name_of(entries), entries, entries, (INDEX,))
        return self.nodes[key]

    def values_of(self, nodes: Collection[Node]) -> dict[str, npt.NDArray[Any]] | None:
        """Return the entries of symbols by name; None if one of them is no data."""
        records = [self.records.get(s.name) for s in nodes]
        found = {r.node.name: r.entries for r, s in zip(records, nodes, strict=True) if r is not None and r.node is s}
        return found if len(found) == len(nodes) else None

    def names_of(self, symbols: Collection[Node]) -> Names:
        """Return the names of the symbols that are data, bound to their entries."""
        own = [r for r in self.records.values() if r.node in symbols]
        nodes = {r.node.name: r.node for r in own}
        return Names(nodes, tuple(nodes), bound={r.node.name: r.entries for r in own})

    def _negative(self, entries: npt.NDArray[np.float64]) -> Node | None:
        """Return an array as the negative of a symbol or of a variable, as in `-y * z`; None if it is none."""
        import numpy as np

        found = self.nodes.get(_key(-entries))
        if found is None:
            named = list(self._variables())
            if any(_equal(value, entries) for _, value in named):
                return None
            own = next(((name, value) for name, value in named if _equal(value, -entries)), None)
            found = None if own is None else self._whole(*own, np.array(own[1], dtype=np.float64, order="C"))
        return None if found is None else scale(-1, found)

    def _part(self, array: Array, entries: npt.NDArray[np.float64]) -> Node | None:
        """Return an array as a part of a symbol; None if it shares its memory with none."""
        for record in self.records.values():
            view = view_of(record.source, array)
            if view is not None and _equal(view.of(record.entries), entries):
                return part_of_symbol(record.node, view)
        return None

    def _new(self, array: Array, entries: npt.NDArray[np.float64]) -> Node:
        """Return a new symbol for an array, or a part of a new symbol for the variable that it is a view of."""
        import numpy as np

        known = [(name, value) for name, value in self._variables() if value.size > MOST_WRITTEN]
        own = next((name for name, value in known if value is array), None)
        if own is None:
            for name, value in known:
                view = view_of(value, array)
                if view is not None and _equal(view.of(value), entries):
                    whole = self._whole(name, value, np.array(value, dtype=np.float64, order="C"))
                    return part_of_symbol(whole, view)
            own = self._name_of(entries)
        return self._whole(own, array, entries)

    def _name_of(self, entries: npt.NDArray[Any]) -> str:
        """Return the name of a variable with these entries."""
        return next((name for name, value in self._variables() if _equal(value, entries)), UNNAMED)

    def _whole(self, name: str, source: Array, entries: npt.NDArray[np.float64]) -> Node:
        """Return the symbol of an array of numbers."""
        key = _key(entries)
        if key not in self.nodes:
            known = constant(entries).facts
            facts = [fact for fact in ("symmetric", "positive", "nonnegative") if fact in known]
            if "positive" in facts:
                facts.remove("nonnegative")
            self.nodes[key] = self._symbol(name, source, entries, sorted([*facts, "constant"]))
        return self.nodes[key]

    def _symbol(self, name: str, source: Array, entries: npt.NDArray[Any], facts: Sequence[str]) -> Node:
        entries.flags.writeable = False
        new = symbol(self._free(name), tuple(map(Size.of, entries.shape)), facts)
        self.records[new.name] = Record(source, entries, new)
        return new

    def _variables(self) -> Iterator[tuple[str, Array]]:
        """Yield the arrays in the user's variables with their names, from the innermost function outwards."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code is not self.until:
            if self.is_theirs(frame.f_code.co_filename):
                used = {name: frame.f_globals[name] for name in frame.f_code.co_names if name in frame.f_globals}
                for name, value in {**frame.f_locals, **used}.items():
                    yield from _arrays(name, value, DEPTH)
            frame = frame.f_back

    def _free(self, name: str) -> str:
        """Return a name that is not taken, with a number after it if it is."""
        own = normalised(name) if name.isidentifier() and len(name.encode()) < MAX_BYTES - 4 else UNNAMED
        numbered = (f"{own}{'_' * own[-1].isdigit()}{k}" for k in count(2))
        found = next(one for one in chain([own], numbered) if one not in self.taken)
        self.taken.add(found)
        return found


def _key(entries: npt.NDArray[Any]) -> tuple[object, ...]:
    return entries.shape, blake2b(entries.tobytes()).digest()


def _equal(a: Any, b: Any) -> bool:
    import numpy as np

    return a.shape == b.shape and a.dtype.kind in "fiub" and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def _arrays(name: str, value: Any, depth: int) -> Iterator[tuple[str, Array]]:
    """Yield the arrays in a value with their names: the key or attribute that holds them, of a list its number."""
    import numpy as np

    if type(value) is np.ndarray:
        yield name, value
        return
    if depth and (not isinstance(value, (list, tuple, dict)) or len(value) <= MOST_PARTS):
        for inner, one in _parts(name, value):
            yield from _arrays(inner, one, depth - 1)


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the named parts of a container or an object of the user."""
    if isinstance(value, dict):
        return [(key, one) for key, one in value.items() if isinstance(key, str)]
    if isinstance(value, (list, tuple)):
        keys = getattr(value, "_fields", None) or [f"{name}_{k}" for k in range(len(value))]
        return list(zip(keys, value, strict=False))
    if is_dataclass(value) and not isinstance(value, type):
        return [(one.name, getattr(value, one.name, None)) for one in fields(value)]
    if isinstance(value, (ModuleType, type)) or not hasattr(value, "__dict__"):
        return []
    owner = vars(value).get("_owner", value)
    return list(getattr(owner, "__dict__", {}).items())
