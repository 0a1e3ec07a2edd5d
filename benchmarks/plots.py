"""Plots time against size, log-log, one panel for each problem: `python benchmarks/plots.py report.json report.png`.

Reads the file that `run.py --json` writes. The size is the number of entries of all inputs; wrong results are omitted.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("agg")
from matplotlib import pyplot as plt

COLUMNS = 5
STYLES = {"matcalc": ("tab:blue", 2.0), "expert": ("black", 1.2)}


def draw(records: list[dict[str, Any]], target: Path) -> None:
    """Write a plot of records (problem, entries, library, seconds)."""
    problems = list(dict.fromkeys(r["problem"] for r in records))
    libraries = list(dict.fromkeys(r["library"] for r in records))
    rows = math.ceil(len(problems) / COLUMNS)
    figure, panels = plt.subplots(rows, COLUMNS, figsize=(3.2 * COLUMNS, 2.4 * rows), squeeze=False)
    for panel in panels.flat[len(problems) :]:
        panel.axis("off")
    for problem, panel in zip(problems, panels.flat, strict=False):
        for k, library in enumerate(libraries):
            own = [r for r in records if (r["problem"], r["library"], r["wrong"]) == (problem, library, False)]
            color, width = STYLES.get(library, (f"C{k}", 1.0))
            points = sorted((r["entries"], r["seconds"]) for r in own)
            panel.loglog(*zip(*points, strict=True), ".-", color=color, lw=width, label=library) if points else None
        panel.set_title(problem, fontsize=9)
        panel.tick_params(labelsize=7)
        panel.grid(visible=True, alpha=0.3)
    panels[0][0].legend(fontsize=7)
    figure.supxlabel("entries of all inputs")
    figure.supylabel("seconds a call")
    figure.tight_layout()
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    source, picture = map(Path, sys.argv[1:])
    draw(json.loads(source.read_text(encoding="utf-8"))["records"], picture)
