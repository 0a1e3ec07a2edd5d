"""Compares the printed derivatives of this tree with those of an earlier one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg as sl

import matcalc as mc
from benchmarks.simplification.derivatives import cases
from matcalc.formula.notation.length import tokens
from matcalc.language import syntax
from matcalc.language.read import read
from matcalc.language.write import text as written
from matcalc.rulebook.load import shipped_rulebook

HERE = Path(__file__).resolve().parent
MANY = 40
MEANINGS = re.compile(r"(?:, | where )\w+\([^()]*\) = \"[^\"]*\"")
FORMULAS = {r.spelling: r for r in shipped_rulebook().rules.values() if r.internal and r.shown}
STEP, APART = 1e-7, 1e-5


def against(base: Path) -> list[str]:
    """Compare the printed derivatives with those of another tree, without the meanings of operations."""
    before, now = ({key_of(row): row for row in rows_of(tree)} for tree in (base, HERE.parents[1]))
    both = [key for key in now if "printed" in now[key] and "printed" in before.get(key, {})]
    texts = {key: (without_meanings(before[key]["printed"]), without_meanings(now[key]["printed"])) for key in both}
    counts = {key: tuple(tokens(text) for text in texts[key]) for key in both}
    longer = [key for key in both if counts[key][1] > counts[key][0]]
    shorter = [key for key in both if counts[key][1] < counts[key][0]]
    lines = ["", "## Printed derivatives against an earlier version", ""]
    lines += [
        f"{len(both)} derivatives: {len(shorter)} are shorter in tokens, {len(longer)} longer. "
        f"{len(now) - len(both)} others have no result in one of the versions.",
    ]
    lines += ["", "| of | by | before | now | tokens |", "|---|---|---|---|---|"]
    for key in (*longer, *shorter):
        row, (old, new) = now[key], texts[key]
        shown = " | ".join(f"`{text}`" for text in (row["text"], row["wrt"], old, new))
        lines.append(f"| {shown} | {counts[key][0]}, {counts[key][1]} |")
    lines += errors([(now[key], texts[key]) for key in longer])
    longest = sorted(both, key=lambda key: -counts[key][1])[:MANY]
    lines += ["", f"## The {MANY} longest", "", "Tokens before, now, and now with named parts.", ""]
    lines += ["| of | by | now, with named parts | before | now | named |", "|---|---|---|---|---|---|"]
    for key in longest:
        row, named, lengths_ = now[key], without_meanings(now[key]["named"]), counts[key]
        shown = " | ".join(f"`{text}`" for text in (row["text"], row["wrt"], named))
        lines.append(f"| {shown} | {lengths_[0]} | {lengths_[1]} | {tokens(named)} |")
    whole = [sum(counts[key][k] for key in longest) for k in (0, 1)]
    whole.append(sum(tokens(without_meanings(now[key]["named"])) for key in longest))
    return [*lines, "", "In all {} before, {} now, {} with named parts.".format(*whole)]


def errors(rows: Sequence[tuple[dict[str, str], tuple[str, str]]]) -> list[str]:
    """Compare longer results and the older ones with central differences, at data with equal entries."""
    by_text = {case["text"]: case for case in cases("rules.json")}
    lines = [
        "",
        "The longer ones beside central differences of NumPy's values, at entries drawn from 1 and 2: the largest",
    ]
    lines += [
        "error of 20 draws. The derivative is the mean of those nearby: equal entries are moved 1e-5 apart, in all"
    ]
    lines += [
        "orders; so errors below 1e-4 are those of the differences. The last column counts the older text with an"
    ]
    lines += [
        "operation of the engine that stands for a formula, `over_hypot(x, y)`, written as it, `(x./hypot(x, y))`.",
        "",
    ]
    lines += ["| of | by | error before | now | before, written out |", "|---|---|---|---|---|"]
    for row, texts in rows:
        if row["text"] in by_text:
            before, now = (f"{worst(by_text[row['text']], row['wrt'], text):.1e}" for text in texts)
            shown = f"| `{row['text']}` | `{row['wrt']}` | {before} | {now} |"
            lines.append(f"{shown} {tokens(written_out(texts[0]))} |")
    return lines


def worst(case: dict[str, Any], wrt: str, pullback: str) -> float:
    """Return the largest difference of a pullback's text from central differences of the case's NumPy code."""
    found = 0.0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        data = {name: rng.integers(1, 3, s["shape"]).astype(float) for name, s in case["symbols"].items()}

        def value(x: np.ndarray, data: dict[str, np.ndarray] = data) -> np.ndarray:
            return np.asarray(eval(case["numpy"], {"np": np, "sl": sl}, data | {wrt: x}))

        x = data[wrt]
        G = rng.standard_normal(value(x).shape)
        shape = f"({', '.join(map(str, G.shape))})" if G.ndim else ""
        kind = ("scalar", "vector", "matrix")[G.ndim]
        formula = mc.expression(pullback, f"{case['let']}; G: {kind}{shape}")
        used = {str(name): (data | {"G": G})[str(name)] for name in formula.symbols}
        nearby = [APART * np.reshape(order, x.shape) for order in permutations(range(x.size))]
        expected = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            step = np.zeros_like(x)
            step[at] = STEP
            slopes = [np.sum(G * (value(x + d + step) - value(x + d - step))) for d in nearby]
            expected[at] = np.mean(slopes) / (2 * STEP)
        found = max(found, float(np.max(np.abs(np.asarray(formula(**used)) - expected))))
    return found


def written_out(text: str) -> str:
    """Return a formula in which operations of the engine that stand for a formula are written as it."""
    if not any(f"{name}(" in text for name in FORMULAS):
        return text
    return written(syntax.rebuild(read(text), _formula))


def _formula(node: syntax.Ast) -> syntax.Ast:
    rule = FORMULAS.get(syntax.call_name(node)) if node.head == "call" else None
    if rule is None or rule.shown is None:
        return node
    arguments = dict(zip((p.name for p in rule.signature.parameters), syntax.children(node), strict=True))
    return syntax.rebuild(read(rule.shown), lambda n: arguments.get(str(n.value), n) if n.head == "name" else n)


def rows_of(tree: Path) -> list[dict[str, str]]:
    """Return the derivatives that the package of a tree prints, in a process of its own."""
    command = [sys.executable, str(HERE / "derivatives.py")]
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PYTHONPATH": str(tree), "MATCALC_CACHE": cache}
        made = subprocess.run(command, env=environment, cwd=tree, check=True, capture_output=True, text=True)
    return json.loads(made.stdout)


def key_of(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("table", "kind", "text", "wrt", "let"))


def without_meanings(printed: str) -> str:
    """Return a formula without the meanings of its operations in words."""
    return MEANINGS.sub("", printed)
