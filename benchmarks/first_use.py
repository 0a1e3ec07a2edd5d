"""Times the first use of an operation: a new process, an empty cache, value and gradient of a formula.

There are three variants: with the kernels shipped in the installation (`matcalc warm --ship`), with kernels compiled
here, and, with `--before CHECKOUT`, another version. Each time is the minimum of several rounds, in which the variants
alternate. Sources are compiled to bytecode first, as in an installation.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from matcalc.store.artefacts import shipped_folder
from matcalc.store.provenance import level_of_host

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "first_use.md"
SQUARE, PAIR = "A: matrix(n, n)", "A: matrix(n, n); Q: matrix(n, n) symmetric"
CONTROL = "A: matrix(n, n); B: matrix(n, m); Q: matrix(n, n) symmetric; R: matrix(m, m) spd"
CASES = {
    "logistic": ("sum(log(1 + exp(-y.*(X*w)))) + lam*w'*w", "w", "X: matrix(m, n); lam: scalar"),
    "least squares": ("norm2(X*w - y)^2", "w", "X: matrix(m, n)"),
    "logdet": ("logdet(S) + tr(inv(S)*C)", "S", "S: matrix(n, n) spd; C: matrix(n, n)"),
    "expm": ("sum(expm(A))", "A", SQUARE),
    "logm": ("sum(logm(A))", "A", SQUARE),
    "sqrtm": ("sum(sqrtm(A))", "A", SQUARE),
    "lyapunov": ("sum(lyapunov(A, Q))", "A", PAIR),
    "care": ("sum(care(A, B, Q, R))", "A", CONTROL),
    "dare": ("sum(dare(A, B, Q, R))", "A", CONTROL),
    "root": ("sum(root(Y*Y - A, Y, start=A))", "A", SQUARE),
    "norm_nuc": ("norm_nuc(A)", "A", "A: matrix(m, n)"),
    "lambda_max": ("lambda_max(S)", "S", "S: matrix(n, n) symmetric"),
    "eigvals, logm": ("sum(logm(S))", "S", "S: matrix(n, n) spd"),
}
PROGRAM = """
import json, resource, sys, time
from pathlib import Path

def seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime

if WITHOUT:
    from matcalc.store import artefacts
    artefacts.data_folder = lambda name: Path("/nowhere")
import matcalc as mc

text, wrt, declarations = json.loads(sys.argv[1])
start = seconds()
fn = mc.value_and_gradient(text, wrt, declarations=declarations)
end = seconds()
stats = {name: took for name, took in fn.stats.items() if isinstance(took, float)}
print(json.dumps([end[0] - start[0], end[1] - start[1], end[1], stats]))
"""


def first_use(case: tuple[str, str, str], checkout: Path, bytecode: str, without: bool) -> list[float]:
    """Return seconds of a call: wall and CPU; CPU of the process before it, of the kernels and of the function."""
    with tempfile.TemporaryDirectory() as cache:
        settings = {**os.environ, "MATCALC_CACHE": cache, "PYTHONPATH": str(checkout), "OPENBLAS_NUM_THREADS": "1"}
        settings |= {"PYTHONPYCACHEPREFIX": bytecode}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)
        program = PROGRAM.replace("WITHOUT", str(without))
        command = [sys.executable, "-c", program, json.dumps(case)]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=settings, cwd=cache)
    wall, used, whole, stats = json.loads(run.stdout.splitlines()[-1])
    return [wall, used, whole, stats["kernels"], stats["compile"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="another version, to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    given = parser.parse_args()
    ways: dict[str, tuple[Path, bool]] = {"before": (given.before.resolve(), False)} if given.before else {}
    ways["compiled here"] = ROOT, True
    files = sorted(shipped_folder().glob("*"))
    if files:
        ways["shipped"] = ROOT, False
    best: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as bytecode:
        for checkout, without in ways.values():
            first_use(CASES["expm"], checkout, bytecode, without)
        for number in range(given.rounds):
            for name in given.only:
                for way, (checkout, without) in ways.items():
                    took = first_use(CASES[name], checkout, bytecode, without)
                    best[name, way] = list(map(min, took, best.get((name, way), took)))
            print(f"round {number + 1} of {given.rounds}", file=sys.stderr)
    RESULT.write_text(table(given.only, list(ways), best, sum(path.stat().st_size for path in files)), "utf-8")
    print(RESULT.read_text("utf-8"))


def table(names: list[str], ways: list[str], best: dict[tuple[str, str], list[float]], size: int) -> str:
    """Return the results as Markdown."""
    level = level_of_host()
    lines = [
        "# First use: seconds of a new process with an empty cache",
        "",
        "Value and gradient, `mc.value_and_gradient` in a process of its own: wall clock and CPU of the call, CPU of",
        "the whole process until then. The least of several rounds, sources compiled to bytecode before.",
        "",
        f"Processor: level {level.name if level else 'none'}; shipped kernels of all levels: {size / 1e6:.2f} MB.",
    ]
    for k, title in enumerate(
        ["The call, wall clock", "The call, CPU", "The whole process, CPU", "Of the call: kernels, with Numba's import",
         "Of the call: Numba on the function itself"]
    ):  # fmt: skip
        lines += ["", f"## {title}", "", f"| operation | {' | '.join(ways)} |", f"|---|{'---:|' * len(ways)}"]
        for name in names:
            cells = " | ".join(f"{best[name, way][k]:.2f}" for way in ways)
            lines.append(f"| {name}: `{CASES[name][0]}` | {cells} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
