"""Adapts a formula to a `casadi.Function` of one column, with its exact Jacobian and second derivatives.

There are three callbacks, each the Jacobian of the previous one, since CasADi computes second derivatives as the
Jacobian of the Jacobian's function. CasADi does not reference the Python object of a callback. Each callback references
the next one, and the user must keep the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matcalc.language.identifiers import identifier
from matcalc.solvers.adapters.library import require
from matcalc.solvers.derivatives import Scalar, Values
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Inputs, read_inputs
from matcalc.solvers.sparse_blocks import SecondDerivatives

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
    sparse: bool = False,
) -> Any:
    """Return the formula `f` in the symbols `wrt` as a `casadi.Function` of the packed variables.

    Its argument is a column of all entries, row-major in the order of `wrt` (`.pack`, `.unpack`, `.x0` of the result).
    Its value is a column of the entries of f: an objective or several constraints. First and second derivatives are
    exact: Ipopt receives the Hessian of the Lagrangian. Keep a reference to the result while CasADi uses it; otherwise
    CasADi raises "Callback object has been deleted". With `sparse`, Jacobian and Hessian have the fixed patterns of
    `compile(..., sparse=True)`, and Ipopt factorises sparse matrices.

    Shapes: f(x) is (k, 1) for x (n, 1), where f has k entries; its Jacobian is (k, n).
    Raises: as `problem`.
    """
    given = replace(read_inputs(f, wrt, data, start, sizes, declarations, dialect, target), sparse=sparse)
    return _callbacks(given, identifier(name, "name="))


class Derivatives(NamedTuple):
    """A formula with k entries and its derivatives, as functions of the vector of the variables.

    `second` is the derivative of the Jacobian, whose entries CasADi stacks by columns: (k*n, n). `patterns` return
    sparse derivatives with each stored entry 1; they are None for dense derivatives.
    """

    value: Callable[[Vector], Any]
    jacobian: Callable[[Vector], Any]
    second: Callable[[Vector], Any]
    patterns: tuple[Callable[[Vector], Any] | None, Callable[[Vector], Any] | None] = (None, None)


def _derivatives(given: Inputs, n: int, k: int) -> Derivatives:
    formula = given.formulas[0]
    values, alone = Values(given, formula), None if formula.node.shape else Scalar(given, formula)
    if alone is not None:
        patterns = (None, alone.hessian_pattern if given.sparse else None)
        return Derivatives(lambda x: alone.both(x)[0], lambda x: alone.both(x)[1][None], alone.hessian, patterns)
    if given.sparse:
        both = SecondDerivatives(given, values.jacobians, k)
        return Derivatives(values.value, values.jacobian, both, (values.jacobian_pattern, both.pattern))

    def second(x: Vector) -> Vector:
        parts = [values.curvature(x, weights) for weights in np.eye(k)]
        return np.reshape(parts, (k, n, n)).transpose(1, 0, 2).reshape(k * n, n) if k else np.zeros((0, n))

    return Derivatives(values.value, values.jacobian, second)


def _callbacks(given: Inputs, name: str) -> Any:
    require("casadi", "solvers")
    from casadi import DM, Callback, Sparsity

    n, formula = given.packing.size, given.formulas[0]
    k = int(np.prod([size.evaluate(given.fixed) for size in formula.node.shape]))
    found = _derivatives(given, n, k)

    def pattern(of: Callable[[Vector], Any] | None, rows: int, columns: int) -> Any:
        """Return the pattern of a CSR array, which CasADi stores by columns."""
        if of is None:
            return Sparsity.dense(rows, columns)
        stored = of(np.zeros(n)).tocsc()
        return Sparsity(rows, columns, stored.indptr.tolist(), stored.indices.tolist())

    slopes, bends = pattern(found.patterns[0], k, n), pattern(found.patterns[1], k * n, n)

    class Layer(Callback):
        """The value, or the derivative in x of the previous layer; further inputs (nominal values) are not read."""

        def __init__(
            self, label: str, compute: Callable[[Vector], Any], inputs: Sequence[Any], outputs: Sequence[Any],
            above: Callable[[str], Any] | None, derivative: Any,
        ) -> None:  # fmt: skip
            Callback.__init__(self)
            self._compute, self._inputs, self._outputs, self._above = compute, inputs, outputs, above
            self._derivative = derivative
            self._made: list[Any] = []
            self.construct(label, {})

        def get_n_in(self) -> int:
            return len(self._inputs)

        def get_n_out(self) -> int:
            return len(self._outputs)

        def get_sparsity_in(self, i: int) -> Any:
            return self._inputs[i]

        def get_sparsity_out(self, i: int) -> Any:
            return self._outputs[i]

        def eval(self, arg: Sequence[Any]) -> list[Any]:
            made = self._compute(arg[0].full().reshape(-1))
            first = DM(self._outputs[0], made.tocsc().data) if hasattr(made, "tocsc") else DM(made)
            return [first, *map(DM, self._outputs[1:])]

        def has_jacobian(self, *_: Any) -> bool:
            return self._above is not None

        def get_jacobian(self, label: str, *_: Any) -> Any:
            assert self._above is not None
            self._made.append(self._above(label))
            return self._made[-1]

        def has_jac_sparsity(self, output: int, argument: int) -> bool:
            return self._above is not None

        def get_jac_sparsity(self, output: int, argument: int, symmetric: bool) -> Any:
            if output == argument == 0:
                return self._derivative
            return Sparsity(self._outputs[output].numel(), self._inputs[argument].numel())

    x, f = Sparsity.dense(n, 1), Sparsity.dense(k, 1)

    def hessian_layer(label: str) -> Any:
        outputs = [bends, Sparsity(k * n, k)]
        return Layer(label, found.second, [x, f, slopes], outputs, None, None)

    def jacobian_layer(label: str) -> Any:
        return Layer(label, found.jacobian, [x, f], [slopes], hessian_layer, bends)

    made: Any = Layer(name, found.value, [x], [f], jacobian_layer, slopes)
    made.pack, made.unpack, made.x0 = given.packing.pack, given.packing.unpack, given.x0
    return made
