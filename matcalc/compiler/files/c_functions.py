"""Functions of the Numba sources as functions of C.

`Unit` is what one file holds: it finds a function by its name, gives it the kinds of its arguments (those that its
signature states, else those of the call), and writes each that is called, once. Arrays that a function makes come out
of the workspace, which it takes as its last argument (`c_work.py` says how much that is).
"""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from matcalc.compiler.files.c_expressions import ATOM, Spelled, UnknownKindError
from matcalc.compiler.files.c_kinds import DOUBLE, INTEGER, VOID, Kind, signature
from matcalc.compiler.files.c_statements import Body
from matcalc.compiler.files.c_words import load_c_words
from matcalc.compiler.files.c_work import Workspace
from matcalc.compiler.kernels.library import load_library
from matcalc.errors import NotSupported
from matcalc.language.identifiers import free

WIDTH = 108
SYMBOLS = "NTLURVS"
"""The letters of BLAS that the sources name."""
REPEATS = 6


@dataclass(frozen=True, slots=True)
class Callee:
    """A function that can be called: its name in C, kinds, whether it takes workspace."""

    name: str
    kinds: tuple[Kind, ...]
    result: Kind
    takes_work: bool


@dataclass
class Unit:
    """The functions and constants of one file; `own` are those of generated text, by name."""

    own: dict[str, tuple[ast.FunctionDef, dict[int, str]]] = field(default_factory=dict)
    arrays: dict[str, Kind] = field(default_factory=dict)
    functions: dict[tuple[str, tuple[Kind, ...]], Function] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    reached: list[Function] = field(default_factory=list)
    reserved: set[str] = field(default_factory=set)

    def add(self, text: str) -> list[str]:
        """Take in the functions of generated text; return their names.

        Raises: NotSupported where two texts have different functions of one name.
        """
        remarks = comments(text)
        found = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        for node in found:
            if node.name in self.own and ast.dump(self.own[node.name][0]) != ast.dump(node):
                raise NotSupported(f"two functions of one file are called {node.name}", hint="write a file for each")
        self.own |= {node.name: (node, remarks) for node in found}
        return [node.name for node in found]

    def source(self, name: str) -> tuple[ast.FunctionDef, dict[int, str]]:
        """Return the text of a function and its comments by line.

        Raises: NotSupported where it has no form in C.
        """
        if name in self.own:
            return self.own[name]
        item = load_library("numba").items.get(name)
        node = ast.parse(item.text).body[0] if item else None
        if not isinstance(node, ast.FunctionDef) or name == "external" or item is None:
            raise NotSupported(f"{name} has no form for the target c", hint='target="numba" or "numpy" has one')
        return node, comments(item.text)

    def function(self, name: str, given: Iterable[Kind] = ()) -> Function:
        """Return a function for the kinds of its arguments."""
        node, remarks = self.source(name)
        stated = signature(node)
        kinds = tuple(stated[1] if stated else given)
        if (name, kinds) not in self.functions:
            versions = sum(known == name for known, _ in self.functions)
            taken = load_c_words().reserved_for([name]) | self.reserved
            called = free(name, taken) + (f"_{versions + 1}" if versions else "")
            made = Function(self, node, remarks, called, kinds, stated[0] if stated else None)
            self.functions[name, kinds] = made
            made.infer()
        return self.functions[name, kinds]

    def reach(self, function: Function) -> None:
        """Write a function into the file, after those that it calls."""
        if function in self.reached or function.under_way:
            return
        function.under_way = True
        function.write()
        function.under_way = False
        self.reached.append(function)

    def constant(self, name: str) -> Spelled | None:
        """Return a constant of the sources or of generated text, which the file then defines."""
        if name in SYMBOLS:
            return f"'{name}'", INTEGER, ATOM
        if name in self.arrays:
            return name, self.arrays[name], ATOM
        item = load_library("numba").items.get(name)
        if item is None or item.is_function:
            return None
        value = _evaluated(item.text)
        key, name = name, free(name, load_c_words().reserved_for([name]) | self.reserved)
        if isinstance(value, (int, float)):
            kind = INTEGER if isinstance(value, int) else DOUBLE
            self.constants[key] = f"static const {kind.text} {name} = {value!r};"
            return name, kind, ATOM
        if isinstance(value, tuple) and all(isinstance(entry, float) for entry in value):
            entries = ", ".join(map(repr, value))
            self.constants[key] = (
                f"static const double {name}_entries[] = {{{entries}}};\n"
                f"static const vector {name} = {{(double *){name}_entries, {{{len(value)}}}}};"
            )
            return name, Kind("double", 1), ATOM
        return None


