"""Computes the page's answers: for each topic a JSON record; for an error its message and the caret's position.

NumPy and the compiler are imported only by the topics that need them, so questions about formulas work without, also
in a browser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matcalc as mc
from matcalc.errors import MatcalcError, NotSupported, ShapeError, UnknownName
from matcalc.expressions.calling import names
from matcalc.expressions.expression import Expression
from matcalc.expressions.unused import shared
from matcalc.language.identifiers import nearest
from matcalc.language.latex.writer.line_breaks import breakable
from matcalc.page.questions import Question, question
from matcalc.page.symbols import symbols_in, symbols_of
from matcalc.tensor.nodes.node import toposort

if TYPE_CHECKING:
    from matcalc.api.equivalent import Equivalence

Record = dict[str, Any]

EXAMPLES = Path(__file__).with_name("assets") / "gallery.json"
LARGEST = 4000
"""The most nodes of a formula that the page accepts."""


def answered(record: object) -> Record:
    """Return the answer to a record of the page; a fault in the user's text becomes an error with its position."""
    request = question(record)
    try:
        return ANSWERS[request.topic](request)
    except MatcalcError as error:
        place = {"text": error.text, "at": error.at, "marks": error.marks} if error.text and error.at >= 0 else {}
        kind = type(error).__name__
        fault = {"kind": kind, "message": error.message, "hint": error.hint, "shown": str(error), **place}
        if request.topic == "read" and isinstance(error, ShapeError):
            fault["symbols"] = symbols_in(request, names())
        return {"error": fault}
    except ValueError as error:  # of NumPy, for data
        return {"error": {"message": str(error)}}


def warm_up() -> None:
    """Answer the first example, so that the first question need not wait for imports."""
    example = json.loads(EXAMPLES.read_text(encoding="utf-8"))[0]
    for topic in ("read", "derive", "write"):
        answered({"topic": topic, "formula": example["formula"], "wrt": example["wrt"], "form": "numpy"})


def formula(request: Question) -> Expression:
    """Return the formula. Raises: as reading does; NotSupported for a formula that is too large for the page."""
    e: Expression = mc.expression(request.formula, shared(request.declarations), request.dialect)
    count = len(toposort([e.node]))
    if count > LARGEST:
        raise NotSupported(f"the formula has {count} parts, and the page takes {LARGEST}")
    return e


def derivative(request: Question) -> list[tuple[str, Expression]]:
    """Return the derivative as blocks, each with its variables."""
    e, wrt = formula(request), request.variables
    made = getattr(e, request.how)(wrt)
    if isinstance(made, Expression):
        return [("", made)]
    variables = [wrt] if isinstance(wrt, str) else wrt
    blocks = []
    for name, part in zip(variables, made, strict=True):
        if isinstance(part, Expression):
            blocks.append((name, part))
        else:
            blocks += [(f"{name}, {other}", block) for other, block in zip(variables, part, strict=True)]
    return blocks


def one_derivative(request: Question) -> Expression:
    blocks = derivative(request)
    if len(blocks) > 1:
        raise NotSupported("choose one variable for this")
    return blocks[0][1]


# ---- topics


def read(request: Question) -> Record:
    e = formula(request)
    return {
        **described(e),
        "symbols": symbols_of(e),
        "sizes": list(e.names.size_names),
        "declared": str(e.declarations),
    }


def described(e: Expression) -> Record:
    """Return a formula as LaTeX, which lines can break, and text, with and without named parts; its shape and facts."""
    return {
        "latex": breakable(e.latex()),
        "named": e.latex(named=True),
        "text": str(e),
        "shape": [str(size) for size in e.shape],
        "facts": sorted(e.facts),
        "needs": list(e.needs),
    }


def derive(request: Question) -> Record:
    return {"blocks": [{"label": label, **described(e)} for label, e in derivative(request)]}


