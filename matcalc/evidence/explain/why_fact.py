"""Explains why a node has a fact: by a declaration, rule or form, and by the facts of its parts.

Facts are inferred when a node is built, and the node stores the form that implies them (`ground`). This file states the
inference in words. An inference without words of its own is attributed to the signs of the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

from matcalc.evidence.explain.sentences import Formula, formula_in_words, formula_sentence, joined_by, sentence
from matcalc.formula.notation.write_node import formula_of
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.notations import spelled
from matcalc.tensor.constructors import diag_matrix, hadamard, matmul, symbol, transpose
from matcalc.tensor.facts.chain import chain_between
from matcalc.tensor.facts.palindrome import Joint, Mirror
from matcalc.tensor.facts.product_facts import Definite
from matcalc.tensor.facts.schur import Complement, ParallelSum, Part
from matcalc.tensor.nodes.node import Node, terms_of, toposort
from matcalc.tensor.nodes.signature import PLAIN

MOST = 8
"""The most lines shown; parts examined later are omitted."""

SIGNS = ("positive", "nonnegative")
Claim = tuple[Node, str]


class Why(NamedTuple):
    """A reason, and the claims that it depends on."""

    words: str
    claims: tuple[Claim, ...] = ()


def why(root: Node) -> list[str]:
    """Return a line for each fact of a node that no other implies, after the lines of the claims it depends on."""
    waiting: list[Claim] = [(root, fact) for fact in strongest(root.facts)]
    found: dict[Claim, Why] = {}
    pending = list(waiting)
    while pending and len(found) < MOST:
        claim = pending.pop(0)
        if claim in found or (not claim[0].args and claim[0].kind != "symbol"):  # obvious for ones and numbers
            continue
        found[claim] = reason(*claim)
        pending += found[claim].claims
    order = {node: k for k, node in enumerate(toposort([node for node, _ in found]))}
    lines = sorted(found.items(), key=lambda item: order[item[0][0]])
    return [sentence(node, f" is {fact}: ", because.words) for (node, fact), because in lines]


def strongest(facts: frozenset[str]) -> tuple[str, ...]:
    """Return the facts that no other of them implies, in the order of the rulebook."""
    book = default_rulebook()
    return book.strongest(f for f in book.facts if f in facts and f != "constant")


def reason(node: Node, fact: str) -> Why:
    """Return the reason of a node's fact."""
    book = default_rulebook()
    direct = REASONS.get(node.kind, _none)(node, fact)
    if direct is not None:
        return direct
    for stronger in strongest(node.facts):
        if stronger != fact and fact in book.closure([stronger]):
            return Why(f"it is {stronger}", ((node, stronger),))
    if fact in SIGNS:
        return Why("by the signs of its parts")
    if fact == "symmetric" and node.rank == 2 and transpose(node) is node:
        return Why("it is its own transpose")
    return Why("by its form")


def _none(node: Node, fact: str) -> Why | None:
    return None


def _symbol(node: Node, fact: str) -> Why | None:
    declared = sorted(node.data[1])
    if fact in declared:
        return Why("declared")
    return Why(f"it is declared {', '.join(f for f in declared if fact in default_rulebook().closure([f]))}")


def _sum(node: Node, fact: str) -> Why | None:
    terms = terms_of(node)
    if fact in ("spd", "psd") and all(c > 0 and "psd" in a.facts for c, a in terms):
        claims = tuple((a, "spd" if "spd" in a.facts else "psd") for _, a in terms)
        return Why("a sum of psd terms" + (", one of them spd" if fact == "spd" else ""), claims)
    if fact in SIGNS and all(c > 0 and "nonnegative" in a.facts for c, a in terms):
        claims = tuple((a, "positive" if "positive" in a.facts else "nonnegative") for _, a in terms)
        return Why("a sum of nonnegative terms" + (", one of them positive" if fact == "positive" else ""), claims)
    if fact in ("spd", "psd") and isinstance(node.ground, Complement):
        return Why(_complement(node.ground))
    if fact in SIGNS:
        bounds = [_bounds(a, a.range.low if c > 0 else a.range.high, upper=c < 0) for c, a in terms]
        return Why(joined_by(" and ", filter(None, bounds)) or "by the signs of its parts")
    if default_rulebook().facts[fact].sums and all(fact in a.facts for _, a in terms):
        return Why(f"a sum of {fact} terms", tuple((a, fact) for _, a in terms))
    return None


