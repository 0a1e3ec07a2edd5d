"""Prints the output of commands: in colour on a terminal, plain in a pipe or with NO_COLOR.

Colours need rich (`pip install matcalc-compiler[terminal]`); the characters stay the same.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TextIO

STYLES = {
    r"\b(WRONG|not equal|not convex|\d+ of \d+ wrong)\b": "bold red",
    r"\b(right|all right|proved|equal|convex)\b(?=[,: ]|$)": "green",
    r"(?<![\w.])\d+\.?\d*(e[-+]?\d+)?\b": "cyan",
    r"\b[A-Za-z_]\w*(?=\()": "blue",
    r"\[[^\[\]]*(rules/[\w.]+:\d+|rule|collect)[^\[\]]*\]$": "dim",
    r"(?m)^\s*\^+\s*$": "bold red",
    r"\b\w*Error\b(?=:)": "bold red",
}
"""Styles by pattern: words of verdicts, numbers, functions, reasons, carets."""


def say(text: object, output: TextIO | None = None) -> None:
    """Print a text, coloured on a terminal."""
    out = output or sys.stdout
    if not is_painted(out):
        print(text, file=out)
        return
    from rich.console import Console
    from rich.text import Text

    painted = Text(str(text))
    for pattern, style in STYLES.items():
        painted.highlight_regex(pattern, style)
    Console(file=out, highlight=False, soft_wrap=True).print(painted)


def is_painted(out: TextIO) -> bool:
    """Whether a stream is a terminal, colours are not switched off, and rich is installed."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return out.isatty() and not is_plain and find_spec("rich") is not None
