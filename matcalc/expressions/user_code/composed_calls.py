"""Composes functions of NumPy for symbols from others: quantiles, correlations, powers in ascending order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from matcalc.errors import NotSupported, ShapeError
from matcalc.expressions.user_code.padding import pad
from matcalc.expressions.user_code.python_calls import is_symbolic


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803 - NumPy's name
    import numpy as np

    count = x.shape[0] if N is None else N
    return x[:, None] ** np.arange(count) if increasing else np.vander(x, count)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """Return np.correlate of real numbers.

    Raises: NotSupported for the mode same, whose middle depends on which of the arrays is longer.
    """
    import numpy as np

    if mode not in ("valid", "full"):
        raise NotSupported(f"np.correlate: the mode {mode} is not supported", hint='write mode="full", and cut it')
    return convolve(a, np.asarray(v)[::-1] if isinstance(v, (list, tuple)) else v[::-1], mode)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """Return np.convolve; the mode valid is a part of the mode full."""
    import numpy as np

    whole: Callable[..., Any] = np.convolve
    if mode != "valid":
        return whole(a, v, mode=mode)
    long, short = np.shape(a)[0], np.shape(v)[0]
    if long < short:
        long, short = short, long
    return whole(a, v)[short - 1 : long]


def quantile(a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: Any = None, **options: Any) -> Any:
    """Return np.quantile between neighbouring sorted entries.

    Raises: NotSupported for a number of entries that is not known, and for other methods.
    """
    import numpy as np

    if options.get("method", "linear") != "linear" or set(options) - {"method", "keepdims"} or is_symbolic(q):
        raise NotSupported("np.quantile: only the method linear at a known number is supported")
    values = np.ravel(a) if axis is None else np.moveaxis(a, axis, 0)
    count = values.shape[0]
    if np.ndim(q):
        return np.stack([quantile(a, float(one), axis, **options) for one in q])
    if q == 0.5 and not isinstance(count, int):
        found = np.median(values, axis=0)
    elif not isinstance(count, int):
        raise NotSupported("np.quantile of a number of entries that is no number", hint="declare the size as a number")
    else:
        found = _between(np.sort(values, axis=0), float(q) * (count - 1))
    if options.get("keepdims"):
        shape = [1] * a.ndim if axis is None else [1 if k == axis % a.ndim else n for k, n in enumerate(a.shape)]
        return np.reshape(found, shape)
    return found


def _between(entries: Any, position: float) -> Any:
    """Return the value at a position between two entries.

    Raises: ShapeError for a position outside.
    """
    count = entries.shape[0]
    if not 0 <= position <= count - 1:
        raise ShapeError("Quantiles must be in the range [0, 1]")
    below = min(int(position), max(count - 2, 0))
    share = position - below
    return entries[below] if share == 0 else entries[below] * (1 - share) + entries[below + 1] * share


def percentile(a: Any, q: Any, axis: Any = None, **options: Any) -> Any:
    import numpy as np

    return quantile(a, np.asarray(q) / 100 if np.ndim(q) else q / 100, axis, **options)


COMPOSED: Mapping[str, Callable[..., Any]] = {
    "vander": vander, "convolve": convolve, "correlate": correlate, "quantile": quantile, "percentile": percentile,
    "pad": pad,
}  # fmt: skip
"""Functions on symbols, by NumPy's names."""
