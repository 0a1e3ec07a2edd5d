"""Python's operators, said once: each hands its operands on as NumPy's operator of that name means them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from matcalc.expressions import operators
from matcalc.expressions.operators import Marked

Operation = Callable[[Marked, Marked], Marked]


class Operand(Protocol):
    """What carries an operation out, `swap` with itself on the right: what that makes, which is an expression."""

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> Any: ...


Method = Callable[[Operand, object], Any]


def _methods(operation: Operation) -> tuple[Method, Method]:
    """Return an operator's method, and the one for an operand on the right of something else."""
    return (
        lambda self, other: self._with_other(operation, other),
        lambda self, other: self._with_other(operation, other, True),
    )


class Arithmetic:
    """What makes an object an operand of `+ - * / @ **`."""

    __slots__ = ()

    __add__, __radd__ = _methods(partial(operators.add, sign=1))
    __sub__, __rsub__ = _methods(partial(operators.add, sign=-1))
    __mul__, __rmul__ = _methods(operators.multiply)
    __truediv__, __rtruediv__ = _methods(operators.divide)
    __matmul__, __rmatmul__ = _methods(operators.matmul)
    __pow__, __rpow__ = _methods(operators.power)
