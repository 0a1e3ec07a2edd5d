"""Derives the batched form of a function: a spec whose source loops over the rows of some arguments.

The original function is placed above the loop under another name, and Numba compiles both together. Nothing is
planned again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.compiler.code.code import (
    ONE,
    ZERO,
    Call,
    Code,
    Expr,
    For,
    Foreign,
    Function,
    If,
    Item,
    Length,
    Let,
    Load,
    Name,
    Op,
    Return,
    View,
)
from matcalc.compiler.code.code_text import ModuleText, Printed
from matcalc.compiler.code.print_python import text
from matcalc.compiler.kernels.native_kinds import INTEGER, Kind
from matcalc.compiler.spec.module_text import INTO, function_name, into_name
from matcalc.compiler.spec.spec import Case, CompiledSpec, Formula, Operand, Reference, size_names
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.language.identifiers import free
from matcalc.tensor.sizes.size import Size

TRIED = 3
"""The length of the batches in the self-test of a saved file."""


def batched(spec: CompiledSpec, over: Sequence[str]) -> CompiledSpec:
    """Return the spec of a function with a leading axis `batch` on the arguments `over` and on all results.

    Raises: UnknownName, NotSupported or ShapeError for arguments that cannot have this axis.
    """
    _check(spec, over)
    taken = {*spec.names, *spec.entered, *size_names(spec), *(o.name for o in spec.outputs)}
    axis = free("batch", taken)
    name = function_name(f"{spec.name}_batch", [spec.source, spec.numpy_source])
    at = ", ".join(f"{argument}[k]" for argument in over)
    return replace(
        spec,
        name=name,
        arguments=tuple(_leading(a, axis) if a.name in over else a for a in spec.arguments),
        outputs=tuple(_leading(o, axis) for o in spec.outputs),
        source=_loop(spec, spec.source, over, name, "numba") if spec.source else "",
        numpy_source=_loop(spec, spec.numpy_source, over, name, "numpy"),
        formulas=tuple(Formula(f"{f.name}[k] at {at}", f.text, "") for f in spec.formulas),
        slopes=(),
        plan=f"each k < {axis}\n{spec.plan}",
        work=f"{spec.work}, for each of {axis}",
        flops=None if spec.flops is None else spec.flops * Size.of(axis),
        oracle=None if spec.oracle is None else partial(_of_rows, spec, tuple(over)),
        costs=(),
        with_fixed=None,
    )


def _of_rows(spec: CompiledSpec, over: Sequence[str], _: Sequence[CompiledSpec]) -> Reference:
    """Return the reference values of a batch that repeats one row `TRIED` times."""
    assert spec.oracle is not None
    rows = spec.oracle([spec]).cases

    def many(array: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(array[None], TRIED, axis=0)

    def batch(row: Case) -> Case:
        data = {name: many(array) if name in over else array for name, array in row.data.items()}
        return Case(data, {name: many(array) for name, array in row.results.items()})

    return Reference(tuple(map(batch, rows)))


def _check(spec: CompiledSpec, over: Sequence[str]) -> None:
    if not over:
        raise ShapeError("batch needs at least one argument with a batch axis: over=[...]")
    known = {a.name: a for a in spec.call_operands}
    sparse = {s.declared.name for s in spec.sparse}
    for name in over:
        if name in sparse:
            raise NotSupported(f"over: {name} is sparse, and a sparse argument cannot have a batch axis")
        if name in spec.sizes:
            raise NotSupported(f"over: {name} is a size, and a size cannot have a batch axis")
        if name not in known:
            raise UnknownName(f"over: {name} is not an argument of {spec.name}({', '.join(spec.names)})")
        if known[name].dtype != "float64":
            raise NotSupported(f"over: {name} holds indices, and an index argument cannot have a batch axis")


def _leading(operand: Operand, axis: str) -> Operand:
    return replace(operand, shape=(Size.of(axis), *operand.shape), sample="", facts=(), known=())


def _loop(spec: CompiledSpec, source: str, over: Sequence[str], name: str, target: str) -> str:
    """Return the text of the function and of the loop over its rows."""
    stem, parameters = _head(source)
    one = f"{stem}_one" if target == "numba" else f"{stem}_one_{target}"
    at, first = free("k", {*parameters, one, "status", "range"}), len(spec.entered)
    operands = zip(parameters, spec.arguments, strict=False)
    batch = {p: Load(Name(p), (Name(at),)) for p, a in operands if a.name in over}
    rows: list[Expr] = [batch.get(p, Name(p)) for p in parameters[:first]]
    rows += [_row(p, at, o) for p, o in zip(parameters[first:], spec.outputs, strict=True)]
    failed = If(Op("!=", (Name("status"), ZERO)), (Return(Name("status")),))
    body = (Let("status", Call(one, tuple(rows))), failed)
    loop = For(at, Length(Name(next(iter(batch))), 0), body)
    kinds = [Kind(a.dtype, len(a.shape) + (a.name in over)) for a in spec.arguments]
    kinds += [*[INTEGER] * len(spec.sizes), *(Kind(o.memory, len(o.shape) + 1) for o in spec.outputs)]
    given = tuple(zip(parameters, kinds, strict=True))
    rows_of = Function(f"{name}_into", given, (loop, Return(ZERO)))
    return text(Code((*_items_of_row(source, one, target), rows_of)))


def _head(source: str) -> tuple[str, list[str]]:
    """Return the name of a function without its ending, and its parameters."""
    if isinstance(source, Printed):
        main = source.code.main
        return main.name.removesuffix("_into"), [name for name, _ in main.parameters]
    head = INTO.search(source)
    assert head is not None
    return head[1], source[head.end() : source.index(")", head.end())].split(", ")


def _items_of_row(source: str, one: str, target: str) -> list[Item]:
    """Return the function of a row under another name, after the functions that it calls."""
    if isinstance(source, Printed):
        *others, _ = source.code.items
        return [*others, replace(source.code.main, name=one, is_inner=True)]
    assert isinstance(source, ModuleText)
    *before, own = source.parts
    return [*map(Foreign, before), Foreign(re.sub(rf"\b{into_name(own)}\b", one, own))]


def _row(name: str, at: str, output: Operand) -> Expr:
    """Return the row of a result; that of numbers is an array of one entry."""
    if output.shape:
        return Load(Name(name), (Name(at),))
    return View(Name(name), (), Name(at), Op("+", (Name(at), ONE)))
