"""Prints the messages of inputs that people write wrong: `python -m benchmarks.messages` writes results/messages.md.

The inputs are in messages.toml. `--base TREE` adds the messages of an earlier version, whose package is in that tree.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "messages.md"
ROOT = HERE.parent


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, help="the tree of an earlier version")
    parser.add_argument("--json", action="store_true", help="print the messages of the package on the path")
    given = parser.parse_args(arguments)
    if given.json:
        print(json.dumps([message(text) for _, text in inputs()]))
        return
    now, before, commit = messages_of(ROOT), None, ""
    if given.base is not None:
        before = messages_of(given.base.resolve())
        command = ["git", "-C", str(given.base), "log", "-1", "--format=%h, %as"]
        commit = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    RESULT.write_text("\n".join(report(now, before, commit)) + "\n", encoding="utf-8")


def inputs() -> Iterator[tuple[str, str]]:
    """Yield the area and the text of each input."""
    areas = tomllib.loads((HERE / "messages.toml").read_text(encoding="utf-8"))
    for area, entry in areas.items():
        yield from ((area, text) for text in entry["inputs"])


def message(text: str) -> str:
    """Return the kind and the text of the error of an input; `no error` with the result where there is none."""
    import numpy as np
    import sympy as sp

    import matcalc as mc

    try:
        result = eval(text, {"mc": mc, "np": np, "sp": sp})
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return f"no error: {result}"


def messages_of(tree: Path) -> list[str]:
    """Return the messages of the package in a tree, from a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PYTHONPATH": str(tree), "MATCALC_CACHE": cache}
        command = [sys.executable, str(Path(__file__).resolve()), "--json"]
        made = subprocess.run(command, env=environment, cwd=tree, check=True, capture_output=True, text=True)
    return json.loads(made.stdout.splitlines()[-1])


def report(now: Sequence[str], before: Sequence[str] | None, commit: str) -> list[str]:
    """Return the inputs with their messages, as Markdown."""
    lines = ["# Messages", "", "Written by `python -m benchmarks.messages`."]
    if before is not None:
        changed = sum(a != b for a, b in zip(before, now, strict=True))
        lines += ["", f"Before is the commit {commit}. {changed} of {len(now)} messages are others now."]
    shown = ""
    for k, (area, text) in enumerate(inputs()):
        if area != shown:
            lines += ["", f"## {area}"]
            shown = area
        lines += ["", f"{k + 1}. `{text}`", ""]
        if before is not None and before[k] != now[k]:
            lines += ["    before", "", *indented(before[k]), "", "    now", ""]
        lines += indented(now[k])
    return lines


def indented(text: str) -> list[str]:
    return [f"        {line}".rstrip() for line in text.splitlines()]


if __name__ == "__main__":
    main()
