"""The function for Numba of a kernel that runs its part on blocks of rows: the statements of the part inside a loop.

Results of the first block are written where the kernel's results are, those of others beside them and added. So data of
one block, which small ones are, take no step more than the part alone. Results that are numbers are returned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from matcalc.compiler.emit.spelling import Names
from matcalc.compiler.lowering_entries import Kernel
from matcalc.compiler.program import Program
from matcalc.language.identifiers import comment, docstring
from matcalc.tensor.size import Size

INDENT = "    "
HEAD = '@njit(error_model="numpy", fastmath={"contract", "reassoc", "nsz", "arcp"})'
BLOCK, ONCE, LEAST = 32768, 131072, 64
"""Entries of a block, which are 256 kB; entries that are done at once; rows that a block has at least."""
BUSY = 64
"""Flops for an entry that is read: from so many on, memory is no matter."""

Body = Callable[[Program, Names], list[str]]


def blocks_text(kernel: Kernel, body: Body) -> list[str]:
    """Return the lines of the function; `body` gives those of a program, from its sizes on."""
    blocks, (part,) = kernel.blocks, kernel.parts
    assert blocks is not None
    numbers = {b.name for b in part.program.buffers if b.role == "output" and not b.shape}
    buffers = tuple(replace(b, role="scalar") if b.name in numbers else b for b in part.program.buffers)
    program = replace(part.program, buffers=buffers)
    names = Names(program, "numba", kernel.name)
    writer = _Writer(program, names, numbers, blocks.totals, blocks.sliced)
    parameters = [n for n in part.parameters if n not in program.outputs]
    arrays = [n for n in program.outputs if n not in numbers]
    lines = [HEAD, f"def {kernel.name}({', '.join(map(names.give, [*parameters, *arrays]))}):"]
    lines += docstring([comment(f"{program.comment}, by blocks of rows that stay in cache.")], INDENT)
    lines += [INDENT + line for line in writer.head(blocks.longest, blocks.width, blocks.flops)]
    lines += [INDENT + line for line in writer.loop(body)]
    return [*lines, f"{INDENT}return {', '.join(writer.total(n) for n in program.outputs if n in numbers) or 0}"]


class _Writer:
    def __init__(
        self, program: Program, names: Names, numbers: set[str], totals: Sequence[str], sliced: Sequence[str]
    ) -> None:
        self.program = program
        self.table = program.table
        self.names = names
        self.numbers = numbers
        self.added = [n for n in totals if n not in numbers]
        self.sliced = [*sliced, *(n for n in program.outputs if n not in totals)]
        self.plain = {n: names.give(n) for n in (*program.inputs, *program.outputs)}
        self.rows, self.start = names.local("rows"), names.local("start")
        self.count = names.local("count")

    def total(self, name: str) -> str:
        return self.names.local(f"{name}_total")

    def head(self, longest: str, width: Size, flops: Size) -> list[str]:
        """Return the lines that find how many rows a block has, by sizes that are no numbers of rows."""
        shapes = {s.name: f"{self.plain[s.input]}.shape[{s.axis}]" for s in self.program.sources}
        used = dict.fromkeys(n for size in (width, flops) for n in size.names if n in shapes)
        wide = self.names.local("width")
        lines = [f"{self.count} = {self.plain[longest]}.shape[0]"]
        lines += [f"{self.names.give(n)} = {shapes[n]}" for n in used]
        lines.append(f"{wide} = {self.names.size(width)}")
        lines.append(f"{self.rows} = {self.count} if {self.count} > 0 else 1")
        lines.append(f"if {self.count}*{wide} > {ONCE} and {self.names.size(flops)} <= {BUSY}*{wide}:")
        lines.append(f"{INDENT}{self.rows} = max({BLOCK}//{wide}, {LEAST})")
        return lines

    def loop(self, body: Body) -> list[str]:
        """Return the loop over blocks."""
        start, rows, plain = self.start, self.rows, self.plain
        lines = [f"{self.total(n)} = 0.0" for n in self.program.outputs if n in self.numbers]
        parts = {name: self.names.local(f"{name}_part") for name in self.added}
        lines += [f"{parts[name]} = {plain[name]}" for name in self.added]
        lines.append(f"for {start} in range(0, max({self.count}, 1), {rows}):")
        inner = [f"if {start} == {rows}:"] if self.added else []
        inner += [f"{INDENT}{parts[n]} = np.empty({self._shape(n)})" for n in self.added]
        for name in self.sliced:
            self.names.spelled[name] = self.names.local(f"{name}_rows")
            inner.append(f"{self.names.give(name)} = {plain[name]}[{start} : {start} + {rows}]")
        self.names.spelled |= parts
        inner += body(self.program, self.names)
        inner += [f"{self.total(n)} += {self.names.give(n)}" for n in self.program.outputs if n in self.numbers]
        inner += [f"if {start} > 0:"] if self.added else []
        for name in self.added:
            axes = [self.names.local(f"{axis}_{name}") for axis in "ijkl"[: len(self.table[name].shape)]]
            for depth, axis in enumerate(axes):
                inner.append(f"{INDENT * (depth + 1)}for {axis} in range({plain[name]}.shape[{depth}]):")
            at = ", ".join(axes)
            inner.append(f"{INDENT * (len(axes) + 1)}{plain[name]}[{at}] += {parts[name]}[{at}]")
        return lines + [INDENT + line for line in inner]

    def _shape(self, name: str) -> str:
        sizes = [f"{self.plain[name]}.shape[{k}]" for k in range(len(self.table[name].shape))]
        return sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
