"""Writes a formula and its derivative as files of code, and its plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from matcalc.compiler.files.save import saved_text
from matcalc.expressions.as_source import plain_source
from matcalc.expressions.expression import Expression
from matcalc.page.questions import Question
from matcalc.pipeline.build import gradient_request, specified
from matcalc.pipeline.requests import Request, request_of
from matcalc.plain_source.language import language_of

Blocks = Sequence[tuple[str, Expression]]


def file_text(e: Expression, blocks: Blocks, request: Question) -> str:
    """Return the text of a file for the requested target, as plain source if the target has it; nothing is compiled.

    Raises: NotSupported for an operation without a form on the target.
    """
    language = language_of(request.form)
    if language:
        return plain_source([e, *(block for _, block in blocks)], language)
    spec = specified(replace(_request(e, blocks, request), target=request.form), "f")[0]
    return saved_text(spec, given=f"{request.formula.strip()} in {request.wrt}")


def plan_text(e: Expression, blocks: Blocks, request: Question) -> str:
    """Return the plan of the program: its memory, and its steps with flops and bytes."""
    return specified(_request(e, blocks, request), "f")[0].plan


def _request(e: Expression, blocks: Blocks, request: Question) -> Request:
    if request.how == "gradient":
        return gradient_request(e, request.variables, "", "matrix")
    labels = [f"{request.how}_{label.replace(', ', '_')}".rstrip("_") for label, _ in blocks]
    parts = [block for _, block in blocks]
    return request_of([e, *parts], ["value", *labels], tuple(range(len(parts) + 1)))
