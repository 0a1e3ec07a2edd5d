"""Builds compiled functions from expressions: simplifies the outputs together, plans, emits and loads them.

Outputs share every common subexpression, since they are one DAG. A tangent that is declared with linear facts is
projected on entry, so that the caller's data need not be symmetric to the last bit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from matcalc.calculus.evaluate.constants import has_held_parts
from matcalc.calculus.simplify.expand import separated
from matcalc.calculus.simplify.factor import factor_all
from matcalc.calculus.simplify.simplify import simplify, simplify_all, stable_all
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.call.convert import type_of_results
from matcalc.compiler.call.function_for_target import ELSEWHERE, check_on_numpy, loaded
from matcalc.compiler.emit.blas_axes import blas_axes
from matcalc.compiler.emit.precompute import ahead_of, computed
from matcalc.compiler.emit.texts import texts_of
from matcalc.compiler.listing import cost_of, listed, work
from matcalc.compiler.plan import plan
from matcalc.compiler.plan.sparse_data.sparse import Sparse, sparse_of, takes_any_order, without_sparse
from matcalc.compiler.plan.sparse_data.sparse_meaning import Meaning
from matcalc.compiler.plan.values.estimate import Estimate
from matcalc.compiler.program import Program
from matcalc.compiler.spec.spec import (
    CompiledSpec,
    Formula,
    Later,
    Nesting,
    Operand,
    Reference,
    Slope,
    SparseOperand,
    Texts,
    flatten,
)  # fmt: skip
from matcalc.compiler.targets import ON_NUMPY, SPELLINGS, TARGETS
from matcalc.errors import NotSupported, ShapeError
from matcalc.evidence.written.reference import of_node
from matcalc.expressions.derivatives import UNCHECKED, name_of
from matcalc.expressions.expression import Expression
from matcalc.expressions.numpy_bridge.numeric_arguments import project_tangents
from matcalc.expressions.operands.handle import Derived, Wrt
from matcalc.expressions.printing import formula_in, latex_in, text_of
from matcalc.expressions.read_input import Readable, expressions, outputs_of, with_wrt
from matcalc.expressions.unused import check_used, shared
from matcalc.expressions.wrt import read_wrt
from matcalc.language.containers import Filled, Form, Path, Results, form_of, is_nesting, items, variables_in
from matcalc.language.declare import Declarations
from matcalc.language.identifiers import free, identifier, is_one_of, nearest, shown
from matcalc.language.write import text
from matcalc.pipeline.checkpoints import checkpoints_of
from matcalc.pipeline.compiled_arguments import operand_of, ordered_arguments, size_hints
from matcalc.pipeline.fixed_parts import may_save
from matcalc.pipeline.gradient_forms import GradientForms
from matcalc.pipeline.inputs import CompileInputs, GradientInputs, Inputs, Outputs
from matcalc.pipeline.requests import Output, Printed, Request, request_of
from matcalc.progress import progress_line
from matcalc.rulebook.load import is_shipped
from matcalc.tensor.nodes.node import Node, toposort
from matcalc.tensor.sizes.size import Size
from matcalc.tensor.sizes.sizes_from_shapes import Condition
from matcalc.tensor.symbols import Names, declaration, free_sizes

GUARDS = ("allow", "refuse")
TOLERANCE = {"float64": 1e-8, "float32": 1e-5}
"""Largest difference between a compiled result and the formula as written, relative to the largest entry."""


def request_for(inputs: Inputs) -> Request:
    """Read the inputs of `compile` or `value_and_gradient`; return the request.

    Raises: the errors of reading and differentiating formulas.
    """
    return value_and_gradient_request(inputs) if isinstance(inputs, GradientInputs) else compile_request(inputs)


def compile_request(inputs: CompileInputs) -> Request:
    """Return the request for `compile`."""
    start = time.perf_counter()
    flat: list[Readable] = []
    results = _flatten(outputs_of(inputs.outputs, inputs.declarations), flat)
    nesting, contained = (results, None) if is_nesting(results) else (tuple(range(len(flat))), results)
    read = expressions(flat, shared(inputs.declarations), inputs.dialect)
    check_used(inputs.declarations, flat, read, () if isinstance(inputs.args, str) else map(name_of, inputs.args or ()))
    seconds = [("parse", time.perf_counter() - start)]
    labels = [f"result{k + 1}" if len(read) > 1 else "result" for k in range(len(read))]
    request = request_of(read, labels, nesting, target=inputs.target, sizes=inputs.sizes, name=inputs.name)
    request = replace(request, args=inputs.args, dtype=inputs.dtype, guards=inputs.guards, check=inputs.check)
    request = replace(request, results=contained, seconds=seconds, check_facts=inputs.check_facts)
    return replace(request, checkpoints=inputs.checkpoints)


def value_and_gradient_request(inputs: GradientInputs) -> Request:
    """Return the request for `value_and_gradient`."""
    request = gradient_request(
        inputs.f, inputs.wrt, inputs.declarations, inputs.dialect, inputs.convention, inputs.check
    )
    request = replace(request, target=inputs.target, sizes=inputs.sizes, name=inputs.name, dtype=inputs.dtype)
    return replace(request, check_facts=inputs.check_facts, check=inputs.check, checkpoints=inputs.checkpoints)


def writers(inputs: Inputs) -> list[Callable[[], Texts]]:
    """Return a function that writes each result of a request."""
    request = request_for(inputs)
    return [partial(_texts, out, request.names) for out in request.outputs]


def gradient_request(
    f: Readable, wrt: Wrt, declarations: Declarations, dialect: str, convention: str = "projected", check: bool = True
) -> Request:
    """Return the request for a value and its gradient."""
    start = time.perf_counter()
    value = with_wrt(f, wrt, declarations, dialect, scalar=True)
    containers = variables_in(wrt, value.names.containers)
    if containers is not None:
        wrt = containers.wrt
    variables = read_wrt(wrt)
    parsed = time.perf_counter()
    if not variables.whole:
        parts = value.gradient(wrt, convention, check)
        seconds = [("parse", parsed - start), ("derive", time.perf_counter() - parsed)]
        return _with_entries(value, parts, seconds)
    gradients = GradientForms(value, variables.symbols, convention, check)
    simple = simplify(value.computed)
    printed = partial(Printed, value.node if value.has_marks else simple, simple, value.formula)
    outputs = [Output("value", simple, simple, printed, value.reference), *gradients.outputs]
    positions = tuple(range(1, len(outputs)))
    slopes = [(0, k, x.name) for k, x in zip(positions, gradients.symbols, strict=True)]
    return Request(
        outputs,
        gradients.names,
        (0, positions if isinstance(variables.symbols, (list, tuple)) else 1),
        slopes=slopes if convention == "projected" and not has_held_parts(simple) else (),
        results=None if containers is None else (0, containers.results(1)),
        seconds=[("parse", parsed - start), ("derive", gradients.seconds)],
    )


def _with_entries(value: Expression, gradients: Derived, seconds: Sequence[tuple[str, float]]) -> Request:
    """Return the request for a value and its gradients in entries of variables."""
    parts = list(gradients) if isinstance(gradients, tuple) else [gradients]
    positions = tuple(range(1, len(parts) + 1))
    labels = ["value", *(f"gradient_{k}" for k in positions)]
    nesting: Nesting = (0, positions if isinstance(gradients, tuple) else 1)
    return replace(request_of([value, *parts], labels, nesting), seconds=seconds)


def build(request: Request, among: Sequence[str] = ON_NUMPY) -> Compiled:
    """Plan, emit and load the requested function; show progress on a terminal if that takes long."""
    if among is ON_NUMPY:
        check_on_numpy(request.target)
    name = identifier(request.name, "name=")
    with progress_line(f"compiling {name}"):
        spec, own = specified(request, name)
        made = loaded(spec, own)
        made.spec = replace(spec, checked=_checked(made, request) if request.check else UNCHECKED)
        return made


def is_opaque(node: Node) -> bool:
    """Whether a node is an internal operation with several equally good values, so that it cannot be compared."""
    return node.kind in ("map", "op") and node.rule.internal and node.rule.opaque is not None


def as_saved(request: Request, name: str) -> CompiledSpec:
    """Return the source of a request; run its form for NumPy and compare it with the formulas as written.

    Raises: InternalError for a wrong result.
    """
    spec, own = specified(request, name)
    if request.target not in ON_NUMPY or not request.check:
        return spec
    return replace(spec, checked=_checked(loaded(replace(spec, target="numpy"), own), request))


def _checked(made: Compiled, request: Request) -> str:
    """Compare a compiled function with its formulas as written; return the data at which they were compared.

    Raises: InternalError for a wrong result, or for a text that is not that of the function.
    """
    from matcalc.evidence.written.compiled import Result, compiled_check
    from matcalc.pipeline.text_check import check_text

    check_text(made.spec)
    if request.target not in ON_NUMPY:
        return f"not checked: functions for the target {request.target} are not run here"
    opaque = next((n.rule for n in toposort([out.node for out in request.outputs]) if is_opaque(n)), None)
    if opaque is not None:
        return f"not checked: {opaque.spelling} {opaque.opaque}"
    results = [Result(f"compiled {out.label}", out.node, out.written or of_node(out.node)) for out in request.outputs]

    def function(data: Mapping[str, Any]) -> Sequence[Any]:
        found = flatten(request.nesting, made(*(data[name] for name in made.args)), request.name)
        return [found[k] for k in range(len(results))]

    symbols = ordered_arguments(request.names, request.args)
    exact = TOLERANCE[str(made.spec.outputs[0].dtype)]
    return compiled_check(function, results, request.names, symbols, exact, made.spec.branches)


def specified(request: Request, name: str) -> tuple[CompiledSpec, list[str]]:
    """Return the source of a request, and the names of the user's kernels and values in it."""
    target, guards = request.target, request.guards
    if not is_one_of(target, TARGETS):
        raise NotSupported(f"there is no target {shown(target)}{nearest(str(target), list(TARGETS))}")
    if not is_one_of(guards, GUARDS):
        raise NotSupported(f"guards is one of {', '.join(GUARDS)}, not {shown(guards)}")
    dtype = type_of_results(request.dtype, "" if target in ON_NUMPY else target)
    inputs, outputs, program, spent, sparse = planned(request)
    names, seconds = request.names, [*request.seconds, *spent]
    if sparse.stored and target not in ON_NUMPY:
        which = next(iter(sparse.stored)).name
        raise NotSupported(f"the target {target} takes no sparse matrices, as {which} is declared", hint=ELSEWHERE)
    assert program.proof is not None
    if guards == "refuse" and program.proof.guarded:
        raise NotSupported(f"{len(program.proof.guarded)} accesses need a guard: {program.proof.guarded[0]}")
    clock = time.perf_counter()
    name, source, numpy_source = texts_of(program, name, target)
    seconds.append(("emit", time.perf_counter() - clock))
    entered = sparse.inputs(inputs)
    text_of_plan, costs = listed(program)
    flops, moved = cost_of(costs)
    typical = Estimate(size_hints(request.sizes or {}, names, [out.node for out in request.outputs])).typical(
        dict.fromkeys(name for _, *counts in costs for size in counts for name in size.names)
    )
    index_of = {node.name: k for k, node in enumerate(entered)}
    arguments = [operand_of(node, names, sparse.dtypes) for node in entered]
    spec = CompiledSpec(
        name=name,
        arguments=(*arguments, *computed(program)),
        outputs=tuple(Operand(n, node.shape, dtype=dtype, zero_filled=n in program.zero_filled) for n, node in outputs),
        nesting=request.nesting,
        source=source,
        numpy_source=numpy_source,
        target=target,
        sizes=tuple(program.size_args),
        faults=tuple(program.faults),
        formulas=tuple(_formula(label, out, names) for (label, _), out in zip(outputs, request.outputs, strict=True)),
        slopes=tuple(Slope(value, gradient, index_of[x]) for value, gradient, x in request.slopes),
        declarations="; ".join(map(declaration, inputs)),
        version=sys.modules["matcalc"].__version__,
        plan=text_of_plan,
        costs=costs,
        typical=tuple(typical.items()),
        hinted=tuple(map(name_of, request.sizes or ())),
        seconds=tuple(seconds),
        check_facts=request.check_facts,
        conditions=(
            *(c for c in names.conditions if c.size in program.assumed),
            *(_hoisted(s) for s in program.proof.hoisted if all(s is not c.size for c in names.conditions)),
        ),
        blas_axes=blas_axes(program, target),
        branches=tuple(Condition(s, "") for kernel in program.kernels for s in kernel.branches),
        data=program.data,
        work=work(flops, moved),
        flops=flops,
        oracle=Later(__name__, "reference_of"),
        ahead=ahead_of(program, arguments, name, target),
        with_fixed=Later(__name__, "with_fixed") if _may_be_fixed(request, sparse) else None,
        sparse=tuple(
            SparseOperand(operand_of(node, names, {}), index_of[own.values.name], own not in sparse.unordered)
            for node, own in sparse.stored.items()
        ),
    )
    own = [kernel.name for kernel in program.kernels if kernel.sources]
    return spec, own + [f"value of {function.name}" for function in program.functions if function.sources]


