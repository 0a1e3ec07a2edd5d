"""Program: what a compiled function does, step by step, before it is text.

A Program is values in buffers and four kinds of step: `Call` (a kernel), `Loop` (elementwise work, reductions
and stores over common axes), `View` (another shape of the same memory), `Each` (an axis round other steps).
Steps speak of *values*, each written by one step; `places` says which buffer holds which value. So memory
that is used again is visible, and `verify` can see whether a value is still there when it is read.
The planner has decided everything: an emitter only spells a Program in the words of a target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from matcalc.compiler.entrywise import Apply, At, Expr, Guard, Literal, reads, within
from matcalc.compiler.lowering_entries import FIELD, Kernel, Scalar
from matcalc.errors import NotSupported
from matcalc.tensor.size import Size

WORD = re.compile(r"[^\W\d]\w*")

Shape = tuple[Size, ...]


class ProgramFault(NotSupported):
    """A Program that would compute something else than was planned: refused, never run."""


@dataclass(frozen=True, slots=True)
class Place:
    """An operand or result of a call: a value, the leading axes fixed by an Each, transposed or not."""

    value: str
    lead: At = ()
    flip: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A kernel; results and operands by the fields of its template, `onto` what beta = 1 adds to."""

    kernel: Kernel
    results: tuple[tuple[str, Place], ...]
    operands: tuple[tuple[str, Place], ...]
    sizes: tuple[tuple[str, Size], ...] = ()
    params: tuple[tuple[str, str | Size], ...] = ()
    alpha: Expr = field(default_factory=lambda: Literal(Fraction(1)))
    onto: str = ""
    fault: int = 0
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Let:
    value: str
    expr: Expr
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """`value[at] = expr`; with `onto`, added to what that value holds there.

    With `over`, that value's entries stay where this store does not write.
    """

    value: str
    at: At
    expr: Expr
    onto: str = ""
    over: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    """For each point of `axes` where `guards` hold: the lets, then the sums (from zero), then the stores."""

    axes: tuple[tuple[str, Size], ...]
    lets: tuple[Let, ...] = ()
    sums: tuple[Store, ...] = ()
    stores: tuple[Store, ...] = ()
    guards: tuple[Guard, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """Another name for memory: `buffer` is `of` from `start` on along its first axis, in its own shape."""

    buffer: str
    of: str
    start: Size | None = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Each:
    axis: str
    size: Size
    body: tuple[Step, ...]


Step = Call | Loop | View | Each
Statement = Let | Store


@dataclass(frozen=True, slots=True)
class Buffer:
    """Memory: role is input, output, temporary, scalar (a local number), view or constant."""

    name: str
    shape: Shape
    dtype: str = "float64"
    role: str = "temporary"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a size name is read from: `name = (input.shape[axis] - offset)/factor`."""

    name: str
    input: str
    axis: int
    factor: Fraction
    offset: Size


@dataclass(frozen=True, slots=True)
class Checked:
    """What a call makes sure of before anything else: at each point of `axes`, data are places: 0 <= index < length.

    `text` is how the data are written.
    """

    axes: tuple[tuple[str, Size], ...]
    index: Size
    length: Size
    text: str

    @property
    def fault(self) -> str:
        """What is said where it does not hold."""
        return f"{self.text} holds an index outside an axis of length {self.length}"


@dataclass(frozen=True, slots=True)
class Proof:
    """How the accesses of a Program are known to be sound, for all sizes.

    `discharged`: how many are by the bounds of their loops alone; `hoisted`: sizes that a call must test not to be
    negative, since others are sound only then; `guarded`: accesses, in words, that are only under the guard that the
    Program has there.
    """

    discharged: int
    hoisted: tuple[Size, ...]
    guarded: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.discharged} accesses discharged, {len(self.hoisted)} hoisted, {len(self.guarded)} guarded"


@dataclass(frozen=True)
class Program:
    """A whole function: inputs, then `size_args`, then outputs are its parameters.

    `places`: the buffer of each value; inputs and constants are values of the same name. `same`: values that
    are others seen through a view. `results`: the value that each output ends with. `faults`: what the status
    k says, at k - 1; the last are those of `data`, in order. `assumed`: sizes that every call makes sure are not
    negative, besides those of shapes. `called`: what a loop calls an entry of a value, where it has a name. `ahead` is
    run when data are fixed: its outputs are the last inputs. `blank`: outputs that whoever calls hands in full of
    zeros, each with the value that it holds then.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    size_args: tuple[str, ...]
    sources: tuple[Source, ...]
    buffers: tuple[Buffer, ...]
    places: Mapping[str, str]
    same: Mapping[str, str]
    results: Mapping[str, str]
    steps: tuple[Step, ...]
    constants: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    comment: str = ""
    assumed: tuple[Size, ...] = ()
    proof: Proof | None = None
    data: tuple[Checked, ...] = ()
    called: Mapping[str, str] = field(default_factory=dict)
    ahead: Program | None = None
    blank: Mapping[str, str] = field(default_factory=dict)

    def buffer(self, name: str) -> Buffer:
        return self.table[name]

    @cached_property
    def table(self) -> dict[str, Buffer]:
        return {b.name: b for b in self.buffers}

    def root(self, value: str) -> str:
        """Return the value that a value is, seen through views and copies."""
        while value in self.same:
            value = self.same[value]
        return value

    @cached_property
    def memory(self) -> dict[str, str]:
        """The buffer that each is a view of, or itself."""
        base = {b.name: b.name for b in self.buffers}
        for step in walk(self.steps):
            if isinstance(step, View):
                base[step.buffer] = base[step.of]
        return base

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels that are called, each once, in order of first use."""
        return tuple(dict.fromkeys(step.kernel for step in walk(self.steps) if isinstance(step, Call)))


def walk(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield all steps in order, an Each before its body."""
    return (step for step, _ in walk_inside(steps))


def walk_inside(steps: Sequence[Step]) -> Iterator[tuple[Step, tuple[Each, ...]]]:
    """Yield all steps in order, an Each before its body, and what is round each, the outermost first."""
    stack: list[tuple[Step, tuple[Each, ...]]] = [(step, ()) for step in reversed(steps)]
    while stack:
        step, around = stack.pop()
        yield step, around
        if isinstance(step, Each):
            stack.extend((inner, (*around, step)) for inner in reversed(step.body))


def values_read(step: Step) -> list[str]:
    """Return the values that a step reads."""
    if isinstance(step, Call):
        names = [p.value for _, p in step.operands] + [r.value for r in reads(step.alpha)]
        return names + ([step.onto] if step.onto else [])
    if isinstance(step, Loop):
        local = {let.value for let in step.lets}
        found = [r.value for x in statements(step) for r in reads(x.expr)]
        return [n for n in found if n not in local] + [s.onto or s.over for s in step.stores if s.onto or s.over]
    return []


def values_written(step: Step) -> list[str]:
    """Return the values that a step writes."""
    if isinstance(step, Call):
        return [p.value for _, p in step.results]
    return [s.value for s in (*step.sums, *step.stores)] if isinstance(step, Loop) else []


def statements(loop: Loop) -> tuple[Statement, ...]:
    """Return the lets, sums and stores of a loop."""
    return (*loop.lets, *loop.sums, *loop.stores)


def entries_met(loop: Loop) -> list[At]:
    """Return at which indices a loop reads and writes entries of arrays."""
    met = [r.at for statement in statements(loop) for r in reads(statement.expr)]
    return [at for at in (*met, *(s.at for s in (*loop.sums, *loop.stores))) if at]


def applied(program: Program) -> Iterator[Scalar]:
    """Yield the elementwise functions of a program, as often as they occur."""
    for step in walk(program.steps):
        if isinstance(step, Loop):
            found = (part for statement in statements(step) for part in within(statement.expr))
            yield from (part.function for part in found if isinstance(part, Apply))


def called_words(program: Program, target: str = "") -> set[str]:
    """Return the words of the templates of what a program calls, for all targets or one."""
    tables = [kernel.templates for kernel in program.kernels] + [function.templates for function in applied(program)]
    texts = (text for table in tables for name, text in table.items() if name == target or not target)
    within = (part.program for kernel in program.kernels if kernel.blocks is not None for part in kernel.parts)
    inside = set[str]().union(*(called_words(part, target) for part in within))
    return inside | {word for text in texts for word in WORD.findall(FIELD.sub("", text))}
