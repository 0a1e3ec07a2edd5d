"""Write the reference of functions from `rules/`: a page for each family, with a picture of each elementwise function.

`conf.py` calls `write` before each build; what is written is not kept in the repository.  python docs/function_pages.py
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np

import matcalc as mc
from matcalc.commands.rule_pages import Page, family, latex_lines, page, signatures
from matcalc.expressions.expression import Expression
from matcalc.rulebook.load import shipped_rulebook
from matcalc.rulebook.rule import Rule

mpl.use("agg")
from matplotlib import pyplot as plt

FOLDER = Path(__file__).with_name("functions")
FILES = {"elementwise": "Elementwise functions", "reductions": "Reductions", "structure": "Structure",
         "linalg": "Linear algebra", "spectral": "Spectra and matrix functions"}  # fmt: skip
LABELS = {"domain": "Domain", "gauge": "Choice", "opaque": "No derivative"}
SOURCES = tomllib.loads(Path(__file__).with_name("sources.toml").read_text(encoding="utf-8"))
INPUTS = tomllib.loads((Path(__file__).parent.parent / "benchmarks/accuracy/inputs.toml").read_text(encoding="utf-8"))
ELEMENTARY = "the formula above; its derivative is elementary"
OTHERS = (2, 3, 4)
"""Values of the arguments that a picture does not vary."""
MEASURES = {"value": "value", "jvp": "pushforward", "vjp": "pullback", "second": "second derivative"}
RANGE = np.linspace(-4.0, 4.0, 801)

HEAD = """\
# {title}

`Y` is the value, `G` the cotangent of it; a bar marks the pullback, which is derived from the differential. Errors
are the worst relative ones that were measured against many digits, on random, near-degenerate, graded and scaled data.

"""


def write() -> None:
    """Write all pages and pictures."""
    FOLDER.mkdir(exist_ok=True)
    rules = [rule for rule in shipped_rulebook().rules.values() if not rule.internal]
    index = ["# Functions", "", "Every operation of the rulebook: what it is, its derivative, where it is defined.", "",
             "```{toctree}", ":maxdepth: 2", ""]  # fmt: skip
    for name, title in FILES.items():
        own = [rule for rule in rules if rule.address.startswith(f"rules/{name}.toml")]
        text = HEAD.format(title=title) + "\n".join(line for part in by_family(own) for line in part)
        (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")
        index.append(name)
    (FOLDER / "index.md").write_text("\n".join([*index, "```", ""]), encoding="utf-8")


def by_family(rules: list[Rule]) -> Iterator[list[str]]:
    found = ""
    for rule in rules:
        if family(rule) != found:
            found = family(rule)
            yield [f"## {found[:1].upper()}{found[1:]}", ""]
        yield section(rule)


def section(rule: Rule) -> list[str]:
    """Return what the reference says of one rule."""
    of = page(rule)
    lines = [f"### {rule.name}", "", *(f"`{signature}`" for signature in signatures(rule)), ""]
    if rule.opaque is None:
        lines += display(of)
    aliases = rule.fields.get("aliases", [])
    if aliases:
        lines += ["Also " + ", ".join(f"`{alias}`" for alias in aliases) + ".", ""]
    for field, label in LABELS.items():
        if said := getattr(rule, field):
            lines += [f"*{label}:* {code_in(str(said))}", ""]
    lines += [f"*Source:* {rule.source or SOURCES.get(rule.name, ELEMENTARY)}.", ""]
    errors = [f"{label} {of.errors[key]:.1e}" for key, label in MEASURES.items() if key in of.errors]
    said = ", ".join(errors) or f"none: {INPUTS[rule.name]['unmeasured']}"
    lines += [f"*Measured error:* {said}.", ""]
    return lines + (picture(rule) if is_plotted(rule) else [])


def display(of: Page) -> list[str]:
    """Return formulas and derived pullbacks, typeset and as they are typed, one a line."""
    lines = [f"{left} = {right}" for left, right in of.formulas.items()]
    lines += [f"{left} = {right}" for left, right in of.adjoints.items() if isinstance(right, Expression)]
    rows = latex_lines(of)
    typeset = (
        ["```{math}", "\\begin{aligned}", *(f"{row} \\\\" for row in rows), "\\end{aligned}", "```", ""] if rows else []
    )
    return [*typeset, "```text", *lines, "```", ""] if lines else []


def code_in(text: str) -> str:
    """Return words with what looks like a formula as code."""
    return re.sub(r"(?<![`\w])(\w+\([^()]*\)|\w+\[[^\]]*\])", r"`\1`", text)


def is_plotted(rule: Rule) -> bool:
    return rule.kind == "map" and varied(rule) is not None


def varied(rule: Rule) -> str | None:
    """Return the argument along which a function is drawn: x, else the first that it may be differentiated in."""
    names = [p.name for p in rule.parameters if p.kind == "entry"]
    return "x" if "x" in names else next(iter(names), None)


def picture(rule: Rule) -> list[str]:
    """Draw an elementwise function and its derivative where they are numbers."""
    x, others = varied(rule), iter(OTHERS)
    call = f"{rule.name}({', '.join(p.name if p.name == x else str(next(others)) for p in rule.parameters)})"
    f = mc.expression(call, f"{x}: scalar")
    figure, axes = plt.subplots(figsize=(4.2, 2.6))
    for e, label, style in ((f, call, "-"), (f.gradient(x), f"derivative in {x}", "--")):
        values = np.array([evaluated(e, {x: at}) for at in RANGE])
        values[np.abs(values) > 8] = np.nan
        axes.plot(RANGE, values, style, label=label)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(FOLDER / f"{rule.name}.svg")
    plt.close(figure)
    return [f"![{call} and its derivative in {x}]({rule.name}.svg)", ""]


def evaluated(e: mc.Expression, at: dict[str, float]) -> float:
    """Return a value at a point, NaN where there is none."""
    try:
        with np.errstate(all="ignore"):
            return float(e(**at) if e.symbols else e())
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):
        return float("nan")


if __name__ == "__main__":
    write()
