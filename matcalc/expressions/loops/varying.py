"""Defines slices whose number of entries differs from step to step, `x[:t]` and `x[t:]`.

Such a slice holds the entries of all steps and the condition on those of this step. Elementwise functions apply to all
of them; a reduction along the axis replaces the others by an entry that does not count: 0 in a sum, -inf in a maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.numbers import deciding, numbers_of
from matcalc.expressions.loops.steps import ZERO, Stepping, stepping
from matcalc.expressions.loops.subscripts import at_step, check_inside, decides, place_of
from matcalc.expressions.numpy_bridge.arguments import is_array, size_of
from matcalc.tensor.constructors import add, product, selector_alone, size_number
from matcalc.tensor.leading_axis import cut, leading, numbers, trailing
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.selectors import Selector
from matcalc.tensor.sizes.size import Size, is_nonnegative

Make = Callable[[Node], Any]
"""Returns a node as an array of the traced function."""
HINT = "sum up in an inner loop, for j in range(t);  or write np.cumsum(x), or a window x[t:t + p]"


def part_at_step(array: Any, at: Any, make: Make) -> Any:
    """Return the part of an array that a step reads; None for any other part.

    Raises: NotSupported, ShapeError.
    """
    if (varying := varying_slice(array, at, make)) is not None:
        return varying
    if (found := at_step(array.node, at)) is None:
        return None
    part = make(found[0])
    part.lock(array.argument)
    return part[found[1]] if found[1] else part


def varying_slice(array: Any, at: Any, make: Make) -> Any:
    """Return a part of an array whose number of entries a step decides; None for any other part.

    Raises: NotSupported, ShapeError.
    """
    parts = at if isinstance(at, tuple) else (at,)
    mine = [k for k, part in enumerate(parts) if isinstance(part, slice) and _one_bound(part) is not None]
    if not mine:
        return None
    axis, part = mine[0], parts[mine[0]]
    is_plain = all(isinstance(x, (slice, int)) or is_array(x) and not x.node.shape for x in parts)
    if len(mine) > 1 or part.step is not None or not is_plain or len(parts) > array.ndim:
        _refuse("with other subscripts")
    return _entries(array, parts, axis, make)


def _one_bound(part: slice) -> Stepping | None:
    """Return the step that decides one bound of a slice, and not the other."""
    decided = [[one for one in stepping.get() if decides(one, bound)] for bound in (part.start, part.stop)]
    if bool(decided[0]) == bool(decided[1]):
        return None
    return (decided[0] or decided[1])[-1]


def _entries(array: Any, parts: Sequence[Any], axis: int, make: Make) -> Varying:
    part, one = parts[axis], _one_bound(parts[axis])
    assert one is not None
    is_open_end = is_array(part.stop) and decides(one, part.stop)
    bound = (part.stop if is_open_end else part.start).node
    place = place_of(bound, one)
    if place is None or len(deciding(bound)) != 1:
        _refuse("with a bound that is no number of a step plus a size")
    count, found = array.node.shape[axis], numbers_of(bound)
    assert found is not None
    least, most = found.least, found.least + one.length - 1
    if is_open_end:
        first = ZERO if part.start is None else _from_front(part.start, count)
        length = most - first
        shift, room = first, least - first
    else:
        last = count if part.stop is None else _from_front(part.stop, count)
        first, length, shift, room = least, last - least, least, last - most
    check_inside(first, length, count)
    check_inside(room, ZERO, room)
    base = make(trailing(cut(leading(array.node, axis), first, length), axis))
    others = (*parts[:axis], slice(None), *parts[axis + 1 :])
    base = base[others] if len(others) > 1 else base
    after = sum(isinstance(x, slice) for x in parts[axis + 1 :]) + array.ndim - len(parts)
    number, edge = make(numbers(length)), make(add([(1, bound), (-1, size_number(shift))]))
    chosen = number < edge if is_open_end else number >= edge
    size = edge if is_open_end else make(add([(1, size_number(last - shift)), (-1, edge.node)]))
    made = Varying(base, after + 1, chosen, (is_open_end, length, edge.node), size, is_nonnegative(room - 1))
    if not is_open_end and not place.is_backward:
        made.shift = lambda: _shift(one, length, make)
    return made


def _shift(one: Stepping, length: Size, make: Make) -> tuple[Any, Any]:
    """Return the matrix that moves the entries of a step to the front, and the numbers of entries."""
    rule = selector_alone(Selector("conv", (length, one.length, length)))
    matrices = product(1, [(rule, (2, 0, 1))], (0, 1, 2), {})
    return make(one.slice_of(matrices)), make(numbers(length))


def _from_front(bound: Any, count: Size) -> Size:
    size = size_of(bound)
    return size + count if size.is_integer and size.constant < 0 else size


def _refuse(use: str) -> NoReturn:
    raise NotSupported(f"a slice has another number of entries at each step, {use}", hint=HINT)


class Varying:
    """All entries, of which a condition along an axis chooses those of this step.

    `back` is the number of the axis from the end, from 1; `key` is equal for slices with the same entries, `size` the
    number of entries; `is_filled`: there is at least one in each step.
    """

    def __init__(self, entries: Any, back: int, chosen: Any, key: tuple[Any, ...], size: Any, is_filled: bool) -> None:
        self.entries, self.back, self.chosen = entries, back, chosen
        self.key, self.count, self.is_filled = key, size, is_filled
        self.shift: Callable[[], tuple[Any, Any]] | None = None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.entries.ndim)

    @property
    def dtype(self) -> Any:
        """NumPy's type of the entries."""
        return self.entries.dtype

    @property
    def T(self) -> Varying:  # noqa: N802 - NumPy's name
        """The transpose."""
        return self._with(self.entries.T, self.ndim + 1 - self.back)

    def copy(self) -> Varying:
        """Return the slice itself, which is never written."""
        return self

    def _with(self, entries: Any, back: int) -> Varying:
        made = Varying(entries, back, self.chosen, self.key, self.count, self.is_filled)
        made.shift = self.shift
        return made

    def in_front(self) -> Varying:
        """Return a slice up to the end with its entries in front, so that they are beside those of `x[:t]`."""
        if self.shift is None or self.ndim != 1:
            return self
        moves, places = self.shift()
        key = (True, self.key[1], self.count.node)
        return Varying(moves @ self.entries, 1, places < self.count, key, self.count, self.is_filled)

    def filled(self, value: float) -> Any:
        """Return all entries, with a value for those of other steps."""
        import numpy as np

        shape = (slice(None), *[None] * (self.back - 1))
        return np.where(self.chosen[shape] if self.back > 1 else self.chosen, self.entries, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if keywords.get("out") is not None or keywords.get("where", True) is not True:
            _refuse("is written")
        if method == "reduce" and ufunc.__name__ in _REDUCING and not keywords.get("keepdims"):
            return self._reduced(_REDUCING[ufunc.__name__], keywords.get("axis", 0))
        if method != "__call__" or keywords:
            _refuse(f"in np.{ufunc.__name__}.{method}")
        if ufunc.__name__ == "matmul":
            return _product(*inputs)
        operands = _aligned(inputs)
        varied = [one for one in operands if isinstance(one, Varying)]
        back = varied[0].back
        for one in operands:
            if isinstance(one, Varying):
                if one.key != varied[0].key or one.back != back:
                    _refuse("beside one with other bounds")
            elif _rank(one) >= back and (one.node if is_array(one) else one).shape[-back] != 1:
                _refuse("beside an array of another number of entries")
        made = ufunc(*(one.entries if isinstance(one, Varying) else one for one in operands))
        return varied[0]._with(made, back)

    def __array_function__(
        self, function: Callable[..., Any], types: object, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        name = function.__name__
        rest = {key: value for key, value in keywords.items() if key != "axis"}
        if name in ("dot", "vdot", "inner") and len(args) == 2 and not keywords and _are_vectors(args):
            return _product(*args)
        if name == "ravel" and self.ndim == 1 and len(args) == 1 and not keywords:
            return self
        if name == "transpose" and len(args) == 1 and not keywords:
            return self.T
        if (name in _FILLS or name in _COMPOSED) and args[0] is self and len(args) <= 2 and not rest:
            return self._reduced(name, args[1] if len(args) == 2 else keywords.get("axis"))
        if name == "norm" and args[0] is self and len(args) == 1 and not rest:
            axis = keywords.get("axis")
            if self.ndim == 1 or axis is not None:
                return function(self.filled(0.0), axis=axis) if self._has(axis) else self._along(function, axis)
        if name == "size" and self.ndim == 1 and len(args) == 1:
            return self.count
        _refuse(f"in np.{name}")

    def _has(self, axis: Any) -> bool:
        """Whether a reduction along axes has the axis of the slice."""
        axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        return any(one % self.ndim == self.ndim - self.back for one in axes)

    def _along(self, function: Callable[..., Any], axis: Any) -> Varying:
        """Return a reduction along another axis."""
        if isinstance(axis, tuple):
            _refuse("along several axes")
        before = axis % self.ndim < self.ndim - self.back
        return self._with(function(self.entries, axis=axis), self.back if before else self.back - 1)

    def _reduced(self, name: str, axis: Any) -> Any:
        import numpy as np

        name = {"amax": "max", "amin": "min"}.get(name, name)
        if not self._has(axis):
            reducing = np.logaddexp.reduce if name == "logsumexp" else getattr(np, name)
            return self._along(reducing, axis)
        if name not in ("sum", "prod") and not self.is_filled:
            message = f"np.{name} of a slice that has no entries in the first or last step"
            raise ShapeError(message, hint="leave that step out, range(1, T)")
        if name in ("mean", "var", "std"):
            if axis is None and self.ndim > 1 or isinstance(axis, tuple):
                _refuse("along several axes")
            mean = self._reduced("sum", axis) / self.count
            if name == "mean":
                return mean
            shaped: Any = np.expand_dims(mean, axis) if self.ndim > 1 else mean
            squares: Any = (self - shaped) ** 2
            return squares._reduced("mean", axis) if name == "var" else np.sqrt(squares._reduced("mean", axis))
        filled = self.filled(_FILLS[name])
        return np.logaddexp.reduce(filled, axis=axis) if name == "logsumexp" else getattr(np, name)(filled, axis=axis)

    def dot(self, other: Any) -> Any:
        """Return the product with a vector or a matrix."""
        return _product(self, other)

    def __len__(self) -> NoReturn:
        _refuse("and its length is asked for")

    def __iter__(self) -> NoReturn:
        _refuse("in a loop")

    def __bool__(self) -> NoReturn:
        _refuse("as a condition")

    def __getitem__(self, at: Any) -> NoReturn:
        _refuse("with further subscripts")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or name in ("node", "length"):
            raise AttributeError(name)
        _refuse(f"and its {name} is used")


def _operator(name: str, swapped: bool = False) -> Any:
    def applied(self: Varying, *others: Any) -> Any:
        import numpy as np

        operands = (*others, self) if swapped else (self, *others)
        return self.__array_ufunc__(getattr(np, name), "__call__", *operands)

    return applied


def _reduction(name: str) -> Any:
    def reduced(self: Varying, axis: Any = None) -> Any:
        return self._reduced(name, axis)

    return reduced


for sign, function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "matmul": "matmul",
}.items():  # fmt: skip
    setattr(Varying, f"__{sign}__", _operator(function))
    setattr(Varying, f"__r{sign}__", _operator(function, swapped=True))
for sign, function in {"neg": "negative", "abs": "absolute"}.items():
    setattr(Varying, f"__{sign}__", _operator(function))
for method in ("sum", "mean", "prod", "max", "min", "var", "std"):
    setattr(Varying, method, _reduction(method))

_FILLS: Mapping[str, float] = {
    "sum": 0.0, "prod": 1.0, "max": -float("inf"), "min": float("inf"), "logsumexp": -float("inf"),
    "amax": 0.0, "amin": 0.0,
}  # fmt: skip
"""Reductions -> the entry that does not count; `amax` and `amin` are other names."""
_COMPOSED = ("mean", "var", "std")
_REDUCING = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logaddexp": "logsumexp"}


def _aligned(values: Sequence[Any]) -> Sequence[Any]:
    """Return values in which slices have equal entries in equal places, if they have equal numbers of entries."""
    if len({one.key for one in values if isinstance(one, Varying)}) < 2:
        return values
    return [one.in_front() if isinstance(one, Varying) else one for one in values]


def _rank(value: Any) -> int:
    return int(getattr(value, "ndim", 0))


def _are_vectors(args: Sequence[Any]) -> bool:
    return all(_rank(one) == 1 for one in args)


def _product(left: Any, right: Any) -> Any:
    """Return a product of matrices or vectors, of which one or both are slices."""
    if not all(0 < _rank(one) <= 2 for one in (left, right)):
        _refuse("in a product of stacks")
    inner = [isinstance(left, Varying) and left.back == 1, isinstance(right, Varying) and right.back == right.ndim]
    if all(inner):
        left, right = _aligned((left, right))
        if left.key != right.key:
            _refuse("in a product with one of other bounds")
        return left.filled(0.0) @ right.filled(0.0)
    if any(inner) or isinstance(left, Varying) and isinstance(right, Varying):
        _refuse("in a product with an array of another number of entries")
    if isinstance(left, Varying):
        return left._with(left.entries @ right, right.ndim)
    return right._with(left @ right.entries, 1)
