"""Implements NumPy's functions that write to an array, and np.linalg.lstsq, on arrays of a traced function.

Such an array has `write` and `put_at`; `flat` has its entries row after row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from matcalc.errors import NotSupported, NoValue, ShapeError
from matcalc.expressions.loops.varying import Varying
from matcalc.expressions.numpy_bridge.arguments import length_in
from matcalc.expressions.numpy_bridge.index_sets import MASK_HINT, Run
from matcalc.tensor.nodes.node import Node
from matcalc.tensor.sizes.size import Size


class Flat:
    """The entries of an array row after row, `K.flat[::n + 1] += s`."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def _is_diagonal(self, at: object) -> bool:
        shape = self.array.node.shape
        if len(shape) != 2 or shape[0] != shape[1] or not isinstance(at, slice) or (at.start, at.stop) != (None, None):
            return False
        return at.step is not None and _whole(at.step) == shape[1] + 1

    def __getitem__(self, at: Any) -> Any:
        import numpy as np

        if self._is_diagonal(at):
            return np.diagonal(self.array).copy()
        return np.ravel(self.array).copy()[at]

    def __setitem__(self, at: Any, value: Any) -> None:
        import numpy as np

        if self._is_diagonal(at):
            fill_diagonal(self.array, value)
            return
        entries = np.ravel(self.array).copy()
        entries[at] = value
        self.array[...] = entries.reshape(self.array.shape)


def fill_diagonal(a: Any, val: object, wrap: bool = False) -> None:
    """Write a value to the diagonal."""
    _written(a, "fill_diagonal")
    shape = a.node.shape
    if wrap or len(shape) != 2:
        raise NotSupported("np.fill_diagonal takes a matrix, and no wrap")
    if shape[0] != shape[1] and not (shape[0].is_integer and shape[1].is_integer):
        message = f"np.fill_diagonal of a matrix of {shape[0]} x {shape[1]}"
        raise NotSupported(message, hint="declare its sizes as numbers")
    if shape[0] == shape[1]:
        every = Run(Size.of(0), shape[0])
    else:
        every = Run(Size.of(0), Size.of(min(int(shape[0]), int(shape[1]))))
    a.put_at((every, every), val)


def put_entries(a: Any, ind: object, v: object, mode: str = "raise") -> None:
    """Write values to entries, counted row after row."""
    _written(a, "put")
    if mode != "raise":
        raise NotSupported("np.put: the argument mode is not supported")
    a.flat[ind] = v


def _putmask(a: Any, mask: object, values: object) -> None:
    """Write values where a mask holds: one value, or one for each entry of the array.

    Raises: NotSupported for other values, which NumPy repeats.
    """
    import numpy as np

    _written(a, "putmask")
    if np.size(cast("Any", values)) != 1 and np.shape(cast("Any", values)) != a.shape:
        raise NotSupported("np.putmask with values of another shape", hint="write np.where(mask, values, a)")
    a[...] = np.where(cast("Any", mask), cast("Any", values), a.copy())


def _place(arr: Any, mask: object, vals: object) -> None:
    """Write one value where a mask holds.

    Raises: NotSupported for several values, which NumPy counts along the selected entries.
    """
    import numpy as np

    _written(arr, "place")
    if np.size(cast("Any", vals)) != 1:
        raise NotSupported("np.place with several values", hint="write a[mask] = vals, or np.where(mask, vals, a)")
    arr[...] = np.where(cast("Any", mask), cast("Any", vals), arr.copy())


def _copyto(dst: Any, src: object, casting: str = "same_kind", where: object = True) -> None:
    import numpy as np

    _written(dst, "copyto")
    dst[...] = src if where is True else np.where(cast("Any", where), cast("Any", src), dst.copy())


def _put_along_axis(arr: Any, indices: Any, values: object, axis: int | None) -> None:
    import numpy as np

    _written(arr, "put_along_axis")
    if axis is None:
        raise NotSupported("np.put_along_axis without an axis", hint="give axis=")
    shape = [int(n) for n in arr.node.shape]
    at = [np.arange(n).reshape([-1 if j == k else 1 for j in range(len(shape))]) for k, n in enumerate(shape)]
    at[axis] = np.asarray(indices)
    arr[tuple(np.broadcast_arrays(*at))] = values


