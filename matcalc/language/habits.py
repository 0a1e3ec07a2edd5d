"""Hints for spellings of other systems that do not parse: MATLAB's `A(:, 1)`, R's `%*%`, Julia's `exp.(x)`, `sin x`.

The spellings are data, `habits.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path


def habit(text: str, at: int) -> str:
    """Return the hint for a spelling of another system at a position where a text does not parse, or ""."""
    for before, after, hint in _habits():
        first, then = before.search(text[:at]), after.match(text, at)
        if first and then:
            return hint.format(**first.groupdict(), **then.groupdict())
    return ""


@cache
def _habits() -> Sequence[tuple[re.Pattern[str], re.Pattern[str], str]]:
    table = tomllib.loads(Path(__file__).with_name("habits.toml").read_text(encoding="utf-8"))["habit"]
    return [(re.compile(rf"(?:{one['before']})\Z"), re.compile(one["after"]), one["hint"]) for one in table]
