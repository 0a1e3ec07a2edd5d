"""Bindings of the variables of a pattern, and of the sizes that it names.

Most sizes of a pattern are plain names. A pattern is tried on thousands of nodes, so these are looked up instead of
substituted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


class Bindings(NamedTuple):
    """Bindings of a pattern's variables: nodes by symbol, sizes by name. Never changed in place.

    `others` are bindings of number and function variables: values and bodies, by their representatives in the pattern.
    """

    nodes: Mapping[Node, Node]
    sizes: Mapping[str, Size]
    others: Mapping[Any, Any] = MappingProxyType({})


EMPTY = Bindings({}, {})


def bind_sizes(
    pattern: Sequence[Size], subject: Sequence[Size], bindings: Bindings, later: bool = False
) -> Iterator[Bindings]:
    """Yield the bindings extended by the sizes that `pattern` names: plain names are bound, then others compared.

    The last unknown name in a sum is solved for: if m + n matches p + q and m is p, then n is q. With `later`, sizes
    with more unknown names are not compared yet.
    """
    sizes = dict(bindings.sizes)
    composed = []
    for expected, actual in zip(pattern, subject, strict=True):
        name = _plain_name(expected)
        if name is None:
            composed.append((expected, actual))
        elif (known := sizes.setdefault(name, actual)) is not actual and known != actual:
            return
    for expected, actual in composed:
        unknown = [name for name in expected.names if name not in sizes]
        if later and len(unknown) > 1:
            continue
        if len(unknown) == 1:
            (name,) = unknown
            sizes[name] = actual + expected.substitute({**sizes, name: Size.of(0)}) * -1
        if _with_sizes(expected, tuple((name, sizes[name]) for name in expected.names if name in sizes)) != actual:
            return
    yield bindings._replace(sizes=sizes)


@lru_cache(maxsize=1024)
def _plain_name(size: Size) -> str | None:
    """Return the name that a size consists of, None for a number or a composed size."""
    return str(size) if size.names == (str(size),) else None


@lru_cache(maxsize=1024)
def _with_sizes(size: Size, values: tuple[tuple[str, Size], ...]) -> Size:
    return size.substitute(dict(values))
