"""Evaluates sums, products, powers and transposes of values, by the matrix language or by NumPy's conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from matcalc.errors import NoReference
from matcalc.evidence.written.values import (
    Value,
    aligned,
    as_float,
    as_matrix,
    as_scalar,
    exact,
    in_one_shape,
    is_one,
    switched_product,
)

Call = Callable[[str, Sequence[Value]], Value]
"""Applies the rule with this role to values."""

MOST_FACTORS, MOST_BITS = 12, 4000
"""The largest matrix power that is computed by products, and the longest exact power of a number."""
HALF = Fraction(1, 2)


def total(values: Sequence[Value], signs: Sequence[int], numpy: bool) -> Value:
    """Return a signed sum."""
    numbers = [value.exact for value in values if value.exact is not None]
    if len(numbers) == len(values):
        return exact(sum((sign * number for sign, number in zip(signs, numbers, strict=True)), start=Fraction(0)))
    axes, arrays, row = in_one_shape(values, numpy)
    found = signs[0] * arrays[0]
    for sign, array in zip(signs[1:], arrays[1:], strict=True):
        found = found + array if sign > 0 else found - array
    return Value(np.asarray(found), axes, row, fixed=all(value.fixed for value in values))


def negative(value: Value) -> Value:
    """Return -value."""
    return exact(-value.exact) if value.exact is not None else value._replace(array=-value.array)


def transposed(value: Value, numpy: bool) -> Value:
    """Return the transpose. A column becomes a row and a row a column; with `numpy` a vector is unchanged.

    Raises: NoReference for a tensor of rank above 2.
    """
    rank = value.rank
    if rank == 2:
        return Value(value.array.swapaxes(-1, -2), value.axes, value.row, None, value.fixed)
    if rank > 2:
        raise NoReference("the transpose of a tensor")
    return value if numpy or not rank else Value(value.array, value.axes, not value.row, None, value.fixed)


def chain(values: Sequence[Value], operators: Sequence[str], numpy: bool, call: Call) -> Value:
    """Return the value of a product chain, evaluated from left to right."""
    left = values[0]
    for operator, right in zip(operators, values[1:], strict=True):
        left = _operated(left, operator, right, numpy, call)
    return left


def _operated(left: Value, operator: str, right: Value, numpy: bool, call: Call) -> Value:
    if left.exact is not None and right.exact is not None and operator != "\\":
        found = _exact(left.exact, operator, right.exact)
        if found is not None:
            return exact(found)
    if operator in ("*", "@"):
        return multiplied(left, right, numpy)
    if operator == ".*":
        return by_entries(left, right, numpy)
    if operator == "./":
        return by_entries(left, reciprocal(right), numpy)
    if operator == "/" and left.rank and right.rank == 2 and right.array.size != 1:
        return multiplied(left, call("inverse", [right]), numpy)
    if operator == "/":
        return by_entries(left, reciprocal(as_scalar(right)), numpy)
    if operator == "\\":
        if not left.rank:
            return by_entries(reciprocal(left), right, numpy)
        is_square = left.rank == 2 and left.shape[0] == left.shape[1]
        return multiplied(call("inverse" if is_square else "pseudoinverse", [left]), right, numpy)
    if left.rank or right.rank or not (left.fixed and right.fixed):
        raise NoReference(f"the operator {operator}")
    axes, (a, b) = aligned([left, right])
    return Value(np.floor_divide(a, b) if operator == "//" else np.mod(a, b), axes, fixed=True)


def _exact(a: Fraction, operator: str, b: Fraction) -> Fraction | None:
    if operator in ("*", "@", ".*"):
        return a * b
    if not b:
        return None
    if operator in ("/", "./"):
        return a / b
    return Fraction(a // b) if operator == "//" else a % b


def reciprocal(value: Value) -> Value:
    """Return 1 ./ value."""
    if value.exact:
        return exact(1 / value.exact)
    return value._replace(array=np.asarray(1.0 / value.array), exact=None, fixed=False)


def by_entries(left: Value, right: Value, numpy: bool) -> Value:
    """Return the product by entries; it is 0 wherever a factor without data is 0."""
    both = [left, right]
    axes, arrays, row = in_one_shape(both, numpy)
    fixed = [one.fixed for one in both]
    return Value(switched_product(arrays, fixed), axes, row, fixed=all(fixed))


def multiplied(left: Value, right: Value, numpy: bool) -> Value:
    """Return the matrix product, or a scaling. An operand with one entry is a scalar if it does not fit otherwise."""
    rank, other = left.rank, right.rank
    if not rank or not other:
        row = (left if rank else right).row
        return by_entries(left, right, True)._replace(row=row and not numpy)
    if rank > 2 or other > 2:
        raise NoReference("the matrix product of a tensor")
    if numpy and rank == 1:
        left = left._replace(row=True)
    if _are_plain(left, right):
        found = np.asarray(np.matmul(left.array, right.array))
        return Value(found, (), left.row and other == 2 and not numpy, None, left.fixed and right.fixed)
    a, b = as_matrix(left), as_matrix(right)
    if a.shape[1] != b.shape[0]:
        if is_one(left):
            return multiplied(as_scalar(left), right, numpy)
        return multiplied(left, as_scalar(right), numpy)
    axes, arrays = aligned([a, b])
    found = np.matmul(*arrays)
    row = left.rank == 1 and left.row
    column = right.rank == 1 and not right.row
    if left.rank == 1 and not left.row and column:
        return Value(found[..., 0], axes)  # a column times one entry
    if row and column:
        found = found[..., 0, 0]
    elif row:
        found = found[..., 0, :]
    elif column:
        found = found[..., 0]
    return Value(np.asarray(found), axes, row and not column and not numpy, fixed=left.fixed and right.fixed)


def _are_plain(left: Value, right: Value) -> bool:
    """Whether NumPy multiplies two values as they are: a row or matrix and a column or matrix, without index axes."""
    if left.axes or right.axes or not (left.array.ndim == 2 or left.row) or right.row:
        return False
    return bool(left.array.shape[-1] == right.array.shape[0])


def power(base: Value, exponent: Value, elementwise: bool, numpy: bool, call: Call) -> Value:
    """Return base^exponent, or base.^exponent."""
    if base.exact is not None and exponent.exact is not None:
        found = _exact_power(base.exact, exponent.exact)
        if found is not None:
            return exact(found)
    if base.rank == 0 or elementwise:
        if exponent.rank and not elementwise:
            raise NoReference("an exponent that is not a scalar")
        return _raised(base, exponent, numpy, call)
    if base.rank != 2 or exponent.rank:
        raise NoReference("the power of a vector")
    number = exponent.exact
    if number == HALF:
        return call("matrix_root", [base])
    if number is None or number.denominator != 1 or abs(number) > MOST_FACTORS:
        return call("matrix_power", [base, exponent])
    inner = call("inverse", [base]) if number < 0 else base
    product = np.broadcast_to(np.eye(base.shape[0]), inner.array.shape)
    for _ in range(abs(int(number))):
        product = np.matmul(product, inner.array)
    return inner._replace(array=np.asarray(product), exact=None)


def _raised(base: Value, exponent: Value, numpy: bool, call: Call) -> Value:
    number = exponent.exact
    if number is None:
        return call("free_power", [base, exponent])
    if number.denominator == 1:
        found = base.array ** int(number) if number >= 0 else 1.0 / base.array ** int(-number)
    elif number == HALF:
        found = np.sqrt(base.array)
    else:
        found = base.array ** as_float(number)
    return base._replace(array=np.asarray(found), exact=None)


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if exponent.denominator != 1 or (not base and exponent < 0):
        return None
    bits = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    return base ** int(exponent) if bits * abs(int(exponent)) < MOST_BITS else None
