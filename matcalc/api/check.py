"""Provides `check`: compares derivatives, or a user's formula for one, with complex steps or differences.

The reference evaluates the formula as written, neither simplified nor differentiated, with plain NumPy. Its data are
random, have the declared facts, and come in several sizes. Each entry is compared. The report is true or false, prints
as a table, and names the worst entry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import EllipsisType

import numpy as np

from matcalc.api.check_claims import UNSTEADY, Claim, Row, compiled_rows, error_curves
from matcalc.api.check_data import Setting, setting
from matcalc.api.equivalent import mistake_of
from matcalc.calculus.derive.conventions import as_matrix, shape_text
from matcalc.errors import NotDifferentiable, NotSupported, ShapeError, UnknownName
from matcalc.evidence.explain.sentences import formula_sentence, pieces_of, sentence
from matcalc.evidence.numeric.differences import Slope, extrapolated
from matcalc.evidence.numeric.sampling import Array
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Wrt
from matcalc.expressions.read_input import Readable, Readables, expressions, place_of, with_wrt
from matcalc.expressions.unused import check_used, shared
from matcalc.expressions.wrt import apart, read_wrt
from matcalc.language.declare import read_declarations
from matcalc.language.identifiers import free, nearest
from matcalc.pictures.plots import Curves
from matcalc.pictures.rich_text import Paragraph, Table, html
from matcalc.rulelab.finding import REFUSED, table
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.substitute import substitute
from matcalc.tensor.symbols import declaration

SIZES = ((3, 4, 5, 2), (4, 2, 5, 3), (1, 1, 1, 1))
"""Lengths of the size names, rotated until they fit; no two sets share a rotation. Sets without a value are skipped."""

MORE_SIZES = ((2, 2, 2, 2), (0, 3, 1, 2), (5, 1, 2, 0), (0, 0, 0, 0))
"""Further lengths for compiled code: equal ones, 0 and 1."""


HEAD = ("derivative", "sizes", "against", "error", "allowed", "", "worst entry")


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The result of `check`: true if no row is wrong, and one is right.

    If a user's formula is wrong, `mistake` names the correction if the mistake is a common one, and `right` is
    matcalc's derivative. `untested` lists the targets on which compiled code was not run, with the reasons.
    """

    rows: tuple[Row, ...]
    mistake: str = ""
    right: str = ""
    untested: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = field(default=(), repr=False, compare=False)

    def plot(self) -> Curves:
        """Return the errors of central differences against their step, for each derivative that was tested.

        The error of a right derivative falls with the square of the step until rounding dominates; that of a wrong
        derivative stays constant.
        """
        return error_curves(self.claims)

    def __bool__(self) -> bool:
        return any(row.is_right for row in self.rows) and not any(row.is_wrong for row in self.rows)

    def __str__(self) -> str:
        return "\n".join([*table([HEAD, *map(_cells, self.rows)]), *self._notes()])

    def _notes(self) -> list[str]:
        """Return the lines below the table."""
        wrong, still_open = sum(row.is_wrong for row in self.rows), sum(row.is_open for row in self.rows)
        others = "all others right" if any(row.is_right for row in self.rows) else ""
        notes = {"likely mistake: ": self.mistake, "it should be: ": self.right}
        lines = [
            f"{wrong} of {len(self.rows)} wrong" if wrong else others if still_open else "all right",
            f"{still_open} of {len(self.rows)} not checked: {UNSTEADY}" if still_open else "",
            *(sentence(what, note) for what, note in notes.items() if note),
            *(f"not compiled for {why}" for why in self.untested),
        ]
        return [line for line in lines if line]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Return the table and the lines below it for a notebook."""
        shown = [Paragraph(pieces_of(note)) for note in self._notes()]
        return html([Table(HEAD, [_cells(row) for row in self.rows]), *shown])


def _cells(row: Row) -> tuple[str, ...]:
    worst = "" if row.is_open else row.worst
    return (row.what, row.sizes, row.reference, f"{row.error:.1e}", f"{row.bound:.0e}", row.verdict, worst)


def check(
    f: Readables,
    wrt: Wrt,
    declarations: str = "",
    against: Readable | None = None,
    dialect: str = "matrix",
    compiled: bool = False,
) -> Report:
    """Compare the derivatives of a formula with numerical ones; if `against` is set, compare that formula instead.

    Without `against`, a scalar's gradient and Hessian-vector product are tested; other formulas have their Jacobian,
    pushforward and pullback tested. `against` may be a gradient, Jacobian, Hessian, Jacobian of stacked columns, or a
    differential (with the symbol dX) or pullback (with the symbol G).

    With `compiled`, the value and derivatives are also compiled together and compared with the same numbers. More sizes
    are tested, equal ones, 0 and 1 among them. Three evaluators run: the interpreter of the program, which checks every
    access, the code for Numba and the code for NumPy.

    Shapes: `against` as the derivative that it claims to be: wrt.shape, f.shape + wrt.shape, wrt.shape + wrt.shape, or
        the matrix of stacked columns.
    Units: errors are relative to the natural size of the quantity compared.
    Raises: the errors of reading; ShapeError if `against` has the shape of no derivative, or if no random data fit.
    Source: differences extrapolated after Ridders 1982.

    Example:
        >>> bool(check("x'*A*x", "x", against="2*A*x"))
        False
    """
    e = with_wrt(f, wrt, declarations if against is None else shared(declarations), dialect)
    other = None
    if against is not None:
        both = expressions([f, against], shared(declarations), dialect, _tangents(e, against, declarations))
        check_used(declarations, [f, against], both, map(name_of, read_wrt(wrt).listed))
        e, other = with_wrt(both[0], wrt, declarations), both[1]
    e, wrt, _, moved = parted = apart(e, wrt)
    if other is not None:
        _check_symbols(e, other, against, wrt, dialect)
        other = parted.also(other) if moved else other
    names = e.names_with(wrt)  # adds variables that do not occur, whose derivative is 0
    e = Expression(e.node, names, e.row, reference=e.reference)
    found = [(x, list(_claims(e, x, lengths, other))) for lengths in SIZES for x in e.symbols_of(wrt)]
    rows = [claim.row(claim.evaluated()) for _, claims in found for claim in claims]
    if not rows:
        raise ShapeError(
            "no random data at which numbers can check the formula: it is not finite, or rounding decides its value",
            hint="declare facts such as positive or spd; of chaotic steps, check fewer",
        )
    further: list[Row | str] = []
    for x in e.symbols_of(wrt) if compiled else ():
        claims = [claim for y, made in found if y is x for claim in made]
        further += compiled_rows([*claims, *_more_claims(e, x, other)])
    rows += [row for row in further if isinstance(row, Row)]
    untested = tuple(dict.fromkeys(r for r in further if isinstance(r, str)))
    report = Report(tuple(rows), untested=untested, claims=tuple(claim for _, claims in found for claim in claims))
    if other is None or report or isinstance(wrt, (list, tuple)):
        return report
    truth = _derivative_like(e, e.symbols_of(wrt)[0], other)
    return replace(report, mistake=mistake_of(truth, other), right=formula_sentence(truth.formula(), [truth.node]))


def _tangents(e: Expression, against: Readable, declarations: str) -> dict[str, Node]:
    """Return the undeclared symbols dX that occur in a text, with the shapes of their X, and these X, by name."""
    declared = {d.name for d in read_declarations(declarations)}
    found = {
        f"d{name}": node for name, node in e.names.symbols.items() if f"d{name}" not in {*declared, *e.names.symbols}
    }
    used = {name for name in found if isinstance(against, str) and re.search(rf"\b{re.escape(name)}\b", against)}
    tangents = {name: symbol(name, node.shape) for name, node in found.items() if name in used}
    return {**{found[name].name: found[name] for name in tangents}, **tangents}


def _check_symbols(e: Expression, other: Expression, against: Readable, wrt: Wrt, dialect: str) -> None:
    """Raise UnknownName for a symbol of `against` that is neither in the formula nor a tangent or cotangent."""
    own = e.symbols_of(wrt)
    known = [*e.names.written, *other.names.bound, *(f"d{x.name}" for x in own), *(x.name for x in own), "G"]
    strange = next((name for name in other.names.written if name not in known), None)
    if strange is None:
        return
    text, dialect = (against, dialect) if isinstance(against, str) else (str(other), "matrix")
    hint = f"its symbols are {', '.join(e.names.written)}"
    message = f"{strange} is not a symbol of the formula{nearest(strange, e.names.written)}"
    raise UnknownName(message, text=text, at=place_of(strange, text, dialect, other.names), hint=hint)


def _derivative_like(e: Expression, x: Node, other: Expression) -> Expression:
    """Return the derivative that a user's formula claims to be, over the symbols of the original formula."""
    new = [name for name in (f"d{x.name}", "G") if name in other.names.written and name not in e.names.written]
    plain = Expression(e.node, e.names.without(new[0]) if new else e.names)
    if new:
        truth = _only(plain.vjp(x.name) if new == ["G"] else plain.jvp(x.name))
        declared_, expected = other.names.symbols[new[0]], truth.names.symbols[new[0]]
        if declared_.shape != expected.shape:
            raise ShapeError(f"{declaration(declared_)} in the formula to be checked, and {declaration(expected)} fits")
        names = replace(truth.names, symbols={**truth.names.symbols, new[0]: declared_})
        return Expression(substitute(truth.node, {expected: declared_}), names)
    f, shape = e.node.shape, other.node.shape
    if shape == (*f, *x.shape) or (not f and shape == x.shape[::-1]):
        return _only(plain.gradient(x.name) if not f else plain.jacobian(x.name))
    return _only(plain.hessian(x.name) if not f and shape == (*x.shape, *x.shape) else plain.jacobian(x.name, "vec"))


