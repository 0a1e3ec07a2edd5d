"""Measures how many wrong lines the self-test of exported files detects: six files, mutants with one wrong line each.

    python -m benchmarks.export_mutants --count 200 --target numpy      # writes results/export_mutants_numpy.md

A mutant is one change in one statement: a sign, an operator, a number, another name, a transpose, an omitted statement.
All are enumerated; `--count` of them are drawn with a fixed seed, evenly from the files. Each runs as `python FILE` in
a process of its own. A mutant is caught if its exit status is not 0. Survivors are listed with the reasons in
`export_equivalent.toml`; a survivor without a reason makes the command fail.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import runpy
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from matcalc.api.export import exported

HERE = Path(__file__).parent
GP = "K = s^2*exp(-D/(2*l^2)) + t^2*eye(n); y'*inv(K)*y/2 + logdet(K)/2"
FILES = {  # formula, variables, declarations, exported results
    "logistic": (
        "sum(log(1 + exp(-y .* (X*w)))) + lam*w'*w",
        "w",
        "lam: scalar positive",
        ("value", "gradient", "hvp"),
    ),
    "factors": ("norm2(P .* (M - U*V'))^2/2", ["U", "V"], "P, M: matrix(m, n)", ("value", "gradient")),
    "gaussian": (
        "n*logdet(S) + tr(inv(S)*(X - ones(n)*mu')'*(X - ones(n)*mu'))",
        ["mu", "S"],
        "X: matrix(n, p); mu: vector(p); S: matrix(p, p) spd",
        ("value", "gradient"),
    ),
    "process": (GP, ["s", "l", "t"], "D: matrix(n, n) symmetric; y: vector(n); s, t, l: scalar", ("value", "gradient")),
    "expm": ("tr(expm(X)*A)", "X", "", ("value", "gradient")),
    "nuclear": (
        "norm2(P .* (X - M))^2/2 + c*norm_nuc(X)",
        "X",
        "c: scalar positive; X, P, M: matrix(m, n)",
        ("value", "gradient"),
    ),
}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Pow: ast.Mult}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--target", choices=("numpy", "numba", "torch", "jax", "c"), default="numpy")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    reasons = tomllib.loads((HERE / "export_equivalent.toml").read_text())
    rows, survivors, unknown = [], [], 0
    for number, (name, (formula, wrt, let, what)) in enumerate(FILES.items()):
        text = exported(formula, wrt, what, let, target=chosen.target)
        in_c = chosen.target == "c"
        found = list(dict.fromkeys((mutants_of_c if in_c else mutants)(text)))
        share = chosen.count // len(FILES) + (number < chosen.count % len(FILES))
        drawn = random.Random(chosen.seed).sample(found, min(share, len(found)))
        alive = [change for change in drawn if (survives_in_c if in_c else survives)(text, *change)]
        lines = text.splitlines()
        below = next(k for k, line in enumerate(lines) if line[2:].lstrip().startswith("---- The mathematics ends"))
        rows.append(
            f"| {name} | {len(text.encode()):,} | {len(lines)} | {below} | {len(found)} | {len(drawn)} | "
            f"{len(drawn) - len(alive)} |"
        )
        for line, new in alive:
            old = lines[line].split("  /*" if in_c else "  #")[0].strip()
            reason = reasons.get(name, {}).get(f"{old} -> {new}", "")
            unknown += not reason
            survivors.append(f"| {name} | `{old}` | `{new}` | {reason or 'NOT KNOWN'} |")
    head = (
        "| file | bytes | lines | of mathematics | possible mutants | drawn | caught |\n|---|---|---|---|---|---|---|"
    )
    report = [
        f"# Mutants of exported files ({chosen.target})\n\nBy `python -m benchmarks.export_mutants --count "
        f"{chosen.count} --target {chosen.target} --seed {chosen.seed}`.\n\n{head}",
        *rows,
        "\n## Survivors\n\n| file | line | mutant | why it is not caught |\n|---|---|---|---|",
        *survivors,
    ]
    (HERE / "results" / f"export_mutants_{chosen.target}.md").write_text("\n".join(report) + "\n")
    print("\n".join(report))
    return 1 if unknown else 0


def mutants(text: str) -> Iterator[tuple[int, str]]:
    """Yield changes of one line of the mathematics: its number and the new text."""
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef) and function.name.endswith(("_into", "_array")):
            names = [arg.arg for arg in function.args.args]
            for statement in ast.walk(function):
                if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.For | ast.Return):
                    yield from _changes(statement, names)
                if isinstance(statement, ast.Assign):
                    names += [t.id for t in statement.targets if isinstance(t, ast.Name)]


def _changes(statement: ast.stmt, names: list[str]) -> Iterator[tuple[int, str]]:
    line = statement.lineno - 1
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return
    if not isinstance(statement, ast.For | ast.Return):
        yield line, "pass"
    if isinstance(statement, ast.For):
        statement = ast.For(statement.target, statement.iter, [ast.Pass()], [])
    for place, node in enumerate(ast.walk(statement)):
        for change in _of(node, names):
            yield line, _with(statement, place, change)


def _of(node: ast.AST, names: list[str]) -> list[ast.AST]:
    """Return the replacements for a node."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return [ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [node.operand]
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return [ast.Constant(node.value + 1), ast.Constant(node.value * 1.001)] if node.value else [ast.Constant(1)]
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return [node.value]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        at = names.index(node.id)
        return [ast.Name(names[at - 1], ast.Load())] if len(names) > 1 else []
    if isinstance(node, ast.AugAssign):
        return [ast.AugAssign(node.target, OPERATORS.get(type(node.op), ast.Sub)(), node.value)]
    return []


