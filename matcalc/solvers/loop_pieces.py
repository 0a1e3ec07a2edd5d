"""Functions shared by the compiled loops of solvers, as plain Python whose text `compiled_loops.py` compiles.

A loop is compiled once for all objectives: it calls an objective by its address, with tables of the addresses of the
arrays that are read and written. The text uses no NumPy functions, since each takes a second to compile. A step to a
point where the objective is not finite or its linear algebra fails is rejected.
"""

from __future__ import annotations

import math

from matcalc.compiler.call.pointer_call import call_at
from matcalc.solvers.loop_endings import FAULT, NOT_FINITE
from matcalc.solvers.packing import Integers, Vector

EPSILON = 2.0**-52


def evaluated(address: int, inputs: Integers, sizes: Integers, outputs: Integers, results: Vector) -> int:
    """Call an objective; return 0, NOT_FINITE if a result is not finite, or FAULT plus a number for linear algebra."""
    status: int = call_at(address, inputs, sizes, outputs)
    if status != 0:
        return FAULT + status
    for k in range(results.size):
        if not abs(results[k]) < math.inf:
            return NOT_FINITE
    return 0


def dot(a: Vector, b: Vector) -> float:
    """a'*b."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


def largest(a: Vector) -> float:
    """The largest magnitude of an entry, 0 without entries."""
    most = 0.0
    for k in range(a.size):
        most = max(most, abs(a[k]))
    return most


def copied(a: Vector, out: Vector) -> None:
    """out = a."""
    for k in range(a.size):
        out[k] = a[k]


def moved(a: Vector, step: float, d: Vector, out: Vector) -> None:
    """out = a + step*d."""
    for k in range(a.size):
        out[k] = a[k] + step * d[k]


def advanced(inputs: Integers, strides: Integers) -> None:
    """Advance the addresses of one fit's data to those of the next fit."""
    for k in range(inputs.size):
        inputs[k] += strides[k]
