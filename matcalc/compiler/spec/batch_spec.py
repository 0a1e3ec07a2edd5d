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

from matcalc.compiler.spec.module_text import INDENT, INTO, function_name
from matcalc.compiler.spec.spec import Case, CompiledSpec, Formula, Operand, Reference, size_names
from matcalc.errors import NotSupported, ShapeError, UnknownName
from matcalc.language.identifiers import free
from matcalc.tensor.sizes.size import Size

ONE = '@njit(error_model="numpy", fastmath=False)'
"""The decorator of the function that the loop calls."""


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
        source=_loop(spec, over, name, "numba") if spec.source else "",
        numpy_source=_loop(spec, over, name, "numpy"),
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


def _loop(spec: CompiledSpec, over: Sequence[str], name: str, target: str) -> str:
    """Return the text of the function and of the loop over its rows."""
    text = spec.source if target == "numba" else spec.numpy_source
    head = INTO.search(text)
    assert head is not None
    one = f"{head[1]}_one" if target == "numba" else f"{head[1]}_one_{target}"
    parameters = text[head.end() : text.index(")", head.end())].split(", ")
    taken = {*parameters, one, "status", "range"}
    at = free("k", taken)
    given = parameters[: len(spec.arguments)]
    batch = {p for p, a in zip(given, spec.arguments, strict=True) if a.name in over}
    results = parameters[len(spec.entered) :]
    rows = [f"{p}[{at}]" if p in batch else p for p in parameters[: len(spec.entered)]]
    rows += [f"{p}[{at}]" if o.shape else f"{p}[{at}:{at} + 1]" for p, o in zip(results, spec.outputs, strict=True)]
    first = next(p for p in given if p in batch)
    own = re.sub(rf"\b{head[1]}_into\b", one, text[head.start() :]).strip("\n")
    lines = [
        f"def {name}_into({', '.join(parameters)}):",
        f"{INDENT}for {at} in range({first}.shape[0]):",
        f"{INDENT * 2}status = {one}({', '.join(rows)})",
        f"{INDENT * 2}if status != 0:",
        f"{INDENT * 3}return status",
        f"{INDENT}return 0",
    ]
    mark = f"{ONE}\n" if target == "numba" else ""
    return f"{text[: head.start()]}{mark}{own}\n\n\n" + "\n".join(lines) + "\n"
