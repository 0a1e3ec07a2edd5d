"""Reads symmetric and skew parts: a long matrix plus its own transpose is written once, as `2*sym(M)`.

Short ones are written out: `B*X + X'*B'` is clearer than `2*sym(B*X)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

from matcalc.formula.forms import form as forms
from matcalc.formula.notation.node_reading import Reading, scaled, summed
from matcalc.tensor.constructors import transpose
from matcalc.tensor.nodes.node import Node

Term = tuple[Fraction, Node, Reading]

LEAST_SAVED = 6
"""Tokens that naming the symmetric or skew part of a sum must save."""

PARTS = ((1, "symmetric_part"), (-1, "skew_part"))


def with_parts(terms: Sequence[Term]) -> Reading | None:
    """Return the reading of a sum with its pairs M + M' and M - M' as symmetric and skew parts; None without pairs."""
    left = list(terms)
    shown: list[tuple[Fraction, Reading]] = []
    ties: list[bytes] = []
    for sign, role in PARTS:
        halves = _halves(left, sign)
        if not halves:
            continue
        left = [t for t in left if all(t is not half and t is not other for half, other in halves)]
        content = _content([half[0] for half, _ in halves])
        inner = summed([(h[0] / content, h[2]) for h, _ in halves], [h[1].digest for h, _ in halves])
        part = forms.played(role, inner.form)
        shown.append((2 * content, Reading(part, transposed=part if sign > 0 else None, is_skew=sign < 0)))
        ties.append(halves[0][0][1].digest)
    if not shown:
        return None
    if len(shown) == 1 and not left:
        coef, alone = shown[0]
        whole = scaled(alone.form, coef)
        return Reading(whole, transposed=whole if alone.transposed else None, multiple=(coef, alone))
    rest = [(coef, reading) for coef, _, reading in left]
    return summed([*shown, *rest], [*ties, *(node.digest for _, node, _ in left)])


def _halves(terms: Sequence[Term], sign: int) -> list[tuple[Term, Term]]:
    """Return the terms that have their transpose times `sign` in the sum, the shorter one of each two first."""
    by_node = {term[1]: term for term in terms}
    found: list[tuple[Term, Term]] = []
    paired: set[Node] = set()
    for term in terms:
        coef, node, reading = term
        if node in paired or node.rank != 2 or node.shape[0] != node.shape[1]:
            continue
        other = by_node.get(transpose(node))
        if other is None or other is term or other[1] in paired or other[0] != sign * coef:
            continue
        paired |= {node, other[1]}
        first = min(term, other, key=_sort_key)
        found.append((first, other if first is term else term))
    return found


def _sort_key(term: Term) -> tuple[int, int, bool, tuple[str, ...], bytes]:
    form = term[2].form
    return form.transposes, form.tokens, term[0] < 0, form.names, term[1].digest


def _content(coefs: Sequence[Fraction]) -> Fraction:
    """Return the largest common divisor of the coefficients, with the sign of the first."""
    denominator = lcm(*(coef.denominator for coef in coefs))
    whole = gcd(*(int(coef * denominator) for coef in coefs))
    return Fraction(whole if coefs[0] > 0 else -whole, denominator)
