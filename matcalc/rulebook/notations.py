"""Gathers the fields `latex`, `numpy` and `sympy` of rules: the names and looks of operations in other languages.

Languages and bridges know no operation: this file collects the names and looks from a rulebook, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import cast

from matcalc.language.latex.layout.latex_names import LOOKS, Templates
from matcalc.language.latex.layout.latex_patterns import SIZE, LatexNames, Look, fitting
from matcalc.language.numpy_names import CALL_FORMS, Called, NumpyNames
from matcalc.language.read import TENSOR
from matcalc.language.signs import BARS, PRODUCT, ROOT
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
from matcalc.rulebook.roles import ROLES
from matcalc.rulebook.rule import Rule

WORDS_KEPT = 4
"""The number of rulebooks whose names stay cached."""


def spelled(role: str) -> str:
    """Return the name of the entry with a role.

    Raises: UnknownName if there is none.
    """
    return default_rulebook().playing(role).spelling


def sum_of_squares() -> str:
    """Return the text of `square` of a norm."""
    return f"{spelled('total')}(x.^2)"


def latex_templates(book: Rulebook) -> Templates:
    """Return the templates of all calls, for display only: some cannot be read back."""
    return {rule.spelling + key: look for rule in book.rules.values() for key, look in rule.latex.items()}


@lru_cache(maxsize=WORDS_KEPT)
def latex_looks(book: Rulebook) -> Templates:
    """Return the templates of calls that can be read back, by the keys that `latex` looks up.

    A look that several calls share is used for one of them only if the kind of its operand distinguishes it.
    """
    names = latex_names(book)
    alike: dict[str, list[Look]] = {}
    for look in names.looks:
        alike.setdefault(look.template, []).append(look)
    found: dict[str, tuple[str, ...]] = {}
    for rule in book.rules.values():
        for key, templates in rule.latex.items():
            rivals = [look for template in templates for look in alike.get(template, ())]
            if len({look.spelling for look in rivals}) < 2:
                found[rule.spelling + key] = templates
                continue
            found[rule.spelling] = (rf"\operatorname{{{rule.spelling}}}\left({{0}}\right)",)
            for kind in (key,) if key else _KEYS:
                if [look.spelling for look in fitting(names, rivals, [kind.removeprefix(":")])] == [rule.spelling]:
                    found[rule.spelling + kind] = templates
    return found


_KEYS = tuple(key for key in LOOKS.values() if key.startswith(":") and len(key) > 1)


@lru_cache(maxsize=WORDS_KEPT)
def latex_names(book: Rulebook) -> LatexNames:
    """Return the looks of calls in LaTeX, and the parameters and results of each call."""
    looks = [
        Look(rule.spelling, template, key.removeprefix(":"))
        for rule in book.rules.values()
        for field in (rule.latex, rule.from_latex)
        for key, templates in field.items()
        if key != LOOKS["unknown"]
        for template in templates
    ]
    found = {name: [(c, c.signature) for c in candidates] for name, candidates in book.spellings.items()}
    parameters = {
        name: tuple(
            frozenset("any" if kind in _ANYTHING else _PLAINLY.get(kind, kind) for kind in kinds)
            for kinds in (
                {s.parameters[k].kind for _, s in signatures if k < len(s.parameters)}
                for k in range(max(len(s.parameters) for _, s in signatures))
            )
        )
        for name, signatures in found.items()
    }
    results: dict[str, str] = {}
    by_count: dict[str, dict[int, str]] = {}
    for name, signatures in found.items():
        outputs = [next(o.kind for o in s.outputs if o.name in (c.output, "")) for c, s in signatures]
        kinds = [(len(s.parameters), kind) for (_, s), kind in zip(signatures, outputs, strict=True)]
        results[name] = kinds[0][1] if len({kind for _, kind in kinds}) == 1 else ""
        results.setdefault(name.rstrip("<>=!"), results[name])  # when(x > y) is a call of the entry `when>`
        if not results[name] and len({count for count, _ in kinds}) == len(kinds):
            by_count[name] = {count: "same" if kind in ("entry", "array") else kind for count, kind in kinds}
    return LatexNames(
        tuple(looks),
        parameters,
        {name: "same" if kind in ("entry", "array") else kind for name, kind in results.items()},
        {name: min(sum(p.default is None for p in s.parameters) for _, s in ones) for name, ones in found.items()},
        {name: ones[0][0].rule.spelling if not ones[0][0].output else name for name, ones in found.items()},
        {role: book.playing(role).spelling for role in ROLES if ("role", role) in book.claims},
        by_count,
        {rule.spelling: rule.undoes for rule in book.rules.values() if rule.undoes},
    )


_ANYTHING = ("entry", "array", "tensor", "function", "equation", "unknown")
_PLAINLY = {"integer": SIZE, "number": "scalar"}


@lru_cache(maxsize=WORDS_KEPT)
def numpy_names(book: Rulebook) -> NumpyNames:
    """Return NumPy's functions and their calls here."""
    found = {name: _called(rule, words) for rule in book.rules.values() for name, words in rule.numpy.items()}
    stacked, unstacked = (book.playing(role).spelling for role in ("stacked_columns", "unstacked_columns"))
    calls, _ = ordered_calls([call for rule in book.rules.values() for call in rule.calls])
    ordered = frozenset(call.partition(",")[0] for call in calls)
    differing = [rule for rule in book.rules.values() if rule.differs]
    names = {rule: {rule.name} if rule.name in rule.numpy else {rule.name, *rule.numpy} for rule in differing}
    differs = {name: rule.differs for rule in names for name in names[rule]}
    per_axis = frozenset(rule.name for rule in book.rules.values() if rule.per_axis)
    return NumpyNames(found, stacked, unstacked, ordered, differs, per_axis)