def _complement(found: Complement) -> str:
    """Return the reason why a sum is psd as a Schur complement."""
    if found.within is None or not any(a.rank for a in found.source.args or (found.source,)):
        return sentence(found.source, " less a projection or less than one")
    blocks = (_matrices("M"), " = ", found.within, " in a psd block matrix ", _matrices("[P, C; C', M]"))
    return sentence("the Schur complement of ", *blocks, " with ", _matrices("P"), " = ", found.source)


def _matrices(words: str) -> Formula:
    """Return a formula of matrices in a sentence."""
    return formula_in_words(words, dict.fromkeys("ABCMPQ", "matrix"))


def _bounds(node: Node, bound: float, upper: bool = False) -> str:
    """Return a bound of a node as text; "" if it is obvious."""
    if node.kind in ("number", "size") or not node.args or abs(bound) == inf:
        return ""
    is_open = node.range.high_open if upper else node.range.low_open
    return sentence(node, f" {'<' if upper else '>'}{'' if is_open else '='} {bound:g}")


def _product(node: Node, fact: str) -> Why | None:
    if len(node.args) == 1 and len(terms_of(node)) > 1:
        return _sum(node, fact)
    if node.rank == 2 and node.out[0] == node.out[1] and fact in ("spd", "psd", "diagonal"):
        if fact == "diagonal":
            return Why("a diagonal by its form")
        sign = "positive" if fact == "spd" else "nonnegative"
        return Why(f"diagonal, its entries {sign}", tuple((a, sign) for a in node.args if sign in a.facts))
    counts = Counter(node.operands)
    if fact == "nonnegative" and node.coef > 0 and all(count % 2 == 0 for count in counts.values()):
        return Why("a square")
    matrices = [a for a in node.args if a.kind != "selector"]
    if fact in ("spd", "psd") and len(counts) > 1 and all(set(at) == set(node.out) for _, at in counts):
        return Why(f"an entrywise product of {fact} matrices (Schur)", tuple((a, fact) for a in node.args))
    if any(a.kind == "selector" and a.selector.kind == "merge" for a in node.args) and all(
        fact in a.facts for a in matrices
    ):
        return Why(f"a Kronecker product of {fact} matrices", tuple((a, fact) for a in matrices))
    single = [a for a in node.args if a.rank == node.rank and fact in a.facts]
    if len(single) == 1 and len(node.args) - 1 == sum(a.rank == 0 for a in node.args):
        others = tuple((a, "positive") for a in node.args if a.rank == 0 and "positive" in a.facts)
        return Why(f"a multiple of what is {fact}", ((single[0], fact), *others))
    if fact in ("psd", "nonnegative"):
        found = nonnegative(_tested(node)) if node.rank in (0, 2) and fact == "psd" or node.rank == 0 else None
        if found is not None:
            return Why(found)
    if fact in SIGNS and all(fact in a.facts for a in node.args) and node.coef > 0:
        return Why(f"a product of {fact} factors", tuple((a, fact) for a in node.args))
    ground = node.ground
    if fact in ("spd", "psd") and isinstance(ground, ParallelSum):
        form = _matrices(f"A*{spelled('inverse')}(A + B)*B")
        return Why(sentence("a parallel sum ", form), ((ground.first, fact), (ground.last, fact)))
    if fact == "spd" and isinstance(ground, Definite):
        centre = (
            (_matrices("P"), " = ", ground.centre[0], " spd")
            if ground.centre
            else ("a positive diagonal ", _matrices("P"))
        )
        claims = tuple((a, "spd") for a in ground.centre)
        words = ("of the form ", _matrices("B'*P*B"), " with ", *centre, " and independent columns of ", _matrices("B"))
        return Why(sentence(*words), claims)
    if fact == "spd" and isinstance(ground, Part):
        source = sentence(ground.source, ", which is spd")
        return Why(sentence("the Schur complement of the other rows and columns of ", source))
    links = chain_between(node, *node.out) if node.rank == 2 and node.out[0] != node.out[1] else None
    if links is not None and len(links.matrices) > 1 and all(fact in a.facts for a, _ in links.matrices):
        return Why(f"a product of {fact} matrices", tuple((a, fact) for a, _ in links.matrices))
    return None


