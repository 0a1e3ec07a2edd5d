"""Which operands are matrices, where their values do not show it: a matrix of one column looks like a vector.

`tile(A, 2)` repeats a matrix sideways and a vector downwards; `sum(A, axis=0)` of one row is a vector, no number. The
kind of an operand follows from the ranks of the data, by the signatures in the texts of the rule files.
"""

import re
import tomllib
from functools import cache, lru_cache

from oracle.functions import ALIASES
from oracle.rulebook import FOLDER, PARAMETER

SCALAR, COLUMN, ROW, MATRIX = "scalar", "vector", "row", "matrix"
BY_RANK = (SCALAR, COLUMN, MATRIX)
REDUCED = ("sum", "prod", "max", "min", "mean")
ENTRYWISE = ("maximum", "minimum", "where")
SPREADING = ("+", "-", ".+", ".-", ".*", "./", "//", "%", ".^", "compare")


@lru_cache(maxsize=1000)
def settled(tree: tuple, ranks: frozenset[tuple[str, int]]) -> tuple:
    """Return a tree in which calls that depend on it state that their operand is a matrix."""
    return _settled(tree, dict(ranks))


def _settled(tree, ranks: dict[str, int]):
    if not isinstance(tree, tuple):
        return tree
    made = tuple(_settled(part, ranks) for part in tree)
    if not made or made[0] != "call" or not made[2] or kind(tree[2][0], ranks) != MATRIX:
        return made
    _, name, (first, *others), keywords = made
    if name == "tile":  # for a matrix both are np.tile(A, (p, q))
        counts = others if len(others) > 1 else [("number", 1.0), *others]
        return ("call", "repmat", (first, *counts), keywords)
    if name in REDUCED and keywords:
        return ("call", name, (("matrix", first), *others), keywords)
    return made


def kind(tree: tuple, ranks: dict[str, int]) -> str | None:
    """Return the kind of a tree's value; None where it is unknown here."""
    head = tree[0]
    if head in ("number", "total"):
        return SCALAR
    if head == "name":
        return BY_RANK[rank] if (rank := ranks.get(tree[1], 0)) < len(BY_RANK) else None
    if head == "negative":
        return kind(tree[1], ranks)
    if head == "'":
        turned = kind(tree[1], ranks)
        return {COLUMN: ROW, ROW: COLUMN}.get(turned, turned)
    if head == "index":
        return BY_RANK[len(tree[1])] if len(tree[1]) < len(BY_RANK) else None
    if head == "block":
        return _of_block([[kind(cell, ranks) for cell in row] for row in tree[1]])
    if head == "part":
        return _of_part(kind(tree[1], ranks), sum(s[0] == "slice" for s in tree[2]))
    if head == "call":
        return _of_call(tree[1], [kind(argument, ranks) for argument in tree[2]], bool(tree[3]))
    if head in SPREADING:
        return _spread(*(kind(side, ranks) for side in tree[-2:]))
    if head in ("/", "^"):
        return kind(tree[1], ranks)
    if head in ("*", "\\"):
        return _product(*(kind(side, ranks) for side in tree[1:]))
    return None


def _spread(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return MATRIX if MATRIX in (one, other) else None
    return other if one == SCALAR else one if other in (SCALAR, one) else MATRIX


def _product(one: str | None, other: str | None) -> str | None:
    if one is None or other is None:
        return None
    if SCALAR in (one, other):
        return other if one == SCALAR else one
    if one == ROW:
        return SCALAR if other == COLUMN else ROW
    return other if other == COLUMN and one == MATRIX else MATRIX


def _of_block(rows: list[list[str | None]]) -> str | None:
    cells = [cell for row in rows for cell in row]
    if MATRIX in cells or (len(rows) > 1 and ROW in cells) or (COLUMN in cells and any(len(row) > 1 for row in rows)):
        return MATRIX
    if None in cells or ROW in cells:
        return None
    return MATRIX if len(rows) > 1 and len(rows[0]) > 1 else COLUMN


def _of_part(base: str | None, slices: int) -> str | None:
    return base if base == ROW else BY_RANK[slices] if base is not None and slices < len(BY_RANK) else None


@cache
def signatures() -> dict[str, list[tuple[list[str], str]]]:
    """Return the signatures of each operation, and of each of its outputs: kinds of parameters, kind of the result."""
    found: dict[str, list[tuple[list[str], str]]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for name, entry in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if not isinstance(entry, dict) or "signature" not in entry:
                continue
            texts = entry["signature"] if isinstance(entry["signature"], list) else [entry["signature"]]
            for text in texts:
                given, made = text.rsplit("->", 1)
                kinds = [found_kind for _, _, found_kind in PARAMETER.findall(given[given.index("(") :])]
                outputs = re.findall(r"(\w+): (\w+)", made) or [("", made.split("(")[0].strip())]
                for output, result in outputs:
                    spelled = f"{name}_{output}" if output else name
                    found.setdefault(spelled, []).append((kinds, result))
    return found


def _of_call(name: str, given: list[str | None], has_axis: bool) -> str | None:
    """Return the kind of a call by the signature that its arguments fit, all of one kind of result."""
    name = ALIASES.get(name, name)
    if name in ENTRYWISE or (name in ("max", "min") and len(given) > 1):
        return _largest(given)
    results = set()
    for kinds, result in signatures().get(name, []):
        if len(given) <= len(kinds) and all(_fits(k, g) for k, g in zip(kinds, given, strict=False)):
            results.add(_largest(given) if result in ("entry", "array") else result)
    if len(results) != 1:
        return None
    (found,) = results
    if has_axis and given[0] == MATRIX:
        return COLUMN if found == SCALAR else MATRIX
    return found if found in (SCALAR, COLUMN, MATRIX) else None


def _fits(parameter: str, given: str | None) -> bool:
    if parameter in (COLUMN, MATRIX):
        return given is None or given == parameter or (given, parameter) == (ROW, COLUMN)
    return parameter in ("entry", "array", "function") or given in (SCALAR, None)


def _largest(given: list[str | None]) -> str | None:
    found = given[0]
    for other in given[1:]:
        found = _spread(found, other)
    return found
