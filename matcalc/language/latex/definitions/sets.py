r"""Reads the lines of a passage that tell sets, `A \in \mathbb{R}^{m \times n}`, as declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from matcalc.language.latex.latex_scope import (
    Key,
    Reading,
    declared_keys,
    fault,
    key_of,
    key_of_subscript,
    name_of,
    subscript_of,
)
from matcalc.language.latex.layout.latex_layout import unbraced
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.syntax import Ast, walk

_KINDS = ("scalar", "vector", "matrix", "tensor")


def declared_in(reading: Reading, lines: Sequence[Ast]) -> tuple[str, ...]:
    """Return declarations of the undeclared symbols whose sets lines tell, and enter them into the reading."""
    found: dict[str, tuple[tuple[str, ...], str]] = {}
    for line in lines:
        key = set_key(line)
        space = space_of(line) if key and key not in reading.keys else None
        if key == ("I",) and space and len({*space[0]}) == 1:
            continue  # the identity
        if key and space:
            found[name_of(key, line.caret)] = space
    known = reading.known
    lengths = {length for sizes, _ in found.values() for length in sizes if not length.isdigit()}
    reading.known = replace(
        known,
        kinds={**known.kinds, **{name: _KINDS[min(len(sizes), 3)] for name, (sizes, _) in found.items()}},
        shapes={**known.shapes, **{name: sizes for name, (sizes, _) in found.items()}},
        sizes=known.sizes | lengths,
    )
    reading.keys = declared_keys({**reading.known.kinds, **dict.fromkeys(reading.known.sizes)})
    return tuple(_declaration(name, *space) for name, space in found.items())


def check_not_counted(reading: Reading, lines: Sequence[Ast]) -> None:
    r"""Raise ParseError for |P| of a set P, (i,j) \in P: the number of its members, or a determinant."""
    sets = {
        key_of(x.args[1])
        for line in lines
        for x in walk(line)
        if x.head == "relation" and x.value == (r"\in",) and key_of(x.args[1]) in reading.keys
    }
    for fence in (x for line in lines for x in walk(line) if x.head == "fence" and x.value == "bar"):
        if len(fence.args) == 1 and (key := key_of(fence.args[0])) in sets:
            name = "_".join(key or ())
            hint = rf"write \sum_{{i,j}} {name}_{{ij}} for the number, \det {name} for the determinant"
            raise fault(f"this can be the number of members of {name} or its determinant", fence, hint)


def _declaration(name: str, sizes: tuple[str, ...], fact: str) -> str:
    shape = f"({', '.join(sizes)})" if sizes else ""
    return f"{name}: {_KINDS[min(len(sizes), 3)]}{shape} {fact}".rstrip()


def set_key(line: Ast) -> Key | None:
    r"""Return the key of the name on the left side of x \in ..."""
    if line.head != "relation" or line.value != (r"\in",) or len(line.args) != 2:
        return None
    shown, above = without_top(line.args[0])
    base, below = shown.args if shown.head == "script" else (shown, None)
    key = key_of(base)
    added = key_of_subscript(below) if below is not None else ()
    return None if key is None or added is None or above else (*key, *added)


def space_of(line: Ast) -> tuple[tuple[str, ...], str] | None:
    r"""Return the sizes and the fact of a space: \mathbb{R}, \mathbb{R}^{m \times n}, \mathbb{S}^n_{++}; else None."""
    space, above = without_top(unbraced(line.args[1]))
    base = space.args[0] if space.head == "script" else space
    if base.head != "letter" or base.value[1] != "double" or base.value[0] not in ("R", "S"):  # type: ignore[index]
        return None
    below = subscript_of(space) if space.head == "script" else None
    powers = [x for mark, x in above if x is not None]
    sizes = _sizes(powers[0]) if powers else ()
    if sizes is None or len(powers) > 1:
        return None
    if base.value[0] == "R":  # type: ignore[index]
        return (sizes, "") if below is None else None
    if len(sizes) != 1:
        return None
    return (sizes * 2, "symmetric") if below is None else None


def _sizes(layout: Ast) -> tuple[str, ...] | None:
    """Return the sizes in a superscript: letters and numbers with signs of multiplication between them."""
    layout = unbraced(layout)
    items = list(layout.args) if layout.head == "row" else [layout]
    if any(x.head != "operator" or x.value != r"\times" for x in items[1::2]):
        return None
    sizes = [_size(x) for x in items[::2]]
    return None if None in sizes or len(sizes) > 2 else tuple(cast("list[str]", sizes))


def _size(item: Ast) -> str | None:
    if item.head == "letter":
        return str(item.value[0])  # type: ignore[index]
    if item.head == "number":
        return str(item.value[2])  # type: ignore[index]
    return None
