"""Expressions of the Numba sources in C, with their kinds.

The sources are a small part of Python: numbers, entries and shapes of arrays, calls. What else there is in a text is
refused, never guessed at. Integers divide as in Python, by helpers; `min` and `max` keep the first at NaN, as there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Protocol

from matcalc.compiler.files.c_kinds import DOUBLE, INTEGER, PAIR, Kind, joined
from matcalc.compiler.files.c_words import load_c_words
from matcalc.errors import NotSupported

Spelled = tuple[str, Kind, int]
"""The text of an expression, its kind, and how tightly it binds."""
TERNARY, OR, AND, BIT, EQUAL, ORDER, SHIFT, SUM, PRODUCT, UNARY, ATOM = range(1, 12)
OPERATORS: Mapping[type[ast.AST], tuple[str, int]] = {
    ast.Add: (" + ", SUM),
    ast.Sub: (" - ", SUM),
    ast.Mult: ("*", PRODUCT),
    ast.Div: ("/", PRODUCT),
    ast.LShift: (" << ", SHIFT),
    ast.RShift: (" >> ", SHIFT),
    ast.BitAnd: (" & ", BIT),
    ast.BitOr: (" | ", BIT),
    ast.BitXor: (" ^ ", BIT),
}
COMPARED: Mapping[type[ast.AST], tuple[str, int]] = {
    ast.Eq: (" == ", EQUAL),
    ast.NotEq: (" != ", EQUAL),
    ast.Lt: (" < ", ORDER),
    ast.LtE: (" <= ", ORDER),
    ast.Gt: (" > ", ORDER),
    ast.GtE: (" >= ", ORDER),
}
CASTS = {"float": DOUBLE, "float64": DOUBLE, "int": INTEGER, "int64": INTEGER}


class UnknownKindError(Exception):
    """The kind of a name is not known yet."""


class Surroundings(Protocol):
    """What an expression stands in: the names of a function, those of shapes, and what it may call."""

    shapes: Mapping[str, ast.expr]

    def name(self, word: str) -> Spelled: ...

    def call(self, name: str, args: list[Spelled], node: ast.Call) -> Spelled: ...

    def made(self, node: ast.Call) -> Spelled: ...


def refused(node: ast.AST) -> NotSupported:
    """Return the error that says which text has no form in C."""
    return NotSupported(f"the target c has no form of {ast.unparse(node)}")


class Expressions:
    """Writes expressions; `around` knows names and functions."""

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.words = load_c_words()
        self.writers: Mapping[type[ast.AST], Callable[..., Spelled]] = {
            ast.Constant: self._constant,
            ast.Name: lambda node: self.around.name(node.id),
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.BoolOp: self._both,
            ast.Compare: self._compare,
            ast.IfExp: self._choice,
            ast.Subscript: self._entry,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
        }

    def spelled(self, node: ast.expr) -> Spelled:
        writer = self.writers.get(type(node))
        if writer is None:
            raise refused(node)
        return writer(node)

    def text(self, node: ast.expr, level: int = 0) -> str:
        text, _, own = self.spelled(node)
        return text if own >= level else f"({text})"

    def _constant(self, node: ast.Constant) -> Spelled:
        value = node.value
        if isinstance(value, bool):
            return str(int(value)), INTEGER, ATOM
        if isinstance(value, int):
            return (str(value) if abs(value) < 2**31 else f"INT64_C({value})"), INTEGER, ATOM
        if isinstance(value, float):
            return repr(value), DOUBLE, ATOM
        raise refused(node)

    def _unary(self, node: ast.UnaryOp) -> Spelled:
        text, kind, own = self.spelled(node.operand)
        text = text if own > UNARY else f"({text})"
        if isinstance(node.op, ast.Not):
            return f"!{text}", INTEGER, UNARY
        if isinstance(node.op, ast.USub):
            return f"-{text}", kind, UNARY
        raise refused(node)

    def _binary(self, node: ast.BinOp) -> Spelled:
        left, right = self.spelled(node.left), self.spelled(node.right)
        if left[1].rank or right[1].rank:
            raise refused(node)
        kind = joined(left[1], right[1])
        whole = "" if kind == INTEGER else "_double"
        if isinstance(node.op, ast.Mod):
            return f"modulo{whole}({left[0]}, {right[0]})", kind, ATOM
        if isinstance(node.op, ast.FloorDiv) and not whole:
            return f"quotient({left[0]}, {right[0]})", kind, ATOM
        if isinstance(node.op, ast.Pow) and DOUBLE in (left[1], right[1]):
            return f"{self.words.names['**']}({left[0]}, {right[0]})", DOUBLE, ATOM
        if type(node.op) not in OPERATORS:
            raise refused(node)
        sign, level = OPERATORS[type(node.op)]
        need = ATOM if level in (SHIFT, BIT) else level
        first = left[0] if left[2] >= need else f"({left[0]})"
        second = right[0] if right[2] > level and right[2] >= need else f"({right[0]})"
        if isinstance(node.op, ast.Div) and not whole:
            first, kind = f"(double){first if left[2] == ATOM else f'({left[0]})'}", DOUBLE
        if level == SHIFT and isinstance(node.left, ast.Constant):
            first = f"(int64_t){first}"
        return f"{first}{sign}{second}", kind, level

    def _both(self, node: ast.BoolOp) -> Spelled:
        sign, level = (" && ", AND) if isinstance(node.op, ast.And) else (" || ", OR)
        return sign.join(self.text(value, EQUAL) for value in node.values), INTEGER, level

    def _compare(self, node: ast.Compare) -> Spelled:
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if type(op) not in COMPARED:
                raise refused(node)
            sign, level = COMPARED[type(op)]
            parts.append(f"{self.text(left, SHIFT)}{sign}{self.text(right, SHIFT)}")
            left = right
        return (parts[0], INTEGER, level) if len(parts) == 1 else (" && ".join(parts), INTEGER, AND)

    def _choice(self, node: ast.IfExp) -> Spelled:
        first, second = self.spelled(node.body), self.spelled(node.orelse)
        other = second[0] if second[2] > TERNARY else f"({second[0]})"
        body = first[0] if first[2] > TERNARY else f"({first[0]})"
        return f"{self.text(node.test, OR)} ? {body} : {other}", joined(first[1], second[1]), TERNARY

    def _entry(self, node: ast.Subscript) -> Spelled:
        found = self._shape_of(node) or self._part_of_call(node)
        if found:
            return found
        array, kind, _ = self.spelled(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(node.slice, array, kind)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not kind.rank or len(indices) > kind.rank or any(isinstance(i, ast.Slice) for i in indices):
            raise refused(node)
        at = ""
        for axis, index in enumerate(indices):
            text = self.text(index, SUM if axis == 0 else PRODUCT)
            if not at:
                at = text
                continue
            before = at if axis == 1 and ("+" not in at and "-" not in at and "?" not in at) else f"({at})"
            at = f"{before}*{array}.shape[{axis}] + {text}"
        if len(indices) == kind.rank:
            entry = DOUBLE if kind.base == "double" else INTEGER
            return f"{array}.at[{at}]", entry, ATOM
        rest = [f"{array}.shape[{axis}]" for axis in range(len(indices), kind.rank)]
        part = Kind(kind.base, len(rest))
        return f"(({part.text}){{{array}.at + ({at})*{'*'.join(rest)}, {{{', '.join(rest)}}}}})", part, ATOM

    def _slice(self, node: ast.Slice, array: str, kind: Kind) -> Spelled:
        if node.step is not None or not kind.rank:
            raise refused(node)
        start = self.text(node.lower, PRODUCT) if node.lower else "0"
        end = self.text(node.upper, SUM) if node.upper else f"{array}.shape[0]"
        rest = [f"{array}.shape[{axis}]" for axis in range(1, kind.rank)]
        moved = "*".join([start if start.isidentifier() or start.isdigit() else f"({start})", *rest])
        shape = ", ".join([f"{end} - {start if start.isidentifier() else f'({start})'}", *rest])
        return f"(({kind.text}){{{array}.at + {moved}, {{{shape}}}}})", kind, ATOM

    def _shape_of(self, node: ast.Subscript) -> Spelled | None:
        """Return the length of an axis: `X.shape[k]`."""
        of = node.value
        if isinstance(of, ast.Attribute) and of.attr == "shape" and isinstance(node.slice, ast.Constant):
            return f"{self.text(of.value)}.shape[{node.slice.value!r}]", INTEGER, ATOM
        if isinstance(of, ast.Name) and of.id in self.around.shapes:
            shape = self.around.shapes[of.id]
            if isinstance(shape, ast.Attribute):
                return self.spelled(ast.Subscript(shape, node.slice))
            if isinstance(shape, ast.Tuple):
                return self.spelled(shape.elts[int(ast.unparse(node.slice))])
        return None

    def _part_of_call(self, node: ast.Subscript) -> Spelled | None:
        """Return a part of what a function of several results gives."""
        if not isinstance(node.value, ast.Call):
            return None
        name = self.words.names.get(f"{ast.unparse(node.value.func)}[{ast.unparse(node.slice)}]")
        if name:
            return f"{name}({self.text(node.value.args[0])})", INTEGER, ATOM
        text, kind, _ = self.spelled(node.value)
        if kind != PAIR or not isinstance(node.slice, ast.Constant):
            return None
        return f"{text}.{'second' if node.slice.value else 'first'}", DOUBLE, ATOM

    def _attribute(self, node: ast.Attribute) -> Spelled:
        text = ast.unparse(node)
        if text in self.words.literals:
            return self.words.literals[text], DOUBLE, ATOM
        if node.attr == "size":
            array, kind, _ = self.spelled(node.value)
            lengths = [f"{array}.shape[{axis}]" for axis in range(kind.rank)]
            return "*".join(lengths), INTEGER, ATOM if len(lengths) == 1 else PRODUCT
        raise refused(node)

    def _call(self, node: ast.Call) -> Spelled:
        name = ast.unparse(node.func)
        if node.keywords:
            raise refused(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.words.views:
            return self._reshaped(node)
        if name.startswith("np.") and name not in self.words.names and name != "np.float32":
            return self.around.made(node)
        if any(isinstance(arg, ast.Starred) for arg in node.args):
            raise refused(node)
        return self.named(name, node)

    def _reshaped(self, node: ast.Call) -> Spelled:
        assert isinstance(node.func, ast.Attribute)
        array, kind, _ = self.spelled(node.func.value)
        (shape,) = node.args
        lengths = shape.elts if isinstance(shape, ast.Tuple) else [shape]
        made = Kind(kind.base, len(lengths))
        text = ", ".join(self.text(length) for length in lengths)
        if text == "-1":
            text = "*".join(f"{array}.shape[{axis}]" for axis in range(kind.rank))
        return f"(({made.text}){{{array}.at, {{{text}}}}})", made, ATOM

    def named(self, name: str, node: ast.Call) -> Spelled:
        """Return a call of a function of Python, of C, or of the sources."""
        given = [self.spelled(arg) for arg in node.args if not isinstance(arg, ast.Tuple)]
        if name in self.words.folds:
            return self._extreme(self.words.folds[name], given)
        if name in CASTS and len(given) == 1:
            text, kind, own = given[0]
            return (
                given[0]
                if kind == CASTS[name]
                else (f"({CASTS[name].text}){text if own == ATOM else f'({text})'}", CASTS[name], UNARY)
            )
        if name == "np.float32":
            return f"(double)(float){self.text(node.args[0], ATOM)}", DOUBLE, UNARY
        if name == "math.isnan":
            return f"isnan({given[0][0]})", INTEGER, ATOM
        if name in self.words.by_kind:
            return f"{self.words.by_kind[name][given[0][1].text]}({given[0][0]})", given[0][1], ATOM
        if name in self.words.names:
            text = f"{self.words.names[name]}({', '.join(text for text, _, _ in given)})"
            return (f"(int64_t){text}", INTEGER, UNARY) if name in self.words.whole else (text, DOUBLE, ATOM)
        return self.around.call(name, given, node)

    def _extreme(self, word: str, given: list[Spelled]) -> Spelled:
        text, kind, _ = given[0]
        for other, found, _ in given[1:]:
            kind = joined(kind, found)
            text = f"{word}{'' if kind == INTEGER else '_double'}({text}, {other})"
        return text, kind, ATOM