def _may_be_fixed(request: Request, sparse: Sparse) -> bool:
    """Whether parts of a function can be computed ahead: data of Python functions may be bound in vain."""
    bound, is_plain = request.names.bound, not sparse.stored and request.checkpoints is None
    return is_plain and (not bound or may_save([n for nodes in _forms(request.outputs) for n in nodes], bound))


def with_fixed(spec: CompiledSpec, fixed: Sequence[str], sizes: Mapping[str, int]) -> CompiledSpec:
    """Return the function that runs when these arguments are fixed, read from the formulas in `spec`."""
    read = expressions([formula.computed for formula in spec.formulas], shared(spec.declarations), "matrix")
    labels, args = ([operand.name for operand in part] for part in (spec.outputs, spec.arguments))
    request = request_of(read, labels, spec.nesting, spec.target, sizes, spec.name)
    own = [c.size for c in spec.conditions]  # the formula, read again, may have more conditions than the derivative
    names = replace(request.names, conditions=tuple(c for c in request.names.conditions if c.size in own))
    request = replace(request, names=names, args=args, dtype=spec.outputs[0].dtype, fixed=fixed)
    return specified(replace(request, check_facts=spec.check_facts), spec.name)[0]


def _formula(label: str, output: Output, names: Names) -> Formula:
    """Return the formula of a result: written at once if rules may change before it is read."""
    later = Formula.later(label, partial(_texts, output, names))
    return later if is_shipped() else Formula(label, *_texts(output, names))