def _only(e: object) -> Expression:
    assert isinstance(e, Expression)
    return e


# ---- what is compared


def _claims(e: Expression, x: Node, lengths: Sequence[int], other: Expression | None) -> Iterator[Claim]:
    """Yield the claims about the derivatives in `x` at sizes of these lengths; none if no data fit."""
    at = setting(e, x, lengths, other)
    if at is not None:
        yield from _against(at, other) if other is not None else _derivatives(at)


def _more_claims(e: Expression, x: Node, other: Expression | None) -> Iterator[Claim]:
    """Yield the claims at the further lengths that have a reference, and claims about the value at all lengths."""
    for lengths in (*SIZES, *MORE_SIZES):
        at = setting(e, x, lengths, None)
        if at is not None:
            yield _claim(at, "value", e, at.value(e.node), Slope(np.zeros(()), 0.0, "value"))
    for lengths in MORE_SIZES:
        try:
            yield from list(_claims(e, x, lengths, other))
        except REFUSED:
            continue


def _derivatives(at: Setting) -> Iterator[Claim]:
    e, name = at.e, at.x.name
    shape = at.value(e.node).shape
    full, worst = _jacobian(at)
    if not e.node.shape:
        yield _claim(at, f"gradient in {name}", _only(e.gradient(name)), full, worst, quotient=at.quotients)
        yield from _second(at)
        return
    yield _claim(at, f"Jacobian in {name}", _only(e.jacobian(name)), full, worst, quotient=at.quotients)
    E = at.random("E")
    moved, quotient = at.along(E), partial(at.quotient, E=E)
    tangent = free(f"d{name}_", set(e.names.symbols))
    pushed = _only(e.jvp(name, tangent))
    yield _claim(at, f"pushforward of d{name}", pushed, moved.value, moved, {tangent: E}, quotient=quotient)
    G = np.asarray(np.random.default_rng(19).standard_normal(shape))
    bar = free("G_", set(e.names.symbols))
    total = Slope(np.asarray(np.sum(G * moved.value)), moved.error * float(np.sum(np.abs(G))), moved.how)
    pulled, what = _only(e.vjp(name, bar)), f"pullback to {name}, <Xbar, dX>"
    yield _claim(at, what, pulled, total.value, total, {bar: G}, E, lambda h: np.asarray(np.sum(G * quotient(h))))


