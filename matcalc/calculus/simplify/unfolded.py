"""Replaces the calls of definitions in the left side of a rewrite by their formulas, as far as ranks are evident.

`log_softmax(x + c)` becomes `x + c - logsumexp(x + c)`. Ranks come from the kinds of variables and the signatures of
operations, without unification. So the result costs little, and its `rank` is None where the text does not decide it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from matcalc.formula.elaborate.rule_formula import tree_of
from matcalc.language.syntax import SUMS, Ast, call_keywords, call_name, children, exchanged, walk
from matcalc.rulebook.load import Candidate, Rulebook

RANKS = {"scalar": 0, "vector": 1, "matrix": 2}
"""The ranks of kinds; an `array` or `entry` has any rank."""
MOST_NESTED = 20
"""Definitions in definitions that are replaced."""


class Unfolded(NamedTuple):
    """A tree without calls of definitions whose ranks are evident, and its rank.

    `vanishes`: a definition may be one of its arguments, as the mean of a scalar is the scalar, so that a sum cancels.
    """

    tree: Ast
    rank: int | None
    vanishes: bool = False


def unfolded(tree: Ast, ranks: Mapping[str, int | None], book: Rulebook) -> Unfolded:
    """Return a left side unfolded; `ranks` are those of its variables."""
    return _unfolded(tree, ranks, {}, book, 0)


def _unfolded(
    tree: Ast, ranks: Mapping[str, int | None], meaning: Mapping[str, Unfolded], book: Rulebook, nesting: int
) -> Unfolded:
    """Return a tree unfolded. Names have these ranks, or in a definition the `meaning` of its arguments."""
    made: list[Unfolded] = []
    for node in walk(tree):
        count = len(children(node))
        operands = [made.pop() for _ in range(count)][::-1]
        new = exchanged(node, [operand.tree for operand in operands]) if count else node
        vanishes = any(operand.vanishes for operand in operands)
        if node.head == "name":
            made.append(meaning.get(str(node.value)) or Unfolded(node, ranks.get(str(node.value))))
        elif node.head == "call" and not call_keywords(node):
            found = _call(new, operands, book, nesting)
            made.append(found._replace(vanishes=found.vanishes or vanishes))
        else:
            made.append(Unfolded(new, _rank(node, [operand.rank for operand in operands]), vanishes))
    return made[0]


def _call(call: Ast, args: Sequence[Unfolded], book: Rulebook, nesting: int) -> Unfolded:
    """Return a call by its definition if it has one that is evident."""
    spelled = book.spellings.get(call_name(call), ())
    may_vanish = any(candidate.rule.kind == "definition" for candidate in spelled)
    candidates = [one for one in spelled if _fits(one, args)]
    if len(candidates) != 1:
        return Unfolded(call, None, may_vanish)
    (found,) = candidates
    rule, parameters = found.rule, found.signature.parameters
    rank = _rank_of_result(found, args)
    text = rule.definition(found.index) if rule.kind == "definition" else None
    if text is None or rule.where or rule.outputs != ("",) or nesting >= MOST_NESTED:
        return Unfolded(call, rank, may_vanish)
    definition = tree_of(text)
    meaning = {parameter.name: arg for parameter, arg in zip(parameters, args, strict=True)}
    inner = _unfolded(definition, {}, meaning, book, nesting + 1)
    return Unfolded(inner.tree, rank, inner.vanishes or definition.head == "name")


def _fits(candidate: Candidate, args: Sequence[Unfolded]) -> bool:
    """Whether arguments have evident ranks, and they are those of a signature of tensors."""
    parameters = candidate.signature.parameters
    return len(parameters) == len(args) and all(
        arg.rank is not None and not p.repeated and (RANKS.get(p.kind) == arg.rank or p.kind in ("array", "entry"))
        for p, arg in zip(parameters, args, strict=True)
    )


def _rank_of_result(candidate: Candidate, args: Sequence[Unfolded]) -> int | None:
    """Return the rank of a call's result: that of the signature, or the largest of arguments that may have any."""
    if candidate.rule.outputs != ("",):
        return None
    kind = candidate.signature.outputs[0].kind
    if kind not in ("array", "entry"):
        return RANKS.get(kind)
    given = zip(candidate.signature.parameters, args, strict=True)
    return max((arg.rank or 0 for p, arg in given if p.kind == kind), default=None)


def _rank(node: Ast, operands: Sequence[int | None]) -> int | None:
    """Return the rank of an expression without calls from those of its operands; None if it is not evident."""
    if node.head == "number":
        return 0
    known = [rank for rank in operands if rank is not None]
    if node.head == "sum" and any(known):
        return max(known)  # the terms of other ranks are scalars
    if len(known) < len(operands) or not known:
        return None
    if node.head in (*SUMS, "negative") or (node.head == "power" and node.value == ".^"):
        return max(known)
    if node.head == "product":
        is_entrywise = {".*", "./"}.issuperset(node.value)  # type: ignore[arg-type]
        return max(known) if is_entrywise or sum(map(bool, known)) < 2 else None
    return known[0] if node.head == "power" else None
