"""Values: the graph between nodes and a Program; every array has one definition and no memory yet.

A node becomes a value when the plan decides *how* to compute it: by a kernel run, at each point of its own axes, or by
a sum over a larger domain. Its readers decide later whether it becomes an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from matcalc.compiler.entrywise import At, Expr, Guard, Index, Literal, Number, Product, Read, Select, Sum, select
from matcalc.compiler.lowering_entries import Kernel
from matcalc.compiler.plan.values.describe import Subject
from matcalc.language.identifiers import free
from matcalc.tensor.sizes.size import Size

Shape = tuple[Size, ...]
ONE = Literal(Fraction(1))
LETTERS = ("i", "j", "k", "l", "p", "q", "r", "s", "t", "u", "a", "b", "c", "d", "e", "f", "g", "h")


@dataclass(frozen=True, slots=True)
class Part:
    """Entries added to some positions of an array: for each point of `domain`, `expr` is added at `at`.

    `once`: no two points have the same position; `covers`: the positions are all entries.
    """

    domain: Shape
    at: At
    expr: Expr
    guards: tuple[Guard, ...]
    once: bool
    covers: bool


@dataclass(eq=False, slots=True)
class Value:
    """An array to be computed.

    Kinds: input, constant; kernel (by `run`); point (`expr` at each point of its shape, or the `parts` over
    `base`, if it is stored); sum (`expr` over `domain`, with axes `at`); view (of another value).
    """

    name: str
    shape: Shape
    kind: str
    expr: Expr | None = None
    domain: Shape = ()
    at: At = ()
    parts: tuple[Part, ...] = ()
    base: Expr | None = None
    run: Run | None = None
    of: Value | None = None
    start: Size | None = None
    dtype: str = "float64"
    comment: Subject = ""
    entries: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a run; `lead` are the batch axes that index its leading axes."""

    field: str
    value: Value
    flip: bool = False
    lead: tuple[str, ...] = ()


@dataclass(eq=False, slots=True)
class Run:
    """A kernel run, inside loops over `batch` axes; those that are not `kept` are summed in the result."""

    kernel: Kernel
    results: list[tuple[str, Value]]
    operands: list[Operand]
    sizes: tuple[tuple[str, Size], ...] = ()
    params: tuple[tuple[str, str | Size], ...] = ()
    alpha: Expr = ONE
    onto: Value | None = None
    batch: tuple[tuple[str, Size], ...] = ()
    kept: tuple[str, ...] = ()
    fault: str = ""
    comment: Subject = ""
    order: int = 0


Item = Value | Run


@dataclass(eq=False)
class Graph:
    """All values of one plan in order of creation, operands first."""

    reserved: frozenset[str]
    items: list[Item] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    axes: tuple[str, ...] = ()
    batch_axes: tuple[str, ...] = ()
    safe_powers: set[str] = field(default_factory=set)
    """Powers whose base is known to be away from 0, so that no reciprocal of the base is infinite."""

    def __post_init__(self) -> None:
        taken = set(self.reserved)
        names = [a for a in LETTERS if a not in taken]
        names += [free(f"i{k}", taken) for k in range(20 - len(names))]
        self.axes, self.batch_axes = tuple(names), tuple(free(a + a, taken) for a in names)
        self.prefix = "v"  # of values, their versions and sums: v3, v3_0, v3_sum
        while any(name.startswith(self.prefix) and name[len(self.prefix) :][:1].isdigit() for name in self.reserved):
            self.prefix += "_"

    def fresh(self) -> str:
        return f"{self.prefix}{len(self.values)}"

    def add(self, value: Value) -> Value:
        self.items.append(value)
        self.values[value.name] = value
        return value

    def leaf(
        self, name: str, shape: Shape, kind: str = "input", entries: tuple[float, ...] = (), dtype: str = "float64"
    ) -> Value:
        return self.add(Value(name, shape, kind, entries=entries, dtype=dtype))

    def point(self, shape: Shape, expr: Expr, comment: Subject = "") -> Value:
        axes = self.axes[: len(shape)]
        return self.add(Value(self.fresh(), shape, "point", expr, shape, axes, comment=comment))

    def assembled(
        self, shape: Shape, base: Expr | None, parts: Sequence[Part], expr: Expr | None, comment: Subject = ""
    ) -> Value:
        """Add a value: `base` (zero if None) with `parts` added, or `expr` at each point."""
        axes = self.axes[: len(shape)]
        value = Value(self.fresh(), shape, "point", expr, shape, axes, tuple(parts), base, comment=comment)
        return self.add(value)

    def sum(self, domain: Shape, kept: Sequence[int], expr: Expr, comment: Subject = "") -> Value:
        """Add the sum of `expr` over the axes of `domain` that are not in `kept`; its axes are `kept`, in order."""
        at = tuple(self.axes[k] for k in kept)
        shape = tuple(domain[k] for k in kept)
        return self.add(Value(self.fresh(), shape, "sum", expr, domain, at, comment=comment))

    def view(self, of: Value, shape: Shape, start: Size | None = None) -> Value:
        return self.add(Value(self.fresh(), shape, "view", of=of, start=start))

    def run(self, run: Run, shapes: Sequence[tuple[str, Shape, str]]) -> list[Value]:
        """Add a run and its results, which are triples (field, shape, dtype)."""
        run.order = len(self.items)
        self.items.append(run)
        made = []
        for name, shape, dtype in shapes:
            value = Value(self.fresh(), shape, "kernel", run=run, dtype=dtype, comment=run.comment)
            self.values[value.name] = value
            run.results.append((name, value))
            made.append(value)
        return made


