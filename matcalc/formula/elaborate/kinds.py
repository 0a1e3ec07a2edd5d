"""Kinds of names that nobody declared: by their spelling, and where that does not fit by the smallest change that does.

A change gives another kind to one name, or if that is not enough to two, and so on. It is taken where it is the only
one of its size; else the error stays, and lists those that fit. A capital letter becomes a scalar only where that is
declared. What was taken is said as all that is undeclared is. Where a scalar is wanted, what gives an array does not
fit: `mu*x + x'*S*x` makes `mu` no scalar. Only scalars and vectors change their kinds for that, and no name that is
differentiated. What a reduction is asked for by its axis is no vector: `X - mean(X, axis=0)'` is an error that shows
`.-`, not a vector less a number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from matcalc.errors import MatcalcError, ShapeError
from matcalc.formula.elaborate.inference import Inference, inferred_rank
from matcalc.formula.elaborate.typed import Typed
from matcalc.language.syntax import Ast, call_keywords, whole

Ranks = Mapping[str, int]
Read = tuple[Inference, list[Typed]]
Changes = list[tuple[Ranks, Read]]

RANKS = (0, 1, 2)
MOST_CHANGED = 4  # names at once
MOST_FOR_A_SCALAR = 2
MOST_NODES = 30_000  # of trees, that are read in search of what fits: 0.3 s
MOST_LISTED = 6  # names with their kinds in a message


def fitting(
    read: Callable[[Ranks], Read], trees: Sequence[Ast], fixed: Collection[str], varied: Collection[str] | None = None
) -> Read:
    """Return what trees are read as, sizes solved; `read` takes ranks of names that are not those of their spelling.

    The first reading fills `trees`, and `fixed` with the names whose kinds are declared, or told by the text. `varied`
    are the names that a scalar is wanted of, to be differentiated in them.

    Raises: what reading raises; a ShapeError lists the changes of kinds that fit, where they are several.
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
    """Whether a change makes a scalar of a name spelled as a matrix: it is listed, and never taken."""
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
    """Return the smallest changes of kinds that fit, each with what is read then."""
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
    """Return the names in trees that are not fixed, with the ranks that they may have beside that of their spelling.

    An order above two is one that subscripts show. Only names of the ranks `among` change, and only to these.
    """
    found: dict[str, dict[int, None]] = {}
    for node in (node for tree in trees for node in whole(tree)):
        if node.head == "name" and inferred_rank(str(node.value)) in among:
            found.setdefault(str(node.value), dict.fromkeys(among))
        elif node.head == "part" and node.args[0].head == "name" and len(node.args) - 1 > max(RANKS) == max(among):
            found.setdefault(str(node.args[0].value), dict.fromkeys(RANKS))[len(node.args) - 1] = None
    kept = {*fixed, *_with_axes(trees)}
    return {name: [r for r in ranks if r != inferred_rank(name)] for name, ranks in found.items() if name not in kept}


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
