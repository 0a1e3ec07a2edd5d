"""Compares the gradients of recurrences with those of textbooks, in tokens: `python -m benchmarks.adjoints`.

The equations of the formula itself are left out on both sides. A gradient is also compared with that of the textbook
by value, at random data.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import numpy as np

import matcalc as mc
from matcalc.formula.notation.length import tokens

HERE = Path(__file__).parent
HEAD = """# Adjoints of recurrences beside those of textbooks

Made by `python -m benchmarks.adjoints`: tokens of a gradient and its adjoint, without the equations of the formula.
Below, the printed form, then the textbook's."""
COLUMNS = "| example | in | matcalc | textbook |\n|---|---|---:|---:|"
SIZES = {"n": 3, "m": 2, "p": 2, "T": 4, "N": 4}


def lines_of(text: str) -> tuple[str, list[str]]:
    """Return the formula of a text and its equations."""
    body, _, rest = text.partition(" where ")
    lines, depth, begin = [], 0, 0
    for k, sign in enumerate(rest):
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            lines.append(rest[begin:k].strip())
            begin = k + 1
    return body, [*lines, rest[begin:].strip()]


def without(text: str, own: set[str]) -> str:
    """Return a text without its range and the equations of these names."""
    body, lines = lines_of(text)
    left = [line for line in lines if "<" not in line and line.partition("[")[0] not in own]
    return f"{body} where {', '.join(left)}"


def data_for(e: mc.Expression) -> dict[str, object]:
    """Return random data for the symbols of an expression; matrices that are positive definite where declared."""
    rng, found = np.random.default_rng(0), {}
    for name, node in e.names.symbols.items():
        shape = [size.evaluate(SIZES) if hasattr(size, "evaluate") else int(str(size)) for size in node.shape]
        x = rng.normal(size=shape) / 2
        x = x @ x.T + np.eye(len(x)) if "spd" in node.facts else np.abs(x) + 0.1 if "positive" in node.facts else x
        found[name] = x if x.ndim else float(x)
    return SIZES | found


def value(e: mc.Expression, data: dict[str, object]) -> np.ndarray:
    return np.asarray(e(**{name: data[name] for name in e.symbols}))


def main() -> int:
    entries = tomllib.loads((HERE / "adjoints.toml").read_text(encoding="utf-8"))
    table, wrong = [], []
    for name, entry in entries.items():
        whole = {
            **entries.get(entry["formula"], {}),
            **entry,
            **{"formula": entries.get(entry["formula"], entry)["formula"]},
        }
        e = mc.expression(whole["formula"], whole["let"])
        g = mc.gradient(e, whole["wrt"])
        _, forward = lines_of(whole["formula"])
        own = {line.partition("[")[0] for line in forward if "<" not in line}
        kept = ", ".join(line for line in forward if "<" not in line)
        limit = next(line for line in forward if "<" in line)
        body, backward = lines_of(whole["textbook"])
        theirs = mc.expression(f"{body} where {kept}, {', '.join(backward)}, {limit}", g.declarations)
        data = data_for(e)
        if not np.allclose(value(g, data), value(theirs, data), rtol=1e-10):
            wrong.append(name)
        shown = without(str(g), own)
        table.append((name, whole["wrt"], tokens(shown), tokens(whole["textbook"]), shown, whole["textbook"]))
    rows = [f"| {n} | {w} | {a} | {b} |" for n, w, a, b, _, _ in table]
    texts = [f"## {n}, in {w}\n\n    {ours}\n    {theirs}" for n, w, _, _, ours, theirs in table]
    page = "\n\n".join([HEAD, "\n".join([COLUMNS, *rows]), *texts])
    (HERE / "results" / "adjoints.md").write_text(page + "\n", encoding="utf-8")
    print("\n".join(rows), *(f"differs from the textbook: {name}" for name in wrong), sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
