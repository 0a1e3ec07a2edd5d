"""The fields `latex`, `numpy` and `sympy` of a rule: what it is called, and looks like, in other languages.

Languages and bridges know no operation: what they need is gathered from a rulebook here, once, and handed to them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import cast

from matcalc.language.latex_names import Templates
from matcalc.language.numpy_names import MANNERS, Called, NumpyNames
from matcalc.language.syntax import (
    Ast,
    call_keywords,
    call_name,
    definition,
    part_name,
    parts_in,
    rebuild,
    shared,
    whole,
)
from matcalc.rulebook.fields import ordered_calls
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.rule import Rule

WORDS_KEPT = 4
"""Rulebooks whose names stay gathered."""


def spelled(role: str) -> str:
    """Return the name by which the entry that plays a part is called.

    Raises: UnknownName if none does.
    """
    return default_rulebook().playing(role).spelling


def sum_of_squares() -> str:
    """Return the text of `square` of a norm."""
    return f"{spelled('total')}(x.^2)"


@lru_cache(maxsize=WORDS_KEPT)
def latex_looks(book: Rulebook) -> Templates:
    """Return the templates of calls, by the keys that `latex` looks up."""
    return {rule.spelling + key: look for rule in book.rules.values() for key, look in rule.latex.items()}


@lru_cache(maxsize=WORDS_KEPT)
def numpy_names(book: Rulebook) -> NumpyNames:
    """Return what NumPy's functions are here."""
    found = {name: _called(rule, words) for rule in book.rules.values() for name, words in rule.numpy.items()}
    stacked, unstacked = (book.playing(role).spelling for role in ("stacked_columns", "unstacked_columns"))
    calls, _ = ordered_calls([call for rule in book.rules.values() for call in rule.calls])
    ordered = frozenset(call.partition(",")[0] for call in calls)
    names = {rule: {rule.name, *rule.numpy} for rule in book.rules.values() if rule.differs}
    differs = {name: rule.differs for rule in names for name in names[rule]}
    return NumpyNames(found, stacked, unstacked, ordered, differs)


def _called(rule: Rule, words: tuple[str, ...]) -> Called:
    manners = {word: True for word in words if word in MANNERS}
    pairs = [(key, value) for key, sign, value in (word.partition("=") for word in words) if sign]
    parameters = [p.name for p in rule.parameters]
    parts = dict(zip(rule.outputs, rule.names, strict=True))
    items = [word for word in words if word not in MANNERS and "=" not in word]
    return Called(
        rule.spelling,
        tuple(parts.get(word.rstrip("'"), word.rstrip("'")) + word[len(word.rstrip("'")) :] for word in items),
        **manners,
        keywords={key: value for key, value in pairs if value in parameters},
        fixed={key: value for key, value in pairs if value not in parameters},
    )


def with_items(tree: Ast, book: Rulebook) -> Ast:
    """Return a tree in which an item of an operation with several results, `slogdet(S)[1]`, is the call of it."""
    made: dict[Ast, Ast] = {}

    def change(node: Ast) -> Ast:
        if node.head == "shared":
            return shared(part_name(node), made[definition(node)], node.span)
        if node.head != "part" or len(node.args) != 2 or node.args[0].head != "call":
            return node
        base, subscript = node.args
        rule = book.rules.get(call_name(base))
        item = subscript.value if subscript.head == "number" else None
        if rule is None or len(rule.outputs) < 2 or item not in range(len(rule.names)):
            return node
        return replace(base, value=(rule.names[int(cast(Fraction, item))], call_keywords(base)), span=node.span)

    if all(node.head != "part" for node in whole(tree)):
        return tree
    for part in parts_in(tree):
        made[definition(part)] = rebuild(definition(part), change)
    return rebuild(tree, change)
