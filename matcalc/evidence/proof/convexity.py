"""Proves convexity by the second derivative, term by term, and by composition.

The second derivative v'*H*v along a direction v is expanded, and each term is shown to be nonnegative. If that fails
(kinks, or sums that are positive only together), the formula is composed from its parts: sums, squares, and functions
whose curvature and monotony the rulebook states or whose derivatives have a sign. Both methods need a convex domain,
which is also proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from matcalc.calculus.derive.conventions import hessians, tangent_symbol
from matcalc.calculus.derive.differentiate import depends_on, pullback, pushforward, template_parameter
from matcalc.calculus.simplify.expand import expanded_terms
from matcalc.calculus.simplify.simplify import simplify
from matcalc.errors import MatcalcError, NotSupported
from matcalc.evidence.explain.reasons import general_use, settled
from matcalc.evidence.explain.sentences import Formula, formula_in_words, joined_by, sentence
from matcalc.evidence.explain.why_fact import nonnegative
from matcalc.evidence.proof.convex_kinds import by_degree, by_entries, by_perspective, trace_of_function
from matcalc.language.identifiers import free
from matcalc.tensor.constructors import apply, number, scale, symbol
from matcalc.tensor.nodes.node import Node, Range, exponent_of, terms_of, toposort
from matcalc.tensor.sums import split_coef

CONSTANT, AFFINE, CONVEX, CONCAVE, UNKNOWN = "constant", "affine", "convex", "concave", ""
_H = formula_in_words("H", {"H": "matrix"})
HALF = Fraction(1, 2)
NEGATED = {CONVEX: CONCAVE, CONCAVE: CONVEX}


class Known(NamedTuple):
    """The curvature of a node, entry by entry, and the lines that prove it."""

    curvature: str
    lines: tuple[str, ...] = ()

    @property
    def is_affine(self) -> bool:
        return self.curvature in (CONSTANT, AFFINE)

    def bends(self, way: str) -> bool:
        """Whether the node is known to be convex (or concave), which includes affine."""
        return self.is_affine or self.curvature == way


def proof(f: Node, xs: Sequence[Node], way: str = CONVEX, deep: bool = True) -> list[str] | None:
    """Return the lines of a proof that a scalar is convex (or concave) jointly in `xs`; None if none was found.

    With `deep`, functions of degree 1 are reduced to functions of fewer variables or another form.
    """
    f = simplify(f)
    try:
        found = _by_second_derivative(f, xs, way)
        if found is None:
            known = _composed(f, xs)
            found = list(known.lines) or ["affine"] if known.bends(way) else None
        if found is None and deep:
            found = by_perspective(f, xs, way, _shallow) or by_degree(f, xs, way, _shallow) or _each_term(f, xs, way)
    except (NotSupported, MatcalcError):
        return None
    return found


def _each_term(f: Node, xs: Sequence[Node], way: str) -> list[str] | None:
    """Return the proofs of all terms of a sum, or None."""
    terms = terms_of(f)
    lines: list[str] = []
    for coef, node in terms if len(terms) > 1 else ():
        found = proof(scale(coef, node), xs, way)
        if found is None:
            return None
        lines += found
    return list(dict.fromkeys(lines)) or None


def _shallow(f: Node, xs: Sequence[Node], way: str) -> list[str] | None:
    return proof(f, xs, way, deep=False)


def second(f: Node, xs: Sequence[Node]) -> tuple[Node, dict[Node, Node]]:
    """Return v'*H*v, the second derivative along new symbols, and these symbols by variable."""
    names = {n.name for n in toposort(f) if n.kind == "symbol"}
    moved = {}
    for x in xs:
        moved[x] = tangent_symbol(x, free("v" if len(xs) == 1 else f"v_{x.name}", names))
    first = simplify(pushforward(f, moved))
    return simplify(pushforward(first, moved)), moved


