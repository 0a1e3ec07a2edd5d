"""Runs NumPy text whose meaning depends on shapes, such as `x[:, None] - y`, on symbols.

`language/numpy_text/` reads formulas that are valid for all shapes, and infers the shapes. Text without such a tree
(new axes, `keepdims`, `einsum`, an order of entries) is run here, like a function written for NumPy. The symbols
are declared, or have the kinds of their names, with sizes of their own. Nothing is evaluated as Python: only the syntax
listed here has a meaning, and of NumPy's functions only those that `numpy_bridge` implements.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, count
from types import EllipsisType
from typing import Any, NoReturn, TypeAlias, cast

from matcalc.errors import MatcalcError, NotSupported, ParseError, ShapeError, UnknownName
from matcalc.expressions.calling import function
from matcalc.expressions.expression import Expression, as_expression, length_shown, of_meaning
from matcalc.expressions.library_calls import values_for
from matcalc.expressions.loops.varying import Varying
from matcalc.expressions.numpy_bridge.by_rule import found
from matcalc.expressions.numpy_bridge.dispatch import function_named, is_method
from matcalc.expressions.numpy_bridge.index_sets import MASK_HINT
from matcalc.expressions.numpy_bridge.length import Length
from matcalc.expressions.operands.numpy_protocol import Array
from matcalc.expressions.read_formulas import read_formulas
from matcalc.expressions.traced_array import TracedArray, traced_array
from matcalc.expressions.user_code.copied import Values
from matcalc.expressions.user_code.numpy_calls import SIZED, NumpyCalls
from matcalc.formula.inference.inference import LETTERS
from matcalc.formula.inference.kinds_by_spelling import inferred_rank
from matcalc.language.identifiers import shown
from matcalc.language.numpy_names import METHODS, MODULES
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import numpy_names
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.raw_nodes import symbol
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names

Value: TypeAlias = Any
"""A value of the text: an expression, a number, a slice, a tuple, a word."""
ROOTS = frozenset(module.partition(".")[0] for module in MODULES)
OTHERS = ("torch",)
"""Libraries whose functions take other arguments than NumPy's."""
NUMPYS = ("np", "numpy", "jnp", "jax.numpy")
"""Spellings of NumPy's own module."""
BUILTINS = ("len", "range", "float", "int")
"""Functions of Python."""
MOST_ENTRIES = 10**7
"""Limit of the numbers in a shape."""
BARE = ("array", "asarray")
"""Functions of NumPy's that are written without a module too."""
EXACT_ON_INTEGERS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
ATTRIBUTES = ("T", "mT", "shape", "ndim", "size", "real")
TYPES: Mapping[str, Value] = {"float": float, "int": int, "bool": bool}
VALUES: Mapping[str, Value] = {"newaxis": None, "inf": math.inf, "e": math.e}
"""NumPy's values of these names."""
EXACT = ("pi",)
COUNTED = "integer"
"""The kind of a parameter that is a size."""
RAISED = (TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError, ZeroDivisionError)
OPERATORS: Mapping[type[ast.AST], Callable[..., Value]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.MatMult: operator.matmul, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.inv,
}  # fmt: skip
COMPARED: Mapping[type[ast.AST], str] = {ast.Eq: "equal", ast.NotEq: "not_equal"}
"""Functions that compare entries, while the operators of objects compare whole formulas."""


