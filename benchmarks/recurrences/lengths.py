"""Measures what depends on the number of steps: the time to compile, the source, the time of a step, and stored states.

Each row is measured in a process of its own: `python -m benchmarks.recurrences.lengths MODEL CHECKPOINTS STEPS`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import matcalc as mc
from benchmarks.recurrences.least import least
from benchmarks.recurrences.models import MODELS

LENGTHS = (10, 100, 1000, 10_000, 100_000)
FEW = (1000, 100_000)
CHECKPOINTS = ("sqrt", "20")
READS_LATER = {"h[t+1] - y": "h[t] - y", "x[t+1] - Y": "x[t] - Y"}
"""Losses of states after the step, which an adjoint would store; with checkpoints they read the state before."""
COLUMNS = ("model", "checkpoints", "T", "CPU s to compile", "characters of source", "CPU us a step", "peak MB")
TEXT = """
## Length and stored states

Value and gradients at n = 20 (GARCH 1), compiled without a cache and with T as its typical size, each row in a process
of its own. Times are CPU times, that to compile with the process's children; so they do not contain the waits for other
processes, but these slow them down. The characters are those of the source. The time of a step is that of the fastest
call. The peak is that of the resident memory during one call, beyond the data. With checkpoints, the losses of the
network and of RK4 read the state before the step.

{when}, {cores} cores with a load of {load} (of five minutes).

| {columns} |
|---|---|{rules}
{rows}
"""


def reports() -> Iterator[str]:
    """Yield the second part of the report, after each row."""
    cases = [(name, "none", steps) for name in MODELS for steps in LENGTHS]
    cases += [(name, own, steps) for name in MODELS for own in CHECKPOINTS for steps in FEW]
    rows: list[str] = []
    loads = [os.getloadavg()[1]]
    for case in cases:
        command = [sys.executable, "-m", __name__, *map(str, case)]
        env = {**os.environ, "MATCALC_CACHE": "0"}
        rows.append(subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
        print(rows[-1], file=sys.stderr, flush=True)
        loads.append(os.getloadavg()[1])
        yield TEXT.format(
            when=f"{datetime.now(UTC):%Y-%m-%d}",
            cores=os.cpu_count(),
            load=" to ".join(f"{one:.1f}" for one in sorted({min(loads), max(loads)})),
            columns=" | ".join(COLUMNS),
            rules="---:|" * (len(COLUMNS) - 2),
            rows="\n".join(rows),
        )


def length_row(name: str, checkpoints: str, steps: int) -> str:
    """Return the cells of a row: seconds to compile, length of the source, time of a step, peak of the memory."""
    model, text = MODELS[name], MODELS[name].text
    if checkpoints != "none":
        for later, before in READS_LATER.items():
            text = text.replace(later, before)
    option = None if checkpoints == "none" else int(checkpoints) if checkpoints.isdecimal() else checkpoints
    sizes = {**model.sizes, "T": steps}
    start = cpu_seconds()
    function = mc.value_and_gradient(text, list(model.wrt), model.declarations, sizes=sizes, checkpoints=option)
    compiled = cpu_seconds() - start
    data, small = model.data(20, steps), model.data(20, 2)
    args = [data[k] for k in function.args]
    function(*[small[k] for k in function.args])
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = resident("VmRSS")
    function(*args)
    peak = resident("VmHWM") - before
    seconds = least({"": lambda: function(*args)}, time.process_time)[""]
    cells = (f"{compiled:.1f}", f"{len(function.source):,}", f"{1e6 * seconds / steps:.2f}", f"{peak:.1f}")
    return f"| {name} | {checkpoints} | {steps:,} | {' | '.join(cells)} |"


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that ended."""
    return sum(os.times()[:4])


def resident(field: str) -> float:
    """Return the resident memory of this process, or its peak, in megabytes (Linux)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


if __name__ == "__main__":
    print(length_row(sys.argv[1], sys.argv[2], int(sys.argv[3])))
