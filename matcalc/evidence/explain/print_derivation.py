"""Prints a derivation: numbered lines as text, LaTeX or Markdown, each with its reasons; also as a LaTeX document.

`derivation` determines the lines; this file formats them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from matcalc.errors import NotSupported
from matcalc.evidence.explain.derivation import Line
from matcalc.evidence.explain.reasons import Reason
from matcalc.evidence.explain.sentences import pieces_of
from matcalc.language.identifiers import is_one_of, shown
from matcalc.language.latex.layout.latex_names import Templates
from matcalc.language.latex.writer.latex import latex
from matcalc.language.latex.writer.line_breaks import breakable
from matcalc.language.syntax import Ast, name, whole
from matcalc.language.write import text, where_text
from matcalc.pictures.rich_text import Math, Paragraph, Piece, Steps, document, markdown
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.meanings import Remark, latex_words, remark_latex, remark_text, remarks_in
from matcalc.rulebook.notations import latex_templates
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.sizes.sizes_from_shapes import KINDS

D: Templates = {"d": (r"\mathrm{d}\left({0}\right)",)}


class Explanation(str):
    """The text of a derivation. A notebook typesets it, and `latex()` is a document to compile."""

    lines: tuple[Line, ...]

    def __new__(cls, lines: Sequence[Line]) -> Explanation:
        made = super().__new__(cls, _text(lines))
        made.lines = tuple(lines)
        return made

    def latex(self) -> str:
        """Return a LaTeX document of the derivation; long formulas are broken into lines."""
        return document(_blocks(self.lines, partial(breakable, wide=r"\fit")))

    def markdown(self) -> str:
        """Return the derivation as a numbered list in Markdown."""
        return _markdown(self.lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_markdown_(self) -> str:
        return markdown(_blocks(self.lines))

    def _repr_latex_(self) -> str:
        return _latex(self.lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return Explanation, (self.lines,)


def printed(lines: Sequence[Line], form: str = "text") -> str:
    """Return the lines of a derivation as "text", "latex" (an align* environment) or "markdown" (a numbered list).

    Raises: NotSupported for another form.
    """
    if not is_one_of(form, FORMS):
        raise NotSupported(f"a derivation has no form {shown(form)}: use {', '.join(FORMS)}")
    return FORMS[form](lines)


def _text(lines: Sequence[Line]) -> str:
    lefts = [line.left if isinstance(line.left, str) else text(line.left) for line in lines]
    width = max(map(len, lefts))
    shown = []
    for k, (left, line) in enumerate(zip(lefts, lines, strict=True), 1):
        reasons = "".join(f"    [{_reason(r)}]" for r in line.reasons if r.says)
        said = line.statement or f"{left:>{width}} = {where_text(line.formula)}{reasons}"
        shown.append(f"{k:>{len(str(len(lines)))}}. {said}")
    shown += [f"where {remark_text(one)}" for one in _remarks(lines)]
    return "\n".join(shown)


def _reason(reason: Reason) -> str:
    return "; ".join(filter(None, (reason.formula, reason.words, reason.source)))


def _latex(lines: Sequence[Line]) -> str:
    kinds = _kinds(lines)
    rows = []
    for line in lines:
        if line.statement:
            rows.append(rf"& \text{{{latex_words(line.statement)}}}")
            continue
        reasons = r",\ ".join(_latex_reason(r) for r in line.reasons if r.says)
        left = _left(line.left, kinds)
        rows.append(f"{left} &= {_math(line, kinds)}" + (f" && {reasons}" if reasons else ""))
    rows += [rf"& \text{{where }} {remark_latex(one)}" for one in _remarks(lines)]
    body = " \\\\\n".join(rows)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _markdown(lines: Sequence[Line]) -> str:
    kinds = _kinds(lines)
    rows = []
    for k, line in enumerate(lines, 1):
        reasons = "; ".join(_markdown_reason(r) for r in line.reasons if r.says)
        left = _left(line.left, kinds)
        if line.statement:
            rows.append(f"{k}. {line.statement}")
            continue
        equation = f"${left} = {_math(line, kinds)}$".replace("$ =", "$=")
        rows.append(f"{k}. {equation}" + (f" ({reasons})" if reasons else ""))
    rows += [f"\nwhere ${remark_latex(one)}$" for one in _remarks(lines)]
    return "\n".join(rows)


def _remarks(lines: Sequence[Line]) -> list[Remark]:
    return remarks_in(line.formula for line in lines if not line.statement)


def _blocks(lines: Sequence[Line], fitted: Callable[[str], str] = str) -> list[Steps | Paragraph]:
    """Return the lines as steps, and a paragraph for the meaning of each operation that a reader may not know."""
    remarks = _remarks(lines)
    return [_steps(lines, fitted), *(Paragraph(["where ", _call(one), f" = {one.words}"]) for one in remarks)]


def _call(remark: Remark) -> Math:
    return Math(latex(remark.call, remark.kinds, _looks()), text(remark.call))


def _steps(lines: Sequence[Line], fitted: Callable[[str], str] = str) -> Steps:
    """Return the lines as numbered steps with their reasons; `fitted` makes LaTeX fit the width of a page."""
    kinds, steps = _kinds(lines), []
    for line in lines:
        left = _left(line.left, kinds)
        equation = Math(f"{left} = {fitted(_math(line, kinds))}".strip(), text(line.formula))
        pieces = pieces_of(line.statement) if line.statement else [equation]
        steps.append((pieces, [_pieces(reason, fitted) for reason in line.reasons if reason.says]))
    return Steps(steps)


def _pieces(reason: Reason, fitted: Callable[[str], str]) -> list[Piece]:
    """Return a reason as words and a formula."""
    shown: list[Piece] = [Math(fitted(_equation(reason)), reason.formula)] if reason.formula else []
    words = ", ".join(filter(None, (reason.words, reason.source)))
    return [*shown, f"{', ' if shown and words else ''}{words}"]


FORMS: Mapping[str, Callable[[Sequence[Line]], str]] = {"text": Explanation, "latex": _latex, "markdown": _markdown}


# ---- mathematics


def _math(line: Line, kinds: Mapping[str, str]) -> str:
    return latex(line.formula, kinds, _looks())


LEFT = {
    "gradient": r"\nabla f",
    "Hessian": r"\nabla^2 f",
    "Jacobian": "J",
    "pullback": r"\nabla\left\langle G, F\right\rangle",
}


def _left(left: str | Ast, kinds: Mapping[str, str]) -> str:
    if not left or left in LEFT:
        return LEFT.get(str(left), "")
    if isinstance(left, str) and left[0] == "d" and left not in kinds:
        return rf"\mathrm{{d}}{left[1:]}"
    return latex(name(left) if isinstance(left, str) else left, {**kinds, "F": "scalar"}, _looks())


def _latex_reason(reason: Reason) -> str:
    shown = [_equation(reason)] if reason.formula else []
    return r",\ ".join([*shown, *(rf"\text{{{latex_words(part)}}}" for part in (reason.words, reason.source) if part)])


def _markdown_reason(reason: Reason) -> str:
    shown = f"${_equation(reason)}$" if reason.formula else ""
    return ", ".join(filter(None, (shown, reason.words, reason.source)))


def _equation(reason: Reason) -> str:
    return " = ".join(latex(side, dict(reason.kinds), _looks()) for side in reason.sides)


def _looks() -> Templates:
    return {**D, **latex_templates(default_rulebook())}


def _kinds(lines: Sequence[Line]) -> dict[str, str]:
    """Return the kinds of all symbols and named parts."""
    used = {ast.value for line in lines for ast in whole(line.formula) if ast.head == "name"}
    found = {line.left: line.node for line in lines if isinstance(line.left, str) and line.left in used}
    found.update((n.name, n) for n in toposort([line.node for line in lines]) if n.kind == "symbol")
    return {name: KINDS[min(n.rank, 3)] for name, n in found.items()}
