"""Computes values and derivatives of one formula on flat vectors, each compiled on first use."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import matcalc as mc
from matcalc.cached import cached_property
from matcalc.expressions.expression import Expression
from matcalc.language.identifiers import free
from matcalc.solvers.hessian_diagonal import Diagonal
from matcalc.solvers.objective_from_statistics import FromTotals, from_totals
from matcalc.solvers.packing import Vector
from matcalc.solvers.problem_input import Evaluator, Inputs
from matcalc.solvers.sparse_blocks import SparseBlocks, sparse_hessian, sparse_jacobian
from matcalc.tensor.constructors import inner


class Scalar:
    """A scalar formula; one call computes value and gradient, and those of the last x are cached."""

    def __init__(self, given: Inputs, e: Expression) -> None:
        self.given, self.expression = given, e
        self._last: tuple[bytes, float, Vector] | None = None

    @cached_property
    def _value(self) -> Evaluator:
        return self.given.evaluator(self.expression)

    @cached_property
    def _both(self) -> Evaluator | FromTotals:
        compiled = mc.value_and_gradient(self.expression, self.given.names, target=self.given.target)
        return from_totals(self.given, self.expression, compiled) or self.given.called(compiled)

    @property
    def plan(self) -> str:
        """The plan of value and gradient, including parts that are computed once from fixed data."""
        return str(self._both.plan)

    def value(self, x: ArrayLike) -> float:
        """Return the value alone, for solvers that use no gradient."""
        return float(self._value(x))

    def both(self, x: ArrayLike) -> tuple[float, Vector]:
        """Return the value and the gradient, in a new array for each call, since solvers store it."""
        key = np.asarray(x, np.float64).tobytes()
        if self._last is None or self._last[0] != key:
            value, gradients = self._both(x)
            packing = self.given.packing
            self._last = key, float(value), packing.pack(dict(zip(packing.shapes, gradients, strict=True)))
        return self._last[1], self._last[2].copy()

    @cached_property
    def _hessian(self) -> Evaluator | SparseBlocks:
        rows = mc.hessian(self.expression, self.given.names)
        return sparse_hessian(self.given, rows) if self.given.sparse else self.given.evaluator([*map(list, rows)])

    def hessian(self, x: ArrayLike, **more: Any) -> Any:
        """Return the Hessian as a matrix, a CSR array for sparse derivatives."""
        if isinstance(self._hessian, SparseBlocks):
            return self._hessian(x, **more)
        packing = self.given.packing
        rows = [
            packing.columns(prod(shape), dict(zip(packing.shapes, row, strict=True)))[packing.indices(name)]
            for (name, shape), row in zip(packing.shapes.items(), self._hessian(x, **more), strict=True)
        ]
        return np.concatenate(rows)

    def hessian_pattern(self, x: ArrayLike) -> Any:
        """Return the sparse Hessian with each stored entry 1; nothing is computed at x."""
        assert isinstance(self._hessian, SparseBlocks)
        return self._hessian.pattern(x)

    @cached_property
    def _product(self) -> tuple[list[str], Evaluator]:
        taken = set(self.given.scope.scope)
        vectors = [free(f"v_{name}", taken) for name in self.given.names]
        return vectors, self.given.evaluator(list(mc.hvp(self.expression, self.given.names, vector=vectors)))

    def product(self, x: ArrayLike, v: ArrayLike) -> Vector:
        """Return the Hessian times v, of any type: SciPy may pass int8."""
        vectors, products = self._product
        packing = self.given.packing
        blocks = products(x, **dict(zip(vectors, packing.unpack(v).values(), strict=True)))
        return packing.pack(dict(zip(packing.shapes, blocks, strict=True)))

    @cached_property
    def _diagonal(self) -> Diagonal:
        rows = mc.hessian(self.expression, self.given.names)
        return Diagonal(self.given, [row[k] for k, row in enumerate(rows)])

    def diagonal(self, x: ArrayLike) -> Vector:
        """Return the diagonal of the Hessian, computed without the rest of it."""
        return self._diagonal(x)


class Values:
    """A formula of any shape as a function with flat row-major values, and its Jacobian."""

    def __init__(self, given: Inputs, e: Expression) -> None:
        self.given, self.expression = given, e

    @cached_property
    def _value(self) -> Evaluator:
        return self.given.evaluator(self.expression)

    def value(self, x: ArrayLike, **more: Any) -> Vector:
        """Return the values as a vector."""
        return np.array(self._value(x, **more), np.float64).reshape(-1)

    @cached_property
    def jacobians(self) -> Sequence[Expression]:
        """The Jacobian in each variable."""
        found: Sequence[Expression] = mc.jacobian(self.expression, self.given.names)
        return found

    @cached_property
    def _jacobian(self) -> Evaluator | SparseBlocks:
        blocks = self.jacobians
        return sparse_jacobian(self.given, blocks) if self.given.sparse else self.given.evaluator(list(blocks))

    def jacobian(self, x: ArrayLike, **more: Any) -> Any:
        """Return the Jacobian as a matrix, a row for each value; a CSR array for sparse derivatives."""
        if isinstance(self._jacobian, SparseBlocks):
            return self._jacobian(x, **more)
        packing = self.given.packing
        blocks = dict(zip(packing.shapes, self._jacobian(x, **more), strict=True))
        name, shape = next(iter(packing.shapes.items()))
        rows = np.shape(blocks[name])[: np.ndim(blocks[name]) - len(shape)]
        return packing.columns(prod(rows), blocks)

    def jacobian_pattern(self, x: ArrayLike) -> Any:
        """Return the sparse Jacobian with each stored entry 1; nothing is computed at x."""
        assert isinstance(self._jacobian, SparseBlocks)
        return self._jacobian.pattern(x)

    @cached_property
    def _weighted(self) -> tuple[str, Scalar]:
        e = self.expression
        weights = self.given.new_symbol("weights", e)
        both = Expression(inner(e.node, weights.node), e.names.joined(weights.names))
        return weights.symbols[0], Scalar(self.given, both)

    def curvature(self, x: ArrayLike, v: ArrayLike) -> Any:
        """Return the Hessian of v'c(x), which a solver adds to that of the objective."""
        name, combined = self._weighted
        shape = np.shape(self._value(x))
        weights = np.asarray(v, np.float64).reshape(shape)
        return combined.hessian(x, **{name: weights if shape else weights.item()})
