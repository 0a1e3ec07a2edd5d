"""Implements what NumPy writes between brackets: np.r_ and np.c_ join arrays, np.mgrid makes grids of ranges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matcalc.errors import NotSupported
from matcalc.expressions.numpy_bridge.arguments import is_array
from matcalc.expressions.user_code.python_calls import is_symbolic


class Joining:
    """np.r_ and np.c_, which join what stands between their brackets."""

    def __init__(self, name: str, join: str, of_each: str, arange: Callable[..., Any]) -> None:
        self.name, self.join, self.of_each, self.make = name, join, of_each, arange

    def arange(self, at: slice) -> Any:
        """Return the numbers of a slice."""
        if not is_symbolic((at.start, at.stop, at.step)):
            import numpy as np

            return getattr(np, self.name)[at]
        return self.make(0 if at.start is None else at.start, at.stop, 1 if at.step is None else at.step)

    def __getitem__(self, at: Any) -> Any:
        import numpy as np

        theirs, parts = getattr(np, self.name), at if isinstance(at, tuple) else (at,)
        bounds = [b for one in parts if isinstance(one, slice) for b in (one.start, one.stop, one.step)]
        if not any(is_symbolic(one) for one in (*parts, *bounds)):
            return theirs[at]
        if any(isinstance(one, str) for one in parts):
            raise NotSupported(f"np.{self.name} with a text between its brackets", hint=f"write np.{self.join}([x, y])")
        each = getattr(np, self.of_each)
        return getattr(np, self.join)(
            [
                self.arange(one) if isinstance(one, slice) else one if is_array(one) and one.ndim else each(one)
                for one in parts
            ]
        )


class Grid:
    """np.mgrid and np.ogrid of ranges whose bounds are sizes."""

    def __init__(self, name: str, arange: Callable[..., Any]) -> None:
        self.name, self.range = name, arange

    def __getitem__(self, at: Any) -> Any:
        import numpy as np

        parts = at if isinstance(at, tuple) else (at,)
        bounds = [b for one in parts if isinstance(one, slice) for b in (one.start, one.stop, one.step)]
        if not any(map(is_symbolic, bounds)):
            return getattr(np, self.name)[at]
        if not all(isinstance(one, slice) and one.step in (None, 1) for one in parts):
            raise NotSupported(f"np.{self.name} of ranges with a step", hint=f"write np.{self.name}[:m, :n]*step")
        ranges = [self.range(one.start or 0, one.stop) for one in parts]
        if not isinstance(at, tuple):
            return ranges[0]
        rank = len(ranges)
        own = [one.reshape([-1 if j == k else 1 for j in range(rank)]) for k, one in enumerate(ranges)]
        return own if self.name == "ogrid" else np.stack(np.broadcast_arrays(*own))
