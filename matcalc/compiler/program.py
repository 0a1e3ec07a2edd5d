"""Defines the Program: the steps of a compiled function before it is printed as text.

A Program consists of values in buffers and four kinds of step: `Call` (a kernel), `Loop` (elementwise work, reductions
and stores over common axes), `View` (another shape of the same memory), `Each` (an axis around other steps). Steps
refer to *values*, each written by one step; `buffer_of` maps values to buffers. So reuse of memory is explicit, and
`verify` can check that a value still exists when it is read. The planner makes all decisions; emitters only print a
Program in the words of a target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from matcalc.cached import cached_property
from matcalc.compiler.entrywise import Apply, At, Expr, Guard, Literal, reads, within
from matcalc.compiler.lowering_entries import FIELD, Kernel, Scalar
from matcalc.errors import NotSupported
from matcalc.tensor.sizes.size import Size

WORD = re.compile(r"[^\W\d]\w*")

Shape = tuple[Size, ...]


class ProgramFault(NotSupported):
    """Raised for a Program that would compute something other than its plan; it is never run."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An operand or result of a call: a value, the leading axes fixed by an Each, transposed or not."""

    value: str
    lead: At = ()
    flip: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A kernel call: results and operands by template field; the result is added to `onto` (beta = 1)."""

    kernel: Kernel
    results: tuple[tuple[str, Argument], ...]
    operands: tuple[tuple[str, Argument], ...]
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
    """`value[at] = expr`; with `onto`, added to the entry of that value.

    With `over`, entries that this store does not write remain those of that value.
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
    """Another name for memory: `buffer` is `of` from index `start` of its first axis on, in its own shape."""

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
    """The source of a size name: `name = (input.shape[axis] - offset)/factor`."""

    name: str
    input: str
    axis: int
    factor: Fraction
    offset: Size


@dataclass(frozen=True, slots=True)
class Checked:
    """A check at the start of a call that indices in data are valid: at each point of `axes`, 0 <= index < length.

    `text` is the formula of the data.
    """

    axes: tuple[tuple[str, Size], ...]
    index: Size
    length: Size
    text: str

    @property
    def fault(self) -> str:
        """The message if the check fails."""
        return f"{self.text} holds an index outside an axis of length {self.length}"


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof that the accesses of a Program are within bounds, for all sizes.

    `discharged`: the number proved by the bounds of their loops. `hoisted`: sizes that each call tests to be
    nonnegative, since other accesses need that. `guarded`: accesses, in words, that are valid only under the Program's
    own guards.
    """

    discharged: int
    hoisted: tuple[Size, ...]
    guarded: tuple[str, ...]

    def __str__(self) -> str:
        tests = f"{len(self.hoisted)} tested once in each call, {len(self.guarded)} guarded"
        return f"accesses to arrays: {self.discharged} proved to be inside for all sizes, {tests}"


@dataclass(frozen=True)
class Program:
    """A whole function: inputs, then `size_args`, then outputs are its parameters.

    `buffer_of`: the buffer of each value; inputs and constants are values of the same name. `same`: values that are
    views or copies of others. `results`: the final value of each output. `faults`: the message of status k, at k - 1;
    those of `data` are last, in order. `assumed`: sizes that every call ensures are not negative, besides those of
    shapes. `called`: the names of entries of values in loops. `ahead`: the Program that runs when data are fixed; its
    outputs are the last inputs. `zero_filled`: outputs that the caller passes zero-filled, each with the value that
    holds these zeros.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    size_args: tuple[str, ...]
    sources: tuple[Source, ...]
    buffers: tuple[Buffer, ...]
    buffer_of: Mapping[str, str]
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
    zero_filled: Mapping[str, str] = field(default_factory=dict)

    def buffer(self, name: str) -> Buffer:
        return self.table[name]

    @cached_property
    def table(self) -> dict[str, Buffer]:
        return {b.name: b for b in self.buffers}

    def root(self, value: str) -> str:
        """Return the original of a value that is a view or a copy, else the value."""
        while value in self.same:
            value = self.same[value]
        return value

    @cached_property
    def memory(self) -> dict[str, str]:
        """The buffer of which each buffer is a view, or itself."""
        base = {b.name: b.name for b in self.buffers}
        for step in walk(self.steps):
            if isinstance(step, View):
                base[step.buffer] = base[step.of]
        return base

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels that are called, each once, in order of first use."""
        return tuple(dict.fromkeys(step.kernel for step in walk(self.steps) if isinstance(step, Call)))

    @cached_property
    def functions(self) -> tuple[Scalar, ...]:
        """The elementwise functions in loops, each once, in order of first use."""
        loops = (step for step in walk(self.steps) if isinstance(step, Loop))
        found = (part for loop in loops for statement in statements(loop) for part in within(statement.expr))
        return tuple(dict.fromkeys(part.function for part in found if isinstance(part, Apply)))


def walk(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield all steps in order, an Each before its body."""
    return (step for step, _ in walk_inside(steps))


def walk_inside(steps: Sequence[Step]) -> Iterator[tuple[Step, tuple[Each, ...]]]:
    """Yield all steps in order, an Each before its body, each with the Eachs around it, the outermost first."""
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


def accessed_entries(loop: Loop) -> list[At]:
    """Return the indices at which a loop reads and writes entries of arrays."""
    met = [r.at for statement in statements(loop) for r in reads(statement.expr)]
    return [at for at in (*met, *(s.at for s in (*loop.sums, *loop.stores))) if at]


def called_words(program: Program, target: str = "") -> set[str]:
    """Return the words in the templates of a program's kernels and functions, for all targets or one."""
    tables = [kernel.templates for kernel in program.kernels] + [function.templates for function in program.functions]
    texts = (text for table in tables for name, text in table.items() if name == target or not target)
    within = (part.program for kernel in program.kernels if kernel.is_inline for part in kernel.parts)
    inside = set[str]().union(*(called_words(part, target) for part in within))
    return inside | {word for text in texts for word in WORD.findall(FIELD.sub("", text))}
