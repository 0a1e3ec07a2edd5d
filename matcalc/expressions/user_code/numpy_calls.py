"""Implements the functions of NumPy that do not dispatch on arguments, by NumPy's names: constructors and indices.

Each returns an array that the traced function can write. `Make` determines the class of the array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.loops.slices import first_numbers
from matcalc.expressions.numpy_bridge import shapes
from matcalc.expressions.numpy_bridge.along_indices import along
from matcalc.expressions.numpy_bridge.arguments import (
    array_node,
    bound_of,
    constant_of,
    is_array,
    joined,
    length_in,
    node_of,
    part_of,
    permuted,
    size_of,
)
from matcalc.expressions.numpy_bridge.runs import Runs, joined_runs
from matcalc.expressions.numpy_bridge.shapes import broadcast_to
from matcalc.expressions.numpy_bridge.taking import take
from matcalc.expressions.numpy_bridge.triangles import sides
from matcalc.expressions.user_code.bracket_joins import Grid, Joining
from matcalc.expressions.user_code.count_from_zero import iota
from matcalc.expressions.user_code.python_calls import is_symbolic
from matcalc.tensor import constructors
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size, maximum

Make = Callable[..., Any]
"""Returns a node as an array of the traced function; with `runs` as the integers of ranges."""


def _is_float(dtype: object) -> bool:
    import numpy as np

    return dtype is None or np.dtype(dtype).kind == "f"  # type: ignore[call-overload]


def _is_truth(dtype: object) -> bool:
    import numpy as np

    return dtype is not None and np.dtype(dtype).kind == "b"  # type: ignore[call-overload]


def _shape(shape: object) -> list[Size]:
    return [size_of(one) for one in shape] if isinstance(shape, (list, tuple)) else [size_of(shape)]


def _refuse_integers(name: str, dtype: object) -> None:
    raise NotSupported(
        f"np.{name} with dtype={getattr(dtype, '__name__', dtype)} of a size that is no number",
        hint="write it with dtype=float, or declare the size as a number",
    )


class NumpyCalls:
    """NumPy's functions by name, with arrays of the class that `make` constructs."""

    def __init__(self, make: Make) -> None:
        self.make = make

    def _filled(self, name: str, value: float, shape: object, dtype: object, theirs: Callable[..., Any]) -> Any:
        if is_symbolic(shape) and _is_truth(dtype):
            return self._filled(name, value, shape, None, theirs) != 0
        if not _is_float(dtype):
            if is_symbolic(shape):
                _refuse_integers(name, dtype)
            return theirs(shape, dtype=dtype)
        number = constructors.number(int(value))
        return self.make(broadcast_to(number, _shape(shape)))

    def zeros(self, shape: Any, dtype: Any = None, order: str = "C") -> Any:
        import numpy as np

        return self._filled("zeros", 0, shape, dtype, np.zeros)

    def empty(self, shape: Any, dtype: Any = None, order: str = "C") -> Any:
        import numpy as np

        return self._filled("empty", 0, shape, dtype, np.zeros)

    def ones(self, shape: Any, dtype: Any = None, order: str = "C") -> Any:
        import numpy as np

        return self._filled("ones", 1, shape, dtype, np.ones)

    def full(self, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
        import numpy as np

        is_truth = isinstance(fill_value, (bool, np.bool_)) and dtype is None or _is_truth(dtype)
        if is_symbolic(shape) and is_truth and not is_symbolic(fill_value):
            return self._filled("full", bool(fill_value), shape, bool, np.full)
        whole = isinstance(fill_value, (int, np.integer)) and dtype is None
        if whole or not _is_float(dtype) or _has_nan(fill_value):
            if is_symbolic(shape) and not _has_nan(fill_value):
                _refuse_integers("full", dtype or int)
            return np.full(shape, fill_value, dtype)
        value = bound_of(fill_value) if isinstance(fill_value, float) else self._node(fill_value)
        return self.make(broadcast_to(value, _shape(shape)))

    def _like(self, name: str, value: float, a: Any, dtype: Any, shape: Any, theirs: Callable[..., Any]) -> Any:
        import numpy as np

        kind = dtype if dtype is not None else getattr(a, "dtype", None)
        if kind is None:
            kind = np.asarray(a).dtype if not is_symbolic(a) else float
        return self._filled(name, value, np.shape(a) if shape is None else shape, kind, theirs)

    def zeros_like(self, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
        import numpy as np

        return self._like("zeros_like", 0, a, dtype, shape, np.zeros)

    empty_like = zeros_like

    def ones_like(self, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
        import numpy as np

        return self._like("ones_like", 1, a, dtype, shape, np.ones)

    def full_like(self, a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True) -> Any:
        import numpy as np

        kind = dtype if dtype is not None else getattr(a, "dtype", float)
        if not _is_float(kind):
            return np.full(np.shape(a), fill_value, kind)
        return self.full(np.shape(a), fill_value, float)

    def eye(self, N: Any, M: Any = None, k: Any = 0, dtype: Any = None, **options: Any) -> Any:  # noqa: N803 - NumPy's
        import numpy as np

        if is_symbolic((N, M, k)) and _is_truth(dtype):
            return self.eye(N, M, k) != 0
        if not _is_float(dtype) or not is_symbolic((N, M, k)) and (M is not None or k):
            made = np.eye(N, M, k, dtype or float, **options)
            return made if not _is_float(dtype) else self.make(constructors.constant(made))
        n, offset = size_of(N), size_of(k)
        if M is not None and size_of(M) != n or not offset.is_integer:
            raise NotSupported("np.eye with another number of columns", hint="declare the sizes as numbers")
        identity, by = constructors.eye(n), abs(int(offset))
        if by:
            moved = joined([part_of(identity, 0, Size.of(by), n - by), constructors.zeros((Size.of(by), n))], 0)
            identity = moved if int(offset) > 0 else permuted(moved, (1, 0))
        return self.make(identity)

    def identity(self, n: Any, dtype: Any = None, **options: Any) -> Any:
        return self.eye(n, dtype=dtype)

    def tri(self, N: Any, M: Any = None, k: Any = 0, dtype: Any = float, **options: Any) -> Any:  # noqa: N803
        import numpy as np

        if is_symbolic((N, M, k)) and _is_truth(dtype):
            return self.tri(N, M, k) != 0
        return np.tril(self.ones((N, N if M is None else M), dtype), k)

    def arange(self, *args: Any, dtype: Any = None, **options: Any) -> Any:
        import numpy as np

        if not is_symbolic(args):
            made = np.arange(*args, dtype=dtype, **options)
            return made if made.dtype.kind != "f" else self.make(array_node(made))
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        if len(args) == 1 and is_array(args[0]) and (counted := first_numbers(args[0], self.make)) is not None:
            return counted
        if step not in (1, -1) or any(is_array(one) or isinstance(one, float) for one in args):
            raise NotSupported("np.arange of a size with a step", hint="write start + step*np.arange(n)")
        first, length = size_of(start), (size_of(stop) - size_of(start)) * step
        node = iota(length)
        if first != 0 or step < 0:
            shift = broadcast_to(constructors.size_number(first), [length])
            node = constructors.add([(step, node), (1, shift)])
        runs = Runs.of(first if step > 0 else first - length + 1, length, step < 0)
        is_range = dtype is None or np.dtype(dtype).kind != "f"
        return self.make(node, runs=runs) if is_range else self.make(node)

    def linspace(self, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, **options: Any) -> Any:
        import numpy as np

        if not is_symbolic((start, stop, num)):
            return self.make(array_node(np.linspace(start, stop, num, endpoint, **options)))
        if options:
            raise NotSupported(f"np.linspace: the argument {next(iter(options))} is not supported")
        last = constructors.size_number(maximum(size_of(num) - int(endpoint), Size.of(1)))  # one point is the start
        return start + (stop - start) * self.make(iota(size_of(num))) / self.make(last)

    def _node(self, value: Any) -> Node:
        return value.node if is_array(value) else node_of(value)

    def array(self, object: Any, dtype: Any = None, **options: Any) -> Any:  # noqa: A002 - NumPy's name
        import numpy as np

        if not is_symbolic(object):
            made = np.array(object, dtype=dtype, **options)
            return self.make(array_node(made)) if _is_writable(made) else made
        if is_array(object):
            return object.astype(dtype or object.dtype, copy=options.get("copy", True))
        if getattr(getattr(object, "dtype", None), "kind", "") == "O":
            object = object.tolist()  # noqa: A001
        return self._stacked(object)

    def _stacked(self, items: Any, beside_symbols: bool = False) -> Any:
        import numpy as np

        if isinstance(items, (list, tuple)):
            is_listed = is_symbolic(items) or beside_symbols and np.size(items) <= FEW
            return np.stack([self._stacked(one, True) for one in items]) if is_listed else self.array(items, float)
        return (
            items
            if is_array(items)
            else self.make(self._node(items))
            if is_symbolic(items)
            else self.make(_constant(items))
        )

    def asarray(self, a: Any, dtype: Any = None, **options: Any) -> Any:
        import numpy as np

        if is_array(a):
            return a if dtype is None else a if _is_float(dtype) else a.astype(dtype)
        return self.array(a, dtype) if is_symbolic(a) else np.asarray(a, dtype, **options)

    asanyarray = ascontiguousarray = asfarray = require = asarray

    def tile(self, A: Any, reps: Any) -> Any:  # noqa: N803 - NumPy's name
        made = shapes.tile(self._node(A), reps)
        runs = getattr(A, "runs", None)
        if runs is not None and isinstance(reps, int) and 0 < reps <= MOST_COPIES:
            return self.make(made, runs=joined_runs([runs] * reps))
        return self.make(made)

    def diag_indices(self, n: Any, ndim: int = 2) -> Any:
        return (self.arange(n),) * ndim

    def diag_indices_from(self, arr: Any) -> Any:
        shape = arr.shape
        if any(one != shape[0] for one in shape[1:]):
            raise ShapeError("All dimensions of input must be of equal length")
        return self.diag_indices(shape[0], len(shape))

    def _triangle(self, name: str, shape: Any, k: int) -> Any:
        import numpy as np

        if not is_symbolic((*shape, k)):
            return getattr(np, name)(shape[0], k, shape[1])
        is_lower = name.startswith("tril")
        offset = -k if is_lower else k
        if is_symbolic(k) or shape[0] != shape[1] or offset < 0:
            hint = f"declare the size as a number, or write np.{name[:4]}(A, {k}) for the triangle itself"
            raise NotSupported(f"np.{name} of a rectangle, or past the diagonal, of open size", hint=hint)
        numbers = iota(size_of(shape[0]))
        return tuple(self.make(take(numbers, (one,)), side=one) for one in sides(size_of(shape[0]), offset, is_lower))

    def triu_indices(self, n: Any, k: int = 0, m: Any = None) -> Any:
        return self._triangle("triu_indices", (n, n if m is None else m), k)

    def tril_indices(self, n: Any, k: int = 0, m: Any = None) -> Any:
        return self._triangle("tril_indices", (n, n if m is None else m), k)

    def triu_indices_from(self, arr: Any, k: int = 0) -> Any:
        return self._triangle("triu_indices", arr.shape, k)

    def tril_indices_from(self, arr: Any, k: int = 0) -> Any:
        return self._triangle("tril_indices", arr.shape, k)

    def ix_(self, *args: Any) -> Any:
        import numpy as np

        if not any(is_array(one) for one in args):
            return np.ix_(*args)
        raise NotSupported("np.ix_ of an index", hint="write A[i][:, j]")

    def take(self, a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
        import numpy as np

        if out is not None or mode != "raise":
            raise NotSupported("np.take: the arguments out and mode are not supported")
        if not is_array(a):
            a = self.make(_constant(a))
        if axis is None:
            return np.ravel(a).copy()[indices]
        position = axis % a.ndim
        return a[(*[slice(None)] * position, indices)]

    def take_along_axis(self, arr: Any, indices: Any, axis: Any = -1) -> Any:
        import numpy as np

        if not is_array(arr):
            arr = self.make(_constant(arr))
        if axis is None:
            return np.ravel(arr).copy()[indices]
        position, rank = axis % arr.ndim, arr.ndim
        if is_array(indices):
            return self.make(along(arr.node, getattr(indices, "places", None), position))
        at = []
        for k in range(rank):
            if k == position:
                at.append(np.asarray(indices))
            else:
                at.append(np.arange(np.shape(indices)[k]).reshape([-1 if j == k else 1 for j in range(rank)]))
        return arr[tuple(np.broadcast_arrays(*at))]

    def bincount(self, x: Any, weights: Any = None, minlength: Any = 0) -> Any:
        import numpy as np

        if is_array(x) and not is_symbolic(minlength) and minlength == 0:
            raise NotSupported(
                "np.bincount without minlength has a length that the data decide", hint="give minlength="
            )
        if not is_array(x) and not is_symbolic(minlength):
            minlength = max(minlength, int(np.max(x)) + 1 if np.size(x) else 0)
        found = self.zeros(minlength)
        np.add.at(found, x, 1.0 if weights is None else weights)
        return found

    @property
    def r_(self) -> Joining:
        return Joining("r_", "concatenate", "atleast_1d", self.arange)

    @property
    def mgrid(self) -> Grid:
        return Grid("mgrid", self.arange)

    @property
    def ogrid(self) -> Grid:
        return Grid("ogrid", self.arange)

    @property
    def c_(self) -> Joining:
        return Joining("c_", "column_stack", "asarray", self.arange)

    def isscalar(self, element: Any) -> bool:
        return is_array(element) and not element.node.shape or length_in(element) is not None

    def float64(self, x: Any) -> Any:
        return self.asarray(x)


FEW = 12
"""The most numbers of a list that are written one by one beside a list with symbols."""
MOST_COPIES = 16
"""Limit of the copies of a range that is a subscript."""
SIZED = {"zeros": 1, "ones": 1, "empty": 1, "full": 1, "identity": 1, "eye": 2, "tri": 2, "arange": 2, "linspace": 3}
"""Functions that create arrays, and how many of their arguments hold sizes."""
SYMBOLIC_ONLY = ("take", "take_along_axis", "bincount", "isscalar", "asarray", "ix_", "tile")
"""Functions that remain NumPy's for numbers. The others return arrays that can be written."""


def _constant(value: Any) -> Node:
    found = constant_of(value)
    if found is None:
        raise NotSupported(f"{value!r} is no array of numbers")
    return found


def _has_nan(value: Any) -> bool:
    import numpy as np

    return not is_symbolic(value) and bool(np.any(np.isnan(value)))


def _is_writable(made: Any) -> bool:
    """Whether an array of numbers is one that a traced function may write formulas to."""
    return made.dtype.kind == "f" and made.ndim > 0 and not _has_nan(made)
