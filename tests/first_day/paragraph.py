"""A paragraph of a paper in LaTeX, with its value by NumPy, or with the words by which it is refused."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Paragraph(NamedTuple):
    """`fractions` are data between 0 and 1, `ranges` the sizes below which indices are.

    `refused` is a part of the message with which the paragraph is refused.
    """

    paper: str
    latex: str
    let: str
    wrt: str
    value: Callable[..., Any] | None
    fractions: Sequence[str] = ()
    ranges: Mapping[str, str] = {}
    refused: str = ""
