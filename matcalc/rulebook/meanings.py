"""Explains the operations of a printed formula that its reader may not know, behind the formula.

`G.*leads(x, y) where leads(x, y) = "1 where x > y, 1/2 where x == y, else 0"`. The words are the `meaning` of an
internal operation in the rulebook. A call with further tangents is the derivative of the call without them. Readers of
formulas skip these remarks, so a text with remarks means the same as the text without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from matcalc.language import syntax
from matcalc.language.latex.layout.latex_names import escaped
from matcalc.language.latex.writer.latex import latex
from matcalc.language.syntax import Ast
from matcalc.language.write import text, where_text
from matcalc.rulebook.load import Rulebook, default_rulebook
from matcalc.rulebook.notations import latex_looks
from matcalc.rulebook.rule import VARIED, Rule

TANGENTS = "EFHKLM"
"""Names for the tangents of a call."""


class Remark(NamedTuple):
    """What an operation means: a call of it with the names of its parameters and their kinds, and words."""

    call: Ast
    words: str
    kinds: Mapping[str, str]


def explained(formula: Ast) -> str:
    """Return the text of a formula, its named parts first, and then the meanings of its operations."""
    return _with_words(text(formula), remarks_in([formula]), " where ")


def explained_where(formula: Ast) -> str:
    """Return the text of a formula, followed by its named parts and the meanings of its operations."""
    return _with_words(where_text(formula), remarks_in([formula]), ", " if syntax.parts_in(formula) else " where ")


def explained_latex(formula: str, remarks: Iterable[Remark]) -> str:
    """Return a formula in LaTeX with the meanings of its operations."""
    rows = [*map(remark_latex, remarks)]
    return rf"{formula} \quad\text{{where }} " + r",\quad ".join(rows) if rows else formula


def latex_words(words: str) -> str:
    """Return words as text in LaTeX."""
    return escaped(words).replace("^", r"\^{}").replace("&", r"\&").replace("#", r"\#")


def _with_words(shown: str, remarks: Iterable[Remark], first: str) -> str:
    rows = [*map(remark_text, remarks)]
    return shown + first + ", ".join(rows) if rows else shown


def remark_text(remark: Remark) -> str:
    """Return a remark as text."""
    return f'{text(remark.call)} = "{remark.words}"'


def remark_latex(remark: Remark) -> str:
    """Return a remark as LaTeX."""
    call = latex(remark.call, remark.kinds, latex_looks(default_rulebook()))
    return rf"{call} = \text{{{latex_words(remark.words)}}}"


def remarks_in(formulas: Iterable[Ast]) -> list[Remark]:
    """Return the remarks on the operations in formulas, each once, in the order of their names."""
    book = default_rulebook()
    found: dict[str, Remark] = {}
    for formula in formulas:
        for ast in syntax.whole(formula):
            remark = _remark(ast, book) if ast.head == "call" else None
            if remark is not None:
                found.setdefault(text(remark.call), remark)
    return [found[key] for key in sorted(found)]


def _remark(call: Ast, book: Rulebook) -> Remark | None:
    """Return the remark on a call; None for an operation that needs none."""
    rule = next((one.rule for one in book.spellings.get(syntax.call_name(call), ())), None)
    if rule is None:
        return None
    fixed = [p.name for p in rule.parameters if not p.repeated]
    count = _tangents(call, rule, len(fixed))
    if not count and not (rule.internal and rule.meaning):
        return None
    plain = syntax.call(rule.spelling, *map(syntax.name, fixed))
    kinds = {p.name: p.kind for p in rule.parameters if p.kind in VARIED}
    if not count:
        return Remark(plain, rule.meaning, kinds)
    tangents = [name for name in TANGENTS if name not in fixed][:count]
    words = f"the derivative of {rule.meaning or text(plain)} along {' and '.join(tangents)}"
    kinds.update(dict.fromkeys(tangents, rule.parameters[-1].kind))
    return Remark(syntax.call(rule.spelling, *map(syntax.name, [*fixed, *tangents])), words, kinds)


def _tangents(call: Ast, rule: Rule, fixed: int) -> int:
    """Return the number of further tangents of a call; 0 for an operation that takes none."""
    if rule.parameters[-1:] and rule.parameters[-1].repeated and rule.differentials:
        return max(len(call.args) - fixed, 0)
    return 0
