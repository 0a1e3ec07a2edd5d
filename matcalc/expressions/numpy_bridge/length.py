"""Defines the sizes in shapes: they equal their text, are numbers in formulas, and compute as integers do.

A size name has no value. A comparison has a result if the declarations decide it for all data, and raises elsewhere:
the truth of `m < n` is unknown. Outside a function written for NumPy, `==` compares the sizes themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from fractions import Fraction
from math import isfinite, isnan
from operator import index
from typing import TYPE_CHECKING, Any, NoReturn

from matcalc.errors import NotSupported, NoValue
from matcalc.expressions.numpy_bridge.by_rule import found
from matcalc.expressions.numpy_bridge.operators import Arithmetic, Method, Operation
from matcalc.rulebook.notations import spelled
from matcalc.tensor.sizes.size import Size, floordiv, is_nonnegative, maximum, minimum, modulo
from matcalc.tensor.sizes.sizes_from_shapes import Condition

if TYPE_CHECKING:
    import numpy as np

NUMPY = {"add": "+", "subtract": "-", "multiply": "*", "floor_divide": "//", "remainder": "%"}
"""NumPy's functions of two sizes that are operators."""
EXTREMA = {"larger": maximum, "smaller": minimum}
"""Operations of the rulebook that return a size for two sizes, by role."""
SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


LARGEST_POWER = 12
"""Largest exponent that is written as repeated factors, as everywhere."""
OPERATORS: dict[str, Callable[[Size, Size], Size]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": floordiv,
    "%": modulo,
}


def _operator(sign: str, formula: tuple[Method, Method] | None = None) -> tuple[Any, Any]:
    """Return an operator's method, and the one for an operand on the right; `formula` are those of formulas."""
    left, right = formula or (None, None)
    return (
        lambda self, other: self._computed(sign, other, False, left),
        lambda self, other: self._computed(sign, other, True, right),
    )


class Length(Arithmetic):
    """A size in a shape; `number` constructs its expression in a formula.

    `traced`: the size belongs to a function written for NumPy that is being traced; there `==` compares values.
    """

    __slots__ = ("length", "number", "traced")

    def __init__(self, length: Size, number: Callable[[Size, bool], Any], traced: bool = False) -> None:
        self.length, self.number, self.traced = length, number, traced

    def __reduce__(self) -> tuple[object, ...]:
        return Length, (self.length, self.number, self.traced)

    def __str__(self) -> str:
        return str(self.length)

    def __repr__(self) -> str:
        return repr(str(self.length))

    def __format__(self, form: str) -> str:
        if form:
            raise NoValue(f"the size {self} is no number yet, to be printed as {form!r}", hint=self._hint)
        return str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    # Arithmetic: with integers and sizes the result is a size, with anything else a formula.

    @property
    def expression(self) -> Any:
        """The size as a number of a formula."""
        return self.number(self.length, self.traced)

    def _with_other(self, operation: Operation, other: object, swap: bool = False) -> Any:
        if isinstance(other, str):
            return NotImplemented
        other = other.expression if isinstance(other, Length) else other
        return self.expression._with_other(operation, other, swap)

    def _computed(self, operator: str, other: object, swap: bool, formula: Method | None) -> Any:
        """Return the size computed from two sizes, or the operator's result on formulas."""
        right = _integer(other)
        if right is None:
            leaves = formula is None or hasattr(other, "places")  # a range computes with sizes itself
            return NotImplemented if leaves or formula is None else formula(self, other)
        a, b = (right, self.length) if swap else (self.length, right)
        if operator in ("//", "%") and not is_nonnegative(b):
            raise NotSupported(f"{a} {operator} {b}: the divisor is not known to be positive")
        return self._made(OPERATORS[operator](a, b))

    def _made(self, found: Size) -> int | Length:
        return int(found) if found.is_integer else Length(found, self.number, self.traced)

    __add__, __radd__ = _operator("+", (Arithmetic.__add__, Arithmetic.__radd__))
    __sub__, __rsub__ = _operator("-", (Arithmetic.__sub__, Arithmetic.__rsub__))
    __mul__, __rmul__ = _operator("*", (Arithmetic.__mul__, Arithmetic.__rmul__))
    __floordiv__, __rfloordiv__ = _operator("//", (Arithmetic.__floordiv__, Arithmetic.__rfloordiv__))
    __mod__, __rmod__ = _operator("%", (Arithmetic.__mod__, Arithmetic.__rmod__))

    def __neg__(self) -> Length:
        return Length(-self.length, self.number, self.traced)

    def __pos__(self) -> Length:
        return self

    def __abs__(self) -> Length:
        if is_nonnegative(self.length):
            return self
        if is_nonnegative(-self.length):
            return -self
        raise NoValue(f"whether the size {self} is negative is not known", hint=self._hint)

    def __pow__(self, other: object) -> Any:
        if isinstance(other, int) and not isinstance(other, bool) and 0 < other <= LARGEST_POWER:
            found = self.length
            for _ in range(other - 1):
                found = found * self.length
            return Length(found, self.number, self.traced)
        return Arithmetic.__pow__(self, other)

    def __divmod__(self, other: object) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: object) -> Any:
        return other // self, other % self

    def __round__(self, digits: int | None = None) -> Length:
        return self

    __floor__ = __ceil__ = __trunc__ = __round__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: object) -> object:
        compute = _of_two(ufunc.__name__) if method == "__call__" and not kwargs else None
        if compute is not None:
            left, right = map(_integer, inputs)
            if left is not None and right is not None:
                return self._made(compute(left, right))
        return self.expression.__array_ufunc__(ufunc, method, *inputs, **kwargs)

    # Comparisons.

    def _is(self, relation: str, other: object) -> Any:
        if isinstance(other, str):
            same = str(self) == other
            return {"==": same, "!=": not same}.get(relation, NotImplemented)
        found = _amount(other)
        if found is None and hasattr(other, "__array_ufunc__"):
            return self.expression._compared(relation, other)
        if found is None:
            return {"==": False, "!=": True}.get(relation, NotImplemented)
        if isinstance(found, float):
            return _compared_with_infinity(relation, found)
        decided = _decided(self.length, relation, found)
        if decided is None and self.traced:
            decided = _assumed(self.length, relation, found)
        if decided is None and self.traced:
            return self.expression._compared(relation, other)
        if decided is None and relation in ("==", "!="):
            return relation == "!="
        if decided is None:
            raise NoValue(f"whether {self} {relation} {other} is not decided by the declarations", hint=self._hint)
        return decided

    def __eq__(self, other: object) -> Any:
        return self._is("==", other)

    def __ne__(self, other: object) -> Any:
        return self._is("!=", other)

    def __lt__(self, other: object) -> Any:
        return self._is("<", other)

    def __le__(self, other: object) -> Any:
        return self._is("<=", other)

    def __gt__(self, other: object) -> Any:
        return self._is(">", other)

    def __ge__(self, other: object) -> Any:
        return self._is(">=", other)

    def __bool__(self) -> bool:
        return bool(Length(self.length, self.number, True)._is("!=", 0))

    # Operations that need a value.

    @property
    def _hint(self) -> str:
        return f"declare {declared_as_numbers(self.length.names)}"

    def _raise(self) -> NoReturn:
        raise NoValue(f"the size {self} is no number yet", hint=self._hint)

    def __index__(self) -> int:
        self._raise()

    def __int__(self) -> int:
        self._raise()

    def __float__(self) -> float:
        self._raise()

    def __complex__(self) -> complex:
        self._raise()