class Function(Body):
    """A function for arguments of these kinds: first its names get kinds, then it is written."""

    def __init__(
        self,
        unit: Unit,
        node: ast.FunctionDef,
        remarks: Mapping[int, str],
        called: str,
        given: tuple[Kind, ...],
        result: Kind | None,
    ) -> None:
        self.unit = unit
        self.given = given
        self.stated = result
        self.under_way = False
        self.text = ""
        self.callees: list[Function] = []
        super().__init__(node, remarks, called, given)
        self.work = Workspace(node, self)

    @property
    def workspace(self) -> Workspace:
        """What it needs of the caller's memory."""
        return self.work

    @property
    def constants(self) -> Unit:
        """What it stands among."""
        return self.unit

    @property
    def takes_work(self) -> bool:
        return bool(self.workspace.own) or any(callee.takes_work for callee in self.callees)

    @property
    def result(self) -> Kind:
        return self.stated or self.returned or VOID

    def infer(self) -> None:
        """Find the kinds of all names: again, until nothing changes."""
        self.is_writing = False
        for _ in range(REPEATS):
            before = dict(self.kinds), self.returned
            self.waiting = 0
            self.block(self.node.body)
            if (dict(self.kinds), self.returned) == before and not self.waiting:
                return
        raise NotSupported(f"the target c finds no types for {self.node.name}")

    def write(self) -> None:
        """Write the text, and what is called."""
        self.is_writing = True
        self.callees.clear()
        lines = self.block(self.node.body)
        for callee in self.callees:
            self.unit.reach(callee)
        self.workspace.resolve()
        head = wrapped(self.head)
        body = [*self.declarations(), *lines]
        end = ["    return 0;"] if self.stated and self.stated == INTEGER and not _returns(self.node.body) else []
        doc = ast.get_docstring(self.node)
        above = boxed(doc) if doc else []
        text = "\n".join([*above, head, "{", *(f"    {line}" if line else "" for line in body), *end, "}"])
        self.text = text.replace("@work@", "work")

    @property
    def head(self) -> str:
        parameters = [f"{kind.text} {self.spelling[a.arg]}" for a, kind in zip(self.arguments, self.given, strict=True)]
        parameters += ["double *work"] if self.takes_work else []
        return f"static {self.result.text} {self.called}({', '.join(parameters) or 'void'})"

    # ---- what an expression asks for

    def name(self, word: str) -> Spelled:
        if word in self.spelling:
            if word not in self.kinds:
                raise UnknownKindError(word)
            return self.spelling[word], self.kinds[word], ATOM
        found = self.unit.constant(word)
        if found is None:
            raise NotSupported(f"{word} has no form for the target c")
        return found

    def call(self, name: str, args: list[Spelled], node: ast.Call) -> Spelled:
        item = load_library("numba").items.get(name)
        if name not in self.unit.own and item is not None and " = external(" in item.text:
            return self.routine("blas" if '"blas"' in item.text else "lapack", name, node), INTEGER, ATOM
        callee = self.unit.function(name, [kind for _, kind, _ in args])
        if len(callee.given) != len(args):
            raise NotSupported(f"the target c has no form of {ast.unparse(node)}")
        if self.is_writing:
            if callee not in self.callees:
                self.callees.append(callee)
            self.unit.reach(callee)
            self.workspace.calls.append((callee, node))
        texts = [text for text, _, _ in args] + (["@work@"] if self.is_writing and callee.takes_work else [])
        return f"{callee.called}({', '.join(texts)})", callee.result, ATOM

    def routine(self, library: str, name: str, node: ast.Call) -> str:
        """Return a call of BLAS or LAPACK, which see arrays by columns."""
        words = load_c_words()
        letters = words.letters.get(name, "").split()
        texts = []
        for place, arg in enumerate(node.args):
            if isinstance(arg, ast.Tuple):
                array, start = arg.elts
                texts.append(f"{self.expressions.text(array)}.at + {self.expressions.text(start, 8)}")
                continue
            text, kind, _ = self.expressions.spelled(arg)
            if kind.rank:
                text = f"{text}.at"
            elif place < len(letters):
                text = f"{letters[place]}({text})"
            elif place in words.address.get(name, ()):
                text = f"&({'double' if kind == DOUBLE else 'lapack_int'}){{{text}}}"
            texts.append(text)
        if library == "blas":
            return f"cblas_{name}(CblasColMajor, {', '.join(texts)})"
        return f"LAPACKE_{name}_work(LAPACK_COL_MAJOR, {', '.join(texts)})"


def _returns(body: list[ast.stmt]) -> bool:
    """Whether a block ends with a return on each way that is seen."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _returns(last.body) and _returns(last.orelse)
    return isinstance(last, ast.Return)


def _evaluated(text: str) -> object:
    """Return the value of a constant of the sources, of numbers alone; None for others."""
    statement = ast.parse(text).body[0]
    assert isinstance(statement, ast.Assign)
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)
    if not all(isinstance(part, allowed) for part in ast.walk(statement.value)):
        return None
    return eval(compile(ast.Expression(statement.value), "<constant>", "eval"), {})


def comments(text: str) -> dict[int, str]:
    """Return the comments of Python text by line."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}


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