def _tested(node: Node) -> Node:
    """Return v'*M*v for a matrix M, which is nonnegative if M is positive semidefinite."""
    if node.rank == 0:
        return node
    v = symbol("v", node.shape[:1])
    return matmul(v, node, v)


def _function(node: Node, fact: str) -> Why | None:
    rule = node.rule
    names = iter(p.name for p in rule.signature.parameters if p.kind not in PLAIN)
    by_name = dict(zip(names, node.args, strict=False))
    own = node.output if node.kind == "op" else "Y"
    for conditions, output, found in rule.fact_rules:
        stronger = fact == found or (fact in default_rulebook().closure([found]) and found in node.facts)
        known = [(by_name[p], f) for f, p in conditions if p in by_name]
        if not stronger or output not in ("Y", own) or any(f not in a.facts for a, f in known):
            continue
        given = " and ".join(f"{p} is {f}" for f, p in conditions)
        words = f"{rule.spelling} is {found}" + (f" where {given}" if given else "")
        return Why(f"{words} ({rule.address})", tuple(known))
    if fact in SIGNS and rule.interval is not None:
        return Why(f"the values of {rule.spelling} are in {rule.fields['interval']} ({rule.address})")
    if fact in SIGNS and rule.through is not None and rule.monotone is not None and len(node.args) == 1:
        x, y = (f"{value:g}" for value in rule.through)
        side = _bounds(node.args[0], float(x)) or sentence(node.args[0], " is of one sign")
        return Why(sentence(f"{rule.spelling} is {rule.monotone}, {y} at {x} ({rule.address}), and ", side))
    declared = next((o.facts for o in rule.signature.outputs if o.name == own), ())
    return Why(f"{rule.spelling} is {fact} by definition ({rule.address})") if fact in declared else None


REASONS: dict[str, Callable[[Node, str], Why | None]] = {
    "symbol": _symbol, "sum": _sum, "product": _product, "map": _function, "op": _function,
}  # fmt: skip


NOT_NEGATIVE = "none of its factors is negative"


def nonnegative(node: Node) -> str | None:
    """Return the reason why a scalar is nonnegative, in words; None if that is not known."""
    if not node.range.nonnegative:
        return None
    if node.kind != "product" or node.coef <= 0:
        return NOT_NEGATIVE
    if not any(node.indices):
        return "a square" if all(node.args.count(a) % 2 == 0 for a in node.args) else NOT_NEGATIVE
    found = node.ground
    if not isinstance(found, Mirror) or all(len(at) < 2 for at in node.indices):
        return NOT_NEGATIVE
    return _words([joint for joint in found.axis if any(joint)], found.is_cycle)


def _words(joints: Sequence[Joint], is_cycle: bool) -> str:
    if not joints:
        return "a sum of squares"
    form = "P*B'*Q*B" if is_cycle and len(joints) > 1 else "B'*P*B"
    form = f"{spelled('diagonal_trace')}({form})" if is_cycle else form
    shown = joined_by(" and ", map(_shown, joints, "PQ"))
    return sentence("of the form ", _matrices(form), " with ", shown)


def _shown(joint: Joint, letter: str) -> str:
    """Return the factor on the axis of symmetry with its fact."""
    if joint.is_edge:
        node, fact = hadamard(*(a for a, _ in joint.edge)), " positive semidefinite"
    else:
        node, fact = diag_matrix(hadamard(*joint.weights)), " >= 0"
    return sentence(_matrices(letter), " = ", formula_sentence(formula_of(node), [node]), fact)