def _called(rule: Rule, words: tuple[str, ...]) -> Called:
    call_forms = {word: True for word in words if word in CALL_FORMS}
    pairs = [(key, value) for key, sign, value in (word.partition("=") for word in words) if sign]
    parameters = [p.name for p in rule.parameters]
    parts = dict(zip(rule.outputs, rule.names, strict=True))
    items = [word for word in words if word not in CALL_FORMS and "=" not in word]
    return Called(
        rule.spelling,
        tuple(parts.get(word.rstrip("'"), word.rstrip("'")) + word[len(word.rstrip("'")) :] for word in items),
        **call_forms,
        keywords={key: value for key, value in pairs if value in parameters},
        fixed={key: value for key, value in pairs if value not in parameters},
    )


SIGNS: Mapping[str, str] = {
    TENSOR: "tensor_product", BARS: "euclidean_length", ROOT: "square_root", PRODUCT: "entries_product",
}  # fmt: skip
"""Signs of the grammar that are calls -> the role of their operation."""


def with_items(tree: Ast, book: Rulebook) -> Ast:
    """Return a tree in which signs are calls, and each item of several results, `slogdet(S)[1]`, is its own call."""
    made: dict[Ast, Ast] = {}

    def change(node: Ast) -> Ast:
        if node.head == "shared":
            return shared(part_name(node), made[definition(node)], node.span)
        if node.head == "call" and call_name(node) in SIGNS:
            return replace(node, value=(book.playing(SIGNS[call_name(node)]).spelling, call_keywords(node)))
        if node.head != "part" or len(node.args) != 2 or node.args[0].head != "call":
            return node
        base, subscript = node.args
        rule = book.rules.get(call_name(base))
        item = subscript.value if subscript.head == "number" else None
        if rule is None or len(rule.outputs) < 2 or item not in range(len(rule.names)):
            return node
        return replace(base, value=(rule.names[int(cast(Fraction, item))], call_keywords(base)), span=node.span)

    if all(node.head != "part" and (node.head != "call" or call_name(node) not in SIGNS) for node in whole(tree)):
        return tree
    for part in parts_in(tree):
        made[definition(part)] = rebuild(definition(part), change)
    return rebuild(tree, change)
