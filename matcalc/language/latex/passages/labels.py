r"""Reads what surrounds the name on the left of a line.

P(\theta_i, b_j) = ... defines P_{ij}, and \log\mu_i = x_i^\top w defines \mu_i = \exp(x_i^\top w) if \mu_i is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.language.latex.latex_patterns import TOPS
from matcalc.language.latex.latex_scope import Reading, key_of
from matcalc.language.syntax import Ast

_LOGARITHMS = ("log", "ln")


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


def without_logarithm(items: Sequence[Ast]) -> list[Ast]:
    """Return the items on the left of a line without a logarithm in front, and without parentheses around a name."""
    word = items[0].value[0] if len(items) > 1 and items[0].head == "word" else ""  # type: ignore[index]
    if word not in _LOGARITHMS:
        return list(items)
    rest = list(items[1:])
    is_fence = len(rest) == 1 and rest[0].head == "fence" and rest[0].value in TOPS and len(rest[0].args) == 1
    return [rest[0].args[0]] if is_fence else rest


def exponential(reading: Reading, formula: Ast) -> Ast:
    """Return the formula of a name whose logarithm is a formula."""
    word = Ast("word", (), (reading.names.roles["exponential"], "operator"), formula.span)
    return Ast("row", (word, Ast("fence", (formula,), "open", formula.span)), None, formula.span, formula.at)