def _second(at: Setting) -> Iterator[Claim]:
    """Compare the Hessian times a vector with differences of the gradient; the gradient has a claim of its own."""
    vector, E = free("v_", set(at.e.names.symbols)), at.random("v")
    try:
        product = at.e.hvp(at.x.name, vector)
    except (NotDifferentiable, NotSupported):
        return
    gradient = _only(at.e.gradient(at.x.name)).node
    moved, quotient = at.along(E, gradient), partial(at.quotient, E=E, node=gradient)
    what = f"Hessian in {at.x.name}, times v"
    yield _claim(at, what, _only(product), moved.value, moved, {vector: E}, quotient=quotient)


def _jacobian(at: Setting) -> tuple[Array, Slope]:
    """Return the Jacobian, computed by columns, of shape f.shape + x.shape, and its least accurate slope."""
    slopes = {index: at.along(unit) for index, unit in at.units()}
    f, x = at.value(at.e.node).shape, at.data[at.x.name].shape
    full = np.zeros((*f, *x))
    for index, found in slopes.items():
        column: tuple[EllipsisType | int, ...] = (..., *index)
        full[column] = found.value
    exact = Slope(np.zeros(f), 0.0, "complex step")
    return full, max(slopes.values(), key=lambda s: (s.how != "complex step", s.error), default=exact)


