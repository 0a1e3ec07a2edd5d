"""Writes expressions as one function of plain source, checked against the formulas as written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from matcalc.evidence.written.compiled import Result, compiled_check
from matcalc.evidence.written.reference import Reference, TreeValue
from matcalc.expressions.handle import Handle
from matcalc.language.identifiers import identifier
from matcalc.language.syntax import Ast
from matcalc.plain_source.docstring import Output
from matcalc.plain_source.source import arguments_of, source
from matcalc.tensor.symbols import Names

CHECKED = "python"
"""The language whose text is run."""


def plain_source(read: Sequence[Handle], language: str = "python", name: str = "f", check: bool = True) -> str:
    """Return the text of a module with one function that returns the values of expressions.

    Raises: NotSupported for an operation without a plain form; InternalError if the text computes other numbers than
        the formulas as written.
    """
    names = reduce(Names.joined, (e.names for e in read))
    outputs = _outputs(read)
    called = identifier(name, "name=")
    text = source(outputs, names, called, language)
    if check:
        checked(outputs, [e.reference for e in read], names, called)
    return text


def _outputs(read: Sequence[Handle]) -> list[Output]:
    """Return the outputs with labels: `value`, `gradient_w`, `hessian_w`; a number tells equal labels apart."""
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
        made.append(Output(label, e.node, _written(e), what, root, own, tuple(x.name for x in along)))
    return made


def _written(e: Handle) -> Ast | None:
    """Return the tree in which a user wrote an expression in the matrix language; None for any other origin."""
    run = e.reference.run
    if isinstance(run, TreeValue) and not run.leaves and not run.numpy and not run.broadcasts:
        return run.tree
    return None


def checked(outputs: Sequence[Output], references: Sequence[Reference], names: Names, name: str) -> str:
    """Run the Python form of the outputs at random data; return the points compared and the largest error.

    Raises: InternalError for a wrong result.
    """
    text = source(outputs, names, name, CHECKED)
    scope: dict[str, Any] = {}
    exec(compile(text, f"<plain {name}>", "exec"), scope)  # noqa: S102 - the text is our own
    arguments = arguments_of(outputs, names)

    def run(data: Mapping[str, Any]) -> Sequence[Any]:
        found = scope[name](*(data[argument] for argument in arguments))
        return found if len(outputs) > 1 else [found]

    results = [Result(o.label, o.node, r) for o, r in zip(outputs, references, strict=True)]
    return compiled_check(run, results, names, names.ordered())
