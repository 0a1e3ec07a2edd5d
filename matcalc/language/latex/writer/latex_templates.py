r"""Defines the looks of subformulas in LaTeX and how tightly they bind, and fills the templates of rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matcalc.language.latex.latex_scope import Key
from matcalc.language.latex.layout.latex_names import GREEK, Templates
from matcalc.language.syntax import Ast

SUM, ELEMENTWISE, PRODUCT, FACTOR, SCRIPT, ATOM = range(1, 7)
"""Binding strengths, loosest first; FACTOR (a fraction, a call) takes no superscript, SCRIPT has one already."""

_TALL = re.compile(r"\\frac|\\begin|\\left|\\sum")
_HOLE = re.compile(r"(?<![A-Za-z_^])\{(\d)(\^?)\}")
_LETTERS = re.compile(
    rf"\\(?:{'|'.join(sorted({look[1:] for look in GREEK.values()}))})(?![A-Za-z])|(?<![\\A-Za-z{{])[A-Z](?![A-Za-z])"
)
"""The letters of a template that may be symbols."""
_FACTORS = re.compile(r"[A-Za-z0-9]+( [A-Za-z0-9]+)+")
_BETWEEN = re.compile(r"\{0\^?\} (\\[a-z]+) \{1\^?\}\Z")


@dataclass(frozen=True, slots=True)
class Look:
    """A subformula's LaTeX; `kind` is scalar, vector, row, matrix, tensor or "" for unknown.

    `base` is the base below a superscript -1 or T; `arguments` are those of a call. `is_inner` marks the product of a
    row and a column, which no factor may follow without parentheses: (x'*A*x)*y. `sign` is the operator of an
    expression that binds more loosely than a product.
    """

    text: str
    level: int = ATOM
    kind: str = ""
    base: str = ""
    arguments: tuple[Look, ...] = ()
    is_inner: bool = False
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """The meaning of names: kinds and lengths of symbols, looks of functions and kinds of their values.

    keys: declared names by key. bound: indices and parameters bound here. parts: names of shared parts.
    steps: names of a recurrence, in its equations. from_zero: names and axes whose subscripts count from 0, since they
    are read at steps. step_indices: the indices of recurrences. systems: those of the states behind an inner `where`.
    """

    kinds: Mapping[str, str]
    templates: Templates
    shapes: Mapping[str, Sequence[str]]
    results: Mapping[str, str]
    keys: Mapping[Key, object]
    bound: frozenset[str] = frozenset()
    parts: Mapping[Ast, str] = field(default_factory=dict)
    steps: frozenset[str] = frozenset()
    from_zero: frozenset[tuple[str, int]] = frozenset()
    step_indices: frozenset[str] = frozenset()
    systems: Mapping[str, Ast] = field(default_factory=dict)


def fenced(text: str, opening: str = "(", closing: str = ")") -> str:
    if _TALL.search(text):
        return rf"\left{opening}{text}\right{closing}"
    return f"{opening}{text}{closing}"


def at(look: Look, least: int) -> str:
    return look.text if look.level >= least else fenced(look.text)


def filled(keys: list[str], arguments: tuple[Look, ...], scope: Scope) -> Look | None:
    """Return the template of the first key that has one for this number of arguments, filled in."""
    for key in keys:
        for template in scope.templates.get(key, ()):
            holes = _HOLE.findall(template)
            count = max((int(hole) for hole, _ in holes), default=-1) + 1
            if len(arguments) == count and not _names_symbol(template, scope):
                return _fill(template, arguments)
    return None


def _names_symbol(template: str, scope: Scope) -> bool:
    """Return whether a letter of a template is a symbol here: if sigma is, no function prints as \\sigma(x)."""
    return any((letter.removeprefix("\\"),) in scope.keys for letter in _LETTERS.findall(template))


def _fill(template: str, arguments: tuple[Look, ...]) -> Look:
    """Return the look of a template with arguments in its holes, and how tightly it binds."""

    def put(hole: re.Match[str]) -> str:
        argument = arguments[int(hole[1])]
        if not hole[2] and _FACTORS.fullmatch(argument.text) and "_{{" in template:
            return argument.text.replace(" ", r" \cdot ")
        return at(argument, ATOM) if hole[2] else argument.text

    if template.endswith("({0})"):
        text = _HOLE.sub(put, template[:-5]) + fenced(arguments[0].text)
    else:
        text = _HOLE.sub(put, template)
    if template == "{0^}^{-1}":
        return Look(text, SCRIPT, arguments[0].kind, at(arguments[0], ATOM), arguments)
    between = _BETWEEN.match(template)
    if between:
        return Look(text, ELEMENTWISE, "", "", arguments, sign=between[1])
    if re.match(r"\{0\^?\} ", template):
        return Look(text, PRODUCT, "", "", arguments)
    bare = _HOLE.sub("", template)
    level = SCRIPT if "^" in bare else FACTOR if re.search(r"\(|\\det|\\log", bare) else ATOM
    return Look(text, level, "", "", arguments)
