"""Provides `equivalent`: decides by a proof, samples or a counterexample whether two formulas are equal.

A proof brings both formulas to one normal form: by construction, by the rulebook's rewrites, or by expanding products
of sums. If no proof is found, values decide. A difference disproves equality; the search then looks for a
counterexample of small integers. The formulas are compared at random points, at the boundaries of the sets that their
symbols' facts describe, and where pieces of a formula meet. A verdict that is not proved reports these points.

All this concerns points at which both formulas have values. Whether the second has a value wherever the first has one
is decided separately. Either it follows from the conditions of the operations, or the search looks for a point at which
only the first has a value. Such a point disproves too. Formulas are compared as constructed: `log(a) - log(a)` is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any, Literal

import numpy as np

from matcalc.api.reports import Lines, array_in_words, equations
from matcalc.calculus.derive.conventions import shape_text
from matcalc.errors import MatcalcError, NoReference, NotSupported, ShapeError
from matcalc.evidence.explain.sentences import joined_by, sentence
from matcalc.evidence.numeric.counterexample import DIFFERENT, EQUAL, Comparer, Point, Samples
from matcalc.evidence.numeric.differences import Array
from matcalc.evidence.proof.domain import asks_no_more, conditions
from matcalc.evidence.proof.equality import proof
from matcalc.evidence.written.compiled import Result, compiled_check
from matcalc.expressions.expression import Expression
from matcalc.expressions.read_input import Readable, expressions
from matcalc.formula.elaborate.texts import elaborate
from matcalc.formula.notation.write_node import formula_of
from matcalc.language import syntax
from matcalc.language.declare import Declarations
from matcalc.language.write import text
from matcalc.tensor.constructors import add, product, scale, transpose
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.substitute import substitute
from matcalc.tensor.symbols import all_sizes

DOMAINS = ("first", "common")
"""Domain of the equality: where the first formula has a value, or where both have."""


MOST_DOUBTS = 24
"""Limit of boundary points whose values differ by rounding alone, for formulas without operations."""

FEWEST_DOUBTS = 3
"""The same limit for formulas with many operations, whose many-digit values are slow."""


@dataclass(frozen=True, slots=True, repr=False)
class Equivalence(Lines):
    """The result of `equivalent`: true if the formulas are equal; prints the evidence and the domain.

    `verdict` is "proved", "tested" or "different", for values where both formulas have one. `domain` describes the
    domain in words; it is empty for "everywhere". `steps` are the lines of a proof. `at` holds the data of the
    counterexample, `point` its values, and `mistake` the correction of the second formula. `samples` are the data at
    which both formulas were compared.
    """

    verdict: str
    steps: tuple[str, ...] = ()
    point: Point | None = None
    mistake: str = ""
    domain: str = ""
    samples: Samples = Samples()

    def __bool__(self) -> bool:
        return self.verdict != "different"

    @property
    def at(self) -> dict[str, Array]:
        """The data of the counterexample, by name; empty if there is none."""
        return dict(self.point.data) if self.point else {}

    def lines(self) -> list[str | Sequence[str]]:
        """Return the lines of the report; a proof is a list of lines."""
        where = [self.domain] if self.domain else []
        if self.verdict == "proved":
            return ["equal, proved:", self.steps, *where]
        if self.verdict == "tested":
            return [f"equal at {self.samples}, not proved", self.steps, *where]
        mistake = [f"likely mistake: {self.mistake}"] if self.mistake else []
        if self.point is None:
            return ["not equal", self.steps, *mistake, *where]
        data = equations({**self.point.sizes, **self.point.data})
        second = array_in_words(self.point.right) if self.point.is_common else "undefined"
        values = [sentence("the first is ", array_in_words(self.point.left)), sentence("the second is ", second)]
        return [sentence("not equal", " at " if data else "", data, ":"), self.steps, *values, *mistake, *where]


def equivalent(
    a: Readable,
    b: Readable,
    declarations: Declarations = "",
    dialect: str = "matrix",
    domain: Literal["first", "common"] = "first",
) -> Equivalence:
    """Return whether two formulas are equal wherever the first is defined, for all data with the declared facts.

    With `domain="common"` they need only be equal wherever both are defined. The result is true or false. It prints as
    a proof, as a test, or as a counterexample with the likely mistake, and names the domain.

    Shapes: a and b alike.
    Raises: the errors of reading; NotSupported for another domain; ShapeError for two shapes, or if both are finite at
        no random data.

    Example:
        >>> bool(equivalent("tr(A*B)", "tr(B*A)")), bool(equivalent("A*B", "B*A", "A: matrix(n, n); B: matrix(n, n)"))
        (True, False)
        >>> print(equivalent("a", "exp(log(a))", "a: scalar"))
        not equal at a = -1:
        the first is -1
        the second is undefined
        equal wherever both are defined, proved (domain="common" asks for no more); the second needs a > 0
        >>> bool(equivalent("exp(log(a))", "a", "a: scalar"))
        True
    """
    if domain not in DOMAINS:
        raise NotSupported(f"there is no domain '{domain}': it is one of {', '.join(DOMAINS)}")
    one, other = map(with_numbers, expressions([a, b], declarations, dialect))
    if one.node.shape != other.node.shape:
        shapes = f"{shape_text(one.node.shape)} and {shape_text(other.node.shape)}"
        mistake = "transposed" if _is_transposed(one, other) else ""
        return Equivalence("different", (f"the shapes are {shapes}",), None, mistake)
    is_covered = asks_no_more(other.node, one.node)
    found, samples = None, Samples()
    if one.node is not other.node:
        found, samples = difference(one, other, is_covered or domain == "common")
    if found is not None and found.is_common:
        return Equivalence("different", (), found, mistake_of(one, other), samples=samples)
    steps = proof(one.node, other.node)
    verdict = "proved" if steps is not None else "tested"
    if steps is not None:
        _check_proof(one, other)
    if found is not None:
        known = f'equal wherever both are defined, {verdict} (domain="common" asks for no more)'
        return Equivalence("different", (), found, "", joined_by("; ", [known, *_needs("the second", other)]), samples)
    return Equivalence(verdict, tuple(steps or ()), domain=_where(one, other, is_covered, domain), samples=samples)


def with_numbers(e: Expression) -> Expression:
    """Return an expression with the numbers of a function's data in place of their symbols, which stand for no others.

    Indices remain symbols.
    """
    numbers = {name: entries for name, entries in e.names.bound.items() if entries.dtype.kind == "f"}
    return e.substitute(numbers) if numbers else e


def _check_proof(one: Expression, other: Expression) -> None:
    """Compare two formulas that a proof calls equal, as written, at random data where both have values.

    Raises: InternalError if they differ.
    """
    names = one.names.joined(other.names)

    def second(data: Mapping[str, Any]) -> Sequence[Array]:
        try:
            value = other.reference.value(data, {n: data[n] for n in names.size_names if n in data})
        except np.linalg.LinAlgError as error:
            raise NoReference(str(error)) from None
        if not np.all(np.isfinite(value)):
            raise NoReference("no value")
        return [value]

    first = Result("equality that was proved", one.node, one.reference)
    compiled_check(second, [first], names, names.ordered())


def _where(one: Expression, other: Expression, is_covered: bool, domain: str) -> str:
    """Return where two formulas are equal, and the evidence that the second has a value there."""
    if is_covered:
        own = _needs("the first", one)
        return joined_by("; ", ["it holds wherever the first is defined", *own]) if own else ""
    clauses = ["it holds wherever both are defined", *_needs("the second", other)]
    if domain == "first":
        clauses.append("no point was found at which the first alone is defined")
    return joined_by("; ", clauses)


def _needs(which: str, e: Expression) -> list[str]:
    """Return the conditions of a formula beyond its declarations, as a clause; empty if it is defined everywhere."""
    words = sorted({c.words for c in conditions(e.node)})
    return [sentence(f"{which} needs ", joined_by(" and ", words))] if words else []


# ---- numbers


def difference(one: Expression, other: Expression, is_common: bool = True) -> tuple[Point | None, Samples]:
    """Return a point at which two formulas differ, of small integers if possible, and the points compared.

    The point is None if the formulas agree. Without `is_common`, a point at which only the first has a value counts
    too.

    Raises: ShapeError if no point was found and both are finite at none of the points.
    """
    comparer = _comparer(one, other)
    seen, alone, doubts = Samples(), None, doubts_allowed([one.node, other.node])
    for point in chain(comparer.random(), comparer.at_ends()):
        if not doubts:
            break
        if not point.is_common:
            if alone is None and not is_common:
                alone = point if comparer.is_real(point) else None
                doubts -= bool(point.end and alone is None)
            continue
        if point.difference > DIFFERENT:
            if comparer.is_real(point):
                return comparer.simplest(point), seen
            doubts -= bool(point.end)
        seen = seen.with_point(point)
    if not is_common and alone is not None:
        return comparer.simplest(alone), seen
    if not is_common and (smallest := comparer.smallest(is_common=False)) is not None:
        return smallest, seen
    if not seen.total:
        raise ShapeError("no random data at which both are finite: declare facts such as positive or spd")
    return None, seen


def doubts_allowed(nodes: Sequence[Node]) -> int:
    """Return how many boundary values may be evaluated at many digits before the search stops."""
    operations = sum(n.kind == "op" for n in toposort(nodes))
    return max(MOST_DOUBTS // (1 + 3 * operations), FEWEST_DOUBTS)


def _comparer(one: Expression, other: Expression) -> Comparer:
    names = one.names.joined(other.names)
    symbols = list(names.ordered())
    return Comparer(one.node, other.node, symbols, all_sizes([one.node, other.node], names), names.conditions)


# ---- mistakes that people make


def mistake_of(truth: Expression, wrong: Expression) -> str:
    """Return the correction that makes `wrong` equal to `truth`, if the mistake is a common one; else an empty text."""
    if truth.node.shape != wrong.node.shape:
        return "transposed" if _is_transposed(truth, wrong) else ""
    for what, corrected in _corrections(truth, wrong):
        if corrected.shape == truth.node.shape and agree(truth, Expression(corrected, wrong.names)):
            return what
    return ""


def agree(one: Expression, other: Expression) -> bool:
    """Return whether two formulas of one shape are equal at random points and at the boundaries of their sets."""
    comparer, seen = _comparer(one, other), 0
    for point in (p for p in chain(comparer.random(), comparer.at_ends()) if p.is_common):
        if point.difference > DIFFERENT and comparer.is_real(point):
            return False
        seen += 1
    return seen > 0


def _corrections(truth: Expression, wrong: Expression) -> Iterator[tuple[str, Node]]:
    node, shape = wrong.node, wrong.node.shape
    ratio = _ratio(truth, wrong)
    if ratio is not None:
        yield ("the sign" if ratio == -1 else f"a factor of {1 / ratio}"), scale(ratio, node)
    if len(shape) == 2 and shape[0] == shape[1]:
        yield "transposed", transpose(node)
        diagonal = product(1, [(node, (0, 0))], (0, 0))
        half = Fraction(1, 2)
        yield (
            "the convention for symmetric matrices: d X_ij and d X_ji counted together",
            add([(half, node), (half, diagonal)]),
        )
    yield from _renamed(truth, wrong)
    symbols = [s for s in wrong.names.ordered() if s.shape]
    for k, s in enumerate(symbols):
        if len(s.shape) == 2 and s.shape[0] == s.shape[1] and transpose(s) is not s:
            yield f"{s.name} for {s.name}'", substitute(node, {s: transpose(s)})
            if "symmetric" not in s.facts:
                half = Fraction(1, 2)
                yield f"{s.name} taken for symmetric", substitute(node, {s: add([(half, s), (half, transpose(s))])})
        for t in symbols[k + 1 :]:
            if t.shape == s.shape:
                yield f"{s.name} and {t.name} exchanged", substitute(node, {s: t, t: s})

    yield from _swapped(wrong)


def _renamed(truth: Expression, wrong: Expression) -> Iterator[tuple[str, Node]]:
    """Yield the formula with one of its symbols renamed to a symbol that only the other formula has."""
    for s in wrong.names.ordered():
        for t in truth.names.ordered():
            if s.name not in truth.names.written and t.name not in wrong.names.written and s.shape == t.shape:
                yield f"{s.name} for {t.name}", substitute(wrong.node, {s: t})


def _swapped(wrong: Expression) -> Iterator[tuple[str, Node]]:
    """Yield the formula with two neighbouring operands of a product or function exchanged."""
    root = formula_of(wrong.node, wrong.names.symbols)
    for tree in syntax.walk(root):
        if tree.head not in ("product", "call"):
            continue
        for k in range(len(tree.args) - 1):
            args = list(tree.args)
            args[k : k + 2] = args[k + 1], args[k]
            swapped = replace(tree, args=tuple(args))
            formula = syntax.replaced(root, tree, swapped)
            try:
                made = elaborate([formula], symbols=wrong.names.symbols, sizes=wrong.names.sizes).nodes[0]
            except MatcalcError:
                continue
            if made is not wrong.node:
                yield f"operands in the wrong order: {text(tree)} for {text(swapped)}", made


def _ratio(truth: Expression, wrong: Expression) -> Fraction | None:
    """Return the simple number c other than 1 for which truth = c*wrong at random points, if there is one."""
    ratios = []
    for left, right in ((p.left, p.right) for p in _comparer(truth, wrong).random() if p.is_common):
        largest = int(np.argmax(np.abs(right))) if right.size else 0
        if right.size and right.flat[largest]:
            ratios.append(float(left.flat[largest] / right.flat[largest]))
    if not ratios or max(ratios) - min(ratios) > EQUAL * max(map(abs, ratios)):
        return None
    found = Fraction(ratios[0]).limit_denominator(12)
    return found if found not in (0, 1) and abs(float(found) - ratios[0]) < EQUAL * abs(ratios[0]) else None


def _is_transposed(one: Expression, other: Expression) -> bool:
    transposed = transpose(other.node)
    changed = Expression(transposed, other.names)
    return transposed.shape == one.node.shape and agree(one, changed)
