"""Prints a derivation: numbered lines as text, LaTeX or Markdown, each with its reasons.

`derivation` determines the lines; this file formats them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from matcalc.errors import NotSupported
from matcalc.evidence.explain.derivation import Line
from matcalc.evidence.explain.reasons import Reason
from matcalc.language.identifiers import is_one_of, shown
from matcalc.language.latex.latex import latex
from matcalc.language.latex.latex_names import Templates
from matcalc.language.syntax import Ast, name
from matcalc.language.write import text, where_text
from matcalc.rulebook.load import default_rulebook
from matcalc.rulebook.meanings import Remark, latex_words, remark_latex, remark_text, remarks_in
from matcalc.rulebook.notations import latex_templates
from matcalc.tensor.nodes.node import toposort
from matcalc.tensor.sizes.sizes_from_shapes import KINDS

D: Templates = {"d": (r"\mathrm{d}\left({0}\right)",)}


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
        rows.append(f"{k}. ${left} = {_math(line, kinds)}$".replace("$ =", "$=") + (f" ({reasons})" if reasons else ""))
    rows += [f"\nwhere ${remark_latex(one)}$" for one in _remarks(lines)]
    return "\n".join(rows)


def _remarks(lines: Sequence[Line]) -> list[Remark]:
    return remarks_in(line.formula for line in lines if not line.statement)


FORMS: Mapping[str, Callable[[Sequence[Line]], str]] = {"text": _text, "latex": _latex, "markdown": _markdown}


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
    if isinstance(left, str) and left[0] == "d":
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
    """Return the kinds of all symbols."""
    found = {n.name: n for n in toposort([line.node for line in lines]) if n.kind == "symbol"}
    return {name: KINDS[min(n.rank, 3)] for name, n in found.items()}
