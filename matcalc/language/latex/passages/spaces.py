r"""Compares the sets that a passage tells with the declarations, and finds rows by them: x_i \in \mathbb{R}^d.

With X: matrix(n, d), vectors x_i with d entries are its rows. A set that denies the declaration is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.definitions.sets import space_of
from matcalc.language.latex.latex_axes import elements
from matcalc.language.latex.latex_large_letters import large_of
from matcalc.language.latex.latex_scope import Reading, fault, key_of, subscript_of
from matcalc.language.latex.layout.latex_patterns import without_top
from matcalc.language.latex.names_in_lines import whole_key
from matcalc.language.syntax import Ast


def note_space(reading: Reading, line: Ast, names: Sequence[Ast]) -> None:
    r"""Enter the axis of rows that a line x_i \in \mathbb{R}^d tells of names into the reading.

    Raises: ParseError for a set that denies the declaration of one of the names.
    """
    space = space_of(line) if line.value == (r"\in",) else None
    for name in names if space is not None else ():
        sizes = space[0] if space is not None else ()
        count, arrays = _arrays(reading, name)
        fits = [x for x in arrays if _fits(reading, reading.known.shapes.get(x, ()), count, sizes)]
        if arrays and not fits:
            shape = reading.known.shapes.get(arrays[0], ())
            kind = ("scalar", "vector", "matrix", "tensor")[min(len(shape), 3)]
            declared = kind + (f"({', '.join(shape)})" if shape else "")
            hint = "declare it as this set tells it, or leave the set out"
            raise fault(f"{arrays[0]} is declared as a {declared}, and this set denies it", line, hint)
        shape = reading.known.shapes.get(fits[0], ()) if len(fits) == 1 else ()
        if count == 1 and len(shape) == 2 and sizes[0] in shape and shape[0] != shape[1]:
            reading.stated[fits[0]] = 1 - shape.index(sizes[0])


def _arrays(reading: Reading, name: Ast) -> tuple[int, list[str]]:
    """Return the number of indices of a name, and the declared arrays that it can be of."""
    shown, above = without_top(name)
    key = whole_key(shown)
    if above or key is None:
        return 0, []
    if key in reading.keys:
        names = reading.keys[key]
        return 0, [x for x in names if x not in reading.known.sizes | reading.known.indices]
    below = subscript_of(shown) if shown.head == "script" else None
    base = key_of(shown.args[0]) if below is not None else None
    if below is None or base is None:
        return 0, []
    items = [x for one in elements(below) for x in (one.args if one.head == "row" else (one,))]
    if any(x.head not in ("letter", "number") for x in items):
        return 0, []
    names = (*reading.keys.get(base, ()), *filter(None, [large_of(reading, base)]))
    return len(items), [x for x in names if x not in reading.known.sizes | reading.known.indices]


def _fits(reading: Reading, shape: Sequence[str], count: int, sizes: Sequence[str]) -> bool:
    """Return whether an array of this shape with a number of indices can be in a space of these sizes."""
    if len(shape) - count != len(sizes):
        return len(shape) == 2 and "1" in shape and len(sizes) == 1 and not count
    known = [x for x in sizes if x in reading.known.sizes]  # a number may be the value of a size
    if count:
        return all(x in shape for x in known)
    return all(a == b for a, b in zip(shape, sizes, strict=True) if b in known)
