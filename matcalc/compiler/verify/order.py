"""Checks the order of a Program: nothing is read before it is written, and values alive at once do not overlap.

Values are followed through their buffers, step by step: a value must still be in its buffer whenever it is read.
`accesses` checks the indices of accesses.
"""

from __future__ import annotations

from matcalc.compiler.entrywise import Expr, Read, reads
from matcalc.compiler.program import Call, Loop, Program, ProgramFault, Store, View, walk


def verify(program: Program) -> Program:
    """Return `program` if it is sound.

    Sound: names are unique; every value is written once, and still in its memory whenever it is read; no call writes to
    memory that it reads; a loop that overwrites a value reads only the entry that it is about to write, and not after;
    ranks agree; every output holds its result at the end.

    Raises: ProgramFault that names the step.
    """
    names = [b.name for b in program.buffers]
    if len(set(names)) != len(names):
        raise ProgramFault(f"two buffers have one name: {sorted(n for n in names if names.count(n) > 1)[0]}")
    memory = _Memory(program)
    for step in walk(program.steps):
        if isinstance(step, View):
            memory.root[step.buffer] = memory.root[step.of]
        elif isinstance(step, Call):
            _check_call(step, memory)
        elif isinstance(step, Loop):
            _check_loop(step, memory)
    for name, value in program.results.items():
        if memory.of(value) != memory.root[name]:
            raise ProgramFault(f"the output {name} is not the buffer of its result {value}")
        memory.read(value, "the caller")
    return program


class _Memory:
    """The value in each buffer while the steps of a Program are followed."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.ranks = {b.name: len(b.shape) for b in program.buffers}
        self.root = {b.name: b.name for b in program.buffers}
        self.holds = {b.name: b.name for b in program.buffers if b.role in ("input", "constant")}
        self.constant = frozenset(self.holds)
        self.written = {*self.holds, *program.zero_filled.values()}
        self.holds |= {name: program.root(value) for name, value in program.zero_filled.items()}

    def of(self, value: str) -> str:
        buffer = self.program.buffer_of.get(value, value)
        if buffer not in self.root:
            raise ProgramFault(f"the value {value} has no memory")
        return self.root[buffer]

    def rank(self, value: str) -> int:
        return self.ranks[self.program.buffer_of.get(value, value)]

    def is_same_entry(self, read: Read, store: Store) -> bool:
        """Whether an entry is read at the index at which it is written, in one shape of the memory."""
        shapes = [self.program.table[self.program.buffer_of.get(v, v)].shape for v in (read.value, store.value)]
        return read.at == store.at and shapes[0] == shapes[1]

    def read(self, value: str, where: str) -> None:
        held = self.holds.get(self.of(value))
        if held != self.program.root(value):
            raise ProgramFault(f"{where} reads {value}, but its memory holds {held or 'nothing yet'}")

    def write(self, value: str, onto: str, where: str) -> None:
        if onto:
            self.read(onto, where)
            if self.of(onto) != self.of(value):
                raise ProgramFault(f"{where} adds to {onto}, which is not in the buffer of {value}")
        if value in self.written:
            raise ProgramFault(f"{where} writes {value} a second time")
        if self.of(value) in self.constant:
            raise ProgramFault(f"{where} writes to the argument {self.of(value)}")
        self.written.add(value)
        self.holds[self.of(value)] = self.program.root(value)


def _check_call(call: Call, memory: _Memory) -> None:
    where = f"the call of {call.kernel.name}"
    read_buffers = [memory.of(p.value) for _, p in call.operands]
    for _, argument in call.operands:
        memory.read(argument.value, where)
    for read in reads(call.alpha):
        memory.read(read.value, where)
    written_buffers = [memory.of(p.value) for _, p in call.results]
    if set(written_buffers) & set(read_buffers) or len(set(written_buffers)) != len(written_buffers):
        raise ProgramFault(f"{where} writes to memory that it reads: {', '.join(written_buffers)}")
    for number, (_, argument) in enumerate(call.results):
        memory.write(argument.value, call.onto if number == 0 else "", where)


def _check_loop(loop: Loop, memory: _Memory) -> None:
    where = f"the loop over {', '.join(f'{a} < {s}' for a, s in loop.axes) or 'nothing'}"
    local: set[str] = set()
    outside: list[Read] = []
    for let in loop.lets:
        outside += _outer_reads(let.expr, local, memory, where)
        local.add(let.value)
    for store in loop.sums:
        outside += _outer_reads(store.expr, local, memory, where)
    for store in loop.sums:
        if any(memory.of(r.value) == memory.of(store.value) for r in outside):
            raise ProgramFault(f"{where} reads the memory that it sums into: {store.value}")
        memory.write(store.value, "", where)
    pending = [list(_outer_reads(s.expr, local, memory, where)) for s in loop.stores]
    for number, store in enumerate(loop.stores):
        target = memory.of(store.value)
        before = outside + [r for later in pending[: number + 1] for r in later]
        if any(memory.of(r.value) == target and not memory.is_same_entry(r, store) for r in before):
            raise ProgramFault(f"{where} reads entries of {target} that it has overwritten by {store.value}")
        if any(memory.of(r.value) == target for later in pending[number + 1 :] for r in later):
            raise ProgramFault(f"{where} overwrites {target} by {store.value} before it is read")
    for store in loop.stores:
        memory.write(store.value, store.onto or store.over, where)


def _outer_reads(expr: Expr, local: set[str], memory: _Memory, where: str) -> list[Read]:
    found = [r for r in reads(expr) if r.value not in local]
    for r in found:
        memory.read(r.value, where)
        if len(r.at) != memory.rank(r.value):
            raise ProgramFault(f"{where} reads {r.value} with {len(r.at)} indices")
    return found
