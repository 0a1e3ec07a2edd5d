"""Writes index forms as SymPy objects: an entry with sums over indices, and the matrix or array that has it.

An unlisted index is summed over the product or tensor that repeats it; it becomes a `Sum`, as does `sum{k: ...}`. A
form with one or two indices is a FunctionMatrix, one with more an ArrayComprehension, one without indices a scalar.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy
from sympy import Basic
from sympy.matrices.expressions.matexpr import MatrixElement
from sympy.tensor.array import ArrayComprehension
from sympy.tensor.array.expressions import ArraySymbol

from matcalc.errors import NotSupported
from matcalc.expressions.sympy_bridge.by_rule import scalar_writer
from matcalc.expressions.sympy_bridge.calls import ARITHMETIC, as_scalar, is_matrix
from matcalc.expressions.sympy_bridge.values import size_to
from matcalc.language import syntax
from matcalc.language.index_sums import listed, summed_in
from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node

Write = Callable[[Ast], "Basic"]


class Entries:
    """The state of writing one index form: `write` writes other trees; `lengths` of indices are added when found."""

    def __init__(self, symbols: Mapping[str, Node], write: Write, lengths: dict[str, Basic]) -> None:
        self.symbols = symbols
        self.write = write
        self.lengths = lengths
        self.sizes = {name for node in symbols.values() for size in node.shape for name in size.names}

    def form(self, ast: Ast, bound: frozenset[str]) -> Basic:
        """Return an index form in which `bound` are already listed."""
        names: tuple[str, ...] = ast.value  # type: ignore[assignment]
        entry = self.entry(ast.args[0], bound | frozenset(names))
        missing = [name for name in names if name not in self.lengths]
        if missing:
            raise NotSupported(f"the index {missing[0]} of an index form has no length for SymPy")
        lengths = [self.lengths[name] for name in names]
        indices = [_index(name) for name in names]
        if not names:
            return entry
        if len(names) > 2:
            limits = [(i, 0, length - 1) for i, length in zip(indices, lengths, strict=True)]
            try:
                return ArrayComprehension(entry, *limits)
            except (TypeError, ValueError) as error:
                raise NotSupported(f"an index form has no SymPy form: {error}") from None
        if len(names) == 1:
            return sympy.FunctionMatrix(lengths[0], 1, sympy.Lambda((*indices, _index(f"{names[0]}_0")), entry))
        return sympy.FunctionMatrix(*lengths, sympy.Lambda(tuple(indices), entry))

    def entry(self, ast: Ast, bound: frozenset[str]) -> Basic:
        """Return a scalar of indices; those that are not in `bound` are summed."""
        if ast.head == "index_sum":
            return self._summed(self.entry(ast.args[0], bound | listed(ast)), list(ast.value))  # type: ignore[call-overload]
        if not self.indices(ast, bound):
            return as_scalar(self.write(ast))
        if ast.head == "product":
            return self._product(ast, bound)
        if ast.head == "part":
            return self._part(ast, bound)
        if ast.head == "condition":
            left, right = (self.position(side) for side in ast.args)
            if ast.value == "==":
                return sympy.KroneckerDelta(left, right)
            return sympy.Piecewise((1, sympy.Rel(left, right, ast.value)), (0, True))
        if ast.head == "call":
            return self._call(ast, bound)
        if ast.head in ("sum", "negative", "power"):
            return ARITHMETIC[ast.head](ast, [self.entry(arg, bound) for arg in ast.args])
        raise NotSupported(f"{ast.head} in an index form has no SymPy form")

    def indices(self, ast: Ast, bound: frozenset[str]) -> frozenset[str]:
        """Return the names of indices that occur in a tree and are neither listed nor summed in it."""
        if ast.head in syntax.BINDERS:
            within = self.indices(ast.args[0], bound | listed(ast)) - listed(ast)
            return within - (summed_in(ast) - bound)
        found: frozenset[str] = frozenset()
        children = syntax.children(ast)
        if ast.head in ("part", "condition"):
            subscripts = children if ast.head == "condition" else children[1:]
            named = {str(n.value) for subscript in subscripts for n in syntax.walk(subscript) if n.head == "name"}
            found = frozenset(named) - self.sizes - frozenset(self.symbols)
            children = () if ast.head == "condition" else children[:1]
        return found.union(*(self.indices(child, bound) for child in children))

    def position(self, ast: Ast) -> Basic:
        """Return a position: an index, a size, a number, or an expression of them."""
        if ast.head == "name":
            return _index(str(ast.value)) if ast.value not in self.sizes else sympy.Symbol(str(ast.value))
        if ast.head in ("number", "slice"):
            return self.write(ast)
        if ast.head in ("sum", "negative", "product"):
            return ARITHMETIC[ast.head](ast, [self.position(arg) for arg in ast.args])
        raise NotSupported(f"a position that is a {ast.head} has no SymPy form")

    def _product(self, ast: Ast, bound: frozenset[str]) -> Basic:
        held = [self.indices(arg, bound) - bound for arg in ast.args]
        shared = sorted(name for name in frozenset().union(*held) if sum(name in one for one in held) > 1)
        inner = bound | frozenset(shared)
        outside = inside = sympy.Integer(1)  # SymPy sums a delta times a Piecewise wrongly
        operators: tuple[str, ...] = ast.value  # type: ignore[assignment]
        for operator, arg, own in zip(("*", *operators), ast.args, held, strict=True):
            factor = self.entry(arg, inner)
            factor = 1 / factor if operator in ("/", "./") else factor
            inside, outside = (inside * factor, outside) if own & set(shared) else (inside, outside * factor)
        return outside * self._summed(inside, shared)

    def _part(self, ast: Ast, bound: frozenset[str]) -> Basic:
        base, *subscripts = ast.args
        tensor = self._tensor(base, bound)
        positions = [self.position(subscript) for subscript in subscripts]
        for subscript, length in zip(subscripts, tensor.shape, strict=False):
            if subscript.head == "name" and subscript.value not in self.sizes:
                self.lengths.setdefault(str(subscript.value), length)
        summed = {str(p.value) for p in subscripts if p.head == "name"} - self.sizes - bound
        if isinstance(tensor, sympy.OneMatrix):
            entry = sympy.Integer(1)
        elif isinstance(tensor, sympy.Identity):
            entry = sympy.KroneckerDelta(*positions)
        elif is_matrix(tensor):
            entry = MatrixElement(tensor, *positions, *([0] * (2 - len(positions))))
        else:
            entry = tensor[tuple(positions)]
        return self._summed(entry, sorted(summed))

    def _tensor(self, base: Ast, bound: frozenset[str]) -> Basic:
        node = self.symbols.get(str(base.value)) if base.head == "name" else None
        if node is not None and node.rank > 2:
            return ArraySymbol(node.name, tuple(map(size_to, node.shape)))
        made = self.form(base, bound) if base.head == "index_form" else self.write(base)
        if not is_matrix(made):
            raise NotSupported("an entry of a tensor that is not a symbol has no SymPy form")
        return made

    def _call(self, ast: Ast, bound: frozenset[str]) -> Basic:
        name, operands = syntax.call_name(ast), list(ast.args)
        if operands and operands[0].head == "compare":
            name, operands = f"{name}{operands[0].value}", [*operands[0].args, *operands[1:]]
        found = scalar_writer(name, len(operands))
        if syntax.call_keywords(ast):
            raise NotSupported(f"{name} along an axis in an index form has no SymPy form")
        if any(arg.head == "index_form" for arg in ast.args) or found is None:
            made = [self.form(arg, bound) if arg.head == "index_form" else self.write(arg) for arg in ast.args]
            return as_scalar(self.write(Ast("applied", (), (ast, made))))
        return found[1](*(self.entry(arg, bound) for arg in operands))

    def _summed(self, entry: Basic, names: list[str]) -> Basic:
        missing = [name for name in names if name not in self.lengths]
        if missing:
            raise NotSupported(f"the index {missing[0]} of a sum has no length for SymPy")
        for name in names:  # another term may use the name for another index
            entry = sympy.Sum(entry, (_index(name), 0, self.lengths.pop(name) - 1))
        return entry


def _index(name: str) -> Basic:
    return sympy.Symbol(name, integer=True, nonnegative=True)
