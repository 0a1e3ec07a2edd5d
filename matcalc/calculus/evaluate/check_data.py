"""Checks whether data have their declared facts, with the tests of the rulebook.

A fact's test is a formula in `rules/facts.toml`: an expression that is 0, at least 0, or above 0. A test of entries
raises ShapeError. A test of eigenvalues or singular values raises LinAlgError, as the algorithms would. Values within
rounding count as 0: n*eps*max.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matcalc.calculus.evaluate.evaluate import evaluate
from matcalc.errors import ShapeError
from matcalc.formula.elaborate.rule_formula import build_formula
from matcalc.language import syntax
from matcalc.language.read import read
from matcalc.language.syntax import rebuild
from matcalc.language.write import text as write
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.rule import Fact
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

ROUNDING = 4.0
"""The multiple of n*eps*max that counts as 0; n is the longest axis and max the largest magnitude."""


def check_declared(arguments: Iterable[tuple[str, Iterable[str], Array]]) -> None:
    """Check arguments, triples (name, facts, array), against their declared facts.

    Raises: ShapeError if entries break a fact, numpy.linalg.LinAlgError if eigenvalues or singular values do
    (spd, psd, nonsingular); each names the argument, the fact and the entry.

    Example:
        >>> check_declared([("S", ("symmetric",), [[1.0, 1.5], [1.25, 2.0]])])
        Traceback (most recent call last):
        ...
        matcalc.errors.ShapeError: S is declared symmetric, but S[0, 1] = 1.5 and S[1, 0] = 1.25
    """
    import numpy as np

    book = default_rulebook()
    for name, facts, value in arguments:
        array = np.asarray(value, dtype=np.float64)
        for fact in _tested(book, facts) if array.size else ():
            _check(book, name, book.facts[fact], _declared(book, facts, fact), array)


def applied(book: Rulebook, text: str, array: Array, name: str = "M", sizes: Mapping[str, int] | None = None) -> Array:
    """Return the value of a fact's formula at an array; m and n are its sizes."""
    import numpy as np

    if sizes:
        return np.asarray(evaluate([_node(book, text, array.shape, name, sizes)], {name: array}, {})[0])
    letters = _letters(array.shape)
    node = _cached_node(book, text, letters, name)
    return np.asarray(evaluate([node], {name: array}, dict(zip(letters, array.shape, strict=True)))[0])


