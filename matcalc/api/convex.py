"""Provides `convex`: whether a scalar function is convex, by a proof or by a direction of negative curvature.

A point at which the function exceeds the mean of its values on both sides is a counterexample. A proof
(`evidence.proof`) is compared with values between random points. Without a proof, the search looks for directions of
negative curvature; if it finds none, the answer is "undecided".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matcalc.api.equivalent import with_numbers
from matcalc.api.reports import Lines, equations
from matcalc.errors import ShapeError
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.explain.sentences import sentence
from matcalc.evidence.numeric.boundary_points import has_jumps
from matcalc.evidence.numeric.counterexample import POINTS
from matcalc.evidence.numeric.curvature import Bend, Searcher
from matcalc.evidence.numeric.sampling import Array
from matcalc.evidence.proof.convexity import CONCAVE, proof
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.verify import verify
from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Wrt
from matcalc.expressions.read_input import Readables, with_wrt
from matcalc.expressions.wrt import apart
from matcalc.language.declare import Declarations
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import all_sizes

NOT_CONVEX = {"orthogonal", "orthonormal", "integer", "nonsingular"}
"""Facts of a variable whose set is not convex."""


@dataclass(frozen=True, slots=True, repr=False)
class Convexity(Lines):
    """The result of `convex`: true if the function is proved convex; prints the evidence.

    `verdict` is "convex", "not convex" or "undecided". `steps` are the lines of a proof; if the verdict is "not
    convex", of concavity. `at` and `direction` are the counterexample, `values` the values before, at and after the
    point.
    """

    verdict: str
    wrt: str
    steps: tuple[str, ...] = ()
    bend: Bend | None = None
    note: str = ""

    def __bool__(self) -> bool:
        return self.verdict == "convex"

    @property
    def at(self) -> dict[str, Array]:
        """The point of the counterexample, by name; empty if there is none."""
        return dict(self.bend.data) if self.bend else {}

    @property
    def direction(self) -> dict[str, Array]:
        """The direction of negative curvature, by name; empty if there is none."""
        return dict(self.bend.direction) if self.bend else {}

    @property
    def values(self) -> tuple[float, ...]:
        """The values before, at and after the point, along the direction."""
        return self.bend.values if self.bend else ()

    def lines(self) -> list[str | Sequence[str]]:
        """Return the lines of the report; a proof is a list of lines."""
        if self.verdict == "convex":
            return [f"convex in {self.wrt}, proved:", self.steps]
        if self.bend is None:
            return [f"undecided in {self.wrt}: {self.note}"]
        concave = [f"it is concave in {self.wrt}, proved:", self.steps] if self.steps else []
        return [f"not convex in {self.wrt}", *_shown(self.bend), *concave]


def _shown(bend: Bend) -> list[str]:
    moved = {name: bend.step * array for name, array in bend.direction.items()}
    before, here, after = (f"{value + 0.0:.8g}" for value in bend.values)
    return [
        sentence("at ", equations({**bend.sizes, **bend.data})),
        sentence("along ", equations(moved, "d")),
        f"the value is {here}, above the mean of {before} and {after} on both sides",
    ]


def convex(f: Readables, wrt: Wrt, declarations: Declarations = "", dialect: str = "matrix") -> Convexity:
    """Return whether a scalar formula is convex in `wrt` (jointly in several variables), where their facts hold.

    The result is true or false. It prints as a proof, as a counterexample, or as undecided, which is false.

    Shapes: f ().
    Raises: the errors of reading; ShapeError if f is not a scalar, or finite at no random data.
    Source: compositions after Boyd & Vandenberghe 2004, 3.2; else the Hessian as a sum of squares.

    Example:
        >>> print(convex("norm2(X*w - y)^2", "w"))
        convex in w, proved:
        1. the Hessian H is 2*X'*X, and v'*H*v = 2*norm2(X*v)^2
        2. 2*norm2(X*v)^2 >= 0: a sum of squares
        >>> bool(convex("norm2(M - U*V')^2", ["U", "V"]))
        False
    """
    found = apart(with_wrt(f, wrt, declarations, dialect, scalar=True), wrt)
    e = found.e
    if e.node.shape:
        raise ShapeError("only a scalar can be convex: sum its entries, or take one of them")
    xs = e.symbols_of(found.wrt)
    names = ", ".join(found.label(x.name) for x in xs)
    restricted = [f"{x.name} is {fact}" for x in xs for fact in sorted(x.data[1] & NOT_CONVEX)]
    if restricted:
        return Convexity("undecided", names, note=f"{', '.join(restricted)}, which is no convex set")
    verify(iter([Claim(e.node, Derivation("value", e.node), "the formula as read")]), e.reference, e.names)
    steps = proof(e.node, xs)
    if steps is None and e.names.bound:
        e = with_numbers(e)
        steps = proof(e.node, xs)
    bend = _searched(e, xs, steps is not None)
    if bend is not None:
        return Convexity("not convex", names, tuple(proof(e.node, xs, CONCAVE) or ()), bend)
    if steps is not None:
        return Convexity("convex", names, tuple(steps))
    where = f"{POINTS} random points" + (" or where it jumps" if has_jumps(e.node) else "")
    return Convexity("undecided", names, note=f"no direction of negative curvature at {where}, no proof")


def _searched(e: Expression, xs: Sequence[Node], by_values: bool) -> Bend | None:
    e = Expression(e.node, e.names_with([x.name for x in xs]))
    symbols = e.names.ordered()
    try:
        return Searcher(e.node, xs, symbols, all_sizes([e.node], e.names)).search(by_values)
    except ValueError:
        raise ShapeError("no random data at which it is finite: declare facts such as positive or spd") from None
