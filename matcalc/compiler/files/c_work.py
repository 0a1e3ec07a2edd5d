"""The workspace that a function of C needs, as an integer expression of the lengths and integers that it takes.

All arrays that a function makes are counted, whichever branch runs, and the most that one of its callees needs: an
upper bound. A length that depends on data is bounded by `at_most` of `words.toml`, or the function is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from matcalc.compiler.code.check import CASTS, FOLDS
from matcalc.compiler.code.code import (
    REST,
    ZERO,
    Array,
    Block,
    Call,
    Empty,
    Expr,
    For,
    Function,
    If,
    Length,
    Let,
    Load,
    Name,
    Number,
    Op,
    Part,
    View,
    While,
    parts,
    within,
)
from matcalc.compiler.code.print_python import expression
from matcalc.compiler.code.read_python import expression_of
from matcalc.compiler.files.c_expressions import Spelled, structure
from matcalc.compiler.files.c_words import WORD, load_c_words
from matcalc.compiler.kernels.native_kinds import Kind
from matcalc.errors import NotSupported

SIGNS = {"+": " + ", "*": "*", "<<": " << "}
Atom = tuple[int, int]
"""An argument, by number, and its axis; -1 for an integer."""


class Callee(Protocol):
    """A function that takes workspace."""

    name_in_c: str

    @property
    def workspace(self) -> Workspace | None: ...


class Workspace:
    """The workspace of a function: `text` is the number of its entries, `needs` what it depends on."""

    def __init__(
        self,
        function: Function,
        kinds: Sequence[Kind],
        spelling: Mapping[str, str],
        constant: Callable[[str], Spelled | None],
        calls: Sequence[tuple[Callee, Call]],
    ) -> None:
        self.function, self.kinds, self.spelling, self.constant = function, kinds, spelling, constant
        self.parameters = [name for name, _ in function.parameters]
        self.words = load_c_words()
        self.bounds = self.words.at_most.get(function.name, {})
        self.values: dict[str, list[Expr]] = {}
        self.moved: set[str] = set()
        for part in within(function.body):
            if isinstance(part, For) or (isinstance(part, Let) and (part.op or isinstance(part.value, Part))):
                self.moved.add(part.name)
            elif isinstance(part, Let):
                self.values.setdefault(part.name, []).append(part.value)
        self.needs: dict[Atom, str] = {}
        terms = []
        for times, made in self._made(function.body, 1):
            entries = self._entries(made)
            terms.append(entries if times == 1 else f"{times}*({entries})")
        called = list(dict.fromkeys(self._of_call(callee, call) for callee, call in calls))
        most = ""
        for text in called:
            most = f"most({most}, {text})" if most else text
        self.text = " + ".join([*terms, *([most] if most else [])])
        used = set(WORD.findall(self.text))
        self.needs = {atom: text for atom, text in self.needs.items() if text in used}

    @property
    def ordered(self) -> list[Atom]:
        return sorted(self.needs)

    def definition(self, name: str) -> str:
        """Return the function of C that returns the entries of workspace."""
        parameters = ", ".join(f"int64_t {self.needs[atom]}" for atom in self.ordered) or "void"
        return f"static int64_t {name}_work({parameters})\n{{\n    return {self.text};\n}}"

    def _made(self, block: Block, times: int) -> Iterator[tuple[int, Empty | Array]]:
        """Yield the arrays that a block makes, and how often: in a loop, the number of rounds that it states."""
        for statement in block:
            if isinstance(statement, For | While):
                inner = [*self._made(statement.body, 1)]
                if inner:
                    rounds = self._rounds(statement)
                    yield from ((times * rounds * count, made) for count, made in inner)
            elif isinstance(statement, If):
                yield from self._made((*statement.body, *statement.orelse), times)
            else:
                made = (part for part in within(parts(statement)) if isinstance(part, Empty | Array))
                yield from ((times, part) for part in made)

    def _rounds(self, loop: For | While) -> int:
        if isinstance(loop, While):
            raise self.unbounded(loop.test)
        if not isinstance(loop.stop, Number) or loop.start not in (None, ZERO) or loop.step is not None:
            raise self.unbounded(loop.stop)
        return int(loop.stop.value)

    def _entries(self, made: Empty | Array) -> str:
        if isinstance(made, Array):
            return str(len(made.entries))
        text = "*".join(map(_tight, self.lengths(made.shape)))
        return f"{text}/2 + 1" if made.number == "int32" else text

    def _of_call(self, callee: Callee, call: Call) -> str:
        assert callee.workspace is not None
        given = []
        for place, axis in callee.workspace.ordered:
            arg = call.args[place]
            given.append(self.number(arg) if axis < 0 else self.axes(arg)[axis])
        return f"{callee.name_in_c}_work({', '.join(given)})"

    # ---- numbers

    def unbounded(self, expr: Expr) -> NotSupported:
        return NotSupported(
            f"{self.function.name} has no form for the target c: its workspace depends on data ({expression(expr)})"
        )

    def number(self, expr: Expr) -> str:
        """Return an integer expression of the arguments."""
        if isinstance(expr, Name):
            return self._named(expr)
        if isinstance(expr, Number) and float(expr.value).is_integer():
            return str(int(expr.value))
        if isinstance(expr, Op):
            return self._op(expr)
        if isinstance(expr, Call) and expr.function in FOLDS and len(expr.args) > 1:
            text = self.number(expr.args[0])
            for other in expr.args[1:]:
                text = f"{self.words.folds[expr.function]}({text}, {self.number(other)})"
            return text
        if isinstance(expr, Call) and expr.function in CASTS:
            return self.number(expr.args[0])
        if isinstance(expr, Length) and expr.axis is not None:
            return self.axes(expr.array)[expr.axis]
        raise self.unbounded(expr)

    def _named(self, expr: Name) -> str:
        name = expr.name
        if name in self.bounds:
            return self.number(expression_of(self.bounds[name]))
        if name in self.moved:
            raise self.unbounded(expr)
        values = self.values.get(name, [])
        if name in self.parameters and not values:
            return self._atom(self.parameters.index(name), -1, name)
        found = None if values else self.constant(name)
        if found is not None:
            return found.text
        texts = {self.number(value) for value in self._values(expr, values)}
        if len(texts) != 1 or name in self.parameters:
            raise self.unbounded(expr)
        return texts.pop()

    def _values(self, expr: Name, values: Sequence[Expr]) -> Sequence[Expr]:
        """Return the values of a name, none of which depends on the name."""
        if not values or any(isinstance(part, Name) and part.name == expr.name for part in within(values)):
            raise self.unbounded(expr)
        return values

    def _op(self, expr: Op) -> str:
        op, args = expr.op, expr.args
        if op == "if":
            return f"most({self.number(args[1])}, {self.number(args[2])})"
        if len(args) == 1:
            raise self.unbounded(expr)
        if op == "-" and not any(isinstance(part, Op) and part.op == "if" for part in within((args[1],))):
            return f"({self.number(args[0])} - {_tight(self.number(args[1]))})"
        if op == "//":
            return f"quotient({self.number(args[0])}, {self.number(args[1])})"
        if op not in SIGNS:
            raise self.unbounded(expr)
        one, other = (_tight(self.number(arg)) for arg in args)
        return f"((int64_t){one} << {other})" if op == "<<" else f"{one}{SIGNS[op]}{other}"

    def _atom(self, place: int, axis: int, name: str) -> str:
        text = self.spelling[name] if axis < 0 else f"{self.spelling[name]}_{axis}"
        self.needs[place, axis] = text
        return text

    # ---- shapes

    def lengths(self, shape: Sequence[Expr]) -> list[str]:
        """Return the lengths of a shape."""
        if len(shape) == 1 and isinstance(shape[0], Length) and shape[0].axis is None:
            return self.axes(shape[0].array)
        return [*map(self.number, shape)]

    def axes(self, expr: Expr) -> list[str]:
        """Return the lengths of an array."""
        if isinstance(expr, Name):
            return self._axes_of(expr)
        if isinstance(expr, Empty):
            return self.lengths(expr.shape)
        if isinstance(expr, Array):
            return [str(len(expr.entries))]
        if isinstance(expr, View):
            return self._axes_of_view(expr)
        if isinstance(expr, Op) and expr.op == "if":
            pairs = zip(self.axes(expr.args[1]), self.axes(expr.args[2]), strict=True)
            return [f"most({one}, {other})" for one, other in pairs]
        if isinstance(expr, Load):
            return self.axes(expr.array)[len(expr.at) :]
        raise self.unbounded(expr)

    def _axes_of_view(self, expr: View) -> list[str]:
        if expr.shape and expr.shape != REST:
            return self.lengths(expr.shape)
        axes = self.axes(expr.array)
        if expr.start is not None and expr.stop is not None:
            count = self.number(expr.stop)
            count = count if expr.start == ZERO else f"({count} - {_tight(self.number(expr.start))})"
            axes = [count, *axes[1:]]
        return ["*".join(map(_tight, axes))] if expr.shape else axes

    def _axes_of(self, expr: Name) -> list[str]:
        name, values = expr.name, self.values.get(expr.name, [])
        if name in self.parameters and not values:
            place = self.parameters.index(name)
            return [self._atom(place, axis, name) for axis in range(self.kinds[place].rank)]
        constant = None if values else self.constant(name)
        if constant is not None:
            return [length.text for length in structure(constant.text, constant.kind).lengths]
        found = [self.axes(value) for value in self._values(expr, values)]
        if any(other != found[0] for other in found):
            raise self.unbounded(expr)
        return found[0]


def _tight(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() or (text.endswith(")") and text[:1] != "(") else f"({text})"
