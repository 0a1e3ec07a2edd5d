"""Runs the compiled loop of a solver around compiled functions: many fits in one call, in threads on request.

A loop (`loop_*.py`) is plain Python that is compiled from its text, once per machine. It calls a function of
`Compiled.cfunc()` by address. The arguments are addresses too: of the variables inside the loop's vector, of the data,
which advance by a stride from fit to fit, and of the results. Nothing is packed or copied.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matcalc.compiler.call.compiled import Compiled
from matcalc.compiler.call.sparse import stored_by_name
from matcalc.compiler.kernels.modules import load_text
from matcalc.compiler.spec.result_shapes import output_shapes, solve_sizes
from matcalc.compiler.spec.spec import size_names
from matcalc.solvers.packing import Integers, Matrix, Table, Vector

HEAD = '''\
"""A loop of a solver, from {name}.py."""

from __future__ import annotations

import math

import numpy as np

from matcalc.compiler.entry.exact import exact
from matcalc.compiler.numba.jit import njit
from matcalc.compiler.call.pointer_call import call_at
from numba import types

EXACT = {{"error_model": "numpy", "fastmath": False, "nogil": True}}
SUMS = {{**EXACT, "fastmath": {{"contract", "reassoc"}}}}
'''
TYPES = {
    "int": "types.int64",
    "Vector": 'types.Array(types.float64, 1, "C")',
    "Matrix": 'types.Array(types.float64, 2, "C")',
    "Integers": 'types.Array(types.int64, 1, "C")',
    "Table": 'types.Array(types.int64, 2, "C")',
}
SHARES = 4  # parts of the fits per thread, since some fits take longer than others
COUNTS = 4  # status, steps, calls, and one more count of the loop


@cache
def loop(name: str) -> Callable[..., None]:
    """Return the compiled `fits` of a loop."""
    parts = [HEAD.format(name=name)]
    for stem in ("loop_endings", "loop_pieces", name):
        source = (Path(__file__).parent / f"{stem}.py").read_text("utf-8")
        for statement in ast.parse(source).body:
            segment = ast.get_source_segment(source, statement) or ""
            if isinstance(statement, ast.FunctionDef):
                signature = f"{_signature(statement)}, cache=True, " if statement.name == "fits" else ""
                kind = "EXACT" if stem == name else "SUMS"  # tests for rounding must not be reassociated
                parts.append(f"\n\n@njit({signature}**{kind})\n{segment}\n")
            elif isinstance(statement, ast.Assign):
                parts.append(f"{segment}\n")
    found: Callable[..., None] = load_text("".join([*parts, "\n\nrun = exact(fits)\n"]), name).module.run
    return found


def _signature(function: ast.FunctionDef) -> str:
    kinds = [TYPES[ast.unparse(a.annotation)] for a in function.args.args if a.annotation is not None]
    return f"types.void({', '.join(kinds)})"


@dataclass(frozen=True)
class Callee:
    """A compiled function with its data: `fixed` arrays by name; those in `batched` have a leading axis of fits."""

    compiled: Compiled
    fixed: Mapping[str, NDArray[Any]]
    batched: frozenset[str]
    sizes: Integers
    shapes: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(
        compiled: Compiled, values: Mapping[str, Any], batches: Mapping[str, Any], shapes: Mapping[str, Sequence[int]]
    ) -> Callee:
        """Return a function with data and sizes by name; `shapes` are those of the variables.

        Raises: ShapeError for sizes that do not fit.
        """
        spec = compiled.spec
        values = {**values, **stored_by_name(spec, values)}
        fixed, one = {}, []
        for operand in spec.arguments:
            if operand.name not in shapes:
                value = batches.get(operand.name, values.get(operand.name))
                fixed[operand.name] = np.ascontiguousarray(value, operand.dtype)
            lead = int(operand.name in batches)
            one.append(shapes[operand.name] if operand.name in shapes else fixed[operand.name].shape[lead:])
            if operand.name not in shapes and not operand.shape:  # ascontiguousarray makes numbers vectors
                one[-1] = ()
        known = solve_sizes(spec, one, {name: values[name] for name in spec.sizes})
        sizes = np.array([known[name] for name in size_names(spec)], np.int64)
        return Callee(compiled, fixed, frozenset(batches) & set(fixed), sizes, tuple(output_shapes(spec, known)))

    @property
    def entries(self) -> int:
        """The number of entries that a call writes."""
        return sum(map(prod, self.shapes))

    def entered(
        self, first: int, places: Mapping[str, int]
    ) -> tuple[int, Integers, Integers, Integers, Integers, Vector]:
        """Return the tables of addresses for calls of a loop from fit `first` on, and the array of the results."""
        inputs, strides = [], []
        for name in (a.name for a in self.compiled.spec.arguments):
            array = self.fixed.get(name)
            stride = 0 if array is None or name not in self.batched else array.strides[0]
            inputs.append(places[name] if array is None else array.ctypes.data + first * stride)
            strides.append(stride)
        results = np.empty(self.entries)
        begins = np.cumsum([0, *map(prod, self.shapes)])[:-1]
        outputs = results.ctypes.data + results.itemsize * begins.astype(np.int64)
        return (
            self.compiled.cfunc().address,
            np.array(inputs, np.int64),
            np.array(strides, np.int64),
            self.sizes,
            outputs,
            results,
        )


def addresses(x: Vector, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return the addresses of the variables inside a vector."""
    found, at = {}, x.ctypes.data
    for name, shape in shapes.items():
        found[name] = at
        at += x.itemsize * prod(shape)
    return found


def run(
    name: str,
    arguments: Callable[[int, Vector], list[Any]],
    starts: Matrix,
    options: Sequence[float],
    threads: int,
) -> tuple[Matrix, Vector, Matrix, Table]:
    """Return the solutions, values, gradients and counts of a loop from each row of `starts`.

    `arguments(first, x)` are the loop's arguments for the fits from `first` on, with the variables in x.
    """
    fits, (count, n) = loop(name), starts.shape
    X, F, G = starts.copy(), np.empty(count), np.empty((count, n))
    counts = np.zeros((count, COUNTS), np.int64)
    settings = np.array(options, np.float64)

    def part(first: int, last: int) -> None:
        x = np.empty(n)
        rows = slice(first, last)
        fits(*arguments(first, x), X[rows], F[rows], G[rows], counts[rows], settings)

    if threads == 1:
        part(0, count)
    else:
        ends = np.linspace(0, count, min(count, SHARES * threads) + 1).astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, ends[:-1], ends[1:]))
    return X, F, G, counts
