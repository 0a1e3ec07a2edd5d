"""NumPy arrays with a tangent: second derivatives of plain NumPy code, by complex steps of its tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RULES: dict[Any, Callable[..., Any]] = {}
"""Differentials by the function of NumPy: of the values and tangents of its operands, and the result."""


class Dual:
    """A value and its tangent; operators and functions of NumPy carry both."""

    __slots__ = ("tangent", "value")

    def __init__(self, value: Any, tangent: Any) -> None:
        self.value, self.tangent = np.asarray(value), np.asarray(tangent)

    @property
    def T(self) -> Dual:  # noqa: N802 - as NumPy
        return Dual(self.value.T, self.tangent.T)

    def __getitem__(self, at: Any) -> Dual:
        return Dual(self.value[at], self.tangent[at])

    def __setitem__(self, at: Any, new: Any) -> None:
        new = dual(new)
        self.value[at], self.tangent[at] = new.value, new.tangent

    def __array_ufunc__(self, function: Any, method: str, *operands: Any, **options: Any) -> Any:
        assert method == "__call__" and not options
        return apply(function, *operands)

    def __array_function__(self, function: Any, types: Any, operands: Any, options: Any) -> Any:
        return apply(function, *operands, **options)

    def __add__(self, other: Any) -> Any:
        return apply(np.add, self, other)

    def __sub__(self, other: Any) -> Any:
        return apply(np.subtract, self, other)

    def __rsub__(self, other: Any) -> Any:
        return apply(np.subtract, other, self)

    def __mul__(self, other: Any) -> Any:
        return apply(np.multiply, self, other)

    def __matmul__(self, other: Any) -> Any:
        return apply(np.matmul, self, other)

    def __truediv__(self, other: Any) -> Any:
        return apply(np.divide, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return apply(np.divide, other, self)

    def __rmatmul__(self, other: Any) -> Any:
        return apply(np.matmul, other, self)

    def __pow__(self, power: int) -> Any:
        return Dual(self.value**power, power * self.value ** (power - 1) * self.tangent)

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.tangent)

    __radd__, __rmul__ = __add__, __mul__


def dual(value: Any) -> Dual:
    """Return a value with a tangent of zeros."""
    return value if isinstance(value, Dual) else Dual(value, np.zeros(np.shape(value)))


def apply(function: Any, *operands: Any, **options: Any) -> Dual:
    """Return a function of operands, with its tangent by the table.

    Raises: KeyError for a function without an entry.
    """
    values, tangents = zip(*((x.value, x.tangent) for x in map(dual, operands)), strict=True)
    found = function(*values, **options)
    if function in LINEAR:
        return Dual(found, function(*tangents, **options))
    return Dual(found, RULES[function](values, tangents, found))


LINEAR = frozenset([np.add, np.subtract, np.sum, np.trace])
RULES.update(
    {
        np.multiply: lambda x, d, y: d[0] * x[1] + x[0] * d[1],
        np.matmul: lambda x, d, y: d[0] @ x[1] + x[0] @ d[1],
        np.outer: lambda x, d, y: np.outer(d[0], x[1]) + np.outer(x[0], d[1]),
        np.divide: lambda x, d, y: (d[0] - y * d[1]) / x[1],
        np.linalg.inv: lambda x, d, y: -y @ d[0] @ y,
        np.exp: lambda x, d, y: y * d[0],
        np.log: lambda x, d, y: d[0] / x[0],
        np.tanh: lambda x, d, y: (1 - y**2) * d[0],
        np.sin: lambda x, d, y: np.cos(x[0]) * d[0],
        np.where: lambda x, d, y: np.where(x[0], d[1], d[2]),
    }
)
