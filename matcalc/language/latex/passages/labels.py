r"""Reads the arguments of the name on the left of a line as its subscripts: P(\theta_i, b_j) = ... defines P_{ij}."""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.latex_scope import Reading, key_of
from matcalc.language.syntax import Ast


def by_indices(reading: Reading, name: Ast, arguments: Sequence[Ast]) -> Ast | None:
    """Return a name with the indices of its arguments as subscripts if all are entries of declared arrays."""
    entries = all(x.head == "script" and x.value == ("_",) and x.args[1].head == "letter" for x in arguments)
    if not arguments or not entries or name.head == "script":
        return None
    arrays = [name for x in arguments for name in reading.keys.get(key_of(x.args[0]) or (), ())]
    letters = [x.args[1] for x in arguments]
    is_known = len(arrays) == len(arguments) and all(len(reading.known.shapes.get(x, ())) == 1 for x in arrays)
    if not is_known or len({x.value for x in letters}) < len(letters):
        return None
    return Ast("script", (name, Ast("fence", tuple(letters), "brace", name.span)), ("_",), name.span)