def write(request: Question) -> Record:
    """Return the derivative as text in a form; the forms of code include the formula's value."""
    blocks = derivative(request)
    if request.form in CODE:
        from matcalc.page.write_code import file_text

        return {"text": file_text(formula(request), blocks, request), "file": CODE[request.form]}
    return {
        "text": "\n".join(
            f"{label}: {shown(e, request.form)}" if label else shown(e, request.form) for label, e in blocks
        )
    }


def shown(e: Expression, form: str) -> str:
    """Return a formula as text, with named parts, as LaTeX, or as SymPy code."""
    return str(e) if form == "text" else str(getattr(e, form)())


CODE = {"numba": "f_numba.py", "numpy": "f_numpy.py", "c": "f.c"}


def explain(request: Question) -> Record:
    """Return the derivation of each block as lines of Markdown: formulas between dollar signs, then the rules.

    Long formulas can be broken into lines.
    """
    blocks = derivative(request)
    lines = [[_with_breaks(line) for line in e.explain("markdown").splitlines()] for _, e in blocks]
    return {"blocks": [{"label": label, "lines": shown} for (label, _), shown in zip(blocks, lines, strict=True)]}


def _with_breaks(line: str) -> str:
    return re.sub(r"\$([^$]+)\$", lambda formula: f"${breakable(formula[1])}$", line)


def compare(request: Question) -> Record:
    """Return whether the user's formula for the derivative is right, with the proof or a counterexample."""
    truth = one_derivative(request)
    other = mc.expression(request.other, truth.declarations, request.dialect)
    known = [*truth.names.symbols, *truth.names.size_names]
    strange = next((name for name in other.names.written if name not in known), None)
    if strange is not None:
        raise UnknownName(f"{strange} is not a symbol of the formula{nearest(strange, known)}")
    found = mc.equivalent(truth, other)
    record: Record = {
        "right": bool(found),
        "lines": str(found).splitlines(),
        "yours": breakable(other.latex()),
        "truth": breakable(truth.latex()),
    }
    if found.point is not None:
        values = {"the derivative": found.point.left, **({"yours": found.point.right} if found.point.is_common else {})}
        record["data"] = listed(_needed(found, [truth, other]))
        record["values"] = listed(values)
        record["mistake"] = found.mistake
    return record


def _needed(found: Equivalence, both: Sequence[Expression]) -> Mapping[str, Any]:
    """Return the data of a counterexample for the symbols that occur in the formulas."""
    held = {node.name for node in toposort([e.node for e in both]) if node.kind == "symbol"}
    return {name: array for name, array in found.at.items() if name in held}


def convex(request: Question) -> Record:
    found = mc.convex(formula(request), request.variables)
    return {
        "verdict": found.verdict,
        "lines": str(found).splitlines(),
        "data": listed(found.at),
        "direction": listed(found.direction),
        "values": list(found.values),
    }


def check(request: Question) -> Record:
    """Return the table of `mc.check`, and the error of difference quotients by step."""
    e, wrt = formula(request), request.variables
    report = mc.check(e, wrt)
    rows = [
        [
            row.what,
            row.sizes,
            row.reference,
            f"{row.error:.1e}",
            f"{row.bound:.0e}",
            row.verdict,
        ]
        for row in report.rows
    ]
    steps, errors = next(iter(report.plot().series.values()), ([], []))
    return {"right": bool(report), "rows": rows, "curve": {"steps": steps, "errors": errors}}


def plan(request: Question) -> Record:
    from matcalc.page.write_code import plan_text

    text = plan_text(formula(request), derivative(request), request)
    return {"text": text, "total": next((line for line in text.splitlines() if line.startswith("total: ")), "")}


def graph(request: Question) -> Record:
    from matcalc.page.graph import picture

    return picture(formula(request) if request.part == "formula" else one_derivative(request))


def listed(arrays: Mapping[str, Any]) -> Record:
    """Return arrays as lists."""
    return {name: array.tolist() if hasattr(array, "tolist") else array for name, array in arrays.items()}


ANSWERS: Mapping[str, Callable[[Question], Record]] = {
    made.__name__: made for made in (read, derive, write, explain, compare, convex, check, plan, graph)
}
