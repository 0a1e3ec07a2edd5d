"""`check`: derivatives, or a user's own formula for one, against complex steps or differences of the value.

The oracle sees values alone: the formula as it is written, neither simplified nor differentiated, evaluated by plain
NumPy at random data that have the declared facts, at several sizes. Each entry is compared; the report is true
or false, prints as a table, and names the worst entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matcalc.calculus.derive import as_matrix, shape_text
from matcalc.calculus.evaluate import evaluate
from matcalc.comparing import mistake_of
from matcalc.errors import NotDifferentiable, NotSupported, ShapeError, UnknownName
from matcalc.expressions import Expression
from matcalc.lengths import holds
from matcalc.names import free_sizes
from matcalc.normal_form.node import Node
from matcalc.normal_form.substitute import substitute
from matcalc.normal_form.tensor import symbol
from matcalc.reading import expressions, place_of, with_wrt
from matcalc.rulebook.fields import nearest
from matcalc.verification.differences import Slope, slope
from matcalc.verification.rule_point import MODES, interior
from matcalc.verification.sampling import Array, projected, sample

SIZES = ((3, 4, 2, 5), (4, 2, 5, 3), (1, 1, 1, 1))
"""Lengths of the size names, in order; a set at which the formula has no value is left out."""

NUDGE = 1e-9
EXACT, NUMERIC, VANISHING = 1e-9, 1e-5, 1e-3
"""Allowed relative errors: against complex steps, at most against differences; and what of |f|/|x| counts as 0."""


@dataclass(frozen=True, slots=True)
class Row:
    """One derivative at one set of sizes."""

    what: str
    sizes: str
    reference: str
    error: float
    bound: float
    worst: str

    @property
    def is_right(self) -> bool:
        return self.error <= self.bound


@dataclass(frozen=True, slots=True)
class Report:
    """What `check` found: true if every row is right.

    For a formula of the user's that is wrong, `mistake` is what would make it right, if that is a common mistake, and
    `right` the derivative as matcalc has it.
    """

    rows: tuple[Row, ...]
    mistake: str = ""
    right: str = ""

    def __bool__(self) -> bool:
        return all(row.is_right for row in self.rows)

    def __str__(self) -> str:
        head = ("derivative", "sizes", "against", "error", "allowed", "", "worst entry")
        lines = [head, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        table = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        wrong = sum(not row.is_right for row in self.rows)
        table.append(f"{wrong} of {len(lines) - 1} wrong" if wrong else "all right")
        notes = {"likely mistake": self.mistake, "it should be": self.right}
        return "\n".join([*table, *(f"{what}: {note}" for what, note in notes.items() if note)])


def _cells(row: Row) -> tuple[str, ...]:
    verdict = "right" if row.is_right else "WRONG"
    return (row.what, row.sizes, row.reference, f"{row.error:.1e}", f"{row.bound:.0e}", verdict, row.worst)


def check(f: Any, wrt: Any, declarations: str = "", against: Any = None, dialect: str = "matrix") -> Report:
    """Test the derivatives of a formula numerically; `against` is a formula for one of them, tested instead.

    Without `against`: the gradient and the Hessian times a vector of a scalar, the Jacobian, pushforward and pullback
    of any other. `against` may be a gradient, Jacobian, Hessian, Jacobian of stacked columns, or, with the
    symbol dX (or G), a differential (or pullback).

    Raises: what reading raises; ShapeError for `against` of no derivative's shape, or if no random data fit.

    Example:
        >>> bool(check("x'*A*x", "x", against="2*A*x"))
        False
    """
    e = with_wrt(f, wrt, declarations, dialect)
    other = None
    if against is not None:
        both = expressions([f, against], declarations, dialect)
        e, other = with_wrt(both[0], wrt, e.declarations), both[1]
        _check_symbols(e, other, against, wrt, dialect)
    rows: list[Row] = []
    for lengths in SIZES:
        for x in e.symbols_of(wrt):
            at = _setting(e, x, lengths, other)
            if at is not None:
                rows += _against(at, other) if other is not None else _derivatives(at)
    if not rows:
        raise ShapeError("no random data at which the formula is finite: declare facts such as positive or spd")
    report = Report(tuple(rows))
    if other is None or report or isinstance(wrt, (list, tuple)):
        return report
    truth = _derivative_like(e, e.symbols_of(wrt)[0], other)
    return replace(report, mistake=mistake_of(truth, other), right=str(truth))


def _check_symbols(e: Expression, other: Expression, against: Any, wrt: Any, dialect: str) -> None:
    """Raise UnknownName for a symbol of `against` that is neither in the formula nor a tangent or cotangent."""
    known = [*e.names.written, *(f"d{x.name}" for x in e.symbols_of(wrt)), *(x.name for x in e.symbols_of(wrt)), "G"]
    strange = next((name for name in other.names.written if name not in known), None)
    if strange is None:
        return
    text = against if isinstance(against, str) else str(other)
    hint = f"its symbols are {', '.join(e.names.written)}"
    message = f"{strange} is no symbol of the formula{nearest(strange, e.names.written)}"
    raise UnknownName(message, text=text, at=place_of(strange, text, dialect), hint=hint)


def _derivative_like(e: Expression, x: Node, other: Expression) -> Expression:
    """Return the derivative that a user's formula is one for, over the formula's own symbols."""
    new = [name for name in (f"d{x.name}", "G") if name in other.names.written and name not in e.names.written]
    plain = Expression(e.node, e.names.without(new[0]) if new else e.names)
    if new:
        truth = _only(plain.vjp(x.name) if new == ["G"] else plain.jvp(x.name))
        given = other.names.symbols[new[0]]
        names = replace(truth.names, symbols={**truth.names.symbols, new[0]: given})
        return Expression(substitute(truth.node, {truth.names.symbols[new[0]]: given}), names)
    f, shape = e.node.shape, other.node.shape
    if shape == (*f, *x.shape) or (not f and shape == x.shape[::-1]):
        return _only(plain.gradient(x.name) if not f else plain.jacobian(x.name))
    return _only(plain.hessian(x.name) if not f and shape == (*x.shape, *x.shape) else plain.jacobian(x.name, "vec"))


def _only(e: Any) -> Expression:
    assert isinstance(e, Expression)
    return e


@dataclass(frozen=True, slots=True)
class _Setting:
    """A formula with data, and the variable that is moved."""

    e: Expression
    x: Node
    data: Mapping[str, Array]
    sizes: Mapping[str, int]

    def value(self, node: Node, more: Mapping[str, Array] = {}) -> Array:  # noqa: B006 - never changed
        return np.asarray(evaluate([node], {**self.data, **more}, self.sizes)[0])

    def along(self, E: Array, node: Node | None = None, more: Mapping[str, Array] = {}) -> Slope:  # noqa: B006
        """Return the derivative of the formula, or of another node, along a tangent."""
        x = self.data[self.x.name]

        def moved(t: Any) -> Array:
            return self.value(node or self.e.node, {**more, self.x.name: x + t * E})

        return slope(moved)

    @property
    def is_rounding(self) -> bool:
        """Whether the value is rounding error alone, as `det(X'*X)` of a wide X is: a nudge changes all of it."""
        nudged = {self.x.name: self.data[self.x.name] * (1 + NUDGE)}
        here, there = self.value(self.e.node), self.value(self.e.node, nudged)
        return bool(np.max(np.abs(there - here), initial=0.0) > np.max(np.abs(here), initial=0.0) / 2)

    @property
    def scale(self) -> float:
        """The size of |f|/|x|, a part of which counts as 0."""
        x = float(np.max(np.abs(self.data[self.x.name]), initial=0.0))
        f = float(np.max(np.abs(self.value(self.e.node)), initial=0.0))
        return VANISHING * f / max(x, 1e-300)

    @property
    def shown(self) -> str:
        return ", ".join(f"{name}={length}" for name, length in self.sizes.items()) or "as declared"

    def random(self, *names: str) -> Array:
        rng = np.random.default_rng([17, *"".join(names).encode()])
        drawn: Array = np.asarray(rng.standard_normal(self.data[self.x.name].shape))
        return projected(drawn, tuple(self.x.data[1]))

    def units(self) -> Iterator[tuple[tuple[int, ...], Array]]:
        """Yield each entry of the variable with its unit tangent, projected on the variable's linear facts."""
        shape = self.data[self.x.name].shape
        for at in np.ndindex(*shape):
            unit = np.zeros(shape)
            unit[at] = 1.0
            yield at, projected(unit, tuple(self.x.data[1]))