def _claim(
    at: Setting,
    what: str,
    formula: Expression,
    reference: Array,
    worst: Slope,
    more: Mapping[str, Array] = {},  # noqa: B006 - never changed
    along: Array | None = None,
    quotient: Callable[[float], Array] | None = None,
) -> Claim:
    return Claim(what, formula, {**at.data, **more}, at.sizes, reference, worst, at.scale, along, quotient)


# ---- a formula of the user's


def _against(at: Setting, other: Expression) -> Iterator[Claim]:
    """Compare the user's formula with the derivative that its symbols and shape identify."""
    tangent, own = f"d{at.x.name}", at.e.names.written
    found = other.names.written
    if tangent in found and tangent not in own:
        E = at.random("E")
        moved = at.along(E)
        quotient = partial(at.quotient, E=E)
        yield _claim(at, f"differential in {at.x.name}", other, moved.value, moved, {tangent: E}, quotient=quotient)
        return
    full, worst = _jacobian(at)
    if "G" in found and "G" not in own:
        G = np.asarray(np.random.default_rng(19).standard_normal(at.value(at.e.node).shape))
        reference = np.tensordot(G, full, G.ndim)
        pulled = partial(_pulled, at, G)
        yield _claim(at, f"pullback to {at.x.name}", other, reference, worst, {"G": G}, quotient=pulled)
        return
    what, reference, worst, quotient_by_shape = _by_shape(at, other, full, worst)
    yield _claim(at, what, other, reference, worst, quotient=quotient_by_shape)


def _pulled(at: Setting, G: Array, h: float) -> Array:
    return np.asarray(np.tensordot(G, at.quotients(h), G.ndim))


def _by_shape(
    at: Setting, other: Expression, full: Array, worst: Slope
) -> tuple[str, Array, Slope, Callable[[float], Array]]:
    """Return the derivative with the shape of the user's formula: its name, reference, slope and differences."""
    f, x, shape, name = at.e.node.shape, at.x.shape, other.node.shape, at.x.name
    if shape == (*f, *x) or (not f and shape == x[::-1]):
        return f"gradient in {name}" if not f else f"Jacobian in {name}", full, worst, at.quotients
    if not f and shape == (*x, *x):
        second = _hessian(at)
        gradient = _only(at.e.gradient(name)).node
        return f"Hessian in {name}", second.value, second, partial(at.quotients, node=gradient)
    stacked = as_matrix(symbol("J_", (*f, *x)), len(f))
    if shape in (stacked.shape, stacked.shape[::-1]):
        made = lambda h: at.value(stacked, {"J_": at.quotients(h)})  # noqa: E731
        return f"vec Jacobian in {name}", at.value(stacked, {"J_": full}), worst, made
    expected = shape_text((*f, *x))
    raise ShapeError(f"against is {shape_text(shape)}, and the derivative {expected} (or {shape_text(stacked.shape)})")


def _hessian(at: Setting) -> Slope:
    """Return second derivatives of the value, by differences of differences."""
    base, x = at.data[at.x.name], at.data[at.x.name].shape
    full, error = np.zeros((*x, *x)), 0.0
    for i, E in at.units():
        for j, F in at.units():
            if j < i:
                continue

            def inner(t: float, E: Array = E, F: Array = F) -> Array:
                one, two = (at.value(at.e.node, {at.x.name: base + t * (E + sign * F)}) for sign in (1.0, -1.0))
                return np.asarray(one - two)

            found = _curvature(inner)
            full[(*i, *j)] = full[(*j, *i)] = found.value / 4
            error = max(error, found.error)
    return Slope(full, error, "differences")


def _curvature(f: Callable[[float], Array]) -> Slope:
    """Return f''(0) by extrapolated second differences."""
    middle = f(0.0)
    size = 1e-15 * float(np.max(np.abs(middle), initial=1.0))
    steps = [2.0**-k for k in range(3, 11)]
    return extrapolated(((f(h) - 2 * middle + f(-h)) / h**2, size / h**2) for h in steps)
