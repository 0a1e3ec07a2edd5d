"""Compares long printed derivatives with papers' forms: `python -m benchmarks.longest` writes results/longest.md.

The forms are in longest.toml. A form is confirmed by values at random data of two sets of sizes, by differences of the
formula, and by `mc.equivalent`. The base is the commit that results/simplification_against.md names; its package is
taken from the repository.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import matcalc as mc
from benchmarks.simplification.against import key_of, rows_of, without_meanings
from benchmarks.simplification.derivatives import all_cases, derivative_of
from matcalc.formula.notation.length import tokens

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
RESULT = HERE / "results" / "longest.md"
AGAINST = HERE / "results" / "simplification_against.md"
MANY = 40
LONGER = 1.25
LARGEST, LARGEST_OF_DIFFERENCES = 1e-10, 1e-6
STEP = 3e-4
SIZES = ({"m": 5, "n": 3, "k": 2, "p": 4}, {"m": 7, "n": 4, "k": 3, "p": 5})
HEAD = """# The {many} longest results beside a paper's form

Written by `python -m benchmarks.longest`. The columns of tokens are: our plain text at the commit {base} (the base)
and now, ours with named parts, and a form as a person writes it in a paper, from `longest.toml`. All texts are
counted alike, their parts included; the meanings in words of operations that have no formula are left out. The ratio
is that of ours with named parts to the paper's, or of our plain text where that is shorter.

The error is the largest difference of the two values, relative to the largest entry, at random data of two sets of
sizes; results that have numbers for sizes are compared at two draws. Both texts may compile to the same code, so the
next column compares the paper's form with central differences of fourth order of the formula, in a random direction;
what is left there is the error of the differences. The last column is the verdict of `mc.equivalent`: a proof, or a
test at many random data. Books and papers are named where the form is theirs up to notation; the others are by hand.

The gradients of recurrences are left out: the commit {base} does not read them, and `adjoints.md` has them beside those
of textbooks. Below the table, each result has our plain text, ours with named parts if there are any, and the paper's
form."""
COLUMNS = """| | of | | by | base | now | with named parts | the paper's | ratio | error | from differences | equal |
|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---|"""


@dataclass(frozen=True)
class Result:
    """A printed derivative: its case, the expression, its text without and with named parts, and tokens at the base."""

    case: dict[str, str]
    derivative: mc.Expression
    plain: str
    named: str
    before: int

    @property
    def asked(self) -> tuple[str, str, str]:
        return self.case["kind"], self.case["text"], self.case["wrt"]

    @property
    def shortest(self) -> int:
        return min(tokens(self.plain), tokens(self.named))


def longest(base: dict[tuple[str, ...], str]) -> list[Result]:
    """Return the longest results of this tree among those that the base has too, longest first."""
    found = []
    for case in all_cases():
        if key_of(case) in base:
            d = derivative_of(case)
            plain, named = without_meanings(str(d)), without_meanings(d.named())
            found.append(Result(case, d, plain, named, tokens(without_meanings(base[key_of(case)]))))
    return sorted(found, key=lambda r: -tokens(r.plain))[:MANY]


def printed_at(commit: str) -> dict[tuple[str, ...], str]:
    """Return the derivatives that the package of a commit prints."""
    packed = subprocess.run(["git", "-C", ROOT, "archive", commit], capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        return {key_of(row): row["printed"] for row in rows_of(Path(folder)) if "printed" in row}


def data_for(e: mc.Expression, sizes: dict[str, int], seed: int) -> dict[str, object]:
    """Return random data for the symbols of an expression, with their declared facts."""
    rng, found = np.random.default_rng(seed), {}
    for name, node in e.names.symbols.items():
        shape = [size.evaluate(sizes) if hasattr(size, "evaluate") else int(str(size)) for size in node.shape]
        x = rng.normal(size=shape) / 2
        for fact, made in MADE.items():
            x = made(x) if fact in node.facts else x
        found[name] = x if x.ndim else float(x)
    return sizes | found


MADE = {
    "symmetric": lambda x: (x + x.T) / 2,
    "spd": lambda x: x @ x.T + np.eye(len(x)),
    "lower": lambda x: np.tril(x) + 2 * np.eye(len(x)),
    "positive": lambda x: np.abs(x) + 0.1,
}


def value(e: mc.Expression, data: dict[str, object]) -> np.ndarray:
    return np.asarray(e(**{name: data[name] for name in e.symbols}))


def relative(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of two arrays relative to the largest entry; infinite for two shapes."""
    return float(np.max(np.abs(one - other)) / np.max(np.abs(other))) if one.shape == other.shape else float("inf")


def error(ours: mc.Expression, theirs: mc.Expression) -> float:
    """Return the largest relative difference of two expressions at random data of both sets of sizes."""
    draws = [data_for(ours, sizes, seed) for seed, sizes in enumerate(SIZES)]
    return float(np.max([relative(value(ours, data), value(theirs, data)) for data in draws]))


