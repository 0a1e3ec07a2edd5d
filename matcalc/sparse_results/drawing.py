"""Defines Sparsity, a boolean CSR array that draws itself."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from scipy.sparse import csr_array

from matcalc.errors import NotSupported


class Sparsity(csr_array):  # type: ignore[misc]
    """The entries of a matrix that can be nonzero, as a boolean CSR array."""

    def plot(self, axes: Any = None) -> Any:
        """Draw the entries with matplotlib, on `axes` if given; return the figure.

        Raises: NotSupported without matplotlib.
        """
        if find_spec("matplotlib") is None:
            raise NotSupported("this picture is drawn by matplotlib", hint="pip install matcalc-compiler[plots]")
        from matplotlib.figure import Figure

        figure = Figure() if axes is None else axes.figure
        (figure.add_subplot() if axes is None else axes).spy(self, markersize=max(1.0, 200 / max(*self.shape, 1)))
        return figure
