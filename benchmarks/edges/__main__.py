"""Counts correct answers at degenerate inputs: `python -m benchmarks.edges [--peers /path/to/python]`.

The inputs are kinks, ties, repeated eigenvalues, singular matrices and tails, from tests/cases/rules.json, the `edge`
fields of the rulebook and edges.toml. matcalc answers as compiled code and by NumPy. PyTorch and JAX answer by
reverse mode, and by a Hessian-vector product if a second derivative is listed. An answer is *right*, a *subgradient*
other than that of least norm (right if any will do), *NaN* where a number is expected, *refused*, or *wrong*: a
plausible but incorrect number. Writes benchmarks/results/edges.md.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import matcalc as mc
from benchmarks.accuracy.case import Answer
from benchmarks.accuracy.peer import Peer, RefusedError
from benchmarks.edges.answers import Ours
from benchmarks.edges.inputs import Edge, edges

ROOT = Path(__file__).resolve().parent.parent.parent
TITLES = {"numba": "matcalc", "numpy": "matcalc, NumPy", "torch": "PyTorch", "jax": "JAX"}
GOOD = ("right", "subgradient")


def main() -> None:
    options = arguments()
    found = [e for e in edges() if options.only in e.text]
    answerers = {name: Ours(name) for name in ("numba", "numpy")}
    peers = {name: Peer(name, options.peers) for name in ("torch", "jax")} if options.peers else {}
    rows = []
    for edge in found:
        row = {name: judged(edge, ours.of(edge)) for name, ours in answerers.items()}
        for name, peer in peers.items():
            formula = edge.formula(name)
            row[name] = judged(edge, answers(peer, formula, edge)) if formula else ("-", "")
        rows.append(row)
        print(f"{edge.text[:60]:60s} {'  '.join(state for state, _ in row.values())}", flush=True)
    text = report(found, rows)
    if not options.only:
        (ROOT / "benchmarks" / "results" / "edges.md").write_text(text, encoding="utf-8")
    print(text[: text.index("| formula")])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="inputs whose formula contains this; no file is written then")
    parser.add_argument("--peers", default="", help="the Python that imports torch and jax")
    return parser.parse_args()


def answers(peer: Peer, formula: str, edge: Edge) -> dict[tuple[str, str], Answer]:
    """Return (argument, kind) -> the answer of a framework."""
    found: dict[tuple[str, str], Answer] = {}
    for wrt, kind in edge.expected:
        answer = peer.ask(
            formula, edge.plain, wrt, (kind,), edge.data, edge.G, edge.direction(wrt), edge.direction(wrt)
        )[kind]
        if isinstance(answer, str):
            found[wrt, kind] = RefusedError(answer)
        else:
            found[wrt, kind] = edge.projected(wrt, np.asarray(answer, dtype=float))
    return found


def judged(edge: Edge, answers: dict[tuple[str, str], Answer]) -> tuple[str, str]:
    """Return the worst state of all answers at an input, with the answer or error."""
    order = ("right", "subgradient", "refused", "NaN", "wrong")
    return max((state_of(edge, key, answers[key]) for key in edge.expected), key=lambda s: order.index(s[0]))


def state_of(edge: Edge, key: tuple[str, str], answer: Answer) -> tuple[str, str]:
    if isinstance(answer, Exception):
        lacking = isinstance(answer, mc.NotSupported) or str(answer).startswith("NotImplementedError")
        detail = f"{type(answer).__name__}: {str(answer).splitlines()[0]}"
        return ("right" if edge.kind == "undefined" and not lacking else "refused"), detail
    answer, listed = np.asarray(answer, dtype=float), edge.expected[key]
    if key[1] == "second" and edge.weights is not None:
        answer = np.sum(answer * edge.weights)
    if edge.kind == "undefined":
        return ("wrong" if np.all(np.isfinite(answer)) else "right"), shown(answer)
    if np.shape(answer) != np.shape(listed):
        return "wrong", f"shape {np.shape(answer)}"
    with np.errstate(all="ignore"):
        away = np.abs(answer - listed) > edge.rtol * np.abs(listed) + edge.atol
    if not np.any(away & (answer != listed)) and np.array_equal(np.isnan(answer), np.isnan(listed)):
        return "right", ""
    if not np.all(np.isfinite(answer)):
        return "NaN", shown(answer)
    if edge.kind == "mean" and edge.is_subgradient(key[0], answer):
        return "subgradient", shown(answer)
    return "wrong", shown(answer)


def shown(a: Answer) -> str:
    return np.array2string(np.asarray(a), precision=3, separator=" ").replace("\n", "")[:60]


def report(found: list[Edge], rows: list[dict[str, tuple[str, str]]]) -> str:
    """Return Markdown: the counts, then a line for each input."""
    names = list(rows[0])
    lines = ["# Degenerate inputs", "", *(__doc__ or "").splitlines()[2:], ""]
    lines += ["| inputs | " + " | ".join(TITLES[n] for n in names) + " |", "|---" * (len(names) + 1) + "|"]
    sources = list(dict.fromkeys(edge.source for edge in found))
    for source in [*sources, "all"]:
        counted = [row for edge, row in zip(found, rows, strict=True) if source in ("all", edge.source)]
        counts = [summary([row[name][0] for row in counted]) for name in names]
        lines.append(f"| {len(counted)} {source} | {' | '.join(counts)} |")
    lines += [
        "",
        "| formula | at | " + " | ".join(TITLES[n] for n in names) + " | why |",
        "|---" * (len(names) + 3) + "|",
    ]
    for edge, row in zip(found, rows, strict=True):
        cells = [state if state in GOOD or state == "-" else f"**{state}**" for state, _ in row.values()]
        lines.append(f"| `{escaped(edge.text)}` | {edge.place} | {' | '.join(cells)} | {escaped(edge.why)} |")
    return "\n".join(lines) + "\n"


def summary(states: list[str]) -> str:
    """Return the number of right answers and of each other state."""
    asked = sum(s != "-" for s in states)
    rest = {s: states.count(s) for s in ("subgradient", "wrong", "NaN", "refused") if s in states}
    text = f"**{sum(s in GOOD for s in states)}** right" + (f" of {asked} asked" if asked < len(states) else "")
    return text + (f" ({', '.join(f'{n} {s}' for s, n in rest.items())})" if rest else "")


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
