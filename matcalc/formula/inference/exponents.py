"""Interprets undeclared names in powers: `k` in `A^k` is a size; `e` as a base raises.

Both follow from the text alone, before inference. A rough computation of ranks, from the spelling of names and the
results of operations, finds the matrices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from matcalc.errors import ShapeError
from matcalc.formula.inference.inference import Inference, shown
from matcalc.formula.inference.kinds_by_spelling import inferred_rank
from matcalc.language.recurrences import bound_by
from matcalc.language.syntax import (
    BINDERS,
    SUMS,
    Ast,
    call_name,
    children,
    definition,
    names_in,
    value_of_leaf,
    walk,
    whole,
)
from matcalc.tensor.nodes.signature import output_of

if TYPE_CHECKING:
    from matcalc.rulebook.load import Candidate

EULER, IDENTITY = "e", "I"
TRANSPOSE = "T"
ROW = -1
"""The rank of a vector read as a row."""
Ranks = dict[Ast, int | None]


def size_exponents(inference: Inference, root: Ast) -> list[str]:
    """Return the undeclared names in exponents of matrices, `k` in `A^k` and in `A^(2*k - 1)`."""
    ranks: Ranks = {}
    found: list[str] = []
    for node in whole(root):
        ranks[node] = _rank(inference, node, ranks)
        if node.head == "power" and node.value == "^" and ranks[node.args[0]] == 2:
            found += _integers(inference, node.args[1])
    return found


def _integers(inference: Inference, exponent: Ast) -> Iterator[str]:
    """Yield the undeclared lower-case names of an exponent that only adds and multiplies."""
    parts = list(walk(exponent))
    is_sum = all(p.head in ("number", "name", "negative", "sum", "product") for p in parts)
    if is_sum and all(set(cast("tuple[str, ...]", p.value)) == {"*"} for p in parts if p.head == "product"):
        for name in names_in(exponent):
            is_open = name not in inference.symbols and name not in inference.ranks
            if is_open and name != TRANSPOSE and inferred_rank(name) == 1:
                yield name


def _rank(inference: Inference, node: Ast, ranks: Ranks) -> int | None:
    """Return the rank of a tree by those of its operands, ROW for a row; None if it is unknown."""
    own = [ranks.get(child) for child in children(node)]
    if node.head == "name":
        name = str(node.value)
        if name in inference.symbols:
            return len(inference.symbols[name].shape)
        if name in inference.size_names:
            return 0
        spelled = inferred_rank(name)
        return spelled if inference.ranks.get(name, spelled) == spelled else None
    if node.head == "leaf":
        return len(value_of_leaf(node).shape)
    if node.head == "shared":
        return ranks.get(definition(node))
    if node.head in BINDERS:
        return len(cast("tuple[str, ...]", node.value)) if node.head == "index_form" else 0
    if node.head == "call":
        return _rank_of_call(inference.rulebook.spellings.get(call_name(node), ()), own)
    if node.head == "transpose":
        return {1: ROW, ROW: 1}.get(own[0], own[0]) if own[0] is not None else None
    if node.head in SUMS:
        return next((rank for rank in own if rank != 0), 0)
    if node.head == "product":
        return _rank_of_product(own, cast("tuple[str, ...]", node.value))
    if node.head in ("negative", "power"):
        return own[0]
    return 0 if node.head == "number" else None


def _rank_of_product(own: Sequence[int | None], operators: Sequence[str]) -> int | None:
    rank = own[0]
    for operator, other in zip(operators, own[1:], strict=True):
        if rank is None or other is None:
            return None
        if operator in ("*", "@", "\\") and rank and other:
            rank = {(1, ROW): 2, (ROW, 1): 0, (2, 1): 1, (ROW, 2): ROW, (2, 2): 2}.get((rank, other))
        else:
            rank = rank or other
    return rank


def _rank_of_call(candidates: Sequence[Candidate], own: Sequence[int | None]) -> int | None:
    outputs = [output_of(c.signature, c.output) for c in candidates]
    if outputs and all(output.kind == "entry" for output in outputs):
        return own[0] if own else None
    ranks = {len(output.sizes) if output.kind != "array" else None for output in outputs}
    return ranks.pop() if len(ranks) == 1 else None


def check_identity(inference: Inference, text: str, root: Ast) -> None:
    """Raise for an `I` that is not declared: it would be data, not the identity.

    Raises: ShapeError.
    """
    known = {*inference.symbols, *inference.size_names}
    known.update(name for node in whole(root) if node.head in BINDERS for name in cast("tuple[str, ...]", node.value))
    known.update(name for node in whole(root) for name in bound_by(node))
    for node in whole(root):
        if node.head == "name" and node.value == IDENTITY and IDENTITY not in known:
            hint = "write eye(n) for the identity with n rows, or declare I, as in  I: matrix(n, n)"
            raise ShapeError("I is not declared, and is no identity here", text=text, at=node.caret, hint=hint)


def check_bases(inference: Inference, text: str, root: Ast) -> None:
    """Raise for `e^x` if `e` is not declared: it would be a symbol, not the base of the exponential function.

    Raises: ShapeError.
    """
    if EULER in inference.symbols or EULER in inference.size_names:
        return
    bound = {name for node in whole(root) if node.head == "function" for name in (node.value,)}
    bound |= {name for node in whole(root) for name in bound_by(node)}
    for node in whole(root):
        is_base = node.head == "power" and node.args[0].head == "name" and node.args[0].value == EULER
        if is_base and EULER not in bound and (node.value == "^" or node.args[1].head != "number"):
            power = shown(node.args[1])
            inner = power[1:-1] if node.args[1].head != "number" and power.startswith("(") else power
            hint = f"write exp({inner}) for the exponential function, or declare e, as in  e: scalar"
            raise ShapeError("e is not declared, and is no constant here", text=text, at=node.args[0].caret, hint=hint)
