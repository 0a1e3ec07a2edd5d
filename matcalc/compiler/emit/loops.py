"""Writes a Loop of a Program as loops of Code.

A sum whose result is indexed by the outermost axes accumulates in a local number. It stays in a register and is stored
after the inner loops. Other sums are zeroed first and accumulate in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matcalc.compiler.code.code import ZERO, Call, Expr, For, If, Let, Load, Name, Number, Op, Statement, View
from matcalc.compiler.code.code import Store as StoreEntry
from matcalc.compiler.emit.merge_axes import merged
from matcalc.compiler.emit.spelling import Expressions, Names
from matcalc.compiler.entrywise import Read, Select, within
from matcalc.compiler.program import Loop, Program, Store, accessed_entries, statements
from matcalc.compiler.verify.entries import entry, every_entry
from matcalc.tensor.sizes.size import Size

TILE = 32
"""Entries of a tile along an axis."""
IN_CACHE = 1000000
"""Array entries up to which reading along columns is as fast as along rows."""


class LoopWriter:
    """Writes Loops with explicit indices."""

    def __init__(self, program: Program, names: Names) -> None:
        self.program = program
        self.table = program.table
        self.names = names
        self.local: set[str] = set()
        self.expressions = Expressions(names, self.read, lambda test, body: Op("if", (test, body, Number(0.0))))

    def read(self, read: Read) -> Expr:
        return Name(self.names.give(read.value)) if read.value in self.local else self.names.entry(read.value, read.at)

    def write(self, loop: Loop) -> list[Statement]:
        loop, shapes = merged(loop, self.program)
        views: list[Statement] = []
        for name, shape in shapes.items():
            folded = "flat" if len(shape) == 1 else f"{len(shape)}d"  # C needs one rank for each name
            self.names.flat[name] = self.names.local(f"{self.names.give(name)}_{folded}")
            lengths = tuple(map(self.names.integer, shape))
            views.append(Let(self.names.flat[name], View(Name(self.names.give(name)), lengths)))
        statements = views + self._loops(loop)
        self.names.flat.clear()
        return statements

    def _loops(self, loop: Loop) -> list[Statement]:
        """Return the loops, made from the innermost outwards."""
        self.local = {let.value for let in loop.lets}
        axes = [a for a, _ in loop.axes]
        depth_of = {s.value: _accumulator_depth(s, axes) for s in loop.sums}
        before = [self._zero(store, dict(loop.axes)) for store in loop.sums if depth_of[store.value] < 0]
        tiled = self._tiled(loop, depth_of)
        before += [self._tile_size(loop)] if tiled else []
        entries = {axis: self._named_entries(loop, axes[: k + 1]) for k, axis in enumerate(axes[:-1])}
        body = self._innermost(loop, depth_of)
        for depth in reversed(range(len(axes) + 1)):
            if depth < len(axes):
                axis, size = loop.axes[depth]
                start, stop = self._span(axis, size) if axis in tiled else (None, self.names.integer(size))
                body = [For(self.names.give(axis), stop, (*entries.get(axis, ()), *body), start)]
            if tiled and depth == len(axes) - 2:
                for axis, size in reversed(tiled.items()):
                    side = Name(self.names.local("side"))
                    body = [For(self._first(axis), self.names.integer(size), tuple(body), ZERO, side)]
            body = self._accumulated([s for s in loop.sums if depth_of[s.value] == depth], body)
        self.local = set()
        self.names.entries.clear()
        return before + body

    def _accumulated(self, sums: list[Store], body: list[Statement]) -> list[Statement]:
        """Return statements with the local numbers of sums around them."""
        first: list[Statement] = []
        last: list[Statement] = []
        for store in sums:
            name, target = self._accumulator(store), self.names.entry(store.value, store.at)
            first.append(Let(name, Number(0.0)))
            if target != Name(name):
                last.insert(0, assigned(target, Name(name)))
        return first + body + last

    def _innermost(self, loop: Loop, depth_of: Mapping[str, int]) -> list[Statement]:
        code, body = self.expressions.code, list[Statement]()
        for let in loop.lets:
            body.append(Let(self.names.give(let.value), code(let.expr), note=let.comment))
        for store in loop.sums:
            is_local = depth_of[store.value] >= 0
            target = Name(self._accumulator(store)) if is_local else self.names.entry(store.value, store.at)
            body.append(assigned(target, code(store.expr), "+", store.comment))
        for store in loop.stores:
            target = self.names.entry(store.value, store.at)
            body.append(assigned(target, code(store.expr), "+" if store.onto else "", store.comment))
        return [If(self.expressions.guards(loop.guards), tuple(body))] if loop.guards else body

    def _tiled(self, loop: Loop, depth_of: Mapping[str, int]) -> dict[str, Size]:
        """Return the two inner axes if one array is read along both: loops over tiles go around them.

        Each entry of a column is in another cache line. All lines of a square tile stay in the cache until all their
        entries have been read. Arrays that fit the cache are one tile.
        """
        inner = loop.axes[-2:]
        if len(inner) < 2 or max(depth_of.values(), default=0) > len(loop.axes) - 2:
            return {}
        (slow, _), (fast, _) = inner
        return dict(inner) if any(at[-1] == slow and fast in at for at in accessed_entries(loop)) else {}

    def _tile_size(self, loop: Loop) -> Statement:
        (_, rows), (_, columns) = loop.axes[-2:]
        entries, both = self.names.integer(rows * columns), self.names.integer(rows + columns + 1)
        size = Op("if", (Op(">", (entries, Number(IN_CACHE))), Number(TILE), both))
        return Let(self.names.local("side"), size)

    def _first(self, axis: str) -> str:
        """Return the name of the first index of a tile along an axis."""
        return self.names.local(f"{self.names.give(axis)}_tile")

    def _span(self, axis: str, size: Size) -> tuple[Expr, Expr]:
        """Return the bounds of an axis in a tile."""
        start = Name(self._first(axis))
        return start, Call("min", (Op("+", (start, Name(self.names.local("side")))), self.names.integer(size)))

    def _named_entries(self, loop: Loop, axes: Sequence[str]) -> list[Statement]:
        """Return statements that name entries of index arrays at the last of some axes.

        Inner loops need not look them up.
        """
        sizes = [g.size for g in loop.guards]
        for statement in statements(loop):
            sizes += [Size.of(k) for k in statement.at] if isinstance(statement, Store) else []
            for top in within(statement.expr):
                sizes += [Size.of(k) for k in top.at] if isinstance(top, Read) else []
                sizes += [g.size for g in top.guards] if isinstance(top, Select) else []
        found: list[Statement] = []
        lengths = dict(loop.axes)
        for atom in every_entry(sizes):
            data, at = atom.place
            spots = [index.key for index in at]
            shape = [lengths[spot] for spot in spots if spot in axes]
            if axes[-1] in spots and len(shape) == len(spots) and shape == [*self.table[data.key].shape]:
                name = self.names.local("_".join((data.key, *spots)))
                found.append(Let(name, self.names.integer(entry(data, *at))))
                self.names.entries[atom] = Size.of(name)
        return found

    def _accumulator(self, store: Store) -> str:
        buffer = self.table[self.program.buffer_of[store.value]]
        if not buffer.shape and buffer.role != "output":
            return self.names.give(buffer.name)
        return self.names.local(self.program.called[store.value])

    def _zero(self, store: Store, sizes: Mapping[str, Size]) -> Statement:
        found = assigned(self.names.entry(store.value, store.at), Number(0.0))
        for axis in reversed(store.at):
            assert isinstance(axis, str)
            found = For(self.names.give(axis), self.names.integer(sizes[axis]), (found,))
        return found


def assigned(target: Expr, value: Expr, op: str = "", note: str = "") -> Statement:
    """Return the statement that assigns to a name or to an entry of an array."""
    if isinstance(target, Name):
        return Let(target.name, value, op, note)
    assert isinstance(target, Load)
    return StoreEntry(target.array, target.at, value, op, note)


def _accumulator_depth(store: Store, axes: list[str]) -> int:
    """Return the depth at which a sum can be a local number, -1 if there is none."""
    depth = len(store.at)
    return depth if list(store.at) == axes[:depth] and depth < max(len(axes), 1) else -1
