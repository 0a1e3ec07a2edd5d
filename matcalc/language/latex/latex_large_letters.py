r"""Finds the declared array whose parts a lower-case letter names: x_i of X."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.latex_axes import letters_in
from matcalc.language.latex.latex_bounds import range_of
from matcalc.language.latex.latex_scope import Key, Reading, Scope, key_of, subscript_of
from matcalc.language.syntax import walk


def large_of(reading: Reading, key: Key) -> str:
    """Return the declared matrix or tensor whose parts have this name, X for x; "" if there is none."""
    base = key[0][:1].upper() + key[0][1:]
    names = reading.keys.get((base, *key[1:]), ())
    if base == key[0] or len(names) != 1 or reading.kind_of(names[0]) not in ("matrix", "tensor"):
        return ""
    return names[0]


def is_beside_rows(reading: Reading, key: Key, bound: Sequence[str], scope: Scope) -> bool:
    """Return whether a part is of a declared matrix X, beside a size, a number or a vector x whose parts it cannot be.

    The last value of the index is then the length of an axis of X, and not that of x.
    """
    names, large = reading.keys.get(key, ()), large_of(reading, key)
    if not names or not large:
        return False
    if all(reading.known.shapes.get(name, ()) == () for name in names):
        return True
    last = range_of(scope.indices[bound[0]]) if len(bound) == 1 else ""
    lengths = {length for name in names for length in reading.known.shapes.get(name, ())}
    return bool(last) and last not in lengths and last in reading.known.shapes.get(large, ())


def data_beside_number(reading: Reading, key: Key) -> str:
    """Return the declared vector X whose entries have the name of a declared number x; "" if there is none."""
    names = reading.keys.get(key, ())
    large = reading.keys.get((key[0][:1].upper() + key[0][1:], *key[1:]), ())
    is_number = bool(names) and all(reading.known.kinds.get(name) == "scalar" for name in names)
    is_vector = len(large) == 1 and large != names and reading.kind_of(large[0]) == "vector"
    return large[0] if is_number and is_vector else ""


def has_rows(reading: Reading, key: Key) -> bool:
    """Return whether the formula has x_i with an index of a sum."""
    bigs = [x for x in walk(reading.root) if x.head == "big"]
    bound = {letter for big in bigs for script in big.args[:-1] for letter in letters_in(script)}
    forms = [x for x in walk(reading.root) if x.head == "script" and x.args[0].value == "bracket"]
    bound |= {letter for x in forms if (below := subscript_of(x)) is not None for letter in letters_in(below)}
    own = [x for x in walk(reading.root) if x.head == "script" and key_of(x.args[0]) == key]
    return any(set(letters_in(below)) & bound for x in own if (below := subscript_of(x)) is not None)