def _by_second_derivative(f: Node, xs: Sequence[Node], way: str) -> list[str] | None:
    if not (_is_on_convex_domain(f, xs) and _is_smooth(f, xs)):
        return None
    q, moved = second(f, xs)
    if q.is_zero:
        return [sentence(f, " is affine in ", joined_by(", ", xs))]
    sign = 1 if way == CONVEX else -1
    head = sentence("the second derivative along ", joined_by(", ", moved.values()), " is ", q)
    if len(xs) == 1 and xs[0].rank == 1:
        hessian = settled(hessians(f, xs)[0][0])[0]
        v = _along(moved[xs[0]])
        head = sentence("the Hessian ", _H, " is ", hessian, ", and ", v, " = ", q)
    lines = _term_by_term([(n, c) for c, n in terms_of(q)], sign)
    if lines is None:
        expanded = list(expanded_terms([q])[0].items())
        lines = _term_by_term(expanded, sign) or by_entries(expanded, moved, sign)
    return [head, *lines] if lines is not None else None


def _along(v: Node) -> Formula:
    return formula_in_words(f"{v.name}'*H*{v.name}", {v.name: "vector", "H": "matrix"})


def _term_by_term(terms: Sequence[tuple[Node, Fraction]], sign: int) -> list[str] | None:
    """Return a line for each term that shows `sign` times the term to be nonnegative; None if one cannot be shown."""
    lines: list[str] = []
    relation = ">=" if sign > 0 else "<="
    for node, coef in terms:
        factor, rest = split_coef(node)
        reason = nonnegative(rest)
        if reason is not None and coef * factor * sign > 0:
            since = "" if coef * factor > 0 else sentence(", since ", rest, " >= 0")
            lines.append(sentence(scale(coef, node), f" {relation} 0", since, ": ", reason))
        elif coef * factor * sign < 0 and rest.range.high <= 0:
            lines.append(sentence(scale(coef, node), f" {relation} 0: by the signs of its factors"))
        else:
            return None
    return lines


def _is_smooth(f: Node, xs: Sequence[Node]) -> bool:
    """Whether the function and its gradient contain no jumps, whose derivative is 0 in the rulebook."""
    moved = pushforward(f, {x: tangent_symbol(x, f"d{x.name}") for x in xs})
    order = toposort([f, moved])
    active = depends_on(order, xs)
    return not any(_jumps(n, k) for n in order if n in active for k, a in enumerate(n.args) if a in active)


def _jumps(node: Node, operand_number: int) -> bool:
    if node.kind not in ("map", "op"):
        return False
    if node.kind == "map":
        return node.rule.derivative.get(template_parameter(node, operand_number).name) == "0"
    return node.rule.opaque is not None or node.rule.differentials.get(node.output) == "0"


def _is_on_convex_domain(f: Node, xs: Sequence[Node]) -> bool:
    order = toposort(f)
    active = depends_on(order, xs)
    affine = _affine(order, active)
    return all(_fits(n, {a: a in affine for a in n.args if a in active}) for n in order if n in active)


def _fits(node: Node, operands: Mapping[Node, bool]) -> bool:
    """Whether the domain of an operation is a convex set; `operands` maps operands to whether they are affine."""
    if node.kind not in ("map", "op"):
        return True
    rule = node.rule
    if node.kind == "op":
        return rule.domain is None or all(
            "nonsingular" in a.facts or ("psd" in a.facts and is_affine) for a, is_affine in operands.items()
        )
    facts = any(p.facts for p in rule.parameters)
    has_poles = rule.curvature is None and any(p.name in (rule.radius or "") for p in rule.parameters)
    if not (facts or rule.domain or has_poles):
        return True
    inside = all(_one_sign(a.range) for a in operands)
    return inside or (rule.curvature is not None and all(operands.values()))


def _one_sign(of: Range) -> bool:
    return of.positive or of.nonnegative or of.high < 0


def _affine(order: Sequence[Node], active: set[Node]) -> set[Node]:
    found = set()
    for node in order:
        inner = [a for a in node.args if a in active]
        is_linear = node.kind == "sum" or (node.kind == "product" and len(inner) == 1)
        if node not in active or (node.kind == "symbol") or (is_linear and all(a in found for a in inner)):
            found.add(node)
    return found


# ---- composition


def _composed(f: Node, xs: Sequence[Node]) -> Known:
    order = toposort(f)
    active = depends_on(order, xs)
    known: dict[Node, Known] = {}
    for node in order:
        if node not in active:
            known[node] = Known(CONSTANT)
        elif node in xs:
            known[node] = Known(AFFINE)
        else:
            known[node] = COMPOSE[node.kind](node, known, xs)
    return known[f]


def _lines(parts: Sequence[Known], *own: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([line for part in parts for line in part.lines] + list(own)))


