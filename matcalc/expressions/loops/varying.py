"""Defines parts whose number of entries a step or data decide: `x[:t]`, `x[t:]`, and `x[y > 0]`.

Such a part holds all entries and the condition on its own. Elementwise functions apply to all of them; a reduction
along the axis replaces the others by an entry that does not count: 0 in a sum, -inf in a maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.numpy_bridge.arguments import is_array
from matcalc.tensor.nodes.node import Node

Make = Callable[[Node], Any]
"""Returns a node as an array of the traced function."""
Key = tuple[Any, ...]
"""Equal for parts with the same entries. For a part of a fixed number of entries, of which those of a step come first
or last: whether they come first, that number, and the number of those of the step."""
HINT = "sum up in an inner loop, for j in range(t);  of entries that a mask selects write np.where(mask, x, 0)"


def refuse(use: str) -> NoReturn:
    raise NotSupported(f"a step or data decide the number of entries of a part, {use}", hint=HINT)


class Varying:
    """All entries, of which a condition along an axis chooses those of the part.

    `back` is the number of the axis from the end, from 1; `key` is equal for parts with the same entries, `size` the
    number of entries; `is_filled`: there is at least one, None if data decide.
    """

    def __init__(self, entries: Any, back: int, chosen: Any, key: Key, size: Any, is_filled: bool | None) -> None:
        self.entries, self.back, self.chosen = entries, back, chosen
        self.key, self.count, self.is_filled = key, size, is_filled
        self.shift: Callable[[], tuple[Any, Any]] | None = None

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.entries.ndim)

    @property
    def size(self) -> Any:
        """The number of entries."""
        return self.count if self.ndim == 1 else refuse("of several axes, and its size is used")

    @property
    def dtype(self) -> Any:
        """NumPy's type of the entries."""
        return self.entries.dtype

    @property
    def T(self) -> Varying:  # noqa: N802 - NumPy's name
        """The transpose."""
        return self._with(self.entries.T, self.ndim + 1 - self.back)

    def selects(self, mask: Any) -> bool:
        """Whether this is the part of an array that a mask of its first axes selects."""
        return self.key == (mask.node, mask.ndim) and self.back == self.ndim

    def __repr__(self) -> str:
        return "a part of which a step or data decide the number of entries"

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
        key = (True, *self.key[1:])
        return Varying(moves @ self.entries, 1, places < self.count, key, self.count, self.is_filled)

    def filled(self, value: float) -> Any:
        """Return all entries, with a value for those of other steps."""
        import numpy as np

        shape = (slice(None), *[None] * (self.back - 1))
        return np.where(self.chosen[shape] if self.back > 1 else self.chosen, self.entries, value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if keywords.get("out") is not None or keywords.get("where", True) is not True:
            refuse("is written")
        if method == "reduce" and ufunc.__name__ in _REDUCING and not keywords.get("keepdims"):
            return self._reduced(_REDUCING[ufunc.__name__], keywords.get("axis", 0))
        if method != "__call__" or keywords:
            refuse(f"in np.{ufunc.__name__}.{method}")
        if ufunc.__name__ == "matmul":
            return _product(*inputs)
        operands = _aligned(inputs)
        varied = [one for one in operands if isinstance(one, Varying)]
        back = varied[0].back
        for one in operands:
            if isinstance(one, Varying):
                if one.key != varied[0].key or one.back != back:
                    refuse("beside one with other bounds")
            elif _rank(one) >= back and (one.node if is_array(one) else one).shape[-back] != 1:
                refuse("beside an array of another number of entries")
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
        refuse(f"in np.{name}")

    def _has(self, axis: Any) -> bool:
        """Whether a reduction along axes has the axis of the slice."""
        axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        return any(one % self.ndim == self.ndim - self.back for one in axes)

    def _along(self, function: Callable[..., Any], axis: Any) -> Varying:
        """Return a reduction along another axis."""
        if isinstance(axis, tuple):
            refuse("along several axes")
        before = axis % self.ndim < self.ndim - self.back
        return self._with(function(self.entries, axis=axis), self.back if before else self.back - 1)

    def _reduced(self, name: str, axis: Any) -> Any:
        import numpy as np

        name = {"amax": "max", "amin": "min"}.get(name, name)
        if not self._has(axis):
            reducing = np.logaddexp.reduce if name == "logsumexp" else getattr(np, name)
            return self._along(reducing, axis)
        if name not in ("sum", "prod") and self.is_filled is False:
            message = f"np.{name} of a slice that has no entries in the first or last step"
            raise ShapeError(message, hint="leave that step out, range(1, T)")
        if name in ("max", "min", "amax", "amin") and self.is_filled is None:
            hint = f"write np.{name}(np.where(mask, x, {'-' if 'max' in name else ''}np.inf))"
            raise NotSupported(f"np.{name} of entries that a mask selects, of which there may be none", hint=hint)
        if name in ("mean", "var", "std"):
            if axis is None and self.ndim > 1 or isinstance(axis, tuple):
                refuse("along several axes")
            mean = self._reduced("sum", axis) / self.count
            if name == "mean":
                return mean
            shaped: Any = np.expand_dims(mean, axis) if self.ndim > 1 else mean
            apart: Any = self - shaped
            if name == "var":
                return (apart**2)._reduced("mean", axis)
            return np.linalg.norm(apart.filled(0.0), axis=axis) / np.sqrt(self.count)
        filled = self.filled(_FILLS[name])
        return np.logaddexp.reduce(filled, axis=axis) if name == "logsumexp" else getattr(np, name)(filled, axis=axis)

    def dot(self, other: Any) -> Any:
        """Return the product with a vector or a matrix."""
        return _product(self, other)

    def __len__(self) -> NoReturn:
        refuse("and its length is asked for")

    def __iter__(self) -> NoReturn:
        refuse("in a loop")

    def __bool__(self) -> NoReturn:
        refuse("as a condition")

    def __getitem__(self, at: Any) -> Varying:
        """Return the entries in the opposite order, `x[::-1]`."""
        is_flip = isinstance(at, slice) and at.start is at.stop is None and at.step == -1
        if not is_flip or self.back != self.ndim or len(self.key) != 3:
            refuse("with further subscripts")
        is_front, length, count = self.key
        key = (None if is_front is None else not is_front, length, count)
        return Varying(self.entries[::-1], self.back, self.chosen[::-1], key, self.count, self.is_filled)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_") or name in ("node", "length"):
            raise AttributeError(name)
        refuse(f"and its {name} is used")


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
        refuse("in a product of stacks")
    inner = [isinstance(left, Varying) and left.back == 1, isinstance(right, Varying) and right.back == right.ndim]
    if all(inner):
        left, right = _aligned((left, right))
        if left.key != right.key:
            refuse("in a product with one of other bounds")
        return left.filled(0.0) @ right.filled(0.0)
    if any(inner) or isinstance(left, Varying) and isinstance(right, Varying):
        refuse("in a product with an array of another number of entries")
    if isinstance(left, Varying):
        return left._with(left.entries @ right, right.ndim)
    return right._with(left @ right.entries, 1)
