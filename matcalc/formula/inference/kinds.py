"""Infers the kinds of undeclared names by their spelling, or by the smallest change of kinds that fits.

If the kinds by spelling do not fit, the kind of one name changes; if that does not suffice, those of two, and so on. A
change is used if it is the only one of its size; else the error remains and lists the changes that fit. A capital
letter becomes a scalar only by declaration. Changed kinds are reported like those of all undeclared names.

If a scalar is required, a formula with an array value does not fit: in `mu*x + x'*S*x`, `mu` is no scalar. To obtain a
scalar, only scalars and vectors change their kinds, and no name that is differentiated. The operand of a reduction with
an axis is never a vector: `X - mean(X, axis=0)'` is an error that suggests `.-`, not a vector minus a number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from matcalc.errors import MatcalcError, ShapeError
from matcalc.formula.inference.inference import Inference
from matcalc.formula.inference.kinds_by_spelling import inferred_rank
from matcalc.formula.inference.typed import Typed
from matcalc.language.syntax import Ast, call_keywords, whole

Ranks = Mapping[str, int]
Read = tuple[Inference, list[Typed]]
Changes = list[tuple[Ranks, Read]]

RANKS = (0, 1, 2)
MOST_CHANGED = 4  # names at once
MOST_FOR_A_SCALAR = 2
MOST_NODES = 30_000  # nodes of trees read in search of a fit: 0.3 s
MOST_LISTED = 6  # names with their kinds in a message


def fitting(
    read: Callable[[Ranks], Read], trees: Sequence[Ast], fixed: Collection[str], varied: Collection[str] | None = None
) -> Read:
    """Return the reading of trees with sizes solved; `read` takes the ranks of names that differ from their spelling.

    The first reading fills `trees`, and `fixed` with the names whose kinds are declared or determined by the text.
    `varied` are the names for differentiation if a scalar is required.

    Raises: the errors of reading; a ShapeError lists the changes of kinds that fit, if there are several.
    """
    try:
        made = read({})
    except ShapeError as fault:
        others = _other_ranks(trees, fixed)
        scalars = _changes(read, others, trees, _is_scalar) if varied is not None else []
        found = scalars or _changes(read, others, trees)
        if len(found) == 1 and not found[0][1][0].sizes.guessed and not _has_small_capital(found[0][0]):
            return found[0][1]
        if found:
            fault.hint = "\n  ".join(filter(None, (fault.hint, _listed(found))))
        raise
    made[0].finish()
    if varied is None or _is_scalar(made):
        return made
    others = _other_ranks(trees, {*fixed, *varied}, RANKS[:2])
    found = _changes(read, others, trees, _is_scalar, MOST_FOR_A_SCALAR)
    return found[0][1] if len(found) == 1 and not found[0][1][0].sizes.guessed else made


def _has_small_capital(ranks: Ranks) -> bool:
    """Whether a change makes a name spelled as a matrix a scalar; such a change is listed, never used."""
    return any(rank == 0 and inferred_rank(name) == max(RANKS) for name, rank in ranks.items())


def _is_scalar(made: Read) -> bool:
    return all(size.is_integer and size == 1 for value in made[1] for size in value.shape)


def _changes(
    read: Callable[[Ranks], Read],
    others: Mapping[str, Sequence[int]],
    trees: Sequence[Ast],
    fits: Callable[[Read], bool] = lambda made: True,
    most: int = MOST_CHANGED,
) -> Changes:
    """Return the smallest changes of kinds that fit, each with its reading."""
    left = MOST_NODES // max(sum(1 for tree in trees for _ in whole(tree)), 1)
    found: Changes = []
    for count in range(1, most + 1):
        changes = list(islice(_of_size(others, count), left + 1))
        left -= len(changes)
        if found or left < 0:
            break
        for ranks in changes:
            try:
                made = read(ranks)
                made[0].finish()
            except MatcalcError:
                continue
            if all(name in made[0].symbols for name in ranks) and fits(made):
                found.append((ranks, made))
    return found


def _of_size(others: Mapping[str, Sequence[int]], count: int) -> Iterator[Ranks]:
    for names in combinations(others, count):
        for ranks in product(*(others[name] for name in names)):
            yield dict(zip(names, ranks, strict=True))


def _other_ranks(trees: Sequence[Ast], fixed: Collection[str], among: Sequence[int] = RANKS) -> dict[str, list[int]]:
    """Return the names in trees that are not fixed, with the ranks other than that of their spelling.

    A rank above two is possible if subscripts show it. Only names of the ranks `among` change, and only to these.
    """
    found: dict[str, dict[int, None]] = {}
    for node in (node for tree in trees for node in whole(tree)):
        if node.head == "name" and inferred_rank(str(node.value)) in among:
            found.setdefault(str(node.value), dict.fromkeys(among))
        elif node.head == "part" and node.args[0].head == "name" and len(node.args) - 1 > max(RANKS) == max(among):
            found.setdefault(str(node.args[0].value), dict.fromkeys(RANKS))[len(node.args) - 1] = None
    unchanged = {*fixed, *_with_axes(trees)}
    return {
        name: [r for r in ranks if r != inferred_rank(name)] for name, ranks in found.items() if name not in unchanged
    }


def _with_axes(trees: Sequence[Ast]) -> Iterator[str]:
    """Yield the names spelled as matrices that are reduced along an axis, `sum(X, axis=0)`."""
    for node in (node for tree in trees for node in whole(tree)):
        if node.head == "call" and any(name == "axis" for name, _ in call_keywords(node)):
            own = (str(arg.value) for arg in node.args if arg.head == "name")
            yield from (name for name in own if inferred_rank(name) == max(RANKS))


def _listed(found: Changes) -> str:
    """Return the line of an error that lists the kinds that fit: `it fits with  x: scalar | x: matrix(m, m)`."""
    texts = [
        "; ".join(f"{name}: {inference.kind_text(inference.symbols[name])}" for name in ranks)
        for ranks, (inference, _) in found
    ]
    most = MOST_LISTED // len(found[0][0])
    return f"it fits with  {' | '.join(texts[:most])}{' | ...' if len(texts) > most else ''}"
