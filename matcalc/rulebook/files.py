"""Reads a rule file: its tables, and the line of each header and field.

A TOML reader reports no lines, so the text is searched for them. An unreadable file is a fault like any other,
reported with those of the other files.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from matcalc.rulebook.fields import Report
from matcalc.store.data_folders import data_folder

TABLES = ("prelude", "rewrite")
"""Names at the top of a rule file that are not operations."""


class RuleFile:
    """The tables of a rule file at `path`, or with `text` if it is passed; faults are added to `faults`."""

    def __init__(self, path: Path, faults: list[str], text: str | None = None) -> None:
        own = text is None and "\0" not in str(path) and path.resolve().parent == data_folder("rules")
        self.shown = f"rules/{path.name}" if own else path.as_posix()
        self.faults = faults
        self.tables: dict[str, Any] = {}
        text = self._text(path) if text is None else text
        self.lines = line_numbers(text)
        try:
            self.tables = tomllib.loads(text)
        except ValueError as error:  # of TOML, or an integer of too many digits
            found = re.search(r"at line (\d+)", str(error))
            faults.append(f"{self.shown}:{found[1] if found else text.count(chr(10)) + 1}: {error}")
        except RecursionError:
            faults.append(f"{self.shown}: lists and tables are nested too deeply")

    def _text(self, path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            self.faults.append(f"{self.shown}: is not UTF-8 text")
        except (OSError, ValueError) as error:  # ValueError: a path with a zero character
            reason = error.strerror if isinstance(error, OSError) else error
            self.faults.append(f"{self.shown}: cannot be read: {reason}")
        return ""

    def address(self, header: str, key: str = "") -> str:
        """Return file and line of a field, or of its header if the field has no line of its own."""
        line = self.lines.get((header, key), self.lines.get((header, ""), 1))
        return f"{self.shown}:{line}"

    def reporter(self, header: str, name: str) -> Report:
        """Return a function that adds faults of the fields below a header."""

        def report(key: str, message: str) -> None:
            self.faults.append(f"{self.address(header, key)}: [{name}] {message}")

        return report


def line_numbers(text: str) -> dict[tuple[str, str], int]:
    """Return the line of each header and of each field below it; the k-th `[[rewrite]]` is "rewrite k"."""
    found: dict[tuple[str, str], int] = {}
    header, count, quoted = "", 0, False
    for number, line in enumerate(text.split("\n"), 1):
        quotes = line.count("'''") + line.count('"""')
        title = re.match(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$", line)
        key = re.match(r"\s*([A-Za-z_]\w*)\s*=", line)
        if not quoted and title:
            header = title[2].strip("\"'")
            if title[1] == "[[":
                header, count = f"{header} {count}", count + 1
            found.setdefault((header, ""), number)
        elif not quoted and key:
            found.setdefault((header, key[1]), number)
        quoted ^= quotes % 2 == 1
    return found
