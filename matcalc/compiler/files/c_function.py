"""Prints a function of Code as a function of C, for given kinds of its arguments.

New arrays are parts of the workspace of the caller, which the function takes as its last argument.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from matcalc.compiler.code.check import FOLDS, Kinds
from matcalc.compiler.code.code import (
    ONE,
    ZERO,
    Array,
    Block,
    Call,
    Do,
    Empty,
    Expr,
    For,
    Function,
    If,
    Jump,
    Let,
    Load,
    Name,
    Number,
    Op,
    Return,
    Store,
    View,
    While,
    ends,
    within,
)
from matcalc.compiler.code.print_python import HEADS
from matcalc.compiler.files.c_expressions import OPERATORS, SUM, Expressions, Spelled, refused, structure
from matcalc.compiler.files.c_kinds import entry_word, word, zero
from matcalc.compiler.files.c_places import Place, Places
from matcalc.compiler.files.c_words import load_c_words
from matcalc.compiler.kernels.native_kinds import INTEGER, NOTHING, REAL, Kind
from matcalc.errors import NotSupported
from matcalc.language.identifiers import comment, free

INDENT = "    "
WIDTH = 108
COLUMN = 56
"""The column of comments."""


class Around(Protocol):
    """What surrounds a function: the constants and functions that it may use."""

    @property
    def takes_work(self) -> bool: ...

    def constant(self, name: str) -> Spelled | None: ...

    def call(self, expr: Call, args: Sequence[Spelled]) -> Spelled: ...


class Writer:
    """Writes the statements of a function; `kinds` are those of its names."""

    def __init__(self, function: Function, name: str, kinds: Kinds, around: Around) -> None:
        self.function, self.name_in_c, self.kinds, self.around = function, name, kinds, around
        self.places = Places(function)
        self.taken = load_c_words().reserved_for(self.places.names) | {name, *self.places.called}
        self.spelling = {name: free(name, self.taken) for name in self.places.names}
        self.made: Counter[str] = Counter()
        self.expressions = Expressions(self)
        self.text = self.expressions.text
        self.writers: Mapping[type, Callable[[Any, Place], list[str]]] = {
            Let: self._let,
            Store: self._store,
            Do: lambda do, _: [f"{self.text(do.call)};"],
            For: self._for,
            While: lambda loop, at: [f"while ({self.text(loop.test)}) {{", *self._inner(loop.body, (*at, 0)), "}"],
            If: self._if,
            Return: self._return,
            Jump: lambda jump, _: [f"{jump.word};"],
        }

    def lines(self) -> list[str]:
        """Return the lines of the function: its comment, head and body."""
        body = self._block(self.function.body, ())
        needs_end = self.result == INTEGER and not ends(self.function.body)
        above = boxed("\n".join(self.function.doc)) if self.function.doc else []
        inside = [*self._declarations(), *body, *(["return 0;"] if needs_end else [])]
        return [*above, wrapped(self.head), "{", *(INDENT + line for line in inside), "}"]

    @property
    def result(self) -> Kind:
        return result_of(self.function, self.kinds)

    @property
    def head(self) -> str:
        given = zip(self.places.given, self.kinds.kinds, strict=True)
        parameters = [f"{word(kind)} {self.spelling[name]}" for name, kind in given]
        parameters += ["double *work"] if self.around.takes_work else []
        return f"static {word(self.result)} {self.name_in_c}({', '.join(parameters) or 'void'})"

    # ---- names

    def name(self, name: str) -> Spelled:
        if name in self.spelling:
            return Spelled(self.spelling[name], self.kinds.names[name])
        found = self.around.constant(name)
        if found is None:
            raise NotSupported(f"{name} has no form for the target c")
        return found

    def call(self, expr: Call, args: Sequence[Spelled]) -> Spelled:
        return self.around.call(expr, args)

    def _fresh(self, name: str) -> str:
        self.made[name] += 1
        return free(f"{name}_{self.made[name]}", self.taken)

    def _declarations(self) -> list[str]:
        """Return the lines for the names that no statement declares, and for those that nothing reads."""
        kinds = ((name, self.kinds.names[name]) for name in self.places.at_top)
        lines = [f"{word(kind)} {self.spelling[name]} = {zero(kind)};" for name, kind in kinds]
        names = (*self.places.given, *self.places.at_top)
        return [*lines, *(f"(void){self.spelling[name]};" for name in names if name not in self.places.read)]

    # ---- statements

    def _block(self, block: Block, around: Place) -> list[str]:
        lines: list[str] = []
        for k, statement in enumerate(block):
            first, *rest = self.writers[type(statement)](statement, (*around, k)) or [""]
            lines += [_with_note(first, statement.note), *rest] if first else rest
        return lines

    def _inner(self, block: Block, around: Place) -> list[str]:
        return [INDENT + line for line in self._block(block, around)]

    def _let(self, let: Let, at: Place) -> list[str]:
        if let.op:
            return [self._onto(Name(let.name), let.op, let.value)]
        name, is_declared = self.spelling[let.name], self.places.declared.get(let.name) == at
        left = f"{word(self.kinds.names[let.name])} {name}" if is_declared else name
        unread = [f"(void){name};"] if is_declared and let.name not in self.places.read else []
        array = let.value.array if isinstance(let.value, View) and let.value.shape else let.value
        if isinstance(array, Empty):
            return [*self._made(left, name, array), *unread]
        if isinstance(array, Array):
            shape = let.value.shape if isinstance(let.value, View) else (Number(len(array.entries)),)
            return [*self._numbers(left, name, array, shape), *unread]
        return [f"{left} = {self.text(let.value)};", *unread]

    def _onto(self, target: Expr, op: str, value: Expr) -> str:
        left = self.expressions.spelled(target)
        if op in OPERATORS and (op != "/" or left.kind == REAL):
            return f"{left.text} {op}= {self.text(value)};"
        made = self.expressions.binary(Op(op, (target, value)), left, self.expressions.spelled(value))
        return f"{left.text} = {made.text};"

    def _made(self, left: str, name: str, made: Empty) -> list[str]:
        """Return the lines that take an array from the workspace."""
        lengths = self.expressions.lengths(made.shape)
        kind = Kind(made.number, len(lengths))
        cast = "" if made.number == "float64" else f"({entry_word(kind)} *)"
        entries = structure(name, kind).entries.text
        taken = f"{entries}/2 + 1" if made.number == "int32" else entries
        new = f"({word(kind)}){{{cast}work, {{{', '.join(length.text for length in lengths)}}}}}"
        return [f"{left} = {new};", f"work += {taken};"]

    def _numbers(self, left: str, name: str, array: Array, shape: Sequence[Expr]) -> list[str]:
        """Return the lines that make an array of numbers."""
        kind = Kind("float64", len(shape))
        new = f"({word(kind)}){{work, {{{', '.join(map(self.text, shape))}}}}}"
        entries = [f"{name}.at[{k}] = {self.text(entry)};" for k, entry in enumerate(array.entries)]
        return [f"{left} = {new};", f"work += {len(array.entries)};", *entries]

    def _store(self, store: Store, _: Place) -> list[str]:
        place = Load(store.array, store.at)
        if not store.at:
            raise NotSupported(f"the target c has no form of {HEADS[Store](store)}")
        if store.op:
            return [self._onto(place, store.op, store.value)]
        return [f"{self.text(place)} = {self.text(store.value)};"]

    def _if(self, choice: If, at: Place) -> list[str]:
        lines = [f"if ({self.text(choice.test)}) {{", *self._inner(choice.body, (*at, 0))]
        if len(choice.orelse) == 1 and isinstance(choice.orelse[0], If):
            first, *rest = self._block(choice.orelse, (*at, 1))
            return [*lines, f"}} else {first}", *rest]
        return [*lines, *(["} else {", *self._inner(choice.orelse, (*at, 1))] if choice.orelse else []), "}"]

    def _return(self, statement: Return, _: Place) -> list[str]:
        return ["return;" if self.result == NOTHING else f"return {self.text(statement.value)};"]

    def _for(self, loop: For, at: Place) -> list[str]:
        start = self.text(loop.start or ZERO)
        stop, step = self.expressions.spelled(loop.stop), self.expressions.spelled(loop.step or ONE)
        is_down, size = step.text.startswith("-"), step.text.lstrip("-")
        before, end, name = [], stop.at(SUM), self.spelling[loop.name]
        if _changes(loop.stop, loop):
            end = self._fresh("end")
            before = [f"const int64_t {end} = {stop.text};"]
        if loop.step is not None and _changes(loop.step, loop):
            raise refused(loop.step)
        is_own = loop.name in self.places.in_loops and loop.name not in _given(loop.body)
        counter = name if is_own else self._fresh("k")
        sign = "-" if is_down else "+"
        move = f"{counter}{sign * 2}" if size == "1" else f"{counter} {sign}= {size}"
        head = f"for (int64_t {counter} = {start}; {counter} {'>' if is_down else '<'} {end}; {move}) {{"
        declared = "int64_t " if loop.name in self.places.in_loops else ""
        copy = [] if is_own else [f"{INDENT}{declared}{name} = {counter};"]
        return [*before, head, *copy, *self._inner(loop.body, (*at, 0)), "}"]


def result_of(function: Function, kinds: Kinds) -> Kind:
    """Return the kind of a function's result: the one that it states, else the widest of its values."""
    return function.result or kinds.result or NOTHING


