"""Defines requests for compilation: outputs over the same names, and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import NamedTuple

from numpy.typing import DTypeLike

from matcalc.compiler.spec.spec import Nesting
from matcalc.evidence.written.reference import Reference as Written
from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Key, Symbol
from matcalc.expressions.printing import formula_in
from matcalc.language.containers import Results
from matcalc.language.syntax import Ast
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.symbols import Names


class Printed(NamedTuple):
    """The printed form of an output: its node, the same with marks for singular parts, and its formula."""

    shown: Node
    marked: Node
    formula: Callable[..., Ast]


class Output(NamedTuple):
    """An output: its label, its node, the unfactored form of a simplified node, and a function for its printed form.

    `written` is the reference that the compiled function is compared with; None for that of the node.
    """

    label: str
    node: Node
    unfactored: Node | None
    printed: Callable[[], Printed]
    written: Written | None = None


def as_computed(node: Node, names: Names) -> Callable[[], Printed]:
    """Return the function for the printed form of an output, which is that of the computed node."""
    return partial(Printed, node, node, partial(formula_in, node, names))


@dataclass(frozen=True, slots=True)
class Request:
    """A request: outputs over the same names, and options; `seconds` were spent on them before, by stage.

    `slopes` are triples: the output indices of a value and of its gradient, and the symbol. `fixed` are names of
    arguments and sizes that are known before any call. `results` nests the outputs in containers if there are some.
    `checkpoints` bounds the states that recurrences store.
    """

    outputs: Sequence[Output]
    names: Names
    nesting: Nesting
    name: str = "f"
    args: Sequence[Symbol] | None = None
    target: str = "numba"
    dtype: DTypeLike = "float64"
    sizes: Mapping[Key, int] | None = None
    slopes: Sequence[tuple[int, int, str]] = ()
    seconds: Sequence[tuple[str, float]] = ()
    check_facts: bool = False
    guards: str = "allow"
    fixed: Sequence[str] = ()
    check: bool = True
    results: Results | None = None
    checkpoints: object = None


def request_of(
    read: Sequence[Expression],
    labels: Sequence[str],
    nesting: Nesting = (),
    target: str = "numba",
    sizes: Mapping[Key, int] | None = None,
    name: str = "f",
) -> Request:
    """Return the request for expressions, which share their arguments."""
    outputs = [
        Output(label, e.computed, e.unfactored, partial(Printed, e.node, e.computed, e.formula), e.reference)
        for label, e in zip(labels, read, strict=True)
    ]
    return Request(outputs, reduce(Names.joined, (e.names for e in read)), nesting, name, None, target, sizes=sizes)
