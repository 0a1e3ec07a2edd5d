"""Provides the derivatives of an expression, as its methods: each reads `wrt` and calls the calculus.

The results are simplified and factored, and contain their derivations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Self, TypeVar, cast

from matcalc.calculus.derive import conventions
from matcalc.calculus.derive.differentiate import pushforward
from matcalc.calculus.derive.marks import Forms, forms_of, read_where_finite
from matcalc.calculus.derive.unrestricted import Unrestricted, unrestricted
from matcalc.calculus.simplify.simplify import simplify
from matcalc.errors import NotDifferentiable, NotSupported, UnknownName
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.explain.differential_form import canonical, joined
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.verify import verify
from matcalc.expressions.operands.handle import Derived, Handle, Symbol, Wrt
from matcalc.expressions.sympy_bridge.sympy_objects import is_sympy, symbol_name, time_of
from matcalc.expressions.wrt import apart, first_derivatives, read_wrt, second_derivatives
from matcalc.formula.notation.typeset_blocks import typeset
from matcalc.language.containers import Form, variables_in
from matcalc.language.identifiers import MAX_BYTES, normalised, shown
from matcalc.progress import progress_line
from matcalc.tensor.constructors import add, inner, symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names, new_names

UNCHECKED = "not checked: check=False"
Method = TypeVar("Method", bound=Callable[..., Any])


def _of_containers(depth: int) -> Callable[[Method], Method]:
    """Return a decorator for a method whose `wrt` may be containers; its results are `depth` containers deep."""

    def decorated(method: Method) -> Method:
        @wraps(method)
        def made(self: Handle, wrt: Wrt, *args: Any, **options: Any) -> Any:
            variables = variables_in(wrt, self.names.containers)
            if variables is None:
                return method(self, wrt, *args, **options)
            has_none = variables.wrt == [] and depth > 0
            found = [] if has_none else method(self, variables.wrt, *args, **options)
            return variables.nested(found, depth)

        return cast("Method", made)

    return decorated


class Derivatives(Handle):
    """The methods that differentiate."""

    __slots__ = ()

    @_of_containers(1)
    @progress_line("deriving")
    def gradient(self, wrt: Wrt, convention: str = "projected", check: bool = True) -> Derived:
        """Return the gradient of a scalar, with the shape of `wrt`; a tuple for a list."""
        variables = read_wrt(wrt)
        trace = partial(Derivation, "gradient", self.node, convention=convention)
        made = self._each(variables.symbols, trace, lambda f, xs: conventions.gradients(f, xs, convention), check)
        return typeset(first_derivatives(self, variables, made, 0))

    @_of_containers(1)
    @progress_line("deriving")
    def jacobian(self, wrt: Wrt, layout: str = "tensor", check: bool = True) -> Derived:
        """Return d self / d wrt, of shape self.shape + wrt.shape; a matrix of stacked columns with layout="vec"."""
        variables, rank = read_wrt(wrt), len(self.node.shape)
        if not variables.whole and layout != "tensor":
            raise NotSupported(f"layout={shown(layout)} needs whole variables, not a single entry")

        def made(f: Node, xs: Sequence[Node]) -> list[Node]:
            found = conventions.jacobians(f, xs)
            return [conventions.as_matrix(j, rank) for j in found] if conventions.is_vec(layout) else found

        found = self._each(variables.symbols, partial(Derivation, "jacobian", self.node, layout=layout), made, check)
        return typeset(first_derivatives(self, variables, found, rank))

    @_of_containers(2)
    @progress_line("deriving")
    def hessian(self, wrt: Wrt, layout: str = "tensor", check: bool = True) -> Derived:
        """Return the Hessian of a scalar, of shape wrt.shape + wrt.shape; rows of blocks for a list."""
        variables = read_wrt(wrt)
        if not variables.whole and layout != "tensor":
            raise NotSupported(f"layout={shown(layout)} needs whole variables, not entries of them")
        wrt, xs = variables.symbols, self.symbols_of(variables.symbols)
        free = unrestricted(self.computed, xs)
        rows = conventions.hessians(simplify(free.root), free.variables)
        if conventions.is_vec(layout):
            rows = [tuple(conventions.as_matrix(b, len(x.shape)) for b in row) for row, x in zip(rows, xs, strict=True)]
        traces = [Derivation("hessian", self.node, (x, y), layout=layout) for x in xs for y in xs]
        made = self._finished([block for row in rows for block in row], self.names_with(wrt), traces, free, check)
        blocks = tuple(tuple(made[k : k + len(xs)]) for k in range(0, len(made), len(xs)))
        chosen = blocks if isinstance(wrt, (list, tuple)) else blocks[0][0]
        return typeset(second_derivatives(self, variables, chosen))

    def differential(self, wrt: Wrt, tangent: Wrt | None = None, check: bool = True) -> Self:
        """Return the differential, linear in the new symbols d + name (a list `wrt` takes a list of names)."""
        return self.jvp(wrt, tangent, check)

    @_of_containers(0)
    @progress_line("deriving")
    def jvp(self, wrt: Wrt, tangent: Wrt | None = None, check: bool = True) -> Self:
        """Return the pushforward of tangents, with the shape of self; the total for a list.

        That of a scalar has the form tr(A'*dX), with A the gradient.
        """
        whole = apart(self, wrt)
        if whole.parts:
            made: Self = whole.back(whole.e.jvp(whole.wrt, tangent, check))
            return made
        xs, names, tangents = self._with_tangents(wrt, tangent, "tangent")
        trace = Derivation("differential", self.node, tuple(xs), tuple(tangents.values()))
        free = unrestricted(self.computed, xs)
        f = simplify(free.root)
        if f.shape:
            return self._finished([pushforward(f, free.keyed(tangents))], names, [trace], free, check, self.row)[0]
        raw = conventions.gradients(f, free.variables, "projected")
        forms = list(zip(forms_of(raw, free, self.quantities), tangents.values(), strict=True))
        parts = [canonical(form.shown, dx) for form, dx in forms]
        unfactored = add([(1, inner(form.unfactored, dx)) for form, dx in forms])
        is_marked = any(form.computed is not form.shown for form, _ in forms)
        reading = joined([ast for node, ast in parts if not node.is_zero])
        found = add([(1, node) for node, _ in parts])
        evidence = verify(each([found], [trace]), self.reference, names) if check else UNCHECKED
        computed = unfactored if is_marked else None
        return type(self)(found, names, False, trace, unfactored, reading, checked=evidence, computed=computed)

    @_of_containers(1)
    @progress_line("deriving")
    def vjp(self, wrt: Wrt, cotangent: str = "G", check: bool = True) -> Derived:
        """Return the pullback of a cotangent with the shape of self; the result has the shape of `wrt`."""
        variables = read_wrt(wrt)
        (name,) = new_names([name_of(cotangent)], ["G"], "cotangent")
        bar = symbol(name, self.node.shape)
        names = self.names_with(variables.symbols).with_symbol(bar, "cotangent")
        trace = partial(Derivation, "vjp", self.node, cotangent=bar)
        made = self._each(variables.symbols, trace, lambda f, xs: conventions.vjps(f, xs, bar), check, names)
        return typeset(first_derivatives(self, variables, made, 0))

    @_of_containers(1)
    @progress_line("deriving")
    def hvp(self, wrt: Wrt, vector: Wrt = "v", check: bool = True) -> Derived:
        """Return the Hessian of a scalar times a vector, with the shape of `wrt`; full row sums for a list."""
        whole = apart(self, wrt)
        if whole.parts:
            return typeset(whole.back(whole.e.hvp(whole.wrt, vector, check)))
        prefix = "v_" if isinstance(wrt, (list, tuple)) else "v"
        xs, names, vectors = self._with_tangents(wrt, None if vector == "v" else vector, "vector", prefix)

        def trace(wrt: tuple[Node, ...]) -> Derivation:
            order = (*wrt, *(y for y in xs if y not in wrt))
            return Derivation("hvp", self.node, order, tuple(vectors[y] for y in order))

        def moved(f: Node, ys: Sequence[Node]) -> list[Node]:
            return conventions.hvps(f, ys, dict(zip(ys, vectors.values(), strict=True)))

        return typeset(self._each(wrt, trace, moved, check, names))

    def _with_tangents(
        self, wrt: Wrt, requested: Wrt | None, parameter: str, prefix: str = "d"
    ) -> tuple[list[Node], Names, dict[Node, Node]]:
        """Return the symbols of `wrt`, the names with new symbols for a direction in each, and these symbols."""
        xs, names = self.symbols_of(wrt), self.names_with(wrt)
        defaults = [prefix if prefix == "v" else f"{prefix}{x.name}" for x in xs]
        tangents = {}
        chosen = None if requested is None else [name_of(one) for one in _listed(requested)]
        for x, name in zip(xs, new_names(chosen, defaults, parameter), strict=True):
            tangents[x] = conventions.tangent_symbol(x, name)
            names = names.with_symbol(tangents[x], parameter)
        if requested is None:
            named = {x.name: dx.name for x, dx in tangents.items()}
            names = replace(names, containers={**names.containers, **_renamed(names, named, prefix)})
        return xs, names, tangents

    def _each(
        self,
        wrt: Wrt,
        trace: Callable[[tuple[Node, ...]], Derivation],
        make: Callable[[Node, Sequence[Node]], list[Node]],
        check: bool,
        names: Names | None = None,
    ) -> Derived:
        xs = self.symbols_of(wrt)
        free = unrestricted(self.computed, xs)
        nodes, traces = make(simplify(free.root), free.variables), [trace((x,)) for x in xs]
        made = self._finished(nodes, names or self.names_with(wrt), traces, free, check)
        return made if isinstance(wrt, (list, tuple)) else made[0]

    def names_with(self, wrt: Wrt) -> Names:
        """Return the names, with the symbols of `wrt` added to `written`."""
        added = (x.name for x in self.symbols_of(wrt))
        return replace(self.names, written=tuple(dict.fromkeys((*self.names.written, *added))))

    def symbols_of(self, wrt: Wrt) -> list[Node]:
        """Return the symbols to differentiate in.

        Raises: UnknownName; NotDifferentiable for a symbol that is declared constant.
        """
        containers = variables_in(wrt, self.names.containers)
        xs = [self.names.symbol(name_of(w)) for w in _listed(wrt if containers is None else containers.wrt)]
        for x in xs:
            conventions.check_variable(x)
            moving = next(
                (name for name, theirs in self.names.sympy_symbols.items() if time_of(theirs) == x.name), None
            )
            if moving is not None:
                raise NotDifferentiable(f"{moving} is a function of {x.name}, and a symbol of its own here")
        return xs

    def _finished(
        self,
        nodes: Sequence[Node],
        names: Names,
        traces: Sequence[Derivation],
        free: Unrestricted,
        check: bool,
        row: bool = False,
    ) -> tuple[Self, ...]:
        """Return derivatives simplified and factored, each with its unfactored form.

        Raises: InternalError for a derivative that differs from the formula as written.
        """
        forms = forms_of(nodes, free, self.quantities)
        evidence = verify(claims_of(forms, traces), self.reference, names) if check else UNCHECKED
        return tuple(
            type(self)(
                form.shown,
                names,
                row,
                trace,
                form.unfactored,
                checked=evidence,
                computed=form.computed if form.computed is not form.shown else None,
            )
            for form, trace in zip(forms, traces, strict=True)
        )


def _renamed(names: Names, directions: Mapping[str, str], prefix: str) -> dict[str, Form]:
    """Return the containers of directions: `dparams` if there is one for each array of `params`."""
    complete = {n: f for n, f in names.containers.items() if f.names and directions.keys() >= set(f.names)}
    return {prefix + n: f.renamed(directions) for n, f in complete.items() if prefix + n not in names.scope}


def each(nodes: Sequence[Node], derivations: Sequence[Derivation]) -> Iterator[Claim]:
    """Yield a claim for each derivative of one formula."""
    for node, derivation in zip(nodes, derivations, strict=True):
        wrt = ", ".join(x.name for x in derivation.wrt)
        yield Claim(node, derivation, f"the {derivation.what} in {wrt}")


def claims_of(forms: Sequence[Forms], derivations: Sequence[Derivation]) -> Iterator[Claim]:
    """Yield the claims about derivatives of one formula: the computed forms, and the shown ones where they are finite.

    Shown forms have no marks, so they may be NaN where the computed form is not.
    """
    yield from each([form.computed for form in forms], derivations)
    marked = [(form, d) for form, d in zip(forms, derivations, strict=True) if form.shown is not form.computed]
    read = [read_where_finite(form.shown, form.computed) for form, _ in marked]
    for claim in each(read, [derivation for _, derivation in marked]):
        yield claim._replace(is_called=False)


def _listed(wrt: Wrt) -> Sequence[Symbol]:
    return wrt if isinstance(wrt, (list, tuple)) else [wrt]


def name_of(wrt: object) -> str:
    """Return the name of a symbol in the form of text, an expression or a SymPy symbol."""
    if isinstance(wrt, str):
        if len(wrt) > MAX_BYTES or not wrt.isprintable():
            raise UnknownName(f"{shown(wrt)} is not a name")
        return normalised(wrt)
    if isinstance(wrt, Handle) and wrt.node.kind == "symbol":
        return wrt.node.name
    name = symbol_name(wrt) if is_sympy(wrt) else getattr(wrt, "name", None)
    if not isinstance(name, str):
        hint = "differentiate in the symbol and take an entry of the result" if "[" in str(wrt) else ""
        raise UnknownName(f"{wrt if is_sympy(wrt) else shown(wrt)} is not a symbol", hint=hint)
    return name