def _setting(e: Expression, x: Node, lengths: Sequence[int], other: Expression | None) -> _Setting | None:
    """Return data of these sizes at which the formula is finite; None if there are none."""
    symbols = [e.names.symbols[name] for name in e.names.written]
    nodes = [e.node] if other is None else [e.node, other.node]
    found = dict.fromkeys(n for s in symbols for size in s.shape for n in size.names)
    found.update(dict.fromkeys(free_sizes(nodes, e.names)))
    sizes = {name: lengths[k % len(lengths)] for k, name in enumerate(found)}
    shapes = {s.name: tuple(size.evaluate(sizes) for size in s.shape) for s in symbols}
    if any(length < 0 for shape in shapes.values() for length in shape):
        return None
    if not all(holds(condition, sizes) for condition in e.names.conditions):
        return None
    for mode in range(len(MODES)):
        data = {s.name: _drawn(s, shapes[s.name], mode) for s in symbols}
        made = _Setting(e, x, data, sizes)
        try:
            if np.all(np.isfinite(made.value(e.node))) and not made.is_rounding:
                return made
        except (np.linalg.LinAlgError, ValueError, IndexError, ShapeError):
            continue
    return None


def _drawn(node: Node, shape: tuple[int, ...], mode: int) -> Array:
    rng = np.random.default_rng([5, mode, *node.name.encode()])
    facts = tuple(sorted(node.data[1] - {"constant"}))
    return sample(rng, shape, interior(facts, mode > 0)) if facts else MODES[mode](rng, shape)


