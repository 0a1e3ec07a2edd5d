"""What the variables of a pattern stand for, and how the sizes that it names are found.

Most sizes of a pattern are names; a pattern meets thousands of nodes, so these are looked up, not substituted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from matcalc.tensor.node import Node
from matcalc.tensor.size import Size


class Bindings(NamedTuple):
    """What the variables of a pattern stand for: nodes by symbol, sizes by name. Never changed in place.

    `others` are variables that are numbers or functions: values and bodies by what stands for them in the pattern.
    """

    nodes: Mapping[Node, Node]
    sizes: Mapping[str, Size]
    others: Mapping[Any, Any] = MappingProxyType({})


EMPTY = Bindings({}, {})


def bind_sizes(
    pattern: Sequence[Size], subject: Sequence[Size], bindings: Bindings, later: bool = False
) -> Iterator[Bindings]:
    """Yield the bindings with the sizes that `pattern` names; plain names first, what is made of them is compared.

    The last unknown name of a sum is what is left of the size given: m + n is p + q where m is p makes n q. With
    `later`, sizes of which more is unknown are left for later.
    """
    sizes = dict(bindings.sizes)
    composed = []
    for wanted, given in zip(pattern, subject, strict=True):
        name = _plain_name(wanted)
        if name is None:
            composed.append((wanted, given))
        elif (known := sizes.setdefault(name, given)) is not given and known != given:
            return
    for wanted, given in composed:
        unknown = [name for name in wanted.names if name not in sizes]
        if later and len(unknown) > 1:
            continue
        if len(unknown) == 1:
            (name,) = unknown
            sizes[name] = given + wanted.substitute({**sizes, name: Size.of(0)}) * -1
        if _with_sizes(wanted, tuple((name, sizes[name]) for name in wanted.names if name in sizes)) != given:
            return
    yield bindings._replace(sizes=sizes)


@lru_cache(maxsize=1024)
def _plain_name(size: Size) -> str | None:
    """Return the name that a size is, None for a number or what is made of names."""
    return str(size) if size.names == (str(size),) else None


@lru_cache(maxsize=1024)
def _with_sizes(size: Size, values: tuple[tuple[str, Size], ...]) -> Size:
    return size.substitute(dict(values))
