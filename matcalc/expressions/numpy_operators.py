"""Python's operators, said once: each hands its operands on as NumPy's operator of that name means them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matcalc.expressions import operators
from matcalc.expressions.operators import Marked

Operation = Callable[[Marked, Marked], Marked]


class Arithmetic:
    """What makes an object an operand of `+ - * / @ **`; `_with_other` carries an operation out."""

    __slots__ = ()

    def _with_other(self, operation: Operation, other: Any, swap: bool = False) -> Any:
        raise NotImplementedError

    def __add__(self, other: Any) -> Any:
        return self._with_other(lambda a, b: operators.add(a, b, 1), other)

    def __radd__(self, other: Any) -> Any:
        return self._with_other(lambda a, b: operators.add(a, b, 1), other, True)

    def __sub__(self, other: Any) -> Any:
        return self._with_other(lambda a, b: operators.add(a, b, -1), other)

    def __rsub__(self, other: Any) -> Any:
        return self._with_other(lambda a, b: operators.add(a, b, -1), other, True)

    def __mul__(self, other: Any) -> Any:
        return self._with_other(operators.multiply, other)

    def __rmul__(self, other: Any) -> Any:
        return self._with_other(operators.multiply, other, True)

    def __truediv__(self, other: Any) -> Any:
        return self._with_other(operators.divide, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._with_other(operators.divide, other, True)

    def __matmul__(self, other: Any) -> Any:
        return self._with_other(operators.matmul, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._with_other(operators.matmul, other, True)

    def __pow__(self, exponent: Any) -> Any:
        return self._with_other(operators.power, exponent)

    def __rpow__(self, base: Any) -> Any:
        return self._with_other(operators.power, base, True)