def _with(statement: ast.stmt, place: int, change: ast.AST) -> str:
    """Return the text of a statement, the header of a loop, with its node number `place` changed."""
    mutant = copy.deepcopy(statement)
    old = list(ast.walk(mutant))[place]
    if old is mutant:
        mutant = change
    else:
        for parent in ast.walk(mutant):
            for field, value in ast.iter_fields(parent):
                if value is old:
                    setattr(parent, field, change)
                elif isinstance(value, list) and any(v is old for v in value):
                    value[[v is old for v in value].index(True)] = change
    text = ast.unparse(ast.fix_missing_locations(mutant))
    return text.splitlines()[0] if isinstance(statement, ast.For) else text


def mutants_of_c(text: str) -> Iterator[tuple[int, str]]:
    """Yield changes of one line of the mathematics in a C file, as `mutants` does; array indices do not change."""
    head = inside = False
    for number, line in enumerate(text.splitlines()):
        if line.startswith("static"):
            head = "_into(" in line
        inside = (inside or head and line == "{") and line != "}"
        statement = line.split("  /*")[0].strip()
        if not inside or not STATEMENT.fullmatch(statement) or "work" in statement.partition("=")[0]:
            continue
        if not DECLARED.match(statement):
            yield number, ";"
        first = statement.find("=") + 1
        hidden = INSIDE.sub(lambda found: "_" * len(found.group()), statement)
        for sign, other in SIGNS.items():
            for at in [k for k in range(first, len(hidden)) if hidden.startswith(sign, k)]:
                yield number, statement[:at] + other + statement[at + len(sign) :]
        for literal in NUMBER.finditer(hidden, first):
            changed = repr(float(literal.group()) * 1.001 or 1.0)
            yield number, statement[: literal.start()] + changed + statement[literal.end() :]


STATEMENT = re.compile(r"(?!\(void\)|return|for|if|while|\}|\w*matrix |\w*vector |int64_t|static).*;")
DECLARED = re.compile(r"double \w+ =")
INSIDE = re.compile(r"\[[^\]]*\]")
SIGNS = {" + ": " - ", " - ": " + ", "*": " + ", "/": "*", " += ": " -= "}
NUMBER = re.compile(r"(?<![\w.])\d+\.\d*(?:e[+-]?\d+)?")


def survives_in_c(text: str, line: int, new: str) -> bool:
    """Whether the mutant passes its self-test."""
    lines = text.splitlines()
    lines[line] = new
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "mutant.c", Path(folder) / "mutant"
        source.write_text("\n".join(lines) + "\n")
        options = ["-std=c99", "-O1", "-w", "-DMATCALC_TEST", "-llapacke", "-lopenblas", "-lm"]
        subprocess.run(["gcc", str(source), "-o", str(program), *options], check=True)
        return subprocess.run([str(program)], capture_output=True, check=False, timeout=120).returncode == 0


def survives(text: str, line: int, new: str) -> bool:
    """Whether the mutant passes its self-test."""
    lines = text.splitlines()
    pad = lines[line][: len(lines[line]) - len(lines[line].lstrip())]
    lines[line] = f"{pad}{new}"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.py"
        path.write_text("\n".join(lines) + "\n")
        child = os.fork()  # NumPy and SciPy are imported once, before the fork
        if not child:
            _run(path)
        return os.waitpid(child, 0)[1] == 0


def _run(path: Path) -> None:
    """Run a file as a program in this process, silently, for two minutes at most."""
    signal.alarm(120)
    for entries in range(1, 129):  # NumPy reuses memory: unwritten results must not contain the oracle's
        [np.full(entries, np.nan) for _ in range(8)].clear()
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.argv = [str(path)]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as end:
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))
    except BaseException:
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
