"""Writes a Loop as explicit loops, for a target that compiles (Numba).

A sum whose result is indexed by the outermost axes accumulates in a local number. It stays in a register and is stored
after the inner loops. Other sums are zeroed first and accumulate in memory.
"""

from __future__ import annotations

from collections.abc import Mapping

from matcalc.compiler.emit.merge_axes import merged
from matcalc.compiler.emit.spelling import ATOM, Expressions, Names
from matcalc.compiler.entrywise import Read, Select, within
from matcalc.compiler.program import Loop, Program, Store, accessed_entries, statements
from matcalc.compiler.verify.entries import entry, every_entry
from matcalc.tensor.sizes.size import Size

INDENT = "    "
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
        self.expressions = Expressions(names, self.read, lambda test, body: (f"({body} if {test} else 0.0)", ATOM))

    def read(self, read: Read) -> tuple[str, int]:
        if read.value in self.local:
            return self.names.give(read.value), ATOM
        return self.names.entry(read.value, read.at), ATOM

    def write(self, loop: Loop) -> list[tuple[str, str]]:
        """Return lines and their comments."""
        loop, shapes = merged(loop, self.program)
        views = []
        for name, shape in shapes.items():
            folded = "flat" if len(shape) == 1 else f"{len(shape)}d"  # C needs one rank for each name
            self.names.flat[name] = self.names.local(f"{self.names.give(name)}_{folded}")
            lengths = ", ".join(map(self.names.size, shape)) + "," * (len(shape) == 1)
            views.append((f"{self.names.flat[name]} = {self.names.give(name)}.reshape(({lengths}))", ""))
        lines = views + self._loops(loop)
        self.names.flat.clear()
        return lines

    def _loops(self, loop: Loop) -> list[tuple[str, str]]:
        self.local = {let.value for let in loop.lets}
        axes = [a for a, _ in loop.axes]
        depth_of = {s.value: _accumulator_depth(s, axes) for s in loop.sums}
        lines: list[tuple[str, str]] = []
        for store in loop.sums:
            if depth_of[store.value] < 0:
                lines += self._zero(store, dict(loop.axes))
        pending: list[tuple[str, str]] = []
        tiled = self._tiles(loop, depth_of)
        if tiled:
            lines.append((self._tile_size(loop), ""))
        for depth, (axis, size) in enumerate([*loop.axes, ("", None)]):
            pad = INDENT * (depth + (len(tiled) if depth > len(axes) - 2 else 0))
            for store in loop.sums:
                if depth_of[store.value] == depth:
                    name = self._accumulator(store)
                    lines.append((f"{pad}{name} = 0.0", ""))
                    target = self.names.entry(store.value, store.at)
                    if target != name:
                        pending.insert(0, (f"{pad}{target} = {name}", ""))
            if tiled and depth == len(axes) - 2:
                lines += [(f"{pad}{INDENT * k}{line}", "") for k, line in enumerate(tiled.values())]
                pad += INDENT * len(tiled)
            if size is not None:
                span = self._span(axis, size) if axis in tiled else self.names.size(size)
                lines.append((f"{pad}for {self.names.give(axis)} in range({span}):", ""))
            if depth < len(axes) - 1:
                lines += [(f"{pad}{INDENT}{line}", "") for line in self._named_entries(loop, axis)]
        pad = INDENT * (len(axes) + len(tiled))
        if loop.guards:
            lines.append((f"{pad}if {self.expressions.guards(loop.guards)}:", ""))
            pad += INDENT
        for let in loop.lets:
            lines.append((f"{pad}{self.names.give(let.value)} = {self.expressions.text(let.expr)}", let.comment))
        for store in loop.sums:
            outside = depth_of[store.value] >= 0
            target = self._accumulator(store) if outside else self.names.entry(store.value, store.at)
            lines.append((f"{pad}{target} += {self.expressions.text(store.expr)}", store.comment))
        for store in loop.stores:
            sign = "+=" if store.onto else "="
            target, text = self.names.entry(store.value, store.at), self.expressions.text(store.expr)
            lines.append((f"{pad}{target} {sign} {text}", store.comment))
        self.local = set()
        self.names.entries.clear()
        return lines + pending

    def _tiles(self, loop: Loop, depth_of: Mapping[str, int]) -> dict[str, str]:
        """Return the loops around the two inner axes, by axis, if one array is read along both.

        Each entry of a column is in another cache line. All lines of a square tile stay in the cache until all their
        entries have been read. Arrays that fit the cache are one tile.
        """
        inner = loop.axes[-2:]
        if len(inner) < 2 or max(depth_of.values(), default=0) > len(loop.axes) - 2:
            return {}
        (slow, _), (fast, _) = inner
        if not any(at[-1] == slow and fast in at for at in accessed_entries(loop)):
            return {}
        side = self.names.local("side")
        return {a: f"for {self._first(a)} in range(0, {self.names.size(s)}, {side}):" for a, s in inner}

    def _tile_size(self, loop: Loop) -> str:
        (_, rows), (_, columns) = loop.axes[-2:]
        entries, both = self.names.size(rows * columns), self.names.size(rows + columns + 1)
        return f"{self.names.local('side')} = {TILE} if {entries} > {IN_CACHE} else {both}"

    def _first(self, axis: str) -> str:
        """Return the name of the first index of a tile along an axis."""
        return self.names.local(f"{self.names.give(axis)}_tile")

    def _span(self, axis: str, size: Size) -> str:
        """Return the bounds of an axis in a tile."""
        start = self._first(axis)
        return f"{start}, min({start} + {self.names.local('side')}, {self.names.size(size)})"

    def _named_entries(self, loop: Loop, axis: str) -> list[str]:
        """Return lines that name entries of index arrays at an axis, so that inner loops need not look them up."""
        sizes = [g.size for g in loop.guards]
        for statement in statements(loop):
            sizes += [Size.of(k) for k in statement.at] if isinstance(statement, Store) else []
            for top in within(statement.expr):
                sizes += [Size.of(k) for k in top.at] if isinstance(top, Read) else []
                sizes += [g.size for g in top.guards] if isinstance(top, Select) else []
        lines = []
        for atom in every_entry(sizes):
            data = atom.left.key
            if atom.right.key == axis and self.table[data].shape[0] is dict(loop.axes)[axis]:
                name = self.names.local(f"{data}_{axis}")
                lines.append(f"{name} = {self.names.size(entry(atom.left, atom.right))}")
                self.names.entries[atom] = Size.of(name)
        return lines

    def _accumulator(self, store: Store) -> str:
        buffer = self.table[self.program.buffer_of[store.value]]
        if not buffer.shape and buffer.role != "output":
            return self.names.give(buffer.name)
        return self.names.local(self.program.called[store.value])

    def _zero(self, store: Store, sizes: dict[str, object]) -> list[tuple[str, str]]:
        lines = []
        for depth, axis in enumerate(store.at):
            size = self.names.size(sizes[axis])  # type: ignore[arg-type, index]
            lines.append((f"{INDENT * depth}for {self.names.size(axis)} in range({size}):", ""))
        lines.append((f"{INDENT * len(store.at)}{self.names.entry(store.value, store.at)} = 0.0", ""))
        return lines


def _accumulator_depth(store: Store, axes: list[str]) -> int:
    """Return the depth at which a sum can be a local number, -1 if there is none."""
    depth = len(store.at)
    return depth if list(store.at) == axes[:depth] and depth < max(len(axes), 1) else -1