def run(text: str, declared: Mapping[str, Expression], sizes: Collection[str]) -> Expression:
    """Return the result of a text as NumPy code on the declared symbols; the name of a size is a number.

    Raises: ParseError for text that is no Python expression, UnknownName for an unknown name; NotSupported, ShapeError,
        with the position.
    """
    shifted = f"({text})"  # allows several lines and leading spaces
    try:
        tree = ast.parse(shifted, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ParseError("the text is not a Python expression", text=text, at=0) from None
    numbers = {name: length_shown(Size.of(name), traced=True) for name in sizes}
    free = [n.id for n in sorted(_names_in(tree), key=lambda n: (n.lineno, n.col_offset))]
    new = _of_their_kinds([n for n in dict.fromkeys(free) if n not in {*declared, *sizes}], {*declared, *sizes, *free})
    nodes = {**{name: e.node for name, e in declared.items()}, **new}
    names = Names(nodes, tuple(n for n in dict.fromkeys(free) if n in nodes), undeclared=frozenset(new), traced=True)
    scope = {name: traced_array(Expression(node, replace(names, written=()))) for name, node in nodes.items()}
    run_ = _Run({**TYPES, **numbers, **scope}, values_for(names))
    try:
        value = run_.value(tree)
        made = as_expression(value)
        if isinstance(value, Varying):
            raise NotSupported("a mask that depends on a symbol selects an unknown number of entries", hint=MASK_HINT)
        if made is None:
            hint = "write the value that you mean, as in np.linalg.eigh(A)[0]"
            raise ShapeError("the text gives several values or a word, not a formula", hint=hint)
        return Expression(made.node, replace(made.names.joined(names), written=names.written, traced=False))
    except (MatcalcError, *RAISED) as fault:
        raise _located(fault, text, run_.current) from None


def _names_in(tree: ast.AST) -> list[ast.Name]:
    """Return the names of values in a text: neither modules nor functions by their bare names."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id not in ROOTS and id(n) not in called]


def _of_their_kinds(names: list[str], used: Collection[str]) -> dict[str, Node]:
    """Return undeclared symbols, of the kinds of their names, with sizes of their own.

    Raises: UnknownName for a name without a kind.
    """
    sizes = (size for size in chain(LETTERS, map("m{}".format, count(1))) if size not in used)
    ranks = {name: inferred_rank(name) for name in names if name not in TYPES}
    unknown = next((name for name, rank in ranks.items() if rank is None), None)
    if unknown is not None:
        raise UnknownName(f"unknown name {shown(unknown)}")
    return {name: symbol(name, [Size.of(next(sizes)) for _ in range(rank or 0)]) for name, rank in ranks.items()}


def _located(fault: Exception, text: str, current: ast.expr | None) -> MatcalcError:
    """Return a fault with the position in the text at which it occurred."""
    kind = type(fault) if isinstance(fault, MatcalcError) else NotSupported
    message = fault.message if isinstance(fault, MatcalcError) else str(fault)
    at = 0
    if current is not None:
        lines = f"({text})".encode().split(b"\n")
        before = b"\n".join((*lines[: current.lineno - 1], lines[current.lineno - 1][: current.col_offset]))
        at = max(len(before.decode()) - 1, 0)
    return kind(message, text=text, at=at, hint=getattr(fault, "hint", ""))


class _Run:
    """A text that is being run: the values of its names, and the part being computed."""

    def __init__(self, scope: Mapping[str, Value], values: Values) -> None:
        import numpy as np

        self.scope, self.builtins, self.numpy = scope, values.builtins, values.of(np)
        self.values = values
        self.current: ast.expr | None = None

    def value(self, node: ast.expr) -> Value:
        """Return the value of a part of the text.

        Raises: NotSupported for syntax without a meaning here; the errors of NumPy and expressions.
        """
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None | EllipsisType()):
                return node.value
            case ast.Name():
                return self.scope[node.id] if node.id in self.scope else self._raise(node)
            case ast.Tuple() | ast.List():
                made = [self.value(one) for one in node.elts]
                return tuple(made) if isinstance(node, ast.Tuple) else made
            case ast.Slice():
                return slice(*(None if b is None else self.value(b) for b in (node.lower, node.upper, node.step)))
            case ast.Subscript():
                base, at = self.value(node.value), self.value(node.slice)
                return self._at(node, lambda: base[at])
            case ast.UnaryOp(op=op, operand=ast.Constant(value=int() | float())) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self.value(node.operand))
            case ast.UnaryOp(op=op) if type(op) in OPERATORS:
                return self._operated(node, OPERATORS[type(op)], node.operand)
            case ast.BinOp(op=op) if type(op) in OPERATORS:
                return self._operated(node, OPERATORS[type(op)], node.left, node.right)
            case ast.Compare(ops=[op], comparators=[right]) if type(op) in {*OPERATORS, *COMPARED}:
                compare = OPERATORS.get(type(op)) or partial(_compared, COMPARED[type(op)])
                return self._operated(node, compare, node.left, right)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
        return self._raise(node)

    def _at(self, node: ast.expr, compute: Callable[[], Value]) -> Value:
        self.current = node
        made = compute()
        if hasattr(made, "__array__") and not isinstance(made, (Array, Length)) and made.dtype.kind not in "biu":
            made = as_expression(made)
        return traced_array(made) if isinstance(made, Expression) and not isinstance(made, TracedArray) else made

    def _raise(self, node: ast.expr) -> NoReturn:
        self.current = node
        hint = "write a Python function of the arrays, def f(...): return ..., and pass it in place of the text"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
            hint = f"a power is {shown(f'{ast.unparse(node.left)}**{ast.unparse(node.right)}')}"
        raise NotSupported(f"{shown(ast.unparse(node))} is not supported in text", hint=hint)

    def _operated(self, node: ast.expr, operation: Callable[..., Value], *operands: ast.expr) -> Value:
        """Return the result of an operator on expressions; on numbers it is exact."""
        values = [self.value(one) for one in operands]
        self.current = node
        formulas = [e if isinstance(e, Array) else as_expression(e) for e in values]
        is_of_numbers = isinstance(node, ast.Compare) and not any(map(_holds, values))
        if is_of_numbers or any(e is None or isinstance(v, str) for e, v in zip(formulas, values, strict=True)):
            self._raise(node)
        of_integers = all(map(_is_integer, values)) and isinstance(getattr(node, "op", None), EXACT_ON_INTEGERS)
        plain = of_integers or any(isinstance(v, (Array, Length)) for v in values)
        used = [v if plain and _is_integer(v) else e for v, e in zip(values, formulas, strict=True)]
        return self._at(node, lambda: operation(*used))

    def _attribute(self, node: ast.Attribute) -> Value:
        if _path(node.value) in MODULES:
            if node.attr in ("r_", "c_"):
                return getattr(self.numpy, node.attr)
            if node.attr in VALUES:
                return VALUES[node.attr]
            if node.attr not in EXACT:
                self._raise(node)
            return of_meaning(read_formulas([node.attr])[0])
        base = self.value(node.value)
        if not isinstance(base, Array) or node.attr not in ATTRIBUTES:
            self._raise(node)
        return self._at(node, lambda: getattr(base, node.attr))

    def _call(self, node: ast.Call) -> Value:
        """Return the result of a function or a method."""
        module, _, word = _path(node.func).rpartition(".")
        names = numpy_names(default_rulebook())
        difference = names.difference(module, word, len(node.args), [str(one.arg) for one in node.keywords])
        if difference:
            self.current = node
            raise NotSupported(difference)
        plain = [self.value(one) for one in node.args]
        named = {str(one.arg): self.value(one.value) for one in node.keywords}
        called = self._function(node.func, plain)
        if called is None:
            self._raise(node)
        self.current = node
        sized = plain[: SIZED.get(_path(node.func).rpartition(".")[2], 0)]
        if math.prod(one for one in _flat(sized) if isinstance(one, int) and one > 0) > MOST_ENTRIES:
            raise NotSupported("an array of so many entries is not written in text", hint="use the name of a size")
        return self._at(node, lambda: called(*plain, **named))

    def _function(self, node: ast.expr, arguments: list[Value]) -> Callable[..., Value] | None:
        """Return a method of an expression, a function of NumPy's, or an operation without such a function."""
        path = _path(node)
        modules, _, name = path.rpartition(".")
        theirs = function_named(path)
        if isinstance(node, ast.Attribute) and modules not in MODULES and not theirs:
            base = self.value(node.value)
            known = isinstance(base, Array) and (node.attr in METHODS or is_method(node.attr))
            return getattr(base, node.attr) if known else None
        own = found(name)
        if not name or modules.startswith(OTHERS) and not (own and own.shapes):
            return None
        if path in BUILTINS:
            return cast("Callable[..., Value]", self.builtins[path])
        if name in NumpyCalls.__dict__ and not name.startswith("_") and (modules in NUMPYS or path in BARE):
            return cast("Callable[..., Value]", getattr(self.numpy, name))
        if own is not None and own.shapes and theirs is None:
            import scipy.linalg

            return cast("Callable[..., Value]", getattr(self.values.of(scipy.linalg), name))
        is_theirs = theirs is not None and any(map(_holds, arguments))
        if own is None or own.items or (is_theirs and not _takes_sizes(own.name)):
            return theirs
        return lambda *plain, **named: function(own.name)(*_flat(plain), **named)


def _compared(name: str, left: Value, right: Value) -> Value:
    import numpy as np

    return getattr(np, name)(left, right)


def _is_integer(value: Value) -> bool:
    return isinstance(value, (int, Length)) and not isinstance(value, bool)


def _holds(value: Value) -> bool:
    """Whether a value is an expression, or contains one."""
    return any(map(_holds, value)) if isinstance(value, (list, tuple)) else isinstance(value, Array)


def _flat(values: Iterable[Value]) -> list[Value]:
    return [inner for one in values for inner in (one if isinstance(one, tuple) else (one,))]


def _takes_sizes(name: str) -> bool:
    """Whether an operation takes only sizes, so that no array argument triggers NumPy's protocols."""
    return any(c.signature.parameters[0].kind == COUNTED for c in default_rulebook().candidates(name))


def _path(node: ast.expr) -> str:
    """Return a dotted name, `np.linalg.norm`; "" for other expressions."""
    if isinstance(node, ast.Name):
        return node.id
    inner = _path(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{inner}.{node.attr}" if inner and isinstance(node, ast.Attribute) else ""
