"""Writes the table of the whole rulebook in rules/README.md from its entries.

python tests/rules/readme.py
"""

from matcalc.commands.rule_pages import counted, page, signatures, worst
from matcalc.expressions.expression import Expression
from matcalc.rulebook.load import shipped_rulebook
from matcalc.store.data_folders import data_folder

MARK = "<!-- below: python tests/rules/readme.py -->"
HEAD = """`Y` is the value, `G` the cotangent. The pullback is in no file: it is derived from the
differential. The error is the largest measured error of value, JVP, VJP and second order, relative to mpmath.
`matcalc rules NAME` shows the whole entry."""
COLUMNS = ("operation", "rule", "pullback of G", "domain; gauge", "error", "source")
LONGEST = 110  # characters of a formula in the table; the page of its rule shows longer ones


def table():
    """Return the whole rulebook in Markdown: a table for each file, below the mark."""
    by_file = {}
    for rule in shipped_rulebook().rules.values():
        by_file.setdefault(rule.address.rpartition(":")[0].removeprefix("rules/"), []).append(rule)
    lines = [MARK, "", "## The rulebook", "", f"{counted()} {HEAD}"]
    for name, rules in by_file.items():
        lines += ["", f"### [{name.removesuffix('.toml')}]({name})", "", *rows(rules)]
    return "\n".join(lines) + "\n"


def rows(rules):
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|{'---|' * len(COLUMNS)}"
    for rule in rules:
        of = page(rule)
        says = [f"{left} = {right}" for left, right in of.formulas.items()]
        if rule.opaque is not None:
            says = []
        derived = [f"{left} = {right}" for left, right in of.adjoints.items() if isinstance(right, Expression)]
        derived += [f"{p.name}bar = {rule.linear[p.name]}" for p in rule.parameters if p.repeated and rule.linear]
        notes = "; ".join(filter(None, (rule.domain, rule.gauge, rule.opaque)))
        shown = [codes(signatures(rule)), codes(says), codes(derived, rule.name), escaped(notes)]
        yield f"| {' | '.join([*shown, worst(rule), escaped(rule.source)])} |"


def codes(texts, name=""):
    """Return formulas as code, a line each; derived ones that are too long are only on the page of rule `name`."""
    if name and any(len(line) > LONGEST for line in texts):
        texts = [*(line for line in texts if len(line) <= LONGEST), f"matcalc rules {name}"]
    return "<br>".join(f"`{line}`" for line in map(escaped, texts))


def escaped(line):
    return line.replace("|", "\\|").replace("\n", " ")


def fresh(page_text):
    """Return the text of a page with its table rewritten: everything below the mark is replaced."""
    head, _, _ = page_text.partition(MARK)
    return f"{head.rstrip()}\n\n{table()}"


if __name__ == "__main__":
    README = data_folder("rules") / "README.md"
    README.write_text(fresh(README.read_text(encoding="utf-8")), encoding="utf-8")