def declared_as_numbers(names: Iterable[str]) -> str:
    """Return how sizes of these names are declared, for a hint."""
    each = list(dict.fromkeys(names))
    return f"{' and '.join(each)} as {'a number' if len(each) == 1 else 'numbers'}, as in X: matrix(4, 3)"


def _of_two(name: str) -> Callable[[Size, Size], Size] | None:
    """Return the operation on sizes for one of NumPy's functions; None if its result is not a size."""
    if name in NUMPY:
        return OPERATORS[NUMPY[name]]
    own = found(name)
    return next((extremum for role, extremum in EXTREMA.items() if own is not None and own.name == spelled(role)), None)


def _integer(value: object) -> Size | None:
    """Return an integer, a truth value as 0 or 1, or a size as a size."""
    if isinstance(value, Length):
        return value.length
    if getattr(value, "shape", None):
        return None
    try:
        return Size.of(index(value))  # type: ignore[arg-type]  # raises for others
    except TypeError:
        return None


def _amount(value: object) -> Size | float | None:
    """Return a size, an infinity or NaN that a size is compared with."""
    found = _integer(value)
    if found is not None:
        return found
    if isinstance(value, (bool, int, float, Fraction)):
        return Size.of(Fraction(value)) if isfinite(value) else float(value)
    return None


def _compared_with_infinity(relation: str, other: float) -> bool:
    if isnan(other) or relation in ("==", "!="):
        return relation == "!="
    return (relation in ("<", "<=")) == (other > 0)


def _is_positive(size: Size) -> bool:
    return is_nonnegative(size - 1) or size.constant > 0 and is_nonnegative(size - Size.of(size.constant))


def _at_most(a: Size, b: Size) -> bool:
    return is_nonnegative(b - a) or minimum(a, b) is a


def _decided(a: Size, relation: str, b: Size) -> bool | None:
    """Return whether a comparison of two sizes holds for all data; None if that depends on the data."""
    if relation in (">", ">="):
        return _decided(b, SWAPPED[relation], a)
    if relation == "!=":
        same = _decided(a, "==", b)
        return None if same is None else not same
    if relation == "==":
        if a is b:
            return True
        fractional = any(c.denominator != 1 for _, c in (a - b).terms)
        never = fractional and (a - b).is_integer or _is_positive(a - b) or _is_positive(b - a)
        return False if never or fractional and _no_integer(a - b) else None
    yes, no = (_is_positive(b - a), _at_most(b, a)) if relation == "<" else (_at_most(a, b), _is_positive(a - b))
    return True if yes else False if no else None


assuming: ContextVar[list[Condition] | None] = ContextVar("assuming", default=None)
"""Collects conditions on sizes where the answer for large sizes is assumed: in single steps of a loop."""
LARGE = 1 << 20


def _assumed(a: Size, relation: str, b: Size) -> bool | None:
    """Return the answer to a comparison for large sizes, and note its condition; None where nothing is assumed."""
    noted, gap = assuming.get(), b - a
    if noted is None or any(c.denominator != 1 for _, c in gap.terms):
        return None
    above = gap.evaluate(dict.fromkeys(gap.names, LARGE)) > 0
    room = gap - 1 if above else -gap - 1
    noted.append(Condition(room, f"in a step of a loop {a} is {'less' if above else 'more'} than {b}"))
    return {"==": False, "!=": True, "<": above, "<=": above}.get(relation, not above)


def _no_integer(size: Size) -> bool:
    """Whether a size is no integer for any data: the terms with names are integers, the constant is not."""
    others = (c for monomial, c in size.terms if monomial)
    return size.constant.denominator != 1 and all(c.denominator == 1 for c in others)
