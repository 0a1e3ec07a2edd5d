"""Write `cookbook.md`: equations of the Matrix Cookbook (2012), each a block that runs.  python docs/cookbook.py

The formulas and the book's answers are those of `tests/cases/identities.json`; the tests prove each pair equal.
"""

import json
import re
from pathlib import Path

import matcalc as mc

PAGE = Path(__file__).with_name("cookbook.md")
CASES = PAGE.parent.parent / "tests" / "cases" / "identities.json"
CALLS = {"gradient": mc.gradient, "jacobian": mc.jacobian, "hessian": mc.hessian, "differential": mc.differential}
FIRST = {8: 32, 9: 49, 10: 60, 11: 76, 12: 92, 13: 106, 14: 124, 15: 134, 16: 143}
"""The number of the first equation on each page of the book."""

HEAD = """\
# The Matrix Cookbook, by number

The derivatives of *The Matrix Cookbook* (Petersen & Pedersen, version of 15 November 2012), by equation number and
page. Each block computes the derivative of the formula with that number. The book's answer follows in the same
notation. The tests prove the two equal for every entry. `python docs/cookbook.py` writes this page from
`tests/cases/identities.json`.

```python
>>> import matcalc as mc

```
"""


def page() -> str:
    """Return the page in Markdown."""
    return HEAD + "\n".join(block(number, case) for number, case in numbered())


def numbered() -> list[tuple[int, dict[str, str]]]:
    """Return the entries that have a number in the book, in its order; of one number the first."""
    found: dict[int, dict[str, str]] = {}
    for case in json.loads(CASES.read_text(encoding="utf-8")):
        number = re.match(r"Matrix Cookbook 2012 eq\.(\d+)", case.get("source", ""))
        if number and case["kind"] in CALLS:
            found.setdefault(int(number[1]), case)
    return sorted(found.items())


def block(number: int, case: dict[str, str]) -> str:
    """Return the part of the page that one equation has."""
    shown = CALLS[case["kind"]](case["text"], case["wrt"], case["let"])
    call = f'mc.{case["kind"]}("{case["text"]}", "{case["wrt"]}", "{case["let"]}")'
    note = f" ({case['note']})" if case["kind"] == "gradient" and case["note"] else ""
    on = max(page for page, first in FIRST.items() if first <= number)
    lines = [f"\n## ({number}), page {on}", "", "```python", f">>> print({call})", str(shown), "", "```", ""]
    return "\n".join([*lines, f"The book: `{case['derivative']}`{note}.", ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
