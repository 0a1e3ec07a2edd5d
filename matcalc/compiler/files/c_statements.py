"""Statements of a function in C: its names, where they are declared, its blocks."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from matcalc.compiler.files.c_expressions import ATOM, OPERATORS, Expressions, Spelled, UnknownKindError, refused
from matcalc.compiler.files.c_kinds import DOUBLE, INTEGER, PAIR, Kind, joined
from matcalc.compiler.files.c_places import Places
from matcalc.compiler.files.c_words import load_c_words
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free

INDENT = "    "
MAKERS = {"np.empty": "", "np.zeros": "0.0", "np.ones": "1.0", "np.arange": "k"}
COLUMN = 56


class Body:
    """The names and statements of a function; a subclass knows what may be called."""

    def __init__(self, node: ast.FunctionDef, remarks: Mapping[int, str], called: str, given: tuple[Kind, ...]) -> None:
        self.node = node
        self.remarks = remarks
        self.called = called
        self.arguments = node.args.args
        if len(self.arguments) != len(given):
            raise NotSupported(f"{node.name} is called with {len(given)} arguments")
        self.kinds: dict[str, Kind] = {a.arg: kind for a, kind in zip(self.arguments, given, strict=True)}
        self.returned: Kind | None = None
        self.is_writing = False
        self.waiting = 0
        self.expressions = Expressions(self)  # type: ignore[arg-type]
        self.places = Places(node)
        self.taken = load_c_words().reserved_for(self.places.names) | {called, *self.places.called}
        self.spelling = {name: free(name, self.taken) for name in self.places.names}
        self.shapes = {name: shape for name, shape in self.places.shapes.items()}
        self.before: list[str] = []
        self.extra: Counter[str] = Counter()

    # ---- declarations

    def declarations(self) -> list[str]:
        """Return the lines that declare the names that no statement of their own declares."""
        lines = []
        for name in self.places.names:
            if name in self.places.at_top and name in self.kinds:
                kind = self.kinds[name]
                zero = "{0}" if kind.rank or kind == PAIR else "0.0" if kind == DOUBLE else "0"
                lines.append(f"{kind.text} {self.spelling[name]} = {zero};")
        unread = [name for name in self.places.names if name not in self.places.read and name in self.kinds]
        lines += [
            f"(void){self.spelling[name]};"
            for name in unread
            if name in self.places.at_top or name in self.places.given
        ]
        return lines

    def fresh(self, word: str) -> str:
        """Return a new name of the text of C."""
        self.extra[word] += 1
        return free(f"{word}_{self.extra[word]}", self.taken)

    # ---- statements

    def block(self, body: list[ast.stmt]) -> list[str]:
        """Return the lines of a block."""
        lines: list[str] = []
        for statement in body:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                continue
            try:
                made = self.statement(statement)
            except UnknownKindError:
                if self.is_writing:
                    raise NotSupported(f"the target c finds no type in {ast.unparse(statement)}") from None
                self.waiting += 1
                made = self.inner(statement)
            lines += [*self.before, *self.with_comment(statement, made)]
            self.before = []
        return lines

    def inner(self, statement: ast.stmt) -> list[str]:
        """Go through the blocks of a statement that is not understood yet."""
        self.before = []
        for name in ("body", "orelse"):
            self.block(getattr(statement, name, []))
        return []

    def with_comment(self, statement: ast.stmt, lines: list[str]) -> list[str]:
        remarks = self.remarks.get(statement.lineno, "")
        if not (remarks and lines and self.is_writing):
            return lines
        remarks = remarks.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")
        return [f"{lines[0]:<{COLUMN}}  /* {remarks} */", *lines[1:]]

    def statement(self, statement: ast.stmt) -> list[str]:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            return self.assign(statement, statement.targets[0], statement.value)
        if isinstance(statement, ast.AugAssign):
            return self.add_to(statement)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return [f"{self.expressions.text(statement.value)};"]
        if isinstance(statement, ast.Return):
            return self.give_back(statement)
        if isinstance(statement, ast.If):
            return self.choose(statement)
        if isinstance(statement, ast.For):
            return self.repeat(statement)
        if isinstance(statement, ast.While) and not statement.orelse:
            test = self.expressions.text(statement.test)
            return [f"while ({test}) {{", *self.indented(statement.body), "}"]
        if isinstance(statement, (ast.Break, ast.Continue, ast.Pass)):
            word = {ast.Break: "break;", ast.Continue: "continue;", ast.Pass: ";"}
            return [word[type(statement)]]
        raise refused(statement)

    def indented(self, body: list[ast.stmt]) -> list[str]:
        held, self.before = self.before, []
        lines = [INDENT + line for line in self.block(body)]
        self.before = held
        return lines

    def give_back(self, statement: ast.Return) -> list[str]:
        if statement.value is None:
            return ["return;"]
        if isinstance(statement.value, ast.Tuple):
            if len(statement.value.elts) != 2:
                raise refused(statement)
            self.returned = joined(self.returned, PAIR)
            return [f"return (pair){{{', '.join(self.expressions.text(e) for e in statement.value.elts)}}};"]
        text, kind, _ = self.expressions.spelled(statement.value)
        if kind.rank:
            raise refused(statement)
        self.returned = joined(self.returned, kind)
        return [f"return {text};"]

    def choose(self, statement: ast.If) -> list[str]:
        lines = [f"if ({self.expressions.text(statement.test)}) {{", *self.indented(statement.body)]
        if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
            held, self.before = self.before, []
            other = self.choose(statement.orelse[0])
            if self.before:
                raise refused(statement)
            self.before = held
            return [*lines, f"}} else {other[0]}", *other[1:]]
        if statement.orelse:
            lines += ["} else {", *self.indented(statement.orelse)]
        return [*lines, "}"]

    # ---- assignment

    def assign(self, statement: ast.Assign, target: ast.expr, value: ast.expr) -> list[str]:
        if isinstance(target, ast.Name):
            if isinstance(value, ast.Attribute) and value.attr == "shape" or isinstance(value, ast.Tuple):
                return []  # a shape is spelled where it is used
            if isinstance(value, ast.Call) and ast.unparse(value.func) in MAKERS:
                return self.make(statement, target.id, value)
            if _is_constant_array(value):
                return self.copy_of_numbers(statement, target.id, value)
            text, kind, _ = self.expressions.spelled(value)
            return [f"{self.bind(statement, target.id, kind)} = {text};"]
        if isinstance(target, ast.Tuple):
            return self.assign_several(statement, target.elts, value)
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
            return self.fill(target, value)
        text, _, _ = self.expressions.spelled(target)
        return [f"{text} = {self.expressions.text(value)};"]

    def bind(self, statement: ast.stmt, name: str, kind: Kind) -> str:
        """Return the left side of an assignment to a name, its type where it is declared there."""
        self.kinds[name] = joined(self.kinds.get(name), kind)
        if self.places.declared.get(name) is statement:
            return f"{self.kinds[name].text} {self.spelling[name]}"
        return self.spelling[name]

    def assign_several(self, statement: ast.Assign, targets: list[ast.expr], value: ast.expr) -> list[str]:
        value = _several(value)
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            array = self.expressions.text(value.value)
            parts: list[Spelled] = [(f"{array}.shape[{k}]", INTEGER, ATOM) for k in range(len(targets))]
        elif isinstance(value, ast.Tuple) and len(value.elts) == len(targets):
            written = {ast.unparse(t) for t in targets}
            if not any(isinstance(n, ast.Name) and n.id in written for e in value.elts for n in ast.walk(e)):
                singles = zip(targets, value.elts, strict=True)
                if not any(isinstance(t, ast.Subscript) for t in targets[:-1]):
                    return [line for t, v in singles for line in self.assign(statement, t, v)]
            parts = [self.expressions.spelled(e) for e in value.elts]
            names = [self.fresh("new") for _ in parts]
            self.before += [f"{k.text} {n} = {t};" for n, (t, k, _) in zip(names, parts, strict=True)]
            parts = [(n, k, ATOM) for n, (_, k, _) in zip(names, parts, strict=True)]
        else:
            text, kind, _ = self.expressions.spelled(value)
            if kind != PAIR or len(targets) != 2:
                raise refused(statement)
            both = self.fresh("both")
            self.before.append(f"pair {both} = {text};")
            parts = [(f"{both}.first", DOUBLE, ATOM), (f"{both}.second", DOUBLE, ATOM)]
        lines = []
        for target, (text, kind, _) in zip(targets, parts, strict=True):
            left = (
                self.bind(statement, target.id, kind) if isinstance(target, ast.Name) else self.expressions.text(target)
            )
            lines.append(f"{left} = {text};")
            if isinstance(target, ast.Name) and left != self.spelling[target.id] and target.id not in self.places.read:
                lines.append(f"(void){self.spelling[target.id]};")
        return lines

    def add_to(self, statement: ast.AugAssign) -> list[str]:
        left, kind, _ = self.expressions.spelled(statement.target)
        right, other, own = self.expressions.spelled(statement.value)
        if kind.rank or other.rank:
            raise refused(statement)
        found = DOUBLE if isinstance(statement.op, ast.Div) else joined(kind, other)
        if isinstance(statement.target, ast.Name):
            self.kinds[statement.target.id] = joined(self.kinds.get(statement.target.id), found)
        if isinstance(statement.op, (ast.Pow, ast.Mod, ast.FloorDiv)):
            whole = ast.copy_location(ast.BinOp(statement.target, statement.op, statement.value), statement)
            return [f"{left} = {self.expressions.text(whole)};"]
        if type(statement.op) not in OPERATORS:
            raise refused(statement)
        return [f"{left} {OPERATORS[type(statement.op)][0].strip()}= {right};"]

    def fill(self, target: ast.Subscript, value: ast.expr) -> list[str]:
        """Return the loop for `J[:] = number`."""
        array, kind, _ = self.expressions.spelled(target.value)
        index = target.slice
        if kind.rank != 1 or not isinstance(index, ast.Slice) or index.lower or index.upper or index.step:
            raise refused(target)
        k = self.fresh("k")
        text = self.expressions.text(value)
        return [f"for (int64_t {k} = 0; {k} < {array}.shape[0]; {k}++)", f"{INDENT}{array}.at[{k}] = {text};"]

    # ---- arrays

    def lengths(self, node: ast.expr) -> list[str]:
        """Return the lengths that a shape is given by."""
        if isinstance(node, ast.Tuple):
            return [self.expressions.text(part) for part in node.elts]
        if isinstance(node, ast.Name) and node.id in self.shapes:
            return self.lengths(self.shapes[node.id])
        if isinstance(node, ast.Attribute) and node.attr == "shape":
            array, kind, _ = self.expressions.spelled(node.value)
            return [f"{array}.shape[{axis}]" for axis in range(kind.rank)]
        if isinstance(node, ast.IfExp):
            pairs = zip(self.lengths(node.body), self.lengths(node.orelse), strict=True)
            test = self.expressions.text(node.test, 3)
            return [f"{test} ? {a} : {b}" for a, b in pairs]
        return [self.expressions.text(node)]

    def make(self, statement: ast.stmt, name: str, call: ast.Call) -> list[str]:
        """Return the lines that take an array from the workspace."""
        lines, kind = self.allocation(call, self.spelling[name])
        left = self.bind(statement, name, kind)
        return [f"{left} = {lines[0]}", *lines[1:]]

    def made(self, node: ast.Call) -> Spelled:
        """Return the name of an array that is made inside an expression."""
        if ast.unparse(node.func) not in MAKERS:
            raise NotSupported(f"{ast.unparse(node.func)} has no form for the target c")
        name = self.fresh("array")
        lines, kind = self.allocation(node, name)
        self.before += [f"{kind.text} {name} = {lines[0]}", *lines[1:]]
        return name, kind, ATOM

    def allocation(self, call: ast.Call, name: str) -> tuple[list[str], Kind]:
        word = ast.unparse(call.func)
        lengths = self.lengths(call.args[0])
        typed = ast.unparse(call.args[1]).removeprefix("np.") if len(call.args) > 1 else "float64"
        base = {"float64": "double", "int32": "int32_t", "int64": "int64_t"}.get(typed)
        if base is None:
            raise refused(call)
        base = "int64_t" if word == "np.arange" else base
        kind = Kind(base, len(lengths))
        size = "*".join(f"{name}.shape[{axis}]" for axis in range(len(lengths)))
        cast = "" if base == "double" else f"({base} *)"
        taken = size if base != "int32_t" else f"{size}/2 + 1"
        literal = f"({kind.text}){{{cast}work, {{{', '.join(lengths)}}}}};"
        lines = [literal, f"work += {taken};"]
        if MAKERS[word]:
            k = self.fresh("k")
            lines += [f"for (int64_t {k} = 0; {k} < {size}; {k}++)"]
            lines += [f"{INDENT}{name}.at[{k}] = {k if MAKERS[word] == 'k' else MAKERS[word]};"]
        return lines, kind

    def copy_of_numbers(self, statement: ast.stmt, name: str, value: ast.expr) -> list[str]:
        """Return the lines that make an array of the numbers in a list, `np.array([s]).reshape((1, 1))`."""
        assert isinstance(value, ast.Call)
        is_shaped = isinstance(value.func, ast.Attribute) and value.func.attr in load_c_words().views
        inner = value.func.value if is_shaped and isinstance(value.func, ast.Attribute) else value
        assert isinstance(inner, ast.Call) and isinstance(inner.args[0], ast.List)
        entries = inner.args[0].elts
        lengths = self.lengths(value.args[0]) if is_shaped else [str(len(entries))]
        kind = Kind("double", len(lengths))
        left, spelled = self.bind(statement, name, kind), self.spelling[name]
        lines = [f"{left} = ({kind.text}){{work, {{{', '.join(lengths)}}}}};", f"work += {len(entries)};"]
        return [*lines, *(f"{spelled}.at[{k}] = {self.expressions.text(e)};" for k, e in enumerate(entries))]

    # ---- loops

    def repeat(self, statement: ast.For) -> list[str]:
        if not isinstance(statement.target, ast.Name) or statement.orelse:
            raise refused(statement)
        name = statement.target.id
        if not (isinstance(statement.iter, ast.Call) and ast.unparse(statement.iter.func) == "range"):
            return self.each_entry(statement, name)
        args = statement.iter.args
        start = self.expressions.text(args[0]) if len(args) > 1 else "0"
        stop_node = args[min(1, len(args) - 1)]
        stop, _, own = self.expressions.spelled(stop_node)
        if own < 8:
            stop = f"({stop})"
        step = self.expressions.text(args[2]) if len(args) > 2 else "1"
        is_down = step.startswith("-")
        self.kinds[name] = joined(self.kinds.get(name), INTEGER)
        spelled = self.spelling[name]
        changed = self.places.written_in(statement.body)
        if changed & {n.id for n in ast.walk(stop_node) if isinstance(n, ast.Name)}:
            end = self.fresh("end")
            self.before.append(f"const int64_t {end} = {stop};")
            stop = end
        is_own = name in self.places.in_loops and name not in changed
        counter = spelled if is_own else self.fresh("k")
        move = {"1": f"{counter}++", "-1": f"{counter}--"}.get(
            step, f"{counter} {'-' if is_down else '+'}= {step.lstrip('-')}"
        )
        lines = [f"for (int64_t {counter} = {start}; {counter} {'>' if is_down else '<'} {stop}; {move}) {{"]
        if not is_own:
            kind = "int64_t " if name in self.places.in_loops else ""
            lines.append(f"{INDENT}{kind}{spelled} = {counter};")
        return [*lines, *self.indented(statement.body), "}"]

    def each_entry(self, statement: ast.For, name: str) -> list[str]:
        """Return the loop over the entries of a constant."""
        array, kind, _ = self.expressions.spelled(statement.iter)
        if kind != Kind("double", 1) or name not in self.places.in_loops:
            raise refused(statement)
        self.kinds[name] = joined(self.kinds.get(name), DOUBLE)
        k = self.fresh("k")
        head = f"for (int64_t {k} = 0; {k} < {array}.shape[0]; {k}++) {{"
        return [head, f"{INDENT}double {self.spelling[name]} = {array}.at[{k}];", *self.indented(statement.body), "}"]


def _several(value: ast.expr) -> ast.expr:
    """Return a choice of tuples as a tuple of choices."""
    if isinstance(value, ast.IfExp) and isinstance(value.body, ast.Tuple) and isinstance(value.orelse, ast.Tuple):
        pairs = zip(value.body.elts, value.orelse.elts, strict=True)
        return ast.Tuple([ast.IfExp(value.test, a, b) for a, b in pairs], ast.Load())
    return value


def _is_constant_array(value: ast.expr) -> bool:
    text = ast.unparse(value)
    return isinstance(value, ast.Call) and text.startswith("np.array([")
