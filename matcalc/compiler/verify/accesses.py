"""Proves every access of a Program for all sizes at once, before it is emitted.

Every index is inside its axis. Every entry of a result is written once, or added to a value that was written in full.
Every view lies inside its buffer. Kernels get operands of the sizes in their patterns. No array has a negative size.
(`order.verify` checks that nothing is read before it is written, and that values alive at once do not overlap.)

Each access is *discharged* by the bounds of its loop alone, or *guarded* (it needs its guard, or adds to entries that
may coincide). A size that must not be negative but is not known to be, as `n - k` of `x[k:]`, is *hoisted*: each call
tests it once. Any other access raises ProgramFault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from matcalc.compiler.entrywise import Expr, Guard, Index, Read, Select, entry_text, parts
from matcalc.compiler.program import (
    Argument,
    Buffer,
    Call,
    Loop,
    Program,
    ProgramFault,
    Proof,
    Shape,
    Step,
    Store,
    View,
    statements,
    walk_inside,
)
from matcalc.compiler.verify.entries import entry, every_entry
from matcalc.compiler.verify.inequalities import Known, known_of
from matcalc.tensor.sizes.size import Size, volume
from matcalc.tensor.sizes.size_equations import quotient


def proved(program: Program) -> Program:
    """Return the Program with the proof that its accesses are sound.

    Raises: ProgramFault that names the step and the access that cannot be proved.
    """
    checker = _Checker(program, known_of(program.assumed, program.data))
    checker.check_sizes()
    checker.check_data()
    for step, around in walk_inside(program.steps):
        checker.check(step, {each.axis: each.size for each in around})
    return replace(program, proof=checker.proof())


@dataclass
class _Checker:
    program: Program
    known: Known
    discharged: int = 0
    guarded: list[str] = field(default_factory=list)
    hoisted: dict[Size, None] = field(default_factory=dict)
    whole: set[str] = field(default_factory=set)
    roots: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table = self.program.table
        self.whole.update(b.name for b in self.program.buffers if b.role in ("input", "constant"))
        self.whole.update(self.program.zero_filled)
        input_sizes = {size for b in self.program.buffers if b.role == "input" for size in b.shape}
        self.tests = tuple(size for size in self.program.assumed if size not in input_sizes)

    def proof(self) -> Proof:
        return Proof(self.discharged, tuple(self.hoisted), tuple(self.guarded))

    def buffer(self, value: str) -> Buffer:
        return self.table[self.program.buffer_of.get(value, value)]

    # ---- sizes

    def check_sizes(self) -> None:
        for buffer in self.program.buffers:
            if buffer.role != "input":
                for size in buffer.shape:
                    self._make_nonnegative(size)

    def check_data(self) -> None:
        """Check that indices read by later checks are inside the data, given the earlier checks."""
        for number, checked in enumerate(self.program.data):
            known = known_of(self.program.assumed, self.program.data[:number]).at(dict(checked.axes))
            self._entries([checked.index], known, (), f"the check of {checked.text}")

    def _entries(self, sizes: Sequence[Index], known: Known, guards: Sequence[Guard], where: str) -> None:
        """Check that each entry of data in some indices is inside the data."""
        for atom in every_entry(Size.of(size) for size in sizes):
            data, at = atom.place
            for index, length in zip(at, self.buffer(data.key).shape, strict=True):
                self._inside(index, length, known, guards, f"{where} looks up {entry(data, *at)}")

    def _make_nonnegative(self, size: Size) -> bool:
        """Ensure that a size is not negative; return whether that takes a test."""
        if self.known.is_nonnegative(size):
            return self._relies(self.known, lambda known: known.is_nonnegative(size))
        self.hoisted[size] = None
        self.tests = (*self.tests, size)
        self.known = replace(self.known, nonnegative=(*self.known.nonnegative, size))
        return True

    def _relies(self, known: Known, is_proved: Callable[[Known], bool]) -> bool:
        """Return whether a proof needs the tests of sizes, and hoist the tests that it needs."""
        needed = self.tests
        if not needed or is_proved(known.without(needed)):
            return False
        for size in needed:
            fewer = tuple(s for s in needed if s is not size)
            left_out = tuple(s for s in self.tests if s not in fewer)
            needed = fewer if is_proved(known.without(left_out)) else needed
        self.hoisted |= dict.fromkeys(needed)
        return True

    # ---- steps

    def check(self, step: Step, around: Mapping[str, Size]) -> None:
        known = self.known.at(around)
        if isinstance(step, View):
            self._view(step)
        elif isinstance(step, Call):
            self._call(step, known)
        elif isinstance(step, Loop):
            self._loop(step, known)

    def _view(self, view: View) -> None:
        shape, base = self.table[view.buffer].shape, self.table[view.of].shape
        where = f"the view {view.buffer} of {view.of}"
        room, tested = base, False
        if view.start is not None:
            length = shape[0] if len(shape) == len(base) else _quotient(volume(shape), volume(base[1:]), where)
            ends = view.start, base[0] - view.start - length
            if any(self.known.is_never(end) for end in ends):
                raise ProgramFault(f"{where} runs from {view.start} for {length} of {base[0]} entries")
            tested = any([self._make_nonnegative(end) for end in ends])
            room = (length, *base[1:])
        if not self.known.is_zero(volume(room) - volume(shape)):
            raise ProgramFault(f"{where} has {volume(shape)} entries, but {volume(room)} are available")
        self.discharged += not tested
        if view.start is None:
            self.roots[view.buffer] = self.root(view.of)
        elif self.root(view.of) in self.whole:
            self.whole.add(view.buffer)

    def root(self, name: str) -> str:
        """Return the buffer that a view shows in full, or the buffer itself."""
        return self.roots.get(name, name)

    def _call(self, call: Call, known: Known) -> None:
        where = f"the call of {call.kernel.name}"
        for _, argument in (*call.results, *call.operands):
            self._lead(argument, known, where)
        for read in _reads(call.alpha):
            self._read(read[0], read[1], known, where)
        self._check_letters(call, known, where)
        for _, argument in call.results:
            self._written(argument.value)

    def _lead(self, argument: Argument, known: Known, where: str) -> None:
        shape = self.buffer(argument.value).shape
        if len(argument.lead) > len(shape):
            raise ProgramFault(f"{where}: {argument.value} has {len(shape)} axes, not {len(argument.lead)}")
        for index, length in zip(argument.lead, shape, strict=False):
            self._inside(index, length, known, (), f"{where}: {argument.value}")
        self.discharged += not argument.lead

    def _check_letters(self, call: Call, known: Known, where: str) -> None:
        """Check that the axes of operands and results have the sizes of the letters in the kernel's pattern."""
        sizes = dict(call.sizes)
        kernel = call.kernel
        arguments = [a for f in kernel.factors for a in f.args]
        terms = {t.name: t.letters for t in (*kernel.results, *kernel.factors, *arguments) if t.letters is not None}
        for name, argument in (*call.results, *call.operands):
            letters = terms.get(name)
            axes = self.buffer(argument.value).shape[len(argument.lead) :]
            if letters is None or not set(letters) <= set(sizes):
                continue
            expected = tuple(sizes[x] for x in letters)
            expected = expected[::-1] if argument.flip else expected
            if len(expected) != len(axes):
                if not (len(expected) == 1 and not axes and expected[0] == 1):
                    raise ProgramFault(
                        f"{where}: {argument.value} has the shape {_shown(axes)}, not {_shown(expected)}"
                    )
                continue
            for axis, size in zip(axes, expected, strict=True):
                if axis is not size and not known.is_zero(axis - size):
                    raise ProgramFault(
                        f"{where}: {argument.value} has the shape {_shown(axes)}, not {_shown(expected)}"
                    )

    # ---- loops

    def _loop(self, loop: Loop, known: Known) -> None:
        where = f"the loop over {', '.join(f'{a} < {s}' for a, s in loop.axes) or 'nothing'}"
        axes = dict(loop.axes)
        local = {let.value for let in loop.lets}
        here = known.at(axes)
        self._tests(loop.guards, (), here, where)
        for statement in statements(loop):
            for read, guards in _reads(statement.expr):
                self._tests(guards, loop.guards, here, where)
                self._entries(read.at, here, (*loop.guards, *guards), where)
                if read.value not in local:
                    self._read(read, (*loop.guards, *guards), here, where)
        for store in loop.sums:
            self._sum(store, loop, where, here)
        for store in loop.stores:
            self._store(store, loop, where, here)

    def _tests(self, guards: Sequence[Guard], around: Sequence[Guard], here: Known, where: str) -> None:
        """Check the entries of data in guards: each guard is tested where those before it hold."""
        for k, guard in enumerate(guards):
            self._entries([guard.size], here, (*around, *guards[:k]), where)

    def _read(self, read: Read, guards: Sequence[Guard], here: Known, where: str) -> None:
        shape = self.buffer(read.value).shape
        if not shape:
            return
        if len(read.at) != len(shape):
            raise ProgramFault(f"{where} reads {read.value} with {len(read.at)} indices")
        for index, length in zip(read.at, shape, strict=True):
            self._inside(index, length, here, guards, f"{where} reads {entry_text(read.value, read.at)}")

    def _inside(self, index: Index, length: Size, here: Known, guards: Sequence[Guard], what: str) -> None:
        self._check_divisors(index, here, guards, what)
        under = here.at({}, guards) if guards else here
        open_ = [s for s in _conditions(index, length) if guards and _is_tested(s, guards)]
        if not open_ and here.is_inside(index, length):
            self.discharged += not self._relies(here, lambda known: known.is_inside(index, length))
        elif guards and under.is_inside(index, length):
            self.guarded.append(f"{what}: {index} below {length}")
        else:
            raise ProgramFault(f"{what}, and {index} is not known to lie in 0 .. {length - 1}")

    def _check_divisors(self, index: Index, here: Known, guards: Sequence[Guard], what: str) -> None:
        """Check that no index divides by zero."""
        if isinstance(index, str):
            return
        for divisor in index.divisors:
            if not any(known.is_positive(divisor, index) for known in (here, here.at({}, guards))):
                raise ProgramFault(f"{what}, and {divisor} may be zero")

    def _sum(self, store: Store, loop: Loop, where: str, here: Known) -> None:
        """Check a sum: it starts from zero at every entry of its result, which must be all entries of the buffer."""
        buffer = self.buffer(store.value)
        sizes = [dict(loop.axes).get(a) if isinstance(a, str) else None for a in store.at]
        if len(set(store.at)) < len(store.at) or None in sizes or len(sizes) != len(buffer.shape):
            raise ProgramFault(
                f"{where} sums into {entry_text(store.value, store.at)}, which is not a row of distinct axes"
            )
        for size, length in zip(sizes, buffer.shape, strict=True):
            assert size is not None
            if not here.is_zero(size - length):
                raise ProgramFault(f"{where} sums into {store.value} along {size} of {length} entries")
        self.discharged += len(store.at)
        self._written(store.value)

    def _store(self, store: Store, loop: Loop, where: str, here: Known) -> None:
        what = f"{where} writes {entry_text(store.value, store.at)}"
        buffer = self.buffer(store.value)
        self._entries(store.at, here, loop.guards, what)
        if len(store.at) != len(buffer.shape) and buffer.shape:
            raise ProgramFault(f"{what} with {len(store.at)} indices")
        for index, length in zip(store.at, buffer.shape, strict=False):
            self._inside(index, length, here, loop.guards, what)
        axes = [a for a, _ in loop.axes]
        if not buffer.shape and axes and not store.onto:
            raise ProgramFault(f"{what} once for each point")
        once = here.is_injective(store.at, axes) or here.at({}, loop.guards).is_injective(store.at, axes)
        base = store.onto or store.over
        if base:
            self._need_whole(base, what)
        if not once and not store.onto:
            raise ProgramFault(f"{what}, where several points may meet")
        if not once:
            self.guarded.append(f"{what} adds up")
        if not base and not self._covers(loop, buffer.shape, here):
            raise ProgramFault(f"{what} and perhaps not every entry")
        self._written(store.value)

    def _covers(self, loop: Loop, shape: Shape, here: Known) -> bool:
        """Whether the points, each with an entry of its own, are as many as the entries."""
        if loop.guards:
            return False
        return here.is_zero(volume(s for _, s in loop.axes) - volume(shape))

    # ---- buffers that are written in full

    def _need_whole(self, value: str, what: str) -> None:
        if self.root(self.buffer(value).name) not in self.whole:
            raise ProgramFault(f"{what} on {value}, which was not written in full")

    def _written(self, value: str) -> None:
        self.whole.add(self.root(self.buffer(value).name))


def _conditions(index: Index, length: Size) -> tuple[Size, Size]:
    index = Size.of(index)
    return index, length - 1 - index


def _is_tested(size: Size, guards: Sequence[Guard]) -> bool:
    """Whether a guard tests this condition; a proved condition has no guard."""
    return any(g.relation == ">=" and g.size is size for g in guards)


def _reads(expr: Expr) -> Iterator[tuple[Read, tuple[Guard, ...]]]:
    """Yield the reads of an expression, each with its guards."""
    stack: list[tuple[Expr, tuple[Guard, ...]]] = [(expr, ())]
    while stack:
        top, guards = stack.pop()
        if isinstance(top, Read):
            yield top, guards
        elif isinstance(top, Select):
            stack.append((top.body, (*guards, *top.guards)))
        else:
            stack.extend((part, guards) for part in reversed(parts(top)))


def _quotient(entries: Size, by: Size, where: str) -> Size:
    found = quotient(entries, by)
    if found is None:
        raise ProgramFault(f"{where} has {entries} entries, which are no rows of {by}")
    return found


def _shown(shape: Shape) -> str:
    return f"({', '.join(map(str, shape))})"