def _sum(node: Node, known: Mapping[Node, Known], xs: Sequence[Node]) -> Known:
    parts = [_scaled(known[a], 1 if c > 0 else -1) for c, a in node.terms]
    return _together(parts)


def _together(parts: Sequence[Known]) -> Known:
    if all(p.is_affine for p in parts):
        return Known(AFFINE)
    for way in (CONVEX, CONCAVE):
        if all(p.bends(way) for p in parts):
            return Known(way, _lines(parts))
    return Known(UNKNOWN)


def _scaled(part: Known, sign: int) -> Known:
    return part if sign > 0 else Known(NEGATED.get(part.curvature, part.curvature), part.lines)


def _product(node: Node, known: Mapping[Node, Known], xs: Sequence[Node]) -> Known:
    active = [(a, at) for a, at in node.operands if known[a].curvature != CONSTANT]
    others = [(a, at) for a, at in node.operands if known[a].curvature == CONSTANT]
    sign = _sign(others) * (1 if node.coef > 0 else -1)
    base = known[active[0][0]]
    if len(active) == 1:
        if base.is_affine:
            return Known(AFFINE)
        if node.rank == 0 and sign and (of := trace_of_function(*active[0], _shallow)) is not None:
            way, found, inner = of
            return _scaled(Known(way, tuple(found)), sign) if known[inner].is_affine else Known(UNKNOWN)
        return _scaled(base, sign) if sign and base.curvature else Known(UNKNOWN)
    if len(set(active)) == 1 and sign:
        u, power = active[0][0], len(active)
        if base.is_affine and power % 2 == 0:
            return _scaled(Known(CONVEX, (sentence(node, ": even powers of an affine function are convex"),)), sign)
        if base.curvature == CONVEX and u.range.nonnegative:
            line = sentence(node, " is convex: a power of what is convex and nonnegative")
            return _scaled(Known(CONVEX, _lines([base], line)), sign)
    if _is_quotient(node, known):
        line = sentence(node, " is convex: squares of affine functions over what is affine, positive")
        return Known(CONVEX, (line,))
    if node.rank == 0:
        for way in (CONVEX, CONCAVE):
            lines = _by_second_derivative(node, xs, way)
            if lines is not None:
                return Known(way, (sentence(node, f" is {way}:"), *lines))
    return Known(UNKNOWN)


def _is_squares(node: Node, known: Mapping[Node, Known]) -> bool:
    """Whether each entry is a sum of squares of affine functions and of nonnegative constants."""
    terms = [(coef, *split_coef(term)) for coef, term in terms_of(node)]
    return all(coef * factor > 0 and _is_square(rest, known) for coef, factor, rest in terms)


def _is_square(node: Node, known: Mapping[Node, Known]) -> bool:
    if not node.args:
        return node.range.nonnegative and known.get(node, Known(CONSTANT)).curvature == CONSTANT
    active = [a for a in node.args if known[a].curvature != CONSTANT]
    if not active:
        return node.range.nonnegative
    if node.kind != "product" or not _is_twice(active, known):
        return False
    if node.rank == 0:
        return nonnegative(node) is not None
    places = {at for a, at in node.operands if a in active}
    return places == {node.out} and node.range.nonnegative


def _is_twice(factors: Sequence[Node], known: Mapping[Node, Known]) -> bool:
    """Whether these are the same affine function twice."""
    return len(factors) == 2 and factors[0] is factors[1] and known[factors[0]].is_affine


def _is_quotient(node: Node, known: Mapping[Node, Known]) -> bool:
    """Whether a scalar is x'*x/t, x'*inv(S)*x or the like, with t or S affine and positive (definite)."""
    active = [a for a in node.args if known[a].curvature != CONSTANT]
    inverses = [a for a in active if _inverts(a, known)]
    if node.rank or len(inverses) != 1 or node.coef < 0:
        return False
    others = [a for a in active if a is not inverses[0]]
    if len(others) == 1 and all(a.range.nonnegative for a in node.args if a not in active):
        return _is_squares(others[0], known)
    return _is_twice(others, known) and nonnegative(node) is not None


def _inverts(node: Node, known: Mapping[Node, Known]) -> bool:
    base, exponent = exponent_of(node)
    if node.kind == "op" and node.rule.inverse and not node.batch_rank:
        return "psd" in node.args[0].facts and known[node.args[0]].is_affine
    return exponent == -1 and base.range.positive and known[base].is_affine