# ---- what is compared


def _derivatives(at: _Setting) -> Iterator[Row]:
    e, name = at.e, at.x.name
    shape = at.value(e.node).shape
    if not e.node.shape:
        yield _entries(at, f"gradient in {name}", at.value(e.gradient(name).node), *_jacobian(at))
        yield from _second(at)
        return
    yield _entries(at, f"Jacobian in {name}", at.value(e.jacobian(name).node), *_jacobian(at), split=len(shape))
    E = at.random("E")
    moved = at.along(E)
    tangent = _fresh(e, f"d{name}_")
    pushed = at.value(e.jvp(name, tangent).node, {tangent: E})
    yield _entries(at, f"pushforward of d{name}", pushed, moved.value, moved)
    G = np.asarray(np.random.default_rng(19).standard_normal(shape))
    bar = _fresh(e, "G_")
    pulled = at.value(e.vjp(name, bar).node, {bar: G})
    total = Slope(np.asarray(np.sum(G * moved.value)), moved.error * float(np.sum(np.abs(G))), moved.how)
    yield _entries(at, f"pullback to {name}, <Xbar, dX>", np.asarray(np.sum(pulled * E)), total.value, total)


def _second(at: _Setting) -> Iterator[Row]:
    """Compare the Hessian times a vector with differences of the gradient, which has been compared itself."""
    vector, E = _fresh(at.e, "v_"), at.random("v")
    try:
        product = at.e.hvp(at.x.name, vector)
    except (NotDifferentiable, NotSupported):
        return
    moved = at.along(E, at.e.gradient(at.x.name).node)
    found = at.value(product.node, {vector: E})
    yield _entries(at, f"Hessian in {at.x.name}, times v", found, moved.value, moved)


def _fresh(e: Expression, name: str) -> str:
    while name in e.names.symbols:
        name += "_"
    return name


def _jacobian(at: _Setting) -> tuple[Array, Slope]:
    """Return the Jacobian by columns, f.shape + x.shape, and the worst of its slopes."""
    slopes = {index: at.along(unit) for index, unit in at.units()}
    f, x = at.value(at.e.node).shape, at.data[at.x.name].shape
    full = np.zeros((*f, *x))
    for index, found in slopes.items():
        column: Any = (..., *index)
        full[column] = found.value
    exact = Slope(np.zeros(f), 0.0, "complex step")
    return full, max(slopes.values(), key=lambda s: (s.how != "complex step", s.error), default=exact)


