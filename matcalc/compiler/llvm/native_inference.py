"""The kinds of all names of a function, found before it is written: what stands for a name is one place in memory."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from matcalc.compiler.kernels.native_kinds import BYTES, INTEGER, REAL, TRUTH, Kind, UnknownFormError, joined
from matcalc.compiler.llvm.native_words import load_llvm_words

Called = Callable[[str, Sequence[Kind]], Kind]
"""The kind of what a function gives, by its name and the kinds of what it is given."""
REPEATS = 5
CONSTANTS = {float: REAL, int: INTEGER, bool: TRUTH}


class Kinds:
    """The kinds of the names of a function; `given` are those of its arguments, `arrays` of constants around it."""

    def __init__(
        self, node: ast.FunctionDef, given: Sequence[Kind], arrays: Mapping[str, Kind], called: Called
    ) -> None:
        self.called, self.arrays, self.words = called, arrays, load_llvm_words()
        arguments = [a.arg for a in node.args.args]
        if len(arguments) != len(given):
            raise UnknownFormError(f"{node.name} of {len(given)} arguments")
        self.names = dict(zip(arguments, given, strict=True))
        self.result: Kind | None = None
        for _ in range(REPEATS):
            before, self.is_waiting = dict(self.names), False
            self._block(node.body)
            if before == self.names and not self.is_waiting:
                return
        raise UnknownFormError(f"kinds of {node.name}")

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            try:
                self._statement(statement)
            except KeyError:  # a name that a later statement of the loop gives a value
                self.is_waiting = True
            for block in ("body", "orelse"):
                self._block(getattr(statement, block, ()))

    def _statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.Assign):
            (target,) = statement.targets
            if isinstance(target, ast.Name):
                self._give(target.id, self.of(statement.value))
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            self._give(statement.target.id, joined(self.names[statement.target.id], self.of(statement.value)))
        elif isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
            self._give(statement.target.id, INTEGER)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            self.result = joined(self.result, self.of(statement.value))

    def _give(self, name: str, kind: Kind) -> None:
        self.names[name] = joined(self.names.get(name), kind)

    def of(self, node: ast.expr) -> Kind:
        """Return the kind of an expression. Raises: KeyError where that of a name is not known yet."""
        if isinstance(node, ast.Constant):
            found = CONSTANTS.get(type(node.value))
            if found is None:
                raise UnknownFormError(ast.unparse(node))
            return found
        if isinstance(node, ast.Name):
            return self.names[node.id] if node.id in self.names else self.arrays[node.id]
        if isinstance(node, ast.UnaryOp):
            return TRUTH if isinstance(node.op, ast.Not) else joined(INTEGER, self.of(node.operand))
        if isinstance(node, ast.BinOp):
            kind = joined(self.of(node.left), self.of(node.right))
            return REAL if isinstance(node.op, ast.Div) else kind if kind.number == "boolean" else joined(INTEGER, kind)
        if isinstance(node, ast.Compare | ast.BoolOp):
            return TRUTH
        if isinstance(node, ast.IfExp):
            return joined(self.of(node.body), self.of(node.orelse))
        if isinstance(node, ast.Attribute):
            return REAL if ast.unparse(node) in self.words.literals else INTEGER
        if isinstance(node, ast.Subscript):
            return self._part(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        raise UnknownFormError(ast.unparse(node))

    def _part(self, node: ast.Subscript) -> Kind:
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            return INTEGER
        kind = self.of(node.value)
        if isinstance(node.slice, ast.Slice):
            return kind
        count = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        if count > kind.rank:
            raise UnknownFormError(ast.unparse(node))
        return widened(Kind(kind.number, kind.rank - count))

    def _call(self, node: ast.Call) -> Kind:
        name = ast.unparse(node.func)
        if name in self.words.real:
            return REAL
        if name in self.words.casts:
            return Kind(self.words.casts[name])
        if name == "np.empty":
            return self._made(node)
        if name in self.words.by_kind or name in self.words.folds:
            kind = self.of(node.args[0])
            for other in node.args[1:]:
                kind = joined(kind, self.of(other))
            return INTEGER if kind == TRUTH else kind
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.words.views:
            (shape,) = node.args
            return Kind(self.of(node.func.value).number, len(shape.elts) if isinstance(shape, ast.Tuple) else 1)
        if not isinstance(node.func, ast.Name):
            raise UnknownFormError(name)
        return self.called(name, [self.of(arg) for arg in node.args])

    def _made(self, node: ast.Call) -> Kind:
        """Return the kind of a new array: `np.empty(n)`, `np.empty((m, n))`, `np.empty(X.shape)`, of a type or not."""
        shape, *types = node.args
        number = ast.unparse(types[0]).removeprefix("np.") if types else "float64"
        if node.keywords or number not in BYTES:
            raise UnknownFormError(ast.unparse(node))
        if isinstance(shape, ast.Attribute) and shape.attr == "shape":
            return Kind(number, self.of(shape.value).rank)
        return Kind(number, len(shape.elts) if isinstance(shape, ast.Tuple) else 1)


def widened(kind: Kind) -> Kind:
    """Return what an entry of 32 bits is read as."""
    return INTEGER if kind == Kind("int32") else kind
