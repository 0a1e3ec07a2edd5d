"""Counts how the array accesses of compiled programs are proved or tested, over the problems and operations.

    python -m benchmarks.accesses          prints the table of results/accesses.md

Nothing is compiled or timed; programs are only planned and proved.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from problems import FORWARD_SEED, Problem, load

import matcalc as mc
from matcalc.expressions.expression import Expression
from matcalc.pipeline.build import planned, request_of

HEAD = ["| problem | discharged | hoisted | guarded |", "|---|---:|---:|---:|"]


def formulas(problem: Problem) -> list[Expression]:
    """Return the program that is compiled for a problem."""
    f = mc.expression(problem.formula, problem.declarations)
    wrt = list(problem.wrt)
    if problem.gives == "gradient":
        return [f, *f.gradient(wrt)]
    if problem.gives == "pullback":
        return [f, *f.vjp(wrt, cotangent=FORWARD_SEED)]
    return [f.hessian(wrt[0]) if problem.gives == "hessian" else f.jacobian(wrt[0])]


def main() -> None:
    for name in ("problems", "operations"):
        print(f"## {name}", "", *HEAD, sep="\n")
        total = [0, 0, 0]
        for problem in load(name):
            outputs = formulas(problem)
            proof = planned(request_of(outputs, [f"result{k}" for k in range(len(outputs))])).program.proof
            assert proof is not None
            counts = [proof.discharged, len(proof.hoisted), len(proof.guarded)]
            total = [a + b for a, b in zip(total, counts, strict=True)]
            print(f"| {problem.name} | {' | '.join(map(str, counts))} |")
        print(f"| all | {' | '.join(map(str, total))} |\n")


if __name__ == "__main__":
    main()