def _entries(at: _Setting, what: str, found: Array, reference: Array, worst: Slope, split: int = 0) -> Row:
    """Return the row that compares a derivative with its reference."""
    if found.shape != reference.shape:
        shapes = f"has the shape {found.shape}, not {reference.shape}"
        return Row(what, at.shown, worst.how, float("inf"), 0.0, shapes)
    scale = max(float(np.max(np.abs(reference), initial=0.0)), at.scale, 1e-300)
    errors = np.abs(found - reference) / scale
    errors = np.where(np.isfinite(errors), errors, np.inf)
    error = float(np.max(errors, initial=0.0))
    bound = EXACT if worst.how == "complex step" else min(NUMERIC, max(EXACT, 100 * worst.error / scale))
    if not errors.size:
        return Row(what, at.shown, worst.how, 0.0, bound, "no entries")
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(errors)), errors.shape))
    shown = f"[{', '.join(map(str, index))}] " if index else ""
    return Row(what, at.shown, worst.how, error, bound, f"{shown}{found[index]:.6g}, not {reference[index]:.6g}"
               if error > bound else shown.strip())  # fmt: skip


# ---- a formula of the user's


def _against(at: _Setting, other: Expression) -> Iterator[Row]:
    """Compare the user's formula with the derivative that its symbols and shape say it is."""
    tangent, own = f"d{at.x.name}", at.e.names.written
    found = other.names.written
    if tangent in found and tangent not in own:
        E = at.random("E")
        moved = at.along(E)
        value = at.value(other.node, {tangent: E})
        yield _entries(at, f"differential in {at.x.name}", value, moved.value, moved)
        return
    full, worst = _jacobian(at)
    if "G" in found and "G" not in own:
        G = np.asarray(np.random.default_rng(19).standard_normal(at.value(at.e.node).shape))
        reference = np.tensordot(G, full, G.ndim)
        yield _entries(at, f"pullback to {at.x.name}", at.value(other.node, {"G": G}), reference, worst)
        return
    what, reference, worst = _by_shape(at, other, full, worst)
    yield _entries(at, what, at.value(other.node), reference, worst)


def _by_shape(at: _Setting, other: Expression, full: Array, worst: Slope) -> tuple[str, Array, Slope]:
    """Return the derivative that has the shape of the user's formula: its name and reference."""
    f, x, shape, name = at.e.node.shape, at.x.shape, other.node.shape, at.x.name
    if shape == (*f, *x) or (not f and shape == x[::-1]):
        return f"gradient in {name}" if not f else f"Jacobian in {name}", full, worst
    if not f and shape == (*x, *x):
        second = _hessian(at)
        return f"Hessian in {name}", second.value, second
    stacked = as_matrix(symbol("J_", (*f, *x)), len(f))
    if shape in (stacked.shape, stacked.shape[::-1]):
        return f"vec Jacobian in {name}", at.value(stacked, {"J_": full}), worst
    wanted = shape_text((*f, *x))
    raise ShapeError(f"against is {shape_text(shape)}, and the derivative {wanted} (or {shape_text(stacked.shape)})")


def _hessian(at: _Setting) -> Slope:
    """Return second derivatives of the value: differences of differences."""
    base, x = at.data[at.x.name], at.data[at.x.name].shape
    full, error = np.zeros((*x, *x)), 0.0
    for i, E in at.units():
        for j, F in at.units():
            if j < i:
                continue

            def inner(t: Any, E: Array = E, F: Array = F) -> Array:
                one, two = (at.value(at.e.node, {at.x.name: base + t * (E + sign * F)}) for sign in (1.0, -1.0))
                return np.asarray(one - two)

            found = _curvature(inner)
            full[(*i, *j)] = full[(*j, *i)] = found.value / 4
            error = max(error, found.error)
    return Slope(full, error, "differences")


def _curvature(f: Callable[[Any], Array]) -> Slope:
    """Return f''(0) by extrapolated second differences."""
    best: Slope | None = None
    above: list[Array] = []
    middle = f(0.0)
    for k in range(3, 11):
        h = 2.0**-k
        row = [(f(h) - 2 * middle + f(-h)) / h**2]
        noise = 1e-15 * float(np.max(np.abs(middle), initial=1.0)) / h**2
        for order in range(1, min(len(above), 5) + 1):
            finer = (4.0**order * row[-1] - above[order - 1]) / (4.0**order - 1)
            error = float(np.max(np.abs(finer - row[-1]), initial=0.0)) + noise
            row.append(finer)
            if np.isfinite(error) and (best is None or error < best.error):
                best = Slope(np.asarray(finer), error, "differences")
        above = row
    return best or Slope(np.full_like(middle, np.nan), float("inf"), "differences")
