"""Provides `scores`, the gradients of all summands of a sum, and `batch`, a function for each row of its arguments."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from matcalc.api.compile import as_called
from matcalc.calculus.derive.summands import summands
from matcalc.calculus.derive.unrestricted import unrestricted
from matcalc.calculus.simplify.simplify import simplify
from matcalc.compiler.call.bound import Bound
from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.call.with_containers import WithContainers
from matcalc.compiler.spec.batch_spec import batched
from matcalc.errors import NotSupported, ShapeError
from matcalc.evidence.explain.derivation import Derivation
from matcalc.evidence.written.claim import Claim
from matcalc.evidence.written.verify import verify
from matcalc.expressions.derivatives import name_of
from matcalc.expressions.expression import Expression
from matcalc.expressions.operands.handle import Key, Symbol, Wrt
from matcalc.expressions.read_input import Readables, with_wrt
from matcalc.language.containers import variables_in
from matcalc.language.declare import Declarations
from matcalc.language.identifiers import shown
from matcalc.pipeline.build import build
from matcalc.pipeline.requests import request_of
from matcalc.progress import progress_line
from matcalc.tensor.constructors import product
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


def scores(
    f: Readables,
    wrt: Wrt,
    over: str | int,
    declarations: Declarations = "",
    dialect: str = "matrix",
    target: str = "numba",
    sizes: Mapping[Key, int] | None = None,
    name: str = "f",
    check: bool = True,
) -> Compiled:
    """Return a compiled function of the gradients of the summands of `f`, a sum over the axis of length `over`.

    Row k is the gradient of summand k; the rows add up to the gradient of `f`. With m summands, a term `m*t` of `f`
    adds `t` to each. The result is a tuple if `wrt` is a list, a container if it is one. The scores and their sum
    are compared with the formula as written; `check=False` omits this.

    Shapes: f (); result (over, ...), as `wrt` behind the first axis.
    Raises: ShapeError if f is not a scalar; NotSupported if f is not a sum over one axis of this length (a
        penalty belongs to no row); UnknownName; NotDifferentiable; the errors of reading f.
    """
    start = time.perf_counter()
    if not isinstance(over, (str, int)):
        raise TypeError(f"over= is the name of a size or a number, not {shown(over)}")
    value = with_wrt(f, wrt, declarations, dialect)
    containers = variables_in(wrt, value.names.containers)
    wrt = wrt if containers is None else containers.wrt
    if value.node.shape:
        raise ShapeError("scores needs a scalar, a sum over rows", hint="for a result with entries use jacobian")
    free = unrestricted(value.computed, value.symbols_of(wrt))
    node = summands(simplify(free.root), Size.of(over))
    if node is None:
        hint = "leave out terms that belong to no row, as a penalty; rows are one axis of this length, not two"
        raise NotSupported(f"the formula is no sum over {over} alone", hint=hint)
    parts = Expression(free.restored(node), value.names).jacobian(wrt, check=check)
    made = list(parts) if isinstance(parts, tuple) else [parts]
    if check:
        _check_total(value, made, value.symbols_of(wrt))
    labels = [f"scores_{k + 1}" for k in range(len(made))] if len(made) > 1 else ["scores"]
    request = request_of(made, labels, tuple(range(len(made))) if isinstance(parts, tuple) else 0, target, sizes, name)
    compiled = build(replace(request, seconds=[("derive", time.perf_counter() - start)], check=check))
    return as_called(compiled, value.names, None if containers is None else containers.results(0))


def _check_total(f: Expression, rows: Sequence[Expression], xs: Sequence[Node]) -> None:
    """Compare the sum of the rows with the slopes of the formula as written.

    Raises: InternalError if it is not the gradient.
    """
    claims = []
    for row, x in zip(rows, xs, strict=True):
        axes = tuple(range(row.node.rank))
        total = product(1, [(row.computed, axes)], axes[1:])
        claims.append(Claim(total, Derivation("gradient", f.node, (x,)), f"the sum of the scores in {x.name}"))
    verify(iter(claims), f.reference, f.names)


def batch(fn: Compiled | Bound | WithContainers, over: Symbol | Sequence[Symbol]) -> Compiled:
    """Return a compiled function with a leading batch axis on the arguments `over` and on all results.

    The batch is one compiled loop around the function; the other arguments are the same for all of it. A fault stops
    the loop. Of a container, `over="params"` is all its arrays, `over="params.W"` one of them.

    Raises: UnknownName for a name that is not an argument; NotSupported for indices (integers) and for sizes; TypeError
        if `fn` is no compiled function.
    """
    if isinstance(fn, Bound):
        return cast("Compiled", batch(fn.whole, over).bind(fn.fixed))
    if isinstance(fn, WithContainers):
        inside = variables_in(over, fn.forms)
        flat = batch(fn.flat, over if inside is None else inside.wrt)
        return cast("Compiled", WithContainers(flat, fn.forms, fn.results, fn.fixed))
    if not isinstance(fn, Compiled):
        raise TypeError(f"batch takes a compiled function, not {shown(fn)}: mc.batch(mc.compile(...), over=...)")
    names = list(over) if isinstance(over, (list, tuple)) else [over]
    spec = batched(fn.spec, [name_of(name) for name in names])
    with progress_line(f"compiling {spec.name}"):
        return Compiled(spec)