def _letters(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return size names for the axes of an array; those of a square matrix are equal."""
    if len(shape) == 2:
        return ("n", "n") if shape[0] == shape[1] else ("m", "n")
    return ("n", *(f"n{k}" for k in range(1, len(shape))))[: len(shape)]


@lru_cache(maxsize=1024)
def _cached_node(book: Rulebook, text: str, letters: tuple[str, ...], name: str) -> Node:
    """Return a fact's formula as a node, for arrays of all lengths."""
    return _node(book, text, letters, name)


def _node(
    book: Rulebook, text: str, shape: Sequence[int | str], name: str, more: Mapping[str, int] | None = None
) -> Node:
    lengths = [Size.of(length) for length in shape]
    sizes = dict(zip(("m", "n") if len(lengths) == 2 else ("n",), lengths, strict=False))
    sizes |= {key: Size.of(value) for key, value in (more or {}).items()}
    return build_formula(text, (), book, {name: symbol(name, lengths)}, sizes=sizes)


def _tested(book: Rulebook, facts: Iterable[str]) -> list[str]:
    """Return the facts to test, those on entries first, without those that another test includes."""
    known = [book.facts[name] for name in sorted(book.closure(facts))]
    found = []
    for fact in known:
        above = [f for f in known if f is not fact and fact.name in book.closure([f.name])]
        on_entries = fact.zero is not None
        included = any(f.zero is not None for f in above) or (not on_entries and any(map(_has_test, above)))
        if _has_test(fact) and not included:
            found.append((not on_entries, fact.name))
    return [name for _, name in sorted(found)]


def unproved(facts: Iterable[str], value: Node) -> list[str]:
    """Return those facts of a symbol that a formula substituted for it is not known to have.

    For a strict fact the border suffices: `B'*B` may replace an spd matrix, and `a^2` a positive number.
    """
    book = default_rulebook()
    known = {book.facts[name].nonnegative for name in value.facts if name in book.facts}
    return [f for f in _tested(book, facts) if f not in value.facts and (book.facts[f].positive or "") not in known]


def _has_test(fact: Fact) -> bool:
    return any(text is not None for text in (fact.zero, fact.nonnegative, fact.positive))


def _declared(book: Rulebook, facts: Iterable[str], fact: str) -> str:
    """Return how a fact was declared: `symmetric,`, or `spd, so symmetric,`."""
    facts = list(facts)
    if fact in facts:
        return f"{fact},"
    source = next((f for f in facts if fact in book.closure([f])), " and ".join(facts))
    return f"{source}, so {fact},"


def _check(book: Rulebook, name: str, fact: Fact, declared: str, array: Array) -> None:
    """Test one fact.

    Raises: ShapeError, LinAlgError.
    """
    import numpy as np

    on_values = fact.zero is None and "X" not in (fact.nonnegative, fact.positive)
    error: type[Exception] = np.linalg.LinAlgError if on_values else ShapeError
    if on_values and not np.all(np.isfinite(array)):
        at = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise error(f"{name} is declared {declared} but {_entry(name, array, at)}")
    for at, remark in _worst(book, fact, array):
        shown = [_shown(book, text, name, array, at) for text in fact.entries] or [_entry(name, array, at)]
        raise error(f"{name} is declared {declared} but {' and '.join(shown)}{remark}")


def _worst(book: Rulebook, fact: Fact, array: Array) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield the index in a test's value that violates it most, if any does, and a remark."""
    import numpy as np

    def index_of_largest(values: Array) -> tuple[int, ...]:
        return tuple(int(k) for k in np.unravel_index(int(np.argmax(values)), values.shape))

    bound = ROUNDING * max(array.shape, default=1) * np.finfo(np.float64).eps
    if fact.zero is not None:
        finite = _finite(array)
        values, scale = _with_scale(book, fact.zero, finite)
        off = np.abs(values) if not np.any(np.isnan(values)) else np.where(np.isnan(values), np.inf, 0.0)
        if not np.all(off <= bound * scale):
            yield index_of_largest(off), ""
    for text, strict in ((fact.nonnegative, False), (fact.positive, True)):
        if text is None:
            continue
        values = applied(book, text, array, "X")
        if text == "X":
            holds = values > 0 if strict else values >= 0
        else:
            least = bound * float(np.max(np.abs(values), initial=0.0))
            holds = values > least if strict else values >= -least
        if not np.all(holds):
            at = index_of_largest(np.where(np.isnan(values), np.inf, np.where(holds, -np.inf, -values)))
            yield at, ", which is 0 within rounding" if strict and text != "X" and values[at] > 0 else ""


def _finite(array: Array) -> Array:
    """Return an array with infinities as large numbers, so that equal ones have the difference 0."""
    import numpy as np

    large = 2 * float(np.max(np.abs(array), where=np.isfinite(array), initial=1.0))
    infinite = np.isinf(array)
    return np.where(infinite, np.sign(array) * large, array) if np.any(infinite) else array


def _with_scale(book: Rulebook, text: str, array: Array) -> tuple[Array, float]:
    """Return the value that should be 0, and the largest magnitude in the array and among the terms."""
    import numpy as np

    root = _node(book, text, array.shape, "X")
    values = evaluate([root, *(root.args if root.kind == "sum" else ())], {"X": array}, {})
    scale = max(float(np.max(np.abs(v), initial=0.0)) for v in (array, *values[1:]))
    return np.asarray(values[0]), scale


def _shown(book: Rulebook, text: str, name: str, array: Array, at: Sequence[int]) -> str:
    """Return `S[2, 0] = 1.25` for the text `X[j, i]` of a fact."""
    indices = dict(zip("ij", at, strict=False))
    value = float(applied(book, text, array, "X", indices))
    words = {"X": syntax.name(name), **{key: syntax.number(k) for key, k in indices.items()}}
    tree = rebuild(read(text), lambda leaf: words.get(str(leaf.value), leaf) if leaf.head == "name" else leaf)
    return f"{write(tree)} = {value!r}"


def _entry(name: str, array: Array, at: Sequence[int]) -> str:
    index = f"[{', '.join(map(str, at))}]" if at else ""
    return f"{name}{index} = {float(array[tuple(at)])!r}"


__all__ = ["applied", "check_declared"]
