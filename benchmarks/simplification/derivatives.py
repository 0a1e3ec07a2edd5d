"""Prints the derivatives of the tables of cases as JSON: `python benchmarks/simplification/derivatives.py`.

It imports `matcalc` from PYTHONPATH and nothing else of this tree, so it also runs with an earlier version.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import matcalc as mc

HERE = Path(__file__).resolve().parent
CASES = HERE.parents[1] / "tests" / "cases"
TABLES = ("identities.json", "textbook.json", "derivatives.txt")
LINE = re.compile(r"(?P<kind>\w+) of (?P<text>.*) by (?P<wrt>\w+) = (?P<derivative>.*) \| (?P<let>.*)")
DERIVATIVES = {
    "gradient": mc.gradient, "jacobian": mc.jacobian, "hessian": mc.hessian, "differential": mc.differential,
    "vjp": mc.vjp,
}  # fmt: skip


def cases(table: str) -> list[dict[str, str]]:
    """Read the cases of a table: a list of objects, or lines `gradient of tr(X) by X = eye(n) | X: matrix(n, n)`."""
    text = (CASES / table).read_text(encoding="utf-8")
    if table.endswith(".json"):
        return json.loads(text)
    found = [LINE.fullmatch(line) for line in text.splitlines() if not line.startswith("#")]
    return [{"id": f"{number}", **match.groupdict()} for number, match in enumerate(found) if match]


def all_cases() -> Iterator[dict[str, str]]:
    """Yield the cases of the tables, the pullbacks of rules.json, and the gradients of adjoints.toml."""
    for table in TABLES:
        yield from ({**case, "table": table} for case in cases(table))
    for case in cases("rules.json"):
        for wrt in case["vjp"]:
            yield {**case, "table": "rules.json", "id": case["op"], "kind": "vjp", "wrt": wrt}
    entries = tomllib.loads((HERE.parent / "adjoints.toml").read_text(encoding="utf-8"))
    for name, entry in entries.items():
        of = entries.get(entry["formula"], entry)
        shared = {"text": of["formula"], "let": of["let"], "kind": "gradient"}
        yield {**shared, "table": "adjoints.toml", "id": name, "wrt": entry["wrt"]}


def derivative_of(case: dict[str, str]) -> mc.Expression:
    """Return the derivative that a case names."""
    options = {"convention": "magnus"} if case.get("convention") == "symmetric-independent" else {}
    return DERIVATIVES[case["kind"]](case["text"], case["wrt"], declarations=case["let"], **options)


def main() -> None:
    rows = []
    for case in all_cases():
        row = {name: case[name] for name in ("table", "id", "kind", "text", "wrt", "let")}
        try:
            derivative = derivative_of(case)
            row |= {"printed": str(derivative), "named": derivative.named()}
        except mc.MatcalcError as error:
            row["error"] = str(error)
        rows.append(row)
    json.dump(rows, sys.stdout)


if __name__ == "__main__":
    main()