def _texts(output: Output, names: Names) -> Texts:
    """Return a result as text and as LaTeX, and the text of the computed form if it differs from the shown one."""
    node, marked, formula = output.printed()
    computed = text(formula_in(marked, names)) if node is not marked else ""
    if names.named_parts:
        tree = formula_in(node, names, names.named_parts)
        whole = formula_in(node, names, names.named_parts, dotted=False)
        return text_of(tree, is_named=True), latex_in(whole, names), computed
    return text_of(formula()), latex_in(formula(dotted=False), names), computed


class Planned(NamedTuple):
    """Inputs, outputs and program of a plan, with its seconds by stage."""

    inputs: list[Node]
    outputs: list[tuple[str, Node]]
    program: Program
    seconds: list[tuple[str, float]]
    sparse: Sparse


def planned(request: Request) -> Planned:
    """Simplify and plan the outputs of a request together."""
    names = request.names
    inputs = ordered_arguments(names, request.args)
    clock = time.perf_counter()
    plain, factored = _forms(request.outputs)
    inputs, nodes = project_tangents(names, inputs, [*factored, *plain])
    nodes, plain = nodes[: len(factored)], nodes[len(factored) :]
    apart = [separated(node) for node in plain]  # a term of a Hessian may have a kernel that the sum of terms lacks
    seconds = [("simplify", time.perf_counter() - clock)]
    clock = time.perf_counter()
    used = {*(node.name for node in inputs), *names.size_names, *free_sizes(nodes, names)}
    outputs = [(free(out.label, used), node) for out, node in zip(request.outputs, nodes, strict=True)]
    hints = size_hints(request.sizes or {}, names, nodes)
    assumed = [c.size for c in names.conditions]
    sparse = sparse_of(inputs, used)
    stored, others = outputs, [plain, apart]
    if sparse.stored:
        first, *others = found = without_sparse([nodes, plain, apart], sparse)
        sparse = sparse._replace(unordered=frozenset(s for s in sparse.stored.values() if takes_any_order(found, s)))
        stored = [(label, node) for (label, _), node in zip(outputs, first, strict=True)]
    program = plan(
        stored,
        sparse.inputs(inputs),
        hints,
        SPELLINGS[request.target][0],
        forms=others if not request.fixed else others[:1],  # the expanded form may cancel digits
        assumed=assumed,
        parts=names.named_parts,
        dtypes=sparse.dtypes,
        meaning=Meaning(sparse.stored.values()) if sparse.stored else None,
        fixed=request.fixed,
        by_rows=request.target == "numba",
        zero_filled=request.target == "numba",
        checkpoints=checkpoints_of(request, nodes),
    )
    return Planned(inputs, outputs, program, [*seconds, ("plan", time.perf_counter() - clock)], sparse)