def _sign(operands: Sequence[tuple[Node, tuple[int, ...]]]) -> int:
    """Return the sign of a product of constants, 0 if unknown."""
    sign = 1
    for key in dict.fromkeys(operands):
        count = operands.count(key)
        if count % 2 and not key[0].range.nonnegative:
            if key[0].range.high > 0:
                return 0
            sign = -sign
    return sign


def _function(node: Node, known: Mapping[Node, Known], xs: Sequence[Node]) -> Known:
    """Return the curvature of a function whose operands are affine or have a curvature that matches its own."""
    base, exponent = exponent_of(node)
    if exponent >= HALF and _is_squares(base, known):
        line = sentence(node, " is convex: a power, at least 1, of the norm of an affine function")
        return Known(CONVEX, (line,))
    places = [k for k, a in enumerate(node.args) if known[a].curvature != CONSTANT]
    operands = [known[node.args[k]] for k in places]
    if not _fits_composed(node, places, known):
        return Known(UNKNOWN)
    way = node.rule.curvature or _derived_curvature(node, places)
    if way is None:
        return Known(UNKNOWN)
    if all(part.is_affine for part in operands):
        return Known(way, (sentence(node, f" is {way}: {node.rule.spelling} is, of an affine argument"),))
    for k, part in zip(places, operands, strict=True):
        monotone = _monotone(node, k)
        needed = way if monotone > 0 else NEGATED[way]
        if not part.is_affine and (monotone == 0 or part.curvature != needed):
            return Known(UNKNOWN)
    grows = "increasing" if _monotone(node, places[0]) > 0 else "decreasing"
    inner = next(part.curvature for part in operands if not part.is_affine)
    words = f" is {way}: {node.rule.spelling} is {way} and {grows}, its argument {inner}"
    return Known(way, _lines(operands, sentence(node, words)))


def _fits_composed(node: Node, places: Sequence[int], known: Mapping[Node, Known]) -> bool:
    """Whether the domain is convex: as in `_fits`, or {x: u(x) > 0} with a concave u."""
    operands = {node.args[k]: known[node.args[k]].is_affine for k in places}
    if _fits(node, operands):
        return True
    positive = node.kind == "map" and all(
        {"positive", "nonnegative"} & set(template_parameter(node, k).facts) for k in places
    )
    return positive and all(known[node.args[k]].bends(CONCAVE) for k in places)


def _stand_in(node: Node) -> tuple[Node, list[Node]]:
    """Return a function applied to new symbols, with the known signs of its operands, and the symbols."""
    if node.kind == "op":
        made, moved = general_use(node, range(len(node.args)))
        return made, list(moved)
    operands = []
    for k, arg in enumerate(node.args):
        facts = set(template_parameter(node, k).facts)
        facts |= {"positive"} if arg.range.positive else {"nonnegative"} if arg.range.nonnegative else set()
        operands.append(symbol(f"x{k}", (), sorted(facts)))
    return apply(node.rule, operands, node.params), operands


def _slope(node: Node, variable: Node) -> Node:
    return simplify(pullback(node, number(1), [variable])[0])


def _derived_curvature(node: Node, places: Sequence[int]) -> str | None:
    """Return the curvature of a smooth function of one variable by the sign of its second derivative, or None."""
    if node.kind != "map" or len(places) != 1:
        return None
    made, operands = _stand_in(node)
    x = operands[places[0]]
    if made is x or not _is_smooth(made, [x]):
        return None
    bend = _slope(_slope(made, x), x)
    return CONVEX if bend.range.nonnegative else CONCAVE if bend.range.high <= 0 else None


def _monotone(node: Node, operand_number: int) -> int:
    """Return 1 for a function that grows with an operand, -1 for one that falls, 0 if unknown."""
    if node.rule.monotone is not None and len(node.args) == 1:
        return 1 if node.rule.monotone == "increasing" else -1
    if _jumps(node, operand_number):
        return 0
    made, operands = _stand_in(node)
    if made.shape:
        return 0
    slope = _slope(made, operands[operand_number]) if made.args else number(1)
    return 1 if slope.range.nonnegative else -1 if slope.range.high <= 0 else 0


COMPOSE = {"sum": _sum, "product": _product, "map": _function, "op": _function}
