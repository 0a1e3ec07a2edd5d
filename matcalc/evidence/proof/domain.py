"""Lists the conditions under which a formula has a value: requirements of its operations beyond known facts.

The requirements of an operation are its domain and the facts of its parameters; those of a power follow from its
exponent. Conditions are stated about the user's formula: positive eigenvalues become a positive definite matrix. One
formula requires no more than another if each of its conditions follows from those of the other; if this cannot be
proved, the answer is no.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

from matcalc.calculus.derive.differentiate import template_parameter
from matcalc.calculus.simplify.match import match
from matcalc.calculus.simplify.simplify import simplify
from matcalc.evidence.explain.sentences import sentence
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.rulebook.fields import read_fact
from matcalc.rulebook.load import default_rulebook
from matcalc.tensor.constructors import symbol
from matcalc.tensor.facts.chain import chain_between
from matcalc.tensor.nodes.node import Node, exponent_of, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.substitute import substitute
from matcalc.tensor.sums import split_coef

WORDS = {
    "positive": " > 0",
    "nonnegative": " >= 0",
    "nonzero": " != 0",
    "spd": " positive definite",
    "psd": " positive semidefinite",
}
"""The text of a condition after its formula, by fact; other facts are written themselves."""

ASSUMED = "#given"
"""The prefix of symbols that replace formulas with assumed facts; no user's name has it."""

_WORD = re.compile(r"\b[A-Za-z]\w*\b")
_BOUND = re.compile(r"\s*(?:(\S+) (<=?) )?(abs\()?(\w+)\)? (<=?|>=?) (-?[\d.]+)\s*$")


class Condition(NamedTuple):
    """A condition of a formula: an argument has a fact (or is nonzero) or, without a fact, the statement `words`."""

    fact: str
    node: Node
    words: str


def conditions(root: Node) -> tuple[Condition, ...]:
    """Return the conditions under which a formula has a value, in the order of evaluation."""
    return tuple(dict.fromkeys(c for node in toposort(root) for c in _asked(node)))


def asks_no_more(one: Node, other: Node) -> bool:
    """Whether a formula provably has a value wherever another has."""
    given = [c for condition in conditions(other) for c in _parts(condition)]
    return all(_follows(part, given) for condition in conditions(one) for part in _parts(condition))


def _asked(node: Node) -> Iterator[Condition]:
    if node.kind not in ("map", "op"):
        return
    if node.rule.kind == "implicit":
        yield Condition("", node, sentence(node, " found from its start"))
        return
    if node.rule.role == "fixed_power":
        yield from _of_power(node)
        return
    slots = [template_parameter(node, k) for k in range(len(node.args))]
    known = default_rulebook().facts
    for slot, arg in zip(slots, node.args, strict=True):
        for fact in slot.facts:
            if fact in known and not known[fact].linear:  # linear facts are checked by elaboration
                yield from _condition(fact, arg)
    if node.rule.domain is not None:
        named = {slot.name: arg for slot, arg in zip(slots, node.args, strict=True)}
        yield from _of_domain(node.rule.domain, named, node)


def _of_power(node: Node) -> Iterator[Condition]:
    base, exponent = exponent_of(node)
    if exponent.denominator == 1:
        yield from _condition("nonzero", base) if exponent < 0 else ()
    else:
        yield from _condition("positive" if exponent < 0 else "nonnegative", base)


def _of_domain(domain: str, named: dict[str, Node], node: Node) -> Iterator[Condition]:
    """Yield the conditions of a domain's text: a fact of a parameter, bounds of its entries, or words."""
    fact = read_fact(domain)
    if fact is not None and fact[1] in named:
        yield from _condition(fact[0], named[fact[1]])
    elif not _is_inside(domain, named):
        words = _WORD.findall(domain)
        parts = [named.get(part, part) for part in re.split(f"({_WORD.pattern})", domain)]
        where = "" if any(word in named for word in words) else sentence(", in ", node)
        yield Condition("", node, sentence(*parts, where))


