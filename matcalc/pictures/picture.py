"""Defines pictures: SVG in notebooks and files, text in a terminal."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path

from matcalc.errors import NotSupported

TEXT = (".txt", "")


class Picture(ABC):
    """A picture; a notebook shows it as SVG, printing shows it as text."""

    @property
    @abstractmethod
    def svg(self) -> str:
        """The picture as the text of an SVG file."""

    @abstractmethod
    def __str__(self) -> str: ...

    def __repr__(self) -> str:
        return str(self)

    def _repr_svg_(self) -> str | None:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as `.svg` or, as text, `.txt`; charts also as `.png` and `.pdf`, with matplotlib.

        Raises: NotSupported for another suffix; OSError.
        """
        place = Path(path)
        suffix = place.suffix.lower()
        if suffix == ".svg":
            place.write_text(self.svg, encoding="utf-8")
        elif suffix in TEXT:
            place.write_text(f"{self}\n", encoding="utf-8")
        else:
            self._save_as(place)

    def _save_as(self, place: Path) -> None:
        """Write the picture in another format. Raises: NotSupported if there is none."""
        raise NotSupported(f"{place.name}: a graph is written as .svg or .txt")
