"""Provides forms of an expression: expanded, factored, collected, or written with solutions, inverses or entries.

A form with other terms is another node of equal value. A form that is only written differently is the same node, and
its text reads back to that node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, cast, overload

from matcalc.calculus.derive.closed_forms import closed_form
from matcalc.calculus.derive.conventions import as_matrix
from matcalc.calculus.derive.marks import read_where_finite
from matcalc.calculus.simplify.expand import expand, tidied
from matcalc.calculus.simplify.factor import factor
from matcalc.errors import MatcalcError, NotSupported
from matcalc.evidence.explain.collect import coefficient, collect
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.explain.size_conditions import needed, needs
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.verify import verify
from matcalc.expressions.as_source import plain_source
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.operands.handle import Derived, Handle, Symbol
from matcalc.expressions.wrt import apart
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.graph import draw
from matcalc.formula.notation.as_solutions import solved
from matcalc.formula.notation.entry_form import entries_of
from matcalc.formula.notation.write_node import whole_formula_of
from matcalc.language.identifiers import is_one_of, shown
from matcalc.language.syntax import Ast
from matcalc.tensor.constructors import transpose
from matcalc.tensor.nodes.node import Node

if TYPE_CHECKING:
    from matcalc.evidence.explain.print_derivation import Explanation


class Forms(Handle):
    """The methods that return other forms."""

    __slots__ = ()

    def _as(self, node: Node, shown: Ast | None = None) -> Self:
        """Return the expression of a node of equal value, with its formula if that is not the usual one."""
        return type(self)(node, self.names, self.row, shown=shown, computed=self._computed)

    def _equal(self, node: Node, what: str) -> Self:
        """Return the expression of a node of equal value, compared with the formula as written.

        Raises: InternalError if it differs.
        """
        computed = read_where_finite(node, self.computed) if self.has_marks else node
        claim = Claim(computed, Derivation("value", self.node), what)
        evidence = verify(iter([claim]), self.reference, self.names)
        return type(self)(
            node, self.names, self.row, self._trace, None, None, self._reference, evidence, self._computed
        )

    @overload
    def explain(self, form: Literal["text"] = "text") -> Explanation: ...

    @overload
    def explain(self, form: str) -> str: ...

    def explain(self, form: str = "text") -> str:
        """Return the derivation as numbered steps, with the rules and facts used: text, latex, markdown.

        The text has the method `latex()`, a document to compile, and is typeset in notebooks.
        """
        from matcalc.evidence.explain.print_derivation import printed

        return printed((self._trace or Derivation("value", self.node)).lines(self.node, self.names.named_parts), form)

    @property
    def leading_axes(self) -> int:
        """The number of axes of the differentiated formula, which are the rows of a matrix of stacked columns."""
        return (self.node.rank + 1) // 2 if self._trace is None else self._trace.leading_axes

    @property
    def needs(self) -> tuple[str, ...]:
        """Conditions on sizes for the formula to have a value: `m >= n, or X'*X is singular`."""
        return (*needs(self.node), *map(needed, self.names.conditions))

    def tree(self) -> str:
        """Return the DAG as indented text."""
        return draw.tree(self.node)

    def dot(self, *other: object) -> Derived:
        """Return the DAG in Graphviz' language; with another operand, NumPy's product `x.dot(y)`."""
        if not other:
            return draw.dot(self.node)
        import numpy as np

        return np.dot(cast("Any", self), *cast("Any", other))

    def mermaid(self) -> str:
        """Return the DAG in Mermaid's language."""
        return draw.mermaid(self.node)

    def python(self, name: str = "f", check: bool = True) -> str:
        """Return the source of a Python function of the value, as a person writes it with NumPy and SciPy.

        Raises: NotSupported for an operation without a plain form.
        """
        return plain_source([self], "python", name, check)

    def octave(self, name: str = "f", check: bool = True) -> str:
        """Return the source of a function of the value for Octave and MATLAB; raises as `python`."""
        return plain_source([self], "octave", name, check)

    def r(self, name: str = "f", check: bool = True) -> str:
        """Return the source of a function of the value for R; raises as `python`."""
        return plain_source([self], "r", name, check)

    def expand(self) -> Self:
        """Return an equal expression whose products contain no sums, inside functions too.

        Raises: NotSupported for too many terms.
        """
        return self._equal(tidied(expand(self.node)), "the expanded form")

    def factor(self) -> Self:
        """Return an equal expression with its sums factored if that is shorter."""
        return self._equal(factor(self.node), "the factored form")

    def collect(self, x: Symbol) -> Self:
        """Return an equal expression with the terms in `x`, a symbol or part, collected: `(A + B)*x` for `A*x + B*x`.

        Raises: UnknownName; NotSupported for too many terms; NotDifferentiable for a part of a symmetric matrix.
        """
        split = apart(self, x)
        e = split.e
        collected = collect(e.node, e.names.symbol(name_of(split.wrt)))
        made: Self = split.back(e._equal(collected, "the collected form"), simplified=False)
        return made

    def coefficient(self, x: Symbol, degree: int = 1) -> Self:
        """Return the coefficient of a symbol: A for `A*x + b`, {i,j,k,l: A[i,k]*B[l,j]} for `A*X*B`.

        For a polynomial, `degree` selects a power: (A + A')/2 for `x'*A*x` and degree 2. For a part `x[0]` the result
        may contain the other entries.

        Shapes: self.shape, then x.shape `degree` times.
        Raises: UnknownName; NotSupported if the symbol is inside a function; NotDifferentiable as `collect`.
        """
        if not isinstance(degree, int):
            raise TypeError(f"a degree is an integer, not {shown(degree)}")
        split = apart(self, x)
        e = split.e
        found = coefficient(e.node, e.names.symbol(name_of(split.wrt)), degree)
        made: Self = split.back(type(self)(found, e.names, e.row))
        return made

    def rewrite(self, form: str) -> Self:
        """Return the expression in another form: "solve" (`A\\b`), "inv" (`inv(A)*b`), "index", "kron" or "closed".

        "closed" writes the last state of a recurrence as a power of a matrix, or of a number with a geometric sum. Its
        step must be linear with coefficients that stay the same. "index" writes it entry by entry. "kron" writes an
        array of order 3 or 4 as the matrix of its stacked columns, with Kronecker products if possible. The other forms
        are the same node, written differently.

        Raises: NotSupported for any other form.
        """
        if not is_one_of(form, REWRITES):
            raise NotSupported(f"no form {shown(form)}: {', '.join(REWRITES)}")
        return REWRITES[form](self)