def _is_inside(domain: str, named: dict[str, Node]) -> bool:
    """Whether an argument is known to be within numeric bounds: `abs(x) < 1`, `0 <= x <= 1`."""
    found = _BOUND.match(domain)
    if found is None or found[4] not in named:
        return False
    low, low_sign, absolute, name, sign, high = found.groups()
    at = named[name].range
    least, most = -inf, inf
    least_open = most_open = False
    if sign.startswith("<"):
        most, most_open = float(high), sign == "<"
        if absolute:
            least, least_open = -most, most_open
    else:
        least, least_open = float(high), sign == ">"
    if low is not None:
        least, least_open = float(low), low_sign == "<"
    above = at.low > least or (at.low == least and (at.low_open or not least_open))
    below = at.high < most or (at.high == most and (at.high_open or not most_open))
    return above and below


def _condition(fact: str, node: Node) -> Iterator[Condition]:
    """Yield a condition unless it is known to hold; conditions on a spectrum become conditions on the matrix."""
    if fact in node.facts or (fact == "nonzero" and node.range.nonzero):
        return
    meant = _of_matrix(fact, node)
    if meant is not None:
        yield from _condition(*meant)
    else:
        yield Condition(fact, node, sentence(node, WORDS.get(fact, f" {fact}")))


def _of_matrix(fact: str, node: Node) -> tuple[str, Node] | None:
    """Return the matrix fact equivalent to a sign of its spectrum, by the fact's test in the rulebook, or None."""
    for tested, sign, pattern in _spectral_tests():
        if sign == fact:
            for found in match(pattern, node):
                return tested, next(iter(found.nodes.values()))
    return None


@lru_cache(maxsize=1)
def _spectral_tests() -> tuple[tuple[str, str, Node], ...]:
    """Return the facts of square matrices that are tested by a spectrum: fact, sign, the spectrum of a symbol."""
    book, n = default_rulebook(), Size.of("n")
    found = []
    for record in book.facts.values():
        texts = (("positive", record.positive), ("nonnegative", record.nonnegative))
        for sign, text in texts if record.of == "square" else ():
            if text is not None:
                facts = ("symmetric",) if "symmetric" in book.closure([record.name]) else ()
                x = symbol("X", (n, n), facts)
                found.append((record.name, sign, build_formula(text, (), book, {"X": x})))
    return tuple(found)


# ---- implications


def _parts(condition: Condition) -> list[Condition]:
    """Return an equivalent list of conditions on factors: a product is nonzero if all factors are."""
    if condition.fact not in ("nonzero", "nonsingular"):
        return [condition._replace(node=simplify(condition.node)) if condition.fact else condition]
    done, pending = [], [(condition.fact, condition.node)]
    while pending:
        fact, node = pending.pop()
        node = split_coef(simplify(node))[1]
        factors = _factors(fact, node)
        if factors is None:
            done.append(Condition(fact, node, condition.words))
        else:
            pending += factors
    return done


def _factors(fact: str, node: Node) -> list[tuple[str, Node]] | None:
    if fact == "nonzero":
        if node.kind == "product" and len(node.index_sizes) == node.rank == len(set(node.out)):
            return [("nonzero", arg) for arg in node.args]
        base, exponent = exponent_of(node)
        return [("nonzero", base)] if base is not node and exponent > 0 else None
    if node.kind == "op" and node.rule.inverse and not node.batch_rank:
        return [("nonsingular", node.args[0])]
    if node.kind != "product" or node.rank != 2 or len(set(node.out)) < 2:
        return None
    links = chain_between(node, *node.out)
    if links is None or links.weighted or any(a.shape[0] != a.shape[1] for a, _ in links.matrices):
        return None
    return [*(("nonsingular", a) for a, _ in links.matrices), *(("nonzero", s) for s in links.scalars)]


def _follows(condition: Condition, given: Sequence[Condition]) -> bool:
    """Whether a condition follows from others: its formula has the fact if its parts have those of the others."""
    if not condition.fact:
        return any(condition.words == other.words for other in given)
    if any((condition.fact, condition.node) == (other.fact, other.node) for other in given):
        return True
    given_facts: dict[Node, set[str]] = {}
    for other in given:
        if other.fact in default_rulebook().facts:
            given_facts.setdefault(other.node, {other.fact, *other.node.facts}).add(other.fact)
    assumed = {
        node: symbol(f"{ASSUMED}{k}", node.shape, sorted(facts)) for k, (node, facts) in enumerate(given_facts.items())
    }
    node = simplify(substitute(condition.node, assumed))
    return condition.fact in node.facts or (condition.fact == "nonzero" and node.range.nonzero)
