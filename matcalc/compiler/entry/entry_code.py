"""The way from a call in Python to machine code: the text of the function that stands in the call slot.

It does what the quick entry of `module_text.py` does, and is read from the same lines: it looks at each argument where
it is (see `array_layout.py`), compares sizes, takes results through NumPy or those of `out=`, calls, and nests results.
Whatever is not exact (another type or layout, an unknown keyword, a wrong size, a fault) is for the slow way in Python,
which converts or says what is wrong: here nothing raises by itself. Names do not occur, so that all functions of the
same shapes share one entry. Integers that are too large for 64 bits go the slow way too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from llvmlite import ir

from matcalc.compiler.entry.call_slot import EXACT, start_of
from matcalc.compiler.entry.entry_calls import KINDS, Calls, Given
from matcalc.compiler.entry.entry_sizes import ReadSizes, Sizes, read
from matcalc.compiler.entry.entry_words import BIT, INT, POINTER, REAL, WORD, Words
from matcalc.compiler.machine.array_layout import WRITABLE, Array, Object
from matcalc.compiler.machine.machine_code import ENTRY, MachineCode, cached_code, machine_code
from matcalc.compiler.spec.spec import CompiledSpec, Nesting
from matcalc.store import artefacts


def has_entry(spec: CompiledSpec) -> bool:
    """Whether the sizes of a function follow from single axes, one after the other."""
    return read(spec) is not None


def refusal() -> str:
    """Return the assembly of a function that Python calls, and that raises TypeError: this code has another way in."""
    words = Words(ENTRY, 0)
    words.builder.branch(words.slow)
    words.builder.position_at_end(words.slow)
    words.calls("PyErr_SetNone", ir.VoidType(), words.symbol("TypeError"))
    words.builder.ret(POINTER(None))
    return str(words.module)


class Taken(NamedTuple):
    """An argument of a plain entry: its type, its rank, whether it is written."""

    dtype: str
    rank: int
    is_result: bool = False


def exact_entry(taken: Sequence[Taken]) -> MachineCode:
    """Return a plain entry: exact arguments, results among them, in; an int, the status, out."""
    assert EXACT is not None
    return _kept(_Exact, start_of(EXACT), tuple(taken))


def exact_entry_of(spec: CompiledSpec) -> MachineCode:
    """Return the plain entry of a function."""
    given = [Taken(operand.dtype, len(operand.shape)) for operand in spec.arguments]
    sizes = [Taken("int64", 0)] * len(spec.sizes)
    results = [Taken(operand.memory, max(1, len(operand.shape)), True) for operand in spec.outputs]
    return exact_entry([*given, *sizes, *results])


def entry(spec: CompiledSpec, kind: type) -> MachineCode | None:
    """Return the entry of a function in objects of a class with a call slot; None where there is none.

    Which it is follows from types, ranks, sizes and nesting: for those that were met before nothing is written anew.
    """
    found = read(spec)
    if found is None:
        return None
    given = tuple(Taken(operand.dtype, len(operand.shape)) for operand in spec.arguments)
    blank = tuple(operand.zero_filled for operand in spec.outputs)
    return _kept(_Entry, start_of(kind), found, given, spec.nesting, blank)


def _kept(kind: type[_Entry] | type[_Exact], *parts: Any) -> MachineCode:
    """Return the code of an entry, which is written anew where none of these parts was met before."""
    inputs = [kind.__name__, parts]
    digest = artefacts.read("entry_of", inputs)
    code = None if digest is None else cached_code(digest)
    if code is None:
        code = machine_code(kind(*parts).text())
        artefacts.write("entry_of", inputs, code.digest)
    return code


class _Entry(Sizes, Calls):
    """The function as it is written."""

    def __init__(
        self, start: int, read: ReadSizes, given: Sequence[Taken], nesting: Nesting, blank: Sequence[bool]
    ) -> None:
        super().__init__(ENTRY, start, read)
        self.given, self.nesting, self.blank = given, nesting, blank
        self.count = len(given) + len(read.asked)

    def text(self) -> str:
        self.results = self.local(POINTER, max(1, len(self.read.shapes)))
        self.reals = self.local(REAL, max(1, len(self.read.shapes)))
        for k in range(len(self.read.shapes)):
            self.put(self.results, k, POINTER(None))
        self.found = self.local(POINTER, self.count + 1)
        base, out = self.gathered()
        inputs = self.inputs(base)
        self.read_sizes({f"a{k}": given.shape for k, given in enumerate(inputs) if isinstance(given, Given)})
        self.call(inputs, out)
        self.write_slow()
        return str(self.module)

    # --- arguments ---

    def gathered(self) -> tuple[Any, Any]:
        """Return the table of arguments in order, and what is given as `out`, nothing else."""
        builder = self.builder
        given = self.field("given", POINTER.as_pointer())
        plain = builder.and_(self.same(given, given.type(None)), self.same(self.keywords, POINTER(None)))
        quick, named = self.branch(builder.and_(plain, self.same(self.positional, WORD(self.count))))
        ready = self.function.append_basic_block("ready")
        builder.position_at_end(quick)
        builder.branch(ready)
        builder.position_at_end(named)
        self.gather(given)
        out = self.at(self.found, self.count)
        out = builder.select(self.same(out, self.symbol("None")), POINTER(None), out)
        last = builder.block
        builder.branch(ready)
        builder.position_at_end(ready)
        base, place = builder.phi(POINTER.as_pointer()), builder.phi(POINTER)
        base.add_incoming(self.args, quick)
        base.add_incoming(self.found, last)
        place.add_incoming(POINTER(None), quick)
        place.add_incoming(out, last)
        return base, place

    def gather(self, given: Any) -> None:
        """Fill the table: what is fixed, then what is given in order, then by name."""
        builder = self.builder
        taken = self.local_word(0)
        is_bound = builder.icmp_unsigned("!=", given, given.type(None))
        for k in range(self.count + 1):
            self.put(self.found, k, POINTER(None))
            bound, after = self.branch(is_bound)
            builder.position_at_end(bound)
            if k < self.count:
                self.put(self.found, k, self.at(given, k))
            builder.branch(after)
            builder.position_at_end(after)
            if k == self.count:
                break
            number = builder.load(taken)
            is_free = self.same(self.at(self.found, k), POINTER(None))
            free, after = self.branch(builder.and_(is_free, builder.icmp_unsigned("<", number, self.positional)))
            builder.position_at_end(free)
            self.put(self.found, k, self.at(self.args, number))
            builder.store(builder.add(number, WORD(1)), taken)
            builder.branch(after)
            builder.position_at_end(after)
        self.need(self.same(builder.load(taken), self.positional))
        has_names, after = self.branch(builder.icmp_unsigned("!=", self.keywords, POINTER(None)))
        builder.position_at_end(has_names)
        self.gather_named(after)
        builder.position_at_end(after)
        self.need(*(builder.not_(self.same(self.at(self.found, k), POINTER(None))) for k in range(self.count)), BIT(1))

    def gather_named(self, after: Any) -> None:
        builder = self.builder
        names = self.field("names", POINTER.as_pointer())
        count = self.calls("PyTuple_Size", WORD, self.keywords)
        with self.each(0, count) as at:
            self.gather_one(names, at)
        builder.branch(after)

    def gather_one(self, names: Any, at: Any) -> None:
        """Put the argument that is given by the name at a place into the table."""
        builder, known = self.builder, self.function.append_basic_block("known")
        name = self.calls("PyTuple_GetItem", POINTER, self.keywords, at)
        for k in range(self.count + 1):
            here, other = self.branch(self.same(name, self.at(names, k)))
            builder.position_at_end(here)
            self.need(self.same(self.at(self.found, k), POINTER(None)))
            self.put(self.found, k, self.at(self.args, builder.add(self.positional, at)))
            builder.branch(known)
            builder.position_at_end(other)
        builder.branch(self.slow)
        builder.position_at_end(known)

    def inputs(self, base: Any) -> list[Any]:
        made: list[Any] = []
        for k, operand in enumerate(self.given):
            thing = self.at(base, k)
            if operand.rank:
                made.append(self.array(thing, operand.rank, operand.dtype))
            else:
                made.append(self.real(thing) if operand.dtype == "float64" else self.integer(thing))
        for k, name in enumerate(self.read.asked, len(self.given)):
            self.sizes[name] = self.integer(self.at(base, k))
            made.append(self.sizes[name])
        return made

    # --- results ---

    def call(self, inputs: Sequence[Any], out: Any) -> None:
        builder = self.builder
        fresh, given = self.branch(self.same(out, POINTER(None)))
        run = self.function.append_basic_block("run")
        self.failed = self.function.append_basic_block("failed")
        kinds = [KINDS["float64"].as_pointer()] * len(self.read.shapes)
        builder.position_at_end(fresh)
        first = self.made()
        first_block = builder.block
        builder.branch(run)
        builder.position_at_end(given)
        second = self.taken(inputs, out)
        second_block = builder.block
        builder.branch(run)
        builder.position_at_end(run)
        places = []
        for kind, one, other in zip(kinds, first, second, strict=True):
            place = builder.phi(kind)
            place.add_incoming(one, first_block)
            place.add_incoming(other, second_block)
            places.append(place)
        results = [
            Given(place, shape or [WORD(1)], entries)
            for place, shape, entries in zip(places, self.wanted, self.entries, strict=True)
        ]
        raised, status, _ = self.run([*inputs, *results])
        self.need(self.same(raised, INT(0)), self.same(status, WORD(0)), other=self.failed)
        self.give_back()
        builder.position_at_end(self.failed)
        self.drop()
        builder.branch(self.slow)

    def made(self) -> list[Any]:
        """Return the data of new results."""
        places = []
        for k, shape in enumerate(self.wanted):
            if not shape:
                places.append(self.builder.gep(self.reals, [WORD(k)]))
                continue
            lengths = self.local(WORD, len(shape))
            for axis, length in enumerate(shape):
                self.put(lengths, axis, length)
            kind = self.symbol("float64")
            self.calls("Py_IncRef", ir.VoidType(), kind)
            make = "blank" if self.blank[k] else "empty"
            array = self.calls(make, POINTER, INT(len(shape)), lengths, kind, INT(0))
            self.put(self.results, k, array)
            self.no_error(array)
            places.append(self.part(array, Array.data, REAL.as_pointer()))
        return places

    def no_error(self, made: Any) -> None:
        """Where there is no memory the slow way says so."""
        builder = self.builder
        none, fine = self.branch(self.same(made, POINTER(None)))
        builder.position_at_end(none)
        self.calls("PyErr_Clear", ir.VoidType())
        builder.branch(self.failed)
        builder.position_at_end(fine)

    def taken(self, inputs: Sequence[Any], out: Any) -> list[Any]:
        """Return the data of the arrays that results are to be written into."""
        things: dict[int, Any] = {}
        self.unnest(self.nesting, out, things)
        known = [given for given in inputs if isinstance(given, Given)]
        places = []
        for k, shape in enumerate(self.wanted):
            if not shape:
                self.need(self.same(things[k], self.symbol("None")), other=self.failed)
                places.append(self.builder.gep(self.reals, [WORD(k)]))
                continue
            given = self.array(things[k], len(shape), flags=WRITABLE)
            self.need(*(self.same(a, b) for a, b in zip(given.shape, shape, strict=True)))
            known.append(given)
            places.append(given.data)
        self.need_apart(known, sum(isinstance(given, Given) for given in inputs))
        for k, shape in enumerate(self.wanted):
            if shape:
                self.calls("Py_IncRef", ir.VoidType(), things[k])
                self.put(self.results, k, things[k])
            if self.blank[k]:
                self.clear(places[k], self.entries[k])
        return places

    def unnest(self, nesting: Nesting, thing: Any, found: dict[int, Any]) -> None:
        if isinstance(nesting, int):
            found[nesting] = thing
            return
        self.need(self.same(self.part(thing, Object.kind, POINTER), self.symbol("tuple")))
        self.need(self.same(self.calls("PyTuple_Size", WORD, thing), WORD(len(nesting))))
        for k, part in enumerate(nesting):
            self.unnest(part, self.calls("PyTuple_GetItem", POINTER, thing, WORD(k)), found)

    def need_apart(self, arrays: Sequence[Given], first: int) -> None:
        """Go on only where each array from the `first` on shares no memory with those before it.

        In loops: of a hundred results and as many arguments there are too many pairs to write.
        """
        builder, count = self.builder, max(1, len(arrays))
        starts, ends = self.local(WORD, count), self.local(WORD, count)
        for k, given in enumerate(arrays):
            self.put(starts, k, builder.ptrtoint(given.data, WORD))
            self.put(ends, k, builder.ptrtoint(builder.gep(given.data, [given.entries]), WORD))
        with self.each(first, WORD(len(arrays))) as k, self.each(0, k) as other:
            one, another = ((self.at(starts, at), self.at(ends, at)) for at in (k, other))
            before = [builder.icmp_unsigned("<=", a[1], b[0]) for a, b in ((one, another), (another, one))]
            empty = [self.same(*part) for part in (one, another)]
            self.need(reduce(builder.or_, [*before, *empty]))

    def give_back(self) -> None:
        """Return floats and arrays, nested; tuples are made before any is filled, since making them can fail."""
        builder = self.builder
        for k, shape in enumerate(self.wanted):
            if not shape:
                value = builder.load(builder.gep(self.reals, [WORD(k)]))
                number = self.calls("PyFloat_FromDouble", POINTER, value)
                self.put(self.results, k, number)
                self.no_error(number)
        if isinstance(self.nesting, int):
            builder.ret(self.at(self.results, self.nesting))
            return
        rows: list[tuple[Any, list[Any]]] = []
        whole = self.new_tuples(self.nesting, rows)
        for row, parts in rows:
            for k, part in enumerate(parts):
                thing = self.at(self.results, part) if isinstance(part, int) else part
                self.calls("PyTuple_SetItem", INT, row, WORD(k), thing)
        builder.ret(whole)

    def new_tuples(self, nesting: Sequence[Nesting], rows: list[tuple[Any, list[Any]]]) -> Any:
        row = self.calls("PyTuple_New", POINTER, WORD(len(nesting)))
        self.no_error(row)
        parts = [part if isinstance(part, int) else self.new_tuples(part, rows) for part in nesting]
        rows.append((row, parts))
        return row

    def drop(self) -> None:
        for k in range(len(self.read.shapes)):
            self.calls("Py_DecRef", ir.VoidType(), self.at(self.results, k))


class _Exact(Calls):
    """The plain entry as it is written; an exception of Numba goes the slow way, as the address of what tells of it."""

    def __init__(self, start: int, taken: Sequence[Taken]) -> None:
        super().__init__(ENTRY, start)
        self.arguments = taken

    def text(self) -> str:
        builder = self.builder
        self.need(
            self.same(self.positional, WORD(len(self.arguments))),
            self.same(self.keywords, POINTER(None)),
        )
        inputs = [self.one(self.at(self.args, k), kind) for k, kind in enumerate(self.arguments)]
        raised, status, fault = self.run(inputs)
        fine, failed = self.branch(self.same(raised, INT(0)))
        builder.position_at_end(fine)
        builder.ret(self.calls("PyLong_FromLongLong", POINTER, status))
        builder.position_at_end(failed)
        address = self.calls("PyLong_FromLongLong", POINTER, builder.ptrtoint(fault, WORD))
        row = self.local(POINTER, 2)
        self.put(row, 0, self.self)
        self.put(row, 1, address)
        found = self.calls("PyObject_Vectorcall", POINTER, self.field("slow"), row, WORD(2), POINTER(None))
        self.calls("Py_DecRef", ir.VoidType(), address)
        builder.ret(found)
        self.write_slow()
        return str(self.module)

    def one(self, thing: Any, kind: Taken) -> Any:
        if kind.rank:
            return self.array(thing, kind.rank, kind.dtype, WRITABLE if kind.is_result else 0)
        return self.real(thing) if kind.dtype == "float64" else self.integer(thing)
