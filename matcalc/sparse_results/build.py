"""Builds functions with sparse results: a compiled function of the entries, and the patterns of the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from matcalc.compiler.plan.sparse_data.sparse import is_sparse
from matcalc.compiler.spec.spec import flatten
from matcalc.compiler.targets import ON_NUMPY
from matcalc.errors import NotSupported
from matcalc.evidence.written.compiled import Result, compiled_check
from matcalc.evidence.written.reference import of_node
from matcalc.language.identifiers import free
from matcalc.pipeline import build
from matcalc.pipeline.compiled_arguments import operand_of, ordered_arguments
from matcalc.pipeline.requests import Output, Request, as_computed
from matcalc.sparse_results.function import SparseFunction
from matcalc.sparse_results.results import SparseResult, sparse_result
from matcalc.tensor.constructors import symbol
from matcalc.tensor.nodes.node import Node, everything, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.symbols import Names, all_sizes

TOLERANCE = 1e-8
"""Largest difference from the formula as written, relative to the largest entry."""


def sparse_function(request: Request, rows: Sequence[int | None] | None = None) -> SparseFunction:
    """Return the function of a request, in which results that are matrices are SciPy CSR arrays.

    `rows` is for each result the number of leading axes that are rows of a matrix, or None for an array; by default a
    result with two axes is a matrix.

    Raises: NotSupported for a result with more axes, or for a target whose arrays are not NumPy's; InternalError for a
        wrong result; what compiling raises.
    """
    if request.target not in ON_NUMPY:
        hint = "use target='numba' or target='numpy'"
        raise NotSupported(f"the target {request.target} has no sparse results", hint=hint)
    names = request.names
    inputs = ordered_arguments(names, request.args)
    used = {*names.scope, *all_sizes([out.node for out in request.outputs], names)}
    stored, values = _values_of(inputs, used)
    results = [
        None if count is None else sparse_result(out.node, count, values, used)
        for out, count in zip(request.outputs, rows or map(_rows_of, request.outputs), strict=True)
    ]
    nodes = [out.node if r is None else r.node for out, r in zip(request.outputs, results, strict=True)]
    made = build.build(_of_entries(request, nodes, [*inputs, *_new(nodes, results, values.values())]))
    sizes = [
        n for n in all_sizes([out.node for out in request.outputs], names, inputs) if n in made.spec.size_arguments
    ]
    operands = [operand_of(node, names, {}) for node in inputs]
    function = SparseFunction(made, operands, results, request.nesting, sizes, stored, request.name)
    function.checked = _checked(function, request, inputs) if request.check else made.checked
    return function


def _rows_of(output: Output) -> int | None:
    """Return the number of leading axes of a result that are rows of a sparse matrix; None for an array."""
    if output.node.rank > 2:
        hint = 'write layout="vec" in jacobian() or hessian() for a matrix'
        raise NotSupported(f"{output.label} has {output.node.rank} axes: only a matrix can be sparse", hint=hint)
    return 1 if output.node.rank == 2 else None


def _values_of(inputs: Sequence[Node], used: set[str]) -> tuple[dict[str, str], dict[Node, Node]]:
    """Return for each sparse symbol a new symbol for the values of its stored entries, by name and by node."""
    values = {
        node: symbol(free(f"{node.name}_values", used), (Size.of(free(f"{node.name}_count", used)),))
        for node in inputs
        if is_sparse(node)
    }
    return {node.name: own.name for node, own in values.items()}, values


def _new(nodes: Sequence[Node], results: Sequence[SparseResult | None], values: Any) -> list[Node]:
    """Return the new symbols that occur in the formulas of entries."""
    symbols = [*values, *(node for r in results if r is not None for node in r.arguments)]
    there = set(everything(nodes)) | {s for n in everything(nodes) if n.kind == "selector" for s in toposort(n.args)}
    return [node for node in symbols if node in there]


def _of_entries(request: Request, nodes: Sequence[Node], arguments: Sequence[Node]) -> Request:
    """Return the request for the vectors of entries and the other results."""
    symbols = {node.name: node for node in arguments}
    names: Names = replace(
        request.names, symbols={**request.names.symbols, **symbols}, written=tuple(symbols), parts={}
    )
    outputs = [
        out if node is out.node else Output(out.label, node, None, as_computed(node, names))
        for out, node in zip(request.outputs, nodes, strict=True)
    ]
    return replace(
        request, outputs=outputs, names=names, args=[node.name for node in arguments], results=None,
        nesting=tuple(range(len(outputs))), slopes=(), name=f"{request.name}_entries",
    )  # fmt: skip


def _checked(function: SparseFunction, request: Request, inputs: Sequence[Node]) -> str:
    """Compare a function with its formulas as written; return the data at which they were compared."""
    results = [Result(f"compiled {out.label}", out.node, out.written or of_node(out.node)) for out in request.outputs]

    def called(data: Mapping[str, Any]) -> Sequence[Any]:
        found: Any = flatten(request.nesting, function(*(data[name] for name in function.args)), request.name)
        pairs = enumerate(zip(request.outputs, function.results, strict=True))
        return [found[k] if r is None else found[k].toarray().reshape(_shape(out.node, data)) for k, (out, r) in pairs]

    return compiled_check(called, results, request.names, list(inputs), TOLERANCE)


def _shape(node: Node, data: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(size.evaluate(data) for size in node.shape)