def error_of_differences(case: dict[str, str], theirs: mc.Expression) -> float:
    """Return the largest relative difference of a derivative along a direction from central differences."""
    formula, by = mc.expression(case["text"], case["let"]), case["wrt"]
    found = []
    for seed, sizes in enumerate(SIZES):
        data, others = data_for(theirs, sizes, seed), data_for(formula, sizes, seed + len(SIZES))
        data = others | data
        facts = formula.names.symbols[by].facts
        D = np.random.default_rng(seed + 2 * len(SIZES)).normal(size=np.shape(data[by]))
        D = D + D.T if "spd" in facts or "symmetric" in facts else np.tril(D) if "lower" in facts else D
        D = data.get(f"d{by}", D)
        values = [value(formula, data | {by: data[by] + t * STEP * D}) for t in (-2, -1, 0, 1, 2)]
        slope = np.tensordot([1, -8, 0, 8, -1], values, 1) / (12 * STEP)
        bend = np.tensordot([-1, 16, -30, 16, -1], values, 1) / (12 * STEP**2)
        along = ALONG[case["kind"]]
        found.append(relative(*map(np.asarray, along(value(theirs, data), D, data.get("G"), slope, bend))))
    return float(np.max(found))


ALONG = {
    "gradient": lambda d, D, G, slope, bend: (np.sum(d * D), slope),
    "vjp": lambda d, D, G, slope, bend: (np.sum(d * D), np.sum(G * slope)),
    "differential": lambda d, D, G, slope, bend: (d, slope),
    "jacobian": lambda d, D, G, slope, bend: (d @ D, slope),
    "hessian": lambda d, D, G, slope, bend: (D @ d @ D, bend),
}
"""For each kind of derivative: its value along the direction D, and the same from differences of the formula."""


def shown(size: float) -> str:
    return f"{size:.0e}" if size else "0"


def main() -> int:
    named = re.search(r"the commit (\w+)", AGAINST.read_text(encoding="utf-8"))
    if named is None:
        sys.exit(f"{AGAINST.name} names no commit")
    entries = tomllib.loads((HERE / "longest.toml").read_text(encoding="utf-8"))["result"]
    forms = {(entry["kind"], entry["of"], entry["by"]): entry for entry in entries}
    rows, texts, wrong, ratios = [], [], [], []
    for number, result in enumerate(longest(printed_at(named[1])), 1):
        kind, of, by = result.asked
        counts = [result.before, tokens(result.plain), tokens(result.named)]
        lines = [f"## {number}. `{of}`, {kind} in `{by}`", "", f"    {result.plain}"]
        lines += [f"    {result.named}"] if result.named != result.plain else []
        form = forms.pop(result.asked, None)
        if form is None:
            rows.append(f"| {number} | `{of}` | {kind} | `{by}` | {' | '.join(map(str, counts))} | | | | | |")
            texts.append("\n".join([*lines, "", "No paper's form yet."]))
            continue
        case = result.case | {"let": form.get("let", result.case["let"])}
        ours = derivative_of(case)
        theirs = mc.expression(form["paper"], ours.declarations)
        far, farther = error(ours, theirs), error_of_differences(case, theirs)
        verdict = mc.equivalent(ours, theirs, domain="common").verdict
        ratio = result.shortest / tokens(form["paper"])
        ratios.append(ratio)
        cells = [*counts, tokens(form["paper"]), f"{ratio:.2f}", shown(far), shown(farther), verdict]
        rows.append(f"| {number} | `{of}` | {kind} | `{by}` | {' | '.join(map(str, cells))} |")
        lines += ["", f"{form['source']}:", "", f"    {form['paper']}"]
        lines += ["", f"Both are compared at `{form['let']}`."] if "let" in form else []
        lines += ["", form["why"]] if "why" in form else []
        texts.append("\n".join(lines))
        if not far <= LARGEST or not farther <= LARGEST_OF_DIFFERENCES or verdict == "different":
            wrong.append(f"differs by {far:.0e}, {farther:.0e}, {verdict}: {kind} of {of} in {by}")
        if (ratio >= LONGER) != ("why" in form):
            told = "a" if "why" in form else "no"
            wrong.append(f"{ratio:.2f} times as long, {told} line why: {kind} of {of} in {by}")
    wrong += [f"not among the longest: {kind} of {of} in {by}" for kind, of, by in forms]
    summary = (
        f"{len(ratios)} of {MANY} have a paper's form. Ours is shorter {sum(r < 1 for r in ratios)} times, as long "
        f"{sum(r == 1 for r in ratios)} times, longer {sum(r > 1 for r in ratios)} times, by a quarter or more "
        f"{sum(r >= LONGER for r in ratios)} times. The median of the ratios is {np.median(ratios):.2f}."
    )
    table = "\n".join([COLUMNS, *rows])
    page = "\n\n".join([HEAD.format(many=MANY, base=named[1]), summary, table, *texts])
    RESULT.write_text(page + "\n", encoding="utf-8")
    print(summary, *wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
