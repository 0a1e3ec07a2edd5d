"""Expression: the user's handle on a node, with the symbols that it was written with.

The node is the mathematics; the expression remembers names, their order (that of compiled arguments) and a
row mark for NumPy's operators. Derivatives are again expressions, simplified and factored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from matcalc.calculus.derive import conventions
from matcalc.calculus.derive.differentiate import pushforward
from matcalc.calculus.simplify.shortest import shortest, shortest_of
from matcalc.calculus.simplify.simplify import simplify
from matcalc.errors import NotDifferentiable, ShapeError, UnknownName
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.explain.differential_form import canonical, joined
from matcalc.evidence.explain.printed import printed
from matcalc.expressions import operators
from matcalc.expressions.forms import Forms
from matcalc.expressions.numeric_arguments import value_of
from matcalc.expressions.numpy_operators import Arithmetic, Operation
from matcalc.expressions.operators import Marked
from matcalc.expressions.read_formulas import read_formulas
from matcalc.expressions.subscripts import subscripts
from matcalc.expressions.substituting import length_of, replaced
from matcalc.expressions.sympy_bridge import from_sympy
from matcalc.expressions.sympy_bridge.given_objects import is_sympy, symbol_name
from matcalc.expressions.written import formula_in, latex_in, named_formula_in
from matcalc.formula.elaborate.given import build_given
from matcalc.formula.elaborate.texts import declarations_of
from matcalc.language.identifiers import MAX_BYTES, by_name, normalised, shown
from matcalc.language.syntax import Ast, given, part, transpose
from matcalc.language.write import text, where_text
from matcalc.tensor.constructors import add, inner, scale, symbol
from matcalc.tensor.node import Node
from matcalc.tensor.size import Size
from matcalc.tensor.symbols import Names, free_sizes, new_names

Wrt = Any
"""A name, a symbol (Expression or SymPy), or a list of them."""


class Expression(Arithmetic, Forms):
    """A formula over declared symbols; immutable. `str(e)` reads back to the same node."""

    __slots__ = ("_shown", "_trace", "names", "node", "row", "unfactored")

    def __init__(
        self,
        node: Node,
        names: Names,
        row: bool = False,
        trace: Derivation | None = None,
        unfactored: Node | None = None,
        shown: Ast | None = None,
    ) -> None:
        self.node = node
        self.names = names
        self.row = row
        self._trace = trace
        self.unfactored = unfactored  # of a derivative, simplified: factoring is for reading, compiled is the cheaper
        self._shown = shown  # a reading of the node other than the one that notation prefers

    # What it is.

    @property
    def shape(self) -> tuple[Any, ...]:
        """Integers, and sizes that equal their text."""
        return tuple(int(s) if s.is_integer else ShapeText(str(s)) for s in self.node.shape)

    @property
    def facts(self) -> frozenset[str]:
        """What is known of the value: symmetric, spd, positive, ..."""
        return self.node.facts

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the arguments: symbols, then sizes that no argument determines."""
        return (*(node.name for node in self.names.ordered()), *self.free_sizes)

    @property
    def free_sizes(self) -> tuple[str, ...]:
        """Size names that the value needs and no argument determines."""
        return free_sizes([self.node], self.names)

    @property
    def declarations(self) -> str:
        """Text that declares the symbols again, and sizes that would be read as symbols without it.

        What was inferred is marked: `mu: scalar, undeclared`.
        """
        return declarations_of(self.node, self.formula, self.names.ordered(), self.names.undeclared)

    # Printing.

    def __str__(self) -> str:
        return text(self.formula())

    def formula(self) -> Ast:
        """Return the syntax tree of the formula, its index names clear of all names in scope."""
        if self._shown is not None:
            return self._shown
        return formula_in(self.node, self.names)

    def __repr__(self) -> str:
        return f"Expression({str(self)!r}, {self.declarations!r})"

    def named(self) -> str:
        """Return the text with parts by name, `formula where K = ..., a = K*y`: yours, and those that make it shortest.

        It reads back to the same node.
        """
        return where_text(named_formula_in(self.node, self.names)[0])

    def latex(self, named: bool = False) -> str:
        """Return the formula as LaTeX; with `named` its parts stand by name, as in `named()`."""
        return latex_in(*(named_formula_in(self.node, self.names) if named else (self.formula(), self.names)))

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def sympy(self) -> Any:
        """Return the formula as a SymPy expression, in the SymPy symbols that it was read from."""
        from matcalc.expressions.sympy_bridge import to_sympy

        return to_sympy(self.formula(), self.names.symbols, self.names.theirs)

    def explain(self, form: str = "text") -> str:
        """Return the derivation as in a worked example, numbered, with rules and facts used: text, latex, markdown."""
        return printed((self._trace or Derivation("value", self.node)).lines(self.node), form)

    # Algebra.

    def _as(self, node: Node, shown: Ast | None = None) -> Expression:
        return Expression(node, self.names, self.row, shown=shown)

    def simplify(self) -> Expression:
        """Return the shortest equal expression that the rewrites and factoring find, never a longer one."""
        return Expression(shortest(self.node), self.names, self.row, self._trace or Derivation("value", self.node))

    def substitute(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Expression:
        """Return the expression with symbols replaced by expressions or numbers, and sizes by sizes: `n=3`.

        They are given by name or in a dictionary. A value of other sizes than the symbol's is put in where these agree
        with all else, which takes them over.

        Raises: UnknownName; ShapeError for shapes that do not fit.
        """
        bound: dict[str, tuple[Node, Names]] = {}
        sizes: dict[str, Size] = {}
        for name, value in {**self._named(values), **named}.items():
            new = as_expression(value)
            if new is None:
                raise ShapeError(f"{shown(value)} is no expression to put in for {name}")
            length = length_of(new.node) if name in self.names.size_names else None
            if length is not None:
                sizes[name] = length
            else:
                bound[self.names.symbol(name).name] = new.node, new.names
        return Expression(*replaced(self.node, self.names, bound, sizes), self.row)

    @staticmethod
    def _named(values: Mapping[Any, Any] | None) -> dict[str, Any]:
        return {name_of(key): value for key, value in by_name(values or {}, "substitute").items()}

    def equals(self, other: Expression) -> bool:
        """Whether both are one node."""
        return isinstance(other, Expression) and self.node is other.node

    # Values.

    def __call__(self, /, *args: Any, check_facts: bool = False, **values: Any) -> Any:
        """Return the value by plain NumPy; arguments as `symbols`, by position or name, or in one dictionary.

        With `check_facts` each array is first checked for the facts that its symbol is declared to have.

        Raises: TypeError, ShapeError; LinAlgError outside the domain.
        """
        return value_of(self.node, self.names, args, values, check_facts)

    # Derivatives.

    def gradient(self, wrt: Wrt, convention: str = "projected") -> Any:
        """Return the gradient of a scalar: the shape of `wrt`; a tuple for a list."""
        trace = partial(Derivation, "gradient", self.node, convention=convention)
        return self._each(wrt, trace, lambda f, xs: conventions.gradients(f, xs, convention))

    def jacobian(self, wrt: Wrt, layout: str = "tensor") -> Any:
        """Return d self / d wrt, shape self.shape + wrt.shape; a matrix of stacked columns with layout="vec"."""
        rank = len(self.node.shape)

        def made(f: Node, xs: Sequence[Node]) -> list[Node]:
            found = conventions.jacobians(f, xs)
            return [conventions.as_matrix(j, rank) for j in found] if conventions.is_vec(layout) else found

        return self._each(wrt, partial(Derivation, "jacobian", self.node, layout=layout), made)

    def hessian(self, wrt: Wrt, layout: str = "tensor") -> Any:
        """Return the Hessian of a scalar, shape wrt.shape + wrt.shape; rows of blocks for a list."""
        xs = self.symbols_of(wrt)
        rows = conventions.hessians(simplify(self.node), xs)
        if conventions.is_vec(layout):
            rows = [tuple(conventions.as_matrix(b, len(x.shape)) for b in row) for row, x in zip(rows, xs, strict=True)]
        traces = [Derivation("hessian", self.node, (x, y), layout=layout) for x in xs for y in xs]
        made = _finished([block for row in rows for block in row], self.names_with(wrt), traces)
        blocks = tuple(tuple(made[k : k + len(xs)]) for k in range(0, len(made), len(xs)))
        return blocks if isinstance(wrt, (list, tuple)) else blocks[0][0]

    def differential(self, wrt: Wrt, tangent: Any = None) -> Expression:
        """Return the differential, linear in the new symbols d + name (lists take lists of names)."""
        return self.jvp(wrt, tangent)

    def jvp(self, wrt: Wrt, tangent: Any = None) -> Expression:
        """Return the pushforward of tangents, the shape of self; the total for a list.

        That of a scalar is in the form tr(A'*dX), A the gradient.
        """
        xs, names, tangents = self._with_tangents(wrt, tangent, "tangent")
        trace = Derivation("differential", self.node, tuple(xs), tuple(tangents.values()))
        f = simplify(self.node)
        if f.shape:
            return _finished([pushforward(f, tangents)], names, [trace], self.row)[0]
        raw = conventions.gradients(f, xs, "projected")
        forms = shortest_of(raw)
        parts = [canonical(g, dx) for (g, _), dx in zip(forms, tangents.values(), strict=True)]
        unfactored = add([(1, inner(g, dx)) for (_, g), dx in zip(forms, tangents.values(), strict=True)])
        reading = joined([ast for node, ast in parts if not node.is_zero])
        return Expression(add([(1, node) for node, _ in parts]), names, False, trace, unfactored, reading)

    def vjp(self, wrt: Wrt, cotangent: str = "G") -> Any:
        """Return the pullback of a cotangent of the shape of self: the shape of `wrt`."""
        (name,) = new_names([name_of(cotangent)], ["G"], "cotangent")
        bar = symbol(name, self.node.shape)
        names = self.names_with(wrt).with_symbol(bar, "cotangent")
        trace = partial(Derivation, "vjp", self.node, cotangent=bar)
        return self._each(wrt, trace, lambda f, xs: conventions.vjps(f, xs, bar), names)

    def hvp(self, wrt: Wrt, vector: Any = "v") -> Any:
        """Return the Hessian of a scalar times a vector: the shape of `wrt`; full row sums for a list."""
        prefix = "v_" if isinstance(wrt, (list, tuple)) else "v"
        xs, names, vectors = self._with_tangents(wrt, None if vector == "v" else vector, "vector", prefix)

        def trace(wrt: tuple[Node, ...]) -> Derivation:
            return Derivation("hvp", self.node, (*wrt, *(y for y in xs if y not in wrt)), tuple(vectors.values()))

        return self._each(wrt, trace, lambda f, xs: conventions.hvps(f, xs, vectors), names)

    def _with_tangents(
        self, wrt: Wrt, given: Any, parameter: str, prefix: str = "d"
    ) -> tuple[list[Node], Names, dict[Node, Node]]:
        """Return the symbols of `wrt`, and new ones for a direction in each, with the names of all."""
        xs, names = self.symbols_of(wrt), self.names_with(wrt)
        defaults = [prefix if prefix == "v" else f"{prefix}{x.name}" for x in xs]
        tangents = {}
        chosen = given if given is None or isinstance(given, (list, tuple)) else [given]
        chosen = chosen and [name_of(one) for one in chosen]
        for x, name in zip(xs, new_names(chosen, defaults, parameter), strict=True):
            tangents[x] = conventions.tangent_symbol(x, name)
            names = names.with_symbol(tangents[x], parameter)
        return xs, names, tangents

    def _each(
        self,
        wrt: Wrt,
        trace: Callable[[tuple[Node, ...]], Derivation],
        make: Callable[[Node, Sequence[Node]], list[Node]],
        names: Names | None = None,
    ) -> Any:
        xs = self.symbols_of(wrt)
        made = _finished(make(simplify(self.node), xs), names or self.names_with(wrt), [trace((x,)) for x in xs])
        return made if isinstance(wrt, (list, tuple)) else made[0]

    def names_with(self, wrt: Wrt) -> Names:
        """Return the names with the symbols of `wrt` among those written."""
        added = (x.name for x in self.symbols_of(wrt))
        return replace(self.names, written=tuple(dict.fromkeys((*self.names.written, *added))))

    def symbols_of(self, wrt: Wrt) -> list[Node]:
        """Return the symbols to differentiate in.

        Raises: UnknownName; NotDifferentiable for one that is declared constant.
        """
        xs = [self.names.symbol(name_of(w)) for w in (wrt if isinstance(wrt, (list, tuple)) else [wrt])]
        for x in xs:
            if "constant" in x.facts:
                raise NotDifferentiable(f"{x.name} is declared constant")
        return xs

    def _symbol_of(self, x: Any) -> Node:
        return self.names.symbol(name_of(x))

    @property
    def leading_axes(self) -> int:
        """How many axes are those of what was differentiated, which are the rows of a matrix of stacked columns."""
        return self._trace.leading_axes if self._trace is not None else super().leading_axes

    # Python's operators follow NumPy.

    @property
    def marked(self) -> Marked:
        """The node with its row mark."""
        return Marked(self.node, self.row)

    @property
    def operand(self) -> Ast:
        """The tree that stands for the expression in a larger one: its node, given, as a row where it is one."""
        leaf = given(self.node, self.formula)
        return transpose(leaf) if self.row and len(self.node.shape) == 1 else leaf

    def _with_other(self, operation: Operation, other: Any, swap: bool = False) -> Any:
        right = as_expression(other)
        if right is None:
            return NotImplemented
        a, b = (right, self) if swap else (self, right)
        made = operation(a.marked, b.marked)
        return Expression(made.node, a.names.joined(b.names), made.row)

    def __neg__(self) -> Expression:
        return Expression(scale(-1, self.node), self.names, self.row)

    def __pos__(self) -> Expression:
        return self

    @property
    def T(self) -> Expression:  # noqa: N802 - NumPy's name
        """The transpose; of a vector the row mark is toggled."""
        made = operators.transpose(self.marked)
        return Expression(made.node, self.names, made.row)

    def __getitem__(self, at: Any) -> Expression:
        bounds: list[Expression] = []

        def operand(value: Any) -> Ast | None:
            if is_sympy(value):
                return from_sympy(value, self.names.size_names)[0]
            e = as_expression(value)
            bounds.extend([e] if e is not None else [])
            return e.operand if e is not None else None

        node, conditions = build_given(part(self.operand, *subscripts(at, operand)))
        return Expression(node, reduce(Names.joined, (e.names for e in bounds), self.names).under(conditions))

    def __reduce__(self) -> tuple[object, ...]:
        declared = declarations_of(self.node, self.formula, tuple(self.names.symbols.values()), self.names.undeclared)
        return _restored, (str(self), declared, self.names.written)


def _finished(
    nodes: Sequence[Node], names: Names, traces: Sequence[Derivation], row: bool = False
) -> tuple[Expression, ...]:
    """Return derivatives simplified and factored, each with its form of sums not factored."""
    found = zip(shortest_of(nodes), traces, strict=True)
    return tuple(Expression(node, names, row, trace, unfactored) for (node, unfactored), trace in found)


class ShapeText(str):
    """The text of a size in a shape."""

    __slots__ = ()


def _restored(text_: str, declarations: str, written: tuple[str, ...]) -> Expression:
    (made,) = read_formulas([text_], declarations)
    return Expression(made.node, replace(made.names, written=written), made.row)


def as_expression(value: Any) -> Expression | None:
    """Return a number, an array of numbers, a SymPy object or an expression as an expression; None for others."""
    if isinstance(value, Expression):
        return value
    if is_sympy(value):
        return Expression(*read_formulas([value])[0])
    node = operators.constant_of(value)
    return None if node is None else Expression(node, Names({}, ()))


def name_of(wrt: Any) -> str:
    """Return the name of a symbol given as text, as an expression or as a SymPy symbol."""
    if isinstance(wrt, str):
        if len(wrt) > MAX_BYTES or not wrt.isprintable():
            raise UnknownName(f"{shown(wrt)} is no name")
        return normalised(wrt)
    if isinstance(wrt, Expression) and wrt.node.kind == "symbol":
        return wrt.node.name
    name = symbol_name(wrt) if is_sympy(wrt) else getattr(wrt, "name", None)
    if not isinstance(name, str):
        hint = "differentiate in the symbol and take an entry of the result" if "[" in str(wrt) else ""
        raise UnknownName(f"{wrt if is_sympy(wrt) else shown(wrt)} is no symbol to differentiate in", hint=hint)
    return name