def times(coef: Number, factors: Sequence[Expr]) -> Expr:
    """Return the product of a number and expressions, with literals and coefficients combined."""
    kept: list[Expr] = []
    for factor in factors:
        if isinstance(factor, Literal) and not isinstance(factor.value, Size):
            coef = coef * factor.value
        elif isinstance(factor, Product):
            coef = coef * factor.coef
            kept.extend(factor.factors)
        else:
            kept.append(factor)
    if not kept:
        return Literal(coef)
    if coef == 1 and len(kept) == 1:
        return kept[0]
    return Product(coef, tuple(kept))


def plus(terms: Sequence[tuple[Number, Expr]]) -> Expr:
    """Return a sum; one term with coefficient 1 as itself."""
    if not terms:
        return Literal(Fraction(0))
    if len(terms) == 1:
        return times(terms[0][0], (terms[0][1],))
    positive_first = sorted((_with_number(*term) for term in terms), key=lambda t: t[0] < 0)
    return Sum(tuple(positive_first))


def _with_number(coef: Number, expr: Expr) -> tuple[Number, Expr]:
    """Return a term; if it is a number, its coefficient is only its sign."""
    if not isinstance(expr, Literal) or isinstance(expr.value, Size) or expr.value != 1:
        return coef, expr
    return (Fraction(1), Literal(coef)) if coef > 0 else (Fraction(-1), Literal(-coef))


def moved(expr: Expr, axes: dict[str, Index]) -> Expr:
    """Return the expression with its axes replaced."""
    if isinstance(expr, Read):
        return Read(expr.value, tuple(moved_index(a, axes) for a in expr.at))
    if isinstance(expr, Select):
        return select((moved_guard(g, axes) for g in expr.guards), moved(expr.body, axes))
    return rebuilt(expr, lambda operand: moved(operand, axes))


def rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return the expression with its operands changed."""
    if isinstance(expr, Sum):
        return Sum(tuple((c, change(t)) for c, t in expr.terms))
    if isinstance(expr, Product):
        return Product(expr.coef, tuple(map(change, expr.factors)))
    if isinstance(expr, Select):
        return select(expr.guards, change(expr.body))
    if isinstance(expr, (Read, Literal)):
        return expr
    return type(expr)(expr.function, tuple(map(change, expr.args)), expr.params)


def moved_index(index: Index, axes: dict[str, Index]) -> Index:
    if isinstance(index, str):
        return axes.get(index, index)
    return index.substitute({name: Size.of(to) for name, to in axes.items()})


def moved_guard(guard: Guard, axes: dict[str, Index]) -> Guard:
    index = moved_index(guard.size, axes)
    return Guard(guard.relation, Size.of(index))