Made = TypeVar("Made", bound=Forms)


def _index_form(e: Made) -> Made:
    return _reading(e, entries_of(e.node, (*e.names.symbols, *e.names.size_names)))


def _solutions(e: Made) -> Made:
    def meant(ast: Ast) -> Node:
        return elaborate([ast], symbols=e.names.symbols, sizes=e.names.sizes).nodes[0]

    def transposed(ast: Ast) -> Ast:
        return whole_formula_of(transpose(meant(ast)), e.names.symbols)

    def is_scalar(ast: Ast) -> bool:
        try:
            return not meant(ast).shape
        except MatcalcError:  # the part of an index form
            return False

    return _reading(e, solved(whole_formula_of(e.node, e.names.symbols), transposed, is_scalar))


def _reading(e: Made, shown: Ast) -> Made:
    """Return the expression with another formula; with the usual one if that formula reads as another node."""
    made = elaborate([shown], symbols=e.names.symbols, sizes=e.names.sizes).nodes[0]
    return e._as(e.node, shown if made is e.node else None)


def _inverses(e: Made) -> Made:
    return e._as(e.node)


def _kronecker(e: Made) -> Made:
    if e.node.rank < 3:
        raise NotSupported("a Kronecker form of a matrix: only arrays of order 3 or 4 have one")
    return e._as(as_matrix(e.node, e.leading_axes))


def _closed(e: Made) -> Made:
    return e._equal(closed_form(e.node), "the closed form")


REWRITES: dict[str, Callable[[Made], Made]] = {
    "solve": _solutions, "inv": _inverses, "index": _index_form, "kron": _kronecker,
    "closed": _closed,
}  # fmt: skip