def _forms(outputs: Sequence[Output]) -> tuple[list[Node], list[Node]]:
    """Return the outputs simplified, and simplified and factored; the planner computes the cheaper form.

    Derivatives are shown with shorter operations, which simplification expands again.
    """
    derived = [out.node for out in outputs if out.node is not out.unfactored]
    simple = dict(zip(derived, simplify_all(derived), strict=True))
    forms = [simple.get(out.node, out.node) for out in outputs]
    plain = [out.unfactored or node for out, node in zip(outputs, forms, strict=True)]
    return stable_all(plain), stable_all(factor_all(forms))


def _hoisted(size: Size) -> Condition:
    """Return the condition that a size is not negative, which each call tests."""
    return Condition(size, f"an intermediate array has the size {size}")


def reference_of(specs: Sequence[CompiledSpec]) -> Reference:
    """Return the expected values of saved functions; imports the many-digit evaluator only when a file is saved."""
    from matcalc.pipeline.expected_values import reference

    return reference(specs)


def _flatten(outputs: Outputs, flat: list[Readable]) -> Results:
    """Append the outputs to `flat` in order; return their numbers in tuples and containers."""

    def number_of(path: Path, output: Any) -> str:
        flat.append(output)
        return str(len(flat) - 1)

    parts = None if outputs is None else items(outputs)
    if parts is None:
        return int(number_of((), outputs))
    if not parts:
        raise ShapeError("compile needs at least one formula")
    if isinstance(outputs, (list, tuple)) and not hasattr(outputs, "_fields"):
        return tuple(_flatten(part, flat) for part in outputs)
    form = form_of(outputs, (), number_of)
    assert isinstance(form, Form)
    return Filled(form)
