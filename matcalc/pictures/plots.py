"""Defines plots of numbers: curves, bars, cells. They are drawn by matplotlib, if installed, and printed as text.

`draw(axes)` draws a plot into the user's own axes.
"""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from matcalc.errors import NotSupported
from matcalc.pictures import letters
from matcalc.pictures.picture import Picture

MARKS = "osD^v*"
COLOURS = ("#1d4ed8", "#c2410c", "#047857", "#7e22ce", "#a16207", "#be123c")
SIZE = (6.4, 3.8)
DECADE = 10.0
"""The least range of a logarithmic axis, as a factor in each direction."""

ROW = 0.26
"""Height of a bar in inches."""


class Plot(Picture):
    """A picture of numbers."""

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height of a figure."""
        return SIZE

    @abstractmethod
    def draw(self, axes: Any) -> None:
        """Draw into matplotlib's axes."""

    def figure(self) -> Any:
        """Return a figure of matplotlib.

        Raises: NotSupported without matplotlib.
        """
        if find_spec("matplotlib") is None:
            raise NotSupported("this picture is drawn by matplotlib", hint="pip install matcalc-compiler[plots]")
        from matplotlib.figure import Figure

        made = Figure(figsize=self.inches, layout="constrained")
        self.draw(made.add_subplot())
        return made

    @property
    def svg(self) -> str:
        """The plot as the text of an SVG file. Raises: NotSupported without matplotlib."""
        figure = self.figure()
        import matplotlib as mpl

        out = io.StringIO()
        with mpl.rc_context({"svg.hashsalt": "matcalc", "svg.fonttype": "none"}):
            figure.savefig(out, format="svg", metadata={"Date": None})
        return out.getvalue()

    def _repr_svg_(self) -> str | None:
        return self.svg if find_spec("matplotlib") is not None else None

    def _save_as(self, place: Path) -> None:
        try:
            self.figure().savefig(place, dpi=150)
        except ValueError as error:
            raise NotSupported(f"{place.name}: {error}") from None


@dataclass(frozen=True, repr=False)
class Curves(Plot):
    """Points of several named series over one axis; `logs` marks logarithmic axes."""

    series: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    across: str
    up: str
    logs: tuple[bool, bool] = (False, False)

    def draw(self, axes: Any) -> None:
        """Draw into matplotlib's axes."""
        for k, (name, (xs, ys)) in enumerate(self.series.items()):
            style = {"marker": MARKS[k % len(MARKS)], "color": COLOURS[k % len(COLOURS)]}
            axes.plot(xs, ys, markersize=3.5, linewidth=1.2, label=name, **style)
        for axis, in_powers in zip("xy", self.logs, strict=True):
            if in_powers:
                getattr(axes, f"semilog{axis}")()
        levels = [y for _, ys in self.series.values() for y in ys]
        if self.logs[1] and levels and max(levels) < DECADE * min(levels):
            axes.set_ylim(min(levels) / DECADE, max(levels) * DECADE)
        axes.set_xlabel(self.across)
        axes.set_ylabel(self.up)
        axes.grid(visible=True, alpha=0.3)
        if any(self.series):
            axes.legend(fontsize=8)

    def __str__(self) -> str:
        lines = []
        for name, (xs, ys) in self.series.items():
            lines += [name, *letters.points(xs, ys, self.across, self.up, self.logs)]
        return "\n".join(line.rstrip() for line in lines)


@dataclass(frozen=True, repr=False)
class Bar:
    """A bar: its label, its length, its kind, which determines the colour, and the note beside it."""

    label: str
    value: float
    kind: str
    note: str


@dataclass(frozen=True, repr=False)
class Bars(Plot):
    """Bars one below the other, in chronological order."""

    bars: Sequence[Bar]
    across: str

    @property
    def inches(self) -> tuple[float, float]:
        """Width and height of a figure."""
        return 8.0, 1.2 + ROW * len(self.bars)

    def draw(self, axes: Any) -> None:
        """Draw into matplotlib's axes."""
        kinds = list(dict.fromkeys(bar.kind for bar in self.bars))
        for k, bar in enumerate(self.bars):
            colour = COLOURS[kinds.index(bar.kind) % len(COLOURS)]
            first = all(bar.kind != before.kind for before in self.bars[:k])
            axes.barh(k, bar.value, color=colour, label=bar.kind if first else None)
            axes.annotate(f" {bar.note}", (bar.value, k), va="center", fontsize=8)
        axes.set_yticks(range(len(self.bars)), [bar.label for bar in self.bars], fontsize=8)
        axes.invert_yaxis()
        axes.margins(x=0.5)
        axes.set_xlabel(self.across)
        if self.bars:
            axes.figure.legend(fontsize=8, loc="outside upper center", ncols=len(kinds))

    def __str__(self) -> str:
        notes = [f"{bar.note}, {bar.kind}" for bar in self.bars]
        lines = letters.bars([bar.label for bar in self.bars], [bar.value for bar in self.bars], notes)
        return "\n".join([self.across, *lines])


@dataclass(frozen=True, repr=False)
class Cells(Plot):
    """The nonzero pattern of a matrix, with lines between its blocks."""

    rows: Sequence[Sequence[bool]]
    row_cuts: Sequence[int]
    column_cuts: Sequence[int]
    title: str

    def draw(self, axes: Any) -> None:
        """Draw into matplotlib's axes."""
        axes.imshow([[int(cell) for cell in row] for row in self.rows], cmap="Blues", vmin=0, vmax=1.4, aspect="equal")
        for cut in self.row_cuts:
            axes.axhline(cut - 0.5, color=COLOURS[1], linewidth=1)
        for cut in self.column_cuts:
            axes.axvline(cut - 0.5, color=COLOURS[1], linewidth=1)
        axes.set_title(self.title, fontsize=9)

    def __str__(self) -> str:
        return "\n".join([self.title, *letters.cells(self.rows, self.row_cuts, self.column_cuts)])
