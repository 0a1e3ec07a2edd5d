"""How much workspace a function of C needs, as an integer expression of the lengths and integers that it is given.

All arrays that a function makes are counted, whichever way it goes, and the most that one of its callees needs: an
upper bound. A length that depends on data is bounded by `at_most` of `words.toml`, or the function is refused.
"""

from __future__ import annotations

import ast
from typing import Protocol

from matcalc.compiler.files.c_expressions import Spelled
from matcalc.compiler.files.c_kinds import Kind
from matcalc.compiler.files.c_words import WORD, load_c_words
from matcalc.errors import NotSupported

MADE = ("np.empty", "np.zeros", "np.ones", "np.arange", "np.array")
SIGNS: dict[type[ast.operator], str] = {ast.Add: " + ", ast.Mult: "*", ast.LShift: " << "}
Atom = tuple[int, int]
"""An argument, by number, and its axis; -1 for an integer."""


class Constants(Protocol):
    """What a function stands among."""

    arrays: dict[str, Kind]

    def constant(self, name: str) -> Spelled | None: ...


class Owner(Protocol):
    """A function, as its workspace sees it."""

    called: str
    given: tuple[Kind, ...]
    spelling: dict[str, str]
    shapes: dict[str, ast.expr]

    @property
    def constants(self) -> Constants: ...

    @property
    def takes_work(self) -> bool: ...

    @property
    def workspace(self) -> Workspace: ...


