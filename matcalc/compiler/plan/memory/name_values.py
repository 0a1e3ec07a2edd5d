"""Names the buffers of a Program and the entries that its loops compute, and writes the comments of its steps.

A value takes the user's name for it, or the short name of its formula (`language/short_names`). The result of a
factorisation is named after its operand and its kernel's word for it (`K_lu`). An entry in a loop is named after its
array and the axes (`K_ij`). A buffer with several values has a name (a view) for each: no two values share one.
Values without a short name are `r1` (an array), `s1` (a number) or `v1` (an entry). Buffers of outputs have the names
of the outputs; unnamed values that become part of an output share its name. Names change no step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from matcalc.compiler.plan.memory.write_comments import with_comments
from matcalc.compiler.plan.values.describe import Describer
from matcalc.compiler.plan.values.values import Graph, Run
from matcalc.compiler.program import Buffer, Call, Loop, Program, Step, View, called_words, values_written, walk
from matcalc.compiler.verify.order import verify
from matcalc.language.identifiers import WORDS

NEUTRAL = {"temporary": "r", "scalar": "s", "view": "x"}
"""Prefixes of names for buffers that hold no named value."""
NEUTRAL_NAME = re.compile(r"[rs]\d+")


def name_values(program: Program, graph: Graph, describe: Describer) -> Program:
    """Return the Program with comments and named values."""
    later = dict(_additions(program.steps))
    program = replace(program, steps=with_comments(program.steps, graph, describe, later))
    fixed = {b.name for b in program.buffers if b.role not in NEUTRAL}
    sizes = {source.name for source in program.sources}
    functions = WORDS | called_words(program)
    taken = {*fixed, *program.size_args, *sizes, *graph.reserved, *graph.axes, *graph.batch_axes}
    naming = _Naming(program, graph, describe, taken, functions)
    naming.name_memory()
    naming.name_views()
    steps = naming.steps()
    buffer_of = naming.buffer_names()
    called = dict(naming.entries(steps, buffer_of))
    return verify(replace(program, buffers=tuple(naming.buffers), buffer_of=buffer_of, steps=steps, called=called))


def words_of(graph: Graph, describe: Describer) -> dict[str, str]:
    """Return the short names of values."""
    words: dict[str, str] = {}
    for item in graph.items:
        if isinstance(item, Run):
            _name_results(item, words, describe)
        else:
            words[item.name] = item.name if item.kind in ("input", "constant") else describe.short(item.comment)
    return {value: word for value, word in words.items() if word}


def _name_results(run: Run, words: dict[str, str], describe: Describer) -> None:
    """Name the results of a kernel; if it adds to an array, its comment describes only the summand."""
    if run.onto is not None:
        return
    if run.kernel.blocks is not None or run.kernel.joins:
        words.update((value.name, describe.short(value.comment)) for _, value in run.results)
        return
    if run.kernel.loop is not None:
        words.update((value.name, run.kernel.called[field]) for field, value in run.results)
        return
    if len(run.results) == 1 and not isinstance(run.comment, str):
        words[run.results[0][1].name] = describe.short(run.comment)
        return
    of = words.get(run.operands[0].value.name, "") if run.operands and not run.operands[0].lead else ""
    for field, value in run.results:
        called = run.kernel.called.get(field, field if len(run.results) > 1 else run.kernel.name)
        words[value.name] = f"{of}_{called}" if of else called


class _Naming:
    def __init__(
        self, program: Program, graph: Graph, describe: Describer, taken: set[str], functions: frozenset[str]
    ) -> None:
        self.program = program
        self.values = graph.values
        self.words = words_of(graph, describe)
        self.describe = describe
        self.taken = taken
        self.functions = functions
        self.table = program.table
        self.seen: dict[str, str] = {}  # names of views by which values are written and read, by value
        self.new: dict[str, str] = {}  # names of buffers, by old name
        self.aliases: dict[str, View] = {}  # views by the first value that is written to them
        self.buffers = [b for b in program.buffers if b.role not in NEUTRAL]
        self.later = {same: value for value, same in program.same.items() if self._is_copy(value, same)}
        self.later |= dict(_additions(program.steps))
        self.order = list(dict.fromkeys(v for step in walk(program.steps) for v in values_written(step)))

    def _is_copy(self, value: str, of: str) -> bool:
        return value in self.words and self.program.buffer_of.get(value) == self.program.buffer_of.get(of)

    def word(self, value: str) -> str:
        return self.words.get(self.base(value), "")

    def base(self, value: str) -> str:
        """Return the value that results when others are added to this one or written over it."""
        while value in self.later:
            value = self.later[value]
        return value

    def fresh(self, word: str) -> str:
        """Return a free name that begins with a word."""
        first = [] if word in self.functions else [word]
        numbered = (f"{word}_{k}" for k in count(len(first) + 1))
        name = next(n for n in chain(first, numbered) if n not in self.taken)
        self.taken.add(name)
        return name

    def neutral(self, prefix: str) -> str:
        name = next(n for k in count(1) if (n := f"{prefix}{k}") not in self.taken)
        self.taken.add(name)
        return name

    def comment(self, value: str) -> str:
        """Return the comment on a view of a buffer under another name."""
        text = self.describe(self.values[self.base(value)].comment)
        return f"for {text}" if text else ""

    # ---- memory

    def name_memory(self) -> None:
        """Name buffers after the first value that they hold, and add named views for later values."""
        held: dict[str, dict[str, list[str]]] = {}
        for value in self.order:
            held.setdefault(self.program.buffer_of[value], {}).setdefault(self.base(value), []).append(value)
        viewed = {step.of for step in walk(self.program.steps) if isinstance(step, View)}
        owned = {buffer: self._owner(buffer, values, buffer in viewed) for buffer, values in held.items()}
        buffers = [b for b in self.program.buffers if b.role in ("temporary", "scalar")]
        for buffer in sorted(buffers, key=lambda b: self.order.index(next(iter(held[b.name].values()))[0])):
            self._name(buffer, self.word(owned[buffer.name]))
        for base in dict.fromkeys(map(self.base, self.order)):
            buffer = self.table[self.program.buffer_of[base]]
            if buffer.shape and buffer.role != "view" and base != owned[buffer.name]:
                self._alias(buffer, held[buffer.name][base])

    def _owner(self, buffer: str, values: Mapping[str, list[str]], is_viewed: bool) -> str:
        """Return the value that a buffer is named after; empty if views would show other values under that name."""
        if self.table[buffer].role == "output":
            return self.base(self.program.results[buffer])
        return next(iter(values)) if len(values) == 1 or not is_viewed else ""

    def _name(self, buffer: Buffer, word: str) -> None:
        self.new[buffer.name] = self.fresh(word) if word else self.neutral(NEUTRAL[buffer.role])
        self.buffers.append(replace(buffer, name=self.new[buffer.name]))

    def _alias(self, buffer: Buffer, versions: Sequence[str]) -> None:
        """Add a named view for a later value of a buffer; neutral names may be shared by several values."""
        word, of = self.word(versions[0]), self.new.get(buffer.name, buffer.name)
        if not word and (buffer.role == "output" or NEUTRAL_NAME.fullmatch(of)):
            return
        name = self.fresh(word) if word else self.neutral(NEUTRAL["temporary"])
        self.buffers.append(replace(buffer, name=name, role="view"))
        self.aliases[versions[0]] = View(name, of, comment=self.comment(versions[-1]))
        self.seen.update(dict.fromkeys(versions, name))

    def name_views(self) -> None:
        """Name other shapes of buffers after the value that is written there, or after the buffer."""
        for step in walk(self.program.steps):
            if not isinstance(step, View):
                continue
            own = {self.base(v): self.word(v) for v in self.order if self.program.buffer_of[v] == step.buffer}
            word = next(iter(own.values())) if len(own) == 1 else ""
            of = self.new.get(step.of, step.of)
            shown = f"{of}_part" if step.start is not None else f"{of}_view"
            self.new[step.buffer] = self.fresh(word or shown)
            self.buffers.append(replace(self.table[step.buffer], name=self.new[step.buffer]))

    def buffer_names(self) -> dict[str, str]:
        """Return the name of the buffer or view by which each value is written and read."""
        renamed = {value: self.new.get(memory, memory) for value, memory in self.program.buffer_of.items()}
        return renamed | self.seen

    # ---- steps

    def steps(self) -> tuple[Step, ...]:
        """Return the steps, each view before the first step that writes through it."""
        made: list[Step] = []
        for step in self.program.steps:
            if isinstance(step, View):
                made.append(replace(step, buffer=self.new[step.buffer], of=self.new.get(step.of, step.of)))
                continue
            written = [v for inner in walk([step]) for v in values_written(inner)]
            made += [self.aliases.pop(v) for v in written if v in self.aliases]
            made.append(step)
        return tuple(made)

    def entries(self, steps: Sequence[Step], buffer_names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Yield the names of entries that loops compute as numbers."""
        results = {value: name for name, value in self.program.results.items()}
        named: set[str] = set()  # several loops may compute a value
        for loop in (step for step in walk(steps) if isinstance(step, Loop)):
            axes = [axis for axis, _ in loop.axes]
            for let in loop.lets:
                word = results.get(let.value) or self.word(let.value)
                if word and let.value not in named:
                    named.add(let.value)
                    yield let.value, self.fresh(_entry(word, axes or ["entry"] * (let.value in results)))
            for store in loop.sums:
                at = [axis for axis in store.at if isinstance(axis, str)]
                yield store.value, self.fresh(_entry(buffer_names[store.value], at or ["sum"]))


def _additions(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a value and the value that results when something is added to it or written over it."""
    for step in walk(steps):
        if isinstance(step, Call) and step.onto:
            yield step.onto, step.results[0][1].value
        for store in step.stores if isinstance(step, Loop) else ():
            if store.onto or store.over:
                yield store.onto or store.over, store.value


def _entry(name: str, axes: Sequence[str]) -> str:
    """Return a name for an entry, as `K_ij`."""
    ending = ("" if all(len(axis) == 1 for axis in axes) else "_").join(axes)
    return f"{name}_{ending}" if axes else name