def _given(block: Block) -> set[str]:
    """Return the names that a block gives values."""
    return {part.name for part in within(block) if isinstance(part, Let | For)}


def _changes(bound: Expr, loop: For) -> bool:
    """Whether the bound of a loop may have another value after a round: a loop computes its bounds once."""
    parts = [*within((bound,))]
    names = {part.name for part in parts if isinstance(part, Name)}
    reads = any(isinstance(part, Load) or (isinstance(part, Call) and part.function not in FOLDS) for part in parts)
    return bool(names & _given(loop.body)) or (reads and any(isinstance(p, Store | Do) for p in within(loop.body)))


# ---- the look of the text


def _with_note(line: str, note: str) -> str:
    """Return a line with a comment, if there is room for it."""
    room = WIDTH + 2 * INDENT.count(" ") - max(len(line), COLUMN)
    text = commented(comment(note)) if note else ""
    if not text or room < 16:
        return line
    return f"{line:<{COLUMN}}  /* {text if len(text) <= room else f'{text[: room - 3]}...'} */"


def commented(text: str) -> str:
    """Return text as it may stand in a comment of C."""
    return text.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?").replace("\\\n", "\\ \n")


def wrapped(text: str) -> str:
    """Return a statement or head of C on as many lines as it needs, broken at spaces."""
    inside = " " * (len(text) - len(text.lstrip()) + 4)
    whole = text.replace(" *", "\0*")  # a star stays with its type
    lines = textwrap.wrap(whole, WIDTH, subsequent_indent=inside, break_long_words=False, break_on_hyphens=False)
    if len(text) <= WIDTH:
        return text
    lines[0] = text[: len(text) - len(text.lstrip())] + lines[0].lstrip()
    return "\n".join(lines).replace("\0", " ")


def boxed(text: str) -> list[str]:
    """Return a comment of some lines."""
    lines = commented(text).strip("\n").splitlines()
    if len(lines) == 1:
        return [f"/* {lines[0]} */"]
    return [f"/* {lines[0]}", *(f"   {line}".rstrip() for line in lines[1:-1]), f"   {lines[-1]} */"]