class Workspace:
    """The workspace of a function: `own` are the arrays that it makes, `calls` what it calls."""

    def __init__(self, node: ast.FunctionDef, function: Owner) -> None:
        self.node = node
        self.function = function
        found = [n for n in ast.walk(node) if isinstance(n, ast.Call) and ast.unparse(n.func) in MADE]
        self.own = found
        self.times = {id(call): 1 for call in found}
        for loop in ast.walk(node):
            self._repeat(loop)
        self.calls: list[tuple[Owner, ast.Call]] = []
        self.parameters = [a.arg for a in node.args.args]
        self.words = load_c_words()
        self.bounds = self.words.at_most.get(node.name, {})
        self.values: dict[str, list[ast.expr]] = {}
        self.shaped: dict[str, tuple[ast.expr, int]] = {}
        self.moved: set[str] = set()
        self.needs: dict[Atom, str] = {}
        self.text = "0"
        for part in ast.walk(node):
            self._note(part)

    def _repeat(self, loop: ast.AST) -> None:
        """Count what a loop makes as often as it goes round: a number that is written there, or it is refused."""
        if not isinstance(loop, (ast.For, ast.While)):
            return
        inside = [id(n) for statement in loop.body for n in ast.walk(statement) if id(n) in self.times]
        if not inside:
            return
        rounds = ast.unparse(loop.iter) if isinstance(loop, ast.For) else ""
        if not (rounds.startswith("range(") and rounds[6:-1].isdigit()):
            raise self.unbounded(loop)
        for made in inside:
            self.times[made] *= int(rounds[6:-1])

    def _note(self, part: ast.AST) -> None:
        if isinstance(part, ast.AugAssign | ast.For) and isinstance(part.target, ast.Name):
            self.moved.add(part.target.id)
        elif isinstance(part, ast.Assign):
            (target,) = part.targets
            if isinstance(target, ast.Name):
                self.values.setdefault(target.id, []).append(part.value)
            elif isinstance(target, ast.Tuple):
                self._note_several(target.elts, part.value)

    def _note_several(self, targets: list[ast.expr], value: ast.expr) -> None:
        for k, target in enumerate(targets):
            if not isinstance(target, ast.Name):
                continue
            if isinstance(value, ast.Attribute) and value.attr == "shape":
                self.shaped[target.id] = (value.value, k)
            elif isinstance(value, ast.Tuple):
                self.values.setdefault(target.id, []).append(value.elts[k])
            else:
                self.moved.add(target.id)

    def resolve(self) -> None:
        """Find the expression."""
        if not self.function.takes_work:
            return
        counts = [(self.times[id(call)], self._entries(call)) for call in self.own]
        terms = [text if times == 1 else f"{times}*({text})" for times, text in counts]
        called = list(dict.fromkeys(t for callee, node in self.calls if (t := self._of_call(callee, node)) != "0"))
        most = ""
        for text in called:
            most = f"most({most}, {text})" if most else text
        self.text = " + ".join([*terms, *([most] if most else [])]) or "0"
        used = set(WORD.findall(self.text))
        self.needs = {atom: text for atom, text in self.needs.items() if text in used}

    def _entries(self, call: ast.Call) -> str:
        if ast.unparse(call.func) == "np.array":
            assert isinstance(call.args[0], ast.List)
            return str(len(call.args[0].elts))
        text = "*".join(_tight(length) for length in self.lengths(call.args[0]))
        is_half = len(call.args) > 1 and ast.unparse(call.args[1]) == "np.int32"
        return f"{text}/2 + 1" if is_half else text

    def _of_call(self, callee: Owner, node: ast.Call) -> str:
        if not callee.takes_work:
            return "0"
        given = []
        for place, axis in callee.workspace.ordered:
            arg = node.args[place]
            given.append(self.number(arg) if axis < 0 else self.axes(arg)[axis])
        return f"{callee.called}_work({', '.join(given)})"

    @property
    def ordered(self) -> list[Atom]:
        return sorted(self.needs)

    @property
    def definition(self) -> str:
        """The function of C that returns the entries of workspace."""
        parameters = ", ".join(f"int64_t {self.needs[atom]}" for atom in self.ordered) or "void"
        return f"static int64_t {self.function.called}_work({parameters})\n{{\n    return {self.text};\n}}"

    # ---- numbers

    def unbounded(self, node: ast.AST) -> NotSupported:
        return NotSupported(
            f"{self.node.name} has no form for the target c: its workspace depends on data ({ast.unparse(node)})"
        )

    def number(self, node: ast.expr) -> str:
        """Return an integer expression of what the function is given."""
        if isinstance(node, ast.Name):
            return self._named(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value == int(node.value):
            return str(int(node.value))
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in self.words.folds:
            word = self.words.folds[ast.unparse(node.func)]
            text = self.number(node.args[0])
            for other in node.args[1:]:
                text = f"{word}({text}, {self.number(other)})"
            return text
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("int", "int64", "float"):
            return self.number(node.args[0])
        if isinstance(node, ast.IfExp):
            return f"most({self.number(node.body)}, {self.number(node.orelse)})"
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            assert isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int)
            return self.axes(node.value.value)[node.slice.value]
        of = node.value if isinstance(node, ast.Subscript) else node
        if isinstance(node, ast.Subscript) and isinstance(of, ast.Name) and of.id in self.function.shapes:
            return self.lengths(of)[int(ast.unparse(node.slice))]
        raise self.unbounded(node)

    def _named(self, node: ast.Name) -> str:
        name = node.id
        if name in self.bounds:
            return self.number(ast.parse(self.bounds[name], mode="eval").body)
        if name in self.moved:
            raise self.unbounded(node)
        values = self.values.get(name, [])
        if name in self.shaped and not values:
            array, axis = self.shaped[name]
            return self.axes(array)[axis]
        if name in self.parameters and not values:
            return self._atom(self.parameters.index(name), -1, name)
        if not values:
            found = self.function.constants.constant(name)
            if found is None:
                raise self.unbounded(node)
            return found[0]
        if any(isinstance(n, ast.Name) and n.id == name for value in values for n in ast.walk(value)):
            raise self.unbounded(node)
        texts = {self.number(value) for value in values}
        if len(texts) != 1 or name in self.parameters:
            raise self.unbounded(node)
        return texts.pop()

    def _binary(self, node: ast.BinOp) -> str:
        if isinstance(node.op, ast.Sub):
            if any(isinstance(part, ast.IfExp) for part in ast.walk(node.right)):
                raise self.unbounded(node)
            return f"({self.number(node.left)} - {_tight(self.number(node.right))})"
        if isinstance(node.op, ast.FloorDiv):
            return f"quotient({self.number(node.left)}, {self.number(node.right)})"
        if type(node.op) not in SIGNS:
            raise self.unbounded(node)
        parts = [_tight(self.number(part)) for part in (node.left, node.right)]
        if isinstance(node.op, ast.LShift):
            return f"((int64_t){parts[0]} << {parts[1]})"
        return SIGNS[type(node.op)].join(parts)

    def _atom(self, place: int, axis: int, name: str) -> str:
        spelled = self.function.spelling[name]
        text = spelled if axis < 0 else f"{spelled}_{axis}"
        self.needs[place, axis] = text
        return text

    # ---- shapes

    def lengths(self, shape: ast.expr) -> list[str]:
        """Return the lengths that a shape is given by."""
        if isinstance(shape, ast.Tuple):
            return [self.number(part) for part in shape.elts]
        if isinstance(shape, ast.Attribute) and shape.attr == "shape":
            return self.axes(shape.value)
        if isinstance(shape, ast.Name) and shape.id in self.function.shapes:
            return self.lengths(self.function.shapes[shape.id])
        if isinstance(shape, ast.IfExp):
            pairs = zip(self.lengths(shape.body), self.lengths(shape.orelse), strict=True)
            return [f"most({a}, {b})" for a, b in pairs]
        return [self.number(shape)]

    def axes(self, node: ast.expr) -> list[str]:
        """Return the lengths of an array."""
        if isinstance(node, ast.Name):
            return self._axes_of(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MADE[:-1]:
            return self.lengths(node.args[0])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in self.words.views:
            if ast.unparse(node.args[0]) == "-1":
                return ["*".join(map(_tight, self.axes(node.func.value)))]
            return self.lengths(node.args[0])
        if isinstance(node, ast.IfExp):
            return [f"most({a}, {b})" for a, b in zip(self.axes(node.body), self.axes(node.orelse), strict=True)]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            rest = self.axes(node.value)
            lower = self.number(node.slice.lower) if node.slice.lower else "0"
            upper = self.number(node.slice.upper) if node.slice.upper else rest[0]
            return [f"({upper} - ({lower}))", *rest[1:]]
        if isinstance(node, ast.Subscript):
            count = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
            return self.axes(node.value)[count:]
        raise self.unbounded(node)

    def _axes_of(self, node: ast.Name) -> list[str]:
        name = node.id
        values = self.values.get(name, [])
        if name in self.parameters and not values:
            place = self.parameters.index(name)
            return [self._atom(place, axis, name) for axis in range(self.function.given[place].rank)]
        if not values and name in self.function.constants.arrays:
            return [f"{name}.shape[{axis}]" for axis in range(self.function.constants.arrays[name].rank)]
        found = [self.axes(value) for value in values]
        if not found or any(other != found[0] for other in found):
            raise self.unbounded(node)
        return found[0]


def _tight(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() or (text.endswith(")") and text[:1] != "(") else f"({text})"
