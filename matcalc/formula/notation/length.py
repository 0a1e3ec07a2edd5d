"""Measures the length of a formula in lexical tokens, by which printed results are compared."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"(?:\d+(?:\.(?![-+*/^'])\d*)?|\.\d+)(?:[eE][+-]?\d+)?"  # number
    r"|[^\W\d]\w*"  # name
    r"|\.\*\*|\*\*|\.[-+*/^']|//|[=!<>]=|->|\.\.\."  # operators of several characters
    r"|\S"
)


def tokens(text: str) -> int:
    """Return the number of tokens of a formula in the matrix language.

    Example:
        >>> tokens("2*X'*(X*w - y)")
        12
    """
    return len(_TOKEN.findall(text))
