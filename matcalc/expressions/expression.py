"""Defines Expression: the user's handle on a node, with the symbols that it was written with.

The node is the mathematics. The expression adds names, their order (that of compiled arguments) and a row mark for
NumPy's operators. Derivatives are again expressions, simplified and factored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from math import prod
from typing import TYPE_CHECKING, Any

from matcalc.calculus.derive.marks import unmarked
from matcalc.calculus.simplify.shorten import measure
from matcalc.calculus.simplify.shortest import shortest
from matcalc.errors import MatcalcError, NotSupported, NoValue, ShapeError
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written.reference import of_tree
from matcalc.expressions.derivatives import Derivatives, name_of
from matcalc.expressions.forms import Forms
from matcalc.expressions.numpy_bridge import operators, shapes
from matcalc.expressions.numpy_bridge.arguments import constant_of, is_object_array, node_of, with_axes
from matcalc.expressions.numpy_bridge.length import Length
from matcalc.expressions.numpy_bridge.numeric_arguments import Value, value_of
from matcalc.expressions.numpy_bridge.operators import Marked, Operation
from matcalc.expressions.numpy_bridge.subscripts import subscripts
from matcalc.expressions.operands.handle import Key, shown_and_computed
from matcalc.expressions.operands.numpy_protocol import Array, ArrayCall, Condition
from matcalc.expressions.operands.references import of_numpy
from matcalc.expressions.printing import formula_in, latex_in, named_formula_in, text_of
from matcalc.expressions.read_formulas import Meaning, read_formulas
from matcalc.expressions.substituting import check_facts, length_of, meant, replaced
from matcalc.expressions.sympy_bridge import from_sympy
from matcalc.expressions.sympy_bridge.sympy_objects import is_sympy
from matcalc.formula.elaborate.formulas_of_nodes import build_tree
from matcalc.formula.elaborate.texts import declarations_of
from matcalc.formula.graph.graph import Graph
from matcalc.formula.graph.overview import Overview
from matcalc.formula.notation.entry_form import entries_of
from matcalc.language.declare import SharedDeclarations
from matcalc.language.identifiers import by_name, shown
from matcalc.language.syntax import Ast, leaf_of, part, transpose
from matcalc.language.write import text
from matcalc.tensor.constructors import number, scale, size_number
from matcalc.tensor.lookups import as_number
from matcalc.tensor.nodes.node import Node, sizes_used, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.steps.unrolled import unrolled
from matcalc.tensor.symbols import Names, free_sizes

if TYPE_CHECKING:
    from sympy import Basic


class Expression(Array, Derivatives, Forms):
    """A formula over declared symbols; immutable. `str(e)` reads back to the same node."""

    __slots__ = ()

    # Properties.

    @property
    def shape(self) -> tuple[int | Length, ...]:
        """The shape: integers, and sizes that equal their text."""
        return tuple(length_shown(size, self.names.traced) for size in self.node.shape)

    @property
    def size(self) -> int | Length:
        """The number of entries: an integer, or a size that equals its text."""
        return length_shown(prod(self.node.shape, start=Size.of(1)), self.names.traced)

    @property
    def facts(self) -> frozenset[str]:
        """The known facts of the value: symmetric, spd, positive, ..."""
        return self.node.facts

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the arguments: symbols and containers of them, then sizes that no argument determines."""
        return self.names.called(self.free_sizes)

    @property
    def free_sizes(self) -> tuple[str, ...]:
        """Size names that the value needs and no argument determines."""
        return free_sizes([self.node], self.names)

    @property
    def declarations(self) -> str:
        """Text that declares the symbols again, and sizes that would otherwise be read as symbols.

        Inferred kinds are marked: `mu: scalar, undeclared`.
        """
        written = declarations_of(self.node, self.formula, self.names.ordered(), self.names.undeclared)
        return SharedDeclarations(written)  # the variable of a derivative need not occur in it

    # Printing.

    def __str__(self) -> str:
        return text_of(self.formula())

    def formula(self, dotted: bool = True) -> Ast:
        """Return the syntax tree of the formula; its index names differ from all names in scope.

        Without `dotted` the terms of a sum have one shape: rows and columns are repeated by `ones(m)`.
        """
        if self._shown is not None:
            return self._shown
        return formula_in(self.node, self.names, dotted=dotted)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r}, {self.declarations!r})"

    def named(self) -> str:
        """Return the text with named parts, `formula where K = ..., a = K*y`: yours, and those that make it shortest.

        It reads back to the same node.
        """
        return text_of(named_formula_in(self.node, self.names)[0], is_named=True)

    def latex(self, named: bool = False) -> str:
        """Return the formula as LaTeX; with `named` its parts have names, as in `named()`."""
        if named:
            return latex_in(*named_formula_in(self.node, self.names, dotted=False))
        return latex_in(self.formula(dotted=False), self.names)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return the formula for a notebook: LaTeX that KaTeX and MathJax typeset, and text."""
        return {"text/latex": self._repr_latex_(), "text/plain": repr(self)}

    def graph(self) -> Graph:
        """Return the DAG as a picture: SVG in a notebook and by `.save("graph.svg")`, text when printed."""

        def formula(node: Node) -> str:
            try:
                return text(formula_in(node, self.names))
            except MatcalcError:  # a part that only an index form around it can express
                return ""

        return Graph(self.node, formula)

    def show(self) -> None:
        """Show formula, declarations, derivation and graph: typeset in a notebook, as text in a terminal."""
        overview = Overview(str(self), self.declarations, self.explain(), self.graph())
        shell = sys.modules.get("IPython")
        if shell is None or shell.get_ipython() is None:
            print(overview)
            return
        from IPython.display import display

        if shell.get_ipython().has_trait("kernel"):
            display(self)
        display(overview)

    def sympy(self) -> Basic:
        """Return the formula as a SymPy expression, in the SymPy symbols that it was read from.

        An array of numbers without a name in SymPy, `duplication(3)`, is written by its entries. A recurrence of a
        fixed number of steps is written out, step by step.

        Raises: NotSupported for a formula without a SymPy form.
        """
        import numpy as np

        from matcalc.expressions.sympy_bridge.explicit import explicit
        from matcalc.expressions.sympy_bridge.write import to_sympy

        def made(formula: Ast) -> Basic:
            return to_sympy(formula, self.names.symbols, self.names.sympy_symbols)

        try:
            node = unrolled(self.node)
            return made((self if node is self.node else self._as(node)).formula(dotted=False))
        except NotSupported as error:
            if any(node.kind == "symbol" for node in toposort([self.node])):
                raise
            try:
                if self.node.rank in (1, 2) and not sizes_used([self.node]):
                    return explicit(np.asarray(value_of(self.node, Names({}, ()), (), {}, False)))
                return made(entries_of(self.node, (*self.names.symbols, *self.names.size_names)))
            except NotSupported:
                raise error from None

    # Algebra.

    def simplify(self, check: bool = True) -> Expression:
        """Return the shortest equal expression that the rewrites and factoring find, never a longer one.

        Raises: InternalError if it differs from the formula as written; `check=False` omits the comparison.
        """
        node = min([unmarked(shortest(self.node)), self.node], key=measure)
        made = self._equal(node, "the simplified form") if check else self._as(node)
        made._trace = self._trace or Derivation("value", self.node)
        return made

    def substitute(self, values: Mapping[Key, object] | None = None, /, **named: object) -> Expression:
        """Return the expression with symbols replaced by expressions or numbers, and sizes by sizes: `n=3`.

        Values are passed by name or in a dictionary. Text is a formula over the same symbols. A new name alone is a
        symbol like the replaced one; the kinds of other new names are inferred. A value may have other sizes than its
        symbol, if they agree everywhere; they then replace the symbol's sizes.

        Raises: UnknownName; ShapeError for shapes that do not fit, and for a value that is not known to have its
            symbol's declared facts; LinAlgError for data that lack them.
        """
        bound: dict[str, tuple[Node, Names]] = {}
        sizes: dict[str, Size] = {}
        has_marks = self.has_marks
        for name, value in {**self._named(values), **named}.items():
            if isinstance(value, str):
                new: Expression | None = Expression(*meant(value, name, self.names))
            else:
                new = as_expression(value)
            if new is None:
                raise ShapeError(f"{shown(value)} cannot replace {name}: it is neither an expression nor a number")
            length = length_of(new.node) if name in self.names.size_names else None
            if length is not None:
                sizes[name] = length
            else:
                bound[self.names.symbol(name).name] = new.computed, new.names
                has_marks = has_marks or new.has_marks
        check_facts(self.names, bound)
        node, names = replaced(self.computed, self.names, bound, sizes)
        shown_, computed = shown_and_computed(node, has_marks)
        return Expression(shown_, names, self.row, computed=computed)

    @staticmethod
    def _named(values: Mapping[Key, object] | None) -> dict[str, object]:
        return {name_of(key): value for key, value in by_name(values or {}, "substitute").items()}

    def equals(self, other: object) -> bool:
        """Whether another expression, or the formula in a text over the same symbols, is the same node."""
        if isinstance(other, str):
            (meaning,) = read_formulas([other], known=self.names.symbols, sizes=self.names.sizes)
            return meaning.node is self.node
        return isinstance(other, Expression) and self.node is other.node

    def __eq__(self, other: object) -> bool | Condition:  # type: ignore[override]
        """Whether both are one node; in a function written for NumPy, the comparison of their entries."""
        if self._is_traced_with(other):
            return self._compared("==", other)
        return isinstance(other, Expression) and self.node is other.node

    def __ne__(self, other: object) -> bool | Condition:  # type: ignore[override]
        return self._compared("!=", other) if self._is_traced_with(other) else not self == other

    def _is_traced_with(self, other: object) -> bool:
        """Whether one of two operands belongs to a function written for NumPy that is being traced."""
        return self.names.traced or isinstance(other, Array) and other.names.traced

    def __hash__(self) -> int:
        return hash(self.node)

    # Values.

    def __call__(self, /, *args: object, check_facts: bool = False, **values: object) -> Value:
        """Return the value by plain NumPy; the arguments are `symbols`, by position or name, or in one dictionary.

        With `check_facts` the declared facts of each array are checked first.

        Raises: TypeError, ShapeError; LinAlgError outside the domain.
        """
        return value_of(self.computed, self.names, args, values, check_facts)

    # Python's operators follow NumPy.

    @property
    def operand(self) -> Ast:
        """The tree of the expression as an operand of a larger one: its node, transposed if it is a row."""
        leaf = leaf_of(self.computed, self.formula, self._reference)
        return transpose(leaf) if self.row and len(self.node.shape) == 1 else leaf

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> object:
        right = as_expression(other)
        if right is None:
            return NotImplemented
        a, b = (right, self) if swap else (self, right)
        made = operation.of(a.marked, b.marked)
        written = of_numpy(operators.as_numpy(operation, a.marked, b.marked), (a, b), {})
        node, computed = shown_and_computed(made.node, a.has_marks or b.has_marks)
        return Expression(node, a.names.joined(b.names), made.row, reference=written, computed=computed)

    def __neg__(self) -> Expression:
        import numpy as np

        written = of_numpy(np.negative, (self,), {})
        node, computed = shown_and_computed(scale(-1, as_number(self.computed)), self.has_marks)
        return Expression(node, self.names, self.row, reference=written, computed=computed)

    def __pos__(self) -> Expression:
        return self

    @property
    def T(self) -> Expression:  # noqa: N802 - NumPy's name
        """The transpose. For a vector it toggles the row mark, except in a function written for NumPy."""
        import numpy as np

        written = of_numpy(np.transpose, (self,), {})
        if self.names.traced or len(self.node.shape) > 2:
            made = Marked(shapes.transpose(self.computed))
        else:
            made = operators.transpose(self.marked)
        node, computed = shown_and_computed(made.node, self.has_marks)
        return Expression(node, self.names, made.row, reference=written, computed=computed)

    @property
    def mT(self) -> Expression:  # noqa: N802 - NumPy's name
        """The transpose of the last two axes."""
        node, computed = shown_and_computed(shapes.matrix_transpose(self.computed), self.has_marks)
        return Expression(node, self.names, computed=computed)

    def __len__(self) -> int:
        if not self.node.shape:
            raise NoValue("a scalar has no length")
        if not self.node.shape[0].is_integer:
            raise NoValue(f"the length {self.node.shape[0]} is no number yet", hint="write x.shape[0] for the size")
        return int(self.node.shape[0])

    def __iter__(self) -> Iterator[Expression]:
        count = self.shape[0] if self.node.shape else len(self)
        return iter([self[k] for k in range(count)])  # raises for a size without a value

    def __getitem__(self, at: object) -> Expression:
        bounds: list[Expression] = []

        def operand(value: object) -> Ast | None:
            if is_sympy(value):
                return from_sympy(value, self.names.size_names)[0]
            e = as_expression(value)
            bounds.extend([e] if e is not None else [])
            return e.operand if e is not None else None

        trees, new = subscripts(at, operand, len(self.node.shape))
        tree = part(self.operand, *trees)
        node, conditions = build_tree(tree) if trees else (self.computed, [])
        names = reduce(Names.joined, (e.names for e in bounds), self.names).under(conditions)
        written = None if new or not trees or self.names.traced else of_tree(tree, broadcasts=True)
        node, computed = shown_and_computed(with_axes(node, new), any(e.has_marks for e in (self, *bounds)))
        return Expression(node, names, reference=written, computed=computed)

    def __reduce__(self) -> tuple[object, ...]:
        declared = declarations_of(self.node, self.formula, tuple(self.names.symbols.values()), self.names.undeclared)
        return _restored, (str(self), declared, self.names.outer, self._computed)


def length_shown(size: Size, traced: bool = False) -> int | Length:
    """Return a size of a shape: an integer, or an object that equals its text."""
    return int(size) if size.is_integer else Length(size, size_expression, traced)


def size_expression(size: Size, traced: bool = False) -> Expression:
    """Return a size as a number."""
    return Expression(size_number(size), Names({}, (), sizes=size.names, traced=traced))


def _restored(text_: str, declarations: str, outer: Mapping[str, Any], computed: Node | None = None) -> Expression:
    (made,) = read_formulas([text_], declarations)
    names = replace(made.names, **outer)
    return Expression(made.node, names, made.row, reference=made.reference, computed=computed)


def of_meaning(read: Meaning) -> Expression:
    """Return the expression of a formula that was read."""
    return Expression(read.node, read.names, read.row, reference=read.reference)


def as_expression(value: object) -> Expression | None:
    """Return a number, an array of numbers, a SymPy object or an expression as an expression; None for others."""
    if isinstance(value, Expression):
        return value
    if is_sympy(value):
        return of_meaning(read_formulas([value])[0])
    if isinstance(value, Length):
        return size_expression(value.length, value.traced)
    if isinstance(value, Condition):
        return Expression(value.marked.node, value.names)
    if is_object_array(value):
        return side_by_side(value)
    node = constant_of(value)
    return None if node is None else Expression(node, Names({}, ()))


def side_by_side(entries: object) -> Expression:
    """Return an array or list of expressions of one shape as one, stacked along new first axes.

    Raises: ShapeError for expressions of unequal shapes.
    """
    pending = ArrayCall(Expression(number(0), Names({}, ())))
    made: Expression = pending.wrapped(node_of(pending.unwrapped(entries)))
    return made
