"""Writes expressions as one function of plain source, checked against the formulas as written."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from matcalc.errors import InternalError, NotSupported
from matcalc.evidence.written.reference import Reference, TreeValue
from matcalc.expressions.operands.handle import Handle
from matcalc.formula.inference.index_ranges import is_limited
from matcalc.language.identifiers import identifier
from matcalc.language.index_sums import listed
from matcalc.language.syntax import BINDERS, Ast, whole
from matcalc.plain_source.docstring import Output
from matcalc.plain_source.source import Function, source
from matcalc.tensor.symbols import Names

WITHOUT_VALUE = ": nan where"
"""The text in a check's message for a value that is NaN instead of a wrong number."""

CHECKED = "python"
"""The language whose text is run."""


def plain_source(read: Sequence[Handle], language: str = "python", name: str = "f", check: bool = True) -> str:
    """Return the text of a module with one function that returns the values of expressions.

    Raises: as `plain_module`.
    """
    return plain_module([(name, read)], language, check)


def plain_module(functions: Sequence[tuple[str, Sequence[Handle]]], language: str, check: bool = True) -> str:
    """Return the text of a module with functions, each with its name and the expressions whose values it returns.

    Raises: NotSupported for an operation without a plain form; InternalError if the text computes other numbers than
        the formulas as written.
    """
    made = [function_of(name, read) for name, read in functions]
    text = source(made, language)
    if check:
        for function, (_, read) in zip(made, functions, strict=True):
            checked(function, [e.reference for e in read], text if language == CHECKED else source([function], CHECKED))
    return text


def function_of(name: str, read: Sequence[Handle]) -> Function:
    """Return the function of some expressions, which share their arguments."""
    names = reduce(Names.joined, (e.names for e in read))
    return Function(identifier(name, "name="), _outputs(read), names)


def _outputs(read: Sequence[Handle]) -> list[Output]:
    """Return the outputs with labels: `value`, `gradient_w`, `hessian_w`; a number distinguishes equal labels."""
    made: list[Output] = []
    taken: dict[str, int] = {}
    for e in read:
        trace = e._trace
        what = trace.what if trace is not None and trace.wrt else "value"
        wrt = tuple(x.name for x in trace.wrt) if trace is not None else ()
        own = wrt if what in ("hessian", "differential") else wrt[:1]
        label = "_".join([what, *dict.fromkeys(own)])
        taken[label] = taken.get(label, 0) + 1
        label += f"_{taken[label]}" if taken[label] > 1 else ""
        along: tuple[Any, ...] = ()
        if trace is not None:
            along = trace.tangents if trace.cotangent is None else (trace.cotangent,)
        root = trace.root if trace is not None and trace.wrt else None
        directions = tuple(x.name for x in along)
        made.append(Output(label, e.node, _written(e), what, root, own, directions, wrt))
    return made


def _written(e: Handle) -> Ast | None:
    """Return the tree in which a user wrote an expression in the matrix language; None for any other origin.

    Indices with which subscripts compute, `x[i+1]`, have ranges of their own; the printed formula has slices for them.
    """
    run = e.reference.run
    if not isinstance(run, TreeValue) or run.leaves or run.numpy or run.broadcasts:
        return None
    binders = [node for node in whole(run.tree) if node.head in BINDERS]
    return None if any(is_limited(name, node) for node in binders for name in listed(node)) else run.tree


def checked(function: Function, references: Sequence[Reference], text: str) -> str:
    """Run a function of a Python text at random data; return the points compared and the largest error.

    Raises: InternalError for a wrong result, and for a text that cannot run.
    """
    import numpy as np

    from matcalc.evidence.written.compiled import Result, compiled_check

    scope: dict[str, Any] = {}
    exec(compile(text, f"<plain {function.name}>", "exec"), scope)  # noqa: S102 - the text is our own

    def run(data: Mapping[str, Any]) -> Sequence[Any]:
        try:
            found = scope[function.name](*(data[argument] for argument in function.arguments))
        except np.linalg.LinAlgError:
            raise
        except Exception as error:
            message = f"plain source fails: {type(error).__name__}: {error}"
            raise InternalError(message, hint="report it with the formula") from error
        return found if len(function.outputs) > 1 else [found]

    results = [Result(o.label, o.node, r) for o, r in zip(function.outputs, references, strict=True)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return compiled_check(run, results, function.names, function.names.ordered())
        except InternalError as fault:
            if WITHOUT_VALUE in fault.message:
                message = "plain source gives NaN where the formula has a value, as where 0 multiplies an infinity"
                raise NotSupported(
                    message, hint="mc.compile and matcalc export --style fast take care of that"
                ) from None
            raise
