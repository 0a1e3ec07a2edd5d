"""Adapts a formula to a `casadi.Function` of one column, with its exact Jacobian and second derivatives.

There are three callbacks, each the Jacobian of the previous one, since CasADi computes second derivatives as the
Jacobian of the Jacobian's function. CasADi does not reference the Python object of a callback. Each callback references
the next one, and the user must keep the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matcalc.language.identifiers import identifier
from matcalc.solvers.adapters.library import require
from matcalc.solvers.derivatives import Scalar, Values
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Inputs, read_inputs

Arrays = Mapping[Any, ArrayLike]


def casadi(
    f: Any,
    wrt: Any,
    data: Arrays | None = None,
    start: Arrays | None = None,
    sizes: Mapping[Any, int] | None = None,
    *,
    name: str = "f",
    declarations: str = "",
    dialect: str = "matrix",
    target: str = "numba",
) -> Any:
    """Return the formula `f` in the symbols `wrt` as a `casadi.Function` of the packed variables.

    Its argument is a column of all entries, row-major in the order of `wrt` (`.pack`, `.unpack`, `.x0` of the result).
    Its value is a column of the entries of f: an objective or several constraints. First and second derivatives are
    exact: Ipopt receives the Hessian of the Lagrangian. Keep a reference to the result while CasADi uses it; otherwise
    CasADi raises "Callback object has been deleted".

    Shapes: f(x) is (k, 1) for x (n, 1), where f has k entries; its Jacobian is (k, n), dense.
    Raises: as `problem`.
    """
    given = read_inputs(f, wrt, data, start, sizes, declarations, dialect, target)
    return _callbacks(given, identifier(name, "name="))


def _callbacks(given: Inputs, name: str) -> Any:
    require("casadi", "solvers")
    from casadi import DM, Callback, Sparsity

    n, formula = given.packing.size, given.formulas[0]
    k = int(np.prod([size.evaluate(given.fixed) for size in formula.node.shape]))
    values, alone = Values(given, formula), None if formula.node.shape else Scalar(given, formula)

    def value(x: Vector) -> Vector:
        return np.array([alone.both(x)[0]]) if alone else values.value(x)

    def jacobian(x: Vector) -> Vector:
        return alone.both(x)[1][None] if alone else values.jacobian(x)

    def second(x: Vector) -> Vector:
        """Return the derivative of the Jacobian, whose entries CasADi stacks by columns."""
        parts = [alone.hessian(x)] if alone else [values.curvature(x, weights) for weights in np.eye(k)]
        return np.reshape(parts, (k, n, n)).transpose(1, 0, 2).reshape(k * n, n) if k else np.zeros((0, n))

    class Layer(Callback):
        """The value, or the derivative in x of the previous layer; further inputs (nominal values) are not read."""

        def __init__(
            self, label: str, compute: Callable[[Vector], Vector], inputs: Sequence[tuple[int, int]],
            outputs: Sequence[tuple[int, int]], above: Callable[[str], Any] | None,
        ) -> None:  # fmt: skip
            Callback.__init__(self)
            self._compute, self._inputs, self._outputs, self._above = compute, inputs, outputs, above
            self._made: list[Any] = []
            self.construct(label, {})

        def get_n_in(self) -> int:
            return len(self._inputs)

        def get_n_out(self) -> int:
            return len(self._outputs)

        def get_sparsity_in(self, i: int) -> Any:
            return Sparsity.dense(*self._inputs[i])

        def get_sparsity_out(self, i: int) -> Any:
            return Sparsity(*self._outputs[i]) if i else Sparsity.dense(*self._outputs[i])

        def eval(self, arg: Sequence[Any]) -> list[Any]:
            found = self._compute(arg[0].full().reshape(-1))
            return [DM(found), *(DM(*shape) for shape in self._outputs[1:])]

        def has_jacobian(self, *_: Any) -> bool:
            return self._above is not None

        def get_jacobian(self, label: str, *_: Any) -> Any:
            assert self._above is not None
            self._made.append(self._above(label))
            return self._made[-1]

    def hessian_layer(label: str) -> Any:
        outputs = [(k * n, n), (k * n, k)]
        return Layer(label, second, [(n, 1), (k, 1), (k, n)], outputs, None)

    def jacobian_layer(label: str) -> Any:
        return Layer(label, jacobian, [(n, 1), (k, 1)], [(k, n)], hessian_layer)

    made: Any = Layer(name, value, [(n, 1)], [(k, 1)], jacobian_layer)
    made.pack, made.unpack, made.x0 = given.packing.pack, given.packing.unpack, given.x0
    return made