def _written(a: Any, name: str) -> None:
    """Require an array that the traced function created.

    Raises: NoValue.
    """
    if not is_traced(a):
        raise NoValue(f"np.{name}: an array of numbers is not written with a formula")
    a.check_own()


def ufunc_at(name: str, a: Any, at: object, value: Any = None) -> None:
    """Compute `np.add.at(a, at, value)`, which writes to `a`.

    Raises: NotSupported for another function than add and subtract.
    """
    _written(a, f"{name}.at")
    if name not in ("add", "subtract"):
        raise NotSupported(f"np.{name}.at: this method is not supported", hint="np.add.at and np.subtract.at are")
    import numpy as np

    if isinstance(value, (list, tuple)):
        value = np.array(value)
    a.put_at(at, -value if name == "subtract" else value, adds=True)


def where_masked(a: Any, mask: Any, value: Any) -> Any:
    """Return an array with a value at all entries, or along all rows, that a mask of its first axes selects.

    Raises: ShapeError for a mask of another shape; NoValue for a value for each selected entry that is not of the same
        mask, as in `z[mask] = x[mask]`.
    """
    import numpy as np

    rest = a.ndim - len(mask.shape)
    if rest < 0 or tuple(a.shape[: len(mask.shape)]) != tuple(mask.shape):
        raise ShapeError(f"a mask of shape {mask.shape} does not fit an array of shape {a.shape}")
    if isinstance(value, Varying) and value.selects(mask):
        return np.where(mask[(..., *[None] * rest)], value.entries.reshape(a.shape), a)
    if isinstance(value, Varying) or np.ndim(value) > rest:
        raise NoValue("a mask that depends on a symbol selects an unknown number of entries", hint=MASK_HINT)
    return np.where(mask[(..., *[None] * rest)], value, a)


def is_traced(value: object) -> bool:
    """Whether a value is an array of a traced function."""
    return isinstance(getattr(value, "node", None), Node) and hasattr(value, "writes")


def _whole(value: Any) -> Size | None:
    """Return an integer or a size; None for anything else."""
    found = length_in(value)
    return found if found is not None else Size.of(int(value)) if hasattr(value, "__index__") else None


def _lstsq(a: Any, b: Any, rcond: object = None) -> tuple[Any, ...]:
    """Return np.linalg.lstsq: the solution, and `Missing` for each other result."""
    hint = "it depends on the rank of the matrix; write np.sum((A @ x - b)**2) for the residual"
    return (a if is_traced(a) else b).by_rule("lstsq", a, b), *(
        Missing(f"the {what} of np.linalg.lstsq", hint) for what in RESULTS
    )


RESULTS = ("residuals", "rank", "singular values")
"""The results of np.linalg.lstsq after the solution."""


class Missing:
    """A result without a formula; its use raises."""

    def __init__(self, what: str, hint: str) -> None:
        self.__dict__["_fault"] = what, hint

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and not name.startswith("__array"):
            raise AttributeError(name)
        self._refuse()

    def _refuse(self, *others: object) -> Any:
        raise NotSupported(f"{self._fault[0]} is no formula", hint=self._fault[1])

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = _refuse
    __neg__ = __getitem__ = __iter__ = __len__ = __float__ = __matmul__ = __rmatmul__ = _refuse


OWN: Mapping[str, Callable[..., object]] = {
    "fill_diagonal": fill_diagonal, "put": put_entries, "putmask": _putmask, "place": _place, "copyto": _copyto,
    "put_along_axis": _put_along_axis, "lstsq": _lstsq,
}  # fmt: skip
VIEWS = frozenset((
    "transpose", "permute_dims", "swapaxes", "moveaxis", "rollaxis", "matrix_transpose", "reshape", "ravel", "squeeze",
    "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_to", "broadcast_arrays", "diagonal", "diag",
    "flip", "fliplr", "flipud", "rot90", "split", "vsplit", "hsplit", "dsplit", "array_split", "unstack", "einsum",
    "real",
))  # fmt: skip
"""NumPy's functions whose results share entries with their argument."""
