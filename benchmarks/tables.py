"""Formats the results as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log

from measure import Timing

Results = dict[tuple[str, str], list[Timing]]


def head(names: Iterable[str]) -> str:
    """Return the head of the table of problems."""
    others = [n for n in names if n != "matcalc"]
    return "\n".join(
        [
            "Time of matcalc in us, and time of each other / time of matcalc; x: wrong, -: not able.",
            "",
            f"| problem | size | matcalc | {' | '.join(others)} |",
            "|---|---|---:|" + "---:|" * len(others),
        ]
    )


def row(problem: str, size: str, names: Iterable[str], timings: list[Timing]) -> str:
    by_name = {t.library: t for t in timings}
    own = by_name.get("matcalc")
    if own is None:
        return f"| {problem} | {size} | - | {' | '.join('-' for n in names if n != 'matcalc')} |"
    cells = []
    for name in names:
        if name == "matcalc":
            continue
        timing = by_name.get(name)
        cells.append("-" if timing is None else "x" if timing.wrong else f"{timing.best / own.best:.2f}")
    mark = " x" if own.wrong else ""
    return f"| {problem} | {size} | {own.best * 1e6:.4g}{mark} | {' | '.join(cells)} |"


def summary(results: Results, names: Iterable[str]) -> str:
    """Return geometric means of matcalc's time divided by that of each library and of the fastest peer."""
    sizes = list(dict.fromkeys(size for _, size in results))
    lines = ["\n## Time of matcalc / time of a library, geometric mean\n"]
    lines += [f"| library | {' | '.join(sizes)} |", "|---|" + "---:|" * len(sizes)]
    columns: dict[str, dict[str, list[float]]] = {}
    losing: list[tuple[float, str]] = []
    for (problem, size), timings in results.items():
        own = next((t for t in timings if t.library == "matcalc"), None)
        if own is None:
            losing.append((float("inf"), f"{problem} {size}: not able"))
            continue
        right = {t.library: own.best / t.best for t in timings if not t.wrong and t.library != "matcalc"}
        peers = {name: ratio for name, ratio in right.items() if name not in ("expert", "bare")}
        if own.wrong:
            losing.append((float("inf"), f"{problem} {size}: WRONG"))
            continue
        if peers:
            name, ratio = max(peers.items(), key=lambda item: item[1])
            right["fastest peer"] = ratio
            if ratio > 1:
                losing.append((ratio, f"{problem} {size}: {ratio:.2f} of {name}"))
        for name, ratio in right.items():
            columns.setdefault(name, {}).setdefault(size, []).append(ratio)
    for name in ("fastest peer", *names):
        if name in columns:
            cells = [f"{mean(columns[name].get(size, [])):.2f}" for size in sizes]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    worst = [text for _, text in sorted(losing, reverse=True)]
    lines.append(f"\nSlower than the fastest peer: {'; '.join(worst) or 'nowhere'}.")
    return "\n".join(lines)


def mean(ratios: list[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios)) if ratios else float("nan")


def compile_times(results: Results) -> str:
    """Return seconds from the formula to the first result, at the first size of each problem."""
    first: dict[str, dict[str, float]] = {}
    for (problem, _), timings in results.items():
        for timing in timings:
            first.setdefault(timing.library, {}).setdefault(problem, timing.first)
    lines = ["\n## Seconds from the formula to the first result (kernels that an earlier problem needed are there)\n"]
    lines += ["| library | median | worst | |", "|---|---:|---:|---|"]
    for name, by_problem in first.items():
        times = sorted((seconds, problem) for problem, seconds in by_problem.items())
        lines.append(f"| {name} | {times[len(times) // 2][0]:.3f} | {times[-1][0]:.2f} | {times[-1][1]} |")
    return "\n".join(lines)
